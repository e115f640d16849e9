"""Mutations of Kafka's entries and logs, their least and fullest values, and words for fuzzers."""

from collections.abc import Callable, Iterator
from random import Random
from struct import pack
from typing import Any, Final

from attrs import evolve

from wireproof.derive.mutate.dictionary import INVALID_VARINTS, VARLONG_BOUNDARIES, edges, varint
from wireproof.derive.mutate.draws import below, boundary_bytes, pick
from wireproof.derive.mutate.encodings import wrapped
from wireproof.derive.mutate.mutation_rules import MutationRules
from wireproof.derive.mutate.values_of_type import MAX_ELEMENTS, smallest
from wireproof.family import Format
from wireproof.kafka import control_types
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.values import Control, Log, Message, Record, RecordBatch
from wireproof.wire.compression import COMPRESSION_CODECS

# --- control records, as brokers and controllers write them, and invalid ones: kafka.md §1.9 ---

VERSIONS: Final = (0, 0, 0, 1, -1)
"""Versions of the key and of the value of a control record; a negative version is invalid."""

NO_TAGS: Final = b"\0"

COMPACT_ONE: Final = b"\2"
"""The count of a compact array with one element, and the length of a compact string of one byte."""


def random_control_record(rng: Random) -> Record:
    """Return a control record of a known or unknown version; its key or value may have a wrong size."""
    # The end of a transaction is the most frequent type.
    kind = pick(rng, (*(control_types.ABORT, control_types.COMMIT) * 3, *range(2, 7), 99))
    key = pack(">hh", pick(rng, VERSIONS), kind)
    key = pick(rng, (key, key, key, key[:3], key + b"\0\1"))
    valid = RECORD_VALUES.get(kind, _end_of_transaction)(rng)
    value = valid if below(rng, 4) else pick(rng, (b"\0\0", b"", rng.randbytes(12), valid + b"\0"))
    return Record(0, 0, 0, key, value, ())


def _end_of_transaction(rng: Random) -> bytes:
    return pack(">hi", pick(rng, VERSIONS), 1)


def _leader_change(rng: Random) -> bytes:
    version = below(rng, 2)
    voter = pack(">i", 1) + rng.randbytes(16) * version + NO_TAGS
    return pack(">hi", version, 1) + (COMPACT_ONE + voter) * 2 + NO_TAGS


def _voters(rng: Random) -> bytes:
    endpoint = COMPACT_ONE + b"n" + COMPACT_ONE + b"h" + rng.randbytes(2) + NO_TAGS
    voter = pack(">i", 1) + rng.randbytes(16) + COMPACT_ONE + endpoint + pack(">hh", 0, 1) + NO_TAGS * 2
    return pack(">h", 0) + COMPACT_ONE + voter + NO_TAGS


RECORD_VALUES: Final[dict[int, Callable[[Random], bytes]]] = {
    control_types.LEADER_CHANGE: _leader_change,
    control_types.SNAPSHOT_HEADER: lambda rng: pack(">h", 0) + rng.randbytes(8) + NO_TAGS,
    control_types.SNAPSHOT_FOOTER: lambda _: pack(">h", 0) + NO_TAGS,
    control_types.KRAFT_VERSION: lambda rng: pack(">hh", 0, below(rng, 2)) + NO_TAGS,
    control_types.KRAFT_VOTERS: _voters,
}
"""Type of a control record to a function that returns its value, in a version that §1.9 describes."""

# --- edited entries that the encoder accepts ---


def _batch(batch: RecordBatch) -> RecordBatch:
    """Use a known codec, 0 to 4, and magic 2: kafka.md §1.2."""
    attributes = wrapped(batch.attributes, 16)
    if attributes & CODEC_MASK and attributes & CODEC_MASK not in COMPRESSION_CODECS:
        attributes &= ~4
    if (attributes, 2) == (batch.attributes, batch.magic):
        return batch
    return evolve(batch, attributes=attributes, magic=2)


def _message(message: Message) -> Message:
    """Make codec and inner messages consistent, and the wrapper's offset and timestamp too: kafka.md §2.2."""
    attributes = wrapped(message.attributes, 8)
    codec = attributes & CODEC_MASK
    if codec > 3:
        attributes, codec = attributes & ~4, codec & 3
    if message.magic not in (0, 1):
        message = evolve(message, magic=1)
    timestamp = -1 if message.magic == 0 else max(message.timestamp, -1)
    if not codec or message.messages == ():
        value = message.value if message.messages is None else b"v"
        return evolve(
            message, attributes=attributes & ~CODEC_MASK, timestamp=timestamp, value=value, messages=None
        )
    plain = evolve(message, attributes=attributes & ~CODEC_MASK, timestamp=timestamp, messages=None)
    inner = (plain,) if message.messages is None else message.messages
    rows = [
        evolve(one, attributes=one.attributes & ~CODEC_MASK, magic=message.magic, messages=None)
        for one in inner
    ]
    outer = evolve(message, attributes=attributes, timestamp=timestamp, value=None, messages=tuple(rows))
    if not outer.magic:
        return outer
    if attributes & LOG_APPEND_TIME:
        rows = [evolve(one, timestamp=timestamp) for one in rows]
    offset = outer.offset and rows[-1].offset
    return evolve(outer, offset=0 if offset and rows[0].offset < 0 else offset, messages=tuple(rows))


# --- mutations ---

_SMALL: Final = Record(0, 0, 0, None, b"v", ())

_LEAST: Final = {
    RecordBatch: RecordBatch(0, -1, 2, 0, 0, 0, 0, -1, -1, -1, (_SMALL,)),
    Record: _SMALL,
    Message: Message(0, 0, 0, -1, None, b"v", None),
}
"""Class to value, for classes in which zeros are not valid."""


def _full() -> dict[Any, Any]:
    """Return class to value, for classes whose parts depend on one another."""
    time = 1_700_000_000_000  # not 0, so that absolute and relative timestamps differ
    record = Record(0, 1, 1, b"k", b"v", ((b"h", b"x"),))
    numbers = {"base_offset": 5, "last_offset_delta": 1, "base_timestamp": time, "max_timestamp": time + 1}
    return {
        RecordBatch: evolve(smallest(RecordBatch), records=(smallest(Record), record), **numbers),
        Record: record,
        Message: Message(7, 1, 0, time, b"k", b"v", None),
        Control: None,
    }


def _for_format(fmt: Format, value: Any) -> Any:  # noqa: ANN401 - a value of any of the formats
    return evolve(value, magic=int(fmt.revision == "v1")) if isinstance(value, Message) else value


# --- special edits ---


def _as_control_batch(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Make the batch a control batch with one control record: kafka.md §1.9."""
    attributes = batch.attributes | CONTROL | pick(rng, (0, TRANSACTIONAL))
    records = (random_control_record(rng),)
    return evolve(batch, attributes=attributes, producer_id=7, producer_epoch=0, records=records)


def _with_wrapping_sequence(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Give the batch sequences that wrap around after 2147483647: kafka.md §1.10."""
    base, delta = (1 << 31) - 1 - below(rng, 2), max(batch.last_offset_delta, 2)
    return evolve(batch, base_sequence=base, last_offset_delta=delta, producer_id=7, producer_epoch=0)


def _with_overflow(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Give the batch offsets or timestamps that overflow: kafka.md §1.10."""
    limit = (1 << 63) - 1
    field = pick(rng, ("base_offset", "base_timestamp"))
    records = tuple(
        evolve(record, timestamp_delta=pick(rng, (record.timestamp_delta, limit, -limit)), offset_delta=at)
        for at, record in enumerate(batch.records, below(rng, 2))
    )
    changes: dict[str, Any] = {field: limit - below(rng, 2), "records": records}
    return evolve(batch, **changes)


def _compressed(batch: RecordBatch, rng: Random) -> RecordBatch:
    """Compress the batch with another codec, and give its first record a header: kafka.md §1.2, §1.3."""
    records = batch.records or (smallest(Record),)
    first = evolve(records[0], headers=((boundary_bytes(rng, b"h"), pick(rng, (None, b"", b"x"))),))
    codec = pick(rng, (1, 2, 3, 3, 4))  # LZ4 twice, because its frame has the most parts
    attributes = batch.attributes & ~7 | codec
    others = records[1:] or records * below(rng, 2)
    return evolve(batch, attributes=attributes, records=(first, *others))


def _renumbered(batch: RecordBatch, _: Random) -> RecordBatch:
    records = tuple(evolve(record, offset_delta=at) for at, record in enumerate(batch.records))
    return evolve(batch, last_offset_delta=max(len(records) - 1, 0), records=records)


def _as_wrapper(message: Message, rng: Random) -> Message:
    """Make the message a compressed wrapper around one or more messages: kafka.md §2.2."""
    inner = message.messages or (message,)
    count = pick(rng, (1, 2, 3))
    first = pick(rng, (0, 5))
    messages = tuple(evolve(one, offset=first + at) for at, one in enumerate((inner * count)[:MAX_ELEMENTS]))
    codec = pick(rng, (1, 2, 3))
    offset = pick(rng, (0, messages[-1].offset))
    return evolve(
        message, offset=offset, attributes=message.attributes & ~7 | codec, value=None, messages=messages
    )


def _transaction(log: Log, rng: Random) -> Log:
    """Append batches of two producers and a transaction marker of one of them to the log: kafka.md §1.9."""
    small: RecordBatch = smallest(RecordBatch)
    last = log.batches[-1] if log.batches else small
    end = last.base_offset + last.last_offset_delta if isinstance(last, RecordBatch) else last.offset
    producer, other = pick(rng, ((7, 8), (1000, 1001), (0, -1)))
    marker = _as_control_batch(small, rng)
    own = evolve(small, attributes=TRANSACTIONAL, producer_id=producer, producer_epoch=0)
    others = evolve(own, producer_id=other)
    marker = evolve(marker, producer_id=pick(rng, (producer, other)))
    batches = (own, others, marker, *(own, others)[below(rng, 3) :])
    appended = tuple(evolve(batch, base_offset=at) for at, batch in enumerate(batches, end + 1))
    return Log((*log.batches[: MAX_ELEMENTS // 4], *appended))


def _in_log(log: Log, rng: Random) -> Log:
    """Apply an edit of `EDITS` to an entry of the log."""
    if not log.batches:
        kind: type = pick(rng, (RecordBatch, Message))
        return Log((smallest(kind),))
    at = below(rng, len(log.batches))
    _, change = pick(rng, EDITS[type(log.batches[at])])
    return Log((*log.batches[:at], change(log.batches[at], rng), *log.batches[at + 1 :]))


def _recompressed(fmt: Format, value: Any, number: int) -> tuple[str, Any] | None:  # noqa: ANN401 - as above
    """Return a batch with another codec in its attributes: kafka.md §3."""
    if fmt.revision != "v2":
        return None
    codec = number % 5
    return f"codec {codec}", evolve(value, attributes=value.attributes & ~CODEC_MASK | codec)


EDITS: Final[dict[type, tuple[tuple[str, Callable[[Any, Random], Any]], ...]]] = {
    RecordBatch: (
        ("control batch", _as_control_batch),
        ("overflow", _with_overflow),
        ("compressed", _compressed),
        ("wrapping sequence", _with_wrapping_sequence),
        ("renumbered", _renumbered),
    ),
    Message: (("wrapper", _as_wrapper),),
    Log: (("entry", _in_log), ("transaction", _transaction)),
}
"""Class to the names and functions of its edits."""

RULES: Final = MutationRules(
    computed={Log: ("next_offset",)},
    least=_LEAST,
    full=_full,
    for_format=_for_format,
    normalise={RecordBatch: _batch, Message: _message},
    whole=(RecordBatch, Record),  # their parts do not depend on one another
    edits=EDITS,
    compress={RecordBatch: _compressed, Message: _as_wrapper},
    recompress=_recompressed,
    entries={Log: "batches"},
    empty_frames={"kafka.log": bytes(12)},  # an entry of size 0: kafka.md §1.1
)

# --- the dictionary: sections are those of kafka.md ---


def words(fmt: Format) -> Iterator[bytes]:
    """Yield magics, attributes (§1.2, §2.1), control records (§1.9), varints (§4), compressed data (§3)."""
    yield from edges(">")
    yield from (bytes([magic]) for magic in range(4))
    flags = [0, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON]
    flags += [CONTROL | TRANSACTIONAL, LOG_APPEND_TIME | DELETE_HORIZON]
    yield from (pack(">h", flag | codec) for flag in flags for codec in range(6))
    yield from (pack(">hh", 0, kind) for kind in range(7))
    yield from (pack(">qhi", -1, -1, -1), pack(">qhi", 7, 0, (1 << 31) - 1))
    yield from (varint("varlong", step) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS
    heads = [codec.pack(b"") for codec in COMPRESSION_CODECS.values()]
    yield from (head[:size] for head in heads for size in (4, 8, len(head)))
    if fmt.revision != "v2":  # §2.1: the message header of the old formats
        yield from (bytes([magic, codec]) + b"\xff" * 4 for magic in (0, 1) for codec in range(5))
