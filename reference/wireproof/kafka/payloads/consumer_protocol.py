"""The bytes that members of a classic group of consumers exchange: kafka.md §15.2.

A reader takes a version above the newest one as the newest one, and ignores the bytes after its fields.
"""

from typing import Final

from wireproof.wire.struct_table import ListOf, StructField, VersionedStruct

_TOPIC_PARTITION: Final = VersionedStruct(
    "TopicPartition",
    (
        StructField("topic", "string", "1+"),
        StructField("partitions", ListOf("int32"), "1+"),
    ),
)

CONSUMER_PROTOCOL_SUBSCRIPTION: Final = VersionedStruct(
    "ConsumerProtocolSubscription",
    (
        StructField("topics", ListOf("string")),
        StructField("userData", "bytes", nullable="0+"),
        StructField("ownedPartitions", ListOf(_TOPIC_PARTITION), "1+"),
        StructField("generationId", "int32", "2+"),
        StructField("rackId", "string", "3+", nullable="3+"),
    ),
    versions="0-3",
)

_CONSUMER_PROTOCOL_ASSIGNMENT_TOPIC_PARTITION: Final = VersionedStruct(
    "TopicPartition",
    (
        StructField("topic", "string"),
        StructField("partitions", ListOf("int32")),
    ),
)

CONSUMER_PROTOCOL_ASSIGNMENT: Final = VersionedStruct(
    "ConsumerProtocolAssignment",
    (
        StructField("assignedPartitions", ListOf(_CONSUMER_PROTOCOL_ASSIGNMENT_TOPIC_PARTITION)),
        StructField("userData", "bytes", nullable="0+"),
    ),
    versions="0-3",
)
