"""The batch of messages that Iggy uses on the wire and on disk since 0.11.0: iggy.md, section 6.

A batch has a header of 256 bytes and then one frame for each message: 48 bytes of fields, the payload, the
headers. The header has the base offset and the base timestamps; the frames have deltas to them. The checksum
of a batch covers the fields of its header and the checksums of its frames. In sends the server verifies
everything, in poll responses no client compares a checksum or a count, and in segment files all must match.
Since 0.11.1-edge a batch may name the idempotent producer that wrote it: section 6.1.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from attrs import evolve, field, frozen

from wireproof.iggy.checksums import BATCH_CHECKSUM, BATCH_HEADER_SIZE, XXH3
from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.headers import TLV_WIRE_10
from wireproof.iggy.message import (
    LENGTHS,
    PAYLOAD,
    RESERVED,
    STORED,
    headers_block,
    reserved_set,
    sent_empty,
    unset_field,
    unverified,
    wrong_checksum,
)
from wireproof.iggy.revision import EDGE, REVISIONS
from wireproof.schema.layout import WHOLE, Checksum, Count, Flag, Length, Number, Zero
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, many, optional, since
from wireproof.wire.writer import MASK64

Use = Literal["send", "poll", "log"]
"""Where a batch is: in a send, in a poll response, in a segment file."""

USES: Final[tuple[Use, ...]] = ("send", "poll", "log")


@frozen(kw_only=True)
class BatchMessage:
    """A message inside a batch. The last three fields are computed from its deltas and the batch header."""

    checksum: int = field(default=0)
    id: int
    offset_delta: int
    timestamp_delta: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...] | bytes
    payload: bytes
    offset: int = field(default=0)
    timestamp: int = field(default=0)
    origin_timestamp: int = field(default=0)


# --- messages ---


def _frame() -> Struct:
    return Struct(
        "BatchMessage",
        Checksum("checksum", "uint64le", algorithm=XXH3, shown=True),
        Number("id", "uint128le"),
        Number("offset_delta", "uint32le", meaning="added to base_offset"),
        Number("timestamp_delta", "uint32le", meaning="added to origin_timestamp, microseconds"),
        *LENGTHS,
        RESERVED,
        PAYLOAD,
        headers_block(TLV_WIRE_10, sealed=True),
        revisions=REVISIONS,
        value=BatchMessage,
        computed=("offset", "timestamp", "origin_timestamp"),
        cites="iggy.md §6",
    )


FRAMES: Final[Mapping[Use, Struct]] = {use: _frame() for use in USES}
"""Use to frame: the rules differ."""

FRAMES["send"].rule("reserved", "iggy.send.batch.reserved")(reserved_set)
FRAMES["send"].rule("payload", "iggy.send.headed.payload.empty")(sent_empty)
FRAMES["send"].rule("checksum", "iggy.send.batch.checksum")(wrong_checksum)
FRAMES["poll"].rule("reserved", "iggy.poll.batch.reserved")(reserved_set)
FRAMES["poll"].rule("checksum", "iggy.poll.batch.checksum")(unverified)
FRAMES["log"].rule("reserved", "iggy.log.batch.frame")(reserved_set)
FRAMES["log"].rule("checksum", "iggy.log.batch.checksum")(wrong_checksum)

FRAME: Final = FRAMES["log"].at("0.11")
"""The layout of a frame, which is one for all uses."""


@FRAMES["send"].rule("id", "iggy.send.batch.id")
def _unminted(id: int) -> Fault | None:  # noqa: A002 - the name of the field
    """Remark an id of 0: a producer generates the ids, and the server does not check them (section 2.5)."""
    return None if id else remarked("iggy-unminted-id", written=False)


@FRAMES["send"].rule("offset_delta", "iggy.send.batch.unset")
def _other_delta(offset_delta: int, index: int) -> Fault | None:
    """Remark a delta that is not the index: a producer numbers its messages, and the server ignores it."""
    return None if offset_delta == index else remarked("iggy-offset-delta")


def _with_position(base_offset: int, base_timestamp: int, origin_timestamp: int, element: Any) -> Any:  # noqa: ANN401 - a message
    """Return the message with its offset and timestamps; `timestamp` is the same in the whole batch."""
    return evolve(
        element,
        offset=base_offset + element.offset_delta & MASK64,
        timestamp=base_timestamp,
        origin_timestamp=origin_timestamp + element.timestamp_delta & MASK64,
    )


# --- producers ---

ID_BITS, EPOCH_BITS, SEQUENCE_BITS = 63, 15, 31
"""The bits that the numbers of a producer may have: the sign of a wider field is never set."""

PRODUCER: Final = Struct(
    "Producer",
    Zero("before_producer_id", size=3, error="InvalidReservedField"),
    Number("producer_id", "uint64le", most=(1 << ID_BITS) - 1),
    Number("epoch", "uint16le", most=(1 << EPOCH_BITS) - 1),
    Zero("before_base_sequence", size=2, error="InvalidReservedField"),
    Number("base_sequence", "uint32le", most=(1 << SEQUENCE_BITS) - 1, meaning="of the first message"),
    revisions=REVISIONS,
    cites="iggy.md §6.1",
)
"""The idempotent producer of a batch. `base_sequence` is the sequence number of the first message."""


def padding_set(number: bytes) -> Fault | None:
    """Refuse padding that is not 0."""
    return Fault("reserved-nonzero", "not 0", detail="InvalidReservedField") if any(number) else None


PRODUCER.rule("before_producer_id", "iggy.send.producer.reserved")(padding_set)
PRODUCER.rule("before_base_sequence", "iggy.send.producer.reserved")(padding_set)


@PRODUCER.rule("producer_id", "iggy.send.producer.range")
def _producer_range(producer_id: int) -> Fault | None:
    return _over(producer_id, ID_BITS)


@PRODUCER.rule("epoch", "iggy.send.producer.range")
def _epoch_range(epoch: int) -> Fault | None:
    return _over(epoch, EPOCH_BITS)


@PRODUCER.rule("base_sequence", "iggy.send.producer.range")
def _sequence_range(base_sequence: int) -> Fault | None:
    return _over(base_sequence, SEQUENCE_BITS)


def _over(number: int, bits: int) -> Fault | None:
    return Fault("invalid-value", f"{number}, at most {(1 << bits) - 1}") if number >> bits else None


# --- batches ---


def _batch(use: Use) -> Struct:
    joined = use != "log"
    return Struct(
        "Batch" if use == "log" else "BatchHeader",
        Number("partition_id", "uint64le"),
        Number("base_offset", "uint64le", meaning="offset of the first message"),
        Number("base_timestamp", "uint64le", meaning="of all messages, set by the server"),
        Number("origin_timestamp", "uint64le", meaning="the least of its messages"),
        Length("batch_length", "uint64le", of=WHOLE),
        Checksum("batch_checksum", "uint64le", algorithm=BATCH_CHECKSUM, over=WHOLE, shown=True),
        Count("message_count", "uint32le", of="messages", advisory=True, loose=use == "poll"),
        since(EDGE, Number("flags", "uint8", flags=(Flag("producer", 1),))),
        since(EDGE, optional("producer", "flags", PRODUCER)),
        Zero("reserved", until=BATCH_HEADER_SIZE, error="InvalidReservedField"),
        many("messages", FRAMES[use], joined=joined, derive=_with_position),
        revisions=REVISIONS,
        computed=("message_count",) if joined else (),
        cites="iggy.md §6",
    )


BATCHES: Final[Mapping[Use, Struct]] = {use: _batch(use) for use in USES}
"""Use to batch. In sends and polls the messages of all batches are one list, as clients return them."""


def _short(batch_length: int) -> Fault | None:
    return Fault("bad-length", f"{batch_length}") if batch_length < BATCH_HEADER_SIZE else None


def _odd_flags(flags: int) -> Fault | None:
    return Fault("reserved-nonzero", f"{flags}") if flags > 1 else None


def _other_count(message_count: int, messages: Any) -> Fault | None:  # noqa: ANN401 - a list
    if message_count == len(messages):
        return None
    text = f"{message_count}, but {len(messages)} frames follow"
    return Fault("count-mismatch", text, path="message_count")


def _uncounted(message_count: int, messages: Any) -> Fault | None:  # noqa: ANN401 - a list
    return None if message_count == len(messages) else remarked("iggy-batch-count", path="message_count")


def _other_checksum(batch_checksum: int, computed: int) -> Fault | None:
    if batch_checksum == computed:
        return None
    text = f"{batch_checksum:x}, expected {computed:x}"
    return Fault("crc-mismatch", text, detail="InvalidBatchChecksum")


def _unverified_batch(batch_checksum: int, computed: int) -> Fault | None:
    return None if batch_checksum == computed else remarked("iggy-batch-checksum")


for _name in ("partition_id", "base_offset", "base_timestamp"):
    BATCHES["send"].rule(_name, "iggy.send.batch.unset")(unset_field)

_RULE_IDS: Final[Mapping[Use, tuple[str, str, str, str, str]]] = {
    "send": ("batch.length", "producer.reserved", "batch.reserved", "batch.count", "batch.checksum"),
    "poll": ("batch.frame", "producer.refused", "batch.reserved", "batch.count", "batch.checksum"),
    "log": ("batch.frame", "producer.refused", "batch.frame", "batch.frame", "batch.checksum"),
}
"""Use to the rules of the length, the flags, the reserved bytes, the count and the checksum."""

for _use, (_length, _flags, _reserved, _count, _checksum) in _RULE_IDS.items():
    _loose, _rule = _use == "poll", BATCHES[_use].rule
    _rule("batch_length", f"iggy.{_use}.{_length}")(_short)
    _rule("flags", f"iggy.{_use}.{_flags}", since=EDGE)(_odd_flags)
    _rule("reserved", f"iggy.{_use}.{_reserved}")(padding_set)
    _rule("", f"iggy.{_use}.{_count}")(_uncounted if _loose else _other_count)
    _rule("batch_checksum", f"iggy.{_use}.{_checksum}")(_unverified_batch if _loose else _other_checksum)


def add_up(batches: tuple[Any, ...], messages: tuple[Any, ...]) -> Fault | None:
    """Refuse to write batches whose counts are not that of their messages."""
    if sum(head.message_count for head in batches) == len(messages):
        return None
    return Fault("invalid-value", f"their counts do not add up to {len(messages)} messages")


# --- batches in segment files of server 0.2.5 to 0.4.x (crate 0.2.7 to 0.6.x): section 7 ---
#
# Each message is preceded by its length, which does not include itself; its payload is the rest of it.

RETAINED_BATCH: Final = Struct(
    "RetainedBatch",
    Number("base_offset", "uint64le", meaning="offset of the first message, or 0"),
    Length("length", "uint32le", of="messages"),
    Number("last_offset_delta", "uint32le", meaning="last offset minus base_offset"),
    Number("max_timestamp", "uint64le", meaning="microseconds"),
    many("messages", STORED),
    revisions=REVISIONS,
    cites="iggy.md §7",
)

RETAINED_LAYOUT: Final = RETAINED_BATCH.at("0.2.7")

if TYPE_CHECKING:
    from wireproof.iggy import values

    RetainedBatch: TypeAlias = values.RetainedBatch
else:
    RetainedBatch = RETAINED_LAYOUT.type
"""The class of its values."""

FIRST_OFFSET_AT: Final = RETAINED_LAYOUT.fixed_size + STORED.at("0.2.7").offset("offset")
"""The position of the offset of the first message; `base_offset` is 0 in most batches of server 0.4.300."""
