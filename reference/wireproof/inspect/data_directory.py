"""A whole data directory: every file is named and checked, then each partition, then all of them together.

The families list the kinds of their files (`wireproof.data_files.DirectoryRules`). A file that cannot be read
costs one finding. Reports are yielded folder by folder, while the directory is read.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from wireproof.data_files import (
    CheckedFile,
    DataFile,
    DirectoryRules,
    FileFinding,
    FileKind,
    FileReport,
    PartitionReport,
    UnreadableFileError,
    count_causes,
)
from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.inspect.file_survey import FileSurvey, cut_entry_text
from wireproof.segment_files import LOG, CheckedIndex, IndexFileError, IndexRules, SegmentFileName
from wireproof.wire.json_values import Json
from wireproof.wire.text import counted

UNKNOWN: Final = "not known"


@frozen
class FolderReport:
    """A folder: its name below the directory, its files in order, and its partition if it is one."""

    name: str
    files: tuple[CheckedFile, ...]
    partition: PartitionReport | None


@frozen
class CrossFinding:
    """A problem between files: the name of the file or folder, and the finding."""

    name: str
    finding: FileFinding


DirectoryEvent: TypeAlias = FolderReport | CrossFinding


@define
class DirectoryTotals:
    """The counts of a directory, complete when all events were read.

    Attributes:
        folders, files, partitions: how many there are.
        size: bytes of all files.
        named: bytes that a family names, sound or damaged.
        unsound: bytes that are damaged.
        errors: causes that mislead a reader.
        wrong: files and partitions with such a cause.
        unknown: names and sizes of files, or parts of them, that no family names.
        logs: bytes of the files that a fast decoder reads.
    """

    folders: int = 0
    files: int = 0
    partitions: int = 0
    size: int = 0
    named: int = 0
    unsound: int = 0
    errors: int = 0
    wrong: int = 0
    unknown: list[tuple[str, int]] = field(factory=list)
    logs: int = 0

    @property
    def is_sound(self) -> bool:
        """Return whether every byte is named and nothing is wrong."""
        return not self.errors and not self.unknown

    def count(self, report: FolderReport) -> None:
        self.folders += 1
        self.files += len(report.files)
        for one in report.files:
            self.size += one.file.size
            self.named += one.file.size - min(one.report.unknown, one.file.size)
            self.unsound += one.report.unsound
            self.errors += one.report.errors
            self.wrong += bool(one.report.errors)
            self.logs += one.file.size * (one.kind is not None and one.kind.is_fast)
            if one.kind is None or one.report.unknown:
                self.unknown.append((one.file.name, one.report.unknown))
        if report.partition is not None:
            faults = count_causes(report.partition.findings)
            self.partitions += 1
            self.errors += faults
            self.wrong += bool(faults)


def read_directory(
    root: Path, totals: DirectoryTotals, seen: Callable[[str, int], object] = lambda _, __: None
) -> Iterator[DirectoryEvent]:
    """Check the files of a directory; yield a report for each folder, then the problems between them.

    Args:
        root: the directory.
        totals: are counted meanwhile.
        seen: is given the name of the file that is read, and the bytes of it that were.
    """
    rules = directory_rules()
    kept: list[CheckedFile] = []
    partitions: list[PartitionReport] = []
    for folder, found in folders_of(root):
        name = "" if folder == root else folder.relative_to(root).as_posix()
        files = tuple(_checked(root, path, rules, seen) for path in found)
        kept += files
        systems = {one.system for one in files}
        reports = (
            rule.partition(name, [one for one in files if one.system == rule.system])
            for rule in rules
            if rule.system in systems
        )
        report = FolderReport(name, files, next(filter(None, reports), None))
        partitions += [report.partition] if report.partition else []
        totals.count(report)
        yield report
    for rule in rules:
        for name, finding in rule.across([one for one in kept if one.system == rule.system], partitions):
            totals.errors += finding.is_error
            totals.wrong += finding.is_error
            yield CrossFinding(name, finding)


def directory_rules() -> tuple[DirectoryRules, ...]:
    """Return the rules of the installed families that have some."""
    return tuple(object_at(one.directories) for one in FAMILIES.values() if one.directories)


def folders_of(root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield each folder with its files, in the order of names; links are not followed.

    A folder that cannot be listed comes last, as if it were its only file.
    """
    unreadable: list[OSError] = []
    for place, inner, names in os.walk(root, onerror=unreadable.append):
        inner.sort()
        folder = Path(place)
        links = [name for name in inner if (folder / name).is_symlink()]
        yield folder, [folder / name for name in sorted([*names, *links])]
    for error in unreadable:
        yield Path(error.filename), [Path(error.filename)]


def size_of(root: Path) -> int:
    """Return the bytes of all files in a directory, as far as it can be listed."""
    found = (path for _, paths in folders_of(root) for path in paths)
    return sum(path.lstat().st_size for path in found if path.is_file() and not path.is_symlink())


def _checked(
    root: Path, path: Path, rules: Sequence[DirectoryRules], seen: Callable[[str, int], object]
) -> CheckedFile:
    """Name and check a file; whatever is wrong with it becomes a finding."""
    name = path.relative_to(root).as_posix()
    file = DataFile(path, name, 0)
    try:
        state = path.lstat()
        if stat.S_ISDIR(state.st_mode):
            return _unknown(file, "this folder cannot be read")
        if not stat.S_ISREG(state.st_mode):
            sorts = ((stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
            sort = next((words for test, words in sorts if test(state.st_mode)), "a device")
            return _unknown(file, f"no regular file: {sort}")
        file = DataFile(path, name, state.st_size, partial(seen, name))
        pairs = [(rule.system, kind) for rule in rules for kind in rule.kinds]
        # What the folder of a file proves comes before its name alone.
        found = _checked_as(file, sorted(pairs, key=lambda pair: not pair[1].placed))
        return found or _unknown(file, "")
    except OSError as error:
        return _unknown(file, f"cannot be read: {error.strerror or error}")


def check_small_file(path: Path) -> CheckedFile | None:
    """Check a file that its report shows whole; None for any other file."""
    file = DataFile(path, str(path), path.stat().st_size)
    return _checked_as(
        file, [(rule.system, kind) for rule in directory_rules() for kind in rule.kinds if kind.small]
    )


def _checked_as(file: DataFile, kinds: Sequence[tuple[str, FileKind]]) -> CheckedFile | None:
    """Check a file as the first of the kinds, each after its system, that it is; None if it is none."""
    try:
        for system, kind in kinds:
            if kind.pattern.fullmatch(file.place) and kind.fits(file):
                return CheckedFile(file, system, kind, kind.check(file))
    except (UnreadableFileError, IndexFileError) as error:
        return _unknown(file, str(error))
    return None


def _unknown(file: DataFile, why: str) -> CheckedFile:
    findings = (FileFinding(None, why),) if why else ()
    return CheckedFile(file, "", None, FileReport("", findings, unknown=file.size))


# --- the index files of a log segment: found by name, read, and checked against the log beside them ---
#
# Systems give their files the same names, `00000000000000001000.index`. So the log beside an index file, or
# its own bytes, identify the system. The families have the rules: `wireproof.segment_files.IndexRules`.


HEAD_BYTES: Final = 1 << 20
"""Bytes at the beginning of a log that identify its system."""


def index_rules() -> tuple[IndexRules, ...]:
    """Return the rules of the installed families that have some."""
    return tuple(object_at(one.index_files) for one in FAMILIES.values() if one.index_files)


def parse_file_name(path: Path) -> SegmentFileName | None:
    """Parse the name of a segment's file; None for any other name."""
    found = (rules.file_name.fullmatch(path.name) for rules in index_rules())
    return next((SegmentFileName(int(one["base"]), one["kind"], path) for one in found if one), None)


def kind_of(path: Path) -> str:
    """Return the kind of an index file by the ending of its name; empty for another file."""
    found = (rules.ending.fullmatch(path.name) for rules in index_rules())
    return next((one["kind"] for one in found if one), "")


def check_index_file(path: Path) -> CheckedIndex:
    """Return an index file, checked against the log beside it.

    Raises:
        IndexFileError: its name has no base offset, or it is too large.
    """
    name = parse_file_name(path)
    if name is None or name.kind == LOG:
        raise IndexFileError(
            f"{path}: the name of an index file must be its base offset: 00000000000000000000.index"
        )
    return _check(name, name.beside(LOG))


def check_index_files(log: Path) -> tuple[CheckedIndex, ...]:
    """Return the index files beside a log, checked; none if there are none, as in many archives."""
    name = parse_file_name(log)
    if name is None or name.kind != LOG or not log.is_file():
        return ()
    kinds = dict.fromkeys(kind for rules in index_rules() for kind in rules.kinds)
    found = [SegmentFileName(name.base, kind, name.beside(kind)) for kind in kinds]
    names = [one for one in found if one.path.is_file()]
    if not names:
        return ()
    if (owner := owner_of(log)) is not None:
        kinds_missing = owner[0].missing(name, owner[1])
        names += [SegmentFileName(name.base, kind, name.beside(kind)) for kind in kinds_missing]
    return tuple(_check(one, log) for one in names)


def owner_of(log: Path) -> tuple[IndexRules, Any] | None:
    """Return the rules of the system of a log, and its entries; None for a log that shows no system.

    A log whose beginning proves nothing belongs to the first system that finds an entry in it.
    """
    with log.open("rb") as file:
        head = file.read(HEAD_BYTES)
    certain = (rules for rules in index_rules() if rules.begins_log(head))
    for rules in (*certain, *index_rules()):
        entries = rules.read_log(log)
        if entries is not None and (entries.heads or not entries.size):
            return rules, entries
    return None


def proven_system(log: Path) -> str:
    """Return the system that the beginning of a log proves; empty if it proves none."""
    with log.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return next((rules.system for rules in index_rules() if rules.begins_log(head)), "")


def is_claimed_before(head: bytes, system: str) -> bool:
    """Return whether the beginning of a log proves a system that is listed before this one."""
    for rules in index_rules():
        if rules.system == system:
            return False
        if rules.begins_log(head):
            return True
    return False


def _check(name: SegmentFileName, log: Path) -> CheckedIndex:
    """Check an index file against its log, or by its own bytes if the log shows no system."""
    owner = owner_of(log) if log.is_file() else None
    if owner is not None:
        rules, entries = owner
        return rules.check(name, entries)
    for rules in index_rules():
        if name.kind in rules.kinds and (found := rules.fits_alone(name)) is not None:
            entries = rules.read_log(log) if log.is_file() else None
            return found if entries is None else rules.check(name, entries)
    first = next(rules for rules in index_rules() if name.kind in rules.kinds)
    return first.check(name, first.read_log(log) if log.is_file() else None)


# --- the report of a log of a data directory, from the survey that `explain` uses for one file ---


def log_report(
    file: DataFile, found: FileSurvey, more: Sequence[FileFinding], facts: Mapping[str, Json]
) -> FileReport:
    """Return the report of a log: its damage, its totals, and what else was found in it."""
    findings = [FileFinding(None, found.message)] if found.message else []
    findings += [
        FileFinding(one.at, f"bytes {one.at} to {one.end}: {one}", places=1) for one in found.damages
    ]
    if others := found.damage_count - len(found.damages):
        text = counted(others, "more damaged place", grouped=False)
        findings.append(FileFinding(None, text, places=others))
    if found.tail:
        findings.append(FileFinding(found.size - found.tail, cut_entry_text(found), places=1))
    findings += more
    if found.zeros:
        text = f"{found.zeros} bytes are allocated and not written yet"
        findings.append(FileFinding(file.size - found.zeros, text, is_error=False))
    lost: list[Json] = [[one.first, one.last] for one in found.losses.kept if one.offsets]
    records = found.losses.records
    counts: dict[str, Json] = {"lost": lost, "leastLost": records.least, "mostLost": records.most}
    totals = {"entries": found.entries, **found.totals, **facts, **counts}
    summary = counted(found.entries, "entry", "entries", grouped=False)
    first, after = totals.get("firstOffset"), totals.get("nextOffset")
    if isinstance(first, int) and isinstance(after, int):
        summary += f", offsets {first} to {after - 1}"
    unsound, lost_lines = max(0, file.size - found.sound - found.zeros), tuple(found.losses.lines())
    return FileReport(summary, tuple(findings), totals, unsound=unsound, lost=lost_lines)
