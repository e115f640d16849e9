"""What `salvage` reads and writes: the sound entries of logs, the files with them, the list of what is lost.

Memory is bounded: entries are read and written one after another. A file that is written has whole entries at
any time that the command may end.
"""

import pickle
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Protocol, TextIO, cast

import click
from attrs import define, field, frozen

from wireproof.cases.byte_source import ByteSource, pieces
from wireproof.cases.detect_format import detect_stream
from wireproof.cases.log_survey import DamagedRange
from wireproof.family import EntryListing, object_at
from wireproof.formats import Format, family_of
from wireproof.report.entry_output import as_json, json_cells, loss_json
from wireproof.runner.entry_list import ListedEntry, ListingSettings, list_entries, listing_of, stream_of
from wireproof.runner.lost_records import NOTHING_LOST, FileLosses, Loss, LossFinder, LossTotals, bounds_of
from wireproof.runner.open_input import OpenInput, open_path
from wireproof.wire.options import DEFAULT_OPTIONS

if TYPE_CHECKING:
    from wireproof.wire.scan_items import Item

SHOWN: Final = 10
"""Losses of a file that are kept to be printed, and files with losses; the list has all of them."""

SPOOLED: Final = 1 << 20
"""Bytes of the losses of one file that are kept in memory."""


@frozen
class SoundEntry:
    """A sound entry, the name of its file, its format and listing, and the bytes of the file."""

    name: str
    fmt: Format
    listing: EntryListing
    source: ByteSource
    entry: ListedEntry


# --- what is lost ---


@define
class LostList:
    """Writes what is lost: a line of JSON for each loss, and one with the sums last.

    Attributes:
        out: the file.
        files: the first files that lost something.
        messages: why files were not read to their ends.
        damaged: the names of all files that lost something.
        count, size: the number of all losses, and their bytes.
    """

    out: TextIO
    files: dict[str, FileLosses] = field(factory=dict)
    messages: dict[str, str] = field(factory=dict)
    damaged: set[str] = field(factory=set)
    count: int = 0
    size: int = 0
    records: Any = NOTHING_LOST

    def add(self, name: str, loss: Loss, *, gapless: bool) -> None:
        """Write a loss."""
        self.size += loss.end - loss.at
        self._line({"type": "lost", "file": name, **loss_json(loss, gapless=gapless)})

    def add_sums(self, name: str, found: FileLosses) -> None:
        """Add the number of losses of a file."""
        if found.count and len(self.files) < SHOWN:
            self.files[name] = found
        self.count += found.count
        self.records += found.records

    def add_message(self, name: str, text: str) -> None:
        """Write why a file was not read to its end."""
        self.messages[name] = text
        self._line({"type": "unread", "file": name, "text": text})

    def end(self, sound: int, *, complete: bool) -> None:
        """Write the line with the sums; `complete` if all files were read."""
        sums = {"leastRecords": self.records.least, "mostRecords": self.records.most, "soundRecords": sound}
        self._line(
            {"type": "summary", "complete": complete, "places": self.count, "bytes": self.size, **sums}
        )

    def _line(self, tree: dict[str, Any]) -> None:
        self.out.write(f"{as_json(tree)}\n")


def _losses_written(
    lost: LostList, name: str, finder: LossFinder, parts: Iterator[ListedEntry | Loss]
) -> Iterator[ListedEntry]:
    """Yield the sound entries; write the losses at the end, where it is known whether the log has gaps."""
    totals = LossTotals(SHOWN)
    with tempfile.SpooledTemporaryFile(SPOOLED) as spool:
        try:
            for one in parts:
                if isinstance(one, ListedEntry):
                    yield one
                    continue
                totals.add(one)
                lost.damaged.add(name)
                pickle.dump(one, spool)
        finally:
            spool.seek(0)
            for _ in range(totals.count):
                lost.add(name, pickle.load(spool), gapless=finder.gapless)  # noqa: S301 - written above
            lost.add_sums(name, totals.of(finder))


# --- what is sound ---


def sound_entries(
    files: Sequence[tuple[Path, str]],
    rows: Sequence[Format],
    output: "Output",
    seen: Callable[[str, int], object],
) -> Generator[SoundEntry, None, None]:
    """Yield the sound entries of files one after another, and add what is lost to the list of the output.

    Args:
        files: paths and names.
        rows: the formats that they may have; empty to find out.
        output: for which they are.
        seen: is given the name of the file that is read, and the bytes of it that were.
    """
    for path, name in files:
        try:
            with open_path(path) as found:
                shown = name.removesuffix(path.suffix) if found.packed else name
                try:
                    yield from _entries_of(path, shown, found, rows, output, seen)
                finally:
                    output.end_file()
                if found.stopped:
                    output.lost.add_message(name, found.stopped)
        except OSError as error:
            output.lost.add_message(name, error.strerror or str(error))


def _entries_of(
    path: Path,
    name: str,
    found: OpenInput,
    rows: Sequence[Format],
    output: "Output",
    seen: Callable[[str, int], object],
) -> Iterator[SoundEntry]:
    fits = detect_stream(found.source, [stream_of(row) for row in rows], DEFAULT_OPTIONS, path.name)
    fmt = fits[0].row if fits else stream_of(rows[0]) if rows else None
    listing = None if fmt is None else listing_of(fmt)
    base, until = bounds_of(path)
    if fmt is None or listing is None or fmt.scan is None:
        _lose_all(output.lost, name, found.source.size, base, until)
        return
    output.check(name, fmt, listing)
    finder = LossFinder(fmt, listing, found.source, base, until, rising=output.rising)
    reading = ListingSettings(DEFAULT_OPTIONS, values=output.values, is_file=True)

    def divided() -> Iterator[ListedEntry | Loss]:
        for part in list_entries(fmt, listing, found.source, reading):
            seen(name, part.end)
            for one in (part,) if isinstance(part, ListedEntry) else part:
                yield from finder.add(finder.checked(one))
        yield from finder.end()

    for one in _losses_written(output.lost, name, finder, divided()):
        yield SoundEntry(name, fmt, listing, found.source, one)


def _lose_all(lost: LostList, name: str, size: int, base: int | None, until: int | None) -> None:
    """Add a file of which no format is known, unless it is empty."""
    if size:
        cause = DamagedRange(0, size, 0, "unknown", 0, "", "no format of a stream fits")
        last = None if until is None else until - 1
        loss = Loss(0, size, (cause,), 1, base, last, counted=None, is_certain=False)
        lost.damaged.add(name)
        lost.add(name, loss, gapless=False)
        lost.add_sums(name, FileLosses((loss,), 1, loss.records(gapless=False), gapless=False))


# --- the outputs ---


class Output(Protocol):
    """Writes sound entries.

    Attributes:
        path: where to; nothing there is overwritten.
        lost: the list of what is lost.
        records: the number of records that were written.
        values: whether it needs the values of entries.
        rising: whether every entry must have a higher offset than the one before it.
    """

    path: Path
    lost: LostList
    records: int
    values: ClassVar[bool]
    rising: ClassVar[bool]

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
        """Raise `click.UsageError` if entries of a format cannot be written."""

    def write(self, entries: Iterator[SoundEntry]) -> None:
        """Write all entries."""

    def end_file(self) -> None:
        """Write what is left of a file before it is closed."""


@define
class LinesOutput:
    """Writes the records as JSON lines, those of an entry together."""

    path: Path
    lost: LostList
    records: int = 0
    values: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
        """Accept every format."""

    def end_file(self) -> None:
        """Leave nothing to write."""

    def write(self, entries: Iterator[SoundEntry]) -> None:
        """Write the records of all entries."""
        with self.path.open("x", encoding="utf-8", newline="\n") as file:
            for one in entries:
                head = {"file": one.name, "position": one.entry.at}
                cells = one.listing.records(cast("Item", one.entry.item))
                lines = [
                    as_json({**head, "index": index, **json_cells(one.listing.record_columns, record)})
                    for index, record in enumerate(cells)
                ]
                file.write("".join(f"{line}\n" for line in lines))
                self.records += len(lines)


@define
class TableOutput:
    """Writes the records as Parquet, with the columns that the records of the format have on Spark."""

    path: Path
    lost: LostList
    records: int = 0
    values: ClassVar[bool] = True
    rising: ClassVar[bool] = False
    _family: str = ""

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
        """Accept the formats of one family with a source for Spark: a table has one kind of rows."""
        del listing
        self._family = self._family or fmt.family
        if fmt.family != self._family or not family_of(fmt).sources:
            raise click.UsageError(
                f"{name} is {fmt.format_id}, which has no place in {self.path}: salvage it alone"
            )

    def end_file(self) -> None:
        """Leave the last rows to the next batch: they refer to no file."""

    def write(self, entries: Iterator[SoundEntry]) -> None:
        """Write the records of all entries; no file if there is none."""
        first = next(entries, None)
        if first is None:
            return
        import pyarrow.parquet as pq  # noqa: PLC0415 - of an extra

        from wireproof.spark.columns import (  # noqa: PLC0415 - likewise
            HEADER_BYTES,
            RowData,
            make_batches,
        )
        from wireproof.spark.objects import ObjectReader  # noqa: PLC0415 - likewise

        broken_off: list[KeyboardInterrupt] = []

        def rows() -> Iterator[RowData]:
            try:
                for one in chain([first], entries):
                    head = one.source.read(one.entry.at, HEADER_BYTES)
                    stored = ObjectReader(None, one.name, one.source.size)
                    yield RowData(stored, cast("Item", one.entry.item), head, one.fmt.revision)
            except KeyboardInterrupt as error:  # the rows that wait for the end of their batch are written
                broken_off.append(error)

        table = object_at(next(iter(family_of(first.fmt).sources.values()))).records
        schema = table.schema()
        with self.path.open("xb") as file, closing(pq.ParquetWriter(file, schema)) as writer:
            for batch in make_batches(rows(), table, table.chosen(schema.names), schema):
                writer.write_batch(batch)
                self.records += batch.num_rows
        if broken_off:
            raise broken_off[0]


@define
class LogsOutput:
    """Writes the entries of each damaged file as a log of its own, with its name, in a new folder.

    Attributes:
        written: the names of these logs.
    """

    path: Path
    lost: LostList
    records: int = 0
    written: list[str] = field(factory=list)
    _run: tuple[SoundEntry, int] | None = None
    values: ClassVar[bool] = False
    rising: ClassVar[bool] = True

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
        """Accept the formats whose entries one after another are a log."""
        if not listing.is_joinable:
            text = f"a repaired log can be written of Kafka's logs alone, and {name} is {fmt.format_id}"
            raise click.UsageError(f"{text}: name --out FILE.jsonl or FILE.parquet")

    def write(self, entries: Iterator[SoundEntry]) -> None:
        """Write the logs: the bytes of entries that follow each other are copied together."""
        self.path.mkdir(parents=True)
        for one in entries:
            self.records += one.listing.row_records(one.entry.cells) or 0
            if self._run is not None and self._run[1] != one.entry.at:
                self.end_file()
            first = one if self._run is None else self._run[0]
            self._run = first, one.entry.end

    def end_file(self) -> None:
        """Copy the run of entries that was not copied yet."""
        run, self._run = self._run, None
        if run is not None:
            self._copy(*run)

    def _copy(self, first: SoundEntry, end: int) -> None:
        """Append the bytes of entries to the log of their file, if the file is damaged; all or none."""
        if first.name not in self.lost.damaged:
            return
        path = self.path / first.name
        if first.name not in self.written:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(exist_ok=False)
            self.written.append(first.name)
        with path.open("ab") as file:
            before = file.tell()
            try:
                for piece in pieces(first.source, first.entry.at, end):
                    file.write(piece)
            except BaseException:
                _cut(file, before)
                raise


def _cut(file: BinaryIO, size: int) -> None:
    """Cut a file to what it had before: a part of an entry is none."""
    file.flush()
    file.truncate(size)
