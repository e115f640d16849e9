"""Records of `__consumer_offsets` about committed offsets and classic groups: kafka.md §15.2."""

from typing import Final

from wireproof.kafka.payloads.consumer_protocol import (
    CONSUMER_PROTOCOL_ASSIGNMENT,
    CONSUMER_PROTOCOL_SUBSCRIPTION,
)
from wireproof.kafka.payloads.framing import KeyedRecord
from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

CONSUMERS: Final = ("protocolType", "consumer")
"""The groups whose members exchange the bytes of `consumer_protocol`; others exchange what they like."""

LEGACY_OFFSET_COMMIT_KEY: Final = VersionedStruct(
    "LegacyOffsetCommitKey",
    (
        StructField("group", "string", "0"),
        StructField("topic", "string", "0"),
        StructField("partition", "int32", "0"),
    ),
    versions="0",
)

LEGACY_OFFSET_COMMIT_VALUE: Final = VersionedStruct(
    "LegacyOffsetCommitValue",
    (
        StructField("offset", "int64", "0"),
        StructField("metadata", "string", "0"),
        StructField("commitTimestamp", "int64", "0"),
    ),
    versions="0",
)

OFFSET_COMMIT_KEY: Final = VersionedStruct(
    "OffsetCommitKey",
    (
        StructField("group", "string", "0"),
        StructField("topic", "string", "0"),
        StructField("partition", "int32", "0"),
    ),
    versions="0",
)

OFFSET_COMMIT_VALUE: Final = VersionedStruct(
    "OffsetCommitValue",
    (
        StructField("offset", "int64"),
        StructField("leaderEpoch", "int32", "3+"),
        StructField("metadata", "string"),
        StructField("commitTimestamp", "int64"),
        StructField("expireTimestamp", "int64", "1"),
        StructField("topicId", "uuid", "4+", tag=0),
    ),
    versions="0-4",
    flexible="4+",
)

GROUP_METADATA_KEY: Final = VersionedStruct(
    "GroupMetadataKey", (StructField("group", "string", "0"),), versions="0"
)

_MEMBER_METADATA: Final = VersionedStruct(
    "MemberMetadata",
    (
        StructField("memberId", "string"),
        StructField("groupInstanceId", "string", "3+", nullable="3+"),
        StructField("clientId", "string"),
        StructField("clientHost", "string"),
        StructField("rebalanceTimeout", "int32", "1+"),
        StructField("sessionTimeout", "int32"),
        StructField("subscription", "bytes", holds=CONSUMER_PROTOCOL_SUBSCRIPTION, holds_if=CONSUMERS),
        StructField("assignment", "bytes", holds=CONSUMER_PROTOCOL_ASSIGNMENT, holds_if=CONSUMERS),
    ),
)

GROUP_METADATA_VALUE: Final = VersionedStruct(
    "GroupMetadataValue",
    (
        StructField("protocolType", "string"),
        StructField("generation", "int32"),
        StructField("protocol", "string", nullable="0+"),
        StructField("leader", "string", nullable="0+"),
        StructField("currentStateTimestamp", "int64", "2+"),
        StructField("members", ListOf(_MEMBER_METADATA)),
    ),
    versions="0-4",
    flexible="4+",
)

CLASSIC_GROUPS: Final = {
    0: KeyedRecord("LegacyOffsetCommit", LEGACY_OFFSET_COMMIT_KEY, LEGACY_OFFSET_COMMIT_VALUE),
    1: KeyedRecord("OffsetCommit", OFFSET_COMMIT_KEY, OFFSET_COMMIT_VALUE),
    2: KeyedRecord("GroupMetadata", GROUP_METADATA_KEY, GROUP_METADATA_VALUE),
}
"""The record types by the number in the key."""
