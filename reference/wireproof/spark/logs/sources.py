"""The sources for Spark, and their options: one place for the names, types and defaults."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, partial
from typing import Any, Final, get_args

import pyarrow as pa
from attrs import evolve, field, frozen

from wireproof.family import Family, object_at
from wireproof.formats import FAMILIES, Format
from wireproof.schema.layout import (
    Checksum,
    Count,
    Number,
    Octets,
    Part,
    attribute_of,
    bits_of,
    is_signed,
    present,
)
from wireproof.spark.errors import SourceError
from wireproof.spark.logs.columns import RAW, SHARED, RowData, SourceColumn, SourceTable
from wireproof.spark.logs.objects import ListingFilter
from wireproof.spark.logs.split_points import StreamFraming, framing_of_records
from wireproof.suggestions import suggestion
from wireproof.wire.json_values import canonical_json, to_json
from wireproof.wire.options import CODEC_OPTIONS, Compression, Options, ResyncMode

PREFIX: Final = "wireproof."
"""The beginning of the names in Spark."""


@frozen
class SourceKind:
    """A source.

    Attributes:
        name: its name in Spark.
        framings: by revision; the last one is the default.
        frames, records: its two tables.
        suffixes: the endings of the names of such logs; empty if any name may be one.
        revision_of: returns the revision of an object that begins with these bytes; None if they do not prove
            that it is such a log.
        index_files: whether index files may be beside the logs.
        stream_max_message: the `max_message` of a stream if none is given; None is the limit of the format.
        facts: the columns of a scan's rows that the header of an entry gives, from `verdict_rows.FACTS`.
        timestamp_scale: what a `timestamp_number` is multiplied with, and divided by, to give microseconds.
        partition: finds `topic` and `partition` in the path of an object; None if no path names them.
    """

    name: str
    framings: Mapping[str, StreamFraming]
    frames: SourceTable
    records: SourceTable
    suffixes: tuple[str, ...] = ()
    revision_of: Callable[[bytes], str | None] = lambda _: None
    index_files: bool = False
    stream_max_message: int | None = None
    facts: Mapping[str, SourceColumn] = field(factory=dict)
    timestamp_scale: tuple[int, int] = (1, 1)
    partition: str | None = None

    @property
    def short_name(self) -> str:
        """Return the name of the source in `wireproof scan`."""
        return self.name.removeprefix(PREFIX)


def source_names() -> list[str]:
    """Return the names of the sources of all families, as `wireproof scan` has them."""
    return [name for family in FAMILIES.values() for name in family.source_names]


@cache
def source_kind(source: str) -> SourceKind:
    """Return the source with a name, whose family alone is loaded."""
    name = source.removeprefix(PREFIX)
    family = next(family for family in FAMILIES.values() if name in family.source_names)
    return next(kind for kind in sources_of(family) if kind.short_name == name)


def full_name(source: str | None) -> str:
    """Return the name in Spark of a source, by default of the first one; raises `SourceError` if unknown."""
    known = source_names()
    name = known[0] if source is None else source.removeprefix(PREFIX)
    if name not in known:
        raise SourceError(f"source {source!r} is not one of {', '.join(known)}")
    return f"{PREFIX}{name}"


def sources_of(family: Family) -> list[SourceKind]:
    """Return the sources of a family; each stream of records is one if it names none."""
    if family.sources:
        return [object_at(place) for place in family.sources.values()]
    streams: dict[str, list[Format]] = {}
    for fmt in family.formats:
        if fmt.records is not None:
            streams.setdefault(f"{PREFIX}{fmt.name.replace('.', '_')}", []).append(fmt)
    return [_source_of_records(name, rows) for name, rows in streams.items()]


# --- streams of records ---


def _source_of_records(name: str, rows: Sequence[Format]) -> SourceKind:
    """Return the source of a stream in some revisions: a column for each field that a record ever has."""
    columns: dict[str, SourceColumn] = {}
    for fmt in rows:
        assert fmt.records is not None, "these rows are streams of records"
        record = fmt.records.record
        for part in map(present, record.parts):
            if attribute_of(part.name) in record.attributes:
                columns.setdefault(part.name, _column_of(part))
    framings = {fmt.revision: framing_of_records(fmt) for fmt in rows}
    shown = (*SHARED, *columns.values())
    return SourceKind(name, framings, SourceTable((*shown, RAW)), SourceTable(shown))


def _column_of(part: Part) -> SourceColumn:
    """Return the column of a field, with another name if all tables have one of its own.

    Unsigned numbers of 64 bits are decimals, which Spark can hold; lists, structures and larger numbers are
    JSON text.
    """
    kind = pa.string()
    convert: Callable[[Any], Any] = _json_text
    match part:
        case Number(truth=truth) if truth:
            kind, convert = pa.bool_(), bool
        case Number(codes=codes) if codes:
            convert = str
        case Number(kind=of) | Checksum(kind=of) | Count(kind=of) if bits_of(of) < 64 + is_signed(of):
            kind, convert = pa.int64(), int
        case Number(kind=of) | Checksum(kind=of) | Count(kind=of) if bits_of(of) == 64:
            kind, convert = pa.decimal128(20, 0), Decimal
        case Octets() if type(part) is Octets:
            kind, convert = pa.binary(), bytes
    taken = {column.name for column in (*SHARED, RAW)}
    name = f"record_{part.name}" if part.name in taken else part.name
    return SourceColumn(name, kind, partial(_converted, convert, attribute_of(part.name)))


def _converted(convert: Callable[[Any], Any], attribute: str, row: RowData) -> Any:  # noqa: ANN401 - a cell
    """Return what a column has for an attribute of a record; None where there is none."""
    value = getattr(row.item.value, attribute, None)
    return None if value is None else convert(value)


def _json_text(value: Any) -> str:  # noqa: ANN401 - a value of any class
    return canonical_json(to_json(value)).decode()


# --- options ---

CORES: Final = os.cpu_count() or 1
TASKS_PER_CORE: Final = 3
MAX_PARTITION_BYTES: Final = 128 * 1024 * 1024
"""Bytes of a task: the default of `spark.sql.files.maxPartitionBytes`."""


@frozen
class SourceSettings:
    """The parsed options of a source.

    Attributes:
        kind, framing, table: the source, the rules of its revision, and the table.
        paths: as given.
        raw: whether the column `raw` is in the schema if none is given.
        chosen: which of the named objects are read.
        ignore_missing: whether objects that are gone since they were listed are no error.
        max_partition_bytes: about the greatest number of bytes of a task.
        tasks: about how many tasks to make of a batch that has fewer bytes than that for each.
        max_unpacked: the greatest number of decompressed bytes of one compressed object.
        positions: the first position of the entries to read and the one after the last; None reads all.
        max_bytes, max_files: the limits of one micro-batch of a stream; None is no limit.
        options: of the codec.
        assumed_max_message: the `max_message` that `for_stream` chose; None if it was given or not needed.
    """

    kind: SourceKind
    framing: StreamFraming
    table: SourceTable
    paths: tuple[str, ...]
    raw: bool
    chosen: ListingFilter
    ignore_missing: bool
    max_partition_bytes: int
    tasks: int
    max_unpacked: int
    positions: tuple[int, int] | None
    max_bytes: int | None
    max_files: int | None
    options: Options
    assumed_max_message: int | None = None


def _number(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise SourceError(f"option {name}: {text!r} is not a positive number")
    return int(text)


def _positions(name: str, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+):(\d+)", text, re.ASCII)
    if found is None or int(found[1]) >= int(found[2]):
        raise SourceError(f"option {name}: {text!r} is not FIRST:END, such as 0:1000000")
    return int(found[1]), int(found[2])


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise SourceError(f"option {name}: {text!r} is not true or false")
    return text.lower() == "true"


def _keys(name: str, text: str) -> dict[str, bytes]:
    try:
        return {signer: bytes.fromhex(key) for signer, key in json.loads(text).items()}
    except (AttributeError, TypeError, ValueError):
        raise SourceError(f'option {name}: expected {{"signer_1": "<hex>"}}') from None


def _paths(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text)))
    except (TypeError, ValueError):
        raise SourceError(f"option {name}: not a JSON list of paths") from None


def _bytes(name: str, text: str) -> int:
    """Return a number of bytes as Spark writes it: `134217728`, `134217728b` or `128m`."""
    found = re.fullmatch(r"(\d+)(?:([kmg]?)b?)", text.lower(), re.ASCII)
    return _number(name, found[1]) << 10 * " kmg".index(found[2] or " ") if found else _number(name, text)


def _time(name: str, text: str) -> int:
    """Return a time in nanoseconds from text such as `2026-01-31T12:00:00`, in UTC unless it has a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SourceError(f"option {name}: {text!r} is not a time such as 2026-01-31T12:00:00") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1_000_000) * 1000


def _one_of(*words: str) -> Callable[[str, str], str]:
    def parse(name: str, text: str) -> str:
        if text not in words:
            raise SourceError(f"option {name}: {text!r} is not one of {', '.join(words)}")
        return text

    return parse


_OPTIONS: Final[dict[str, Callable[[str, str], Any]]] = {
    "path": lambda _, text: (text,),
    "paths": _paths,
    "rows": _one_of("frames", "records"),
    "raw": _boolean,
    "revision": lambda _, text: text,
    "pathglobfilter": lambda _, text: text,
    "recursivefilelookup": _boolean,
    "ignoremissingfiles": _boolean,
    "modifiedafter": _time,
    "modifiedbefore": _time,
    "maxpartitionbytes": _bytes,
    "tasks": _number,
    "max_unpacked": _number,
    "max_output": _number,
    "max_message": _number,
    "positions": _positions,
    "resync": _one_of(*get_args(ResyncMode)),
    "compression": _one_of(*get_args(Compression)),
    "keys": _keys,
    "maxbytespertrigger": _number,
    "maxfilespertrigger": _number,
}
"""The parsers by option name, in lower case, as Spark passes them."""


def parse(name: str, given: Mapping[str, str]) -> SourceSettings:
    """Parse the options of the source `name`; raises `SourceError` for an unknown option or a wrong value."""
    kind, parsed = source_kind(name), {}
    for option, text in given.items():
        lower = option.lower()
        if lower not in _OPTIONS:
            known = f"the options are {', '.join(_OPTIONS)}"
            raise SourceError(f"unknown option {option}; {suggestion(lower, _OPTIONS, known)}")
        parsed[lower] = _OPTIONS[lower](option, text)
    records = parsed.get("rows") == "records"
    if records and parsed.get("raw"):
        raise SourceError("option raw: only rows=frames has the bytes of the entries; remove rows=records")
    if "maxbytespertrigger" in parsed and "maxfilespertrigger" in parsed:
        raise SourceError("options maxBytesPerTrigger and maxFilesPerTrigger: give only one of them")
    revision = parsed.get("revision", list(kind.framings)[-1])
    if revision not in kind.framings:
        raise SourceError(f"option revision: {revision!r} is not one of {', '.join(kind.framings)}")
    return SourceSettings(
        kind=kind,
        framing=kind.framings[revision],
        table=kind.records if records else kind.frames,
        paths=(*parsed.get("path", ()), *parsed.get("paths", ())),
        raw=parsed.get("raw", False),
        chosen=ListingFilter(
            parsed.get("pathglobfilter"),
            parsed.get("recursivefilelookup", True),
            parsed.get("modifiedafter"),
            parsed.get("modifiedbefore"),
        ),
        ignore_missing=parsed.get("ignoremissingfiles", False),
        max_partition_bytes=parsed.get("maxpartitionbytes", MAX_PARTITION_BYTES),
        tasks=parsed.get("tasks", TASKS_PER_CORE * CORES),
        max_unpacked=parsed.get("max_unpacked", 16 * 1024 * 1024 * 1024),
        positions=parsed.get("positions"),
        max_bytes=parsed.get("maxbytespertrigger"),
        max_files=parsed.get("maxfilespertrigger"),
        options=Options(**{name: parsed[name] for name in CODEC_OPTIONS & parsed.keys()}),
    )


def of_whole_objects(source: SourceSettings) -> SourceSettings:
    """Return the settings of a scan or a stream; raises `SourceError` if they are for parts of objects."""
    if source.positions:
        raise SourceError("option positions: scans and streams read whole objects; leave it out")
    return source


def for_stream(source: SourceSettings) -> SourceSettings:
    """Return the settings for a stream, where a large limit makes it wait long after a damaged size.

    Raises:
        SourceError: the settings are for parts of objects.
    """
    of_whole_objects(source)
    most = source.kind.stream_max_message
    if most is None or source.options.max_message is not None:
        return source
    return evolve(source, options=evolve(source.options, max_message=most), assumed_max_message=most)
