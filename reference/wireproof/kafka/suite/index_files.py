"""The index files beside a segment of Kafka: kafka.md §13.

A segment is named after its base offset: `00000000000000001000.log`, `.index`, `.timeindex`, `.txnindex`
(Apache Kafka's `LogFileUtils`). `DumpLogSegments` checks the same files, but without an exit code.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from wireproof.data_files import FileFinding
from wireproof.formats import FORMATS, steps_of
from wireproof.kafka.attribute_bits import CONTROL
from wireproof.kafka.batch import BATCH
from wireproof.kafka.control_types import ABORT, COMMIT, CONTROL_TYPES
from wireproof.kafka.entry import V2
from wireproof.kafka.files.index_file import (
    INDEX_READERS,
    NO_MARKER,
    OFFSET_INDEX,
    REBUILD,
    EntryHeaders,
    SegmentHeaders,
    aborted_transactions,
)
from wireproof.kafka.layouts import HEADS
from wireproof.kafka.size_and_magic import MAGIC_AT, peek_whole_entry
from wireproof.kafka.suite import listing
from wireproof.kafka.suite.header_listing import HEADERS
from wireproof.segment_files import MAX_FILE_BYTES, CheckedIndex, IndexRules, SegmentFileName
from wireproof.wire.byte_source import ByteSource, FileSource, ShrunkError
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.walk import Entry, EntryRows, walk

SYSTEM: Final = "Kafka"

STEPS: Final = evolve(
    steps_of(FORMATS["kafka.log/mixed"]), cells=listing.item_cells, head_bytes=BATCH.fixed_size
)
"""The steps of a log, with the cells of each entry."""

READER: Final = evolve(HEADERS, chunks=(1 << 16, 1 << 16))
"""Reads few entries at once: their cells take more memory than what is kept of them."""

MARKERS: Final = {CONTROL_TYPES[kind]: kind for kind in (ABORT, COMMIT)}
"""The types of the records that end a transaction, by name."""

STATE: Final = r"(\.(?:deleted|cleaned|swap))?"
"""The state that Kafka adds while it deletes or compacts."""

FILE_NAME: Final = re.compile(
    rf"(?P<base>\d{{1,20}})(?:[-_][A-Za-z0-9_-]{{22}})?(?P<kind>\.(?:index|timeindex|txnindex|log)){STATE}"
)
"""Base offset, the id of a remote segment (kafka.md §14.6), kind, and state."""


def parse_file_name(path: Path) -> SegmentFileName | None:
    found = FILE_NAME.fullmatch(path.name)
    return SegmentFileName(int(found["base"]), found["kind"], path) if found else None


def begins_like_entries(head: bytes) -> bool:
    """Return whether the bytes begin with an entry that is followed by another one or by nothing."""
    reader = Reader(head)
    try:
        frame = peek_whole_entry(reader)
        if frame is None or not head:
            return not head
        reader.pos += frame.total
        return peek_whole_entry(reader) is not None or reader.left == 0
    except Rejected:
        return False


def read_segment(log: Path) -> SegmentHeaders:
    """Read the batch headers of a log; those of the last log are kept, because its index files need them."""
    state = log.stat()
    return _read_segment(log, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1)
def _read_segment(log: Path, size: int, _: int) -> SegmentHeaders:
    """Read the batch headers of a log; the file is not mapped, because it may shrink."""
    with log.open("rb") as file:
        try:
            return headers_of(FileSource(file, size))
        except ShrunkError as error:
            found = headers_of(FileSource(file, error.size))
            return evolve(found, size=size, why="the file shrank while it was read")


def headers_of(source: ByteSource) -> SegmentHeaders:
    """Return the headers of a log, up to bytes that begin no entry.

    An entry whose checksum is wrong has a header, if its size leads to another entry.

    Raises:
        OSError: the system cannot read it.
    """
    heads = EntryHeaders()
    held: tuple[Entry, tuple[Any, ...]] | None = None  # a damaged entry, which counts if another one follows
    for part in walk(STEPS, source, DEFAULT_OPTIONS, quick=READER):
        cells = _damaged_cells(part, source) if isinstance(part, Entry) and part.kind != "frame" else None
        if isinstance(part, Entry) and part.kind != "frame" and cells is None:
            last = held[0] if held else part
            why = f"{last.length} bytes of an entry that is cut"
            if last.kind != "tail":
                why = f"{last.damages[0].cls} at {last.damages[0].where}"
            return SegmentHeaders(heads, source.size, last.at, why)
        if held is not None:
            heads.add(_numbers(held[0].at, held[0].length, held[1]))
        held = None
        if isinstance(part, EntryRows):
            for row in zip(part.at, part.length, part.cells, strict=True):
                heads.add(_numbers(*row))
        elif cells is None:
            heads.add(_numbers(part.at, part.length, part.cells))
        else:
            held = part, cells
    if held is not None:
        heads.add(_numbers(held[0].at, held[0].length, held[1]))
    return SegmentHeaders(heads, source.size, source.size)


def _damaged_cells(one: Entry, source: ByteSource) -> tuple[Any, ...] | None:
    """Return the cells of a damaged entry; None if its size or its type is not to be trusted."""
    head = source.read(one.at, BATCH.fixed_size)
    if one.kind == "tail" or STEPS.size(head) != one.length or head[MAGIC_AT] > V2:
        return None
    if head[MAGIC_AT] < V2:
        return listing.message_cells(HEADS[head[MAGIC_AT]].peek(head), None, None)
    numbers = listing.header_numbers(head)
    is_control = numbers[listing.HEADER_NAMES.index("attributes")] & CONTROL
    return None if is_control else listing.batch_cells(numbers, None)


def _numbers(at: int, length: int, cells: Sequence[Any]) -> tuple[int, ...]:
    magic, last = cells[listing.MAGIC], cells[listing.LAST_OFFSET]
    control = cells[listing.CONTROL_TYPE]
    marker = NO_MARKER if control is None else MARKERS.get(control.partition("+")[0], NO_MARKER)
    return (
        at, length, magic, cells[listing.BASE_OFFSET] if magic == V2 else last, last,
        cells[listing.MAX_TIMESTAMP], cells[listing.PRODUCER], cells[listing.IS_TRANSACTIONAL], marker,
        cells[listing.LEADER_EPOCH],
    )  # fmt: skip


def check(name: SegmentFileName, log: SegmentHeaders | None) -> CheckedIndex:
    """Check an index file; if it is missing, every entry that it should have is missing."""
    data = name.read()
    codec = INDEX_READERS[name.kind]
    index = codec.read(data, name.base)
    found = [*codec.alone(index), *(codec.against(index, log) if log is not None else ())]
    if log is not None and log.heads and log.heads[0].first < name.base and log.heads[0].magic > 1:
        text = f"the log begins at offset {log.heads[0].first}, below the base offset of its name"
        found.insert(0, FileFinding(0, text, "give the files the name of their first offset"))
    beside = map(parse_file_name, name.path.absolute().parent.glob("*.log"))
    if index.raw.tail and any(other is not None and other.base > name.base for other in beside):
        written = len(index.raw.rows)
        at = (len(data) - index.raw.odd) // (written + index.raw.tail) * written
        text = f"{index.raw.tail} entries are allocated and not written, and a later segment follows: Kafka"
        text += " cuts the index of a closed segment, and brokers without KAFKA-10207 may delete the segment"
        text += " because they read the time 0"
        found.append(FileFinding(at, text, REBUILD, is_error=False))
    return CheckedIndex(name, len(data), index, log, tuple(found), SYSTEM)


def fits_alone(name: SegmentFileName) -> CheckedIndex | None:
    """Check an index file whose log shows no system; None if it has a fault."""
    found = check(name, None)
    return None if found.errors else found


def missing(name: SegmentFileName, log: SegmentHeaders) -> Iterator[str]:
    """Yield the index of transactions if the log needs one and has none."""
    if not name.beside(".txnindex").is_file() and aborted_transactions(log):
        yield ".txnindex"


RULES: Final = IndexRules(
    SYSTEM,
    tuple(INDEX_READERS),
    FILE_NAME,
    re.compile(rf".*(?P<kind>\.(?:index|timeindex|txnindex)){STATE}", re.DOTALL),
    begins_like_entries,
    read_segment,
    check,
    fits_alone,
    missing,
)


def indexed(log: Path, number: int, *, is_position: bool) -> tuple[int, int] | None:
    """Return the last offset and the position of the last indexed entry that is not after a place: §12."""
    path, base = log.with_name(log.name.replace(".log", ".index", 1)), log.name[:20]
    if not (base.isdecimal() and len(base) == 20 and path != log and path.is_file()):
        return None
    if path.stat().st_size > MAX_FILE_BYTES:
        return None
    entries = OFFSET_INDEX.read(path.read_bytes(), int(base)).entries
    keys = [one.position if is_position else one.offset for one in entries]
    place = bisect_right(keys, number) - 1
    return (entries[place].offset, entries[place].position) if place >= 0 else None
