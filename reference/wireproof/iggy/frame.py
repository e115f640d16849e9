"""The framing of requests on TCP: iggy.md, section 2.1.

Classic framing, up to 0.10.x: `length u32 | code u32 | body`; the length includes the code. VSR framing,
since 0.11.0: a header of 256 bytes whose command field marks the frame as a request, a reply or an
eviction. Since 0.11.1-edge requests and replies name the partition that they mean: section 6.1. A `Gap`
represents bytes of a VSR header that writers leave at 0.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from wireproof.iggy.layout import FixedField
from wireproof.iggy.message import read_fixed, write_fixed
from wireproof.wire.checksums import xxh3_64
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

SMALLEST_LENGTH: Final = 4
"""The smallest length of a classic frame, in bytes: the code without a body."""

HEADER_SIZE: Final = 256
"""The size of a VSR header, in bytes."""

LARGEST_FRAME: Final = 64 * 1024**2
"""The largest size of a VSR frame, in bytes."""


@frozen(kw_only=True)
class ClassicFrame:
    """A request in the classic framing."""

    code: int
    body: bytes


@frozen(kw_only=True)
class RequestHeader:
    """The header of a request, command 5. `code` is set by commands that are not replicated (operation 2)."""

    client: int
    request_checksum: int = field(default=0)
    timestamp: int
    request: int
    operation: int
    session: int
    user_id: int
    code: int


@frozen(kw_only=True)
class ReplyHeader:
    """The header of a reply, command 8."""

    request_checksum: int
    context: int
    client: int
    op: int
    commit: int
    timestamp: int
    request: int
    operation: int
    status: int


@frozen(kw_only=True)
class EvictionHeader:
    """The header of an eviction, command 13: the server drops the client."""

    client: int
    server_protocol_version: int
    server_protocol_version_min: int
    reason: int


@frozen(kw_only=True)
class VsrFrame:
    """A frame in the VSR framing."""

    header: RequestHeader | ReplyHeader | EvictionHeader
    body: bytes


@frozen(kw_only=True)
class RequestHeader111:
    """The header of a request since 0.11.1-edge. `request_checksum` is a random number: section 6.1."""

    client: int
    request_checksum: int
    timestamp: int
    request: int
    operation: int
    session: int
    user_id: int
    code: int
    partition_incarnation: int
    owner_generation: int
    minimum_metadata_op: int


@frozen(kw_only=True)
class ReplyHeader111:
    """The header of a reply since 0.11.1-edge. `committed_result` 1 means a final committed result."""

    request_checksum: int
    context: int
    client: int
    op: int
    commit: int
    timestamp: int
    request: int
    operation: int
    status: int
    committed_result: int
    partition_incarnation: int


@frozen(kw_only=True)
class VsrFrame111:
    """A frame in the VSR framing since 0.11.1-edge."""

    header: RequestHeader111 | ReplyHeader111 | EvictionHeader
    body: bytes


@frozen
class Gap:
    """Bytes that a writer leaves at 0 and that are not part of the value."""

    name: str
    size: int


@frozen
class BodyChecksum:
    """The lower half of `request_checksum`, a checksum over the body."""

    name: str
    kind: str = "uint64le"


HeaderPart: TypeAlias = FixedField | Gap | BodyChecksum


def _wide(*names: str) -> tuple[FixedField, ...]:
    return tuple(FixedField(name, "uint64le") for name in names)


_CLIENT: Final = FixedField("client", "uint128le")
_OPERATION: Final = FixedField("operation", "uint8")

_REQUEST: Final[tuple[HeaderPart, ...]] = (
    _CLIENT, BodyChecksum("request_checksum"), Gap("request_checksum_high", 8),
    *_wide("timestamp", "request"), _OPERATION, Gap("padding", 7),
    *_wide("session"), FixedField("user_id", "uint32le"), FixedField("code", "uint32le"), Gap("reserved", 56),
)  # fmt: skip
_REPLY: Final[tuple[HeaderPart, ...]] = (
    FixedField("request_checksum", "uint128le"), FixedField("context", "uint128le"), _CLIENT,
    *_wide("op", "commit", "timestamp", "request"), _OPERATION, Gap("padding", 7),
    FixedField("status", "uint32le"), Gap("reserved", 36),
)  # fmt: skip
_EVICTION: Final[tuple[HeaderPart, ...]] = (
    _CLIENT,
    FixedField("server_protocol_version", "uint32le"), FixedField("server_protocol_version_min", "uint32le"),
    Gap("reserved", 103), FixedField("reason", "uint8"),
)  # fmt: skip
_REQUEST_111: Final[tuple[HeaderPart, ...]] = (
    _CLIENT, FixedField("request_checksum", "uint128le"), *_REQUEST[3:-1],
    *_wide("partition_incarnation", "owner_generation", "minimum_metadata_op"), Gap("reserved", 32),
)  # fmt: skip
_REPLY_111: Final[tuple[HeaderPart, ...]] = (
    *_REPLY[:-1], FixedField("committed_result", "uint8"), Gap("reserved", 3),
    *_wide("partition_incarnation"), Gap("reserved_tail", 24),
)  # fmt: skip


@frozen
class HeaderLayout:
    """The class of a header and its fields, from byte 128 on."""

    value: type[Any]
    parts: tuple[HeaderPart, ...]


HEADERS_BY_COMMAND: Final[Mapping[int, HeaderLayout]] = {
    5: HeaderLayout(RequestHeader, _REQUEST),
    8: HeaderLayout(ReplyHeader, _REPLY),
    13: HeaderLayout(EvictionHeader, _EVICTION),
}
"""Command number to header: iggy.md, section 2.1, from core/binary_protocol/src/consensus/header.rs."""

HEADERS_BY_COMMAND_111: Final[Mapping[int, HeaderLayout]] = {
    5: HeaderLayout(RequestHeader111, _REQUEST_111),
    8: HeaderLayout(ReplyHeader111, _REPLY_111),
    13: HEADERS_BY_COMMAND[13],
}
"""The same since 0.11.1-edge."""

NON_REPLICATED: Final = 2
"""The operation of commands that are not replicated."""

FIRST_PARTITION_OPERATION: Final = 160
"""The first of the operations on partitions, SendMessages."""

OPERATIONS_WITHOUT_CHECKSUM: Final = (NON_REPLICATED, FIRST_PARTITION_OPERATION)
"""Operations whose `request_checksum` is 0 in 0.11.0. Since 0.11.1-edge it is 0 for each on a partition."""


@frozen
class FrameRevision:
    """A revision of the frame: its read function, its write function and the class of its value."""

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]
    value: type[Any]


def decode(revision: FrameRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read one frame. Bytes after it are left unread."""
    return revision.read(reader)


def encode(revision: FrameRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one frame."""
    revision.write(writer, value)


def _read_classic(reader: Reader) -> ClassicFrame:
    at, length = reader.pos, reader.uint32le("length")
    reader.cover("length", "length", reader.pos, reader.pos + length)
    if length < SMALLEST_LENGTH:
        raise reader.reject("bad-length", "length", f"{length}", at=at, detail="InvalidCommand")
    return ClassicFrame(code=reader.uint32le("code"), body=reader.take("body", length - SMALLEST_LENGTH))


def _write_classic(writer: Writer, value: ClassicFrame) -> None:
    writer.uint32le("length", SMALLEST_LENGTH + len(value.body))
    writer.uint32le("code", value.code)
    writer.put("body", value.body)


def _read_vsr(layout: "VsrLayout", reader: Reader) -> Any:  # noqa: ANN401 - the layout's value class
    start = reader.pos
    _read_gap(reader, Gap("checksums", 48))
    at, size = reader.pos, reader.uint32le("size")
    reader.cover("size", "length", start, start + size)
    if size < HEADER_SIZE:
        raise reader.reject("bad-length", "size", f"{size}", at=at)
    if size > LARGEST_FRAME:
        raise reader.reject("limit-exceeded", "size", f"{size} bytes, {LARGEST_FRAME} allowed", at=at)
    _read_gap(reader, Gap("view", 8))
    code = reader.uint8("command")
    if code not in layout.commands:
        raise reader.reject("bad-kind", "command", f"{code}", at=reader.pos - 1)
    _read_gap(reader, Gap("replica", 67))
    header, body = _read_command(reader, layout.commands[code], size - HEADER_SIZE)
    return layout.value(header=header, body=body)


def _read_command(reader: Reader, command: HeaderLayout, length: int) -> tuple[Any, bytes]:
    reader.enter("header")
    starts: dict[str, int] = {}
    values: dict[str, Any] = {}
    for part in command.parts:
        starts[part.name] = reader.pos
        match part:
            case Gap():
                _read_gap(reader, part)
            case BodyChecksum(name, kind):
                values[name] = getattr(reader, kind)(name)
            case FixedField(name):
                values[name] = read_fixed(reader, part)
    reader.leave()
    body = reader.take("body", length)
    header = command.value(**values)
    if _has_other_checksum(header, body):
        reader.remark("iggy-request-checksum", "header.request_checksum", at=starts["request_checksum"])
    elif isinstance(header, RequestHeader) and header.request_checksum != _sum(header.operation, body):
        # the encoder writes the checksum, so the frame does not come back as it was
        reader.remark("iggy-no-request-checksum", "header.request_checksum", at=starts["request_checksum"])
    return header, body


def _has_other_checksum(header: Any, body: bytes) -> bool:  # noqa: ANN401 - a header of any command
    """Return whether the request checksum is not one that a client of the revision writes."""
    match header:
        case RequestHeader(request_checksum=checksum, operation=operation):
            return checksum not in {0, _sum(operation, body)}
        case RequestHeader111(request_checksum=checksum, operation=operation):
            bare = operation == NON_REPLICATED or operation >= FIRST_PARTITION_OPERATION
            return bool(checksum) and bare
        case _:
            return False


def _read_gap(reader: Reader, gap: Gap) -> None:
    start = reader.pos
    if any(reader.take(gap.name, gap.size)):
        reader.remark("iggy-unset-field", gap.name, at=start)


def _sum(operation: int, body: bytes) -> int:
    """Return the request checksum: over the body if the operation is replicated, else 0 (section 2.1)."""
    return 0 if operation in OPERATIONS_WITHOUT_CHECKSUM else xxh3_64(body)


def _write_vsr(layout: "VsrLayout", writer: Writer, value: VsrFrame | VsrFrame111) -> None:
    code = next(code for code, command in layout.commands.items() if command.value is type(value.header))
    size = HEADER_SIZE + len(value.body)
    if size > LARGEST_FRAME:
        raise writer.invalid("body", f"{size} bytes with the header, {LARGEST_FRAME} allowed")
    writer.put("checksums", bytes(48))
    writer.uint32le("size", size)
    writer.put("view", bytes(8))
    writer.uint8("command", code)
    writer.put("replica", bytes(67))
    writer.enter("header")
    for part in layout.commands[code].parts:
        match part:
            case Gap(name, width):
                writer.put(name, bytes(width))
            case BodyChecksum(name, kind):
                getattr(writer, kind)(name, _sum(getattr(value.header, "operation", 0), value.body))
            case FixedField(name):
                write_fixed(writer, part, getattr(value.header, name))
    writer.leave()
    writer.put("body", value.body)


@frozen
class VsrLayout:
    """The layout of a VSR frame: the headers by their commands, and the class of the value."""

    commands: Mapping[int, HeaderLayout]
    value: type[Any]


def _vsr(commands: Mapping[int, HeaderLayout], value: type[Any]) -> FrameRevision:
    layout = VsrLayout(commands, value)
    return FrameRevision(partial(_read_vsr, layout), partial(_write_vsr, layout), value)


REVISIONS: Final[dict[str, FrameRevision]] = {
    "0.0.30": FrameRevision(_read_classic, _write_classic, ClassicFrame),
    "0.11": _vsr(HEADERS_BY_COMMAND, VsrFrame),
    "0.11.1-edge": _vsr(HEADERS_BY_COMMAND_111, VsrFrame111),
}
"""Revision to its row: classic and VSR."""
