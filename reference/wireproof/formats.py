"""The table of formats: the codec, value class and capabilities of each format and revision.

The layers above use this table and never a codec directly (architecture.md#layers). It has the formats of all
installed families.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Final

from attrs import frozen

from wireproof.family import PROVISIONAL_SUFFIX, Decoded, Family, Format
from wireproof.installed_families import INSTALLED
from wireproof.schema.layout import Repeated, declared_lengths
from wireproof.suggestions import bracket_error, suggestion
from wireproof.wire.json_values import Json, from_json, to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Budget, Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.remark_classes import COMMON_REMARKS, RemarkClass
from wireproof.wire.scan_items import Item
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import Steps
from wireproof.wire.writer import Writer


class FormatTable(MutableMapping[str, Format]):
    """The formats of families by their id, in the order of the families."""

    def __init__(self, families: Mapping[str, Family]) -> None:
        self._families = families
        self._rows: dict[str, dict[str, Format]] = {}
        self._changed: dict[str, Format] = {}

    def __getitem__(self, format_id: str) -> Format:
        if (row := self._changed.get(format_id)) is not None:
            return row
        try:
            return self._of(format_id.partition(".")[0])[format_id]
        except KeyError:
            raise KeyError(format_id) from None

    def __setitem__(self, format_id: str, row: Format) -> None:
        self._changed[format_id] = row

    def __delitem__(self, format_id: str) -> None:
        del self._changed[format_id]

    def __iter__(self) -> Iterator[str]:
        """Yield the ids; a family is loaded when its turn comes."""
        for name in self._families:
            yield from self._of(name)
        yield from [added for added in self._changed if added not in self._of(added.partition(".")[0])]

    def by_family(self) -> Iterator[list[Format]]:
        """Yield the formats of each family; a family is loaded when its turn comes."""
        for name in self._families:
            yield self.of_family(name)
        others = dict.fromkeys(added.partition(".")[0] for added in self._changed)
        yield from [self.of_family(name) for name in others if name not in self._families]

    def of_family(self, name: str) -> list[Format]:
        """Return the formats of a family, in order; no other family is loaded."""
        added = [format_id for format_id in self._changed if format_id.partition(".")[0] == name]
        return [self[format_id] for format_id in dict.fromkeys([*self._of(name), *added])]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def own(self, format_id: str) -> Format | None:
        """Return a format as its family has it, whatever was added or replaced; None if there is none."""
        return self._of(format_id.partition(".")[0]).get(format_id)

    def _of(self, family: str) -> dict[str, Format]:
        """Return the formats of a family; none for an unknown one."""
        if family not in self._rows:
            if family not in self._families:
                return {}
            self._rows[family] = {row.format_id: row for row in self._families[family].formats}
        return self._rows[family]


__all__ = [
    "FAMILIES",
    "FORMATS",
    "PROVISIONAL_SUFFIX",
    "Decoded",
    "Format",
    "TracedDecode",
    "UnknownFormat",
    "decode",
    "decode_with_reader",
    "decode_with_trace",
    "encode",
    "family_of",
    "get",
    "item_json",
    "items_json",
    "matching_ids",
    "remark_classes",
    "scan",
    "steps_of",
    "trace_with_reader",
]


@frozen
class TracedDecode:
    """The trace of a decode, and its result: `decoded`, or `rejected` if the codec rejected the bytes."""

    spans: tuple[FieldSpan, ...]
    decoded: Decoded | None
    rejected: Rejected | None

    @property
    def value(self) -> Any:  # noqa: ANN401 - a value of any format
        """Return the decoded value; of rejected bytes the part before the rejection, or None."""
        if self.decoded is not None:
            return self.decoded.value
        return self.rejected.before if self.rejected is not None else None


class UnknownFormat(LookupError):  # noqa: N818 - it names what is unknown
    """There is no such format or revision; the message lists the nearest ones."""


FAMILIES: Final = INSTALLED
"""Every family, by its name; it is loaded when it is asked for."""

FORMATS: Final = FormatTable(FAMILIES)
"""Every format in every revision, by its id."""


def remark_classes() -> dict[str, RemarkClass]:
    """Return the classes of remarks by name: the common ones, then those of each family."""
    return {
        **COMMON_REMARKS,
        **{name: remark for family in FAMILIES.values() for name, remark in family.remarks.items()},
    }


def family_of(fmt: Format) -> Family:
    return FAMILIES.get(fmt.family) or Family(fmt.family, (fmt,))


def steps_of(fmt: Format) -> Steps:
    """Return the steps of a stream: from its codec, its description, and what its family knows of it."""
    parts = fmt.layout.parts if fmt.layout is not None else ()
    steps = Steps(
        scan=lambda chunks, options: scan(fmt, chunks, options),
        decode=lambda data, options: decode(fmt, data, options),
        path=next((part.name for part in parts if isinstance(part, Repeated)), "entries"),
    )
    if fmt.records is not None:
        steps = fmt.records.steps(steps)
    known = family_of(fmt).streams.get(fmt.name)
    return steps if known is None else known(fmt, steps)


def own_format(format_id: str) -> Format | None:
    return FORMATS.own(format_id)


def get(name: str, revision: str) -> Format:
    """Return the format with this name and revision; raises `UnknownFormat`."""
    format_id = f"{name}/{revision}"
    if format_id in FORMATS:
        return FORMATS[format_id]
    revisions = [fmt.format_id for fmt in FORMATS.values() if fmt.name == name]
    raise UnknownFormat(
        f"unknown format {format_id}: {suggestion(format_id, revisions or FORMATS)}{_faults()}"
    )


def _faults() -> str:
    """Return what cannot be used, as the end of a message: the format may be one of these."""
    return "".join(f"; {fault}" for fault in INSTALLED.faults)


def matching_ids(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of all formats that match at least one pattern; raises `UnknownFormat`."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        if error := bracket_error(pattern):
            raise UnknownFormat(error)
        matches = fnmatch.filter(FORMATS, pattern if "/" in pattern else f"{pattern}/*")
        if not matches:
            names = [*dict.fromkeys(fmt.name for fmt in FORMATS.values()), *FORMATS]
            near = suggestion(pattern, names, "list them with `wireproof show`")
            raise UnknownFormat(f"no format is called {pattern}: {near}{_faults()}")
        chosen |= dict.fromkeys(matches)
    return tuple(chosen)


def decode(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> Decoded:
    """Decode `data`; raises `Rejected` for bytes that the format does not allow, and nothing else."""
    return decode_with_reader(fmt, Reader(data, budget=Budget(options.max_output)), options)


def decode_with_reader(fmt: Format, reader: Reader, options: Options) -> Decoded:
    """Decode as `decode` with a reader of the caller, which has remarks and trace even after a rejection."""
    value = fmt.decode(reader, options)
    return Decoded(value, reader.pos, tuple(reader.remarks))


def decode_with_trace(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> TracedDecode:
    """Decode `data` with a trace; a rejection is part of the result and is not raised."""
    return trace_with_reader(fmt, TracingReader(data, budget=Budget(options.max_output)), options)


def trace_with_reader(fmt: Format, reader: TracingReader, options: Options) -> TracedDecode:
    """Decode with a tracing reader of the caller; a rejection is part of the result and is not raised."""
    reader.lengths = declared_lengths(fmt.layout)
    try:
        decoded = decode_with_reader(fmt, reader, options)
    except Rejected as rejected:
        return TracedDecode(tuple(reader.spans), None, rejected)
    return TracedDecode(tuple(reader.spans), decoded, None)


def encode(fmt: Format, value: Json, options: Options = DEFAULT_OPTIONS) -> bytes:
    """Encode a value in JSON form; raises `Rejected` for one that is not allowed, and nothing else."""
    writer = Writer()
    fmt.encode(writer, from_json(fmt.value, value), options)
    return bytes(writer.data)


def scan(fmt: Format, chunks: Iterable[bytes], options: Options = DEFAULT_OPTIONS) -> Iterator[Item]:
    """Return an iterator over the items of a stream; raises `UnknownFormat` for a format that is none."""
    if fmt.scan is None:
        raise UnknownFormat(f"{fmt.format_id} is not a stream: it has decode and encode, no scan")
    return fmt.scan(chunks, options)


def items_json(items: Iterable[Item], *, with_derived: bool = False) -> Json:
    """Return the JSON form of a scan: `{"items": [{"kind", "at", "length", "value"?, "class"?}]}`."""
    return {"items": [item_json(item, with_derived=with_derived) for item in items]}


def item_json(item: Item, *, with_derived: bool) -> Json:
    tree: dict[str, Json] = {"kind": item.kind, "at": item.at, "length": item.length}
    if item.value is not None:
        tree["value"] = to_json(item.value, with_derived=with_derived)
    if item.cls is not None:
        tree["class"] = item.cls
    return tree
