"""The values of the Kafka formats: design, section 3, "Values"; kafka.md §1.1, §1.3, §1.9, §2.1, §2.2.

Fields with a default are computed: they are there after decode, and encode does not look at them.
Integers are as the fields are: attributes are signed, 16 bits in a batch and 8 elsewhere.
"""

from attrs import frozen, resolve_types

from wireproof.wire.values import camel

Header = tuple[bytes, bytes | None]
"""Key and value of a record header. The key is the bytes as they stand, whether UTF-8 or not."""


@camel
@frozen
class Endpoint:
    """Where a KRaft voter listens: kafka.md §1.9, type 6."""

    name: bytes
    host: bytes
    port: int


@camel
@frozen
class Voter:
    """A KRaft voter: kafka.md §1.9, types 2 and 6; what the type or version lacks is None."""

    id: int
    directory_id: bytes | None = None
    endpoints: tuple[Endpoint, ...] | None = None
    min_version: int | None = None
    max_version: int | None = None


@camel
@frozen
class Control:
    """A control record, typed: kafka.md §1.9. Fields that its type does not have are None.

    Attributes:
        type: of the key.
        version: of the value; None for a type that §1.9 does not list, or a value that is not as it says.
        coordinator_epoch: ABORT (0) and COMMIT (1).
        leader_id, voters, granting_voters: LEADER_CHANGE (2); voters are KRAFT_VOTERS (6) too.
        last_contained_log_timestamp: SNAPSHOT_HEADER (3), milliseconds.
        kraft_version: KRAFT_VERSION (5).
    """

    type: int
    version: int | None = None
    coordinator_epoch: int | None = None
    leader_id: int | None = None
    voters: tuple[Voter, ...] | None = None
    granting_voters: tuple[Voter, ...] | None = None
    last_contained_log_timestamp: int | None = None
    kraft_version: int | None = None


@camel
@frozen
class Record:
    """A record of a batch: kafka.md §1.3.

    `offset` and `timestamp` (milliseconds) are absolute, §1.10 and §1.8; `control` is the typed content
    of a record of a control batch and None elsewhere.
    """

    attributes: int
    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    offset: int = 0
    timestamp: int = 0
    control: Control | None = None


@camel
@frozen
class RecordBatch:
    """A v2 batch: kafka.md §1.1. Length, CRC and count are not part of the value."""

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


@camel
@frozen
class Message:
    """A v0 or v1 message, or a wrapper around compressed ones: kafka.md §2.1, §2.2.

    A wrapper has value None, and in `messages` the inner messages with absolute offsets and the
    timestamps that a consumer sees; any other message has `messages` None. A v0 timestamp is -1.
    """

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    messages: tuple["Message", ...] | None


resolve_types(Message)  # it names itself; the JSON form needs the class, not its name


Entry = RecordBatch | Message
"""What a log is made of."""


@camel
@frozen
class Log:
    """Entries one after another, as a fetch response or a segment holds them: kafka.md §2.4."""

    batches: tuple[Entry, ...]
