"""The one table of formats: format × revision → codec, value class, limits, capability atoms.

Design, section 2, floor 2. Everything above asks this table and no codec directly.
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
    jsonpoll,
    jsonsend,
    partitioning,
    poll,
    pollrequest,
    reply,
    send,
)
from wireproof.iggy import log as iggy_log
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.partitioning import Partitioning
from wireproof.kafka import entry as kafka_entry
from wireproof.kafka import log as kafka_log
from wireproof.kafka import scan as kafka_scan
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.suggestions import suggestion
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.reader import Budget, Reader, TracingReader
from wireproof.wire.rejected import Rejected, Remark
from wireproof.wire.trace import Span
from wireproof.wire.values import Json, from_json, to_json
from wireproof.wire.writer import Writer


@frozen(cache_hash=True)  # a row is the key of many caches
class Format:
    """A row of the table.

    Attributes:
        name, revision: as the design's section 1 lists them.
        value: the frozen attrs class of its values.
        decode: reads one value from a reader at position 0; its position then tells what was consumed.
        encode: writes a value.
        scan: for streams, the items of a sequence of chunks; None elsewhere.
        lifts_to: the stream format whose decode holds values of this one, with the name of their list.
        delimited: whether a value tells its own length: a prefix is refused, what follows is not its own.
        atoms: the capability atoms that its cases may need.
    """

    name: str
    revision: str
    value: type
    decode: Callable[[Reader, Options], Any]
    encode: Callable[[Writer, Any, Options], None]
    scan: Callable[[Iterable[bytes], Options], Iterator[Item]] | None = None
    lifts_to: tuple[str, str, str] | None = None
    delimited: bool = False
    atoms: tuple[str, ...] = ()

    @property
    def joined(self) -> str:
        """`kafka.batch/v2`."""
        return f"{self.name}/{self.revision}"


@frozen
class Decoded:
    """A value, the bytes it took, and what was remarked on the way."""

    value: Any
    consumed: int
    remarks: tuple[Remark, ...]


@frozen
class Layout:
    """The trace of a decode, which may have ended in a refusal; `decoded` is None then."""

    spans: tuple[Span, ...]
    decoded: Decoded | None
    rejected: Rejected | None


class UnknownFormat(LookupError):  # noqa: N818 - it names what is unknown
    """No such format or revision; the message names the nearest."""


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
    "feature:mixed-magic",
    "feature:partial-tail",
    "feature:read-committed",
    "feature:wrapper",
)


def _kafka_batch(revision: str, magic: int, value: type, atoms: tuple[str, ...]) -> Format:
    return Format(
        "kafka.batch",
        revision,
        value,
        decode=partial(kafka_entry.decode, magic=magic),
        encode=partial(kafka_entry.encode, magic=magic),
        lifts_to=("kafka.log", "mixed", "batches"),
        delimited=True,
        atoms=atoms,
    )


_KAFKA: Final[tuple[Format, ...]] = (
    _kafka_batch("v0", 0, Message, _MESSAGE),
    _kafka_batch("v1", 1, Message, _V1),
    _kafka_batch("v2", 2, RecordBatch, _V2),
    Format("kafka.log", "mixed", Log, kafka_log.decode, kafka_log.encode, scan=kafka_scan.scan, atoms=_LOG),
)

_SEND: Final = (
    "feature:headers",
    "feature:message-id",
    "feature:partitioning-balanced",
    "feature:partitioning-messages-key",
)


def _editions(name: str, codec: Any, **more: Any) -> Iterator[Format]:  # noqa: ANN401 - a module; fields of a row
    """The rows of a codec whose editions are a table."""
    for revision, row in codec.EDITIONS.items():
        yield Format(
            name, revision, row.value, partial(codec.decode, row), partial(codec.encode, row), **more
        )


_IGGY: Final[tuple[Format, ...]] = (
    *_editions("iggy.poll-request", pollrequest, delimited=True),
    *_editions("iggy.frame", frame, delimited=True),
    *(
        Format(
            "iggy.reply",
            revision,
            row.value,
            partial(reply.decode, row),
            partial(reply.encode, row),
            delimited=row.delimited,
        )
        for revision, row in reply.EDITIONS.items()
    ),
    *(
        Format(
            "iggy.identifier",
            revision,
            Identifier,
            partial(identifier.decode, row),
            partial(identifier.encode, row),
            delimited=True,
        )
        for revision, row in identifier.EDITIONS.items()
    ),
    *(
        Format(
            "iggy.partitioning",
            revision,
            Partitioning,
            partial(partitioning.decode, row),
            partial(partitioning.encode, row),
            delimited=True,
        )
        for revision, row in partitioning.EDITIONS.items()
    ),
    *_editions("iggy.headers", headers),
    *_editions("iggy.send", send, atoms=_SEND),
    *_editions("iggy.json.send", jsonsend, atoms=_SEND),
    *_editions("iggy.poll", poll),
    *_editions("iggy.json.poll", jsonpoll),
    *(
        Format(
            "iggy.log",
            revision,
            row.value,
            partial(iggy_log.decode, row),
            partial(iggy_log.encode, row),
            partial(iggy_log.scan, row),
        )
        for revision, row in iggy_log.EDITIONS.items()
    ),
)

_HEKA: Final[tuple[Format, ...]] = (
    Format(
        "heka.message",
        "0.10",
        heka_message.Message,
        heka_message.decode,
        heka_message.encode,
        atoms=("codec:snappy",),
    ),
    Format(
        "heka.stream",
        "0.10",
        heka_stream.Stream,
        heka_stream.decode,
        heka_stream.encode,
        heka_scan.scan,
        atoms=(
            "codec:snappy",
            "feature:hmac",
            "feature:resync-c",
            "feature:resync-go",
            "feature:given-header",
        ),
    ),
)

FORMATS: Final[dict[str, Format]] = {row.joined: row for row in (*_KAFKA, *_IGGY, *_HEKA)}
"""Every format and revision, by its joined name."""


def get(name: str, revision: str) -> Format:
    """The row of `name` and `revision`; raises `UnknownFormat`."""
    joined = f"{name}/{revision}"
    if joined in FORMATS:
        return FORMATS[joined]
    revisions = [row.joined for row in FORMATS.values() if row.name == name]
    raise UnknownFormat(f"unknown format {joined}: {suggestion(joined, revisions or FORMATS)}")


def matching(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the formats that any of the patterns names; raises `UnknownFormat` for one that names none."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        hits = fnmatch.filter(FORMATS, pattern if "/" in pattern else f"{pattern}/*")
        if not hits:
            names = [*dict.fromkeys(row.name for row in FORMATS.values()), *FORMATS]
            otherwise = f"there are {', '.join(FORMATS)}"
            raise UnknownFormat(f"no format is called {pattern}: {suggestion(pattern, names, otherwise)}")
        chosen |= dict.fromkeys(hits)
    return tuple(chosen)


def decode(row: Format, data: bytes, options: Options = DEFAULT) -> Decoded:
    """Decode `data`; raises `Rejected` and nothing else."""
    reader = Reader(data, budget=Budget(options.max_output))
    value = row.decode(reader, options)
    return Decoded(value, reader.pos, tuple(reader.remarks))


def layout(row: Format, data: bytes, options: Options = DEFAULT) -> Layout:
    """Decode `data` with a trace; a refusal is part of the answer."""
    reader = TracingReader(data, budget=Budget(options.max_output))
    try:
        value = row.decode(reader, options)
    except Rejected as rejected:
        return Layout(tuple(reader.spans), None, rejected)
    return Layout(tuple(reader.spans), Decoded(value, reader.pos, tuple(reader.remarks)), None)


def encode(row: Format, value: Json, options: Options = DEFAULT) -> bytes:
    """Encode a value in JSON form; raises `Rejected` and nothing else."""
    writer = Writer()
    row.encode(writer, from_json(row.value, value), options)
    return bytes(writer.data)


def scan(row: Format, chunks: Iterable[bytes], options: Options = DEFAULT) -> Iterator[Item]:
    """The items of a stream; only for formats that have a scan."""
    if row.scan is None:
        raise UnknownFormat(f"{row.joined} is not a stream: it has decode and encode, no scan")
    return row.scan(chunks, options)


def items_json(items: Iterable[Item]) -> Json:
    """The JSON form of a scan: `{"items": [{"kind", "at", "length", "value"?, "class"?}]}`."""
    return {"items": [_item_json(item) for item in items]}


def _item_json(item: Item) -> Json:
    row: dict[str, Json] = {"kind": item.kind, "at": item.at, "length": item.length}
    if item.value is not None:
        row["value"] = to_json(item.value)
    if item.cls is not None:
        row["class"] = item.cls
    return row
