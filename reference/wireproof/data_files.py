"""The files of a data directory, as a family describes them: where each kind is, and what its check returns.

A broker or server keeps more than logs in its data directory. A family lists the kinds of files in
`DirectoryRules`; `wireproof.inspect.data_directory` walks the folders and reads this table.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from wireproof.wire.json_values import Json

MAX_SMALL_FILE: Final = 64 * 1024 * 1024
"""Maximum bytes of a file that is read whole; logs are read in pieces."""


class UnreadableFileError(ValueError):
    """A file cannot be read as what its name says; one line."""


@frozen
class FileFinding:
    """A problem of a file.

    Attributes:
        at: position in the file, in bytes; None for the whole file.
        message: the problem.
        next_step: the advice, or an empty text.
        is_error: True if the problem misleads a reader; False for a note.
        places: the number of places that it stands for; 0 if findings with the same words have one cause.
    """

    at: int | None
    message: str
    next_step: str = ""
    is_error: bool = True
    places: int = 0

    @property
    def words(self) -> str:
        """Return the message without its numbers: an index with one fault has a finding for each entry."""
        return re.sub(r"\d+", "0", self.message)


@frozen
class DataFile:
    """A file of a data directory.

    Attributes:
        path: the file.
        name: its name below the directory.
        size: its bytes.
        advance: is given the bytes that were read so far, while a large file is read.
    """

    path: Path
    name: str
    size: int
    advance: Callable[[int], object] = lambda _: None

    @property
    def place(self) -> str:
        """Return the absolute path with slashes, which the patterns of kinds are matched against."""
        return self.path.absolute().as_posix()

    def reading(self, listen: Callable[[Any], object] = lambda _: None) -> Callable[[Any], object]:
        """Return a function for the parts of a log: it reports how far it was read, and calls `listen`."""

        def listening(part: Any) -> object:  # noqa: ANN401 - an entry or rows of entries
            self.advance(part.end)
            return listen(part)

        return listening

    def read(self) -> bytes:
        """Return the bytes of a small file; raises `UnreadableFileError` for a large one, or `OSError`."""
        if self.size > MAX_SMALL_FILE:
            raise UnreadableFileError(f"{self.size} bytes; the maximum for such a file is {MAX_SMALL_FILE}")
        with self.path.open("rb") as file:
            return file.read(MAX_SMALL_FILE)


@frozen
class FileReport:
    """The result of the check of a file.

    Attributes:
        summary: its content in a few words.
        findings: its problems, in order.
        lost: a line for each loss of records, and for all together.
        facts: its content for programs and for the checks between files.
        unsound: the number of its bytes that are damaged.
        unknown: the number of its bytes that have no meaning in any source.
    """

    summary: str = ""
    findings: tuple[FileFinding, ...] = ()
    facts: Mapping[str, Json] = field(factory=dict)
    unsound: int = 0
    unknown: int = 0
    lost: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        return count_causes(self.findings)


def count_causes(findings: Iterable[FileFinding]) -> int:
    """Return the number of damaged places, and of other faults; those with the same words count once."""
    errors = [finding for finding in findings if finding.is_error]
    return sum(finding.places for finding in errors) + len(
        {finding.words for finding in errors if not finding.places}
    )


@frozen
class FileKind:
    """A kind of file.

    Attributes:
        what: its name for a person.
        pattern: matches the end of the absolute path of such a file; `in_folder` builds it.
        check: reads a file and returns what is in it.
        fits: returns whether a file with a matching path is one, where families use the same names.
        placed: whether the folder is part of the pattern, so that it decides before names alone.
        small: whether the report shows all of it, so that `explain` of the file itself prints the report.
            Logs and index files are shown in other ways.
        is_fast: whether a fast decoder reads such a file where it is installed.
    """

    what: str
    pattern: re.Pattern[str]
    check: Callable[[DataFile], FileReport]
    fits: Callable[[DataFile], bool] = lambda _: True
    placed: bool = False
    small: bool = False
    is_fast: bool = False


@frozen
class CheckedFile:
    """A file, its kind, and the report; the kind is None if no family knows the file."""

    file: DataFile
    system: str
    kind: FileKind | None
    report: FileReport


@frozen
class PartitionReport:
    """The result of the check of all files of a partition together.

    Attributes:
        folder: of the partition, below the directory.
        name: of the partition, as the system writes it.
        summary: its content in a few words.
        findings: problems between its files.
        facts: its content for programs and for the checks between partitions.
    """

    folder: str
    name: str
    summary: str
    findings: tuple[FileFinding, ...] = ()
    facts: Mapping[str, Json] = field(factory=dict)


@frozen
class DirectoryRules:
    """The knowledge of a family about data directories.

    Attributes:
        system: the name of the system.
        kinds: the kinds of files; the first one that matches and fits is taken.
        partition: returns the report of a folder that belongs to a partition; None for other folders.
        across: returns the problems between files and partitions of a directory, each with the file's name.
    """

    system: str
    kinds: tuple[FileKind, ...]
    partition: Callable[[str, Sequence[CheckedFile]], PartitionReport | None] = lambda _, __: None
    across: Callable[
        [Sequence[CheckedFile], Sequence[PartitionReport]], Iterable[tuple[str, FileFinding]]
    ] = lambda _, __: ()


def whole(read: Callable[[bytes], FileReport]) -> Callable[[DataFile], FileReport]:
    """Return the check of a small file whose bytes are read at once."""
    return lambda file: read(file.read())


def named(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a path that ends with this name, or with these folders and this name."""
    return re.compile(f"(?:.*/)?{pattern}")
