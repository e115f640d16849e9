"""A whole data directory: every file is named and checked, then each partition, then all of them together.

The families list the kinds of their files (`wireproof.data_files.DirectoryRules`). A file that cannot be read
costs one finding. Reports are yielded folder by folder, while the directory is read.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

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
)
from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.segment_files import IndexFileError

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
        errors: findings that mislead a reader.
        wrong: files and partitions with such a finding.
        unknown: names and sizes of files, or parts of them, that no family names.
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

    @property
    def is_sound(self) -> bool:
        """Return whether every byte is named and nothing is wrong."""
        return not self.errors and not self.unknown


def read_directory(root: Path, totals: DirectoryTotals) -> Iterator[DirectoryEvent]:
    """Check the files of a directory; yield a report for each folder, then the problems between them."""
    rules = directory_rules()
    kept: list[CheckedFile] = []
    partitions: list[PartitionReport] = []
    for folder, found in _folders(root):
        name = "" if folder == root else folder.relative_to(root).as_posix()
        files = tuple(_checked(root, path, rules) for path in found)
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


def _folders(root: Path) -> Iterator[tuple[Path, list[Path]]]:
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


def _checked(root: Path, path: Path, rules: Sequence[DirectoryRules]) -> CheckedFile:
    """Name and check a file; whatever is wrong with it becomes a finding."""
    name = path.relative_to(root).as_posix()
    file = DataFile(path, name, 0)
    try:
        state = path.lstat()
        if stat.S_ISDIR(state.st_mode):
            return _unknown(file, "this folder cannot be read")
        if not stat.S_ISREG(state.st_mode):
            return _unknown(file, f"no regular file: {_sort_of(state.st_mode)}")
        file = DataFile(path, name, state.st_size)
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
        if one.kind is None or one.report.unknown:
            totals.unknown.append((one.file.name, one.report.unknown))
    if partition is not None:
        faults = sum(finding.is_error for finding in partition.findings)
        totals.partitions += 1
        totals.errors += faults
        totals.wrong += bool(faults)
