"""Records of `__cluster_metadata` about topics and partitions: kafka.md §15.5."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

TOPIC_RECORD: Final = VersionedStruct(
    "TopicRecord",
    (
        StructField("name", "string"),
        StructField("topicId", "uuid"),
    ),
    versions="0",
    flexible="0+",
)

PARTITION_RECORD: Final = VersionedStruct(
    "PartitionRecord",
    (
        StructField("partitionId", "int32"),
        StructField("topicId", "uuid"),
        StructField("replicas", ListOf("int32")),
        StructField("isr", ListOf("int32")),
        StructField("removingReplicas", ListOf("int32")),
        StructField("addingReplicas", ListOf("int32")),
        StructField("leader", "int32"),
        StructField("leaderRecoveryState", "int8", tag=0, codes=codes.RECOVERY_STATES),
        StructField("leaderEpoch", "int32"),
        StructField("partitionEpoch", "int32"),
        StructField("directories", ListOf("uuid"), "1+"),
        StructField("eligibleLeaderReplicas", ListOf("int32"), "2+", nullable="2+", tag=1, default=None),
        StructField("lastKnownElr", ListOf("int32"), "2+", nullable="2+", tag=2, default=None),
    ),
    versions="0-2",
    flexible="0+",
)

PARTITION_CHANGE_RECORD: Final = VersionedStruct(
    "PartitionChangeRecord",
    (
        StructField("partitionId", "int32"),
        StructField("topicId", "uuid"),
        StructField("isr", ListOf("int32"), nullable="0+", tag=0, default=None),
        StructField("leader", "int32", tag=1, default=-2),
        StructField("replicas", ListOf("int32"), nullable="0+", tag=2, default=None),
        StructField("removingReplicas", ListOf("int32"), nullable="0+", tag=3, default=None),
        StructField("addingReplicas", ListOf("int32"), nullable="0+", tag=4, default=None),
        StructField("leaderRecoveryState", "int8", tag=5, default=-1, codes=codes.RECOVERY_STATES),
        StructField("directories", ListOf("uuid"), "1+", nullable="1+", tag=8, default=None),
        StructField("eligibleLeaderReplicas", ListOf("int32"), "2+", nullable="2+", tag=6, default=None),
        StructField("lastKnownElr", ListOf("int32"), "2+", nullable="2+", tag=7, default=None),
    ),
    versions="0-2",
    flexible="0+",
)

REMOVE_TOPIC_RECORD: Final = VersionedStruct(
    "RemoveTopicRecord", (StructField("topicId", "uuid"),), versions="0", flexible="0+"
)

CLEAR_ELR_RECORD: Final = VersionedStruct(
    "ClearElrRecord", (StructField("topicName", "string"),), versions="0", flexible="0+"
)

TOPICS: Final = {
    2: TOPIC_RECORD,
    3: PARTITION_RECORD,
    5: PARTITION_CHANGE_RECORD,
    9: REMOVE_TOPIC_RECORD,
    28: CLEAR_ELR_RECORD,
}
"""The record types by the number in the frame."""
