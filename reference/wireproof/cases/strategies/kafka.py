"""Hypothesis strategies of Kafka values, heavy on the boundaries of kafka.md §1.1, §1.3, §2.1 and §4.

Every value is whole: its computed fields are what a decode of its bytes gives, so that a round trip can be
compared for equality. Values that a reader remarks on (§5 "IMPL") are among them; those that no bytes can
stand for are not. Hypothesis is an extra, and is imported nowhere else in the package.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.kafka.arithmetic import APPEND_TIME, CODEC, CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.values import Control, Entry, Header, Log, Message, Record, RecordBatch

NOW: Final = 1_700_000_000_000
"""A timestamp of our days, in milliseconds."""


def _edges(bits: int) -> list[int]:
    """0, -1, 1, both ends of `bits`, and where a zigzag varint takes one more byte (§4)."""
    steps = [1 << power for power in (6, 13, 20, 27, 34, 41, 48, 55, 62) if power < bits - 1]
    signed = [value for step in steps for value in (step - 1, step, -step, -step - 1)]
    top = 1 << (bits - 1)
    return [0, -1, 1, top - 1, -top, *signed]


@cache
def integers(bits: int) -> SearchStrategy[int]:
    """Signed integers of `bits` bits; every second one stands on an edge."""
    top = 1 << (bits - 1)
    return st.one_of(st.sampled_from(_edges(bits)), st.integers(-top, top - 1))


@cache
def octets() -> SearchStrategy[bytes]:
    """Bytes; 63 to 65 and 8191 to 8192 are where their length takes one more byte."""
    edge = st.builds(
        bytes.__mul__, st.sampled_from([b"\0", b"a", b"\xff"]), st.sampled_from([63, 64, 65, 8192])
    )
    return st.one_of(st.sampled_from([b"", b"\0", b"k"]), st.binary(max_size=40), edge)


@cache
def nullable() -> SearchStrategy[bytes | None]:
    """Bytes or null, which empty is not."""
    return st.one_of(st.none(), octets())


@cache
def headers() -> SearchStrategy[tuple[Header, ...]]:
    """Headers in order, keys that repeat among them, empty and no UTF-8 too (§1.3, fields 7 to 9)."""
    key = st.one_of(st.sampled_from([b"", b"h", b"h", "ß".encode(), b"\xff"]), st.binary(max_size=8))
    value = st.one_of(st.none(), st.binary(max_size=12))
    return st.lists(st.tuples(key, value), max_size=3).map(tuple)


@cache
def timestamps() -> SearchStrategy[int]:
    """None (-1), 0, now, and any other that is not below -1: what a message may hold (§1.7)."""
    return st.one_of(st.sampled_from([-1, 0, NOW, (1 << 63) - 1]), st.integers(-1, (1 << 63) - 1))


# --- v2 ---


@cache
@st.composite
def batches(draw: DrawFn, codecs: tuple[int, ...] = (0, 1, 2, 3, 4)) -> RecordBatch:
    """A record batch; about one in five is as a producer makes it, one in eight a control batch."""
    if draw(st.integers(0, 4)) == 0:
        return draw(produced(codecs))
    flags = draw(st.sampled_from([0, 0, 0, APPEND_TIME, TRANSACTIONAL, 0x40, 0x48, 0x80]))
    header = RecordBatch(
        base_offset=draw(integers(64)),
        partition_leader_epoch=draw(integers(32)),
        magic=2,
        attributes=draw(st.sampled_from(codecs)) | flags,
        last_offset_delta=draw(integers(32)),
        base_timestamp=draw(st.one_of(st.just(NOW), integers(64))),
        max_timestamp=draw(st.one_of(st.just(NOW), integers(64))),
        producer_id=draw(integers(64)),
        producer_epoch=draw(integers(16)),
        base_sequence=draw(integers(32)),
        records=(),
    )
    if draw(st.integers(0, 7)) == 0:
        return draw(_markers(header))
    rows = draw(st.lists(_records(), max_size=4))
    return evolve(header, records=tuple(computed(header, row) for row in rows))


@cache
@st.composite
def produced(draw: DrawFn, codecs: tuple[int, ...] = (0, 1, 2, 3, 4)) -> RecordBatch:
    """A batch that profile `produce` takes: §1.7. Deltas count up, maxTimestamp is the maximum."""
    rows = draw(st.lists(_records(), min_size=1, max_size=4))
    late = draw(st.lists(st.integers(0, 10**7), min_size=len(rows), max_size=len(rows)))
    producer = draw(st.sampled_from([(-1, -1, -1), (1000, 0, 0), ((1 << 63) - 1, 32767, (1 << 31) - 1)]))
    header = RecordBatch(
        0, -1, 2, draw(st.sampled_from(codecs)), len(rows) - 1, NOW, NOW + max(late), *producer, records=()
    )
    records = (
        evolve(row, attributes=0, offset_delta=index, timestamp_delta=delta)
        for index, (row, delta) in enumerate(zip(rows, late, strict=True))
    )
    return evolve(header, records=tuple(computed(header, row) for row in records))


def computed(header: RecordBatch, row: Record, control: Control | None = None) -> Record:
    """The record with the offset and timestamp that `header` gives it: §1.8, §1.10."""
    append = header.attributes & APPEND_TIME
    timestamp = header.max_timestamp if append else wrap64(header.base_timestamp + row.timestamp_delta)
    offset = wrap64(header.base_offset + row.offset_delta)
    return evolve(row, offset=offset, timestamp=timestamp, control=control)


@cache
def _records() -> SearchStrategy[Record]:
    attributes = st.one_of(st.just(0), integers(8))
    return st.builds(Record, attributes, integers(64), integers(32), nullable(), nullable(), headers())


@st.composite
def _markers(draw: DrawFn, header: RecordBatch) -> RecordBatch:
    """A control batch of one marker: ABORT, COMMIT, or a type that no document names (§1.9)."""
    kind = draw(st.sampled_from([0, 1, 99]))
    version, epoch = draw(st.integers(0, 32767)), draw(integers(32))
    key = (0).to_bytes(2, "big") + kind.to_bytes(2, "big")
    value = version.to_bytes(2, "big") + epoch.to_bytes(4, "big", signed=True)
    typed = Control(kind, version, epoch) if kind < 2 else Control(kind)
    marked = evolve(header, attributes=header.attributes | CONTROL)
    return evolve(marked, records=(computed(marked, Record(0, 0, 0, key, value, ()), typed),))


# --- v0 and v1 ---


@cache
@st.composite
def messages(draw: DrawFn, magic: int, codecs: tuple[int, ...] = (0, 1, 2, 3)) -> Message:
    """A message of `magic` 0 or 1, or a wrapper around up to four."""
    codec = draw(st.sampled_from(codecs))
    one = draw(_plain(magic))
    if not codec:
        return one
    inner = tuple(draw(st.lists(_plain(magic), min_size=1, max_size=4)))
    outer = evolve(one, attributes=one.attributes & ~CODEC | codec, value=None, messages=inner)
    return _v1_wrapper(outer, inner, zero=draw(st.booleans())) if magic else outer


@cache
@st.composite
def _plain(draw: DrawFn, magic: int) -> Message:
    flags = draw(st.sampled_from([0, 0, 0, APPEND_TIME, 0x10, -128]))
    timestamp = draw(timestamps()) if magic else -1
    return Message(draw(integers(64)), magic, flags, timestamp, draw(nullable()), draw(nullable()), None)


def _v1_wrapper(outer: Message, inner: tuple[Message, ...], *, zero: bool) -> Message:
    """The wrapper with offsets and timestamps that agree: §2.2.

    It has the offset of its last message, and its messages count up from one that is not negative;
    or it has offset 0, and they stand as they are (W34).
    """
    append = outer.attributes & APPEND_TIME
    first = inner[0].offset & 0xFFFF_FFFF
    offsets = [one.offset if zero else first + index for index, one in enumerate(inner)]
    shown = tuple(
        evolve(one, offset=offset, timestamp=outer.timestamp if append else one.timestamp)
        for one, offset in zip(inner, offsets, strict=True)
    )
    return evolve(outer, offset=0 if zero else offsets[-1], messages=shown)


# --- logs ---


@cache
def entries() -> SearchStrategy[Entry]:
    """An entry of any format."""
    return st.one_of(batches(), messages(0), messages(1))


@cache
def logs() -> SearchStrategy[Log]:
    """A log of up to three entries of any format."""
    return st.lists(entries(), max_size=3).map(lambda rows: Log(tuple(rows)))


VALUES: Final[dict[str, Callable[[], SearchStrategy[Entry] | SearchStrategy[Log]]]] = {
    "kafka.batch/v0": lambda: messages(0),
    "kafka.batch/v1": lambda: messages(1),
    "kafka.batch/v2": batches,
    "kafka.log/mixed": logs,
}
"""Format and revision to the strategy of its values."""
