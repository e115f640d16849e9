"""`decode` by the kernels: the value where they answer for all of it, else None: ask the reference."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from wireproof.columnar.frames import Run, runs
from wireproof.columnar.heka import heka_runs
from wireproof.columnar.values import items
from wireproof.formats import Decoded
from wireproof.heka import frame
from wireproof.heka.frame import Frame
from wireproof.kafka.frame import MOST, OVERFLOWING
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected


def decode_entry(data: bytes, options: Options, magic: int) -> Decoded | None:
    """`kafka.batch`: the first entry, which must be of this magic; what follows it is not looked at."""
    total = int.from_bytes(data[8:12], signed=True) + 12
    if total > len(data) or data[16:17] != bytes((magic,)):
        return None
    first = next(runs(memoryview(data)[: max(total, 0)], options, keep="slots", most=MOST), None)
    if first is None or first.wave is None or first.answers:
        return None
    return Decoded(items(first)[0].value, total, ())


def decode_log(data: bytes, options: Options) -> Decoded | None:
    """`kafka.log`: whole entries and a tail; an option of delivery is the reference's (kafka.md §1.9)."""
    if (
        options.profile != "reader"
        or options.fetch_offset is not None
        or options.isolation != "read_uncommitted"
    ):
        return None
    found = _answered(data, options)
    if found is None:
        return None
    entries = tuple(item.value for item in found if item.kind == "frame")
    if not in_order(entries):
        return None
    return Decoded(Log(entries), sum(item.length for item in found if item.kind == "frame"), ())


def _answered(data: bytes, options: Options) -> list[Item] | None:
    """Every item, if no frame was handed over; decompression's limit is one for the whole log there."""
    found: list[Item] = []
    unpacked = 0
    for run in runs(data, options, keep="slots", most=MOST):
        unpacked += 0 if run.wave is None else int(run.wave.unpacked.sum())
        if _asked(run, data) or unpacked > options.max_output:
            return None
        found += items(run)
    return found


def _asked(run: Run, data: bytes) -> bool:
    """Whether the reference has a say: an unclean entry, garbage, or a tail that no log holds (I14)."""
    if run.wave is not None:
        return bool(run.answers)
    tail = run.answers[0]
    size = int.from_bytes(data[tail.at + 8 : tail.at + 12], signed=True)
    return tail.kind != "tail" or size >= OVERFLOWING


def in_order(entries: tuple[RecordBatch | Message, ...]) -> bool:
    """Whether each entry begins behind all before it: no reader checks it, so it is remarked on (I31)."""
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
"""By format and revision."""


def scan_items(data: bytes, options: Options = DEFAULT) -> tuple[list[Item], int]:
    """The items of `kafka.log`, with values, and how many of them the reference gave."""
    found: list[Item] = []
    handed = 0
    for run in runs(data, options, keep="slots"):
        found += items(run)
        handed += sum(item.kind != "tail" for item in run.answers.values())
    return found, handed


def scan_heka_items(data: bytes, options: Options = DEFAULT) -> tuple[list[Item], int]:
    """The items of `heka.stream`, and how many of them the reference gave.

    The kernels only frame: the value of a frame that they found clean is the reference's reading of just
    these bytes. Where it refuses them the item has no value, and the judge sees a difference.
    """
    found: list[Item] = []
    handed = 0
    for run in heka_runs(data, options):
        rows = zip(run.position.tolist(), run.length.tolist(), strict=True)
        found += [
            Item("frame", at, length, _heka_frame(data[at : at + length], options)) for at, length in rows
        ]
        found += run.items
        handed += sum(item.kind != "tail" for item in run.items)
    return found, handed


def _heka_frame(data: bytes, options: Options) -> Frame | None:
    reader = Reader(data)
    with suppress(Rejected):
        return frame.read(reader, options)
    return None
