"""Formats v0 and v1: a message, or a wrapper around a compressed set of messages. kafka.md §2.

The reader is a Kafka consumer that checks CRCs: it checks those of messages, inner ones too, and not that
of a wrapper (L27), which leaves a remark.
"""

from typing import Final

from attrs import field, frozen

from wireproof.kafka.arithmetic import APPEND_TIME, CODEC, wrap64
from wireproof.kafka.frame import Frame, is_cut, measure
from wireproof.kafka.notes import Notes, named
from wireproof.kafka.values import Message
from wireproof.wire.checksums import crc32
from wireproof.wire.compress import CODECS, compress, decompress_prefix
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer

CRC, MAGIC, ATTRIBUTES = 12, 16, 17
"""Offsets of fields: §2.1."""

ZSTD: Final = 4

UNUSED: Final = (~CODEC, ~(CODEC | APPEND_TIME))
"""Attribute bits that mean nothing, by magic: §2.1. Bit 3 of v0 is one of them (L08)."""


@frozen
class Head:
    """The fields before the key: where the entry begins, whether its CRC holds, and what it says.

    `timestamp` is -1 in v0, which has none.
    """

    start: int
    offset: int
    sealed: bool
    magic: int
    attributes: int
    timestamp: int
    notes: Notes = field(factory=Notes)

    @property
    def codec(self) -> int:
        """Attribute bits 0 to 2."""
        return self.attributes & CODEC


def read(reader: Reader, frame: Frame) -> Message:
    """The whole message or wrapper that begins where `reader` stands, which steps over it.

    Order of precedence: size and magic (in `frame`), CRC, codec, fields, inner set.

    Raises:
        Rejected: with the wrapper as far as its messages were decoded in `before`, if any was.
    """
    entry = reader.window("message", frame.total)
    head = _head(entry)
    _remark(entry, head)
    try:
        if not head.codec:
            return _plain(entry, head)
        _known_codec(entry, head)
        return _wrapper(entry, head)
    except Rejected as refused:
        raise named(refused, "FIELD_PAST_END") from None


def _head(entry: Reader) -> Head:
    start = entry.pos
    offset = entry.int64("offset")
    entry.int32("size")
    entry.cover("size", "length", entry.pos, entry.end)
    crc = entry.uint32("crc")
    entry.cover("crc", "crc32", entry.pos, entry.end)
    sealed = crc == crc32(memoryview(entry.data)[entry.pos : entry.end])
    magic = entry.int8("magic")
    attributes = entry.int8("attributes")
    timestamp = entry.int64("timestamp") if magic else -1
    return Head(start, offset, sealed, magic, attributes, timestamp)


def _remark(entry: Reader, head: Head) -> None:
    """What the reader does not check: §2.1, §5 "IMPL"."""
    rows = (
        (head.offset < 0, "offset-negative", "offset", 0),  # L40
        (head.attributes & UNUSED[head.magic], "unknown-attr-bits", "attributes", ATTRIBUTES),  # L08 to L10
        (head.timestamp < -1, "negative-timestamp", "timestamp", 18),  # L11
    )
    for open_, cls, name, offset in rows:
        if open_:
            head.notes.once(entry, cls, name, head.start + offset)


def _unsealed(entry: Reader, head: Head) -> Rejected:
    return entry.reject("crc-mismatch", "crc", at=head.start + CRC, detail="CRC_MISMATCH")


def _known_codec(entry: Reader, head: Head) -> None:
    """Codecs 5 to 7 do not exist (L14), 4 not in these formats (§2.2: L13, Z56, Z57)."""
    if head.codec in CODECS and head.codec != ZSTD:
        return
    if not head.sealed:
        raise _unsealed(entry, head)
    at, text = head.start + ATTRIBUTES, f"codec {head.codec}"
    detail = "LEGACY_ZSTD" if head.codec == ZSTD else "UNKNOWN_CODEC"
    raise entry.reject("unknown-codec", "attributes", text, at=at, detail=detail)


def _plain(entry: Reader, head: Head) -> Message:
    """§2.1: key and value under int32 lengths; what follows them in the message is ignored (L07)."""
    if not head.sealed:
        raise _unsealed(entry, head)
    key = _octets(entry, head, "key")
    value = _octets(entry, head, "value")
    _remark_extra(entry, head)
    return Message(head.offset, head.magic, head.attributes, head.timestamp, key, value, None)


def _octets(entry: Reader, head: Head, name: str) -> bytes | None:
    """int32 length and bytes; any negative length is null (L04, L05)."""
    at = entry.pos
    length = entry.int32(f"{name}Length")
    if length >= 0:
        return entry.take(name, length)
    if length < -1:
        head.notes.once(entry, "length-below-minus1", f"{name}Length", at)
    return None


def _remark_extra(entry: Reader, head: Head) -> None:
    if entry.left:
        head.notes.once(entry, "legacy-extra-bytes", "extra", entry.pos)
        entry.region("extra", "ignored", entry.pos, entry.end)


# --- wrappers: §2.2 ---


def _wrapper(entry: Reader, head: Head) -> Message:
    """A message whose value is a compressed set. The key means nothing (L15)."""
    if not head.sealed:
        head.notes.once(entry, "wrapper-crc", "crc", head.start + CRC)
    key = _octets(entry, head, "key")
    if key is not None:
        head.notes.once(entry, "wrapper-key", "key", entry.pos - len(key))
    at = entry.pos
    length = entry.int32("valueLength")
    if length < 0:  # L16
        raise entry.reject("null-not-allowed", "value", "null", at=at, detail="WRAPPER_NULL_VALUE")
    if length == 0:  # L17
        raise entry.reject("decompress-failed", "value", "empty", at=at, detail="WRAPPER_EMPTY")
    region = entry.window("value", length)
    _remark_extra(entry, head)
    inner, torn = decompress_prefix(region, "value", head.codec, kip57=head.magic == 0)
    inner.short = "length-past-end"
    messages, refused = _set(inner, head, torn)
    whole = Message(head.offset, head.magic, head.attributes, head.timestamp, key, None, messages)
    if refused is not None:
        raise refused.delivering(whole if messages else None)
    return whole


def _set(inner: Reader, head: Head, torn: Rejected | None) -> tuple[tuple[Message, ...], Rejected | None]:
    """The inner messages as a consumer sees them, and the refusal that meets it behind them.

    Kafka walks the whole set before it delivers any of it, so a bad size, nesting or offset, or a defect
    of the stream, leaves nothing; a CRC or a field is looked at message by message (L28).
    """
    messages: list[Message] = []
    refused: Rejected | None = None
    stored: list[int] = []
    scope = inner.scope
    while (frame := _measure(inner, head, torn)) is not None:
        inner.scope = (scope, "messages", len(stored))
        window = inner.window("message", frame.total)
        one = _head(window)
        stored.append(one.offset)
        _nested(window, one)
        _remark_inner(window, head, one)
        try:
            if refused is None:
                messages.append(_plain(window, one))
        except Rejected as first:
            refused = named(first, "FIELD_PAST_END")
    inner.scope = scope
    if not stored:  # L18
        raise inner.reject("count-mismatch", "messages", "no message", detail="WRAPPER_EMPTY")
    base = _base(inner, head, stored)
    return tuple(_effective(one, head, base) for one in messages), refused


def _measure(inner: Reader, head: Head, torn: Rejected | None) -> Frame | None:
    """The next entry of an inner set. A cut one is dropped (L24, L25), behind a torn stream refused."""
    frame = None if is_cut(inner) else measure(inner)
    if frame is not None:
        return frame
    if torn is not None:
        raise torn
    if inner.left:
        head.notes.once(inner, "inner-truncated", "messages", inner.pos)
        inner.region("truncated", "ignored", inner.pos, inner.end)
    return None


def _nested(window: Reader, one: Head) -> None:
    """Depth is 1: no compressed message inside (L19), no batch either (L22)."""
    if one.magic == 2 or one.codec:
        at = one.start + (MAGIC if one.magic == 2 else ATTRIBUTES)
        raise window.reject("bad-nesting", "attributes", at=at, detail="NESTED_COMPRESSION")


def _remark_inner(window: Reader, head: Head, one: Head) -> None:
    if one.magic != head.magic:  # L20, L21
        head.notes.once(window, "inner-magic", "magic", one.start + MAGIC)
    if head.magic and one.magic and one.attributes & APPEND_TIME and not head.attributes & APPEND_TIME:  # L29
        head.notes.once(window, "inner-ts-type", "attributes", one.start + ATTRIBUTES)


def _base(inner: Reader, head: Head, stored: list[int]) -> int:
    """What inner offsets count from: §2.2, table "Offsets"."""
    if stored != sorted(set(stored)):  # L30, L31
        head.notes.once(inner, "inner-offsets", "messages", 0)
    if head.magic == 0 or head.offset == 0:  # W30, W34
        return 0
    base = head.offset - stored[-1]
    if base < 0:  # L23, L33
        text = f"wrapper offset {head.offset}, last inner offset {stored[-1]}"
        raise Rejected("bad-offset", head.start, inner.path("offset"), text, detail="WRAPPER_OFFSET")
    if base + min(stored) < 0:  # a relative offset below none at all: as L40 outside
        head.notes.once(inner, "offset-negative", "messages", 0)
    return base


def _effective(one: Message, head: Head, base: int) -> Message:
    """Absolute offset; under a v1 wrapper with bit 3 the wrapper's timestamp (W32), but v0 has none."""
    append = head.magic and one.magic and head.attributes & APPEND_TIME
    timestamp = head.timestamp if append else one.timestamp
    offset = wrap64(base + one.offset)
    return Message(offset, one.magic, one.attributes, timestamp, one.key, one.value, None)


# --- writing ---


def write(writer: Writer, message: Message) -> None:
    """The message as it is laid out, or the wrapper around its messages; size and CRC are computed: §2.1.

    Raises:
        Rejected: `invalid-value` for what a field or the format cannot hold.
    """
    if message.magic not in (0, 1):
        raise writer.invalid("magic", f"magic {message.magic}, a message has 0 or 1")
    codec = message.attributes & CODEC
    if bool(codec) != (message.messages is not None):
        raise writer.invalid("messages", "a wrapper has a codec and messages, any other message neither")
    if message.messages is None:
        _write_plain(writer, message, message.offset)
    else:
        _write_wrapper(writer, message, message.messages, codec)


def _write_plain(writer: Writer, message: Message, offset: int) -> None:
    _check_timestamp(writer, message)
    start = _write_head(writer, message, offset)
    _write_octets(writer, "key", message.key)
    _write_octets(writer, "value", message.value)
    _seal(writer, start)


def _write_wrapper(writer: Writer, outer: Message, messages: tuple[Message, ...], codec: int) -> None:
    """§2.2: inner offsets as they are in v0, from the first one on in v1; codecs 1 to 3."""
    if codec not in CODECS or codec == ZSTD:
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
    _write_octets(writer, "key", outer.key)
    _write_octets(writer, "value", compress(codec, bytes(inner.data), kip57=outer.magic == 0))
    _seal(writer, start)


def _base_to_write(writer: Writer, outer: Message, messages: tuple[Message, ...]) -> int:
    """What is taken off the offsets, so that a reader finds them again: the reverse of `_base`."""
    if outer.magic == 0 or outer.offset == 0:
        return 0
    if outer.offset != messages[-1].offset or messages[0].offset < 0:
        raise writer.invalid("offset", "a v1 wrapper has the offset of its last message, or 0")
    return messages[0].offset


def _check_inner(writer: Writer, outer: Message, message: Message) -> None:
    if message.magic != outer.magic:
        raise writer.invalid("magic", f"magic {message.magic} in a wrapper of magic {outer.magic}")
    if message.messages is not None or message.attributes & CODEC:
        raise writer.invalid("messages", "a wrapper in a wrapper")
    if outer.magic and outer.attributes & APPEND_TIME and message.timestamp != outer.timestamp:
        raise writer.invalid("timestamp", "differs from the wrapper's, under LogAppendTime")


def _check_timestamp(writer: Writer, message: Message) -> None:
    """-1 is none (§1.7, "writer-side rules"); v0 has no other."""
    if message.timestamp < -1 or (message.magic == 0 and message.timestamp != -1):
        raise writer.invalid("timestamp", f"{message.timestamp} in a v{message.magic} message")


def _write_head(writer: Writer, message: Message, offset: int) -> int:
    start = len(writer.data)
    writer.int64("offset", offset)
    writer.int32("size", 0)
    writer.uint32("crc", 0)
    writer.int8("magic", message.magic)
    writer.int8("attributes", message.attributes)
    if message.magic:
        writer.int64("timestamp", message.timestamp)
    return start


def _write_octets(writer: Writer, name: str, data: bytes | None) -> None:
    if data is None:
        writer.int32(f"{name}Length", -1)
        return
    writer.int32(f"{name}Length", len(data))
    writer.put(name, data)


def _seal(writer: Writer, start: int) -> None:
    """Size and CRC, which speak of what follows them."""
    end = len(writer.data)
    writer.patch("size", "int32", start + 8, end - start - 12)
    writer.cover("size", "length", start + CRC, end)
    writer.patch("crc", "uint32", start + CRC, crc32(bytes(writer.data[start + MAGIC :])))
    writer.cover("crc", "crc32", start + MAGIC, end)
