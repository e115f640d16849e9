"""What the header of an entry says: its cells in a listing, its offsets, its records: kafka.md §1.1, §2.1."""

from collections.abc import Sequence
from typing import Any, Final

from wireproof.family import Format
from wireproof.kafka.attribute_bits import CODEC_MASK, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL, wrap64
from wireproof.kafka.entry import V2
from wireproof.kafka.layouts import BATCH_NUMBERS, CODECS, HEADS, NO_TIMESTAMP
from wireproof.kafka.size_and_magic import MAGIC_AT, MIN_SIZE_BY_MAGIC, SIZE_AT

COLUMNS: Final = (
    "magic", "baseOffset", "lastOffset", "count", "codec", "timestampType", "baseTimestamp", "maxTimestamp",
    "producerId", "producerEpoch", "baseSequence", "lastSequence", "transactional", "control",
    "deleteHorizon", "partitionLeaderEpoch", "crc",
)  # fmt: skip
"""The names of the cells.

`baseOffset` is that of the first message in a wrapper, null if it has none. `count` is that of the header of
a batch, and that of the messages in a wrapper; null if they were not read. `control` is the type of a control
batch.
"""

(
    MAGIC, BASE_OFFSET, LAST_OFFSET, COUNT, CODEC, TIMESTAMP_TYPE, BASE_TIMESTAMP, MAX_TIMESTAMP,
    PRODUCER, _, _, _, IS_TRANSACTIONAL, CONTROL_TYPE, HORIZON, LEADER_EPOCH, _,
) = range(len(COLUMNS))  # fmt: skip

HEADER_NAMES: Final = tuple(part.name for part in BATCH_NUMBERS)
"""The integers of a batch that the cells are made of, in the order of the wire."""

select_numbers = HEADS[V2].select(*HEADER_NAMES)
"""Select these integers from all those of a header."""

_CODEC_NAMES: Final = tuple(CODECS.get(number, str(number)) for number in range(CODEC_MASK + 1))

_SEQUENCES: Final = 1 << 31


def header_numbers(head: bytes) -> Sequence[int]:
    """Return these integers of the batch that begins with `head`."""
    numbers: Sequence[int] = select_numbers(HEADS[V2].peek(head))
    return numbers


def batch_cells(numbers: Sequence[int], control: str | None) -> tuple[Any, ...]:
    """Return the cells of a batch: §1.1, §1.2."""
    base, epoch, crc, attributes, delta, first_time, last_time, producer, generation, sequence, count = (
        numbers
    )
    horizon = attributes & DELETE_HORIZON
    return (
        2, base, wrap64(base + delta), count, _CODEC_NAMES[attributes & CODEC_MASK],
        "LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime", first_time, last_time,
        producer, generation, sequence, -1 if sequence == -1 else (sequence + delta) % _SEQUENCES,
        bool(attributes & TRANSACTIONAL), control, first_time if horizon else None, epoch, crc,
    )  # fmt: skip


def message_cells(head: bytes, first: int | None, count: int | None) -> tuple[Any, ...]:
    """Return the cells of the message or the wrapper that begins with `head`: §2.1, §2.2."""
    return message_row(HEADS[head[MAGIC_AT]].peek(head), first, count)


def message_row(numbers: Sequence[int], first: int | None, count: int | None) -> tuple[Any, ...]:
    """Return the cells of a message or a wrapper, from all the integers of its header: §2.1, §2.2."""
    offset, _, crc, magic, attributes, *rest = numbers
    timestamp = rest[0] if rest else NO_TIMESTAMP
    kind = ("LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime") if magic else None
    codec = _CODEC_NAMES[attributes & CODEC_MASK]
    return (
        magic, first, offset, count, codec, kind, timestamp, timestamp,
        -1, -1, -1, -1, False, None, None, -1, crc,
    )  # fmt: skip


def offsets_and_epoch(cells: Sequence[Any]) -> tuple[int, int, int | None]:
    """Return the first and the last offset, and the leader epoch; None for a message, which has none."""
    first, last = cells[BASE_OFFSET], cells[LAST_OFFSET]
    return (last if first is None else first), last, (cells[LEADER_EPOCH] if cells[MAGIC] > 1 else None)


# --- offsets and records ---

_numbers = HEADS[V2].select("baseOffset", "lastOffsetDelta", "recordsCount")


def head_offsets(_: Format, head: bytes) -> tuple[int | None, int | None] | None:
    """Return the first and the last offset in a header; None if no entry has such a header.

    A message has one offset, and a wrapper that of its last message: §2.2.
    """
    magic = _magic(head)
    if magic is None:
        return None
    if magic < V2:
        return None, int.from_bytes(head[:8], "big", signed=True)
    base, delta, _count = _numbers(HEADS[V2].peek(head))
    return base, wrap64(base + delta)


def head_records(head: bytes) -> int | None:
    """Return the number of records in a header; None for a wrapper, and if no entry has such a header."""
    magic = _magic(head)
    if magic is None:
        return None
    if magic < V2:  # the byte after the magic has the codec: a wrapper does not count its messages
        return None if head[MAGIC_AT + 1] & CODEC_MASK else 1
    _base, delta, count = _numbers(HEADS[V2].peek(head))
    return int(count) if 0 <= count <= delta + 1 else None


def _magic(head: bytes) -> int | None:
    """Return the magic of an entry that begins with these bytes; None if none does."""
    if len(head) <= MAGIC_AT + 1 or not 0 <= (magic := head[MAGIC_AT]) < len(MIN_SIZE_BY_MAGIC):
        return None
    if int.from_bytes(head[SIZE_AT : SIZE_AT + 4], "big", signed=True) < MIN_SIZE_BY_MAGIC[magic]:
        return None
    return magic if magic < V2 or len(head) >= HEADS[V2].size else None
