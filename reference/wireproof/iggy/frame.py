"""The framing of requests on TCP: iggy.md, section 2.1.

Classic framing, up to 0.10.x: the length includes the code. VSR framing, since 0.11.0: a header of 256 bytes
whose command marks the frame as a request, a reply or an eviction. Since 0.11.1-edge requests and replies
name the partition that they mean: section 6.1.
"""

from typing import TYPE_CHECKING, Final, TypeAlias, cast

from attrs import evolve

from wireproof.iggy.checksums import XXH3
from wireproof.iggy.revision import REVISIONS
from wireproof.schema.layout import REST, WHOLE, Checksum, Length, Number, Octets, Zero
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Field, Struct, choice, since, until
from wireproof.wire.checksums import xxh3_64

if TYPE_CHECKING:
    from wireproof.iggy import values

    Header: TypeAlias = values.RequestHeader | values.ReplyHeader | values.EvictionHeader

HEADER_SIZE: Final = 256
"""The size of a VSR header, in bytes."""

LARGEST_FRAME: Final = 64 * 1024**2
"""The largest size of a VSR frame, in bytes."""

CONTEXT: Final = "0.11.1-edge"
"""The first revision whose requests and replies name a partition."""

OPERATIONS: Final = frozenset({1, 2, 3, *range(64, 69), *range(128, 150), 160, 161, 162})
"""The operations of 0.11.0: iggy.md, section 2.1."""

OPERATIONS_111: Final = (OPERATIONS - {129, 131, 133, 135, 142}) | {*range(70, 76), 150, *range(166, 170)}
"""The operations since 0.11.1-edge, which retired some: iggy.md, section 6.1."""

RESERVED: Final = 0
"""The operation that no request has, and that a reply may have."""

NON_REPLICATED: Final = 2
"""The operation of commands that are not replicated; only such a request has a `code`."""

FIRST_PARTITION_OPERATION: Final = 160
"""The first of the operations on partitions, SendMessages."""

OPERATIONS_WITHOUT_CHECKSUM: Final = (NON_REPLICATED, FIRST_PARTITION_OPERATION)
"""Operations whose `request_checksum` is 0 in 0.11.0. Since 0.11.1-edge it is 0 for each on a partition."""

EVICTION_REASONS: Final = frozenset(range(1, 16))

INCOMPATIBLE_PROTOCOL: Final = 14
"""The reason of an eviction that has the versions of the protocol; with any other they are 0."""


# --- classic ---

CLASSIC_FRAME: Final = Struct(
    "ClassicFrame",
    Length("length", "uint32le", of=REST),
    Number("code", "uint32le"),
    Octets("body"),
    revisions=REVISIONS,
    cites="iggy.md §2.1",
)


@CLASSIC_FRAME.rule("length", "iggy.frame.classic.length")
def _short_length(length: int) -> Fault | None:
    """Refuse a length without room for the code."""
    return Fault("bad-length", f"{length}", detail="InvalidCommand") if length < 4 else None


# --- the headers of VSR frames: bytes 128 to 255, from core/binary_protocol/src/consensus/header.rs ---


def _operation(*more: int) -> tuple[Field, ...]:
    known = (OPERATIONS | {*more}, OPERATIONS_111 | {*more})
    return (
        until(CONTEXT, Number("operation", "uint8", known=known[0])),
        since(CONTEXT, Number("operation", "uint8", known=known[1])),
        Zero("padding", size=7),
    )


REQUEST_HEADER: Final = Struct(
    "RequestHeader",
    Number("client", "uint128le"),
    until(CONTEXT, Checksum("request_checksum", "uint64le", algorithm=XXH3, over="body", shown=True)),
    until(CONTEXT, Zero("request_checksum_high", size=8)),
    since(CONTEXT, Number("request_checksum", "uint128le", meaning="a random number")),
    Number("timestamp", "uint64le"),
    Number("request", "uint64le"),
    *_operation(),
    Number("session", "uint64le"),
    Number("user_id", "uint32le"),
    Number("code", "uint32le", meaning="of a command that is not replicated"),
    since(CONTEXT, Number("partition_incarnation", "uint64le")),
    since(CONTEXT, Number("owner_generation", "uint64le")),
    since(CONTEXT, Number("minimum_metadata_op", "uint64le")),
    until(CONTEXT, Zero("reserved", size=56)),
    since(CONTEXT, Zero("reserved", size=32)),
    revisions=REVISIONS,
    cites="iggy.md §2.1, §6.1",
)

REPLY_HEADER: Final = Struct(
    "ReplyHeader",
    Number("request_checksum", "uint128le"),
    Number("context", "uint128le"),
    Number("client", "uint128le"),
    Number("op", "uint64le"),
    Number("commit", "uint64le"),
    Number("timestamp", "uint64le"),
    Number("request", "uint64le"),
    *_operation(RESERVED),
    Number("status", "uint32le"),
    since(CONTEXT, Number("committed_result", "uint8", meaning="1 means a final committed result")),
    until(CONTEXT, Zero("reserved", size=36)),
    since(CONTEXT, Zero("reserved", size=3)),
    since(CONTEXT, Number("partition_incarnation", "uint64le")),
    since(CONTEXT, Zero("reserved_tail", size=24)),
    revisions=REVISIONS,
    cites="iggy.md §2.1, §6.1",
)

EVICTION_HEADER: Final = Struct(
    "EvictionHeader",
    Number("client", "uint128le"),
    Number("server_protocol_version", "uint32le"),
    Number("server_protocol_version_min", "uint32le"),
    Zero("reserved", size=103),
    Number("reason", "uint8", known=EVICTION_REASONS),
    revisions=REVISIONS,
    cites="iggy.md §2.1",
)
"""The server drops the client."""

REQUEST, REPLY, EVICTION = 5, 8, 13
"""The numbers of the commands."""

HEADERS: Final = {REQUEST: REQUEST_HEADER, REPLY: REPLY_HEADER, EVICTION: EVICTION_HEADER}
"""Command to header."""


# --- VSR frames ---


def checksum_of(operation: int, body: bytes) -> int:
    """Return the request checksum: over the body if the operation is replicated, else 0 (section 2.1)."""
    return 0 if operation in OPERATIONS_WITHOUT_CHECKSUM else xxh3_64(body)


def _request(header: "Header") -> "values.RequestHeader | None":
    """Return the header if it is that of a request; None for one of another command."""
    return cast("values.RequestHeader", header) if hasattr(header, "session") else None


def _with_checksum(frame: "values.VsrFrame") -> "values.VsrFrame":
    """Return a request of 0.11 with its checksum; since 0.11.1-edge it is a number like any other."""
    header = _request(frame.header)
    if header is None or type(header) is not REQUEST_HEADER.at("0.11").type:
        return frame
    checksum = checksum_of(header.operation, frame.body)
    return evolve(frame, header=evolve(header, request_checksum=checksum))


VSR_FRAME: Final = Struct(
    "VsrFrame",
    Zero("checksums", size=48),
    Length("size", "uint32le", of=WHOLE),
    Zero("view", size=8),
    Number("command", "uint8"),
    Zero("replica", size=67),
    choice("header", "command", HEADERS),
    Octets("body"),
    revisions=REVISIONS,
    cites="iggy.md §2.1",
    complete=_with_checksum,
)


@VSR_FRAME.rule("size", "iggy.frame.vsr.size")
def _short_size(size: int) -> Fault | None:
    return Fault("bad-length", f"{size}") if size < HEADER_SIZE else None


@VSR_FRAME.rule("size", "iggy.frame.vsr.limit")
def _large_size(size: int) -> Fault | None:
    if size > LARGEST_FRAME:
        return Fault("limit-exceeded", f"{size} bytes, {LARGEST_FRAME} allowed")
    return None


@VSR_FRAME.rule("command", "iggy.frame.vsr.command")
def _unknown_command(command: int) -> Fault | None:
    return None if command in HEADERS else Fault("bad-kind", f"{command}")


@VSR_FRAME.rule("checksums", "iggy.frame.vsr.gaps")
@VSR_FRAME.rule("view", "iggy.frame.vsr.gaps")
@VSR_FRAME.rule("replica", "iggy.frame.vsr.gaps")
@REQUEST_HEADER.rule("request_checksum_high", "iggy.frame.vsr.gaps", until=CONTEXT)
@REQUEST_HEADER.rule("padding", "iggy.frame.vsr.gaps")
@REQUEST_HEADER.rule("reserved", "iggy.frame.vsr.gaps")
@REPLY_HEADER.rule("padding", "iggy.frame.vsr.gaps")
@REPLY_HEADER.rule("reserved", "iggy.frame.vsr.gaps")
@REPLY_HEADER.rule("reserved_tail", "iggy.frame.vsr.gaps", since=CONTEXT)
@EVICTION_HEADER.rule("reserved", "iggy.frame.vsr.gaps")
def _gap(number: bytes) -> Fault | None:
    return remarked("iggy-unset-field") if any(number) else None


@VSR_FRAME.rule("", "iggy.frame.vsr.checksum", until=CONTEXT)
def _request_checksum(header: "Header", body: bytes) -> Fault | None:
    """Remark a checksum that is not that of the body; with 0 the frame does not come back as it was."""
    request = _request(header)
    if request is None or request.request_checksum == checksum_of(request.operation, body):
        return None
    cls = "iggy-request-checksum" if request.request_checksum else "iggy-no-request-checksum"
    return remarked(cls, path="header.request_checksum")


@VSR_FRAME.rule("", "iggy.frame.context.checksum", since=CONTEXT)
def _unused_checksum(header: "Header") -> Fault | None:
    """Remark a number in a request that is not replicated, or that is for a partition."""
    request = _request(header)
    if request is None:
        return None
    bare = request.operation == NON_REPLICATED or request.operation >= FIRST_PARTITION_OPERATION
    if request.request_checksum and bare:
        return remarked("iggy-request-checksum", path="header.request_checksum")
    return None


def _unused_version(header: "Header", name: str) -> Fault | None:
    unused = getattr(header, "reason", INCOMPATIBLE_PROTOCOL) != INCOMPATIBLE_PROTOCOL
    return remarked("iggy-unset-field", path=f"header.{name}") if unused and getattr(header, name) else None


@VSR_FRAME.rule("", "iggy.frame.vsr.reason")
def _unused_newest(header: "Header") -> Fault | None:
    return _unused_version(header, "server_protocol_version")


@VSR_FRAME.rule("", "iggy.frame.vsr.reason")
def _unused_oldest(header: "Header") -> Fault | None:
    return _unused_version(header, "server_protocol_version_min")
