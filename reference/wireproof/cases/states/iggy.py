"""Deep states of the Iggy formats; the numbers are those of iggy.md."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from wireproof.cases.states.state import State, partly, refused, remarked, valued
from wireproof.iggy.kinds import HeaderValue

FIXED: Final = ("int8", "int128", "uint64", "float64")
"""Kinds of a fixed width, one of each sort: §2.3."""


def _kinds(entries: tuple[tuple[bytes, HeaderValue], ...]) -> set[str]:
    return {value.kind for _, value in entries}


def _of_kind(kind: str) -> Callable[[Any], bool]:
    return lambda value: kind in _kinds(value.headers)


def _messages(test: Callable[[Any], object]) -> Callable[[Any], bool]:
    return lambda value: any(test(message) for message in value.messages)


HEADERS: Final[tuple[State, ...]] = (
    valued("none", lambda v: not v.headers),
    valued("two", lambda v: len(v.headers) > 1),
    *(valued(f"kind {kind}", _of_kind(kind)) for kind in ("raw", "string", *FIXED)),
    valued("key of 128 bytes and more", lambda v: any(len(key) > 127 for key, _ in v.headers)),
    valued("value of 128 bytes and more", lambda v: any(len(one.value) > 127 for _, one in v.headers)),
    remarked("key twice", "iggy-duplicate-header"),
    remarked("size of another kind", "iggy-header-size"),
    remarked("bool of 2", "iggy-header-bool"),
    remarked("string that is no text", "iggy-header-utf8"),
    refused("kind unknown", "bad-kind", "kind"),
    refused("key of 0 bytes", "bad-length", "key_len"),
    refused("value of 0 bytes", "bad-length", "val_len"),
    refused("key that is no text", "bad-utf8", "key"),
)

IDENTIFIER: Final[tuple[State, ...]] = (
    valued("numeric of four bytes", lambda v: v.kind == "numeric" and v.value[-1] > 127),
    valued("name of one byte", lambda v: v.kind == "string" and len(v.value) == 1),
    valued("name of 128 bytes and more", lambda v: len(v.value) > 127),
    valued("name of 63 or 64 bytes", lambda v: len(v.value) in (63, 64)),
    valued("name beyond ASCII", lambda v: v.kind == "string" and not v.value.isascii()),
    refused("kind unknown", "bad-kind", "kind"),
    refused("zero", "invalid-value", "value"),
    refused("length of 0", "bad-length", "length"),
    refused("no text", "bad-utf8", "value"),
    refused("cut", "truncated"),
)

PARTITIONING: Final[tuple[State, ...]] = (
    valued("balanced", lambda v: v.kind == "balanced"),
    valued("partition", lambda v: v.kind == "partition_id"),
    valued("key", lambda v: v.kind == "messages_key"),
    valued("key of one byte", lambda v: v.kind == "messages_key" and len(v.value) == 1),
    valued("key of 128 bytes and more", lambda v: len(v.value) > 127),
    valued("partition beyond 31 bits", lambda v: v.kind == "partition_id" and v.value[-1] > 127),
    remarked("balanced with a value", "iggy-balanced-value"),
    remarked("bare balanced", "iggy-bare-balanced"),
    refused("kind unknown", "bad-kind", "kind"),
    refused("length of 0", "bad-length", "length"),
    refused("cut", "truncated"),
)


def _message_states() -> Iterator[State]:
    """What messages of every body and file have in common."""
    yield valued("two messages", lambda v: len(v.messages) > 1)
    yield valued("id of 128 bits", _messages(lambda m: m.id >> 127))
    yield valued("payload of 128 bytes and more", _messages(lambda m: len(m.payload) > 127))
    yield valued("header", _messages(lambda m: m.headers))
    yield valued("two headers", _messages(lambda m: len(m.headers) > 1))
    yield valued("header of a fixed width", _messages(lambda m: _kinds(m.headers) & set(FIXED)))
    yield remarked("key twice", "iggy-duplicate-header")
    yield remarked("size of another kind", "iggy-header-size")


def _binary() -> Iterator[State]:
    yield from _message_states()
    yield refused("header kind unknown", "bad-kind", "kind")
    yield refused("header of 0 bytes", "bad-length", "val_len")


def _polled(*, states: bool) -> Iterator[State]:
    """Polls and files: offsets and times, and the state that came with 0.0.40."""
    yield valued("offset beyond 63 bits", _messages(lambda m: m.offset >> 63))
    yield remarked("empty payload", "iggy-empty-payload")
    if states:
        yield valued("poisoned", _messages(lambda m: m.state == "poisoned"))


_PLACED: Final = (
    valued("stream by name", lambda v: v.stream.kind == "string"),
    valued("by key", lambda v: v.partitioning.kind == "messages_key"),
    refused("no message", "count-mismatch", "messages"),
    refused("empty payload", "bad-length", "payload"),
)

_COUNTED: Final = (
    remarked("fewer counted", "iggy-message-count"),
    remarked("not in order", "iggy-message-order"),
    refused("more counted", "count-mismatch", "count"),
)

_JSON: Final = (
    remarked("unknown member", "iggy-json-unknown-field"),
    refused("no JSON", "bad-json"),
    refused("member missing", "missing-field"),
    refused("member of another type", "type-mismatch"),
)


def _logged(*, states: bool) -> tuple[State, ...]:
    return (
        *_binary(),
        *_polled(states=states),
        refused("checksum", "crc-mismatch", "checksum"),
        partly("records before the fault"),
    )


STATES: Final[dict[str, tuple[State, ...]]] = {
    "iggy.headers": HEADERS,
    "iggy.identifier": IDENTIFIER,
    "iggy.partitioning": PARTITIONING,
    "iggy.send": (*_binary(), *_PLACED),
    "iggy.json.send": (*_message_states(), *_JSON),
    "iggy.poll/0.0.30": (*_binary(), *_polled(states=False), *_COUNTED),
    "iggy.poll": (*_binary(), *_polled(states=True), *_COUNTED),
    "iggy.json.poll/0.0.30": (*_message_states(), *_polled(states=False), *_JSON),
    "iggy.json.poll": (*_message_states(), *_polled(states=True), *_JSON),
    "iggy.log/0.0.30": _logged(states=False),
    "iggy.log": _logged(states=True),
}
"""By joined name, else by the name of the format."""
