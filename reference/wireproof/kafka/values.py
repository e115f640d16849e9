"""The value classes of the Kafka formats: kafka.md §1.1, §1.3, §1.9, §2.1, §2.2.

`wire.json_values` converts them to and from JSON. Fields with a default are computed: decode sets them,
encode ignores them. Integers have the sign and the width of their wire type: attributes are an int16 in a
batch and an int8 elsewhere. Derived fields, what a consumer or a broker concludes, are added to the JSON of
an answer and not to the classes, because most runs compare none of them: §1.8, §1.10, §2.2.
"""

from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen, resolve_types

from wireproof.kafka.attribute_bits import LOG_APPEND_TIME, wrap64
from wireproof.wire.json_values import camel_case, derived

TimestampType: TypeAlias = Literal["create", "log-append", "none"]
"""Who set a timestamp: the producer, the broker, or nobody (v0)."""

SEQUENCES: Final = 1 << 31
"""Number of sequences; the one after 2147483647 is 0."""


def _type_of(attributes: int) -> TimestampType:
    return "log-append" if attributes & LOG_APPEND_TIME else "create"


RecordHeader = tuple[bytes, bytes | None]
"""Key and value of a record header: kafka.md §1.3. The key is the raw bytes, also if they are not UTF-8."""


@camel_case
@frozen
class Endpoint:
    """An address of a KRaft voter: kafka.md §1.9, type 6."""

    name: bytes
    host: bytes
    port: int


@camel_case
@frozen
class Voter:
    """A KRaft voter: kafka.md §1.9, types 2 and 6. Fields that its type or version does not have are None."""

    id: int
    directory_id: bytes | None = None
    endpoints: tuple[Endpoint, ...] | None = None
    min_version: int | None = None
    max_version: int | None = None


@camel_case
@frozen
class Control:
    """The content of a control record: kafka.md §1.9. Fields that its type does not have are None.

    Attributes:
        type: type in the key.
        version: version in the value; None for a type that §1.9 does not list, or an invalid value.
        coordinator_epoch: of ABORT (0) and COMMIT (1).
        leader_id, voters, granting_voters: of LEADER_CHANGE (2); `voters` also of KRAFT_VOTERS (6).
        last_contained_log_timestamp: of SNAPSHOT_HEADER (3), in milliseconds.
        kraft_version: of KRAFT_VERSION (5).
    """

    type: int
    version: int | None = None
    coordinator_epoch: int | None = None
    leader_id: int | None = None
    voters: tuple[Voter, ...] | None = None
    granting_voters: tuple[Voter, ...] | None = None
    last_contained_log_timestamp: int | None = None
    kraft_version: int | None = None


@camel_case
@derived(sequence=int, timestamp_type=TimestampType)
@frozen
class Record:
    """A record of a batch: kafka.md §1.3.

    Attributes:
        attributes, timestamp_delta, offset_delta, key, value, headers: the fields of §1.3.
        offset: absolute offset, computed: §1.10.
        timestamp: absolute timestamp in milliseconds, computed: §1.8.
        control: the content of a control record, computed; None for other records.

    Derived: `sequence` and `timestamp_type`, which its batch adds.
    """

    attributes: int
    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    value: bytes | None
    headers: tuple[RecordHeader, ...]
    offset: int = 0
    timestamp: int = 0
    control: Control | None = None


@camel_case
@derived(next_offset=int)
@frozen
class RecordBatch:
    """A v2 batch: kafka.md §1.1. Length, CRC and count are computed and not part of the value.

    Derived: `next_offset`, the offset after its last one.
    """

    base_offset: int
    partition_leader_epoch: int
    magic: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: tuple[Record, ...]

    def add_derived(self, tree: dict[str, Any]) -> None:
        """Add the derived fields; a batch without a base sequence has no sequences: -1."""
        tree["nextOffset"] = str(wrap64(self.base_offset + self.last_offset_delta + 1))
        kind, first = _type_of(self.attributes), self.base_sequence
        for record, one in zip(tree["records"], self.records, strict=True):
            record["sequence"] = "-1" if first < 0 else str((first + one.offset_delta) % SEQUENCES)
            record["timestampType"] = kind


@camel_case
@derived(next_offset=int, timestamp_type=TimestampType)
@frozen
class Message:
    """A v0 or v1 message, or a wrapper around compressed messages: kafka.md §2.1, §2.2.

    The `value` of a wrapper is None, and `messages` are its inner messages, with absolute offsets and the
    timestamps that a consumer gets. Other messages have `messages` None. The timestamp of a v0 message is -1.

    Derived: `timestamp_type`, and `next_offset`, the offset after it.
    """

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    messages: tuple["Message", ...] | None

    def add_derived(self, tree: dict[str, Any]) -> None:
        """Add the derived fields; the timestamp type of a wrapper is that of its v1 messages too."""
        own: TimestampType = "none" if self.magic == 0 else _type_of(self.attributes)
        tree["nextOffset"], tree["timestampType"] = str(wrap64(self.offset + 1)), own
        for inner in tree["messages"] or ():
            if inner["magic"] != "0":
                inner["timestampType"] = own


resolve_types(Message)  # a field names the class itself; the JSON form needs the class, not its name


LogEntry = RecordBatch | Message
"""One entry of a log."""


@camel_case
@derived(next_offset=int | None)
@frozen
class Log:
    """Entries one after another, as in a fetch response or a segment file: kafka.md §2.4.

    Derived: `next_offset`, where a consumer fetches next after all whole entries, those that it does not
    deliver too. It is None if there is none, and for the entries before a rejection.
    """

    batches: tuple[LogEntry, ...]
    next_offset: int | None = field(default=None, eq=False)

    def add_derived(self, tree: dict[str, Any]) -> None:
        tree["nextOffset"] = None if self.next_offset is None else str(self.next_offset)
