"""The entries of a stream as text or as JSON lines, in the order in which they are read."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TextIO

from attrs import define, evolve, frozen

from wireproof.family import EntryListing, object_at
from wireproof.formats import Format, TracedDecode, steps_of
from wireproof.inspect.detect_format import layout_of_damaged
from wireproof.inspect.entry_list import Place
from wireproof.inspect.field_listing import WIDEST, field_lines
from wireproof.inspect.file_survey import FileSurvey
from wireproof.inspect.lost_records import Loss
from wireproof.wire.byte_source import ByteSource
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected, shift_position
from wireproof.wire.text import as_text, escape_unsafe, octets
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import DamagedRange, Entry, EntryRows


@frozen
class ListingOptions:
    """What is listed.

    Attributes:
        detail: a line for each entry, for each record, or for each field.
        begin: the first entry is the one that has this offset or position.
        limit: the greatest number of these lines; None for all.
    """

    detail: Literal["entries", "records", "fields"] = "entries"
    begin: Place | None = None
    limit: int | None = None


@frozen
class Listed:
    """The stream that is listed: its format, its listing, its bytes, the options of the codec, its folder."""

    fmt: Format
    listing: EntryListing
    source: ByteSource
    options: Options
    folder: str = ""

    def meaning(self, cells: tuple[Any, ...]) -> dict[str, Json] | None:
        """Return what a record means beyond its bytes; None if that is unknown."""
        if not self.listing.meaning or not self.folder:
            return None
        found: dict[str, Json] | None = object_at(self.listing.meaning)(self.folder, cells)
        return found


@define
class EntryOutput(ABC):
    """Writes entries as they come.

    Attributes:
        stream: what is listed.
        shown: how much of it.
        out: where the lines go.
        lines: the lines that were written.
        left_out: the entries that were not.
    """

    stream: Listed
    shown: ListingOptions
    out: TextIO
    lines: int = 0
    left_out: int = 0
    begun: bool = False

    def part(self, part: Entry | EntryRows) -> None:
        for one in part if isinstance(part, EntryRows) else (part,):
            self.entry(one)

    def entry(self, one: Entry) -> None:
        """Write an entry, if it is to be shown."""
        begin, offsets = self.shown.begin, self.stream.listing.offsets
        if begin is not None and not self.begun:
            if begin.is_position or offsets is None:
                self.begun = begin.number < one.at + one.length
            else:
                pair = offsets(one.cells) if one.cells else None
                self.begun = pair is not None and begin.number <= pair[1]
        if begin is not None and not self.begun:
            return
        if not self.room:
            self.left_out += 1
            return
        self.write_entry(one)

    @property
    def room(self) -> bool:
        return self.shown.limit is None or self.lines < self.shown.limit

    def line(self, text: str, *, counted: bool = True) -> None:
        self.out.write(f"{text}\n")
        self.lines += counted

    @abstractmethod
    def write_entry(self, one: Entry) -> None:
        """Write an entry with its records or fields."""

    def records(self, one: Entry) -> Iterator[tuple[Any, ...]]:
        """Yield the cells of the records of an entry, as far as there is room."""
        if one.item is None:
            return
        for cells in self.stream.listing.records(one.item):
            if not self.room:
                return
            yield cells

    def layout(self, one: Entry) -> TracedDecode:
        """Return the fields of an entry, or those that garbage has, at their positions in the stream."""
        most = 1 << 24 if one.kind == "frame" else 1 << 16
        data = self.stream.source.read(one.at, min(one.length, most))
        options = self.stream.options
        for note, changes in self.stream.listing.also_read:
            options = evolve(options, **changes) if note == one.note else options
        name = steps_of(self.stream.fmt).path
        layout = layout_of_damaged(self.stream.fmt, data, options)
        first, number = f"{name}[0]", f"{name}[{one.number}]"
        spans = tuple(_moved(span, one.at, first, number) for span in layout.spans)
        rejected = layout.rejected
        if rejected is not None and rejected.at is not None:
            path = rejected.path.replace(first, number, 1)
            rejected = Rejected(rejected.cls, shift_position(rejected.at, one.at), path, rejected.text)
        return evolve(layout, spans=spans, rejected=rejected)


def _moved(span: FieldSpan, base: int, first: str, number: str) -> FieldSpan:
    path = span.path.replace(first, number, 1) if span.path.startswith(first) else span.path
    if span.space:
        outer, _, rest = span.space.partition(">")
        return evolve(span, path=path, space=f"{int(outer) + base}>{rest}")
    cover = (
        None
        if span.cover is None
        else evolve(span.cover, start=span.cover.start + base, end=span.cover.end + base)
    )
    return evolve(span, path=path, start=span.start + base, end=span.end + base, cover=cover)


def notes_of(listing: EntryListing | None, spans: Sequence[FieldSpan]) -> Mapping[str, str]:
    """Return what the values of fields mean, and the bytes that are text, by their paths."""
    data = ((span.path, bytes(span.value)) for span in spans if isinstance(span.value, bytes | bytearray))
    shown = ((path, octets(value, WIDEST)) for path, value in data if value)
    texts = {path: text for path, text in shown if text[0] in "'\""}
    return {**texts, **(listing.notes(spans) if listing is not None else {})}


class TextOutput(EntryOutput):
    """Writes entries as a table."""

    def heading(self) -> None:
        """Write the heading of the table, once."""
        if not self.lines and self.shown.detail != "fields":
            self.line(f"{'position':>12} {'bytes':>9}  {self.stream.listing.heading}", counted=False)

    def part(self, part: Entry | EntryRows) -> None:
        """Write a part of a stream, as far as it is to be shown: all lines at once where it is all."""
        if not isinstance(part, EntryRows) or self.shown != ListingOptions():
            super().part(part)
            return
        self.heading()
        line, columns = self.stream.listing.line, zip(part.at, part.length, part.cells, strict=True)
        lines = [f"{at:>12} {length:>9}  {line(cells)}".rstrip() for at, length, cells in columns]
        for index, found in part.damages.items():
            lines[index] = "\n".join([lines[index], *wrong_lines(found)])
        self.out.write("\n".join([*lines, ""]))
        self.lines += len(lines)

    def write_entry(self, one: Entry) -> None:
        self.heading()
        line = f"{one.at:>12} {one.length:>9}  {self._words(one)}".rstrip()
        self.line(line, counted=self.shown.detail == "entries" or one.kind != "frame")
        if one.kind == "frame":
            for line in wrong_lines(one.damages):
                self.line(line, counted=False)
        match self.shown.detail:
            case "records":
                for cells in self.records(one):
                    self.line(f"{'':>22}  {self.stream.listing.record_line(cells)}")
                    if (meaning := self.stream.meaning(cells)) is not None:
                        self.line(f"{'':>24}  = {as_json(meaning)}", counted=False)
            case "fields" if one.kind != "zeros":
                layout = self.layout(one)
                mark = layout.rejected.at if layout.rejected is not None else None
                for shown in field_lines(layout, mark, notes_of(self.stream.listing, layout.spans)):
                    if not self.room:
                        break
                    self.line(str(shown))

    def _words(self, one: Entry) -> str:
        match one.kind:
            case "frame":
                return self.stream.listing.line(one.cells) + (f"  {one.note}" if one.note else "")
            case "garbage":
                return escape_unsafe(f"garbage: {'; '.join(map(str, one.damages))}")
            case "zeros":
                return "zeros: allocated, and not written yet"
        return "tail: the end of the input cuts this entry"


def wrong_lines(damages: Iterable[DamagedRange]) -> Iterator[str]:
    """Yield the lines below a whole entry about what is wrong with it."""
    return (f"{'':>22}  wrong: {escape_unsafe(str(damage))}" for damage in damages)


class JsonOutput(EntryOutput):
    """Writes entries as JSON lines: commands.md has their members."""

    def write_entry(self, one: Entry) -> None:
        tree: dict[str, Any] = {
            "type": "entry" if one.kind == "frame" else one.kind,
            "number": one.number,
            "position": one.at,
            "bytes": one.length,
            **json_cells(self.stream.listing.columns, one.cells),
            "wrong": [damage_json(damage) for damage in one.damages],
        }
        if one.remarks:
            tree["remarks"] = [{"class": r.cls, "at": r.at, "path": r.path} for r in one.remarks]
        if one.note:
            tree["note"] = one.note
        self.line(as_json(tree), counted=self.shown.detail == "entries" or one.kind != "frame")
        match self.shown.detail:
            case "records":
                for index, cells in enumerate(self.records(one)):
                    head = {"type": "record", "position": one.at, "index": index}
                    tree = {**head, **json_cells(self.stream.listing.record_columns, cells)}
                    meaning = self.stream.meaning(cells)
                    self.line(as_json(tree if meaning is None else {**tree, "meaning": meaning}))
            case "fields" if one.kind != "zeros":
                layout = self.layout(one)
                for tree in fields_json(layout, notes_of(self.stream.listing, layout.spans)):
                    if not self.room:
                        break
                    self.line(as_json(tree))


def fields_json(layout: TracedDecode, notes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a layout, and the rejection if there is one."""
    for span in layout.spans:
        tree: dict[str, Any] = {
            "type": "field", "at": span.at, "size": span.end - span.start, "path": span.path,
            "kind": span.type, "value": json_value(span.value),
        }  # fmt: skip
        yield {**tree, "note": notes[span.path]} if span.path in notes else tree
    if (refused := layout.rejected) is not None:
        yield {"type": "refused", "class": refused.cls, "at": refused.at, "path": refused.path,
               "text": refused.text}  # fmt: skip


def summary_json(found: FileSurvey) -> dict[str, Any]:
    lost = found.losses
    return {
        "type": "summary",
        "format": found.format_id or None,
        "bytes": found.size,
        "begin": found.begin,
        "headersOnly": found.headers_only,
        "compression": found.packed or None,
        "ok": found.ok,
        "message": found.message or None,
        "entries": found.entries,
        "sound": found.sound,
        "damages": found.damage_count,
        "damaged": found.damaged,
        "zeros": found.zeros,
        "tail": found.tail,
        "wanted": found.wanted or None,
        "remarks": {cls: one.count for cls, one in found.remarks.items()},
        "notes": dict(found.notes),
        "wrong": [damage_json(one) for one in found.damages],
        "lost": {
            "leastLost": lost.records.least,
            "mostLost": lost.records.most,
            "places": [loss_json(one, gapless=lost.gapless) for one in lost.kept],
            "morePlaces": lost.count - len(lost.kept),
        },
        "totals": dict(found.totals),
    }


def loss_json(loss: Loss, *, gapless: bool) -> dict[str, Any]:
    """Return a loss as JSON: commands.md has its members."""
    records = loss.records(gapless=gapless)
    return {
        "position": loss.at, "end": loss.end, "firstOffset": loss.first, "lastOffset": loss.last,
        "leastRecords": records.least, "mostRecords": records.most, "basis": records.basis,
        "timeBefore": loss.before, "timeAfter": loss.after,
        "causes": [damage_json(one) for one in loss.causes], "causeCount": loss.cause_count,
    }  # fmt: skip


def damage_json(one: DamagedRange) -> dict[str, Any]:
    return {
        "class": one.cls, "position": one.at, "end": one.end, "number": one.number, "at": one.where,
        "path": one.path, "text": one.text,
    }  # fmt: skip


def json_cells(columns: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    """Return cells under their names; bytes are hex digits, with their text beside them if they are text."""
    tree: dict[str, Any] = {}
    for name, value in zip(columns, cells, strict=False):
        tree[name] = json_value(value)
        if isinstance(value, bytes) and (text := as_text(value)) is not None:
            tree[f"{name}Text"] = text
    return tree


def json_value(value: Any) -> Any:  # noqa: ANN401 - a cell or the value of a field
    """Return a value as JSON; bytes are hex digits."""
    match value:
        case bytes() | bytearray():
            return value.hex()
        case tuple() | list():
            return [json_value(one) for one in value]
    return value


def as_json(tree: Mapping[str, Any]) -> str:
    return json.dumps(tree, separators=(",", ":"), default=str)
