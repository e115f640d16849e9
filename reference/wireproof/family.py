"""A family of formats: its formats, and all that the suite must know about them, in one object.

A package provides its families through the entry-point group `wireproof.formats`; `installed_families` finds
them. The layers above read the object and never name a family (architecture.md#families).

The module of an entry point imports only this module and `wireproof.wire`: the formats are not complete while
it is loaded. It names tables and functions of other modules by their place, `module:name`; these modules may
import everything.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, SupportsIndex

from attrs import field, frozen

from wireproof.schema.layout import Layout
from wireproof.schema.stream import RecordStream
from wireproof.schema.struct import Struct, layout_of
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Remark
from wireproof.wire.remark_classes import RemarkClass
from wireproof.wire.scan_items import Item
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import Steps
from wireproof.wire.writer import Writer

PROVISIONAL_SUFFIX: Final = "-edge"
"""The end of the names of provisional revisions."""


@frozen(cache_hash=True)  # formats are the keys of many caches
class Format:
    """A format in one revision.

    Attributes:
        name, revision: such as `kafka.batch` and `v2`; the name begins with that of the family and a dot.
        value: the frozen attrs class of its values.
        decode: decodes one value with a reader at position 0; the reader is then after the consumed bytes.
        encode: encodes a value with a writer.
        scan: yields the items of a stream given in chunks; None for a format that is not a stream.
        wrapped_by: name and revision of the stream format that contains values of this one, and the name of
            the list of values there; None if there is no such format.
        delimited: True if the bytes show their own length: then a prefix is rejected, and bytes after the
            value are not consumed.
        capabilities: the capabilities that its cases may need.
        is_json: True if the bytes are a JSON text.
        layout: the layout of its bytes; None if it is not declared yet.
        records: the records that it is a stream of; None if its functions are no `RecordStream`'s.
    """

    name: str
    revision: str
    value: type
    decode: Callable[[Reader, Options], Any]
    encode: Callable[[Writer, Any, Options], None]
    scan: Callable[[Iterable[bytes], Options], Iterator[Item]] | None = None
    wrapped_by: tuple[str, str, str] | None = None
    delimited: bool = False
    capabilities: tuple[str, ...] = ()
    is_json: bool = False
    layout: Layout | None = None
    records: RecordStream | None = None

    @property
    def provisional(self) -> bool:
        return self.revision.endswith(PROVISIONAL_SUFFIX)

    @property
    def format_id(self) -> str:
        return f"{self.name}/{self.revision}"

    @property
    def stream_id(self) -> str:
        """Return the id of the stream format that contains values of this one; empty if there is none."""
        return "/".join(self.wrapped_by[:2]) if self.wrapped_by else ""

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:  # noqa: ANN401 - as `pickle` wants it
        """Return how another process gets it: by its id, because compiled functions cannot be sent.

        A format that was changed is no format of its family, and is sent as it is.
        """
        own = object_at("wireproof.formats:own_format")
        if own(self.format_id) is self:
            return own, (self.format_id,)
        return super().__reduce_ex__(protocol)


def formats_of_codec(
    name: str,
    codec: Any,  # noqa: ANN401 - a module
    rows: Mapping[str, Any] | None = None,
    **more: Any,  # noqa: ANN401 - fields
) -> Iterator[Format]:
    """Yield the formats of a codec module whose functions take a row of its table `REVISIONS` first.

    `rows` is another table of the module. A row may have the layout of its revision.
    """
    for revision, row in (codec.REVISIONS if rows is None else rows).items():
        yield Format(
            name,
            revision,
            row.value,
            partial(codec.decode, row),
            partial(codec.encode, row),
            **{"layout": getattr(row, "layout", None), **more},
        )


def formats_of_struct(name: str, struct: Struct, revisions: Iterable[str], **more: Any) -> Iterator[Format]:  # noqa: ANN401 - fields
    """Yield the formats that are one structure, in the revisions that began a new layout of it."""
    for revision in revisions:
        layout = layout_of(struct, revision)
        yield Format(name, revision, layout.type, layout.decode, layout.encode, layout=layout, **more)


def format_of_stream(name: str, revision: str, stream: RecordStream, **more: Any) -> Format:  # noqa: ANN401 - fields
    """Return the format of a stream of records, such as a log."""
    functions = stream.decode, stream.encode, stream.scan
    return Format(name, revision, stream.value, *functions, layout=stream.layout, records=stream, **more)


def object_at(place: str) -> Any:  # noqa: ANN401 - any object may be there
    """Return the object at a place, `module:name`; this imports the module."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def deferred(place: str) -> Callable[..., Any]:
    """Return a function that calls the one at `place`, `module:name`, and imports it at the first call."""
    found = cache(partial(object_at, place))

    def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - those of the function
        return found()(*arguments, **named)

    return call


@frozen
class Decoded:
    """The result of a decode: the value, the number of bytes consumed, and the remarks."""

    value: Any
    consumed: int
    remarks: tuple[Remark, ...]


@frozen
class FastDecoder:
    """How a format is decoded by compiled kernels, which need the extra `columnar`.

    Attributes:
        decode: returns the value at the beginning of bytes, or None if the reference must decode them.
        scan: returns the items of a stream, and how many of them come from the reference.
        warm: inputs that compile every kernel: a first compilation takes longer than the time of a case.
    """

    decode: Callable[[bytes, Options], Decoded | None] | None = None
    scan: Callable[[bytes, Options], tuple[list[Item], int]] | None = None
    warm: tuple[bytes, ...] = ()


class EntryTotals(Protocol):
    """Counts the entries of a stream, for the summary of a listing.

    `add` takes the cells of the next entries; the counts are JSON by their names, and lines for a person.
    """

    def add(self, rows: Sequence[tuple[Any, ...]], /) -> None: ...

    def json(self) -> dict[str, Json]: ...

    def lines(self) -> Iterable[str]: ...


@frozen
class EntryListing:
    """How the entries of a stream are listed, a row for each, and the records in them.

    Attributes:
        unit, units: the word for an entry, in the singular and in the plural.
        columns: the names of the cells of a row, as in JSON.
        cells: returns the cells of a whole entry, from its item and its first bytes.
        head_bytes: how many bytes `cells` needs.
        heading: the heading of the cells as text.
        line: returns the cells as text.
        offsets: returns the first and the last offset of a row; without it entries have no offsets.
        record_columns: the names of the cells of a record.
        records: yields the cells of each record of an item.
        record_line: returns these cells as text. Bytes in them are shown as text where they are text.
        totals: returns a new count.
        meaning: the place of a function that returns what a record means, in JSON form, from the name of the
            folder of its log and its cells, or None; empty if there is none.
        allocated: whether a file of it may end in zeros, which are allocated and not written yet.
        fast: the place of a `wire.walk.QuickReader` that decodes; empty if there is none.
        headers: the place of one that checks headers and checksums, and reads no records; empty if there is
            none.
        head_offsets: returns the first and the last offset of the entry that begins with these bytes, each
            None if its header does not have it; None for bytes that begin no entry.
        indexed: the place of a function that returns the last offset and the position of an entry that an
            index file beside a log has, not after an offset or a position; empty if there is none.
        also_read: options with which a rejected entry is read again, and the words for what it then is. The
            `size` of the steps shows where such an entry ends.
        compare_modes: the place of a function that compares how readers divide the stream; empty if there is
            none. It gets the pieces of the bytes, the names of the readers, the options and the number of
            differences to show; it yields lines, and returns whether every reader accounts for all bytes.
        notes: returns what fields mean that are stored in a short form, by the path of the field: bits,
            timestamps, deltas. It gets the fields of one entry.
        row_records: returns the number of records of a row; None if they were not read.
        head_records: returns the number of records in the entry that begins with these bytes, by its header;
            None if its header does not have it.
        times: returns the first and the last time of a row; None if it has none.
        ticks: the units of these times in a second.
        is_joinable: whether whole entries one after another are a log that its system reads.
    """

    unit: str
    units: str
    columns: tuple[str, ...]
    cells: Callable[[Item, bytes], tuple[Any, ...]]
    heading: str
    line: Callable[[tuple[Any, ...]], str]
    record_columns: tuple[str, ...]
    records: Callable[[Item], Iterator[tuple[Any, ...]]]
    record_line: Callable[[tuple[Any, ...]], str]
    totals: Callable[[], EntryTotals]
    head_bytes: int = 0
    offsets: Callable[[tuple[Any, ...]], tuple[int, int] | None] | None = None
    fast: str = ""
    headers: str = ""
    head_offsets: Callable[[Format, bytes], tuple[int | None, int | None] | None] | None = None
    indexed: str = ""
    meaning: str = ""
    allocated: bool = False
    also_read: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    compare_modes: str = ""
    notes: Callable[[Sequence[FieldSpan]], Mapping[str, str]] = lambda _: {}
    row_records: Callable[[tuple[Any, ...]], int | None] = lambda _: 1
    head_records: Callable[[bytes], int | None] = lambda _: None
    times: Callable[[tuple[Any, ...]], tuple[int, int] | None] = lambda _: None
    ticks: int = 1000
    is_joinable: bool = False


@frozen
class Redaction:
    """Bytes of a format that are structure and no payload, and what replaces the others.

    Attributes:
        kept_paths: the ends of the paths of byte fields that are kept: names and identifiers.
        filler: one byte; a payload becomes this byte, repeated.
        kept_head_bytes: the number of bytes at the beginning that are kept even if they are not decoded.
    """

    kept_paths: tuple[str, ...] = ()
    filler: bytes = b"x"
    kept_head_bytes: int = 0


@frozen
class TrialServer:
    """A server on the loopback to try a check on: sound, or with a fault.

    Attributes:
        adapter: the kind of the adapter that checks it, such as `kafka-broker`.
        cases: the pattern of the cases that it is asked.
        faults: what each fault does, by its name.
        running: runs it with a fault, or soundly for `""`, on a port of 127.0.0.1 (0: any free one); it gives
            the address, and stops the server at the end of the block.
    """

    adapter: str
    cases: str
    faults: Mapping[str, str]
    running: Callable[[str, int], AbstractContextManager[str]]


@frozen
class Family:
    """A family of formats: adding-a-format.md#what-a-family-may-have says what each part is for.

    Everything but its name and its formats is optional. A place is `module:name`; an empty one is nothing.

    Attributes:
        name: the beginning of the names of its formats, such as `kafka`.
        formats: in the order in which they are listed.
        remarks: its classes of remarks by name; its package registers them too.
        dictionary: yields the words of the fuzzing dictionary of a format; None for boundary values only.
        marks: by the beginning of a format's name, returns whether bytes begin like it.
        file_names: patterns of the names of files, each with the beginning of the names of their formats.
        streams: by the name of a stream, gets its format and the steps that the format alone shows, and
            returns them with what the family knows of damage and order.
        derived_fields: by the name of a stream, returns the fields that its value has beside the list of its
            entries, from these entries in JSON form.
        listings: by the name of a stream, the place of its `EntryListing`, which its entries have too.
        capabilities, value_capabilities: yield the capabilities that decoded fields need under some options,
            and those that a value in JSON form needs.
        strategies: the place of a table. By a type, or by a class and the name of a field, it has a function
            that gets the format and the strategy that follows from types and layouts, and returns another
            one; by a format id, a function that returns the strategy of the format.
        option_strategies: the place of a table of functions by the name of a format, which get a value and
            return a strategy for options.
        sources: by name, such as `kafka_log`, the place of a `wireproof.spark.logs.sources.SourceKind`. The
            first one of all families is the default of `scan`.
        mutation: the place of its `wireproof.derive.mutate.encodings.MutationRules`.
        generators: the place of a table of `wireproof.cases.made_case.Generator` by format id.
        message_sets: the place of its `wireproof.derive.seeded_examples.MessageSets`.
        step_ops: the place of a table of `wireproof.cases.steps.StepOp` by name.
        step_words: the place of a function that describes the bytes of a step in a few words.
        fast_decoders: the place of a table of `FastDecoder` by format id.
        servers: by kind, such as `kafka-broker`, the place of a function that returns the registry entry of
            `kind:HOST:PORT`.
        trial_servers: by the word of `serve`, the place of a `TrialServer`. An extra of the same name
            installs what it needs.
        client_templates: the place of the templates of its client programs, by language.
        index_files: the place of its `wireproof.segment_files.IndexRules`.
        directories: the place of its `wireproof.data_files.DirectoryRules`.
        fixtures: the folder of its cases and rules, laid out like `fixtures/`; None if wireproof has them.
    """

    name: str
    formats: tuple[Format, ...]
    remarks: Mapping[str, RemarkClass] = field(factory=dict)
    dictionary: Callable[[Format], Iterable[bytes]] | None = None
    marks: Mapping[str, Callable[[bytes], bool]] = field(factory=dict)
    file_names: tuple[tuple[re.Pattern[str], str], ...] = ()
    streams: Mapping[str, Callable[[Format, Steps], Steps]] = field(factory=dict)
    derived_fields: Mapping[str, Callable[[Sequence[Json]], dict[str, Json]]] = field(factory=dict)
    listings: Mapping[str, str] = field(factory=dict)
    capabilities: Callable[[Sequence[FieldSpan], Options], Iterable[str]] = lambda _, __: ()
    value_capabilities: Callable[[Json], Iterable[str]] = lambda _: ()
    strategies: str = ""
    option_strategies: str = ""
    sources: Mapping[str, str] = field(factory=dict)
    mutation: str = ""
    generators: str = ""
    message_sets: str = ""
    step_ops: str = ""
    step_words: str = ""
    redaction: Redaction = Redaction()
    fast_decoders: str = ""
    servers: Mapping[str, str] = field(factory=dict)
    trial_servers: Mapping[str, str] = field(factory=dict)
    client_templates: str = ""
    index_files: str = ""
    directories: str = ""
    fixtures: Path | None = None

    @property
    def source_names(self) -> tuple[str, ...]:
        """Return the names of its sources for Spark; each stream of records is one if it names none."""
        streams = (fmt.name.replace(".", "_") for fmt in self.formats if fmt.records is not None)
        return tuple(self.sources or dict.fromkeys(streams))
