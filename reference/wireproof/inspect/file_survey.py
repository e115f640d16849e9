"""The survey of one input: its format, how much of it is sound, and what the family counts of its entries."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.family import EntryListing
from wireproof.formats import Format, steps_of
from wireproof.inspect.detect_format import detect_stream
from wireproof.inspect.entry_list import ListingSettings, list_entries, listing_of
from wireproof.inspect.lost_records import FileLosses, LossFinder, bounds_of
from wireproof.inspect.open_input import OpenInput, open_path
from wireproof.wire.byte_source import ByteSource, ShrunkError
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Remark
from wireproof.wire.walk import HEAD_LENGTHS, DamagedRange, Entry, EntryRows

MAX_DAMAGES: Final = 50
"""Damaged ranges and losses that are kept; the others are counted."""


BEGINS_NOTHING: Final = frozenset({"bad-length", "bad-magic", "bad-separator"})
"""The classes of bytes that begin no entry; behind a damaged entry they belong to it."""


def add_damage(damages: list[DamagedRange], one: DamagedRange) -> None:
    """Add a range; bytes after a damaged entry that begin no entry belong to it."""
    if damages and damages[-1].end == one.at and one.cls in BEGINS_NOTHING:
        damages[-1] = evolve(damages[-1], end=one.end)
    else:
        damages.append(one)


@frozen
class RemarkCount:
    """The remarks of a class: how many there are, and the first one."""

    count: int
    first: Remark


@define
class FileSurvey:
    """What was found in an input.

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
    damages: list[DamagedRange] = field(factory=list)
    damage_count: int = 0
    damaged: int = 0
    zeros: int = 0
    tail: int = 0
    wanted: int = 0
    remarks: dict[str, RemarkCount] = field(factory=dict)
    notes: Counter[str] = field(factory=Counter)
    totals: Mapping[str, Json] = field(factory=dict)
    lines: tuple[str, ...] = field(default=())
    losses: FileLosses = field(factory=lambda: FileLosses(MAX_DAMAGES))

    @property
    def ok(self) -> bool:
        """Return whether every byte is sound, and all of them were read."""
        wrong = self.damage_count or self.tail or self.message or self.losses.count
        return bool(self.format_id) and not wrong

    def count(self, one: Entry | EntryRows) -> None:
        """Count the next part of the stream."""
        if isinstance(one, EntryRows):
            self.entries += len(one)
            self.sound += sum(one.length)
            for found in one.damages.values():
                self._count_damages(found)
            return
        match one.kind:
            case "frame":
                self.entries += 1
                self.sound += one.length
            case "tail":
                self.tail = one.length
            case "zeros":
                self.zeros = one.length
            case _:
                self.damaged += one.length
        self._count_damages(one.damages)
        if one.note:
            self.notes[one.note] += 1
        for remark in one.remarks:
            known = self.remarks.get(remark.cls, RemarkCount(0, remark))
            self.remarks[remark.cls] = RemarkCount(known.count + 1, known.first)

    def _count_damages(self, found: tuple[DamagedRange, ...]) -> None:
        for damage in found:
            kept = len(self.damages)
            if kept < MAX_DAMAGES or self.damages[-1].end == damage.at:
                add_damage(self.damages, damage)
            merged = len(self.damages) == kept and kept > 0 and self.damages[-1].end == damage.end
            self.damage_count += not (merged and self.damage_count == kept)
        del self.damages[MAX_DAMAGES:]


@frozen
class ReadSettings:
    """The way to read an input: the options of the codecs, and whether the fast decoder is used."""

    options: Options = DEFAULT_OPTIONS
    fast: bool | None = None


def survey_stream(
    fmt: Format,
    listing: EntryListing,
    found: OpenInput,
    reading: ListingSettings,
    listen: Callable[[Entry | EntryRows], object] = lambda _: None,
) -> FileSurvey:
    """Survey a stream; each part is given to `listen` when it is read."""
    source, totals = found.source, listing.totals()
    base, until = (None, None) if found.path is None or reading.begin else bounds_of(found.path)
    finder = LossFinder(fmt, listing, source, base, until)
    survey = FileSurvey(
        "", source.size, fmt.format_id, reading.begin, reading.headers_only, found.stopped, found.packed
    )
    try:
        for part in list_entries(fmt, listing, source, reading):
            one = part if isinstance(part, EntryRows) else finder.checked(part)
            survey.count(one)
            if isinstance(one, EntryRows):
                totals.add(one.cells)
            elif one.kind == "frame":
                totals.add((one.cells,))
            survey.losses.add(finder.find(one))
            listen(one)
        survey.losses.add(finder.end())
        survey.wanted = _wanted(fmt, source, survey.tail)
    except ShrunkError as error:
        survey.message = str(error)
    survey.totals, survey.lines = totals.json(), tuple(totals.lines())
    survey.losses.end(finder)
    return survey


def _wanted(fmt: Format, source: ByteSource, tail: int) -> int:
    """Return the bytes that the entry at the end needs; 0 if its first bytes do not show them."""
    return steps_of(fmt).size(source.read(source.size - tail, HEAD_LENGTHS[-1])) if tail else 0


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
        survey = survey_stream(fmt, listing, named, reading, listen)
        survey.name = str(path)
        return survey


def _split(format_id: str) -> tuple[str, str]:
    name, _, revision = format_id.partition("/")
    return name, revision
