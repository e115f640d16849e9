"""Normalise edited values so that the encoder accepts them.

An edit changes one part; other parts that the format derives from it are adjusted, so that few edits are
lost. Faults that only bytes can have are left to the edits of bytes.
"""

from collections.abc import Callable
from operator import is_
from typing import Any, Final

from attrs import evolve, has

from wireproof.cases.mutate.edit_sites import constructor_fields
from wireproof.heka.message import VALUE_ARRAYS, VALUE_TYPES, DynamicField, HekaMessage
from wireproof.iggy.batch import PRODUCER, BatchHeader, BatchHeader111, Producer
from wireproof.iggy.deferred_poll import DeferredPollRequest
from wireproof.iggy.fetch import FetchSection
from wireproof.iggy.fetch_request import STARTS, FetchRequest, FetchTarget
from wireproof.iggy.header_kinds import KINDS_BY_NAME, HeaderValue
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.json_reply import JsonError, JsonError40
from wireproof.iggy.message import PolledMessage70, SentMessage70
from wireproof.iggy.partitioning import Partitioning
from wireproof.iggy.poll import Poll110, Poll111
from wireproof.iggy.poll_request import PollRequest30, PollRequest80, PollRequest92, PollRequest111
from wireproof.iggy.send import Send90, Send111
from wireproof.iggy.wait_limits import DEFERRED_MARGIN, LARGEST_TIMEOUT, LARGEST_WAIT, LEAST_BYTES
from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.wire.compression import COMPRESSION_CODECS
from wireproof.wire.layout import Number

WHOLE: Final = (Record, bytes, int, str, bool, type(None))
"""Classes without parts that depend on one another."""


def mended(value: Any) -> Any:  # noqa: ANN401 - a value class, or a part of one
    """Return the normalised value; its parts are normalised first."""
    if isinstance(value, WHOLE):
        return value
    if isinstance(value, tuple):
        parts = [mended(part) for part in value]
        return value if all(map(is_, parts, value)) else tuple(parts)
    cls = type(value)
    if cls is RecordBatch:
        return _batch(value)
    if has(cls):
        again = {name: mended(getattr(value, name)) for name in constructor_fields(cls)}
        if isinstance(again.get("headers"), tuple):
            again["headers"] = _unique(again["headers"])
        same = all(part is getattr(value, name) for name, part in again.items())
        value = value if same else cls(**again)
    mend = _MENDERS.get(cls)
    return mend(value) if mend else value


def _bits(value: int, bits: int) -> int:
    """Wrap `value` to a signed integer of `bits` bits."""
    return ((value + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)


def _batch(batch: RecordBatch) -> RecordBatch:
    """Use a known codec, 0 to 4, and magic 2: kafka.md §1.2."""
    attributes = _bits(batch.attributes, 16)
    if attributes & CODEC_MASK and attributes & CODEC_MASK not in COMPRESSION_CODECS:
        attributes &= ~4
    if (attributes, 2) == (batch.attributes, batch.magic):
        return batch
    return evolve(batch, attributes=attributes, magic=2)


def _message(message: Message) -> Message:
    """Make codec and inner messages consistent, and the wrapper's offset and timestamp too: kafka.md §2.2."""
    attributes = _bits(message.attributes, 8)
    codec = attributes & CODEC_MASK
    if codec > 3:
        attributes, codec = attributes & ~4, codec & 3
    if message.magic not in (0, 1):
        message = evolve(message, magic=1)
    timestamp = -1 if message.magic == 0 else max(message.timestamp, -1)
    if not codec or message.messages == ():
        value = message.value if message.messages is None else b"v"
        return evolve(
            message, attributes=attributes & ~CODEC_MASK, timestamp=timestamp, value=value, messages=None
        )
    plain = evolve(message, attributes=attributes & ~CODEC_MASK, timestamp=timestamp, messages=None)
    inner = (plain,) if message.messages is None else message.messages
    rows = [
        evolve(one, attributes=one.attributes & ~CODEC_MASK, magic=message.magic, messages=None)
        for one in inner
    ]
    outer = evolve(message, attributes=attributes, timestamp=timestamp, value=None, messages=tuple(rows))
    return _timed(outer) if outer.magic else outer


def _timed(outer: Message) -> Message:
    assert outer.messages is not None
    inner = outer.messages
    if outer.attributes & LOG_APPEND_TIME:
        inner = tuple(evolve(one, timestamp=outer.timestamp) for one in inner)
    offset = outer.offset and inner[-1].offset
    if offset and inner[0].offset < 0:
        offset = 0
    return evolve(outer, offset=offset, messages=inner)


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
    return evolve(message, headers=()) if isinstance(message.headers, bytes) else message


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
    return Producer(**{part.name: min(getattr(producer, part.name), part.most or 0) for part in parts})


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


def _fetch(request: FetchRequest) -> FetchRequest:
    """Name each partition once, and limit each target too: iggy.md, section 6.2."""
    limited: FetchRequest = _waiting(request)
    once = {target.partition_id: target for target in request.targets}
    targets = tuple(_target(target, limited.max_bytes) for target in once.values())
    return evolve(limited, targets=targets)


def _target(target: FetchTarget, most: int) -> FetchTarget:
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


def _field(field: DynamicField) -> DynamicField:
    """Keep values only in the array of the field's type, and use 64 bits for numbers: heka.md, section 4."""
    held = [name for name in VALUE_ARRAYS if getattr(field, name)]
    wanted = VALUE_ARRAYS[VALUE_TYPES.index(field.value_type or "STRING")]
    changes: dict[str, Any] = {}
    if field.value_double:
        changes["value_double"] = tuple(bits[:8].ljust(8, b"\0") for bits in field.value_double)
    if field.value_integer:
        changes["value_integer"] = tuple(_bits(number, 64) for number in field.value_integer)
    if len(held) == 1 and held[0] != wanted:
        return evolve(field, **{**changes, "value_type": VALUE_TYPES[VALUE_ARRAYS.index(held[0])]})
    emptied: dict[str, Any] = {name: () for name in held if name != wanted}
    return evolve(field, **{**changes, **emptied}) if changes or emptied else field


def _heka(message: HekaMessage) -> HekaMessage:
    """Make the uuid 16 bytes, and wrap severity and pid to 32 bits: heka.md, section 4."""
    cut: dict[str, Any] = {
        name: None if number is None else _bits(number, 32)
        for name, number in (("severity", message.severity), ("pid", message.pid))
    }
    uuid = message.uuid[:16].ljust(16, b"\0")
    return evolve(message, uuid=uuid, timestamp=_bits(message.timestamp, 64), **cut)


_MENDERS: Final[dict[type, Callable[[Any], Any]]] = {
    Message: _message,
    HeaderValue: _header_value,
    Identifier: _identifier,
    Partitioning: _partitioning,
    **dict.fromkeys((Poll110, Poll111), _batched),
    Producer: _producer,
    DeferredPollRequest: _waiting,
    FetchRequest: _fetch,
    FetchSection: _section,
    **dict.fromkeys((JsonError, JsonError40), _error),
    **dict.fromkeys((PollRequest30, PollRequest92, PollRequest80, PollRequest111), _request),
    PolledMessage70: _unsealed,
    **dict.fromkeys((Send90, Send111), _sent_later),
    SentMessage70: _unsealed,
    DynamicField: _field,
    HekaMessage: _heka,
}
"""Class to the function that normalises its instances."""
