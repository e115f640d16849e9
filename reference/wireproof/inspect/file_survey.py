"""The survey of one input: its format, how much of it is sound, and what the family counts of its entries."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.family import EntryListing
from wireproof.formats import Format, steps_of
from wireproof.inspect.detect_format import StreamFit, detect_stream
from wireproof.inspect.entry_list import ListingSettings, list_entries, listing_of
from wireproof.inspect.lost_records import FileLosses, LossFinder, bounds_of
from wireproof.inspect.open_input import OpenInput, open_path
from wireproof.wire.byte_source import ShrunkError
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.rejection import Remark
from wireproof.wire.remark_classes import REMARK_CLASSES
from wireproof.wire.text import counted, escape_unsafe
from wireproof.wire.walk import HEAD_LENGTHS, DamagedRange, Entry, EntryRows

MAX_DAMAGES: Final = 50
"""Damaged ranges and losses that are kept and listed; the others are counted."""


def add_damage(damages: list[DamagedRange], one: DamagedRange) -> None:
    """Add a range; bytes after a damaged entry that begin no entry belong to it."""
    begins_nothing = one.cls in ("bad-length", "bad-magic", "bad-separator")
    if damages and damages[-1].end == one.at and begins_nothing:
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
        if survey.tail:  # its first bytes may show how many it needs
            head = source.read(source.size - survey.tail, HEAD_LENGTHS[-1])
            survey.wanted = steps_of(fmt).size(head)
    except ShrunkError as error:
        survey.message = str(error)
    survey.totals, survey.lines = totals.json(), tuple(totals.lines())
    survey.losses.end(finder)
    return survey


def survey_file(
    path: Path,
    format_name: str | None = None,
    listen: Callable[[Entry | EntryRows], object] = lambda _: None,
    *,
    fast: bool | None = None,
) -> FileSurvey:
    """Survey a file that is a stream.

    Args:
        path: the file; a compressed one is decompressed.
        format_name: the id of its format; None to detect it.
        listen: is given each part when it is read.
        fast: as in `ListingSettings`.

    Raises:
        OSError: the file cannot be opened.
    """
    with open_path(path) as found:
        name, _, revision = (format_name or "").partition("/")
        rows = [formats.get(name, revision)] if format_name is not None else []
        fits = detect_stream(found.source, rows, DEFAULT_OPTIONS, path.name)
        fmt = fits[0].row if fits else rows[0] if rows else None
        listing = None if fmt is None else listing_of(fmt)
        if fmt is None or listing is None:
            size = found.source.size
            text = f"{counted(size, 'byte', grouped=False)}: no stream format fits"
            return FileSurvey(str(path), size, message=text)
        reading = ListingSettings(DEFAULT_OPTIONS, fast=fast, is_file=True)
        named = found if found.packed else evolve(found, path=path)
        survey = survey_stream(fmt, listing, named, reading, listen)
        survey.name = str(path)
        return survey


# --- the survey as lines of text: the verdict, the counts, what is damaged, the remarks ---


def size_lines(refused: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the option that raises the limit of sizes, if one of the refusals (class and path) is for it."""
    sizes = ("message_length", "size", "batchLength")
    if any(cls == "limit-exceeded" and path.endswith(sizes) for cls, path in refused):
        yield "what to do: --max-message BYTES raises the greatest size of an entry"


def cut_entry_text(found: FileSurvey) -> str:
    """Return how much of the entry is there that the end of the file cuts."""
    whole = f" of {found.wanted}" if found.wanted else ""
    return f"the file ends within an entry, {found.tail}{whole} bytes of it"


def damaged_place_lines(found: FileSurvey) -> Iterator[str]:
    sound_end = found.size - found.tail
    ends = [one.at for one in found.damages[1:]] + [sound_end]
    for one, until in zip(found.damages, ends, strict=False):
        after = "nothing valid follows" if one.end >= sound_end else "another damaged place follows"
        after = f"reading continues at {one.end}" if until > one.end else after
        yield escape_unsafe(f"wrong: bytes {one.at} to {one.end}, entry {one.number}: {one}; {after}")
    if found.damage_count > MAX_DAMAGES:
        yield f"… {counted(found.damage_count - MAX_DAMAGES, 'more place', grouped=False)}"
    if found.tail:
        yield f"wrong: bytes {sound_end} to {found.size}: {cut_entry_text(found)}"


MAX_FITS: Final = 4
"""Number of formats that are named in addition to the best one."""


def summary_lines(found: FileSurvey) -> Iterator[str]:
    yield verdict_line(found)
    if found.headers_only:
        yield "headers and checksums were checked; the records were not read"
    if found.begin:
        yield f"read from position {found.begin} on; the bytes before it were passed over and not checked"
    if found.message and found.format_id:
        yield escape_unsafe(f"wrong: {found.message}")
    yield from map(escape_unsafe, found.lines)
    for note, count in found.notes.items():
        yield f"{count} of them {note}"
    yield from damaged_place_lines(found)
    yield from found.losses.lines()
    yield from size_lines((one.cls, one.path) for one in found.damages)
    if found.zeros:
        yield f"bytes {found.size - found.zeros} to {found.size} are allocated and not written yet"
    if found.remarks:
        yield "remarks: no damage, but places where the format leaves the answer open"
        yield from (remark_line(one.first, one.count) for one in found.remarks.values())


def verdict_line(found: FileSurvey) -> str:
    """Return the size, the format and the verdict in one line."""
    packed = f" (unpacked from {found.packed})" if found.packed else ""
    if not found.format_id:
        return escape_unsafe(found.message)
    text = f"accepted, {counted(found.sound, 'byte', grouped=False)}"
    if places := found.damage_count + bool(found.tail):
        sound = f"{found.entries} entries are sound, {found.sound} of {found.size} bytes"
        text = f"damaged at {counted(places, 'place', grouped=False)}: {sound}"
    return f"{counted(found.size, 'byte', grouped=False)}{packed} as {found.format_id}: {text}"


def other_fit_lines(fits: Sequence[StreamFit]) -> Iterator[str]:
    """Yield the revisions of a stream that fit the beginning of an input as well as the best one."""
    if same := [fit for fit in fits[1:] if fit.survey.proven == fits[0].survey.proven]:
        yield f"also fits: {', '.join(fit.row.format_id for fit in same[:MAX_FITS])}"


def remark_text_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark class that occurs: its meaning, its count, and its first position."""
    by_class: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_class.setdefault(remark.cls, []).append(remark)
    for found in by_class.values():
        yield remark_line(found[0], len(found))


def remark_line(first: Remark, count: int) -> str:
    """Return the line of a class of remarks: its first one, and how many there are."""
    often = f"{count} times, first at" if count > 1 else "at"
    meaning = REMARK_CLASSES[first.cls].meaning
    others = [f"another value ({other.name}: {other.value})" for other in first.others]
    also = [*["a refusal"] * first.rejectable, *others]
    allowed = f"allowed, and so is {' or '.join(also)}" if also else "allowed"
    return f"remark {first.cls}, {often} {first.at} ({first.path}): {meaning}; {allowed}"


def misfit_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark on damaged bytes, however readers may treat them."""
    for one in remarks:
        yield f"wrong: {one.cls} at {one.at} ({one.path}): {REMARK_CLASSES[one.cls].meaning}"
