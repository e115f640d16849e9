"""Hypothesis strategies for Kafka values, with many boundary values of kafka.md §1.1, §1.3, §2.1 and §4.

The computed fields of a value are those that a decode of its bytes returns, so that a round trip can be
compared for equality. Some values lead to remarks (§5 "IMPL"); all of them can be encoded. Hypothesis is an
optional dependency; only this package imports it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, wrap64
from wireproof.kafka.entry import V2
from wireproof.kafka.family.producer_messages import NO_PRODUCER, LogicalMessage, LogicalMessageSet
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.values import Control, Log, LogEntry, Message, Record, RecordBatch, RecordHeader
from wireproof.wire.layout import Number, attribute_of, bits_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options

RECENT_TIMESTAMP: Final = 1_700_000_000_000
"""A recent timestamp, in milliseconds."""


def _edges(bits: int) -> list[int]:
    """Return 0, -1, 1, the limits of `bits` bits, and the size boundaries of a zigzag varint (§4)."""
    steps = [1 << power for power in (6, 13, 20, 27, 34, 41, 48, 55, 62) if power < bits - 1]
    signed = [value for step in steps for value in (step - 1, step, -step, -step - 1)]
    top = 1 << (bits - 1)
    return [0, -1, 1, top - 1, -top, *signed]


@cache
def integers(bits: int) -> SearchStrategy[int]:
    """Return a strategy for signed integers of `bits` bits, half of them boundary values."""
    top = 1 << (bits - 1)
    return st.one_of(st.sampled_from(_edges(bits)), st.integers(-top, top - 1))


@cache
def octets() -> SearchStrategy[bytes]:
    """Return a strategy for bytes; at the sizes 64 and 8192 the length takes one more byte."""
    edge = st.builds(
        bytes.__mul__, st.sampled_from([b"\0", b"a", b"\xff"]), st.sampled_from([63, 64, 65, 8192])
    )
    return st.one_of(st.sampled_from([b"", b"\0", b"k"]), st.binary(max_size=40), edge)


@cache
def nullable_octets() -> SearchStrategy[bytes | None]:
    """Return a strategy for bytes or null; empty bytes are not the same as null."""
    return st.one_of(st.none(), octets())


@cache
def headers() -> SearchStrategy[tuple[RecordHeader, ...]]:
    """Return a strategy for ordered headers with repeated, empty or non-UTF-8 keys (§1.3, fields 7 to 9)."""
    key = st.one_of(st.sampled_from([b"", b"h", b"h", "ß".encode(), b"\xff"]), st.binary(max_size=8))
    value = st.one_of(st.none(), st.binary(max_size=12))
    return st.lists(st.tuples(key, value), max_size=3).map(tuple)


@cache
def timestamps() -> SearchStrategy[int]:
    """Return a strategy for the timestamps of a message: -1 (none), 0, a recent one, any other (§1.7)."""
    return st.one_of(
        st.sampled_from([-1, 0, RECENT_TIMESTAMP, (1 << 63) - 1]), st.integers(-1, (1 << 63) - 1)
    )


# --- v2 ---


@cache
@st.composite
def batches(draw: DrawFn, codecs: tuple[int, ...] = (0, 1, 2, 3, 4)) -> RecordBatch:
    """Draw a record batch. One in five is a producer's; one in eight of the others is a control batch."""
    if draw(st.integers(0, 4)) == 0:
        return draw(producer_batches(codecs))
    flags = draw(st.sampled_from([0, 0, 0, LOG_APPEND_TIME, TRANSACTIONAL, 0x40, 0x48, 0x80]))
    numbers = {attribute_of(part.name): draw(_number(part, codecs)) for part in BATCH.numbers}
    header = RecordBatch(**numbers, records=())
    header = evolve(header, attributes=header.attributes | flags)
    if draw(st.integers(0, 7)) == 0:
        return draw(_control_batch(header))
    records = draw(st.lists(_records(), max_size=4))
    return evolve(header, records=tuple(with_computed_fields(header, row) for row in records))


def _number(part: Number, codecs: tuple[int, ...]) -> SearchStrategy[int]:
    """Return a strategy for an integer of a batch; for the attributes, one of these codecs."""
    match part.name:
        case "magic":
            return st.just(V2)
        case "attributes":
            return st.sampled_from(codecs)
        case "baseTimestamp" | "maxTimestamp":
            return st.one_of(st.just(RECENT_TIMESTAMP), integers(64))
    return integers(bits_of(part.kind))


@cache
@st.composite
def producer_batches(draw: DrawFn, codecs: tuple[int, ...] = (0, 1, 2, 3, 4)) -> RecordBatch:
    """Draw a batch that profile `produce` accepts: §1.7. Deltas count up, maxTimestamp is the maximum."""
    drawn = draw(st.lists(_records(), min_size=1, max_size=4))
    deltas = draw(st.lists(st.integers(0, 10**7), min_size=len(drawn), max_size=len(drawn)))
    producer = draw(st.sampled_from([(-1, -1, -1), (1000, 0, 0), ((1 << 63) - 1, 32767, (1 << 31) - 1)]))
    header = RecordBatch(
        0,
        -1,
        2,
        draw(st.sampled_from(codecs)),
        len(drawn) - 1,
        RECENT_TIMESTAMP,
        RECENT_TIMESTAMP + max(deltas),
        *producer,
        records=(),
    )
    records = (
        evolve(record, attributes=0, offset_delta=index, timestamp_delta=delta)
        for index, (record, delta) in enumerate(zip(drawn, deltas, strict=True))
    )
    return evolve(header, records=tuple(with_computed_fields(header, row) for row in records))


def with_computed_fields(header: RecordBatch, record: Record, control: Control | None = None) -> Record:
    """Return the record with the offset and timestamp that follow from `header`: §1.8, §1.10."""
    append = header.attributes & LOG_APPEND_TIME
    timestamp = header.max_timestamp if append else wrap64(header.base_timestamp + record.timestamp_delta)
    offset = wrap64(header.base_offset + record.offset_delta)
    return evolve(record, offset=offset, timestamp=timestamp, control=control)


@cache
def _records() -> SearchStrategy[Record]:
    attributes = st.one_of(st.just(0), integers(8))
    return st.builds(
        Record, attributes, integers(64), integers(32), nullable_octets(), nullable_octets(), headers()
    )


@st.composite
def _control_batch(draw: DrawFn, header: RecordBatch) -> RecordBatch:
    """Draw a control batch with one record: ABORT, COMMIT, or an undocumented type (§1.9)."""
    kind = draw(st.sampled_from([0, 1, 99]))
    version, epoch = draw(st.integers(0, 32767)), draw(integers(32))
    key = (0).to_bytes(2, "big") + kind.to_bytes(2, "big")
    value = version.to_bytes(2, "big") + epoch.to_bytes(4, "big", signed=True)
    control = Control(kind, version, epoch) if kind < 2 else Control(kind)
    flagged = evolve(header, attributes=header.attributes | CONTROL)
    return evolve(flagged, records=(with_computed_fields(flagged, Record(0, 0, 0, key, value, ()), control),))


# --- v0 and v1 ---


@cache
@st.composite
def messages(draw: DrawFn, magic: int, codecs: tuple[int, ...] = (0, 1, 2, 3)) -> Message:
    """Draw a message of `magic` 0 or 1, or a wrapper message with up to four messages."""
    codec = draw(st.sampled_from(codecs))
    message = draw(_plain(magic))
    if not codec:
        return message
    inner = tuple(draw(st.lists(_plain(magic), min_size=1, max_size=4)))
    outer = evolve(message, attributes=message.attributes & ~CODEC_MASK | codec, value=None, messages=inner)
    return _v1_wrapper(outer, inner, zero=draw(st.booleans())) if magic else outer


@cache
@st.composite
def _plain(draw: DrawFn, magic: int) -> Message:
    flags = draw(st.sampled_from([0, 0, 0, LOG_APPEND_TIME, 0x10, -128]))
    timestamp = draw(timestamps()) if magic else -1
    return Message(
        draw(integers(64)), magic, flags, timestamp, draw(nullable_octets()), draw(nullable_octets()), None
    )


def _v1_wrapper(outer: Message, inner: tuple[Message, ...], *, zero: bool) -> Message:
    """Return the wrapper with consistent offsets and timestamps: §2.2.

    Either the wrapper has the offset of its last message, and the offsets of its messages count up from a
    non-negative number, or (`zero`) it has offset 0 and the messages keep their offsets (W34).
    """
    append = outer.attributes & LOG_APPEND_TIME
    first = inner[0].offset & 0xFFFF_FFFF
    offsets = [message.offset if zero else first + index for index, message in enumerate(inner)]
    messages = tuple(
        evolve(message, offset=offset, timestamp=outer.timestamp if append else message.timestamp)
        for message, offset in zip(inner, offsets, strict=True)
    )
    return evolve(outer, offset=0 if zero else offsets[-1], messages=messages)


# --- logs ---


@cache
def entries() -> SearchStrategy[LogEntry]:
    """Return a strategy for entries of any magic."""
    return st.one_of(batches(), messages(0), messages(1))


@cache
def logs() -> SearchStrategy[Log]:
    """Return a strategy for logs of up to three entries of any magic."""
    return st.lists(entries(), max_size=3).map(lambda entry_list: Log(tuple(entry_list)))


VALUES: Final[dict[str, Callable[[], SearchStrategy[LogEntry] | SearchStrategy[Log]]]] = {
    "kafka.batch/v0": lambda: messages(0),
    "kafka.batch/v1": lambda: messages(1),
    "kafka.batch/v2": batches,
    "kafka.log/mixed": logs,
}
"""Format id to the strategy for its values."""


def _produce_options(_value: LogEntry) -> SearchStrategy[Options]:
    """Return a strategy for options: now and then the profile of a producer."""
    return st.sampled_from([*[DEFAULT_OPTIONS] * 5, Options(profile="produce")])


def _fetch_options(value: Log) -> SearchStrategy[Options]:
    """Return a strategy for a fetch from an offset, or of committed records only: kafka.md §1.9."""
    offsets = [getattr(entry, "base_offset", getattr(entry, "offset", 0)) for entry in value.batches]
    producers = [entry.producer_id for entry in value.batches if hasattr(entry, "producer_id")]
    fetched = [Options(fetch_offset=max(offset + 1, 0)) for offset in offsets[:1]]
    aborted = tuple(zip(producers, offsets, strict=False))
    committed = [Options(isolation="read_committed", aborted=aborted)]
    return st.sampled_from([*[DEFAULT_OPTIONS] * 8, *fetched, *committed])


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "kafka.batch": _produce_options,
    "kafka.log": _fetch_options,
}
"""Name of a format to the strategy for the options of a value."""

# --- messages of producers, which most clients can encode: §1.7 ---

CODECS: Final = (0, 0, 1, 2, 3, 4)

PRODUCERS: Final = (NO_PRODUCER, NO_PRODUCER, (1000, 0, 0), ((1 << 63) - 1, 32767, (1 << 31) - 1))
"""Producer ids, epochs and sequences: none in half of the draws, else small or at the limits (§1.10)."""


@cache
def _octets() -> SearchStrategy[bytes | None]:
    """Return a strategy for null, short bytes, and compressible bytes around the length boundary of 64."""
    compressible = st.builds(
        bytes.__mul__, st.sampled_from([b"a", b"\0"]), st.sampled_from([63, 64, 65, 2000])
    )
    return st.one_of(st.sampled_from([None, b"", b"\0", b"k"]), st.binary(max_size=40), compressible)


@cache
def _headers() -> SearchStrategy[tuple[RecordHeader, ...]]:
    """Return a strategy for ordered headers with repeated, empty or non-ASCII keys; values may be null."""
    key = st.one_of(st.sampled_from(["", "h", "h", "ß", "漢"]), st.text("abc", max_size=8)).map(str.encode)
    return st.lists(st.tuples(key, st.one_of(st.none(), st.binary(max_size=12))), max_size=3).map(tuple)


@cache
@st.composite
def logical_message_sets(draw: DrawFn) -> LogicalMessageSet:
    """Draw one to five messages with recent timestamps in any order, or all with one boundary timestamp."""
    recent = st.integers(-(10**4), 10**7).map(lambda delta: RECENT_TIMESTAMP + delta)
    time = draw(st.sampled_from([recent, recent, recent, st.just(0), st.just(-1), st.just(1 << 40)]))
    plain = st.builds(LogicalMessage, _octets(), _octets(), time, _headers())
    producer = draw(st.sampled_from(PRODUCERS))
    return LogicalMessageSet(
        draw(st.sampled_from(CODECS)),
        tuple(draw(st.lists(plain, min_size=1, max_size=5))),
        producer,
        producer != NO_PRODUCER and draw(st.booleans()),
    )
