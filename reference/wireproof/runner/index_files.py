"""The index files of a log segment: found by name, read, and checked against the log beside them.

A segment is named after its base offset: `00000000000000001000.log`, `.index`, `.timeindex`, `.txnindex`
(Apache Kafka's `LogFileUtils`). `DumpLogSegments` checks the same files, but without an exit code. Apache
Iggy gives its segments the same names: the log beside an index file, or its own bytes,
identify the system.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.index_file import IndexLayout
from wireproof.kafka import offset_index, segment_headers, time_index, transaction_index
from wireproof.kafka.index_file import IndexFinding
from wireproof.kafka.segment_headers import SegmentHeaders
from wireproof.runner import iggy_index_files
from wireproof.runner.iggy_index_files import SegmentRecords

FILE_NAME: Final = re.compile(
    r"(\d{1,20})(?:[-_][A-Za-z0-9_-]{22})?(\.(?:index|timeindex|txnindex|log))(\.(?:deleted|cleaned|swap))?"
)
"""Base offset, the id of a remote segment (kafka.md §14.6), kind, and the state that Kafka adds while it
deletes or compacts."""

KINDS: Final = (".index", ".timeindex", ".txnindex")

MAX_LISTED: Final = 20
"""Maximum number of findings listed for one index file; the others are counted."""

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Maximum bytes of an index file: `segment_headers.index.bytes` is 10 MiB by default."""


class IndexFileError(ValueError):
    """A file is no index file, or cannot be read as one; one line."""


@frozen
class SegmentFileName:
    """The parts of the name of a segment's file."""

    base: int
    kind: str
    path: Path

    def beside(self, kind: str) -> Path:
        """Return the path of another file of the segment, in the same state."""
        return self.path.with_name(self.path.name.replace(self.kind, kind, 1))


@frozen
class CheckedIndex:
    """An index file that was checked against its log.

    Attributes:
        index: its entries.
        log: None if there is no log.
        system: the system of the index: `Kafka`, `Iggy 0.7`.
    """

    name: SegmentFileName
    size: int
    index: Any
    log: SegmentHeaders | SegmentRecords | None
    findings: tuple[IndexFinding, ...]
    system: str = "Kafka"

    @property
    def errors(self) -> int:
        """Return the number of findings that mislead a reader."""
        return sum(finding.is_error for finding in self.findings)

    def lines(self) -> Iterator[str]:
        """Yield a line for each of the first findings: file, byte and fault; `advice` has the next step."""
        for finding in self.findings[:MAX_LISTED]:
            sort = "wrong" if finding.is_error else "note"
            yield f"{sort}: {self.name.path} at {finding.at}: {finding.message}"
        if len(self.findings) > MAX_LISTED:
            yield f"… {self.name.path}: {len(self.findings) - MAX_LISTED} more"

    @property
    def advice(self) -> tuple[str, ...]:
        """Return the next steps, each once; empty if no source documents a repair."""
        return tuple(dict.fromkeys(finding.next_step for finding in self.findings if finding.next_step))

    def verdict(self) -> str:
        """Return one line: the number of entries, and whether they match the log."""
        raw = self.index.raw
        entries = f"{len(raw.rows)} {'entry' if len(raw.rows) == 1 else 'entries'}"
        tail = f", {raw.tail} not written yet" if raw.tail else ""
        beside = (
            "agrees with its log"
            if self.log is not None
            else "its log is not beside it, and it is sound by itself"
        )
        result = f"{self.errors} wrong" if self.errors else beside
        system = "" if self.system == "Kafka" else f" of {self.system}"
        return f"{self.name.path.name}: {entries}{system}{tail}: {result}"


@frozen
class IndexReader:
    """The functions that read and check one kind of index file."""

    read: Callable[[bytes, int], Any]
    alone: Callable[[Any], Iterator[IndexFinding]]
    against: Callable[[Any, SegmentHeaders], Iterator[IndexFinding]]


INDEX_READERS: Final = {
    ".index": IndexReader(offset_index.read, offset_index.check_alone, offset_index.check_against_log),
    ".timeindex": IndexReader(time_index.read, time_index.check_alone, time_index.check_against_log),
    ".txnindex": IndexReader(
        transaction_index.read, transaction_index.check_alone, transaction_index.check_against_log
    ),
}


def parse_file_name(path: Path) -> SegmentFileName | None:
    """Parse the name of a segment's file; None for any other name."""
    found = FILE_NAME.fullmatch(path.name)
    return SegmentFileName(int(found[1]), found[2], path) if found else None


def kind_of(path: Path) -> str:
    """Return the kind of an index file by the ending of its name; empty for another file."""
    stem = re.sub(r"\.(deleted|cleaned|swap)$", "", path.name)
    return next((kind for kind in KINDS if stem.endswith(kind)), "")


def check_index_file(path: Path) -> CheckedIndex:
    """Return an index file, checked against the log beside it.

    Raises:
        IndexFileError: its name has no base offset, or it is too large.
    """
    name = parse_file_name(path)
    if name is None or name.kind not in INDEX_READERS:
        raise IndexFileError(
            f"{path}: the name of an index file must be its base offset: 00000000000000000000.index"
        )
    return _check(name, name.beside(".log"))


def check_index_files(log: Path) -> tuple[CheckedIndex, ...]:
    """Return the index files beside a log, checked; none if there are none, as in many archives."""
    name = parse_file_name(log)
    if name is None or name.kind != ".log":
        return ()
    names = [
        SegmentFileName(name.base, kind, name.beside(kind)) for kind in KINDS if name.beside(kind).is_file()
    ]
    if not names:
        return ()
    if (other := iggy_index_files.read_log(log)) is not None:
        return tuple(_check_iggy(one, other) for one in names)
    found = read_segment(log)
    if found.size and not found.heads:  # no entry of Kafka, or damaged from the first byte on
        return tuple(_check_by_content(one, found) for one in names)
    if all(one.kind != ".txnindex" for one in names) and transaction_index.aborted_transactions(found):
        names.append(SegmentFileName(name.base, ".txnindex", name.beside(".txnindex")))
    return tuple(_check_kafka(one, found) for one in names)


def is_kafka_log(log: Path) -> bool:
    """Return whether a log begins as Kafka's do, or is empty."""
    return log.is_file() and iggy_index_files.read_log(log) is None


def _check(name: SegmentFileName, log: Path) -> CheckedIndex:
    """Check an index file against a log of either system."""
    if not log.is_file():
        return _check_by_content(name, None)
    if (other := iggy_index_files.read_log(log)) is not None:
        return _check_iggy(name, other)
    found = read_segment(log)
    return _check_kafka(name, found) if found.heads or not found.size else _check_by_content(name, found)


def _check_by_content(name: SegmentFileName, log: SegmentHeaders | None) -> CheckedIndex:
    """Check an index file whose log shows no system: as Kafka's if that has no fault, else as Iggy's."""
    data = _bytes(name)
    found = iggy_index_files.fitting_layouts(name.kind, data) if _check_kafka(name, None).errors else []
    if not found:
        return _check_kafka(name, log)
    index = iggy_index_files.read_index(found[0], data)
    return CheckedIndex(name, len(data), index, None, (), f"Iggy {' or '.join(_revisions(found))}")


def _revisions(found: Iterable[IndexLayout]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(revision for layout in found for revision in layout.revisions))


def _check_iggy(name: SegmentFileName, log: SegmentRecords) -> CheckedIndex:
    """Check an index file against Iggy's records, without advice: no source of Iggy documents a repair."""
    data = _bytes(name)
    index, faults = iggy_index_files.check_index(log, name.kind, name.base, data)
    findings = tuple(IndexFinding(at, message, "", is_error=misleads) for at, message, misleads in faults)
    return CheckedIndex(name, len(data), index, log, findings, f"Iggy {log.revision}")


def read_segment(log: Path) -> SegmentHeaders:
    """Read the batch headers of a log; those of the last log are kept, because its index files need them."""
    state = log.stat()
    return _read_segment(log, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1)
def _read_segment(log: Path, size: int, _: int) -> SegmentHeaders:
    """Read the batch headers of a log; the file is not mapped, because it may shrink."""
    with log.open("rb") as file:

        def read_at(position: int, length: int) -> bytes:
            file.seek(position)
            return file.read(length)

        return segment_headers.read_in_pieces(read_at, size)


def _bytes(name: SegmentFileName) -> bytes:
    """Return the bytes of an index file, or none if it is missing."""
    size = name.path.stat().st_size if name.path.is_file() else 0
    if size > MAX_FILE_BYTES:
        raise IndexFileError(f"{name.path}: {size} bytes; the maximum for an index file is {MAX_FILE_BYTES}")
    return name.path.read_bytes() if size else b""


def _check_kafka(name: SegmentFileName, log: SegmentHeaders | None) -> CheckedIndex:
    """Check an index file of Kafka; if it is missing, every entry that it should have is missing."""
    data = _bytes(name)
    codec = INDEX_READERS[name.kind]
    index = codec.read(data, name.base)
    findings = [*codec.alone(index), *(codec.against(index, log) if log is not None else ())]
    if log is not None and log.heads and log.heads[0].first < name.base and log.heads[0].magic > 1:
        text = f"the log begins at offset {log.heads[0].first}, below the base offset of its name"
        findings.insert(0, IndexFinding(0, text, "give the files the name of their first offset"))
    return CheckedIndex(name, len(data), index, log, tuple(findings))
