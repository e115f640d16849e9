"""The framing of requests on TCP: iggy.md, section 2.1.

Classic framing, up to 0.10.x: the length includes the code. VSR framing,
since 0.11.0: a header of 256 bytes whose command field marks the frame as a request, a reply or an
eviction. Since 0.11.1-edge requests and replies name the partition that they mean: section 6.1.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from attrs import field, frozen

from wireproof.iggy.fixed_fields import XXH3, iggy_runs
from wireproof.iggy.revision import Revision
from wireproof.wire.checksums import xxh3_64
from wireproof.wire.layout import (
    REST,
    WHOLE,
    Checksum,
    Layout,
    Length,
    Number,
    Octets,
    OneOf,
    Part,
    Zero,
)
from wireproof.wire.layout_codec import FixedRun
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


CLASSIC: Final = Layout(
    "Request",
    (Length("length", "uint32le", of=REST), Number("code", "uint32le"), Octets("body")),
    value=ClassicFrame,
    cites="iggy.md §2.1",
)


def _gap(name: str, size: int) -> Zero:
    """Return bytes that writers leave at 0."""
    return Zero(name, size=size, nonzero="remark")


def _header(value: type[Any], *parts: Part, cites: str = "iggy.md §2.1") -> Layout:
    """Return the header of a command: the bytes 128 to 255 of a frame."""
    return Layout(value.__name__, parts, value=value, cites=cites)


_CLIENT: Final = Number("client", "uint128le")

OPERATIONS: Final = frozenset({1, 2, 3, *range(64, 69), *range(128, 150), 160, 161, 162})
"""The operations of 0.11.0: iggy.md, section 2.1."""

OPERATIONS_111: Final = (OPERATIONS - {129, 131, 133, 135, 142}) | {*range(70, 76), 150, *range(166, 170)}
"""The operations since 0.11.1-edge, which retired some: iggy.md, section 6.1."""

RESERVED: Final = 0
"""The operation that no request has, and that a reply may have."""

EVICTION_REASONS: Final = frozenset(range(1, 16))

INCOMPATIBLE_PROTOCOL: Final = 14
"""The reason of an eviction that has the versions of the protocol; with any other they are 0."""


def _request(operations: frozenset[int]) -> tuple[Part, ...]:
    return (
        Number("timestamp", "uint64le"),
        Number("request", "uint64le"),
        Number("operation", "uint8", known=operations),
        _gap("padding", 7),
        Number("session", "uint64le"),
        Number("user_id", "uint32le"),
        Number("code", "uint32le"),
    )


def _reply(operations: frozenset[int]) -> tuple[Part, ...]:
    return (
        Number("request_checksum", "uint128le"),
        Number("context", "uint128le"),
        _CLIENT,
        Number("op", "uint64le"),
        Number("commit", "uint64le"),
        Number("timestamp", "uint64le"),
        Number("request", "uint64le"),
        Number("operation", "uint8", known=operations | {RESERVED}),
        _gap("padding", 7),
        Number("status", "uint32le"),
    )


REQUEST, REPLY, EVICTION = 5, 8, 13
"""The numbers of the commands."""

_EVICTION: Final = _header(
    EvictionHeader,
    _CLIENT,
    Number("server_protocol_version", "uint32le"),
    Number("server_protocol_version_min", "uint32le"),
    _gap("reserved", 103),
    Number("reason", "uint8", known=EVICTION_REASONS),
)

HEADERS_BY_COMMAND: Final[Mapping[int, Layout]] = {
    REQUEST: _header(
        RequestHeader,
        _CLIENT,
        Checksum("request_checksum", "uint64le", algorithm=XXH3, over="body", shown=True),
        _gap("request_checksum_high", 8),
        *_request(OPERATIONS),
        _gap("reserved", 56),
    ),
    REPLY: _header(ReplyHeader, *_reply(OPERATIONS), _gap("reserved", 36)),
    EVICTION: _EVICTION,
}
"""Command number to header: iggy.md, section 2.1, from core/binary_protocol/src/consensus/header.rs."""

HEADERS_BY_COMMAND_111: Final[Mapping[int, Layout]] = {
    REQUEST: _header(
        RequestHeader111,
        _CLIENT,
        Number("request_checksum", "uint128le", meaning="a random number"),
        *_request(OPERATIONS_111),
        Number("partition_incarnation", "uint64le"),
        Number("owner_generation", "uint64le"),
        Number("minimum_metadata_op", "uint64le"),
        _gap("reserved", 32),
        cites="iggy.md §6.1",
    ),
    REPLY: _header(
        ReplyHeader111,
        *_reply(OPERATIONS_111),
        Number("committed_result", "uint8"),
        _gap("reserved", 3),
        Number("partition_incarnation", "uint64le"),
        _gap("reserved_tail", 24),
        cites="iggy.md §6.1",
    ),
    EVICTION: _EVICTION,
}
"""The same since 0.11.1-edge."""

NON_REPLICATED: Final = 2
"""The operation of commands that are not replicated."""

FIRST_PARTITION_OPERATION: Final = 160
"""The first of the operations on partitions, SendMessages."""

OPERATIONS_WITHOUT_CHECKSUM: Final = (NON_REPLICATED, FIRST_PARTITION_OPERATION)
"""Operations whose `request_checksum` is 0 in 0.11.0. Since 0.11.1-edge it is 0 for each on a partition."""


@frozen
class FrameRevision(Revision):
    """A revision of the frame: its read function and its write function."""

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]


def decode(revision: FrameRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read one frame. Bytes after it are left unread."""
    return revision.read(reader)


def encode(revision: FrameRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one frame."""
    revision.write(writer, value)


_LENGTH, _CODE = iggy_runs(CLASSIC, "length")


def _read_classic(reader: Reader) -> ClassicFrame:
    at, (length,) = reader.pos, _LENGTH.read(reader)
    reader.cover("length", "length", reader.pos, reader.pos + length)
    if length < SMALLEST_LENGTH:
        raise reader.reject("bad-length", "length", f"{length}", at=at, detail="InvalidCommand")
    (code,) = _CODE.read(reader)
    return ClassicFrame(code=code, body=reader.take("body", length - SMALLEST_LENGTH))


def _write_classic(writer: Writer, value: ClassicFrame) -> None:
    _LENGTH.write(writer, (SMALLEST_LENGTH + len(value.body),))
    _CODE.write_fields(writer, value)
    writer.put("body", value.body)


@frozen(eq=False)
class VsrCodec:
    """Reads and writes the VSR frames of a revision. `headers`: the layouts by the number of the command."""

    value: type[Any]
    headers: Mapping[int, Layout]

    @cached_property
    def layout(self) -> Layout:
        """Return the layout of a frame."""
        parts = (
            _gap("checksums", 48),
            Length("size", "uint32le", of=WHOLE),
            _gap("view", 8),
            Number("command", "uint8"),
            _gap("replica", 67),
            OneOf("header", number="command", layouts=self.headers),
            Octets("body"),
        )
        return Layout("Frame", parts, value=self.value, cites="iggy.md §2.1")

    @cached_property
    def _prefix(self) -> Sequence[FixedRun]:
        return iggy_runs(self.layout, "size", "command")

    @cached_property
    def _headers(self) -> Mapping[int, FixedRun]:
        return {code: iggy_runs(layout)[0] for code, layout in self.headers.items()}

    def read(self, reader: Reader) -> Any:  # noqa: ANN401 - the value class
        """Read one frame."""
        until_size, until_command, rest = self._prefix
        start, size = reader.pos, until_size.read_fields(reader)["size"]
        reader.cover("size", "length", start, start + size)
        at = start + self.layout.offset("size")
        if size < HEADER_SIZE:
            raise reader.reject("bad-length", "size", f"{size}", at=at)
        if size > LARGEST_FRAME:
            raise reader.reject("limit-exceeded", "size", f"{size} bytes, {LARGEST_FRAME} allowed", at=at)
        code = until_command.read_fields(reader)["command"]
        if code not in self.headers:
            raise reader.reject("bad-kind", "command", f"{code}", at=reader.pos - 1)
        rest.read(reader)
        header, body = self._read_command(reader, code, size - HEADER_SIZE)
        return self.value(header=header, body=body)

    def _read_command(self, reader: Reader, code: int, length: int) -> tuple[Any, bytes]:
        layout, start = self.headers[code], reader.pos
        reader.enter("header")
        fields = self._headers[code].read_fields(reader)
        reader.leave()
        body = reader.take("body", length)
        assert layout.value is not None
        header = layout.value(**fields)
        if cls := _checksum_remark(header, body):
            reader.remark(cls, "header.request_checksum", at=start + layout.offset("request_checksum"))
        if isinstance(header, EvictionHeader) and header.reason != INCOMPATIBLE_PROTOCOL:
            for name in ("server_protocol_version", "server_protocol_version_min"):
                if fields[name]:
                    reader.remark("iggy-unset-field", f"header.{name}", at=start + layout.offset(name))
        return header, body

    def write(self, writer: Writer, value: VsrFrame | VsrFrame111) -> None:
        """Write one frame."""
        code = next(code for code, layout in self.headers.items() if layout.value is type(value.header))
        size = HEADER_SIZE + len(value.body)
        if size > LARGEST_FRAME:
            raise writer.invalid("body", f"{size} bytes with the header, {LARGEST_FRAME} allowed")
        until_size, until_command, rest = self._prefix
        until_size.write(writer, (bytes(48), size))
        until_command.write(writer, (bytes(8), code))
        rest.write(writer, (bytes(67),))
        writer.enter("header")
        checksum = _sum(getattr(value.header, "operation", 0), value.body)
        self._headers[code].write_fields(writer, value.header, request_checksum=checksum)
        writer.leave()
        writer.put("body", value.body)


def _checksum_remark(header: Any, body: bytes) -> str:  # noqa: ANN401 - a header of any command
    """Return the remark class of the request checksum; empty if it is the one that the encoder writes."""
    if _has_other_checksum(header, body):
        return "iggy-request-checksum"
    if isinstance(header, RequestHeader) and header.request_checksum != _sum(header.operation, body):
        return "iggy-no-request-checksum"  # the frame does not come back as it was
    return ""


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


def _sum(operation: int, body: bytes) -> int:
    """Return the request checksum: over the body if the operation is replicated, else 0 (section 2.1)."""
    return 0 if operation in OPERATIONS_WITHOUT_CHECKSUM else xxh3_64(body)


def _vsr(codec: VsrCodec) -> FrameRevision:
    return FrameRevision(codec.layout, codec.read, codec.write)


REVISIONS: Final[dict[str, FrameRevision]] = {
    "0.0.30": FrameRevision(CLASSIC, _read_classic, _write_classic),
    "0.11": _vsr(VsrCodec(VsrFrame, HEADERS_BY_COMMAND)),
    "0.11.1-edge": _vsr(VsrCodec(VsrFrame111, HEADERS_BY_COMMAND_111)),
}
"""Revision to its row: classic and VSR."""
