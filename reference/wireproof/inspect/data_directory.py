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
from wireproof.inspect.file_survey import FileSurvey
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
        partition = _partition(name, files, rules)
        kept += files
        partitions += [partition] if partition else []
        _count(totals, files, partition)
        yield FolderReport(name, files, partition)
    for rule in rules:
        for name, finding in rule.across([one for one in kept if one.system == rule.system], partitions):
            totals.errors += finding.is_error
            totals.wrong += finding.is_error
            yield CrossFinding(name, finding)


def directory_rules() -> tuple[DirectoryRules, ...]:
    """Return the rules of the installed families that have some."""
    places = (family.directories for family in FAMILIES.values())
    return tuple(object_at(place) for place in places if place)


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
            return _unknown(file, f"no regular file: {_sort_of(state.st_mode)}")
        file = DataFile(path, name, state.st_size, partial(seen, name))
        system, kind = _kind(file, rules)
        if kind is None:
            return _unknown(file, "")
        return CheckedFile(file, system, kind, kind.check(file))
    except OSError as error:
        return _unknown(file, f"cannot be read: {error.strerror or error}")
    except (UnreadableFileError, IndexFileError) as error:
        return _unknown(file, str(error))


def kind_of_small_file(path: Path) -> tuple[str, FileKind] | None:
    """Return system and kind of a file that its report shows whole; None for any other file."""
    file = DataFile(path, path.name, path.stat().st_size)
    small = [(rule.system, kind) for rule in directory_rules() for kind in rule.kinds if kind.small]
    found = (pair for pair in small if pair[1].pattern.fullmatch(file.place) and pair[1].fits(file))
    return next(found, None)


def check_small_file(path: Path, system: str, kind: FileKind) -> CheckedFile:
    """Check a file of a known kind."""
    file = DataFile(path, str(path), path.stat().st_size)
    try:
        return CheckedFile(file, system, kind, kind.check(file))
    except UnreadableFileError as error:
        return _unknown(file, str(error))


def _unknown(file: DataFile, why: str) -> CheckedFile:
    findings = (FileFinding(None, why),) if why else ()
    return CheckedFile(file, "", None, FileReport("", findings, unknown=file.size))


def _sort_of(mode: int) -> str:
    sorts = ((stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in sorts if test(mode)), "a device")


def _kind(file: DataFile, rules: Sequence[DirectoryRules]) -> tuple[str, FileKind | None]:
    """Return the system and the kind of a file: kinds that its folder proves first, then those by name."""
    pairs = [(rule.system, kind) for rule in rules for kind in rule.kinds]
    for system, kind in sorted(pairs, key=lambda pair: not pair[1].placed):
        if kind.pattern.fullmatch(file.place) and kind.fits(file):
            return system, kind
    return "", None


def _partition(
    name: str, files: Sequence[CheckedFile], rules: Sequence[DirectoryRules]
) -> PartitionReport | None:
    for rule in rules:
        own = [one for one in files if one.system == rule.system]
        if own and (found := rule.partition(name, own)) is not None:
            return found
    return None


def _count(totals: DirectoryTotals, files: Sequence[CheckedFile], partition: PartitionReport | None) -> None:
    totals.folders += 1
    totals.files += len(files)
    for one in files:
        totals.size += one.file.size
        totals.named += one.file.size - min(one.report.unknown, one.file.size)
        totals.unsound += one.report.unsound
        totals.errors += one.report.errors
        totals.wrong += bool(one.report.errors)
        totals.logs += one.file.size * (one.kind is not None and one.kind.is_fast)
        if one.kind is None or one.report.unknown:
            totals.unknown.append((one.file.name, one.report.unknown))
    if partition is not None:
        faults = count_causes(partition.findings)
        totals.partitions += 1
        totals.errors += faults
        totals.wrong += bool(faults)


# --- index files ---
#
# The index files of a log segment: found by name, read, and checked against the log beside them.
#
# Systems give their files the same names, `00000000000000001000.index`. So the log beside an index file, or
# its own bytes, identify the system. The families have the rules: `wireproof.segment_files.IndexRules`.


HEAD_BYTES: Final = 1 << 20
"""Bytes at the beginning of a log that identify its system."""

Owner: TypeAlias = tuple[IndexRules, Any]
"""The rules of the system of a log, and the entries of the log."""


def index_rules() -> tuple[IndexRules, ...]:
    """Return the rules of the installed families that have some."""
    places = (family.index_files for family in FAMILIES.values())
    return tuple(object_at(place) for place in places if place)


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
    names = [_of_kind(name, kind) for kind in kinds if name.beside(kind).is_file()]
    if not names:
        return ()
    if (owner := owner_of(log)) is not None:
        rules, entries = owner
        names += [_of_kind(name, kind) for kind in rules.missing(name, entries)]
    return tuple(_check(one, log) for one in names)


def owner_of(log: Path) -> Owner | None:
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


def _of_kind(name: SegmentFileName, kind: str) -> SegmentFileName:
    return SegmentFileName(name.base, kind, name.beside(kind))


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


# --- log files ---
#
# The report of a log of a data directory, from the survey that `explain` uses for one file.


def log_report(
    file: DataFile, found: FileSurvey, more: Sequence[FileFinding], facts: Mapping[str, Json]
) -> FileReport:
    """Return the report of a log: its damage, its totals, and what else was found in it."""
    text = f"{found.zeros} bytes are allocated and not written yet"
    note = [FileFinding(file.size - found.zeros, text, is_error=False)] if found.zeros else []
    message = [FileFinding(None, found.message)] if found.message else []
    findings = (*message, *_damage(found), *more, *note)
    unsound = file.size - found.sound - found.zeros
    lost: list[Json] = [[one.first, one.last] for one in found.losses.kept if one.offsets]
    records = found.losses.records
    counts: dict[str, Json] = {"lost": lost, "leastLost": records.least, "mostLost": records.most}
    totals = {"entries": found.entries, **found.totals, **facts, **counts}
    lost_lines = tuple(found.losses.lines())
    return FileReport(_summary(found, totals), findings, totals, unsound=max(0, unsound), lost=lost_lines)


def _summary(found: FileSurvey, facts: Mapping[str, Json]) -> str:
    entries = counted(found.entries, "entry", "entries", grouped=False)
    first, after = facts.get("firstOffset"), facts.get("nextOffset")
    if not isinstance(first, int) or not isinstance(after, int):
        return entries
    return f"{entries}, offsets {first} to {after - 1}"


def _damage(found: FileSurvey) -> Iterator[FileFinding]:
    """Yield a finding for each listed place, one for the others, and one for a cut entry at the end."""
    for one in found.damages:
        yield FileFinding(one.at, f"bytes {one.at} to {one.end}: {one}", places=1)
    if found.damage_count > len(found.damages):
        more = found.damage_count - len(found.damages)
        yield FileFinding(None, counted(more, "more damaged place", grouped=False), places=more)
    if found.tail:
        whole = f" of {found.wanted}" if found.wanted else ""
        text = f"the file ends within an entry, {found.tail}{whole} bytes of it"
        yield FileFinding(found.size - found.tail, text, places=1)
