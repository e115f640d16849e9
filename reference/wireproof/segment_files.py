"""The files of a log segment, as a family describes them: a log, and the index files beside it.

A segment is named after its base offset, and each of its files has an ending of its own. A family that has
index files lists its rules in `IndexRules`; `wireproof.inspect.data_directory` reads this table.
"""

import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, gt
from pathlib import Path
from struct import Struct
from typing import Any, Final, Generic, Protocol, TypeVar, overload

from attrs import frozen, make_class

from wireproof.data_files import FileFinding
from wireproof.wire.text import counted

Row = TypeVar("Row")


class Rows(Sequence[Row], ABC, Generic[Row]):
    """Many small rows in little memory: a row becomes an object when it is asked for."""

    @abstractmethod
    def make_row(self, number: int) -> Row:
        """Return the row of a number from 0 on."""

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        numbers = range(len(self))[index]
        return self.make_row(numbers) if isinstance(numbers, int) else [*map(self.make_row, numbers)]


@frozen(eq=False)
class PackedRows(Rows[Row]):
    """Rows that are made of bytes, or of anything else, by their number."""

    size: int
    make: Callable[[int], Row]

    def __len__(self) -> int:
        return self.size

    def make_row(self, number: int) -> Row:
        return self.make(number)


class NumberRows(Rows[Row]):
    """Rows of integers of 64 bits, in 8 bytes each."""

    def __init__(self, names: Sequence[str], make: Callable[..., Row], *, signed: bool = True) -> None:
        """Begin with no row. `make` returns one from its integers, in the order of `names`."""
        self._names, self._make = tuple(names), make
        self._numbers = array("q" if signed else "Q")
        self._columns: dict[str, array[int]] = {}

    def add(self, numbers: Iterable[int]) -> None:
        self._columns.clear()
        self._numbers.extend(numbers)

    def column(self, name: str) -> "array[int]":
        if name not in self._columns:
            self._columns[name] = self._numbers[self._names.index(name) :: len(self._names)]
        return self._columns[name]

    def __len__(self) -> int:
        return len(self._numbers) // len(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # rows may be added

    def make_row(self, number: int) -> Row:
        width = len(self._names)
        return self._make(*self._numbers[number * width : (number + 1) * width])


LOG: Final = ".log"
"""The ending of a log."""

MAX_LISTED: Final = 20
"""Maximum number of findings listed for one index file; the others are counted."""

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Maximum bytes of an index file: `segment.index.bytes` is 10 MiB by default."""


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

    def read(self) -> bytes:
        """Return the bytes of an index file, or none without one; raises `IndexFileError` for a large one."""
        size = self.path.stat().st_size if self.path.is_file() else 0
        if size > MAX_FILE_BYTES:
            raise IndexFileError(
                f"{self.path}: {size} bytes; the maximum for an index file is {MAX_FILE_BYTES}"
            )
        return self.path.read_bytes() if size else b""


@frozen
class RawEntries:
    """The bytes of each written entry of an index file, and what is behind them.

    `tail` entries are allocated but not written; `odd` bytes follow the last whole entry.
    """

    rows: Sequence[bytes]
    tail: int
    odd: int


class LogEntries(Protocol):
    """The heads of the entries of a log, and the bytes of its file, for the check of its index files."""

    @property
    def heads(self) -> Sequence[Any]: ...

    @property
    def size(self) -> int: ...


@frozen
class SegmentIndex:
    """The entries of an index file, all of one class; their bytes; the base offset of the segment."""

    entries: Sequence[Any]
    raw: RawEntries
    base: int


@frozen
class Order:
    """A column whose numbers rise from entry to entry; its name in messages; whether one may be repeated."""

    column: str
    word: str
    repeats: bool = False


@frozen(eq=False)
class EntryLayout:
    """The entries of a kind of index file: numbers of fixed size, the same ones in each.

    Attributes:
        packing: of the numbers.
        columns: their names. With `relative`, an offset minus the base offset, entries have `offset` too.
        order: what rises.
        faults: yields the faults of an entry by itself, given the base offset.
        against: checks the entries with their log.
        allocated: whether the file is allocated in advance, so that zeros at its end are not written yet.
        next_step: the repair.
    """

    packing: Struct
    columns: tuple[str, ...]
    order: tuple[Order, ...] = ()
    faults: Callable[[Any, int], Iterable[FileFinding]] = lambda _, __: ()
    against: Callable[[SegmentIndex, Any], Iterator[FileFinding]] = lambda _, __: iter(())
    allocated: bool = False
    next_step: str = ""

    @cached_property
    def starts(self) -> Mapping[str, int]:
        codes = self.packing.format[1:]
        ends = (Struct(f"{self.packing.format[0]}{codes[:index]}").size for index in range(len(codes)))
        found = dict(zip(self.columns, ends, strict=True))
        return found | ({"offset": found["relative"]} if "relative" in found else {})

    @cached_property
    def _entry(self) -> Callable[..., Any]:
        """Return the function that makes an entry of its position, the base offset and its numbers."""
        names = ["at", *self.columns]
        if "relative" not in names:
            entry: Callable[..., Any] = make_class("IndexEntry", names, frozen=True)
            return lambda at, _, *numbers: entry(at, *numbers)
        behind = self.columns.index("relative") + 1
        names.insert(behind + 1, "offset")
        entry = make_class("IndexEntry", names, frozen=True)
        return lambda at, base, *numbers: entry(
            at, *numbers[:behind], base + numbers[behind - 1], *numbers[behind:]
        )

    def read(self, data: bytes, base: int) -> SegmentIndex:
        """Return the entries, each made when it is looked at. Raise nothing."""
        size, unpack, entry = self.packing.size, self.packing.unpack_from, self._entry
        whole = len(data) // size
        written = -(-len(data[: whole * size].rstrip(b"\0")) // size) if self.allocated else whole
        rows = PackedRows(written, lambda row: data[row * size : (row + 1) * size])
        entries = PackedRows(written, lambda row: entry(row * size, base, *unpack(data, row * size)))
        return SegmentIndex(entries, RawEntries(rows, whole - written, len(data) % size), base)

    def alone(self, index: SegmentIndex) -> Iterator[FileFinding]:
        """Check the entries without their log."""
        if index.raw.odd:  # `sanityCheck` of Kafka's index classes rejects such a file
            text = f"{index.raw.odd} bytes after the last whole entry; an entry has {self.packing.size} bytes"
            at = (len(index.raw.rows) + index.raw.tail) * self.packing.size
            yield FileFinding(at, text, self.next_step)
        columns = [order.column for order in self.order]
        numbers_of = attrgetter("at", *columns)  # the position rises too, so that there are always two
        before: tuple[int, ...] | None = None
        for entry in index.entries:
            yield from self.faults(entry, index.base)
            now = numbers_of(entry)
            if before is not None and not all(map(gt, now, before)):
                yield from self._disorder(before, now)
            before = now

    def _disorder(self, before: Sequence[int], now: Sequence[int]) -> Iterator[FileFinding]:
        for order, earlier, later in zip(self.order, before[1:], now[1:], strict=True):
            if later < earlier or (later == earlier and not order.repeats):
                how = "below" if order.repeats else "not above"
                text = f"{order.word} {later} is {how} {earlier}, the one before it"
                yield FileFinding(now[0] + self.starts[order.column], text, self.next_step)


@frozen
class CheckedIndex:
    """An index file that was checked against its log.

    Attributes:
        index: its entries.
        log: the entries of the log; None if there is no log.
        written_by: the system that writes such files.
        revision: its revisions that write them; empty if all do.
        ticks: the units of its timestamps in a second.
    """

    name: SegmentFileName
    size: int
    index: SegmentIndex
    log: LogEntries | None
    findings: tuple[FileFinding, ...]
    written_by: str
    revision: str = ""
    ticks: int = 1000

    @property
    def system(self) -> str:
        """Return the system, with the revisions if not all have such files: `Iggy 0.7`."""
        return f"{self.written_by} {self.revision}".rstrip()

    @property
    def errors(self) -> int:
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
        entries = counted(len(raw.rows), "entry", "entries", grouped=False)
        tail = f", {raw.tail} not written yet" if raw.tail else ""
        beside = (
            "agrees with its log"
            if self.log is not None
            else "its log is not beside it, and it is sound by itself"
        )
        result = f"{self.errors} wrong" if self.errors else beside
        system = f" of {self.system}" if self.revision else ""
        return f"{self.name.path.name}: {entries}{system}{tail}: {result}"


@frozen
class IndexRules:
    """The knowledge of a family about the index files of its segments.

    Attributes:
        system: the name of the system.
        kinds: the endings of its index files, in the order in which they are listed.
        file_name: matches the name of a file of a segment; its groups are `base`, a number, and `kind`,
            the ending.
        ending: matches any name with the ending of an index file, which is the group `kind`.
        begins_log: returns whether the first MiB of a file proves a log of the system. A family that is
            listed earlier was asked before.
        read_log: reads the entries of a log; None for a file that has none of the system.
        check: checks an index file against the entries of its log, or alone.
        fits_alone: checks an index file without a log; None if it cannot be one of the system.
        missing: yields the endings of the index files that a log should have beside it, and has not.
    """

    system: str
    kinds: tuple[str, ...]
    file_name: re.Pattern[str]
    ending: re.Pattern[str]
    begins_log: Callable[[bytes], bool]
    read_log: Callable[[Path], Any]
    check: Callable[[SegmentFileName, Any], CheckedIndex]
    fits_alone: Callable[[SegmentFileName], CheckedIndex | None]
    missing: Callable[[SegmentFileName, Any], Iterator[str]] = lambda _, __: iter(())
