"""Decode and scan through the kernels, with values; the adapter `columnar` is built on these functions."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from wireproof.columnar.heka_scan import heka_scan_steps
from wireproof.columnar.item_values import value_items
from wireproof.columnar.kafka_scan import ScanStep, scan_steps
from wireproof.formats import Decoded
from wireproof.heka import frame
from wireproof.heka.frame import HekaFrame
from wireproof.kafka.size_and_magic import MAX_SIZE, OVERFLOWING_SIZE
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item


def decode_entry(data: bytes, options: Options, magic: int) -> Decoded | None:
    """Decode the first entry of `data` if it is clean and has this magic; bytes after it are ignored.

    Returns:
        The value, or None if the reference must decode the entry.
    """
    total = int.from_bytes(data[8:12], signed=True) + 12
    if total > len(data) or data[16:17] != bytes((magic,)):
        return None
    step = next(scan_steps(memoryview(data)[: max(total, 0)], options, keep="slots", most=MAX_SIZE), None)
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
    items_found = _clean_items(data, options)
    if items_found is None:
        return None
    entries = tuple(item.value for item in items_found if item.kind == "frame")
    if not offsets_ascend(entries):
        return None
    return Decoded(Log(entries), sum(item.length for item in items_found if item.kind == "frame"), ())


def _clean_items(data: bytes, options: Options) -> list[Item] | None:
    """Return every item of a log, or None if the reference has to look at some of it.

    The limit of decompressed bytes counts for the log as a whole, as it does in the reference.
    """
    found: list[Item] = []
    unpacked = 0
    for step in scan_steps(data, options, keep="slots", most=MAX_SIZE):
        unpacked += 0 if step.block is None else int(step.block.unpacked.sum())
        if _needs_reference(step, data) or unpacked > options.max_output:
            return None
        found += value_items(step)
    return found


def _needs_reference(step: ScanStep, data: bytes) -> bool:
    """Return whether the reference must decide.

    It must for an entry that is not clean, for garbage, and for a tail that no log may end with (I14).
    """
    if step.block is not None:
        return bool(step.answers)
    tail = step.answers[0]
    size = int.from_bytes(data[tail.at + 8 : tail.at + 12], signed=True)
    return tail.kind != "tail" or size >= OVERFLOWING_SIZE


def offsets_ascend(entries: tuple[RecordBatch | Message, ...]) -> bool:
    """Return whether the offsets of each entry are greater than those of all entries before it.

    No reader checks the order, so the reference only remarks on it (I31).
    """
    last: int | None = None
    for entry in entries:
        match entry:
            case RecordBatch():
                first = entry.records[0].offset if entry.records else None
                end = entry.base_offset + entry.last_offset_delta
            case Message():
                first, end = (entry.messages or (entry,))[0].offset, entry.offset
        if first is not None and last is not None and first <= last:
            return False
        last = end if last is None else max(last, end)
    return True


DECODERS: Final[dict[str, Callable[[bytes, Options], Decoded | None]]] = {
    "kafka.batch/v0": partial(decode_entry, magic=0),
    "kafka.batch/v1": partial(decode_entry, magic=1),
    "kafka.batch/v2": partial(decode_entry, magic=2),
    "kafka.log/mixed": decode_log,
}
"""The decoders, by format and revision."""


def scan_items(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[list[Item], int]:
    """Scan a `kafka.log`: return its items with values, and how many of them come from the reference."""
    items_found: list[Item] = []
    by_reference = 0
    for step in scan_steps(data, options, keep="slots"):
        items_found += value_items(step)
        by_reference += sum(item.kind != "tail" for item in step.answers.values())
    return items_found, by_reference


def scan_heka_items(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[list[Item], int]:
    """Scan a `heka.stream`: return its items with values, and how many of them come from the reference.

    The kernels find the frames and do not decode them: the reference decodes the bytes of each clean frame.
    If it refuses a frame that the kernels called clean, the item has no value, and the judge reports a
    difference.
    """
    items_found: list[Item] = []
    by_reference = 0
    for step in heka_scan_steps(data, options):
        rows = zip(step.position.tolist(), step.length.tolist(), strict=True)
        items_found += [
            Item("frame", at, length, _heka_frame(data[at : at + length], options)) for at, length in rows
        ]
        items_found += step.items
        by_reference += sum(item.kind != "tail" for item in step.items)
    return items_found, by_reference


def _heka_frame(data: bytes, options: Options) -> HekaFrame | None:
    reader = Reader(data)
    with suppress(Rejected):
        return frame.read(reader, options)
    return None
