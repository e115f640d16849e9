"""The layouts of messages, and functions to read and write them: iggy.md, sections 3.1, 3.3, 5 and 7."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal

from attrs import evolve, field, frozen

from wireproof.iggy.fixed_fields import CRC32, XXH3, check_field
from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.headers import (
    ENTRY_V1,
    ENTRY_V2,
    TLV_V1,
    TLV_V2,
    TlvRules,
    read_map,
    read_map_or_bytes,
    write_map,
    write_opaque_block,
)
from wireproof.wire.layout import (
    REST,
    WIDTHS,
    Checksum,
    ChecksumAlgorithm,
    Layout,
    Length,
    Number,
    Octets,
    Part,
    Repeated,
    Treatment,
    Zero,
)
from wireproof.wire.layout_codec import FixedRun, segments
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

MessageState = Literal["available", "unavailable", "poisoned", "marked_for_deletion"]

MESSAGE_STATES: Final[Mapping[int, MessageState]] = {
    1: "available",
    10: "unavailable",
    20: "poisoned",
    30: "marked_for_deletion",
}
"""The states of a message. Other codes are InvalidCommand: iggy.md, section 3.3."""


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


_OFFSET: Final = Number("offset", "uint64le")
_STATE: Final = Number("state", "uint8", codes=MESSAGE_STATES)
_TIMESTAMP: Final = Number("timestamp", "uint64le", meaning="microseconds, set by the server")
_ORIGIN: Final = Number("origin_timestamp", "uint64le", meaning="microseconds, set by the producer")
_ID: Final = Number("id", "uint128le")
_PAYLOAD: Final = Octets("payload")


def _headers(entry: Layout) -> Octets:
    """Return a header block."""
    return Octets("headers", holds=Repeated("headers", of=entry), read_as="headers")


# --- up to 0.6.x: iggy.md, sections 3.1, 3.3 and 7 ---

_HEADERS_FIRST: Final = (Length("headers_len", "uint32le", of="headers"), _headers(ENTRY_V1))
_BODY_30: Final = (*_HEADERS_FIRST, Length("payload_len", "uint32le", of="payload"), _PAYLOAD)
_CRC_32: Final = Checksum("checksum", "uint32le", algorithm=CRC32, over="payload", shown=True)

SENT_30: Final = Layout("SentMessage", (_ID, *_BODY_30), value=SentMessage, cites="iggy.md §3.1")
POLLED_30: Final = Layout(
    "PolledMessage", (_OFFSET, _TIMESTAMP, _ID, *_BODY_30), value=PolledMessage30, cites="iggy.md §3.3"
)
STORED_30: Final = Layout(
    "StoredMessage", (_OFFSET, _TIMESTAMP, _ID, _CRC_32, *_BODY_30), value=StoredMessage30, cites="iggy.md §7"
)
MESSAGE_40: Final = Layout(
    "PolledMessage",
    (_OFFSET, _STATE, _TIMESTAMP, _ID, _CRC_32, *_BODY_30),
    value=PolledMessage40,
    cites="iggy.md §3.3",
)
STORED_27: Final = Layout(
    "StoredMessage",
    (_OFFSET, _STATE, _TIMESTAMP, _ID, _CRC_32, *_HEADERS_FIRST, _PAYLOAD),
    value=PolledMessage40,
    cites="iggy.md §7",
)
"""Server 0.2.5 to 0.4.x: the length of the message precedes it, and the payload has none."""

# --- since 0.7.0: iggy.md, sections 5 and 7 ---

_LENGTHS: Final = (
    Length("user_headers_length", "uint32le", of="headers"),
    Length("payload_length", "uint32le", of="payload"),
)

RESERVED: Final = Zero("reserved", kind="uint64le", nonzero="reject", error="InvalidReservedField")


def _unset(*names: str) -> tuple[Part, ...]:
    """Return the fields that a client leaves at 0 and the server sets: section 5."""
    return tuple(Zero(name, kind="uint64le", nonzero="remark") for name in names)


def _sent(value: type[Any], entry: Layout, *reserved: Part) -> Layout:
    """Return the layout of a message in a send."""
    unset = (*_unset("checksum"), _ID, *_unset("offset", "timestamp"))
    parts = (*unset, _ORIGIN, *_LENGTHS, *reserved, _PAYLOAD, _headers(entry))
    return Layout("SentMessage", parts, value=value, cites="iggy.md §5")


def _stored(value: type[Any], entry: Layout, algorithm: ChecksumAlgorithm, *reserved: Part) -> Layout:
    """Return the layout of a message as the server stores and delivers it."""
    checksum = Checksum("checksum", "uint64le", algorithm=algorithm, shown=True)
    fields = (checksum, _ID, _OFFSET, _TIMESTAMP, _ORIGIN)
    parts = (*fields, *_LENGTHS, *reserved, _PAYLOAD, _headers(entry))
    return Layout("PolledMessage", parts, value=value, cites="iggy.md §5")


SENT_70: Final = _sent(SentMessage70, ENTRY_V1)
SENT_90: Final = _sent(SentMessage90, ENTRY_V2, RESERVED)
MESSAGE_70: Final = _stored(PolledMessage70, ENTRY_V1, CRC32)
MESSAGE_80: Final = _stored(PolledMessage70, ENTRY_V1, XXH3)
MESSAGE_90: Final = _stored(PolledMessage90, ENTRY_V2, XXH3, RESERVED)


@frozen
class MessageRules:
    """The layout of a message in one use of one revision, and the rules that are not layout.

    Attributes:
        layout: the layout.
        empty: how a reader treats an empty payload.
        wrong: how it treats a checksum that does not match. With server-side encryption a checksum covers the
            ciphertext. A client does not have it and cannot verify; a segment file has it, so it must match.
        tlv: the rules of the headers.
        filled: whether writers refuse an empty payload.
        kept: whether a reader returns a header block that is not a map as bytes: sections 5 and 10.2.
        sealed: whether such a block may be written, as encrypting clients do: section 1, `4ca3cf2b3`.
    """

    layout: Layout
    empty: Treatment
    wrong: Treatment = "accept"
    tlv: TlvRules = TLV_V1
    filled: bool = False
    kept: bool = False
    sealed: bool = False

    @property
    def value(self) -> Any:  # noqa: ANN401 - the class of the layout's values
        """Return the class of the value."""
        return self.layout.value

    @cached_property
    def segments(self) -> tuple[FixedRun | Part, ...]:
        """Return the runs of numbers, and between them the blocks."""
        return segments(self.layout, check=check_field, alone=False)

    @cached_property
    def lengths(self) -> Mapping[str, Length]:
        """Return the length of each block."""
        return {part.of: part for part in self.layout.parts if isinstance(part, Length)}

    @cached_property
    def checksum(self) -> Checksum | None:
        """Return the checksum, if the message has one."""
        return next((part for part in self.layout.parts if isinstance(part, Checksum)), None)


_SENT_LATER: Final = MessageRules(SENT_70, "remark", filled=True, kept=True)

SENT_RULES_30: Final = MessageRules(SENT_30, "reject", filled=True)
SENT_RULES_70: Final = _SENT_LATER
SENT_RULES_90: Final = evolve(_SENT_LATER, layout=SENT_90, tlv=TLV_V2, sealed=True)

POLLED_RULES_30: Final = MessageRules(POLLED_30, "remark")
POLLED_RULES_40: Final = MessageRules(MESSAGE_40, "remark", "remark")
POLLED_RULES_70: Final = MessageRules(MESSAGE_70, "accept", "remark", kept=True)
POLLED_RULES_80: Final = evolve(POLLED_RULES_70, layout=MESSAGE_80)
POLLED_RULES_90: Final = evolve(POLLED_RULES_70, layout=MESSAGE_90, tlv=TLV_V2, sealed=True)

STORED_RULES_30: Final = MessageRules(STORED_30, "remark", "reject")
STORED_RULES_40: Final = evolve(POLLED_RULES_40, wrong="reject")
STORED_RULES_27: Final = evolve(STORED_RULES_40, layout=STORED_27)
STORED_RULES_70: Final = evolve(POLLED_RULES_70, wrong="reject")
STORED_RULES_80: Final = evolve(POLLED_RULES_80, wrong="reject")
STORED_RULES_90: Final = evolve(POLLED_RULES_90, wrong="reject")


def read_message(reader: Reader, rules: MessageRules) -> Any:  # noqa: ANN401 - the layout's value class
    """Read one message. Its lengths determine its end, even if its headers are not a map (section 10.4)."""
    start = reader.pos
    fields: dict[str, Any] = {}
    begins: dict[str, int] = {}
    for part in rules.segments:
        if isinstance(part, FixedRun):
            fields |= part.read_fields(reader)
        else:
            begins[part.name] = reader.pos
            fields[part.name] = _read_block(reader, rules, part.name, fields)
    check_payload(reader, rules, fields["payload"], begins["payload"])
    if rules.checksum is not None:
        _check_sum(reader, rules, fields, start, begins["payload"])
    return rules.value(**fields)


def _check_sum(reader: Reader, rules: MessageRules, fields: dict[str, Any], start: int, payload: int) -> None:
    part = rules.checksum
    assert part is not None
    at = start + rules.layout.offset(part.name)
    first, end = payload, payload + len(fields["payload"])
    if part.over == REST:
        first, end = at + WIDTHS[part.kind], reader.pos
    if rules.wrong == "reject":  # a checksum that is not verified need not be fixed up after an edit
        reader.cover(part.name, part.algorithm.label, first, end)
    check_checksum(reader, rules, fields[part.name], reader.data[first:end], at)


def _read_block(reader: Reader, rules: MessageRules, name: str, fields: dict[str, Any]) -> Any:  # noqa: ANN401 - its value
    """Read the headers or the payload, and remove its length from the fields."""
    length = rules.lengths.get(name)
    if length is None:
        return reader.rest(name)
    start, size = reader.pos, fields.pop(length.name)
    reader.cover(length.name, "length", start, start + size)
    if name == "payload":
        return reader.take(name, size)
    window = reader.window(name, size)
    reader.region(name, "headers", start, reader.pos)
    return (read_map_or_bytes if rules.kept else read_map)(window, rules.tlv)


def check_payload(reader: Reader, rules: MessageRules, payload: bytes, start: int) -> None:
    """Refuse or remark an empty payload, as the rules say.

    A send never has one (section 3.1); a reader that gets one must not drop the message.
    """
    if payload or rules.empty == "accept":
        return
    if rules.empty == "reject":
        raise reader.reject("bad-length", "payload", "empty", at=start, detail="EmptyMessagePayload")
    reader.remark("iggy-empty-payload", "payload", at=start)


def check_checksum(reader: Reader, rules: MessageRules, found: int, data: bytes, start: int) -> None:
    """Check that the checksum `found`, read at `start`, is the one of `data`."""
    part = rules.checksum
    assert part is not None
    expected = part.algorithm.of(data)
    if found == expected:
        return
    text = f"{found:x}, expected {expected:x}"
    if rules.wrong == "reject":
        raise reader.reject("crc-mismatch", part.name, text, at=start, detail="InvalidMessageChecksum")
    if part.over == REST and reader.short == "trailing-data":
        # Section 11.1, R8: clients make phantom messages out of the bytes after the last message.
        raise reader.reject("trailing-data", part.name, f"not a message: {text}", at=start)
    reader.remark(CHECKSUM_REMARKS[part.over], part.name, at=start)


CHECKSUM_REMARKS: Final = {"payload": "iggy-payload-checksum", REST: "iggy-message-checksum"}
"""The remark class for a wrong checksum that clients do not verify, by the bytes that it covers."""


def write_message(writer: Writer, rules: MessageRules, message: Any) -> None:  # noqa: ANN401 - as in `read_message`
    """Write one message. Its lengths and checksum are computed."""
    if rules.filled and not message.payload:
        raise writer.invalid("payload", "empty")
    start, check = writer.pos, rules.checksum
    known = check.algorithm.of(message.payload) if check is not None and check.over == "payload" else 0
    lengths_at: dict[str, int] = {}
    for part in rules.segments:
        if isinstance(part, FixedRun):
            lengths_at = {name: writer.pos + offset for name, offset in part.offsets.items()}
            part.write_fields(writer, message, checksum=known)
        elif (length := rules.lengths.get(part.name)) is not None:
            _write_block(writer, rules, message, part.name, length, lengths_at[length.name])
        else:
            writer.put(part.name, getattr(message, part.name))
    if check is not None and check.over == REST:
        first = start + rules.layout.offset(check.name)
        data = bytes(writer.data[first + WIDTHS[check.kind] :])
        writer.patch(check.name, check.kind, first, check.algorithm.of(data))


def _write_block(
    writer: Writer,
    rules: MessageRules,
    message: Any,  # noqa: ANN401 - as above
    name: str,
    length: Length,
    at: int,
) -> None:
    start = writer.pos
    if name == "payload":
        writer.put(name, message.payload)
    elif isinstance(message.headers, bytes):
        if not rules.sealed:
            raise writer.invalid(name, "the block is not a map: clients before 0.10.0 do not encrypt headers")
        write_opaque_block(writer, message.headers, rules.tlv)
    else:
        write_map(writer, message.headers, rules.tlv)
    writer.patch(length.name, length.kind, at, writer.pos - start)
    writer.cover(length.name, "length", start, writer.pos)
