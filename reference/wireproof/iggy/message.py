"""The layouts of messages, and functions to read and write them: iggy.md, sections 3.1, 3.3, 5 and 7."""

from typing import Any, Final, Literal

from attrs import field, frozen

from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.headers import TLV_V2, read_map, read_map_or_bytes, write_map, write_opaque_block
from wireproof.iggy.layout import (
    CRC32,
    MESSAGE_STATES,
    WIDTHS,
    XXH3,
    Block,
    ChecksumAlgorithm,
    ChecksumField,
    FixedField,
    LengthField,
    MessageLayout,
    Part,
    Rest,
    ZeroField,
)
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

MessageState = Literal["available", "unavailable", "poisoned", "marked_for_deletion"]


@frozen(kw_only=True)
class SentMessage:
    """A message inside a send. For id 0 the server generates an id (section 2.5)."""

    id: int
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class PolledMessage30:
    """A message inside a poll response of 0.0.30. Timestamps are in microseconds."""

    offset: int
    timestamp: int
    id: int
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class PolledMessage40:
    """A message inside a poll response and on disk since 0.0.40."""

    offset: int
    state: MessageState
    timestamp: int
    id: int
    checksum: int = field(default=0)
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class StoredMessage30:
    """A message in a segment file of 0.0.30."""

    offset: int
    timestamp: int
    id: int
    checksum: int = field(default=0)
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class SentMessage70:
    """A message inside a send since 0.7.0. `headers` are bytes if the block is not a map (section 5)."""

    id: int
    origin_timestamp: int
    headers: tuple[tuple[bytes, HeaderValue], ...] | bytes
    payload: bytes


@frozen(kw_only=True)
class SentMessage90:
    """A message inside a send since 0.9.0: keys have kinds."""

    id: int
    origin_timestamp: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...] | bytes
    payload: bytes


@frozen(kw_only=True)
class PolledMessage70:
    """A message inside a poll response and on disk since 0.7.0."""

    checksum: int = field(default=0)
    id: int
    offset: int
    timestamp: int
    origin_timestamp: int
    headers: tuple[tuple[bytes, HeaderValue], ...] | bytes
    payload: bytes


@frozen(kw_only=True)
class PolledMessage90:
    """A message inside a poll response and on disk since 0.9.0: keys have kinds."""

    checksum: int = field(default=0)
    id: int
    offset: int
    timestamp: int
    origin_timestamp: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...] | bytes
    payload: bytes


_OFFSET: Final = FixedField("offset", "uint64le")
_STATE: Final = FixedField("state", "uint8", MESSAGE_STATES)
_TIMESTAMP: Final = FixedField("timestamp", "uint64le")
_ORIGIN: Final = FixedField("origin_timestamp", "uint64le")
_ID: Final = FixedField("id", "uint128le")
_BODY: Final = (
    LengthField("headers_len", "uint32le", "headers"),
    Block("headers"),
    LengthField("payload_len", "uint32le", "payload"),
    Block("payload"),
)


_LENGTHS: Final = (
    LengthField("user_headers_length", "uint32le", "headers"),
    LengthField("payload_length", "uint32le", "payload"),
)
_RESERVED: Final = ZeroField("reserved", "uint64le", "reject")
_BLOCKS: Final = (Block("payload"), Block("headers"))


def _checksum(wrong: Literal["remark", "reject"]) -> ChecksumField:
    return ChecksumField("checksum", "uint32le", wrong)


def _unset(*names: str) -> tuple[Part, ...]:
    """Return the fields that a client leaves at 0 and the server sets: section 5."""
    return tuple(ZeroField(name, "uint64le", "remark") for name in names)


def _sent(*reserved: Part) -> tuple[Part, ...]:
    """Return the layout of a message in a send since 0.7.0: section 5."""
    unset = (*_unset("checksum"), _ID, *_unset("offset", "timestamp"))
    return (*unset, _ORIGIN, *_LENGTHS, *reserved, *_BLOCKS)


def _stored(
    wrong: Literal["remark", "reject"], *reserved: Part, check: ChecksumAlgorithm = XXH3
) -> tuple[Part, ...]:
    """Return the layout of a message as the server stores and delivers it since 0.7.0: sections 5 and 7."""
    checksum = ChecksumField("checksum", "uint64le", wrong, check, over="rest")
    return (checksum, _ID, _OFFSET, _TIMESTAMP, _ORIGIN, *_LENGTHS, *reserved, *_BLOCKS)


SENT_30: Final = MessageLayout((_ID, *_BODY), SentMessage, "reject", filled=True)
SENT_70: Final = MessageLayout(_sent(), SentMessage70, "remark", filled=True, kept=True)
SENT_90: Final = MessageLayout(
    _sent(_RESERVED), SentMessage90, "remark", TLV_V2, filled=True, kept=True, sealed=True
)

POLLED_30: Final = MessageLayout((_OFFSET, _TIMESTAMP, _ID, *_BODY), PolledMessage30, "remark")
POLLED_40: Final = MessageLayout(
    (_OFFSET, _STATE, _TIMESTAMP, _ID, _checksum("remark"), *_BODY), PolledMessage40, "remark"
)
POLLED_70: Final = MessageLayout(_stored("remark", check=CRC32), PolledMessage70, "take", kept=True)
POLLED_80: Final = MessageLayout(_stored("remark"), PolledMessage70, "take", kept=True)
POLLED_90: Final = MessageLayout(
    _stored("remark", _RESERVED), PolledMessage90, "take", TLV_V2, kept=True, sealed=True
)

STORED_30: Final = MessageLayout(
    (_OFFSET, _TIMESTAMP, _ID, _checksum("reject"), *_BODY), StoredMessage30, "remark"
)
STORED_40: Final = MessageLayout(
    (_OFFSET, _STATE, _TIMESTAMP, _ID, _checksum("reject"), *_BODY), PolledMessage40, "remark"
)
STORED_27: Final = MessageLayout(
    (_OFFSET, _STATE, _TIMESTAMP, _ID, _checksum("reject"), *_BODY[:2], Rest("payload")),
    PolledMessage40,
    "remark",
)
"""Server 0.2.5 to 0.4.x: the message is preceded by its length, and the payload has no length."""
STORED_70: Final = MessageLayout(_stored("reject", check=CRC32), PolledMessage70, "take", kept=True)
STORED_80: Final = MessageLayout(_stored("reject"), PolledMessage70, "take", kept=True)
STORED_90: Final = MessageLayout(
    _stored("reject", _RESERVED), PolledMessage90, "take", TLV_V2, kept=True, sealed=True
)


def read_fixed(reader: Reader, part: FixedField) -> Any:  # noqa: ANN401 - an int, or the name of its code
    """Read a field of fixed width. If the part has names, refuse an unknown code as `bad-kind`."""
    start = reader.pos
    code = getattr(reader, part.kind)(part.name)
    if part.names is None:
        return code
    if code not in part.names:
        raise reader.reject("bad-kind", part.name, f"code {code}", at=start, detail="InvalidCommand")
    return part.names[code]


def write_fixed(writer: Writer, part: FixedField, value: Any) -> None:  # noqa: ANN401 - as in `read_fixed`
    """Write an integer, or the code of a name."""
    if part.names is not None:
        value = next(code for code, name in part.names.items() if name == value)
    getattr(writer, part.kind)(part.name, value)


def read_zero(reader: Reader, part: ZeroField) -> None:
    """Read a field that its writer leaves at 0, and remark or refuse another number."""
    start = reader.pos
    if number := getattr(reader, part.kind)(part.name):
        if part.other == "reject":
            raise reader.reject("reserved-nonzero", part.name, str(number), at=start, detail=part.detail)
        reader.remark("iggy-unset-field", part.name, at=start)


def read_message(reader: Reader, layout: MessageLayout) -> Any:  # noqa: ANN401 - the layout's value class
    """Read one message. Its lengths determine its end, even if its headers are not a map (section 10.4)."""
    values: dict[str, Any] = {}
    starts: dict[str, int] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for part in layout.parts:
        starts[part.name] = reader.pos
        match part:
            case LengthField(name, kind, of):
                lengths[of] = (name, getattr(reader, kind)(name))
            case Block(name):
                values[name] = _read_block(reader, layout, name, *lengths[name])
            case Rest(name):
                values[name] = reader.rest(name)
            case ChecksumField(name, kind):
                values[name] = getattr(reader, kind)(name)
            case ZeroField():
                read_zero(reader, part)
            case FixedField(name):
                values[name] = read_fixed(reader, part)
    check_payload(reader, layout, values["payload"], starts["payload"])
    for part in layout.parts:
        if isinstance(part, ChecksumField):
            _check_sum(reader, part, values, starts)
    return layout.value(**values)


def _check_sum(reader: Reader, part: ChecksumField, values: dict[str, Any], starts: dict[str, int]) -> None:
    if part.over == "payload":
        start, end = starts["payload"], starts["payload"] + len(values["payload"])
    else:
        start, end = starts[part.name] + WIDTHS[part.kind], reader.pos
    if part.wrong == "reject":  # a checksum that is not verified need not be fixed up after an edit
        reader.cover(part.name, part.sum.label, start, end)
    check_checksum(reader, part, values[part.name], reader.data[start:end], starts[part.name])


def _read_block(reader: Reader, layout: MessageLayout, name: str, length_name: str, length: int) -> Any:  # noqa: ANN401 - its value
    start = reader.pos
    reader.cover(length_name, "length", start, start + length)
    if name == "payload":
        return reader.take(name, length)
    window = reader.window(name, length)
    reader.region(name, "headers", start, reader.pos)
    return (read_map_or_bytes if layout.kept else read_map)(window, layout.tlv)


def check_payload(reader: Reader, layout: MessageLayout, payload: bytes, start: int) -> None:
    """Refuse or remark an empty payload, as the layout says.

    A send never has one (section 3.1); a reader that gets one must not drop the message.
    """
    if payload or layout.empty == "take":
        return
    if layout.empty == "reject":
        raise reader.reject("bad-length", "payload", "empty", at=start, detail="EmptyMessagePayload")
    reader.remark("iggy-empty-payload", "payload", at=start)


def check_checksum(reader: Reader, part: ChecksumField, found: int, data: bytes, start: int) -> None:
    """Check that the checksum `found`, read at `start`, is the one of `data`."""
    expected = part.sum.of(data)
    if found == expected:
        return
    text = f"{found:x}, expected {expected:x}"
    if part.wrong == "reject":
        raise reader.reject("crc-mismatch", part.name, text, at=start, detail="InvalidMessageChecksum")
    if part.over == "rest" and reader.short == "trailing-data":
        # Section 11.1, R8: clients make phantom messages out of the bytes after the last message.
        raise reader.reject("trailing-data", part.name, f"not a message: {text}", at=start)
    reader.remark(CHECKSUM_REMARKS[part.over], part.name, at=start)


CHECKSUM_REMARKS: Final = {"payload": "iggy-payload-checksum", "rest": "iggy-message-checksum"}
"""The remark class for a wrong checksum that clients do not verify, by the bytes that it covers."""


def write_message(writer: Writer, layout: MessageLayout, message: Any) -> None:  # noqa: ANN401 - as in `read_message`
    """Write one message. Its lengths and checksum are computed."""
    if layout.filled and not message.payload:
        raise writer.invalid("payload", "empty")
    lengths: dict[str, tuple[LengthField, int]] = {}
    starts: list[tuple[ChecksumField, int]] = []
    for part in layout.parts:
        match part:
            case LengthField(name, kind, of):
                lengths[of] = (part, writer.pos)
                getattr(writer, kind)(name, 0)
            case Block(name):
                _write_block(writer, layout, message, name, *lengths[name])
            case ChecksumField():
                starts.append((part, writer.pos))
                _write_sum(writer, part, message.payload)
            case _:
                _write_plain(writer, part, message)
    for part, at in starts:
        if part.over == "rest":
            data = bytes(writer.data[at + WIDTHS[part.kind] :])
            writer.patch(part.name, part.kind, at, part.sum.of(data))


def _write_plain(writer: Writer, part: FixedField | ZeroField | Rest, message: Any) -> None:  # noqa: ANN401 - as above
    match part:
        case Rest(name):
            writer.put(name, getattr(message, name))
        case ZeroField(name, kind):
            getattr(writer, kind)(name, 0)
        case FixedField(name):
            write_fixed(writer, part, getattr(message, name))


def _write_sum(writer: Writer, part: ChecksumField, payload: bytes) -> None:
    """Write a checksum over the payload, or 0 for a checksum over the rest of the message."""
    getattr(writer, part.kind)(part.name, part.sum.of(payload) if part.over == "payload" else 0)


def _write_block(
    writer: Writer,
    layout: MessageLayout,
    message: Any,  # noqa: ANN401 - as above
    name: str,
    length: LengthField,
    at: int,
) -> None:
    start = writer.pos
    if name == "payload":
        writer.put(name, message.payload)
    elif isinstance(message.headers, bytes):
        if not layout.sealed:
            raise writer.invalid(name, "the block is not a map: clients before 0.10.0 do not encrypt headers")
        write_opaque_block(writer, message.headers, layout.tlv)
    else:
        write_map(writer, message.headers, layout.tlv)
    writer.patch(length.name, length.kind, at, writer.pos - start)
    writer.cover(length.name, "length", start, writer.pos)
