"""Decode and scan through the kernels, with values; the adapter `columnar` is built on these functions."""

from functools import partial
from operator import itemgetter
from typing import Final

from wireproof.columnar.basic_kernels import Row
from wireproof.columnar.optional_deps import np
from wireproof.family import Decoded, FastDecoder
from wireproof.kafka import control_record
from wireproof.kafka.batch import BATCH
from wireproof.kafka.columnar import entry_kernels
from wireproof.kafka.columnar.entry_kernels import CODEC, CONTROL, HEADER
from wireproof.kafka.columnar.entry_scan import CheckedEntries, ScanStep, scan_steps
from wireproof.kafka.control_types import ABORT
from wireproof.kafka.entry import V2 as BATCH_MAGIC
from wireproof.kafka.log import offset_range
from wireproof.kafka.size_and_magic import MAX_SIZE, OVERFLOWING_SIZE
from wireproof.kafka.values import Control, Log, LogEntry, Message, Record, RecordBatch, RecordHeader
from wireproof.schema.layout import attribute_of
from wireproof.schema.source import Head
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

# --- values of entries ---
#
# This makes an object for each record: it is for comparison, not for speed.

_COLUMNS: Final = (*(HEADER.names or ()), "magic")

_in_order = itemgetter(*(_COLUMNS.index(attribute_of(part.name)) for part in BATCH.numbers))
"""The integers of a batch from a row of `HEADER` and the magic, which no row has."""

_MARKER_KEY, _MARKER_VALUE = Head(control_record.KEY), Head(control_record.VALUES[ABORT])
"""Version and type; version and coordinatorEpoch: kafka.md §1.9."""


def value_items(step: ScanStep) -> list[Item]:
    """Return the items of a step, whose block must have slots, with their values."""
    if step.block is None:
        return [step.answers[0]]
    block, first = step.block, np.concatenate(([0], np.cumsum(step.block.records)))
    items = []
    for index, (at, length) in enumerate(zip(block.entries.position, block.entries.length, strict=True)):
        item = step.answers.get(index)
        if item is None:
            item = Item("frame", int(at), int(length), _entry(block, index, int(first[index])))
        items.append(item)
    return items


def _entry(block: CheckedEntries, index: int, first: int) -> LogEntry:
    header, magic = block.entry_headers[index], int(block.entries.magic[index])
    slots = block.slots[first : first + int(block.records[index])]
    if magic == 2:
        records = tuple(_record(block, header, slot) for slot in slots)
        numbers = _in_order((*header.tolist(), BATCH_MAGIC))
        return RecordBatch(*numbers, records=records)  # type: ignore[misc] # in order
    messages = tuple(_message(block, slot, magic) for slot in slots)
    if not int(header["attributes"]) & CODEC:
        return messages[0]
    attributes, timestamp = int(header["attributes"]), int(header["max_timestamp"])
    return Message(int(header["base_offset"]), magic, attributes, timestamp, None, None, messages)


def _record(block: CheckedEntries, header: Row, slot: Row) -> Record:
    key = _octets(block, slot["key_at"], slot["key_length"])
    value = _octets(block, slot["value_at"], slot["value_length"])
    control = None
    if int(header["attributes"]) & CONTROL:  # ABORT or COMMIT: no other control record is clean
        assert key is not None, "a marker without key is not clean"
        assert value is not None, "as above"
        control = Control(_MARKER_KEY.peek(key)[1], *_MARKER_VALUE.peek(value))
    numbers = ("attributes", "timestamp_delta", "offset", "timestamp")
    attributes, time_delta, offset, timestamp = (int(slot[name]) for name in numbers)
    delta, headers = offset - int(header["base_offset"]), _headers(block, slot)
    return Record(attributes, time_delta, delta, key, value, headers, offset, timestamp, control)


def _message(block: CheckedEntries, slot: Row, magic: int) -> Message:
    key = _octets(block, slot["key_at"], slot["key_length"])
    value = _octets(block, slot["value_at"], slot["value_length"])
    offset, timestamp = int(slot["offset"]), int(slot["timestamp"])
    return Message(offset, magic, int(slot["attributes"]), timestamp, key, value, None)


def _octets(block: CheckedEntries, at: Row, length: Row) -> bytes | None:
    if length < 0:
        return None
    wire, start = block.entries.wire, int(at)
    space, start = (wire, start) if start < wire.size else (block.arena, start - wire.size)
    return bytes(space[start : start + int(length)])


def _headers(block: CheckedEntries, slot: Row) -> tuple[RecordHeader, ...]:
    count = int(slot["headers"])
    at, length = np.empty((2, count), np.uint64), np.empty((2, count), np.int32)
    slots = np.array([slot])
    entry_kernels.locate_headers(
        block.entries.wire, block.arena, slots["headers_at"], slots["headers"], at, length
    )
    keys, values = (
        [_octets(block, *place) for place in zip(at[row], length[row], strict=True)] for row in (0, 1)
    )
    return tuple((key or b"", value) for key, value in zip(keys, values, strict=True))


# --- decoders ---


def decode_entry(data: bytes, options: Options, magic: int) -> Decoded | None:
    """Decode the first entry of `data` if it is clean and has this magic; bytes after it are ignored.

    Returns:
        The value, or None if the reference must decode the entry.
    """
    total = int.from_bytes(data[8:12], signed=True) + 12
    if total > len(data) or data[16:17] != bytes((magic,)):
        return None
    step = next(scan_steps(memoryview(data)[: max(total, 0)], options, keep=True, most=MAX_SIZE), None)
    if step is None or step.block is None or step.answers:
        return None
    return Decoded(value_items(step)[0].value, total, ())


def decode_log(data: bytes, options: Options) -> Decoded | None:
    """Decode a log of whole entries and perhaps a tail: format `kafka.log`.

    Returns:
        The value, or None if the reference must decode the log: an entry is not clean, or the options ask for
        the rules of delivery (kafka.md §1.9) or those of segment files (§1.4).
    """
    if (
        options.profile != "reader"
        or options.fetch_offset is not None
        or options.isolation != "read_uncommitted"
        or options.source != "fetch"
    ):
        return None
    items_found: list[Item] = []
    unpacked = 0  # the limit counts for the log as a whole, as it does in the reference
    for step in scan_steps(data, options, keep=True, most=MAX_SIZE):
        if step.block is None:  # garbage, or a tail, which may be one that no log ends with (I14)
            tail = step.answers[0]
            size = int.from_bytes(data[tail.at + 8 : tail.at + 12], signed=True)
            if tail.kind != "tail" or size >= OVERFLOWING_SIZE:
                return None
            continue
        unpacked += int(step.block.unpacked.sum())
        if step.answers or unpacked > options.max_output:
            return None
        items_found += value_items(step)
    last: int | None = None
    for (
        item
    ) in items_found:  # no reader checks that offsets ascend, so the reference only remarks on it (I31)
        first, end = offset_range(item.value)
        if first is not None and last is not None and first <= last:
            return None
        last = end if last is None else max(last, end)
    consumed = sum(item.length for item in items_found)
    return Decoded(Log(tuple(item.value for item in items_found)), consumed, ())


def scan_items(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[list[Item], int]:
    """Scan a `kafka.log`: return its items with values, and how many of them come from the reference."""
    items_found: list[Item] = []
    by_reference = 0
    for step in scan_steps(data, options, keep=True):
        items_found += value_items(step)
        by_reference += sum(item.kind != "tail" for item in step.answers.values())
    return items_found, by_reference


WARM: Final = tuple(
    bytes.fromhex(entry)
    for entry in (
        "0000000000000001 00000010 1fecd70a 00 00 00000001 6b 00000001 76",
        """0000000000000000 00000031 9df81123 00 01 ffffffff 00000023
        1f8b08000000000000ff6360800301f937d7b9c02cc66c10510600705273291c000000""",
        "0000000000000002 00000018 39268c33 01 00 0000018bcfe56800 00000001 6b 00000001 76",
        """0000000000000000 00000041 be56b66d 01 01 0000018bcfe56800 ffffffff 0000002b
        1f8b08000000000000ff63608003094bb51e63462083b1fbfcd30c900863368828030096f6de1824000000""",
        """0000000000000000 0000003a 00000000 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800
        ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00""",
        """0000000000000000 0000004e 00000000 02 d83f3114 0001 00000000
        0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff 00000001
        1f8b08000000000000ff1360606060ca662a630000a37fcfa609000000""",
    )
)
"""An entry of each revision, uncompressed and compressed: kafka.md §1.1, §2.1, §3."""

_LOGS: Final = (b"".join(WARM), bytes(64) + WARM[-1])
"""A log of all of them, and one with bytes before which no entry begins: their search is a kernel too."""

FAST_DECODERS: Final = {
    "kafka.batch/v0": FastDecoder(partial(decode_entry, magic=0), warm=WARM),
    "kafka.batch/v1": FastDecoder(partial(decode_entry, magic=1), warm=WARM),
    "kafka.batch/v2": FastDecoder(partial(decode_entry, magic=2), warm=WARM),
    "kafka.log/mixed": FastDecoder(decode_log, scan_items, _LOGS),
}
"""The fast decoders, by format and revision."""
