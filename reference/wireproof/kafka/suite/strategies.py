"""What Hypothesis strategies for Kafka's values need beside types and layouts: sections are of kafka.md.

A value drawn by its types has counts, deltas and flags that mostly contradict one another. So half of the
values are changed into such as writers make. Hypothesis is an optional dependency.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.derive.mutate.values_of_type import smallest
from wireproof.derive.strategies import Refinement, Wanted, by_type, lists_of
from wireproof.kafka import control_types, layouts
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, TRANSACTIONAL
from wireproof.kafka.batch import CODECS as CODEC_NAMES
from wireproof.kafka.control_record import KRAFT_VALUES
from wireproof.kafka.suite.producer_messages import NO_PRODUCER, LogicalMessage, LogicalMessageSet
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch, RecordHeader
from wireproof.schema.tables import Row, Table
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import FIXED_WIDTH

RECENT_TIMESTAMP: Final = 1_700_000_000_000
"""A recent timestamp, in milliseconds."""

LARGE: Final = 1 << 62
"""Above it, sums overflow."""


def _often(*numbers: int) -> Refinement:
    return lambda _, drawn: st.one_of(st.sampled_from(numbers), drawn)


# --- batches: §1.1, §1.7, §1.9 ---


def _batches(ask: Wanted, drawn: SearchStrategy[RecordBatch]) -> SearchStrategy[RecordBatch]:
    """Draw any batch, one whose numbers agree, one of a producer, or a control batch."""
    produced = drawn.map(_produced)
    if ask.profile == "produce":
        return produced
    return st.one_of(drawn, drawn.map(_agreeing), produced, drawn.map(_agreeing), _control_batches(drawn))


def _agreeing(batch: RecordBatch) -> RecordBatch:
    """Return a batch whose deltas count up, whose last numbers are those of its records, without a marker."""
    base = batch.base_timestamp if 0 <= batch.base_timestamp < LARGE else RECENT_TIMESTAMP
    records = tuple(
        evolve(record, offset_delta=index, timestamp_delta=abs(record.timestamp_delta) % 10_000_000)
        for index, record in enumerate(batch.records)
    )
    producer, attributes = NO_PRODUCER, batch.attributes & ~(CONTROL | TRANSACTIONAL)
    if batch.producer_id >= 0:
        producer = batch.producer_id, abs(batch.producer_epoch + 1), abs(batch.base_sequence + 1)
        attributes |= batch.attributes & TRANSACTIONAL
    latest = max((record.timestamp_delta for record in records), default=0)
    return evolve(
        batch,
        base_offset=abs(batch.base_offset) % LARGE,
        attributes=attributes,
        last_offset_delta=max(len(records) - 1, 0),
        base_timestamp=base,
        max_timestamp=base + latest,
        producer_id=producer[0],
        producer_epoch=min(producer[1], 32767),
        base_sequence=min(producer[2], (1 << 31) - 1),
        records=records,
    )


def _produced(batch: RecordBatch) -> RecordBatch:
    """Return a batch that profile `produce` accepts: §1.7."""
    records = batch.records or (smallest(Record),)
    agreeing = _agreeing(evolve(batch, records=records, base_timestamp=RECENT_TIMESTAMP))
    records = tuple(evolve(record, attributes=0) for record in agreeing.records)
    attributes = agreeing.attributes & (CODEC_MASK | TRANSACTIONAL)
    return evolve(agreeing, base_offset=0, partition_leader_epoch=-1, attributes=attributes, records=records)


@st.composite
def _control_batches(draw: DrawFn, drawn: SearchStrategy[RecordBatch]) -> RecordBatch:
    """Draw a control batch with one record: ABORT, COMMIT, a type of KRaft, or an undocumented one (§1.9)."""
    batch = draw(drawn)
    kind = draw(st.sampled_from((control_types.ABORT, control_types.COMMIT, 99, *KRAFT_VALUES)))
    if kind in KRAFT_VALUES:
        table = KRAFT_VALUES[kind]
        version = draw(st.sampled_from(table.versions))
        rest = draw(_flexible(table, version))
    else:
        version, epoch = draw(st.integers(0, 32767)), draw(st.integers(-(1 << 31), (1 << 31) - 1))
        rest = epoch.to_bytes(4, "big", signed=True)
    key, value = bytes(2) + kind.to_bytes(2, "big"), version.to_bytes(2, "big") + rest
    return evolve(batch, attributes=batch.attributes | CONTROL, records=(Record(0, 0, 0, key, value, ()),))


@cache
def _flexible(table: Table, version: int) -> SearchStrategy[bytes]:
    """Draw the bytes of a structure in a flexible version (KIP-482): lengths plus one, no tagged field."""
    parts = [_flexible_field(row, version) for row in table.rows_in(version)]
    return st.tuples(*parts).map(lambda written: b"".join(written) + b"\0")


def _flexible_field(row: Row, version: int) -> SearchStrategy[bytes]:
    match row.type:
        case Table() as of if row.many:
            elements = st.lists(_flexible(of, version), max_size=3)
            return elements.map(lambda written: bytes([len(written) + 1]) + b"".join(written))
        case Table() as of:
            return _flexible(of, version)
        case "string":
            return st.binary(max_size=66).map(lambda text: bytes([len(text) + 1]) + text)
        case "uuid":
            return st.binary(min_size=16, max_size=16)
        case kind:
            size = FIXED_WIDTH[kind].size
            return st.one_of(
                st.sampled_from((bytes(size), b"\xff" * size)), st.binary(min_size=size, max_size=size)
            )


# --- messages and logs: §2.1, §2.2, §2.4 ---


def _inner_messages(ask: Wanted, _: SearchStrategy[Any]) -> SearchStrategy[tuple[Message, ...] | None]:
    """Draw the messages of a wrapper, which have none themselves."""
    if ask.inner:
        return st.none()
    lists = lists_of(ask, lambda asked: by_type(evolve(asked, inner=True), Message), least=1)
    return st.one_of(st.none(), lists, lists)


def _messages(ask: Wanted, drawn: SearchStrategy[Message]) -> SearchStrategy[Message]:
    # The codecs of wrappers: §2.2.
    codecs = [codec for codec in (1, 2, 3) if ask.codecs is None or CODEC_NAMES[codec] in ask.codecs]
    writable = drawn.map(partial(_writable, codecs))
    return st.one_of(
        writable.map(lambda one: _counting(one) if one.messages else one), writable.map(_counting)
    )


def _writable(codecs: Sequence[int], message: Message) -> Message:
    """Return a message with the codec, one of those of a wrapper, and the timestamps that writers allow.

    Without this most logs with a message of v0 could not be encoded, and would be drawn again without one.
    """
    inner, codec = message.messages if codecs else None, message.attributes & CODEC_MASK
    timestamp = layouts.NO_TIMESTAMP if message.magic == 0 else max(message.timestamp, layouts.NO_TIMESTAMP)
    wanted = 0 if inner is None else codec if codec in codecs else codecs[codec % len(codecs)]
    if inner is not None:
        inner = tuple(_writable(codecs, evolve(one, magic=message.magic)) for one in inner)
    attributes = message.attributes & ~CODEC_MASK | wanted
    return evolve(message, attributes=attributes, timestamp=timestamp, messages=inner)


def _counting(message: Message) -> Message:
    """Return a wrapper whose messages count up to its offset."""
    first = abs(message.offset) % LARGE
    inner = message.messages
    if inner is None:
        return evolve(message, offset=first)
    counted = tuple(evolve(one, offset=first + at) for at, one in enumerate(inner))
    return evolve(message, offset=counted[-1].offset, messages=counted)


def _in_order(log: Log) -> Log:
    """Return a log whose entries follow one another."""
    entries: list[LogEntry] = []
    offset = 0
    for entry in log.batches:
        if isinstance(entry, RecordBatch):
            entries.append(evolve(_agreeing(entry), base_offset=offset))
            offset += len(entry.records) or 1
        else:
            entries.append(_counting(evolve(entry, offset=offset)))
            offset += len(entry.messages or (entry,))
    return Log(tuple(entries))


VALUES: Final[dict[Any, Refinement]] = {
    RecordBatch: _batches,
    (RecordBatch, "base_timestamp"): _often(RECENT_TIMESTAMP),
    (RecordBatch, "producer_id"): _often(-1, 1000),
    (Record, "attributes"): _often(0),
    Message: _messages,
    (Message, "messages"): _inner_messages,
    # A log has messages of both revisions.
    (Message, "magic"): lambda ask, _: st.sampled_from(
        {"v0": (0,), "v1": (1,)}.get(ask.fmt.revision, (0, 1))
    ),
    (Message, "timestamp"): _often(-1, RECENT_TIMESTAMP),
    Log: lambda _, drawn: st.one_of(drawn, drawn.map(_in_order)),
}
"""Types and fields of classes to refinements of their strategies."""


def _fetch_options(value: Log) -> SearchStrategy[Options]:
    """Return a strategy for a fetch from an offset, or of committed records only: kafka.md §1.9."""
    offsets = [getattr(entry, "base_offset", getattr(entry, "offset", 0)) for entry in value.batches]
    producers = [entry.producer_id for entry in value.batches if hasattr(entry, "producer_id")]
    fetched = [Options(fetch_offset=max(offset + 1, 0)) for offset in offsets[:1]]
    aborted = tuple(zip(producers, offsets, strict=False))
    committed = [Options(isolation="read_committed", aborted=aborted)]
    return st.sampled_from([*[DEFAULT_OPTIONS] * 8, *fetched, *committed])


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "kafka.batch": lambda _: st.sampled_from([*[DEFAULT_OPTIONS] * 5, Options(profile="produce")]),
    "kafka.log": _fetch_options,
}
"""Name of a format to the strategy for the options of a value."""

# --- messages of producers, which most clients can encode: §1.7 ---


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
    # Producer id, epoch and sequence: none in half of the draws, else small or at the limits (§1.10).
    limits = ((1 << 63) - 1, 32767, (1 << 31) - 1)
    producer = draw(st.sampled_from((NO_PRODUCER, NO_PRODUCER, (1000, 0, 0), limits)))
    return LogicalMessageSet(
        draw(st.sampled_from((0, 0, 1, 2, 3, 4))),
        tuple(draw(st.lists(plain, min_size=1, max_size=5))),
        producer,
        producer != NO_PRODUCER and draw(st.booleans()),
    )
