"""What the kernels found, as the values of the formats: for the judge, which compares them field by field.

Design, section 3, "Values". This is for comparing and not for speed: it makes an object a record.
"""

from struct import Struct
from typing import Final

from wireproof.columnar import column_kernels
from wireproof.columnar.extra import np
from wireproof.columnar.frames import Run
from wireproof.columnar.kernels import CODEC, CONTROL, Octets, Row
from wireproof.columnar.wave import Wave
from wireproof.kafka.values import Control, Entry, Header, Message, Record, RecordBatch
from wireproof.wire.items import Item

MARKER_KEY: Final = Struct(">hh")
MARKER_VALUE: Final = Struct(">hi")
"""Version and type, version and coordinatorEpoch: kafka.md §1.9."""


def items(run: Run) -> list[Item]:
    """The items of a run that was judged with its slots, values and all."""
    if run.wave is None:
        return [run.answers[0]]
    wave, first = run.wave, np.concatenate(([0], np.cumsum(run.wave.records)))
    return [
        run.answers[index] if index in run.answers else _item(wave, index, int(first[index]))
        for index in range(wave.clean.size)
    ]


def _item(wave: Wave, index: int, first: int) -> Item:
    at, length = int(wave.entries.position[index]), int(wave.entries.length[index])
    return Item("frame", at, length, _entry(wave, index, first))


def _entry(wave: Wave, index: int, first: int) -> Entry:
    head, magic = wave.heads[index], int(wave.entries.magic[index])
    slots = wave.slots[first : first + int(wave.records[index])]
    if magic == 2:
        return _batch(wave, head, slots)
    messages = tuple(_message(wave, slot, magic) for slot in slots)
    if not int(head["attributes"]) & CODEC:
        return messages[0]
    attributes, timestamp = int(head["attributes"]), int(head["max_time"])
    return Message(int(head["offset"]), magic, attributes, timestamp, None, None, messages)


def _batch(wave: Wave, head: Row, slots: Row) -> RecordBatch:
    return RecordBatch(
        base_offset=int(head["offset"]),
        partition_leader_epoch=int(head["leader_epoch"]),
        magic=2,
        attributes=int(head["attributes"]),
        last_offset_delta=int(head["last"]),
        base_timestamp=int(head["base_time"]),
        max_timestamp=int(head["max_time"]),
        producer_id=int(head["producer"]),
        producer_epoch=int(head["producer_epoch"]),
        base_sequence=int(head["sequence"]),
        records=tuple(_record(wave, head, slot) for slot in slots),
    )


def _record(wave: Wave, head: Row, slot: Row) -> Record:
    key = _octets(wave, slot["key_at"], slot["key_length"])
    value = _octets(wave, slot["value_at"], slot["value_length"])
    return Record(
        attributes=int(slot["attributes"]),
        timestamp_delta=int(slot["delta"]),
        offset_delta=int(slot["offset"]) - int(head["offset"]),
        key=key,
        value=value,
        headers=_headers(wave, slot),
        offset=int(slot["offset"]),
        timestamp=int(slot["timestamp"]),
        control=marker(key, value) if int(head["attributes"]) & CONTROL else None,
    )


def marker(key: bytes | None, value: bytes | None) -> Control:
    """ABORT or COMMIT, which is all that the kernels take: kafka.md §1.9."""
    assert key is not None, "the kernel lets a marker without key to the reference"
    assert value is not None, "as above"
    _, kind = MARKER_KEY.unpack_from(key)
    version, epoch = MARKER_VALUE.unpack_from(value)
    return Control(kind, version, epoch)


def _message(wave: Wave, slot: Row, magic: int) -> Message:
    key = _octets(wave, slot["key_at"], slot["key_length"])
    value = _octets(wave, slot["value_at"], slot["value_length"])
    offset, timestamp = int(slot["offset"]), int(slot["timestamp"])
    return Message(offset, magic, int(slot["attributes"]), timestamp, key, value, None)


def _octets(wave: Wave, at: Row, length: Row) -> bytes | None:
    if length < 0:
        return None
    space, start = _space(wave, int(at))
    return bytes(space[start : start + int(length)])


def _space(wave: Wave, at: int) -> tuple[Octets, int]:
    size = wave.entries.wire.size
    return (wave.entries.wire, at) if at < size else (wave.arena, at - size)


def _headers(wave: Wave, slot: Row) -> tuple[Header, ...]:
    count = int(slot["headers"])
    at, length = np.empty((2, count), np.uint64), np.empty((2, count), np.int32)
    slots = np.array([slot])
    column_kernels.read_headers(
        wave.entries.wire, wave.arena, slots["headers_at"], slots["headers"], at, length
    )
    keys, values = ([_octets(wave, *one) for one in zip(at[row], length[row], strict=True)] for row in (0, 1))
    return tuple((key or b"", value) for key, value in zip(keys, values, strict=True))
