"""Records of `__consumer_offsets` about streams groups (KIP-1071): kafka.md §15.2."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.kafka.payloads.framing import KeyedRecord
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

STREAMS_GROUP_METADATA_KEY: Final = VersionedStruct(
    "StreamsGroupMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

_LAST_ASSIGNMENT_CONFIG: Final = VersionedStruct(
    "LastAssignmentConfig",
    (
        StructField("key", "string"),
        StructField("value", "string"),
    ),
)

STREAMS_GROUP_METADATA_VALUE: Final = VersionedStruct(
    "StreamsGroupMetadataValue",
    (
        StructField("epoch", "int32"),
        StructField("metadataHash", "int64"),
        StructField("validatedTopologyEpoch", "int32", tag=0, default=-1),
        StructField("lastAssignmentConfigs", ListOf(_LAST_ASSIGNMENT_CONFIG), nullable="0+", tag=1),
        StructField("storedDescriptionTopologyEpoch", "int32", tag=2, default=-1),
        StructField("failedDescriptionTopologyEpoch", "int32", tag=3, default=-1),
    ),
    versions="0",
    flexible="0+",
)

STREAMS_GROUP_MEMBER_METADATA_KEY: Final = VersionedStruct(
    "StreamsGroupMemberMetadataKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

_ENDPOINT: Final = VersionedStruct(
    "Endpoint",
    (
        StructField("host", "string"),
        StructField("port", "uint16"),
    ),
)

_KEY_VALUE: Final = VersionedStruct(
    "KeyValue",
    (
        StructField("key", "string"),
        StructField("value", "string"),
    ),
)

STREAMS_GROUP_MEMBER_METADATA_VALUE: Final = VersionedStruct(
    "StreamsGroupMemberMetadataValue",
    (
        StructField("instanceId", "string", nullable="0+"),
        StructField("rackId", "string", nullable="0+"),
        StructField("clientId", "string"),
        StructField("clientHost", "string"),
        StructField("rebalanceTimeoutMs", "int32"),
        StructField("topologyEpoch", "int32"),
        StructField("processId", "string"),
        StructField("userEndpoint", _ENDPOINT, nullable="0+"),
        StructField("clientTags", ListOf(_KEY_VALUE)),
    ),
    versions="0",
    flexible="0+",
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY: Final = VersionedStruct(
    "StreamsGroupTargetAssignmentMetadataKey", (StructField("groupId", "string", "0"),), versions="0"
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE: Final = VersionedStruct(
    "StreamsGroupTargetAssignmentMetadataValue",
    (
        StructField("assignmentEpoch", "int32"),
        StructField("assignmentTimestamp", "int64", tag=0),
    ),
    versions="0",
    flexible="0+",
)

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY: Final = VersionedStruct(
    "StreamsGroupTargetAssignmentMemberKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

_TASK_IDS: Final = VersionedStruct(
    "TaskIds",
    (
        StructField("subtopologyId", "string"),
        StructField("partitions", ListOf("int32")),
    ),
)

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE: Final = VersionedStruct(
    "StreamsGroupTargetAssignmentMemberValue",
    (
        StructField("activeTasks", ListOf(_TASK_IDS)),
        StructField("standbyTasks", ListOf(_TASK_IDS)),
        StructField("warmupTasks", ListOf(_TASK_IDS)),
    ),
    versions="0",
    flexible="0+",
)

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY: Final = VersionedStruct(
    "StreamsGroupCurrentMemberAssignmentKey",
    (
        StructField("groupId", "string", "0"),
        StructField("memberId", "string", "0"),
    ),
    versions="0",
)

_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS: Final = VersionedStruct(
    "TaskIds",
    (
        StructField("subtopologyId", "string"),
        StructField("partitions", ListOf("int32")),
        StructField("assignmentEpochs", ListOf("int32"), nullable="0+", tag=0),
    ),
)

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE: Final = VersionedStruct(
    "StreamsGroupCurrentMemberAssignmentValue",
    (
        StructField("memberEpoch", "int32"),
        StructField("previousMemberEpoch", "int32"),
        StructField("state", "int8", codes=codes.STREAMS_MEMBER_STATES),
        StructField("activeTasks", ListOf(_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS)),
        StructField("standbyTasks", ListOf(_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS)),
        StructField("warmupTasks", ListOf(_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS)),
        StructField(
            "activeTasksPendingRevocation", ListOf(_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS)
        ),
        StructField(
            "standbyTasksPendingRevocation", ListOf(_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS)
        ),
        StructField(
            "warmupTasksPendingRevocation", ListOf(_STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_TASK_IDS)
        ),
    ),
    versions="0",
    flexible="0+",
)

STREAMS_GROUP_TOPOLOGY_KEY: Final = VersionedStruct(
    "StreamsGroupTopologyKey", (StructField("groupId", "string", "0"),), versions="0"
)

_TOPIC_CONFIG: Final = VersionedStruct(
    "TopicConfig",
    (
        StructField("key", "string"),
        StructField("value", "string"),
    ),
)

_TOPIC_INFO: Final = VersionedStruct(
    "TopicInfo",
    (
        StructField("name", "string"),
        StructField("partitions", "int32"),
        StructField("replicationFactor", "int16"),
        StructField("topicConfigs", ListOf(_TOPIC_CONFIG)),
    ),
)

_COPARTITION_GROUP: Final = VersionedStruct(
    "CopartitionGroup",
    (
        StructField("sourceTopics", ListOf("int16")),
        StructField("sourceTopicRegex", ListOf("int16")),
        StructField("repartitionSourceTopics", ListOf("int16")),
    ),
)

_SUBTOPOLOGY: Final = VersionedStruct(
    "Subtopology",
    (
        StructField("subtopologyId", "string"),
        StructField("sourceTopics", ListOf("string")),
        StructField("sourceTopicRegex", ListOf("string")),
        StructField("stateChangelogTopics", ListOf(_TOPIC_INFO)),
        StructField("repartitionSinkTopics", ListOf("string")),
        StructField("repartitionSourceTopics", ListOf(_TOPIC_INFO)),
        StructField("copartitionGroups", ListOf(_COPARTITION_GROUP)),
    ),
)

STREAMS_GROUP_TOPOLOGY_VALUE: Final = VersionedStruct(
    "StreamsGroupTopologyValue",
    (
        StructField("epoch", "int32"),
        StructField("subtopologies", ListOf(_SUBTOPOLOGY)),
    ),
    versions="0",
    flexible="0+",
)

STREAMS_GROUPS: Final = {
    17: KeyedRecord("StreamsGroupMetadata", STREAMS_GROUP_METADATA_KEY, STREAMS_GROUP_METADATA_VALUE),
    19: KeyedRecord(
        "StreamsGroupMemberMetadata", STREAMS_GROUP_MEMBER_METADATA_KEY, STREAMS_GROUP_MEMBER_METADATA_VALUE
    ),
    20: KeyedRecord(
        "StreamsGroupTargetAssignmentMetadata",
        STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    ),
    21: KeyedRecord(
        "StreamsGroupTargetAssignmentMember",
        STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
        STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE,
    ),
    22: KeyedRecord(
        "StreamsGroupCurrentMemberAssignment",
        STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    ),
    23: KeyedRecord("StreamsGroupTopology", STREAMS_GROUP_TOPOLOGY_KEY, STREAMS_GROUP_TOPOLOGY_VALUE),
}
"""The record types by the number in the key."""
