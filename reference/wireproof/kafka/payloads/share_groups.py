"""Records of `__consumer_offsets` about share groups (KIP-932): kafka.md §15.2."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.kafka.payloads.framing import KeyedRecord
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

SHARE_GROUP_MEMBER_METADATA_KEY: Final = VersionedStruct(
    "ShareGroupMemberMetadataKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

SHARE_GROUP_MEMBER_METADATA_VALUE: Final = VersionedStruct(
    "ShareGroupMemberMetadataValue",
    (
        StructField("rackId", "string", nullable="0+"),
        StructField("clientId", "string"),
        StructField("clientHost", "string"),
        StructField("subscribedTopicNames", ListOf("string")),
    ),
    versions="0",
    flexible="0+",
)

SHARE_GROUP_METADATA_KEY: Final = VersionedStruct(
    "ShareGroupMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

SHARE_GROUP_METADATA_VALUE: Final = VersionedStruct(
    "ShareGroupMetadataValue",
    (
        StructField("epoch", "int32"),
        StructField("metadataHash", "int64"),
    ),
    versions="0",
    flexible="0+",
)

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY: Final = VersionedStruct(
    "ShareGroupTargetAssignmentMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE: Final = VersionedStruct(
    "ShareGroupTargetAssignmentMetadataValue",
    (
        StructField("assignmentEpoch", "int32"),
        StructField("assignmentTimestamp", "int64", tag=0),
    ),
    versions="0",
    flexible="0+",
)

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY: Final = VersionedStruct(
    "ShareGroupTargetAssignmentMemberKey",
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

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE: Final = VersionedStruct(
    "ShareGroupTargetAssignmentMemberValue",
    (StructField("topicPartitions", ListOf(_TOPIC_PARTITION)),),
    versions="0",
    flexible="0+",
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY: Final = VersionedStruct(
    "ShareGroupCurrentMemberAssignmentKey",
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
    ),
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE: Final = VersionedStruct(
    "ShareGroupCurrentMemberAssignmentValue",
    (
        StructField("memberEpoch", "int32"),
        StructField("previousMemberEpoch", "int32"),
        StructField("state", "int8", codes=codes.SHARE_MEMBER_STATES),
        StructField("assignedPartitions", ListOf(_TOPIC_PARTITIONS)),
    ),
    versions="0",
    flexible="0+",
)

SHARE_GROUP_STATE_PARTITION_METADATA_KEY: Final = VersionedStruct(
    "ShareGroupStatePartitionMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

_TOPIC_PARTITIONS_INFO: Final = VersionedStruct(
    "TopicPartitionsInfo",
    (
        StructField("topicId", "uuid"),
        StructField("topicName", "string"),
        StructField("partitions", ListOf("int32")),
    ),
)

_TOPIC_INFO: Final = VersionedStruct(
    "TopicInfo",
    (
        StructField("topicId", "uuid"),
        StructField("topicName", "string"),
    ),
)

SHARE_GROUP_STATE_PARTITION_METADATA_VALUE: Final = VersionedStruct(
    "ShareGroupStatePartitionMetadataValue",
    (
        StructField("initializingTopics", ListOf(_TOPIC_PARTITIONS_INFO)),
        StructField("initializedTopics", ListOf(_TOPIC_PARTITIONS_INFO)),
        StructField("deletingTopics", ListOf(_TOPIC_INFO)),
    ),
    versions="0",
    flexible="0+",
)

SHARE_GROUPS: Final = {
    10: KeyedRecord(
        "ShareGroupMemberMetadata", SHARE_GROUP_MEMBER_METADATA_KEY, SHARE_GROUP_MEMBER_METADATA_VALUE
    ),
    11: KeyedRecord("ShareGroupMetadata", SHARE_GROUP_METADATA_KEY, SHARE_GROUP_METADATA_VALUE),
    12: KeyedRecord(
        "ShareGroupTargetAssignmentMetadata",
        SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    ),
    13: KeyedRecord(
        "ShareGroupTargetAssignmentMember",
        SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
        SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE,
    ),
    14: KeyedRecord(
        "ShareGroupCurrentMemberAssignment",
        SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    ),
    15: KeyedRecord(
        "ShareGroupStatePartitionMetadata",
        SHARE_GROUP_STATE_PARTITION_METADATA_KEY,
        SHARE_GROUP_STATE_PARTITION_METADATA_VALUE,
    ),
}
"""The record types by the number in the key."""
