"""Deep states of the JSON forms of Iggy: iggy.md §8."""

from typing import Final

from tests.coverage_goals.iggy import FIXED, confirmed, kinds, message_states, messages, polled
from tests.coverage_goals.state import State, refused, remarked, valued

_JSON: Final = (
    remarked("unknown member", "iggy-json-unknown-field"),
    refused("no JSON", "bad-json"),
    refused("member missing", "missing-field"),
    refused("member of another type", "type-mismatch"),
)


_JSON_LATER: Final = (
    *_JSON,
    valued("two messages", lambda v: len(v.messages) > 1),
    valued("payload of 128 bytes and more", messages(lambda m: len(m.payload) > 127)),
    valued("header", messages(lambda m: m.headers)),
    valued("header of a fixed width", messages(lambda m: kinds(m.headers) & set(FIXED))),
    remarked("key twice", "iggy-duplicate-header"),
    remarked("size of another kind", "iggy-header-size"),
)

_JSON_POLL: Final = (
    *_JSON_LATER,
    valued("id of 128 bits", messages(lambda m: m.id >> 127)),
    valued("offset beyond 63 bits", messages(lambda m: m.offset >> 63)),
    remarked("another length", "iggy-json-length"),
)
_JSON_COUNT: Final = remarked("another count", "iggy-message-count")
_JSON_RESERVED: Final = remarked("reserved set", "iggy-json-reserved")
_JSON_OPAQUE: Final = remarked("block that is no map", "iggy-opaque-headers")

_JSON_REPLY: Final = (
    *_JSON,
    valued("none", lambda v: not v.confirmations),
    valued("one", lambda v: len(v.confirmations) == 1),
    valued("two", lambda v: len(v.confirmations) > 1),
    valued("partition 0", confirmed(lambda one: one.partition_id == 0)),
    valued("offset beyond 63 bits", confirmed(lambda one: one.base_offset >> 63)),
    refused("number too wide", "invalid-value"),
)

_JSON_ERROR: Final = (
    *_JSON,
    valued("id beyond 31 bits", lambda v: v.id >> 31),
    valued("text beyond ASCII", lambda v: not v.reason.isascii()),
    valued("empty text", lambda v: not v.code),
    valued("long reason", lambda v: len(v.reason) > 8),
    valued("code beyond ASCII", lambda v: not v.code.isascii()),
    refused("id too wide", "invalid-value", "id"),
)

STATES: Final[dict[str, tuple[State, ...]]] = {
    "iggy.json.send": (*message_states(), *_JSON),
    "iggy.json.send/0.7": (*_JSON_LATER, valued("id of 64 bits", messages(lambda m: m.id >> 63))),
    "iggy.json.send/0.9": (*_JSON_LATER, valued("id of 128 bits", messages(lambda m: m.id >> 127))),
    "iggy.json.send/0.10": (
        *_JSON_LATER,
        valued("id of 128 bits", messages(lambda m: m.id >> 127)),
        _JSON_OPAQUE,
    ),
    "iggy.json.send/0.11.1-edge": (
        *_JSON_LATER,
        valued("id of 128 bits", messages(lambda m: m.id >> 127)),
        _JSON_OPAQUE,
        valued("context", lambda v: v.context),
        valued("no context", lambda v: v.context is None),
    ),
    "iggy.json.poll/0.7": (*_JSON_POLL, _JSON_COUNT),
    "iggy.json.poll/0.9": (*_JSON_POLL, _JSON_COUNT, _JSON_RESERVED),
    "iggy.json.poll/0.10": (*_JSON_POLL, _JSON_COUNT, _JSON_RESERVED, _JSON_OPAQUE),
    "iggy.json.poll/0.11.1-edge": (
        *_JSON_POLL,
        _JSON_RESERVED,
        _JSON_OPAQUE,
        refused("another count", "count-mismatch", "count"),
        valued("incarnation beyond 63 bits", lambda v: v.context.incarnation >> 63),
    ),
    "iggy.json.poll/0.0.30": (*message_states(), *polled(states=False), *_JSON),
    "iggy.json.poll": (*message_states(), *polled(states=True), *_JSON),
    "iggy.json.reply": _JSON_REPLY,
    "iggy.json.error": _JSON_ERROR,
    "iggy.json.error/0.0.40": (
        *_JSON_ERROR,
        valued("field", lambda v: v.field),
        valued("no field", lambda v: v.field is None),
    ),
}
"""By format id, else by the name of the format."""
