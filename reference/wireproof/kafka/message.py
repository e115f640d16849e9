"""Formats v0 and v1: a message, or a wrapper message around a compressed set of messages. kafka.md §2.

`layouts` describes the fields and the rules of a message. A Kafka consumer checks the CRC of each message,
inner ones too, but not that of a wrapper: a wrong one gets a remark (L27).
"""

from contextlib import suppress
from typing import Final

from attrs import evolve, frozen

from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME, wrap64
from wireproof.kafka.layouts import (
    HEADERS,
    HEADS,
    MAGICS,
    MESSAGE,
    NO_TIMESTAMP,
    PLAIN,
    WRAPPED,
    ZSTD,
    add_common_rules,
    build_message,
)
from wireproof.kafka.remark_classes import with_default_detail
from wireproof.kafka.size_and_magic import (
    MAGIC_AT,
    SIZE_AT,
    SizeAndMagic,
    is_inner_entry_cut,
    peek_whole_entry,
)
from wireproof.kafka.values import Message
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct
from wireproof.wire.compression import COMPRESSION_CODECS, compress, decompress_prefix
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Scope
from wireproof.wire.writer import Writer

ATTRIBUTES_AT: Final = PLAIN[0].offset("attributes")


@frozen
class MessageHead:
    """The fields before the key of a message.

    Attributes:
        start: position of the message.
        offset, magic, attributes: the fields of these names.
        timestamp: -1 in v0, which has no timestamp.
    """

    start: int
    offset: int
    magic: int
    attributes: int
    timestamp: int

    @property
    def codec(self) -> int:
        """Return the compression codec, attribute bits 0 to 2."""
        return self.attributes & CODEC_MASK

    def at(self, name: str) -> int:
        """Return the position of the field `name`; those of v0 have the same positions in v1."""
        return self.start + PLAIN[1].offset(name)


def read(reader: Reader, magic: int) -> Message:
    """Read the message or wrapper whose bytes are the window of the reader.

    Order of checks: size and magic (checked before), CRC, codec, fields, inner set.

    Raises:
        Rejected: `before` is the wrapper with the messages decoded so far, or None if there are none.
    """
    codec = reader.data[reader.pos + ATTRIBUTES_AT] & CODEC_MASK
    layouts = WRAPPERS if codec in COMPRESSION_CODECS and codec != ZSTD else PLAIN
    try:
        message: Message = layouts[magic].codec.read(reader)
    except Rejected as rejected:
        raise with_default_detail(rejected, "FIELD_PAST_END") from None
    _skip_extra(reader)
    return message


def _skip_extra(reader: Reader) -> None:
    """Ignore bytes after the value, with a remark: L07."""
    if reader.left:
        reader.remark_once("legacy-extra-bytes", "extra", at=reader.pos)
        reader.region("extra", "ignored", reader.pos, reader.end)


# --- wrappers: §2.2 ---


def read_set(
    reader: Reader,
    *,
    start: int,
    offset: int,
    magic: int,
    attributes: int,
    timestamp: int = NO_TIMESTAMP,
) -> tuple[Message, ...]:
    """Read the inner messages of a wrapper, as a consumer gets them.

    Kafka reads the whole set before it delivers a message. An invalid size or offset, or a defect of the
    compressed stream, therefore delivers nothing. Nesting, CRC and fields are checked message by message
    (L19, L22, L28).

    Raises:
        Rejected: `before` are the messages before the fault.
    """
    wrapper = MessageHead(start, offset, magic, attributes, timestamp)
    inner, defect = decompress_prefix(reader, "value", wrapper.codec, kip57=magic == 0)
    inner.short = "length-past-end"
    messages: list[Message] = []
    rejected: Rejected | None = None
    offsets: list[int] = []
    scope = inner.scope
    while (prefix := _next_size(inner, defect, (scope, "messages", len(offsets)))) is not None:
        inner.scope = (scope, "messages", len(offsets))
        window = inner.window("message", prefix.total)
        window.noted = set()
        head = _head(window)
        offsets.append(head.offset)
        _remark_inner(inner, wrapper, head)
        if rejected is None:
            try:
                messages.append(_inner_message(window, head))
            except Rejected as first:
                rejected = with_default_detail(first, "FIELD_PAST_END")
        else:
            _trace_head(window, head)
    inner.scope = scope
    if not offsets:  # L18
        raise inner.reject("count-mismatch", "messages", "no message", detail="WRAPPER_EMPTY")
    base = _base(inner, wrapper, offsets)
    effective = tuple(_effective(message, wrapper, base) for message in messages)
    if rejected is not None:
        raise rejected.with_before(effective)
    return effective


def _head(window: Reader) -> MessageHead:
    """Return the fields from offset to timestamp: §2.1. A batch in a wrapper (L22) is read like a message."""
    start = window.pos
    offset, _, _, magic, attributes, *rest = HEADS[min(window.data[start + MAGIC_AT], 1)].peek(
        window.data, start
    )
    return MessageHead(start, offset, magic, attributes, rest[0] if rest else NO_TIMESTAMP)


def _trace_head(window: Reader, head: MessageHead) -> None:
    """Record the fields of an inner message that is not read."""
    if window.tracing:
        HEADERS[min(head.magic, 1)].codec.read(window)


def _inner_message(window: Reader, head: MessageHead) -> Message:
    """Read an inner message, which is neither compressed (L19) nor a batch (L22): the depth is 1."""
    if head.magic == 2 or head.codec:
        _trace_head(window, head)
        at = head.at("magic" if head.magic == 2 else "attributes")
        raise window.reject("bad-nesting", "attributes", at=at, detail="NESTED_COMPRESSION")
    message: Message = PLAIN[head.magic].inner_codec.read(window)
    _skip_extra(window)
    return message


def _next_size(inner: Reader, defect: Rejected | None, scope: Scope) -> SizeAndMagic | None:
    """Return size and magic of the next inner entry, which has this scope, or None at the end of the set.

    An entry that is cut ends the set (L24, L25); if the compressed stream has a defect, that is raised.
    """
    try:
        prefix = None if is_inner_entry_cut(inner) else peek_whole_entry(inner)
    except Rejected:
        if inner.tracing:  # record size and magic, as far as they are there
            start, inner.scope = inner.pos, scope
            with suppress(Rejected):
                inner.pos = start + SIZE_AT
                inner.int32("size")
                inner.pos = start + MAGIC_AT
                inner.int8("magic")
            inner.pos = start
        raise
    if prefix is not None:
        return prefix
    if defect is not None:
        raise defect
    if inner.left:
        inner.remark_once("inner-truncated", "messages", at=inner.pos)
        inner.region("truncated", "ignored", inner.pos, inner.end)
    return None


def _remark_inner(reader: Reader, wrapper: MessageHead, inner: MessageHead) -> None:
    """Add remarks on fields of an inner message that contradict those of the wrapper: §2.2."""
    if inner.magic != wrapper.magic:  # L20, L21
        reader.remark_once("inner-magic", "magic", at=inner.at("magic"))
    create_time = not wrapper.attributes & LOG_APPEND_TIME
    if wrapper.magic and inner.magic and inner.attributes & LOG_APPEND_TIME and create_time:  # L29
        own = (reader.other("own-type", "timestampType", "log-append"),)
        reader.remark_once("inner-ts-type", "attributes", at=inner.at("attributes"), others=own)


def _base(inner: Reader, wrapper: MessageHead, stored: list[int]) -> int:
    """Return the number to add to the stored inner offsets: §2.2, table "Offsets"."""
    if stored != sorted(set(stored)):  # L30, L31
        inner.remark_once("inner-offsets", "messages", at=0)
    if wrapper.magic == 0 or wrapper.offset == 0:  # W30, W34
        return 0
    base = wrapper.offset - stored[-1]
    if base < 0:  # L23, L33
        text = f"wrapper offset {wrapper.offset}, last inner offset {stored[-1]}"
        raise Rejected("bad-offset", wrapper.start, inner.path("offset"), text, detail="WRAPPER_OFFSET")
    if base + min(stored) < 0:  # an absolute offset is negative: as L40 without a wrapper
        inner.remark_once("offset-negative", "messages", at=0)
    return base


def _effective(inner: Message, wrapper: MessageHead, base: int) -> Message:
    """Return an inner message with the offset and the timestamp that a consumer gets: §2.2.

    The offset is absolute. Under a v1 wrapper with LogAppendTime the timestamp is the wrapper's (W32), except
    for a v0 message, which has no timestamp.
    """
    append = wrapper.magic and inner.magic and wrapper.attributes & LOG_APPEND_TIME
    timestamp = wrapper.timestamp if append else inner.timestamp
    offset = wrap64(base + inner.offset)
    return Message(offset, inner.magic, inner.attributes, timestamp, inner.key, inner.value, None)


WRAPPER: Final = Struct(
    "Wrapper",
    *MESSAGE.fields[:-1],
    evolve(WRAPPED, read=read_set),
    revisions=MAGICS,
    value=Message,
    framed=True,
    build=build_message,
    cites="kafka.md §2.2",
)
"""A message around a compressed set of messages. It is written as a message: the set is its value."""

add_common_rules(WRAPPER)


@WRAPPER.rule("crc", "kafka.wrapper.crc")
def _wrong_crc(crc: int, computed: int) -> Fault | None:
    return remarked("wrapper-crc") if crc != computed else None


@WRAPPER.rule("key", "kafka.legacy.unchecked")
def _key_of_wrapper(key: bytes | None) -> Fault | None:
    return remarked("wrapper-key") if key is not None else None  # L15: it has no meaning


@WRAPPER.rule("valueLength", "kafka.wrapper.value")
def _no_set(value_length: int) -> Fault | None:
    if value_length > 0:
        return None
    if value_length < 0:  # L16
        return Fault("null-not-allowed", "null", path="value", detail="WRAPPER_NULL_VALUE")
    return Fault("decompress-failed", "empty", path="value", detail="WRAPPER_EMPTY")  # L17


WRAPPERS: Final = tuple(map(WRAPPER.at, MAGICS))
"""Wrappers by magic."""

# --- writing ---


def write(writer: Writer, message: Message) -> None:
    """Write a message, or a wrapper with its messages: §2.1, §2.2. Size and CRC are computed.

    Raises:
        Rejected: `invalid-value` for a value that a field or the format does not allow.
    """
    if message.magic not in (0, 1):
        raise writer.invalid("magic", f"magic {message.magic}, a message has 0 or 1")
    codec = message.attributes & CODEC_MASK
    if bool(codec) != (message.messages is not None):
        raise writer.invalid("messages", "a wrapper has a codec and messages, other messages have neither")
    if message.messages is None:
        _write_plain(writer, message)
    else:
        _write_wrapper(writer, message, message.messages, codec)


def _write_plain(writer: Writer, message: Message) -> None:
    if message.magic == 0 and message.timestamp != NO_TIMESTAMP:
        raise writer.invalid("timestamp", f"{message.timestamp} in a v0 message")
    PLAIN[message.magic].codec.write(writer, message)


def _write_wrapper(writer: Writer, outer: Message, messages: tuple[Message, ...], codec: int) -> None:
    """Write a wrapper: §2.2, codecs 1 to 3.

    The inner offsets are stored as they are in v0, and relative to the first message in v1.
    """
    if codec not in COMPRESSION_CODECS or codec == ZSTD:
        raise writer.invalid("attributes", f"codec {codec}")
    if not messages or outer.value is not None:
        raise writer.invalid("messages", "a wrapper has messages in place of a value")
    base = 0  # to be subtracted, the inverse of `_base`: §2.2, table "Offsets"
    if outer.magic and outer.offset:
        base = messages[0].offset
        if outer.offset != messages[-1].offset or base < 0:
            raise writer.invalid("offset", "a v1 wrapper has the offset of its last message, or 0")
    inner, scope = Writer(), writer.scope
    for index, message in enumerate(messages):
        inner.scope = (scope, "messages", index)
        _check_inner(inner, outer, message)
        _write_plain(inner, evolve(message, offset=message.offset - base) if base else message)
    value = compress(codec, bytes(inner.data), kip57=outer.magic == 0)
    _write_plain(writer, evolve(outer, value=value))


def _check_inner(writer: Writer, outer: Message, message: Message) -> None:
    if message.magic != outer.magic:
        raise writer.invalid("magic", f"magic {message.magic} in a wrapper of magic {outer.magic}")
    if message.messages is not None or message.attributes & CODEC_MASK:
        raise writer.invalid("messages", "a wrapper cannot contain a wrapper")
    if outer.magic and outer.attributes & LOG_APPEND_TIME and message.timestamp != outer.timestamp:
        raise writer.invalid("timestamp", "under LogAppendTime it must be the wrapper's timestamp")
