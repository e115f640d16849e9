"""The survey of one input: its format, how much of it is sound, and what the family counts of its entries."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.cases.detect_format import detect_stream
from wireproof.cases.log_survey import bytes_needed
from wireproof.family import EntryListing, EntryTotals
from wireproof.formats import Format
from wireproof.runner.entry_list import ListingSettings, list_entries, listing_of
from wireproof.runner.lost_records import FileLosses, Loss, LossFinder, LossTotals, bounds_of
from wireproof.runner.open_input import OpenInput, open_path
from wireproof.wire.byte_source import ByteSource, ShrunkError
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Remark
from wireproof.wire.walk import HEAD_LENGTHS, DamagedRange, Entry, EntryRows, add_damage

MAX_DAMAGES: Final = 50
"""Damaged ranges and losses that are kept; the others are counted."""


@frozen
class RemarkCount:
    """The remarks of a class: how many there are, and the first one."""

    count: int
    first: Remark


@frozen
class FileSurvey:
    """The result.

    Attributes:
        name: of the input.
        size: its bytes, decompressed.
        format_id: empty if no format fits.
        begin: the position from which on it was read.
        headers_only: whether the records of its entries were not read.
        message: one line if no format fits, or about why reading stopped; empty if neither is so.
        packed: the compression of the file; empty if it has none.
        entries, sound: the number of whole accepted entries, and their bytes.
        damages: the first damaged ranges.
        damage_count, damaged: the number of all of them, and their bytes.
        zeros: bytes at the end that are allocated and not written yet.
        tail, wanted: bytes at the end that begin an entry, and the bytes that this entry needs, if known.
        remarks: by class.
        notes: the numbers of entries that were read in an unusual way.
        totals: what the family counts.
        lines: the same for a person.
        losses: the bytes without a sound entry, and the records that were there.
    """

    name: str
    size: int
    format_id: str = ""
    begin: int = 0
    headers_only: bool = False
    message: str = ""
    packed: str = ""
    entries: int = 0
    sound: int = 0
    damages: tuple[DamagedRange, ...] = field(default=())
    damage_count: int = 0
    damaged: int = 0
    zeros: int = 0
    tail: int = 0
    wanted: int = 0
    remarks: Mapping[str, RemarkCount] = field(factory=dict)
    notes: Mapping[str, int] = field(factory=dict)
    totals: Mapping[str, Json] = field(factory=dict)
    lines: tuple[str, ...] = field(default=())
    losses: FileLosses = field(factory=FileLosses)

    @property
    def ok(self) -> bool:
        """Return whether every byte is sound, and all of them were read."""
        wrong = self.damage_count or self.tail or self.message or self.losses.count
        return bool(self.format_id) and not wrong


@frozen
class ReadSettings:
    """The way to read an input: the options of the codecs, and whether the fast decoder is used."""

    options: Options = DEFAULT_OPTIONS
    fast: bool | None = None


@define
class SurveyCounter:
    """Counts the parts of a stream."""

    totals: EntryTotals
    finder: LossFinder
    losses: LossTotals = field(factory=lambda: LossTotals(MAX_DAMAGES))
    entries: int = 0
    sound: int = 0
    damages: list[DamagedRange] = field(factory=list)
    damage_count: int = 0
    damaged: int = 0
    zeros: int = 0
    tail: int = 0
    remarks: dict[str, RemarkCount] = field(factory=dict)
    notes: Counter[str] = field(factory=Counter)

    def add(self, one: Entry | EntryRows) -> None:
        """Count the next part."""
        if not (isinstance(one, EntryRows) and not one.damages and self.finder.pass_rows(one)):
            for entry in one if isinstance(one, EntryRows) else (one,):
                self._add_losses(self.finder.add(entry))
        if isinstance(one, EntryRows):
            self.entries += len(one)
            self.sound += sum(one.length)
            self.totals.add(one.cells)
            for found in one.damages.values():
                self._add_damages(found)
        else:
            self._add_entry(one)

    def end(self) -> None:
        """Count what the end of the file lost."""
        self._add_losses(self.finder.end())

    def _add_losses(self, found: Iterator[Entry | Loss]) -> None:
        for one in found:
            if isinstance(one, Loss):
                self.losses.add(one)

    def _add_entry(self, one: Entry) -> None:
        if one.kind == "frame":
            self.entries += 1
            self.sound += one.length
            self.totals.add((one.cells,))
        elif one.kind == "tail":
            self.tail = one.length
        elif one.kind == "zeros":
            self.zeros = one.length
        else:
            self.damaged += one.length
        if one.damages:
            self._add_damages(one.damages)
        if one.note:
            self.notes[one.note] += 1
        for remark in one.remarks:
            known = self.remarks.get(remark.cls)
            first = remark if known is None else known.first
            self.remarks[remark.cls] = RemarkCount(1 if known is None else known.count + 1, first)

    def _add_damages(self, found: tuple[DamagedRange, ...]) -> None:
        for damage in found:
            kept = len(self.damages)
            if kept < MAX_DAMAGES or self.damages[-1].end == damage.at:
                add_damage(self.damages, damage)
            merged = len(self.damages) == kept and kept > 0 and self.damages[-1].end == damage.end
            self.damage_count += not (merged and self.damage_count == kept)
        del self.damages[MAX_DAMAGES:]


def survey_stream(
    fmt: Format,
    listing: EntryListing,
    found: OpenInput,
    reading: ListingSettings,
    listen: Callable[[Entry | EntryRows], object] = lambda _: None,
) -> FileSurvey:
    """Survey a stream; each part is given to `listen` when it is read."""
    message, source = found.stopped, found.source
    base, until = (None, None) if found.path is None or reading.begin else bounds_of(found.path)
    finder = LossFinder(fmt, listing, source, base, until)
    counter = SurveyCounter(listing.totals(), finder)
    try:
        for part in list_entries(fmt, listing, source, reading):
            one = part if isinstance(part, EntryRows) else finder.checked(part)
            counter.add(one)
            listen(one)
        counter.end()
        wanted = _wanted(fmt, source, counter.tail)
    except ShrunkError as error:
        message, wanted = str(error), 0
    return FileSurvey(
        name="",
        size=source.size,
        format_id=fmt.format_id,
        begin=reading.begin,
        headers_only=reading.headers_only,
        message=message,
        packed=found.packed,
        entries=counter.entries,
        sound=counter.sound,
        damages=tuple(counter.damages),
        damage_count=counter.damage_count,
        damaged=counter.damaged,
        zeros=counter.zeros,
        tail=counter.tail,
        wanted=wanted,
        remarks=counter.remarks,
        notes=counter.notes,
        totals=counter.totals.json(),
        lines=tuple(counter.totals.lines()),
        losses=counter.losses.of(finder),
    )


def _wanted(fmt: Format, source: ByteSource, tail: int) -> int:
    """Return the bytes that the entry at the end needs; 0 if its first bytes do not show them."""
    return bytes_needed(fmt, source.read(source.size - tail, HEAD_LENGTHS[-1])) if tail else 0


def survey_file(
    path: Path,
    settings: ReadSettings | None = None,
    format_name: str | None = None,
    listen: Callable[[Entry | EntryRows], object] = lambda _: None,
) -> FileSurvey:
    """Survey a file that is a stream.

    Args:
        path: the file; a compressed one is decompressed.
        settings: the way to read it.
        format_name: the id of its format; None to detect it.
        listen: is given each part when it is read.

    Raises:
        OSError: the file cannot be opened.
    """
    settings = settings or ReadSettings()
    with open_path(path) as found:
        rows = [] if format_name is None else [formats.get(*_split(format_name))]
        size = found.source.size
        fits = detect_stream(found.source, rows, settings.options, path.name)
        fmt = fits[0].row if fits else rows[0] if rows else None
        listing = None if fmt is None else listing_of(fmt)
        if fmt is None or listing is None:
            return FileSurvey(str(path), size, message=f"{size} bytes: no stream format fits")
        reading = ListingSettings(settings.options, fast=settings.fast, is_file=True)
        named = found if found.packed else evolve(found, path=path)
        return evolve(survey_stream(fmt, listing, named, reading, listen), name=str(path))


def _split(format_id: str) -> tuple[str, str]:
    name, _, revision = format_id.partition("/")
    return name, revision
