"""Records of `__share_group_state` (KIP-932): kafka.md §15.4."""

from typing import Final

from wireproof.kafka.payloads import codes
from wireproof.kafka.payloads.framing import KeyedRecord
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

SHARE_SNAPSHOT_KEY: Final = VersionedStruct(
    "ShareSnapshotKey",
    (
        StructField("groupId", "string", "0"),
        StructField("topicId", "uuid", "0"),
        StructField("partition", "int32", "0"),
    ),
    versions="0",
)

_STATE_BATCH: Final = VersionedStruct(
    "StateBatch",
    (
        StructField("firstOffset", "int64"),
        StructField("lastOffset", "int64"),
        StructField("deliveryState", "int8", codes=codes.DELIVERY_STATES),
        StructField("deliveryCount", "int16"),
    ),
)

SHARE_SNAPSHOT_VALUE: Final = VersionedStruct(
    "ShareSnapshotValue",
    (
        StructField("snapshotEpoch", "int32"),
        StructField("stateEpoch", "int32"),
        StructField("leaderEpoch", "int32"),
        StructField("startOffset", "int64"),
        StructField("deliveryCompleteCount", "int32", tag=0, default=-1),
        StructField("createTimestamp", "int64"),
        StructField("writeTimestamp", "int64"),
        StructField("stateBatches", ListOf(_STATE_BATCH)),
    ),
    versions="0",
    flexible="0+",
)

SHARE_UPDATE_KEY: Final = VersionedStruct(
    "ShareUpdateKey",
    (
        StructField("groupId", "string", "0"),
        StructField("topicId", "uuid", "0"),
        StructField("partition", "int32", "0"),
    ),
    versions="0",
)

SHARE_UPDATE_VALUE: Final = VersionedStruct(
    "ShareUpdateValue",
    (
        StructField("snapshotEpoch", "int32"),
        StructField("leaderEpoch", "int32"),
        StructField("startOffset", "int64"),
        StructField("deliveryCompleteCount", "int32", tag=0, default=-1),
        StructField("stateBatches", ListOf(_STATE_BATCH)),
    ),
    versions="0",
    flexible="0+",
)

SHARE_GROUP_STATE: Final = {
    0: KeyedRecord("ShareSnapshot", SHARE_SNAPSHOT_KEY, SHARE_SNAPSHOT_VALUE),
    1: KeyedRecord("ShareUpdate", SHARE_UPDATE_KEY, SHARE_UPDATE_VALUE),
}
"""The record types by the number in the key."""
