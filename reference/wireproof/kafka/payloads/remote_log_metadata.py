"""Records of `__remote_log_metadata` (KIP-405): kafka.md §15.6."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

_TOPIC_ID_PARTITION_ENTRY: Final = VersionedStruct(
    "TopicIdPartitionEntry",
    (
        StructField("name", "string"),
        StructField("id", "uuid"),
        StructField("partition", "int32"),
    ),
)

_REMOTE_LOG_SEGMENT_ID_ENTRY: Final = VersionedStruct(
    "RemoteLogSegmentIdEntry",
    (
        StructField("topicIdPartition", _TOPIC_ID_PARTITION_ENTRY),
        StructField("id", "uuid"),
    ),
)

_SEGMENT_LEADER_EPOCH_ENTRY: Final = VersionedStruct(
    "SegmentLeaderEpochEntry",
    (
        StructField("leaderEpoch", "int32"),
        StructField("offset", "int64"),
    ),
)

REMOTE_LOG_SEGMENT_METADATA_RECORD: Final = VersionedStruct(
    "RemoteLogSegmentMetadataRecord",
    (
        StructField("remoteLogSegmentId", _REMOTE_LOG_SEGMENT_ID_ENTRY),
        StructField("startOffset", "int64"),
        StructField("endOffset", "int64"),
        StructField("brokerId", "int32"),
        StructField("maxTimestampMs", "int64"),
        StructField("eventTimestampMs", "int64"),
        StructField("segmentLeaderEpochs", ListOf(_SEGMENT_LEADER_EPOCH_ENTRY)),
        StructField("segmentSizeInBytes", "int32"),
        StructField("customMetadata", "bytes", nullable="0+"),
        StructField("remoteLogSegmentState", "int8", codes=codes.REMOTE_SEGMENT_STATES),
        StructField("txnIndexEmpty", "bool", tag=0),
    ),
    versions="0",
    flexible="0+",
)

REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD: Final = VersionedStruct(
    "RemoteLogSegmentMetadataUpdateRecord",
    (
        StructField("remoteLogSegmentId", _REMOTE_LOG_SEGMENT_ID_ENTRY),
        StructField("brokerId", "int32"),
        StructField("eventTimestampMs", "int64"),
        StructField("customMetadata", "bytes", nullable="0+"),
        StructField("remoteLogSegmentState", "int8", codes=codes.REMOTE_SEGMENT_STATES),
    ),
    versions="0",
    flexible="0+",
)

REMOTE_PARTITION_DELETE_METADATA_RECORD: Final = VersionedStruct(
    "RemotePartitionDeleteMetadataRecord",
    (
        StructField("topicIdPartition", _TOPIC_ID_PARTITION_ENTRY),
        StructField("brokerId", "int32"),
        StructField("eventTimestampMs", "int64"),
        StructField("remotePartitionDeleteState", "int8", codes=codes.REMOTE_PARTITION_STATES),
    ),
    versions="0",
    flexible="0+",
)

REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD: Final = VersionedStruct(
    "RemoteLogSegmentMetadataSnapshotRecord",
    (
        StructField("segmentId", "uuid"),
        StructField("startOffset", "int64"),
        StructField("endOffset", "int64"),
        StructField("brokerId", "int32"),
        StructField("maxTimestampMs", "int64"),
        StructField("eventTimestampMs", "int64"),
        StructField("segmentLeaderEpochs", ListOf(_SEGMENT_LEADER_EPOCH_ENTRY)),
        StructField("segmentSizeInBytes", "int32"),
        StructField("customMetadata", "bytes", nullable="0+"),
        StructField("remoteLogSegmentState", "int8", codes=codes.REMOTE_SEGMENT_STATES),
        StructField("txnIndexEmpty", "bool", tag=0),
    ),
    versions="0",
    flexible="0+",
)

REMOTE_LOG_METADATA: Final = {
    0: REMOTE_LOG_SEGMENT_METADATA_RECORD,
    1: REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD,
    2: REMOTE_PARTITION_DELETE_METADATA_RECORD,
    3: REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD,
}
"""The record types by the number in the frame."""
