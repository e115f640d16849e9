"""The table of formats: the codec, value class and capabilities of each format and revision.

The layers above use this table and never a codec directly (architecture.md#layers).
"""

import fnmatch
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from attrs import frozen

from wireproof.heka import message as heka_message
from wireproof.heka import scan as heka_scan
from wireproof.heka import stream as heka_stream
from wireproof.iggy import (
    frame,
    headers,
    identifier,
    json_poll,
    json_send,
    partitioning,
    poll,
    poll_request,
    reply,
    send,
)
from wireproof.iggy import log as iggy_log
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.partitioning import Partitioning
from wireproof.kafka import entry as kafka_entry
from wireproof.kafka import layouts as kafka_layouts
from wireproof.kafka import log as kafka_log
from wireproof.kafka import scan as kafka_scan
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.suggestions import bracket_error, suggestion
from wireproof.wire.json_values import Json, from_json, to_json
from wireproof.wire.layout import Layout
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Budget, Reader, TracingReader
from wireproof.wire.rejection import Rejected, Remark
from wireproof.wire.scan_items import Item
from wireproof.wire.trace import FieldSpan
from wireproof.wire.writer import Writer

PROVISIONAL_SUFFIX: Final = "-edge"
"""The end of the names of provisional revisions."""


@frozen(cache_hash=True)  # formats are the keys of many caches
class Format:
    """A format in one revision.

    Attributes:
        name, revision: such as `kafka.batch` and `v2`.
        value: the frozen attrs class of its values.
        decode: decodes one value with a reader at position 0; the reader is then after the consumed bytes.
        encode: encodes a value with a writer.
        scan: yields the items of a stream given in chunks; None for a format that is not a stream.
        wrapped_by: name and revision of the stream format that contains values of this one, and the name of
            the list of values there; None if there is no such format.
        delimited: True if the bytes show their own length: then a prefix is rejected, and bytes after the
            value are not consumed.
        capabilities: the capabilities that its cases may need.
        layout: the layout of its bytes; None if it is not declared yet.
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
    layout: Layout | None = None

    @property
    def provisional(self) -> bool:
        """Return whether the revision is one of a pre-release, whose format may still change."""
        return self.revision.endswith(PROVISIONAL_SUFFIX)

    @property
    def format_id(self) -> str:
        """Return the id of the format, such as `kafka.batch/v2`."""
        return f"{self.name}/{self.revision}"


@frozen
class Decoded:
    """The result of a decode: the value, the number of bytes consumed, and the remarks."""

    value: Any
    consumed: int
    remarks: tuple[Remark, ...]


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


_CODECS: Final = ("codec:none", "codec:gzip", "codec:snappy", "codec:lz4")

_MESSAGE: Final = (*_CODECS, "feature:wrapper")

_V1: Final = (*_MESSAGE, "feature:log-append-time")

_V2: Final = (
    *_CODECS,
    "codec:zstd",
    "feature:control-batch",
    "feature:delete-horizon",
    "feature:empty-batch",
    "feature:headers",
    "feature:idempotent",
    "feature:log-append-time",
    "feature:transactional",
)

_LOG: Final = (
    *_V2,
    "feature:fetch-offset",
    "feature:max-message",
    "feature:segment-file",
    "feature:mixed-magic",
    "feature:partial-tail",
    "feature:read-committed",
    "feature:wrapper",
)


def _kafka_batch(
    revision: str, magic: int, value: type, capabilities: tuple[str, ...], layout: Layout | None = None
) -> Format:
    return Format(
        "kafka.batch",
        revision,
        value,
        decode=partial(kafka_entry.decode, magic=magic),
        encode=partial(kafka_entry.encode, magic=magic),
        wrapped_by=("kafka.log", "mixed", "batches"),
        delimited=True,
        capabilities=capabilities,
        layout=layout,
    )


_KAFKA: Final[tuple[Format, ...]] = (
    _kafka_batch("v0", 0, Message, _MESSAGE),
    _kafka_batch("v1", 1, Message, _V1),
    _kafka_batch("v2", 2, RecordBatch, _V2, kafka_layouts.BATCH),
    Format(
        "kafka.log", "mixed", Log, kafka_log.decode, kafka_log.encode, scan=kafka_scan.scan, capabilities=_LOG
    ),
)

_SEND: Final = (
    "feature:headers",
    "feature:message-id",
    "feature:partitioning-balanced",
    "feature:partitioning-messages-key",
)


def _revisions(name: str, codec: Any, **more: Any) -> Iterator[Format]:  # noqa: ANN401 - a module; fields
    """Yield the formats of a codec module that has a table of its revisions."""
    for revision, row in codec.REVISIONS.items():
        yield Format(
            name,
            revision,
            row.value,
            partial(codec.decode, row),
            partial(codec.encode, row),
            layout=getattr(row, "layout", None),
            **more,
        )


_IGGY: Final[tuple[Format, ...]] = (
    *_revisions("iggy.poll-request", poll_request, delimited=True),
    *_revisions("iggy.frame", frame, delimited=True),
    *(
        Format(
            "iggy.reply",
            revision,
            row.value,
            partial(reply.decode, row),
            partial(reply.encode, row),
            delimited=row.delimited,
            layout=row.layout,
        )
        for revision, row in reply.REVISIONS.items()
    ),
    *(
        Format(
            "iggy.identifier",
            revision,
            Identifier,
            partial(identifier.decode, row),
            partial(identifier.encode, row),
            delimited=True,
            layout=identifier.LAYOUT,
        )
        for revision, row in identifier.REVISIONS.items()
    ),
    *(
        Format(
            "iggy.partitioning",
            revision,
            Partitioning,
            partial(partitioning.decode, row),
            partial(partitioning.encode, row),
            delimited=True,
            layout=partitioning.LAYOUT,
        )
        for revision, row in partitioning.REVISIONS.items()
    ),
    *_revisions("iggy.headers", headers),
    *_revisions("iggy.send", send, capabilities=_SEND),
    *_revisions("iggy.json.send", json_send, capabilities=_SEND),
    *_revisions("iggy.poll", poll),
    *_revisions("iggy.json.poll", json_poll),
    *(
        Format(
            "iggy.log",
            revision,
            row.value,
            partial(iggy_log.decode, row),
            partial(iggy_log.encode, row),
            partial(iggy_log.scan, row),
            layout=row.layout,
        )
        for revision, row in iggy_log.REVISIONS.items()
    ),
)

_HEKA: Final[tuple[Format, ...]] = (
    Format(
        "heka.message",
        "0.10",
        heka_message.HekaMessage,
        heka_message.decode,
        heka_message.encode,
        capabilities=("codec:snappy",),
    ),
    Format(
        "heka.stream",
        "0.10",
        heka_stream.FrameStream,
        heka_stream.decode,
        heka_stream.encode,
        heka_scan.scan,
        capabilities=(
            "codec:snappy",
            "feature:hmac",
            "feature:resync-c",
            "feature:resync-go",
            "feature:given-header",
        ),
    ),
)

FORMATS: Final[dict[str, Format]] = {fmt.format_id: fmt for fmt in (*_KAFKA, *_IGGY, *_HEKA)}
"""Every format in every revision, by its id."""


def get(name: str, revision: str) -> Format:
    """Return the format with this name and revision.

    Raises:
        UnknownFormat: there is none.
    """
    format_id = f"{name}/{revision}"
    if format_id in FORMATS:
        return FORMATS[format_id]
    revisions = [fmt.format_id for fmt in FORMATS.values() if fmt.name == name]
    raise UnknownFormat(f"unknown format {format_id}: {suggestion(format_id, revisions or FORMATS)}")


def matching_ids(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of all formats that match at least one pattern.

    Raises:
        UnknownFormat: a pattern matches no format, or has brackets.
    """
    chosen: dict[str, None] = {}
    for pattern in patterns:
        if error := bracket_error(pattern):
            raise UnknownFormat(error)
        matches = fnmatch.filter(FORMATS, pattern if "/" in pattern else f"{pattern}/*")
        if not matches:
            names = [*dict.fromkeys(fmt.name for fmt in FORMATS.values()), *FORMATS]
            otherwise = f"there are {', '.join(FORMATS)}"
            raise UnknownFormat(f"no format is called {pattern}: {suggestion(pattern, names, otherwise)}")
        chosen |= dict.fromkeys(matches)
    return tuple(chosen)


def decode(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> Decoded:
    """Decode `data`.

    Raises:
        Rejected: the format does not allow these bytes. No other exception is raised.
    """
    return decode_with_reader(fmt, Reader(data, budget=Budget(options.max_output)), options)


def decode_with_reader(fmt: Format, reader: Reader, options: Options) -> Decoded:
    """Decode with a reader of the caller, which has the remarks and the trace even after a rejection.

    Raises:
        Rejected: the format does not allow these bytes. No other exception is raised.
    """
    value = fmt.decode(reader, options)
    return Decoded(value, reader.pos, tuple(reader.remarks))


def decode_with_trace(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> TracedDecode:
    """Decode `data` with a trace; a rejection is part of the result and is not raised."""
    return trace_with_reader(fmt, TracingReader(data, budget=Budget(options.max_output)), options)


def trace_with_reader(fmt: Format, reader: TracingReader, options: Options) -> TracedDecode:
    """Decode with a tracing reader of the caller; a rejection is part of the result and is not raised."""
    try:
        decoded = decode_with_reader(fmt, reader, options)
    except Rejected as rejected:
        return TracedDecode(tuple(reader.spans), None, rejected)
    return TracedDecode(tuple(reader.spans), decoded, None)


def encode(fmt: Format, value: Json, options: Options = DEFAULT_OPTIONS) -> bytes:
    """Encode a value in JSON form.

    Raises:
        Rejected: the format does not allow this value. No other exception is raised.
    """
    writer = Writer()
    fmt.encode(writer, from_json(fmt.value, value), options)
    return bytes(writer.data)


def scan(fmt: Format, chunks: Iterable[bytes], options: Options = DEFAULT_OPTIONS) -> Iterator[Item]:
    """Return an iterator over the items of a stream.

    Raises:
        UnknownFormat: the format is not a stream.
    """
    if fmt.scan is None:
        raise UnknownFormat(f"{fmt.format_id} is not a stream: it has decode and encode, no scan")
    return fmt.scan(chunks, options)


def items_json(items: Iterable[Item], *, with_derived: bool = False) -> Json:
    """Return the JSON form of a scan: `{"items": [{"kind", "at", "length", "value"?, "class"?}]}`."""
    return {"items": [_item_json(item, with_derived=with_derived) for item in items]}


def _item_json(item: Item, *, with_derived: bool) -> Json:
    tree: dict[str, Json] = {"kind": item.kind, "at": item.at, "length": item.length}
    if item.value is not None:
        tree["value"] = to_json(item.value, with_derived=with_derived)
    if item.cls is not None:
        tree["class"] = item.cls
    return tree
