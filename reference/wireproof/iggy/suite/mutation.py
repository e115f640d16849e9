"""Mutations of Iggy's values, their least and fullest values, and words for fuzzers."""

import json
from collections.abc import Callable, Iterator, Mapping
from struct import pack
from typing import TYPE_CHECKING, Any, Final, TypeVar

from attrs import evolve

from wireproof.derive.mutate.dictionary import edges, enumerated_words, json_words, member_names
from wireproof.derive.mutate.mutation_rules import MutationRules
from wireproof.family import Format
from wireproof.iggy.batch import BATCHES, PRODUCER, BatchMessage
from wireproof.iggy.destination import IDENTIFIER_KINDS, Identifier, Partitioning
from wireproof.iggy.fetch import FetchSection
from wireproof.iggy.frame import (
    CLASSIC_FRAME,
    CONTEXT,
    EVICTION_HEADER,
    EVICTION_REASONS,
    HEADERS,
    OPERATIONS_WITHOUT_CHECKSUM,
    REPLY_HEADER,
    REQUEST_HEADER,
)
from wireproof.iggy.header_kinds import HEADER_KINDS, KINDS_BY_NAME, HeaderValue
from wireproof.iggy.headers import HeaderBlock, KeyedHeaderBlock
from wireproof.iggy.http.json_bodies import (
    JSON_ERROR,
    JSON_POLL,
    JSON_POLLED,
    JSON_SENT,
    JSON_SENT_64,
    PARTITION_CONTEXT,
)
from wireproof.iggy.message import MESSAGE_STATES, POLLED, SENT, STORED
from wireproof.iggy.poll import POLL
from wireproof.iggy.requests import (
    DEFERRED_MARGIN,
    DEFERRED_POLL_REQUEST,
    FETCH_REQUEST,
    LARGEST_TIMEOUT,
    LARGEST_WAIT,
    LEAST_BYTES,
    POLL_REQUEST,
    POLL_REQUEST_REVISIONS,
    STARTS,
    WAITING,
)
from wireproof.iggy.revision import REVISIONS
from wireproof.iggy.send import CLASSIC_REPLY, PRODUCED_SEND, SEND
from wireproof.schema.layout import Layout, bits_of

if TYPE_CHECKING:
    from wireproof.iggy import values

Waiting = TypeVar("Waiting", "values.DeferredPollMessages", "values.FetchMessages")
"""A request of code 106 or 109."""

# --- codes of fields of a frame ---

COMMANDS: Final = (1, 38, 100, 101, 104, 106, 109)
"""Ping, login, poll, send, and the polls that are routed or wait: iggy.md, sections 2.1 and 6.2."""

CODES: Final[Mapping[tuple[type, str], tuple[int, ...]]] = {
    (CLASSIC_FRAME.at("0.0.30").type, "code"): COMMANDS,
    **{
        (header.at(revision).type, name): codes
        for revision in ("0.11", CONTEXT)
        for header, name, codes in (
            (REQUEST_HEADER, "code", COMMANDS),
            (REQUEST_HEADER, "operation", OPERATIONS_WITHOUT_CHECKSUM),
            (REPLY_HEADER, "operation", OPERATIONS_WITHOUT_CHECKSUM),
            (EVICTION_HEADER, "reason", tuple(sorted(EVICTION_REASONS))),
        )
    },
    (REPLY_HEADER.at(CONTEXT).type, "committed_result"): (0, 1),
}
"""Class and field to codes: iggy.md, section 2.1."""

# --- edited values that the encoder accepts ---


def unique_entries(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Remove duplicate keys, and make string keys valid UTF-8 of 1 to 255 bytes: iggy.md, section 10.1."""
    found = {_text(key) if isinstance(key, bytes) else key: value for key, value in entries}
    again = tuple(found.items())
    return entries if again == entries else again


def _text(data: bytes) -> bytes:
    if 0 < len(data) < 256 and data.isascii():
        return data
    return data.decode(errors="ignore").encode()[:255].decode(errors="ignore").encode() or b"k"


def _header_value(value: HeaderValue) -> HeaderValue:
    """Make the bytes valid for the kind: iggy.md, section 2.3."""
    kind, data = KINDS_BY_NAME[value.kind], value.value
    if kind.size is not None:
        data = data[: kind.size].ljust(kind.size, b"\0")
    if kind.name == "bool":
        data = bytes([data[0] & 1])
    if kind.name == "string":
        data = _text(data)
    return value if data == value.value else HeaderValue(value.kind, data)


def _identifier(value: Identifier) -> Identifier:
    """Make the bytes valid for the kind: iggy.md, section 2.2."""
    data = value.value[:4].ljust(4, b"\1") if value.kind == "numeric" else _text(value.value)
    return Identifier(value.kind, data if any(data) else b"\1\0\0\0")


def _partitioning(value: Partitioning) -> Partitioning:
    """Make the bytes valid for the kind: iggy.md, section 2.2."""
    match value.kind:
        case "balanced":
            return Partitioning("balanced", b"")
        case "partition_id":
            return Partitioning("partition_id", value.value[:4].ljust(4, b"\0"))
        case _:
            return Partitioning("messages_key", value.value[:255] or b"k")


def _unsealed(message: Any) -> Any:  # noqa: ANN401 - one of two classes
    """Remove header blocks that are not a map, which no client before 0.10.0 writes: iggy.md, section 1."""
    return evolve(message, headers=()) if isinstance(message.headers, bytes) else _headed(message)


def _batched(poll: Any) -> Any:  # noqa: ANN401 - one of two classes
    """Make the counts of the batches add up; the last batch gets the rest: iggy.md, section 6."""
    left, heads = len(poll.messages), list[Any]()
    for head in poll.batches:
        heads.append(evolve(head, message_count=min(head.message_count, left)))
        left -= heads[-1].message_count
    if left:
        if not heads:
            layout = BATCHES["poll"].at("0.11" if isinstance(poll, POLL.at("0.11").type) else CONTEXT)
            empty = {name: None if name == "producer" else 0 for name in layout.attributes}
            heads.append(layout.type(**empty))
        last = heads.pop()
        heads.append(evolve(last, message_count=last.message_count + left))
    return evolve(poll, batches=tuple(heads))


def _sent_later(send: Any) -> Any:  # noqa: ANN401 - one of two classes
    """Replace ids of 0, and limit the time span to 2^32 - 1 microseconds: iggy.md, sections 2.5 and 6."""
    first = min((one.origin_timestamp for one in send.messages), default=0)
    most = first + (1 << 32) - 1
    rows = (
        evolve(one, id=one.id or 1, origin_timestamp=min(one.origin_timestamp, most)) for one in send.messages
    )
    return evolve(send, messages=tuple(rows))


def _request(request: Any) -> Any:  # noqa: ANN401 - one of three classes
    """Make the request ask for at least one message: iggy.md, section 3.2."""
    return evolve(request, count=request.count or 1)


def _waiting(request: Waiting) -> Waiting:
    """Limit the wait, the timeout, the counts and the bytes: iggy.md, section 6.2."""
    wait, count = min(request.wait_us, LARGEST_WAIT), request.count or 1
    return evolve(
        request,
        wait_us=wait,
        request_timeout_us=min(max(request.request_timeout_us, wait + DEFERRED_MARGIN), LARGEST_TIMEOUT),
        count=count,
        min_count=min(request.min_count or 1, count),
        max_bytes=max(request.max_bytes, LEAST_BYTES),
    )


def _fetch(request: "values.FetchMessages") -> "values.FetchMessages":
    """Name each partition once, and limit each target too: iggy.md, section 6.2."""
    limited = _waiting(request)
    targets = []
    for target in {target.partition_id: target for target in request.targets}.values():
        kind = target.strategy.kind if target.strategy.kind in STARTS else "offset"
        size = min(max(target.max_bytes, LEAST_BYTES), limited.max_bytes)
        targets.append(evolve(target, strategy=evolve(target.strategy, kind=kind), max_bytes=size))
    return evolve(limited, targets=tuple(targets))


def _section(section: Any) -> Any:  # noqa: ANN401 - a section of a fetch
    """Give a section with batches the status of success: iggy.md, section 6.2."""
    held = section.batches or section.messages
    return _batched(evolve(section, status=0)) if held else section


def _error(error: Any) -> Any:  # noqa: ANN401 - one of two classes
    """Make the texts UTF-8: iggy.md, section 8."""
    texts = {name: getattr(error, name, None) for name in ("code", "reason", "field")}
    return evolve(
        error, **{name: text.decode(errors="ignore").encode() for name, text in texts.items() if text}
    )


def _headed(message: Any) -> Any:  # noqa: ANN401 - a class with a header map
    """Normalise the keys of a header map; a block of bytes stays."""
    headers = message.headers
    again = unique_entries(headers) if isinstance(headers, tuple) else headers
    return message if again is headers else evolve(message, headers=again)


def _with_allowed_numbers(layout: Layout) -> Callable[[Any], Any]:
    """Return a function that replaces numbers that a value may not have: iggy.md, sections 2.1 and 6.1."""

    def normalise(value: Any) -> Any:  # noqa: ANN401 - the value class of the layout
        wrong = {}
        for part in layout.numbers:
            number = getattr(value, part.name)
            if part.known and number not in part.known:
                wrong[part.name] = min(part.known)
            elif part.most is not None and number > part.most:
                wrong[part.name] = part.most
        return evolve(value, **wrong) if wrong else value

    return normalise


NORMALISERS: Final[dict[type, Callable[[Any], Any]]] = {
    **dict.fromkeys((HeaderBlock, KeyedHeaderBlock, BatchMessage, JSON_SENT_64.at("0.7").type), _headed),
    **{
        struct.at(revision).type: _headed
        for struct in (SENT, POLLED, STORED, JSON_SENT, JSON_POLLED)
        for revision in REVISIONS
    },
    HeaderValue: _header_value,
    Identifier: _identifier,
    Partitioning: _partitioning,
    **{POLL.at(revision).type: _batched for revision in ("0.11", CONTEXT)},
    DEFERRED_POLL_REQUEST.at(WAITING).type: _waiting,
    FETCH_REQUEST.at(WAITING).type: _fetch,
    FetchSection: _section,
    **{
        layout.type: _with_allowed_numbers(layout)
        for revision in ("0.11", CONTEXT)
        for layout in (struct.at(revision) for struct in (*HEADERS.values(), PRODUCER))
    },
    **{JSON_ERROR.at(revision).type: _error for revision in REVISIONS},
    **dict.fromkeys((POLL_REQUEST.at(revision).type for revision in POLL_REQUEST_REVISIONS), _request),
    **{struct.at("0.7").type: _unsealed for struct in (SENT, POLLED, STORED)},
    **dict.fromkeys((SEND.at("0.9").type, PRODUCED_SEND.at(CONTEXT).type), _sent_later),
}
"""Class to the function that normalises its instances."""

# --- mutations ---

_KINDS: Final = (
    HeaderValue("raw", b"v"), HeaderValue("string", b"k"), HeaderValue("bool", b"\1"),
    HeaderValue("int32", b"\1\0\0\0"),
)  # fmt: skip
"""Header values: bytes, a string, a boolean, a number of fixed width. iggy.md, section 2.3."""

_ELEMENTS: Final[dict[Any, tuple[Any, ...]]] = {
    tuple[bytes, HeaderValue]: tuple((bytes((at,)), one) for at, one in enumerate(_KINDS, ord("k"))),
    tuple[HeaderValue, HeaderValue]: tuple(zip(_KINDS, _KINDS, strict=True)),
}
"""Types to the elements of a list: header values of different kinds."""

RULES: Final = MutationRules(
    unsigned_bits={  # of the integers of JSON bodies, whose formats have no layout
        layout.type: {
            part.name: bits_of(part.kind) for part in layout.numbers if part.name in layout.attributes
        }
        for struct in (JSON_POLLED, JSON_POLL, JSON_SENT, JSON_SENT_64, PARTITION_CONTEXT, JSON_ERROR)
        for layout in map(struct.at, REVISIONS)
    },
    least={Identifier: Identifier("numeric", b"\1\0\0\0"), HeaderValue: HeaderValue("raw", b"v")},
    full=lambda: {
        Partitioning: Partitioning("partition_id", b"\1\0\0\0"),
        CLASSIC_REPLY.at("0.0.30").type: CLASSIC_REPLY.at("0.0.30").type(status=1, body=b"ok"),
    },
    elements=lambda: _ELEMENTS,
    normalise=NORMALISERS,
    codes=CODES,
    enumerations=(tuple(KINDS_BY_NAME), tuple(MESSAGE_STATES.values())),
    favour_fields=True,  # nested lengths have a fixed width
)

# --- the dictionary: sections are those of iggy.md ---


def words(fmt: Format) -> Iterator[bytes]:
    """Yield the names of members, the words of enumerations, and difficult JSON: §8.

    Or of a binary format: tags (§2.2), kinds with the size of their values (§2.3), states (§3.3), and invalid
    UTF-8.
    """
    if fmt.is_json:
        names = tuple(member_names(fmt.value))
        yield from names
        yield from (json.dumps(word).encode() for word in enumerated_words(fmt.value))
        if b'"messages":' in names:  # headers and their kinds, members that are no fields, base64: §8
            yield from (b'"key":{"kind":"raw","value":"dg=="}', b'"kind":', b'"value":', b'"headers":null')
            yield from (b'"header":', b'"user_headers":', b'"user_headers_length":', b'"payload_length":')
            yield from (b'"reserved":', b'"count":', b'"checksum":')
            yield from (json.dumps(kind.name).encode() for kind in HEADER_KINDS)
            yield from (b'"AA=="', b'"AB=="')
        yield from json_words()
        return
    yield from edges("<")
    yield from (bytes([code]) for code in IDENTIFIER_KINDS)
    yield from (bytes([kind.code]) + pack("<I", kind.size or 1) for kind in HEADER_KINDS)
    yield from (bytes([code]) for code in MESSAGE_STATES)
    yield pack("<I", 1) + b"k"
    yield from (b"\xc3\xa9", b"\xff\xfe", b"\xed\xa0\x80", bytes(16), b"\xff" * 16)
