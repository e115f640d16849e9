"""Normalise edited values of Iggy so that the encoder accepts them."""

from collections.abc import Callable
from typing import Any, Final

from attrs import evolve

from wireproof.iggy.batch import PRODUCER, BatchHeader, BatchHeader111, BatchMessage, Producer
from wireproof.iggy.destination import Identifier, Partitioning
from wireproof.iggy.fetch import FetchSection
from wireproof.iggy.frame import HEADERS_BY_COMMAND, HEADERS_BY_COMMAND_111
from wireproof.iggy.header_kinds import KINDS_BY_NAME, HeaderValue
from wireproof.iggy.headers import HeaderBlock, HeaderBlock90
from wireproof.iggy.json_poll import JsonPolledMessage70, JsonPolledMessage90, JsonPolledMessage100
from wireproof.iggy.json_reply import JsonError, JsonError40
from wireproof.iggy.json_send import JsonSentMessage70, JsonSentMessage90, JsonSentMessage100
from wireproof.iggy.message import (
    PolledMessage30,
    PolledMessage40,
    PolledMessage70,
    PolledMessage90,
    SentMessage,
    SentMessage70,
    SentMessage90,
    StoredMessage30,
)
from wireproof.iggy.poll import Poll110, Poll111
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
from wireproof.iggy.send import Send90, Send111
from wireproof.wire.layout import Layout, Number


def _unique(entries: tuple[Any, ...]) -> tuple[Any, ...]:
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


EMPTY: Final = BatchHeader(
    partition_id=0, base_offset=0, base_timestamp=0, origin_timestamp=0, message_count=0
)
EMPTY_111: Final = BatchHeader111(
    partition_id=0, base_offset=0, base_timestamp=0, origin_timestamp=0, message_count=0, producer=None
)


def _batched(poll: Any) -> Any:  # noqa: ANN401 - one of two classes
    """Make the counts of the batches add up; the last batch gets the rest: iggy.md, section 6."""
    left, heads = len(poll.messages), list[Any]()
    for head in poll.batches:
        heads.append(evolve(head, message_count=min(head.message_count, left)))
        left -= heads[-1].message_count
    if left:
        last = heads.pop() if heads else EMPTY if isinstance(poll, Poll110) else EMPTY_111
        heads.append(evolve(last, message_count=last.message_count + left))
    return evolve(poll, batches=tuple(heads))


def _producer(producer: Producer) -> Producer:
    """Limit the numbers of a producer: iggy.md, section 6.1."""
    parts = (part for part in PRODUCER.parts if isinstance(part, Number))
    numbers = {part.name: min(getattr(producer, part.name), part.most or 0) for part in parts}
    return Producer(**numbers)


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


def _waiting(request: Any) -> Any:  # noqa: ANN401 - a request of code 106 or 109
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


def _fetch(request: Any) -> Any:  # noqa: ANN401 - a request of code 109
    """Name each partition once, and limit each target too: iggy.md, section 6.2."""
    limited = _waiting(request)
    once = {target.partition_id: target for target in request.targets}
    targets = tuple(_target(target, limited.max_bytes) for target in once.values())
    return evolve(limited, targets=targets)


def _target(target: Any, most: int) -> Any:  # noqa: ANN401 - a target of such a request
    kind = target.strategy.kind if target.strategy.kind in STARTS else "offset"
    size = min(max(target.max_bytes, LEAST_BYTES), most)
    return evolve(target, strategy=evolve(target.strategy, kind=kind), max_bytes=size)


def _section(section: FetchSection) -> FetchSection:
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
    again = _unique(headers) if isinstance(headers, tuple) else headers
    return message if again is headers else evolve(message, headers=again)


HEADED: Final = (
    SentMessage,
    PolledMessage30,
    PolledMessage40,
    StoredMessage30,
    SentMessage70,
    SentMessage90,
    PolledMessage70,
    PolledMessage90,
    HeaderBlock,
    HeaderBlock90,
    BatchMessage,
    JsonSentMessage70,
    JsonSentMessage90,
    JsonSentMessage100,
    JsonPolledMessage70,
    JsonPolledMessage90,
    JsonPolledMessage100,
)
"""The classes with a header map."""


def _with_known_codes(layout: Layout) -> Callable[[Any], Any]:
    """Return a function that replaces each code that a frame's header may not have: iggy.md, section 2.1."""
    known = {part.name: part.known for part in layout.parts if isinstance(part, Number) and part.known}

    def normalise(header: Any) -> Any:  # noqa: ANN401 - the value class of the layout
        wrong = {name: min(codes) for name, codes in known.items() if getattr(header, name) not in codes}
        return evolve(header, **wrong) if wrong else header

    return normalise


NORMALISERS: Final[dict[type, Callable[[Any], Any]]] = {
    **dict.fromkeys(HEADED, _headed),
    HeaderValue: _header_value,
    Identifier: _identifier,
    Partitioning: _partitioning,
    **dict.fromkeys((Poll110, Poll111), _batched),
    Producer: _producer,
    DEFERRED_POLL_REQUEST.at(WAITING).type: _waiting,
    FETCH_REQUEST.at(WAITING).type: _fetch,
    FetchSection: _section,
    **{
        layout.value: _with_known_codes(layout)
        for headers in (HEADERS_BY_COMMAND, HEADERS_BY_COMMAND_111)
        for layout in headers.values()
        if layout.value is not None
    },
    **dict.fromkeys((JsonError, JsonError40), _error),
    **dict.fromkeys((POLL_REQUEST.at(revision).type for revision in POLL_REQUEST_REVISIONS), _request),
    PolledMessage70: _unsealed,
    **dict.fromkeys((Send90, Send111), _sent_later),
    SentMessage70: _unsealed,
}
"""Class to the function that normalises its instances."""
