"""`wireproof salvage`: write what is sound in damaged logs, and the list of what is lost."""

import pickle
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TextIO, cast

import click
from attrs import define, field, frozen

from wireproof.cli.common.standard_output import interrupted, rare_collections
from wireproof.cli.explain import formats_named
from wireproof.cli.explain.directory import reading_bar
from wireproof.family import EntryListing
from wireproof.formats import FORMATS, Format, family_of
from wireproof.inspect.data_directory import folders_of
from wireproof.inspect.detect_format import detect_stream, is_named
from wireproof.inspect.entry_list import (
    ListingSettings,
    is_fast_installed,
    list_entries,
    listing_of,
    stream_of,
)
from wireproof.inspect.entry_output import as_json, json_cells, loss_json
from wireproof.inspect.lost_records import NOTHING_LOST, FileLosses, Loss, LossFinder, bounds_of
from wireproof.inspect.open_input import OpenInput, open_path
from wireproof.install_hint import install_command
from wireproof.run.exit_codes import Exit
from wireproof.wire.byte_source import ByteSource, pieces
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.text import counted, escape_unsafe
from wireproof.wire.walk import DamagedRange, Entry

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
    entry: Entry


# --- what is lost ---


@define
class LostList:
    """Writes what is lost: a line of JSON for each loss, and one with the sums last.

    Attributes:
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
        self.size += loss.end - loss.at
        self._line({"type": "lost", "file": name, **loss_json(loss, gapless=gapless)})

    def add_sums(self, name: str, found: FileLosses) -> None:
        if found.count and len(self.files) < SHOWN:
            self.files[name] = found
        self.count += found.count
        self.records += found.records

    def add_message(self, name: str, text: str) -> None:
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
    lost: LostList, name: str, finder: LossFinder, parts: Iterator[Entry | Loss]
) -> Iterator[Entry]:
    """Yield the sound entries; write the losses at the end, where it is known whether the log has gaps."""
    totals = FileLosses(SHOWN)
    with tempfile.SpooledTemporaryFile(SPOOLED) as spool:
        try:
            for one in parts:
                if isinstance(one, Entry):
                    yield one
                    continue
                totals.add((one,))
                lost.damaged.add(name)
                pickle.dump(one, spool)
        finally:
            spool.seek(0)
            for _ in range(totals.count):
                lost.add(name, pickle.load(spool), gapless=finder.gapless)  # noqa: S301 - written above
            lost.add_sums(name, totals.end(finder))


# --- what is sound ---


def sound_entries(
    files: Sequence[tuple[Path, str]],
    rows: Sequence[Format],
    output: "Output",
    seen: Callable[[str, int], object],
) -> Generator[SoundEntry, None, None]:
    """Yield the sound entries of files one after another, and add what is lost to the list of the output.

    The files, paths with names, have one of the formats `rows`, or any if there is none. `seen` is given the
    name of the file that is read, and the bytes of it that were.
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
    if fmt is None or listing is None or fmt.scan is None:  # all of the file is lost, if there is anything
        if size := found.source.size:
            cause = DamagedRange(0, size, 0, "unknown", 0, "", "no format of a stream fits")
            last = None if until is None else until - 1
            loss = Loss(0, size, (cause,), 1, base, last, counted=None, is_certain=False)
            output.lost.damaged.add(name)
            output.lost.add(name, loss, gapless=False)
            losses = FileLosses(SHOWN, gapless=False)
            losses.add((loss,))
            output.lost.add_sums(name, losses)
        return
    output.check(name, fmt, listing)
    finder = LossFinder(fmt, listing, found.source, base, until, rising=output.rising)
    reading = ListingSettings(DEFAULT_OPTIONS, values=output.values, is_file=True)

    def divided() -> Iterator[Entry | Loss]:
        for part in list_entries(fmt, listing, found.source, reading):
            seen(name, part.end)
            for one in (part,) if isinstance(part, Entry) else part:
                yield from finder.add(finder.checked(one))
        yield from finder.end()

    for one in _losses_written(output.lost, name, finder, divided()):
        yield SoundEntry(name, fmt, listing, found.source, one)


# --- the outputs ---


@define
class Output:
    """Writes sound entries to a path, where nothing is overwritten.

    Attributes:
        values: whether it needs the values of entries.
        rising: whether every entry must have a higher offset than the one before it.
    """

    path: Path
    lost: LostList
    records: int = 0
    values: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
        """Raise `click.UsageError` if entries of a format cannot be written; every format can be."""

    def write(self, entries: Iterator[SoundEntry]) -> None:
        raise NotImplementedError  # each output below writes its own kind of file

    def end_file(self) -> None:
        """Write what is left of a file before it is closed; nothing is."""


@define
class LinesOutput(Output):
    """Writes the records as JSON lines, those of an entry together."""

    def write(self, entries: Iterator[SoundEntry]) -> None:
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
class TableOutput(Output):
    """Writes the records as Parquet, with the columns that the records of the format have on Spark."""

    _family: str = ""

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
        del listing
        self._family = self._family or fmt.family
        if fmt.family != self._family or not family_of(fmt).source_names:
            raise click.UsageError(
                f"{name} is {fmt.format_id}, which has no place in {self.path}: salvage it alone"
            )

    def write(self, entries: Iterator[SoundEntry]) -> None:
        first = next(entries, None)
        if first is None:
            return
        import pyarrow.parquet as pq  # noqa: PLC0415 - of an extra

        from wireproof.spark.logs.columns import HEADER_BYTES, RowData, make_batches  # noqa: PLC0415 - likewise
        from wireproof.spark.logs.objects import ObjectReader  # noqa: PLC0415 - likewise
        from wireproof.spark.logs.sources import sources_of  # noqa: PLC0415 - likewise

        broken_off: list[KeyboardInterrupt] = []

        def rows() -> Iterator[RowData]:
            try:
                for one in chain([first], entries):
                    head = one.source.read(one.entry.at, HEADER_BYTES)
                    stored = ObjectReader(None, one.name, one.source.size)
                    yield RowData(stored, cast("Item", one.entry.item), head, one.fmt.revision)
            except KeyboardInterrupt as error:  # the rows that wait for the end of their batch are written
                broken_off.append(error)

        table = next(iter(sources_of(family_of(first.fmt)))).records
        schema = table.schema()
        with self.path.open("xb") as file, closing(pq.ParquetWriter(file, schema)) as writer:
            for batch in make_batches(rows(), table, table.chosen(schema.names), schema):
                writer.write_batch(batch)
                self.records += batch.num_rows
        if broken_off:
            raise broken_off[0]


@define
class LogsOutput(Output):
    """Writes the entries of each damaged file as a log of its own, with its name, in a new folder."""

    written: list[str] = field(factory=list)
    _run: tuple[SoundEntry, int] | None = None
    values: ClassVar[bool] = False
    rising: ClassVar[bool] = True

    def check(self, name: str, fmt: Format, listing: EntryListing) -> None:
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
        """Append the run of entries that was not copied yet to the log of its file, all or none of it.

        A file that is not damaged gets no copy.
        """
        run, self._run = self._run, None
        if run is None or run[0].name not in self.lost.damaged:
            return
        first, end = run
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
            except BaseException:  # a part of an entry is none
                file.flush()
                file.truncate(before)
                raise


OUTPUTS: Final = {".jsonl": LinesOutput, ".parquet": TableOutput, "": LogsOutput}
"""What is written, by the ending of its path."""


@click.command("salvage")
@click.argument("source", metavar="FILE|DIR", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, metavar="PATH", type=click.Path(path_type=Path),
              help="FILE.jsonl or FILE.parquet for records, or a new folder for repaired logs")  # fmt: skip
@click.option("--format", "name", metavar="FORMAT", help="a format such as kafka.log  [default: try all]")
def command(source: Path, out: Path, name: str | None) -> int:
    """Write the sound records of a log, or of all logs in a directory, and the list of what is lost.

    The list is JSON lines beside PATH. In a folder, each damaged log of Kafka gets a repaired one with its
    name; sound ones are not copied. Nothing is overwritten. Exit code 0 if nothing is lost, 1 if something
    is.
    """
    kind = OUTPUTS.get(out.suffix)
    if kind is None:
        raise click.UsageError(
            f"--out {out} is neither FILE.jsonl nor FILE.parquet, nor a folder without ending"
        )
    if kind is TableOutput and not is_fast_installed():
        raise click.UsageError(f"Parquet needs the packages of an extra: {install_command('columnar')}")
    files = [(source, source.name)] if not source.is_dir() else list(_logs(source))
    if not files:
        raise click.UsageError(f"{source} has no file with the name of a log: name the FILE itself")
    list_of_lost = out.with_name(f"{out.name}.lost.jsonl")
    for path in (out, list_of_lost):
        if path.exists():
            raise click.UsageError(f"{path} exists, and nothing is overwritten: name another --out")
    broken_off = None
    with list_of_lost.open("x", encoding="utf-8", newline="\n") as file, rare_collections():
        output: Output = kind(out, LostList(file))
        with reading_bar(source) as seen:
            entries = sound_entries(files, formats_named(name), output, seen)
            try:
                output.write(entries)
            except KeyboardInterrupt as error:
                broken_off = error
            finally:
                entries.close()
                is_complete = broken_off is None
                output.lost.end(output.records, complete=is_complete)
    for line in _lines(output, files, list_of_lost):
        click.echo(escape_unsafe(line))
    if broken_off is not None:
        return interrupted(broken_off, f"{out} and {list_of_lost} have what was read until then")
    return Exit.FAILS if output.lost.count or output.lost.messages else Exit.CONFORMS


def _logs(folder: Path) -> Iterator[tuple[Path, str]]:
    streams = [row for row in FORMATS.values() if row.scan is not None]
    for _, paths in folders_of(folder):
        for path in paths:
            is_log = any(is_named(row, path.name) for row in streams)
            if is_log and path.is_file() and not path.is_symlink():
                yield path, path.relative_to(folder).as_posix()


def _lines(output: Output, files: list[tuple[Path, str]], list_of_lost: Path) -> Iterator[str]:
    lost = output.lost
    for name, text in list(lost.messages.items())[:SHOWN]:
        yield f"wrong: {name}: {text}"
    for name, found in lost.files.items():
        yield from (f"{name}: {line}" for line in found.lines())
    if len(lost.damaged) > len(lost.files):
        yield f"… {counted(len(lost.damaged) - len(lost.files), 'more file')}"
    count = counted(len(files), "file", grouped=False)
    logs = f" ({len(output.written)} repaired)" if isinstance(output, LogsOutput) else ""
    place = f"in {output.path}" if output.path.exists() else "and nothing was written"
    yield f"{count}: {counted(output.records, 'sound record', grouped=False)} {place}{logs}"
    size = counted(lost.size, "byte", grouped=False)
    places = f"{lost.records} at {counted(lost.count, 'place', grouped=False)}, {size}"
    yield (
        f"lost: {places}; the list: {list_of_lost}" if lost.count else f"nothing is lost; see {list_of_lost}"
    )
