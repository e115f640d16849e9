"""Records of `__consumer_offsets` about groups of the consumer protocol (KIP-848): kafka.md §15.2."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.kafka.payloads.consumer_protocol import CONSUMER_PROTOCOL_SUBSCRIPTION
from wireproof.kafka.payloads.framing import KeyedRecord
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

CONSUMER_GROUP_METADATA_KEY: Final = VersionedStruct(
    "ConsumerGroupMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

CONSUMER_GROUP_METADATA_VALUE: Final = VersionedStruct(
    "ConsumerGroupMetadataValue",
    (
        StructField("epoch", "int32"),
        StructField("metadataHash", "int64", tag=0),
    ),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUP_PARTITION_METADATA_KEY: Final = VersionedStruct(
    "ConsumerGroupPartitionMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

_PARTITION_METADATA: Final = VersionedStruct(
    "PartitionMetadata",
    (
        StructField("partition", "int32"),
        StructField("racks", ListOf("string")),
    ),
)

_TOPIC_METADATA: Final = VersionedStruct(
    "TopicMetadata",
    (
        StructField("topicId", "uuid"),
        StructField("topicName", "string"),
        StructField("numPartitions", "int32"),
        StructField("partitionMetadata", ListOf(_PARTITION_METADATA)),
    ),
)

CONSUMER_GROUP_PARTITION_METADATA_VALUE: Final = VersionedStruct(
    "ConsumerGroupPartitionMetadataValue",
    (StructField("topics", ListOf(_TOPIC_METADATA)),),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUP_MEMBER_METADATA_KEY: Final = VersionedStruct(
    "ConsumerGroupMemberMetadataKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

_CLASSIC_PROTOCOL: Final = VersionedStruct(
    "ClassicProtocol",
    (
        StructField("name", "string"),
        StructField("metadata", "bytes", holds=CONSUMER_PROTOCOL_SUBSCRIPTION),
    ),
)

_CLASSIC_MEMBER_METADATA: Final = VersionedStruct(
    "ClassicMemberMetadata",
    (
        StructField("sessionTimeoutMs", "int32"),
        StructField("supportedProtocols", ListOf(_CLASSIC_PROTOCOL)),
    ),
)

CONSUMER_GROUP_MEMBER_METADATA_VALUE: Final = VersionedStruct(
    "ConsumerGroupMemberMetadataValue",
    (
        StructField("instanceId", "string", nullable="0+"),
        StructField("rackId", "string", nullable="0+"),
        StructField("clientId", "string"),
        StructField("clientHost", "string"),
        StructField("subscribedTopicNames", ListOf("string")),
        StructField("subscribedTopicRegex", "string", nullable="0+"),
        StructField("rebalanceTimeoutMs", "int32"),
        StructField("serverAssignor", "string", nullable="0+"),
        StructField("classicMemberMetadata", _CLASSIC_MEMBER_METADATA, nullable="0+", tag=0),
    ),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY: Final = VersionedStruct(
    "ConsumerGroupTargetAssignmentMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE: Final = VersionedStruct(
    "ConsumerGroupTargetAssignmentMetadataValue",
    (
        StructField("assignmentEpoch", "int32"),
        StructField("assignmentTimestamp", "int64", tag=0),
    ),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY: Final = VersionedStruct(
    "ConsumerGroupTargetAssignmentMemberKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

_TOPIC_PARTITION: Final = VersionedStruct(
    "TopicPartition",
    (
        StructField("topicId", "uuid"),
        StructField("partitions", ListOf("int32")),
    ),
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE: Final = VersionedStruct(
    "ConsumerGroupTargetAssignmentMemberValue",
    (StructField("topicPartitions", ListOf(_TOPIC_PARTITION)),),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY: Final = VersionedStruct(
    "ConsumerGroupCurrentMemberAssignmentKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

_TOPIC_PARTITIONS: Final = VersionedStruct(
    "TopicPartitions",
    (
        StructField("topicId", "uuid"),
        StructField("partitions", ListOf("int32")),
        StructField("assignmentEpochs", ListOf("int32"), nullable="0+", tag=0),
    ),
)

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE: Final = VersionedStruct(
    "ConsumerGroupCurrentMemberAssignmentValue",
    (
        StructField("memberEpoch", "int32"),
        StructField("previousMemberEpoch", "int32"),
        StructField("state", "int8", codes=codes.CONSUMER_MEMBER_STATES),
        StructField("assignedPartitions", ListOf(_TOPIC_PARTITIONS)),
        StructField("partitionsPendingRevocation", ListOf(_TOPIC_PARTITIONS)),
    ),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUP_REGULAR_EXPRESSION_KEY: Final = VersionedStruct(
    "ConsumerGroupRegularExpressionKey",
    (
        StructField("groupId", "string", "0"),
        StructField("regularExpression", "string", "0"),
    ),
    versions="0",
)

CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE: Final = VersionedStruct(
    "ConsumerGroupRegularExpressionValue",
    (
        StructField("topics", ListOf("string")),
        StructField("version", "int64"),
        StructField("timestamp", "int64"),
    ),
    versions="0",
    flexible="0+",
)

CONSUMER_GROUPS: Final = {
    3: KeyedRecord("ConsumerGroupMetadata", CONSUMER_GROUP_METADATA_KEY, CONSUMER_GROUP_METADATA_VALUE),
    4: KeyedRecord(
        "ConsumerGroupPartitionMetadata",
        CONSUMER_GROUP_PARTITION_METADATA_KEY,
        CONSUMER_GROUP_PARTITION_METADATA_VALUE,
    ),
    5: KeyedRecord(
        "ConsumerGroupMemberMetadata",
        CONSUMER_GROUP_MEMBER_METADATA_KEY,
        CONSUMER_GROUP_MEMBER_METADATA_VALUE,
    ),
    6: KeyedRecord(
        "ConsumerGroupTargetAssignmentMetadata",
        CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    ),
    7: KeyedRecord(
        "ConsumerGroupTargetAssignmentMember",
        CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
        CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE,
    ),
    8: KeyedRecord(
        "ConsumerGroupCurrentMemberAssignment",
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    ),
    16: KeyedRecord(
        "ConsumerGroupRegularExpression",
        CONSUMER_GROUP_REGULAR_EXPRESSION_KEY,
        CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE,
    ),
}
"""The record types by the number in the key."""
