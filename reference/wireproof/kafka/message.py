"""Formats v0 and v1: a message, or a wrapper message around a compressed set of messages. kafka.md §2.

`read` accepts and rejects like a Kafka consumer that checks CRCs. Such a consumer checks the CRC of each
message, inner ones too, but not the CRC of a wrapper: a wrong one gets a remark (L27).
"""

from contextlib import suppress
from typing import Final

from attrs import field, frozen

from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME, wrap64
from wireproof.kafka.layouts import MESSAGE_FLAGS, MESSAGE_V0, MESSAGE_V1
from wireproof.kafka.remark_classes import EntryRemarks, with_default_detail
from wireproof.kafka.size_and_magic import SIZE_AT, SizeAndMagic, is_inner_entry_cut, peek_whole_entry
from wireproof.kafka.values import Message
from wireproof.wire.checksums import crc32
from wireproof.wire.compression import COMPRESSION_CODECS, compress, decompress_prefix
from wireproof.wire.cursor import Scope
from wireproof.wire.layout import named_bits
from wireproof.wire.layout_codec import patch_computed, runs
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

LAYOUTS: Final = (MESSAGE_V0, MESSAGE_V1)
"""The layouts by magic: §2.1."""

HEADS: Final = (runs(MESSAGE_V0, "attributes")[0], runs(MESSAGE_V1, "timestamp")[0])
"""The integers before the key, by magic."""

_MAGIC_AT: Final = MESSAGE_V1.offset("magic")

ZSTD: Final = 4

NO_TIMESTAMP: Final = -1
"""The timestamp that means: none. A v0 message has no other."""

UNUSED_BITS: Final = tuple(~named_bits(flags) for flags in MESSAGE_FLAGS)
"""Attribute bits that have no meaning, by magic: §2.1. Bit 3 of v0 is one of them (L08)."""


@frozen
class MessageHeader:
    """The fields before the key, as read.

    Attributes:
        start: position of the message.
        offset, magic, attributes: the fields of these names.
        crc_valid: True if the CRC matches.
        timestamp: -1 in v0, which has no timestamp.
        remarks: the remarks on the message.
    """

    start: int
    offset: int
    crc_valid: bool
    magic: int
    attributes: int
    timestamp: int
    remarks: EntryRemarks = field(factory=EntryRemarks)

    @property
    def codec(self) -> int:
        """Return the compression codec, attribute bits 0 to 2."""
        return self.attributes & CODEC_MASK

    def at(self, name: str) -> int:
        """Return the position of the field `name`; those of v0 have the same positions in v1."""
        return self.start + MESSAGE_V1.offset(name)


def read(reader: Reader, prefix: SizeAndMagic) -> Message:
    """Read the message or wrapper at the current position; all its bytes must be there.

    Order of checks: size and magic (checked before, in `prefix`), CRC, codec, fields, inner set.

    Raises:
        Rejected: `before` is the wrapper with the messages decoded so far, or None if there are none.
    """
    entry = reader.window("message", prefix.total)
    head = _head(entry)
    _remark(entry, head)
    try:
        if not head.codec:
            return _plain(entry, head)
        _check_codec(entry, head)
        return _wrapper(entry, head)
    except Rejected as rejected:
        raise with_default_detail(rejected, "FIELD_PAST_END") from None


def peek_header(data: bytes, pos: int) -> Message:
    """Return the message or wrapper at `pos` without key and value; nothing is checked."""
    offset, _, _, magic, attributes, *rest = HEADS[data[pos + _MAGIC_AT]].peek(data, pos)
    return Message(offset, magic, attributes, rest[0] if rest else NO_TIMESTAMP, None, None, None)


def _head(entry: Reader) -> MessageHeader:
    """Read the fields from offset to timestamp: §2.1. A batch in a wrapper (L22) is read like a message."""
    start, covered = entry.pos, entry.pos + _MAGIC_AT
    head = HEADS[min(entry.data[covered], 1)]
    offset, _, crc, magic, attributes, *timestamp = head.read(entry)
    crc_valid = crc == crc32(memoryview(entry.data)[covered : entry.end])
    return MessageHeader(
        start, offset, crc_valid, magic, attributes, timestamp[0] if timestamp else NO_TIMESTAMP
    )


def _remark(entry: Reader, head: MessageHeader) -> None:
    """Add remarks on values that the reader does not check: §2.1, §5 "IMPL"."""
    checks = (
        (head.offset < 0, "offset-negative", "offset"),  # L40
        (head.attributes & UNUSED_BITS[head.magic], "unknown-attr-bits", "attributes"),  # L08 to L10
        (head.timestamp < -1, "negative-timestamp", "timestamp"),  # L11
    )
    for applies, cls, name in checks:
        if applies:
            head.remarks.add(entry, cls, name, head.at(name))


def _crc_mismatch(entry: Reader, head: MessageHeader) -> Rejected:
    return entry.reject("crc-mismatch", "crc", at=head.at("crc"), detail="CRC_MISMATCH")


def _check_codec(entry: Reader, head: MessageHeader) -> None:
    """Reject the codecs 5 to 7, which do not exist (L14), and 4, zstd, which v0 and v1 do not allow.

    §2.2: L13, Z56, Z57.
    """
    if head.codec in COMPRESSION_CODECS and head.codec != ZSTD:
        return
    if not head.crc_valid:
        raise _crc_mismatch(entry, head)
    at, text = head.at("attributes"), f"codec {head.codec}"
    detail = "LEGACY_ZSTD" if head.codec == ZSTD else "UNKNOWN_CODEC"
    raise entry.reject("unknown-codec", "attributes", text, at=at, detail=detail)


def _plain(entry: Reader, head: MessageHeader) -> Message:
    """Read key and value of an uncompressed message: §2.1. Bytes after them are ignored (L07)."""
    if not head.crc_valid:
        raise _crc_mismatch(entry, head)
    key = _bytes(entry, head, "key")
    value = _bytes(entry, head, "value")
    _skip_extra(entry, head)
    return Message(head.offset, head.magic, head.attributes, head.timestamp, key, value, None)


def _bytes(entry: Reader, head: MessageHeader, name: str) -> bytes | None:
    """Read an int32 length and as many bytes; every negative length means null (L04, L05)."""
    at = entry.pos
    length = entry.int32(f"{name}Length")
    if length >= 0:
        return entry.take(name, length)
    if length < -1:
        head.remarks.add(entry, "length-below-minus1", f"{name}Length", at)
    return None


def _skip_extra(entry: Reader, head: MessageHeader) -> None:
    """Ignore bytes after the value, with a remark: L07."""
    if entry.left:
        head.remarks.add(entry, "legacy-extra-bytes", "extra", entry.pos)
        entry.region("extra", "ignored", entry.pos, entry.end)


# --- wrappers: §2.2 ---


def _wrapper(entry: Reader, head: MessageHeader) -> Message:
    """Read key and value of a wrapper, whose value is a compressed set. The key has no meaning (L15)."""
    if not head.crc_valid:
        head.remarks.add(entry, "wrapper-crc", "crc", head.at("crc"))
    key = _bytes(entry, head, "key")
    if key is not None:
        head.remarks.add(entry, "wrapper-key", "key", entry.pos - len(key))
    at = entry.pos
    length = entry.int32("valueLength")
    entry.cover_next("valueLength", length)
    if length < 0:  # L16
        raise entry.reject("null-not-allowed", "value", "null", at=at, detail="WRAPPER_NULL_VALUE")
    if length == 0:  # L17
        raise entry.reject("decompress-failed", "value", "empty", at=at, detail="WRAPPER_EMPTY")
    region = entry.window("value", length)
    _skip_extra(entry, head)
    inner, defect = decompress_prefix(region, "value", head.codec, kip57=head.magic == 0)
    inner.short = "length-past-end"
    messages, rejected = _set(inner, head, defect)
    wrapper = Message(head.offset, head.magic, head.attributes, head.timestamp, key, None, messages)
    if rejected is not None:
        raise rejected.with_before(wrapper if messages else None)
    return wrapper


def _set(
    inner: Reader, head: MessageHeader, defect: Rejected | None
) -> tuple[tuple[Message, ...], Rejected | None]:
    """Read the inner messages; return those that a consumer gets, and the rejection after them or None.

    Kafka reads the whole set before it delivers a message. An invalid size or offset, or a defect of the
    compressed stream, therefore delivers nothing. Nesting, CRC and fields are checked message by message
    (L19, L22, L28).
    """
    messages: list[Message] = []
    rejected: Rejected | None = None
    offsets: list[int] = []
    scope = inner.scope
    while (prefix := _next_size(inner, head, defect, (scope, "messages", len(offsets)))) is not None:
        inner.scope = (scope, "messages", len(offsets))
        window = inner.window("message", prefix.total)
        message = _head(window)
        offsets.append(message.offset)
        _remark_inner(window, head, message)
        try:
            if rejected is None:
                _check_nesting(window, message)
                messages.append(_plain(window, message))
        except Rejected as first:
            rejected = with_default_detail(first, "FIELD_PAST_END")
    inner.scope = scope
    if not offsets:  # L18
        raise inner.reject("count-mismatch", "messages", "no message", detail="WRAPPER_EMPTY")
    base = _base(inner, head, offsets)
    return tuple(_effective(message, head, base) for message in messages), rejected


def _next_size(
    inner: Reader, head: MessageHeader, defect: Rejected | None, scope: Scope
) -> SizeAndMagic | None:
    """Return size and magic of the next inner entry, which has this scope, or None at the end of the set.

    An entry that is cut ends the set (L24, L25); if the compressed stream has a defect, that is raised.
    """
    try:
        prefix = None if is_inner_entry_cut(inner) else peek_whole_entry(inner)
    except Rejected:
        if inner.tracing:
            inner.scope = scope
            _trace_size_and_magic(inner)
        raise
    if prefix is not None:
        return prefix
    if defect is not None:
        raise defect
    if inner.left:
        head.remarks.add(inner, "inner-truncated", "messages", inner.pos)
        inner.region("truncated", "ignored", inner.pos, inner.end)
    return None


def _trace_size_and_magic(inner: Reader) -> None:
    """Record size and magic of an inner entry that is refused for them, as far as they are there."""
    start = inner.pos
    with suppress(Rejected):
        inner.pos = start + SIZE_AT
        inner.int32("size")
        inner.pos = start + _MAGIC_AT
        inner.int8("magic")
    inner.pos = start


def _check_nesting(window: Reader, inner: MessageHeader) -> None:
    """Reject a compressed message (L19) or a batch (L22) in a wrapper: the depth is 1."""
    if inner.magic == 2 or inner.codec:
        at = inner.at("magic" if inner.magic == 2 else "attributes")
        raise window.reject("bad-nesting", "attributes", at=at, detail="NESTED_COMPRESSION")


def _remark_inner(window: Reader, head: MessageHeader, inner: MessageHeader) -> None:
    """Add remarks on fields of an inner message that contradict those of the wrapper: §2.2."""
    if inner.magic != head.magic:  # L20, L21
        head.remarks.add(window, "inner-magic", "magic", inner.at("magic"))
    create_time = not head.attributes & LOG_APPEND_TIME
    if head.magic and inner.magic and inner.attributes & LOG_APPEND_TIME and create_time:  # L29
        own = (window.other("own-type", "timestampType", "log-append"),)
        head.remarks.add(window, "inner-ts-type", "attributes", inner.at("attributes"), own)


def _base(inner: Reader, head: MessageHeader, stored: list[int]) -> int:
    """Return the number to add to the stored inner offsets: §2.2, table "Offsets"."""
    if stored != sorted(set(stored)):  # L30, L31
        head.remarks.add(inner, "inner-offsets", "messages", 0)
    if head.magic == 0 or head.offset == 0:  # W30, W34
        return 0
    base = head.offset - stored[-1]
    if base < 0:  # L23, L33
        text = f"wrapper offset {head.offset}, last inner offset {stored[-1]}"
        raise Rejected("bad-offset", head.start, inner.path("offset"), text, detail="WRAPPER_OFFSET")
    if base + min(stored) < 0:  # an absolute offset is negative: as L40 without a wrapper
        head.remarks.add(inner, "offset-negative", "messages", 0)
    return base


def _effective(inner: Message, head: MessageHeader, base: int) -> Message:
    """Return an inner message with the offset and the timestamp that a consumer gets: §2.2.

    The offset is absolute. Under a v1 wrapper with LogAppendTime the timestamp is the wrapper's (W32), except
    for a v0 message, which has no timestamp.
    """
    append = head.magic and inner.magic and head.attributes & LOG_APPEND_TIME
    timestamp = head.timestamp if append else inner.timestamp
    offset = wrap64(base + inner.offset)
    return Message(offset, inner.magic, inner.attributes, timestamp, inner.key, inner.value, None)


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
        _write_plain(writer, message, message.offset)
    else:
        _write_wrapper(writer, message, message.messages, codec)


def _write_plain(writer: Writer, message: Message, offset: int) -> None:
    _check_timestamp(writer, message)
    start = _write_head(writer, message, offset)
    _write_bytes(writer, "key", message.key)
    _write_bytes(writer, "value", message.value)
    patch_computed(writer, LAYOUTS[message.magic], start)


def _write_wrapper(writer: Writer, outer: Message, messages: tuple[Message, ...], codec: int) -> None:
    """Write a wrapper: §2.2, codecs 1 to 3.

    The inner offsets are stored as they are in v0, and relative to the first message in v1.
    """
    if codec not in COMPRESSION_CODECS or codec == ZSTD:
        raise writer.invalid("attributes", f"codec {codec}")
    if not messages or outer.value is not None:
        raise writer.invalid("messages", "a wrapper has messages in place of a value")
    _check_timestamp(writer, outer)
    base = _base_to_write(writer, outer, messages)
    inner, scope = Writer(), writer.scope
    for index, message in enumerate(messages):
        inner.scope = (scope, "messages", index)
        _check_inner(inner, outer, message)
        _write_plain(inner, message, message.offset - base)
    start = _write_head(writer, outer, outer.offset)
    _write_bytes(writer, "key", outer.key)
    _write_bytes(writer, "value", compress(codec, bytes(inner.data), kip57=outer.magic == 0))
    patch_computed(writer, LAYOUTS[outer.magic], start)


def _base_to_write(writer: Writer, outer: Message, messages: tuple[Message, ...]) -> int:
    """Return the number to subtract from the offsets, the inverse of `_base`: §2.2, table "Offsets"."""
    if outer.magic == 0 or outer.offset == 0:
        return 0
    if outer.offset != messages[-1].offset or messages[0].offset < 0:
        raise writer.invalid("offset", "a v1 wrapper has the offset of its last message, or 0")
    return messages[0].offset


def _check_inner(writer: Writer, outer: Message, message: Message) -> None:
    if message.magic != outer.magic:
        raise writer.invalid("magic", f"magic {message.magic} in a wrapper of magic {outer.magic}")
    if message.messages is not None or message.attributes & CODEC_MASK:
        raise writer.invalid("messages", "a wrapper cannot contain a wrapper")
    if outer.magic and outer.attributes & LOG_APPEND_TIME and message.timestamp != outer.timestamp:
        raise writer.invalid("timestamp", "under LogAppendTime it must be the wrapper's timestamp")


def _check_timestamp(writer: Writer, message: Message) -> None:
    """Reject a timestamp below -1, and in v0 any but -1, which means none: §1.7, "writer-side rules"."""
    if message.timestamp < -1 or (message.magic == 0 and message.timestamp != -1):
        raise writer.invalid("timestamp", f"{message.timestamp} in a v{message.magic} message")


def _write_head(writer: Writer, message: Message, offset: int) -> int:
    """Write the fields before the key and return their position; size and CRC are 0 for now."""
    start = len(writer.data)
    numbers = (offset, 0, 0, message.magic, message.attributes)
    HEADS[message.magic].write(writer, (*numbers, message.timestamp) if message.magic else numbers)
    return start


def _write_bytes(writer: Writer, name: str, data: bytes | None) -> None:
    if data is None:
        writer.int32(f"{name}Length", -1)
        return
    writer.int32(f"{name}Length", len(data))
    writer.put(name, data)
