"""The index files beside an Iggy segment, checked against its records."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof import formats
from wireproof.data_files import FileFinding
from wireproof.formats import Format, steps_of
from wireproof.iggy.files.index_file import (
    INDEX_LAYOUTS,
    IndexLayout,
    RecordPosition,
    RecordPositions,
    check_against_log,
)
from wireproof.iggy.log import first_offset, last_offset
from wireproof.inspect.data_directory import HEAD_BYTES, is_claimed_before
from wireproof.inspect.detect_format import survey_log
from wireproof.segment_files import CheckedIndex, IndexRules, RawEntries, SegmentFileName, SegmentIndex
from wireproof.wire.byte_source import FileSource, ShrunkError
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.walk import items

SYSTEM: Final = "Iggy"

TICKS: Final = 1_000_000
"""Timestamps are in microseconds."""

FILE_NAME: Final = re.compile(r"(?P<base>\d{1,20})(?P<kind>\.(?:index|timeindex|log))")
"""Base offset and kind."""

ENDING: Final = re.compile(r".*(?P<kind>\.(?:index|timeindex))", re.DOTALL)

MAX_RECORDS: Final = 1 << 22
"""Records of a segment that are compared with an index: 160 MiB of positions."""

TIMESTAMP_FIELDS: Final = ("max_timestamp", "base_timestamp", "timestamp")


TOO_MANY: Final = f"the segment has more than {MAX_RECORDS} records,"


@frozen
class SegmentRecords:
    """The records of a segment, up to the first fault.

    Attributes:
        revision: of its format.
        heads: the position of each record.
        size: bytes of the file.
        why: the reason why the records end before the end of the file; empty if they do not.
    """

    revision: str
    heads: RecordPositions
    size: int
    why: str


def log_format(head: bytes) -> Format | None:
    """Return the format of the Iggy segment that begins with `head`; None if no record is proven."""
    if is_claimed_before(head, SYSTEM) or not head.strip(b"\0"):  # zeros prove nothing, and are slow
        return None
    formats_of_iggy = [fmt for fmt in formats.FORMATS.values() if fmt.name == "iggy.log"]
    best = max(
        ((survey_log(fmt, head).proven, not fmt.provisional, fmt.format_id, fmt) for fmt in formats_of_iggy),
        key=lambda found: found[:3],
    )
    return best[3] if best[0] else None


def read_log(log: Path) -> SegmentRecords | None:
    """Read the records of a segment of Iggy; None for another file.

    The result for the last log is kept, because each of its index files needs it.
    """
    state = log.stat()
    return _read_log(log, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1)
def _read_log(log: Path, size: int, _: int) -> SegmentRecords | None:
    """Read the records one after another; only their positions are kept."""
    with log.open("rb") as file:
        fmt = log_format(file.read(HEAD_BYTES))
        if fmt is None:
            return None
        places, why = RecordPositions(), ""
        try:
            for item in items(steps_of(fmt), FileSource.of(file), DEFAULT_OPTIONS):
                if len(places) == MAX_RECORDS:
                    why = why or f"{TOO_MANY} from position {item.at} on"
                    break
                if item.kind == "frame":
                    record = item.value
                    time = next(
                        getattr(record, field) for field in TIMESTAMP_FIELDS if hasattr(record, field)
                    )
                    first, last = first_offset(record), last_offset(record)
                    places.append(RecordPosition(first, last, item.at, item.at + item.length, time))
                else:
                    why = why or f"{item.cls or 'torn'} at {item.at}"
        except ShrunkError as error:
            why = str(error)
    return SegmentRecords(fmt.revision, places, size, why)


def _wrong(layout: IndexLayout, log: SegmentRecords, index: SegmentIndex) -> Iterator[FileFinding]:
    yield from layout.entries.alone(index)
    yield from check_against_log(layout, index, log.heads, sound=not log.why)
    if log.why.startswith(TOO_MANY):
        yield FileFinding(0, f"{log.why}; entries for them are not compared", is_error=False)


def check(name: SegmentFileName, log: SegmentRecords) -> CheckedIndex:
    """Check an index file against the records in the layout that fits best.

    There is no advice: no source of Iggy documents a repair.
    """
    data = name.read()
    candidates: list[tuple[SegmentIndex, tuple[FileFinding, ...]]] = []
    for layout in INDEX_LAYOUTS:
        if layout.kind == name.kind and log.revision in layout.revisions:
            index = layout.entries.read(data, name.base)
            candidates.append((index, tuple(_wrong(layout, log, index))))
    text = f"a segment of Iggy {log.revision} has no such file"
    none = SegmentIndex((), RawEntries((), 0, 0), name.base), (FileFinding(0, text, is_error=False),)
    index, faults = min(candidates, key=lambda candidate: len(candidate[1]), default=none)
    return CheckedIndex(name, len(data), index, log, faults, SYSTEM, log.revision, TICKS)


def fits_alone(name: SegmentFileName) -> CheckedIndex | None:
    """Check an index file whose segment is not beside it; None if it has none of the layouts."""
    data = name.read()
    found: list[tuple[IndexLayout, SegmentIndex]] = []
    for layout in INDEX_LAYOUTS if data else ():
        if layout.kind == name.kind:
            index = layout.entries.read(data, name.base)
            found += () if any(layout.entries.alone(index)) else [(layout, index)]
    if not found:
        return None
    revisions = dict.fromkeys(revision for layout, _ in found for revision in layout.revisions)
    return CheckedIndex(name, len(data), found[0][1], None, (), SYSTEM, " or ".join(revisions), TICKS)


RULES: Final = IndexRules(
    SYSTEM,
    tuple(dict.fromkeys(layout.kind for layout in INDEX_LAYOUTS)),
    FILE_NAME,
    ENDING,
    lambda head: log_format(head) is not None,
    read_log,
    check,
    fits_alone,
)
