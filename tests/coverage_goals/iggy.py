"""Deep states of the Iggy formats; the numbers are those of iggy.md."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.coverage_goals.state import State, partly, refused, remarked, some, valued
from wireproof.iggy.headers import HeaderMap, key_bytes

FIXED: Final = ("int8", "int128", "uint64", "float64")
"""Kinds of a fixed width, one of each sort: §2.3."""


def kinds(headers: HeaderMap | bytes) -> set[str]:
    """Return the kinds of header values; none for bytes that are not a map."""
    return set() if isinstance(headers, bytes) else {value.kind for _, value in headers}


def _of_kind(kind: str) -> Callable[[Any], bool]:
    return lambda value: kind in kinds(value.headers)


def _headers() -> Iterator[State]:
    """Yield the states of a header block of every revision."""
    yield valued("none", lambda v: not v.headers)
    yield valued("two", lambda v: len(v.headers) > 1)
    yield from (valued(f"kind {kind}", _of_kind(kind)) for kind in ("raw", "string", *FIXED))
    yield valued(
        "key of 128 bytes and more", lambda v: any(len(key_bytes(key)) > 127 for key, _ in v.headers)
    )
    yield valued("value of 128 bytes and more", lambda v: any(len(one.value) > 127 for _, one in v.headers))
    yield remarked("key twice", "iggy-duplicate-header")
    yield remarked("bool of 2", "iggy-header-bool")
    yield remarked("string that is no text", "iggy-header-utf8")
    yield refused("kind unknown", "bad-kind", "kind")
    yield refused("key of 0 bytes", "bad-length", "key_len")
    yield refused("value of 0 bytes", "bad-length", "val_len")


_LOOSE: Final = remarked("size of another kind", "iggy-header-size")
_STRICT: Final = refused("size of another kind", "bad-length")

HEADERS: Final = (*_headers(), _LOOSE, refused("key that is no text", "bad-utf8", "key"))

_KEYED: Final = (
    valued("key of a number", lambda v: any(key.kind == "int32" for key, _ in v.headers)),
    valued("one key in two kinds", lambda v: len({key.value for key, _ in v.headers}) < len(v.headers)),
    refused("key of an unknown kind", "bad-kind", "key_kind"),
)
"""From TLV v2 on: §2.4."""

IDENTIFIER: Final[tuple[State, ...]] = (
    valued("numeric of four bytes", lambda v: v.kind == "numeric" and v.value[-1] > 127),
    valued("name of one byte", lambda v: v.kind == "string" and len(v.value) == 1),
    valued("name of 128 bytes and more", lambda v: len(v.value) > 127),
    valued("name of 63 or 64 bytes", lambda v: len(v.value) in (63, 64)),
    valued("name beyond ASCII", lambda v: v.kind == "string" and not v.value.isascii()),
    refused("kind unknown", "bad-kind", "kind"),
    refused("length of 0", "bad-length", "length"),
    refused("no text", "bad-utf8", "value"),
    refused("cut", "truncated"),
)

_NO_ZERO: Final = refused("zero", "invalid-value", "value")
_ZERO: Final = valued("zero", lambda v: v.value == bytes(4))

PARTITIONING: Final[tuple[State, ...]] = (
    valued("balanced", lambda v: v.kind == "balanced"),
    valued("partition", lambda v: v.kind == "partition_id"),
    valued("key", lambda v: v.kind == "messages_key"),
    valued("key of one byte", lambda v: v.kind == "messages_key" and len(v.value) == 1),
    valued("key of 128 bytes and more", lambda v: len(v.value) > 127),
    valued("partition beyond 31 bits", lambda v: v.kind == "partition_id" and v.value[-1] > 127),
    remarked("bare balanced", "iggy-bare-balanced"),
    refused("kind unknown", "bad-kind", "kind"),
    refused("length of 0", "bad-length", "length"),
    refused("cut", "truncated"),
)


_BALANCED: Final = remarked("balanced with a value", "iggy-balanced-value")
_NOT_BALANCED: Final = refused("balanced with a value", "bad-length", "length")


def _message_states() -> Iterator[State]:
    """Yield the states that the messages of every body and file share."""
    yield valued("two messages", lambda v: len(v.messages) > 1)
    yield valued("id of 128 bits", some("messages", lambda m: m.id >> 127))
    yield valued("payload of 128 bytes and more", some("messages", lambda m: len(m.payload) > 127))
    yield valued("header", some("messages", lambda m: m.headers))
    yield valued(
        "two headers", some("messages", lambda m: isinstance(m.headers, tuple) and len(m.headers) > 1)
    )
    yield valued("header of a fixed width", some("messages", lambda m: kinds(m.headers) & set(FIXED)))
    yield remarked("key twice", "iggy-duplicate-header")
    yield remarked("size of another kind", "iggy-header-size")


def _binary() -> Iterator[State]:
    yield from _message_states()
    yield refused("header kind unknown", "bad-kind", "kind")
    yield refused("header of 0 bytes", "bad-length", "val_len")


def _kept() -> Iterator[State]:
    """Messages from 0.7.0 on: nobody looks inside a block of headers, §5."""
    yield from _message_states()
    yield remarked("block that is no map", "iggy-opaque-headers")


def _polled(*, states: bool) -> Iterator[State]:
    """Yield the states of polls and files: offsets, times, and the message state of 0.0.40."""
    yield valued("offset beyond 63 bits", some("messages", lambda m: m.offset >> 63))
    yield remarked("empty payload", "iggy-empty-payload")
    if states:
        yield valued("poisoned", some("messages", lambda m: m.state == "poisoned"))


_PLACED: Final = (
    valued("stream by name", lambda v: v.stream.kind == "string"),
    valued("by key", lambda v: v.partitioning.kind == "messages_key"),
    refused("no message", "count-mismatch", "messages"),
    refused("empty payload", "bad-length", "payload"),
)

_INDEXED: Final = (
    *_PLACED[:3],
    remarked("empty payload", "iggy-empty-payload"),
    remarked("field of the server's", "iggy-unset-field"),
    refused("metadata of another length", "length-mismatch", "metadata_length"),
    refused("end of another place", "length-mismatch", "position"),
    refused("offset in the index", "reserved-nonzero", "offset"),
    refused("bytes behind", "trailing-data", "messages"),
)
"""Sends from 0.7.0 on: §5."""

_DELIVERED: Final = (
    *_kept(),
    valued("offset beyond 63 bits", some("messages", lambda m: m.offset >> 63)),
    valued("empty payload", some("messages", lambda m: not m.payload)),
    remarked("checksum", "iggy-message-checksum"),
    remarked("fewer counted", "iggy-message-count"),
    refused("more counted", "count-mismatch", "count"),
    refused("phantom behind", "trailing-data"),
)
"""Polls from 0.7.0 on: §5."""

_FRAMED: Final = (
    refused("frame reserved", "reserved-nonzero", "].reserved"),
    refused("batch reserved", "reserved-nonzero", "reserved"),
    refused("batch shorter than its header", "bad-length", "batch_length"),
)
"""Batches: §6."""

_SUMMED: Final = (
    refused("checksum of a frame", "crc-mismatch", "].checksum"),
    refused("checksum of a batch", "crc-mismatch", "batch_checksum"),
    refused("another count of frames", "count-mismatch", "message_count"),
)
"""Checks of servers on a batch: §6."""

_PRODUCED: Final = (
    refused("flags unknown", "reserved-nonzero", "flags"),
    refused("epoch beyond 15 bits", "invalid-value", "epoch"),
    refused("base sequence beyond 31 bits", "invalid-value", "base_sequence"),
)
"""Producers of batches: §6.1."""

_SENT_110: Final = (
    *_kept(),
    *_PLACED[:3],
    *_FRAMED,
    *_SUMMED,
    valued("origins apart", lambda v: len({one.origin_timestamp for one in v.messages}) > 1),
    remarked("empty payload", "iggy-empty-payload"),
    remarked("field of the server's", "iggy-unset-field"),
    remarked("delta of another place", "iggy-offset-delta"),
    remarked("id 0", "iggy-unminted-id"),
    refused("metadata of another length", "length-mismatch", "metadata_length"),
    refused("bytes behind", "trailing-data", "messages"),
)

_POLLED_110: Final = (
    *_kept(),
    *_FRAMED,
    valued("two batches", lambda v: len(v.batches) > 1),
    valued("batch sliced", lambda v: v.messages and v.messages[0].offset_delta),
    valued("offset beyond 63 bits", some("messages", lambda m: m.offset >> 63)),
    valued("empty payload", some("messages", lambda m: not m.payload)),
    remarked("checksum of a frame", "iggy-message-checksum"),
    remarked("checksum of a batch", "iggy-batch-checksum"),
    remarked("another count of frames", "iggy-batch-count"),
    remarked("fewer counted", "iggy-message-count"),
    refused("more counted", "count-mismatch", "count"),
)


_LOG_OF_BATCHES: Final = (
    valued("two batches", lambda v: len(v.batches) > 1),
    valued("two messages in one", lambda v: any(len(one.messages) > 1 for one in v.batches)),
    valued("batch without messages", lambda v: any(not one.messages for one in v.batches)),
    valued("id of 128 bits", some("batches.messages", lambda m: m.id >> 127)),
    valued("header", some("batches.messages", lambda m: m.headers)),
    valued("payload of 128 bytes and more", some("batches.messages", lambda m: len(m.payload) > 127)),
    remarked("key twice", "iggy-duplicate-header"),
    partly("records before the fault"),
)

_RETAINED: Final = (
    *_LOG_OF_BATCHES,
    valued("poisoned", some("batches.messages", lambda m: m.state == "poisoned")),
    remarked("empty payload", "iggy-empty-payload"),
    refused("checksum", "crc-mismatch", "checksum"),
    refused("state unknown", "bad-kind", "state"),
)

_LOG_110: Final = (
    *_LOG_OF_BATCHES,
    *_FRAMED,
    *_SUMMED,
    remarked("block that is no map", "iggy-opaque-headers"),
)

_LOG_70: Final = (
    *_kept(),
    valued("offset beyond 63 bits", some("messages", lambda m: m.offset >> 63)),
    valued("empty payload", some("messages", lambda m: not m.payload)),
    refused("checksum", "crc-mismatch", "checksum"),
    partly("records before the fault"),
)

_RESERVED: Final = refused("reserved bytes", "reserved-nonzero", "reserved")

_COUNTED: Final = (
    remarked("fewer counted", "iggy-message-count"),
    remarked("not in order", "iggy-message-order"),
    refused("more counted", "count-mismatch", "count"),
)


def _logged(*, states: bool) -> tuple[State, ...]:
    return (
        *_binary(),
        *_polled(states=states),
        refused("checksum", "crc-mismatch", "checksum"),
        partly("records before the fault"),
    )


def _from(kind: str) -> Callable[[Any], object]:
    return lambda v: v.strategy.kind == kind


def _coded(code: int) -> Callable[[Any], object]:
    return lambda v: v.code == code


def _requested(*more: State) -> tuple[State, ...]:
    """Return the states of the requests of PollMessages: §3.2, §4, §5."""
    strategies = ("timestamp", "first", "last", "next")
    return (
        valued("group", lambda v: v.consumer.kind == "group"),
        *(valued(f"from {kind}", _from(kind)) for kind in strategies),
        valued("committed", lambda v: v.auto_commit),
        valued("offset beyond 63 bits", lambda v: v.strategy.value >> 63),
        valued("stream by name", lambda v: v.stream.kind == "string"),
        valued("count beyond 31 bits", lambda v: v.count >> 31),
        remarked("flag of 2", "iggy-flag"),
        refused("consumer of another kind", "bad-kind", "consumer.kind"),
        refused("strategy of another kind", "bad-kind", "strategy.kind"),
        refused("count 0", "invalid-value", "count"),
        refused("cut", "truncated"),
        *more,
    )


_BY_NAME: Final = valued("consumer by name", lambda v: v.consumer.id.kind == "string")

FRAME: Final = (
    valued("empty body", lambda v: not v.body),
    valued("body of 128 bytes and more", lambda v: len(v.body) > 127),
    *(valued(f"code {code}", _coded(code)) for code in (1, 38, 100, 101)),
    valued("code beyond 31 bits", lambda v: v.code >> 31),
    refused("length below 4", "bad-length", "length"),
    refused("body cut", "truncated", "body"),
    refused("code cut", "truncated", "code"),
)


def _headed(kind: str, test: Callable[[Any], object] = lambda _: True) -> Callable[[Any], object]:
    return lambda v: type(v.header).__name__ == kind and test(v.header)


FRAME_110: Final = (
    valued("reply", _headed("ReplyHeader")),
    valued("eviction", _headed("EvictionHeader")),
    valued("send", _headed("RequestHeader", lambda h: h.operation == 160)),
    valued("not replicated, with a code", _headed("RequestHeader", lambda h: h.operation == 2 and h.code)),
    valued("replicated, with a checksum", _headed("RequestHeader", lambda h: h.request_checksum)),
    valued("client of 128 bits", lambda v: v.header.client >> 127),
    valued("reply of an error", _headed("ReplyHeader", lambda h: h.status)),
    valued("body of 128 bytes and more", lambda v: len(v.body) > 127),
    remarked("byte in a gap", "iggy-unset-field"),
    remarked("checksum of another body", "iggy-request-checksum"),
    refused("size below the header", "bad-length", "size"),
    refused("size of more than 64 MiB", "limit-exceeded", "size"),
    refused("command unknown", "bad-kind", "command"),
    refused("body cut", "truncated", "body"),
)

FRAME_111: Final = (
    *(one for one in FRAME_110 if one.name != "replicated, with a checksum"),
    valued("random checksum", _headed("RequestHeader", lambda h: h.request_checksum >> 64)),
    valued("committed result", _headed("ReplyHeader", lambda h: h.committed_result == 1)),
    valued("incarnation beyond 63 bits", lambda v: getattr(v.header, "partition_incarnation", 0) >> 63),
)

REPLY: Final = (
    valued("error", lambda v: v.status),
    valued("error of messages", lambda v: 4000 <= v.status < 5000),
    valued("status beyond 31 bits", lambda v: v.status >> 31),
    valued("success without a body", lambda v: not v.status and not v.body),
    valued("success with a body", lambda v: not v.status and len(v.body) > 1),
    valued("error with a body", lambda v: v.status and v.body),
    valued("body of 128 bytes and more", lambda v: len(v.body) > 127),
    remarked("body of one byte", "iggy-short-body"),
    refused("body cut", "truncated", "body"),
    refused("length cut", "truncated", "length"),
)


REPLY_110: Final = (
    valued("none", lambda v: not v.confirmations),
    valued("one", lambda v: len(v.confirmations) == 1),
    valued("two", lambda v: len(v.confirmations) > 1),
    valued("stream beyond 31 bits", some("confirmations", lambda one: one.stream_id >> 31)),
    valued("topic beyond 31 bits", some("confirmations", lambda one: one.topic_id >> 31)),
    valued("partition beyond 31 bits", some("confirmations", lambda one: one.partition_id >> 31)),
    valued("offset beyond 63 bits", some("confirmations", lambda one: one.base_offset >> 63)),
    valued("offset 0", some("confirmations", lambda one: not one.base_offset)),
    refused("bytes behind", "trailing-data"),
    refused("count cut", "truncated", "count"),
    refused("last one cut", "truncated", "base_offset"),
)

_WAITING: Final = (
    valued("no wait", lambda v: not v.wait_us),
    valued("wait", lambda v: v.wait_us),
    valued("limit of bytes beyond 31 bits", lambda v: v.max_bytes >> 31),
    refused("wait beyond ten minutes", "invalid-value", "wait_us"),
    refused("timeout before the margin ends", "invalid-value", "request_timeout_us"),
    refused("no least count", "invalid-value", "min_count"),
    refused("limit of bytes too small", "invalid-value", "max_bytes"),
    refused("cut", "truncated"),
    refused("bytes behind", "trailing-data"),
)
"""Requests that wait: §6.2."""


_FETCH_REQUEST: Final = (
    *_WAITING,
    valued("two targets", lambda v: len(v.targets) > 1),
    valued("from an offset", some("targets", lambda one: one.strategy.kind == "offset")),
    valued("from the next", some("targets", lambda one: one.strategy.kind == "next")),
    valued("incarnation beyond 63 bits", some("targets", lambda one: one.incarnation >> 63)),
    valued("committed", lambda v: v.auto_commit),
    remarked("flag of 2", "iggy-flag"),
    refused("no targets", "invalid-value", "targets"),
    refused("too many targets", "limit-exceeded", "targets_count"),
)


_FETCH: Final = (
    valued("none", lambda v: not v.sections),
    valued("two sections", lambda v: len(v.sections) > 1),
    valued("section of an error", some("sections", lambda one: one.status)),
    valued("section with a message", some("sections", lambda one: one.messages)),
    valued("section without one", some("sections", lambda one: not one.status and not one.messages)),
    valued("next offset beyond 63 bits", some("sections", lambda one: one.next_offset >> 63)),
    refused("error with records", "invalid-value"),
    refused("too many sections", "limit-exceeded", "sections_count"),
    refused("more counted", "count-mismatch"),
    refused("bytes behind", "trailing-data", "sections"),
    refused("cut", "truncated"),
)

# --- JSON: iggy.md §8 ---

_JSON: Final = (
    remarked("unknown member", "iggy-json-unknown-field"),
    refused("no JSON", "bad-json"),
    refused("member missing", "missing-field"),
    refused("member of another type", "type-mismatch"),
)


_JSON_LATER: Final = (
    *_JSON,
    valued("two messages", lambda v: len(v.messages) > 1),
    valued("payload of 128 bytes and more", some("messages", lambda m: len(m.payload) > 127)),
    valued("header", some("messages", lambda m: m.headers)),
    valued("header of a fixed width", some("messages", lambda m: kinds(m.headers) & set(FIXED))),
    remarked("key twice", "iggy-duplicate-header"),
    remarked("size of another kind", "iggy-header-size"),
)

_JSON_POLL: Final = (
    *_JSON_LATER,
    valued("id of 128 bits", some("messages", lambda m: m.id >> 127)),
    valued("offset beyond 63 bits", some("messages", lambda m: m.offset >> 63)),
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
    valued("partition 0", some("confirmations", lambda one: one.partition_id == 0)),
    valued("offset beyond 63 bits", some("confirmations", lambda one: one.base_offset >> 63)),
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
    "iggy.headers": HEADERS,
    "iggy.headers/0.9": (*_headers(), *_KEYED, _LOOSE),
    "iggy.headers/0.10": (*_headers(), *_KEYED, _STRICT),
    "iggy.poll-request": _requested(_BY_NAME),
    "iggy.poll-request/0.0.30": _requested(),
    **dict.fromkeys(
        ("iggy.poll-request/0.8", "iggy.poll-request/0.10"),
        _requested(_BY_NAME, valued("no partition", lambda v: v.partition_id is None)),
    ),
    "iggy.frame/0.0.30": FRAME,
    "iggy.frame/0.11": FRAME_110,
    "iggy.reply/0.0.30": REPLY,
    "iggy.reply/0.11": REPLY_110,
    "iggy.identifier": (*IDENTIFIER, _NO_ZERO),
    "iggy.identifier/0.8": (*IDENTIFIER, _ZERO),
    "iggy.partitioning": (*PARTITIONING, _BALANCED),
    "iggy.partitioning/0.9": (*PARTITIONING, _NOT_BALANCED),
    "iggy.send": (*_kept(), *_INDEXED),
    "iggy.send/0.0.30": (*_binary(), *_PLACED),
    "iggy.send/0.9": (*_kept(), *_INDEXED, _RESERVED),
    "iggy.poll": _DELIVERED,
    "iggy.poll/0.0.30": (*_binary(), *_polled(states=False), *_COUNTED),
    "iggy.poll/0.0.40": (*_binary(), *_polled(states=True), *_COUNTED),
    "iggy.poll/0.0.60": (*_binary(), *_polled(states=True), *_COUNTED),
    "iggy.poll/0.9": (*_DELIVERED, _RESERVED),
    "iggy.send/0.11": _SENT_110,
    "iggy.poll/0.11": _POLLED_110,
    "iggy.log/0.0.30": _logged(states=False),
    "iggy.log/0.2.7": _RETAINED,
    "iggy.log/0.7": _LOG_70,
    "iggy.log/0.8": _LOG_70,
    "iggy.log/0.9": (*_LOG_70, _RESERVED),
    "iggy.log/0.11": _LOG_110,
    "iggy.log": _logged(states=True),
    "iggy.poll-request/0.11.1-edge": _requested(
        _BY_NAME,
        valued("no partition", lambda v: v.partition_id is None),
        valued("external group", lambda v: v.consumer.kind == "external_group"),
    ),
    "iggy.deferred-poll-request": (*_WAITING, _BY_NAME),
    "iggy.fetch-request": _FETCH_REQUEST,
    "iggy.fetch": _FETCH,
    "iggy.frame/0.11.1-edge": FRAME_111,
    "iggy.send/0.11.1-edge": (*_SENT_110, *_PRODUCED, valued("producer", lambda v: v.producer is not None)),
    "iggy.poll/0.11.1-edge": (
        *_POLLED_110,
        *_PRODUCED[:1],
        valued("producer", lambda v: any(one.producer is not None for one in v.batches)),
        valued("incarnation beyond 63 bits", lambda v: v.incarnation >> 63),
    ),
    "iggy.log/0.11.1-edge": (
        *_LOG_110,
        *_PRODUCED[:1],
        valued("producer", lambda v: any(one.producer is not None for one in v.batches)),
    ),
    "iggy.json.send": (*_message_states(), *_JSON),
    "iggy.json.send/0.7": (*_JSON_LATER, valued("id of 64 bits", some("messages", lambda m: m.id >> 63))),
    "iggy.json.send/0.9": (*_JSON_LATER, valued("id of 128 bits", some("messages", lambda m: m.id >> 127))),
    "iggy.json.send/0.10": (
        *_JSON_LATER,
        valued("id of 128 bits", some("messages", lambda m: m.id >> 127)),
        _JSON_OPAQUE,
    ),
    "iggy.json.send/0.11.1-edge": (
        *_JSON_LATER,
        valued("id of 128 bits", some("messages", lambda m: m.id >> 127)),
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
    "iggy.json.poll/0.0.30": (*_message_states(), *_polled(states=False), *_JSON),
    "iggy.json.poll": (*_message_states(), *_polled(states=True), *_JSON),
    "iggy.json.reply": _JSON_REPLY,
    "iggy.json.error": _JSON_ERROR,
    "iggy.json.error/0.0.40": (
        *_JSON_ERROR,
        valued("field", lambda v: v.field),
        valued("no field", lambda v: v.field is None),
    ),
}
"""By format id, else by the name of the format."""
