"""Messages in sends, in poll responses and in segment files: iggy.md, sections 3.1, 3.3, 5 and 7.

With server-side encryption a checksum covers the ciphertext. A client does not have it and cannot verify; a
segment file has it, so it must match there.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Literal

from wireproof.iggy.checksums import CRC32, XXH3
from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.headers import (
    ENTRY_V1,
    ENTRY_V2,
    TLV_V1,
    TLV_V2,
    TlvRules,
    block_size,
    read_map,
    read_map_or_bytes,
    write_map,
    write_map_or_block,
)
from wireproof.iggy.revision import REVISIONS
from wireproof.schema.layout import REST, Block, Checksum, Length, Number, Octets, Repeated, Zero
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Field, Struct, since, until
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

# --- headers ---

HEADERS_V1: Final = tuple[tuple[bytes, HeaderValue], ...]
HEADERS_V2: Final = tuple[tuple[HeaderValue, HeaderValue], ...]
"""The types of header maps: since 0.9.0 a key has a kind."""


def _read_headers(read: Callable[[Reader, TlvRules], Any], tlv: TlvRules, window: Reader) -> Any:  # noqa: ANN401 - a map or bytes
    window.region("headers", "headers", window.pos, window.end)
    return read(window, tlv)


def _write_map(tlv: TlvRules, writer: Writer, headers: Any) -> None:  # noqa: ANN401 - as there
    if isinstance(headers, bytes):
        raise writer.invalid(
            "headers", "the block is not a map: clients before 0.10.0 do not encrypt headers"
        )
    write_map(writer, headers, tlv)


def headers_block(tlv: TlvRules, *, kept: bool = True, sealed: bool = False) -> Block:
    """Return the header block of a message.

    Args:
        tlv: the rules of its entries.
        kept: whether a reader returns a block that is not a map as bytes: sections 5 and 10.2.
        sealed: whether such a block may be written, as encrypting clients do: section 1, `4ca3cf2b3`.
    """
    entry, kind = (ENTRY_V2, HEADERS_V2) if tlv.keyed else (ENTRY_V1, HEADERS_V1)
    return Block(
        "headers",
        holds=Repeated("headers", of=entry),
        type=kind | bytes if kept else kind,
        read=partial(_read_headers, read_map_or_bytes if kept else read_map, tlv),
        write=partial(write_map_or_block if sealed else _write_map, tlv),
        measure=block_size,
    )


def header_maps() -> tuple[Field, ...]:
    """Return the header map of a message in JSON, which is bytes since 0.10.0 if a block is not a map."""
    return (
        until("0.9", headers_block(TLV_V1, kept=False)),
        since("0.9", until("0.10", headers_block(TLV_V2, kept=False))),
        since("0.10", headers_block(TLV_V2)),
    )


# --- layouts ---

HEADED: Final = "0.7"
"""The first revision in which a message has a header of fixed size: section 5."""

_OFFSET: Final = Number("offset", "uint64le")
_TIMESTAMP: Final = Number("timestamp", "uint64le", meaning="microseconds, set by the server")
_ORIGIN: Final = Number("origin_timestamp", "uint64le", meaning="microseconds, set by the producer")
_ID: Final = Number("id", "uint128le")
PAYLOAD: Final = Octets("payload")

LENGTHS: Final = (
    Length("user_headers_length", "uint32le", of="headers"),
    Length("payload_length", "uint32le", of="payload"),
)

RESERVED: Final = Zero("reserved", kind="uint64le", error="InvalidReservedField")

_HEADERS_FIRST: Final = (
    until(HEADED, Length("headers_len", "uint32le", of="headers")),
    until(HEADED, headers_block(TLV_V1, kept=False)),
)
_PAYLOAD_LENGTH: Final = Length("payload_len", "uint32le", of="payload")

_HEADED: Final[tuple[Field, ...]] = (
    *(since(HEADED, part) for part in LENGTHS),
    since("0.9", RESERVED),
)
_HEADERS_LAST: Final = (
    since(HEADED, until("0.9", headers_block(TLV_V1))),
    since("0.9", headers_block(TLV_V2, sealed=True)),
)

SENT: Final = Struct(
    "SentMessage",
    since(HEADED, Zero("checksum", kind="uint64le")),
    _ID,
    since(HEADED, Zero("offset", kind="uint64le")),
    since(HEADED, Zero("timestamp", kind="uint64le")),
    since(HEADED, _ORIGIN),
    *_HEADED,
    *_HEADERS_FIRST,
    until(HEADED, _PAYLOAD_LENGTH),
    PAYLOAD,
    *_HEADERS_LAST,
    revisions=REVISIONS,
    cites="iggy.md §3.1, §5",
)
"""A message in a send. For id 0 the server generates an id (section 2.5)."""

_CHECKSUM: Final[tuple[Field, ...]] = (
    since(HEADED, until("0.8", Checksum("checksum", "uint64le", algorithm=CRC32, shown=True))),
    since("0.8", Checksum("checksum", "uint64le", algorithm=XXH3, shown=True)),
)
_PAYLOAD_CHECKSUM: Final = Checksum("checksum", "uint32le", algorithm=CRC32, over="payload", shown=True)
_STATE: Final = since(
    "0.0.40", until(HEADED, Number("state", "uint8", codes=MESSAGE_STATES, error="InvalidCommand"))
)
_TIMES: Final = (since(HEADED, _OFFSET), since(HEADED, _TIMESTAMP), since(HEADED, _ORIGIN))

POLLED: Final = Struct(
    "PolledMessage",
    *_CHECKSUM,
    until(HEADED, _OFFSET),
    _STATE,
    until(HEADED, _TIMESTAMP),
    _ID,
    since("0.0.40", until(HEADED, _PAYLOAD_CHECKSUM)),
    *_TIMES,
    *_HEADED,
    *_HEADERS_FIRST,
    until(HEADED, _PAYLOAD_LENGTH),
    PAYLOAD,
    *_HEADERS_LAST,
    revisions=REVISIONS,
    cites="iggy.md §3.3, §5",
)
"""A message in a poll response."""

STORED: Final = Struct(
    "StoredMessage",
    since("0.2.7", until(HEADED, Length("length", "uint32le", of=REST))),
    *_CHECKSUM,
    until(HEADED, _OFFSET),
    _STATE,
    until(HEADED, _TIMESTAMP),
    _ID,
    until(HEADED, _PAYLOAD_CHECKSUM),
    *_TIMES,
    *_HEADED,
    *_HEADERS_FIRST,
    until("0.2.7", _PAYLOAD_LENGTH),
    PAYLOAD,
    *_HEADERS_LAST,
    revisions=REVISIONS,
    cites="iggy.md §5, §7",
)
"""A message in a segment file. In 0.2.7 its length precedes it, and the payload has none."""


# --- rules ---


@SENT.rule("payload", "iggy.send.payload.empty", until=HEADED)
def _empty(payload: bytes) -> Fault | None:
    return None if payload else Fault("bad-length", "empty", detail="EmptyMessagePayload")


@SENT.rule("payload", "iggy.send.headed.payload.empty", since=HEADED)
def sent_empty(payload: bytes) -> Fault | None:
    """Remark an empty payload: a reader that gets one must not drop the message (section 3.1)."""
    return None if payload else remarked("iggy-empty-payload", text="empty", written=False)


@POLLED.rule("payload", "iggy.poll.payload.empty", until=HEADED)
@STORED.rule("payload", "iggy.poll.payload.empty", until=HEADED)
def _read_empty(payload: bytes) -> Fault | None:
    return None if payload else remarked("iggy-empty-payload")


@SENT.rule("checksum", "iggy.send.headed.unset", since=HEADED)
@SENT.rule("offset", "iggy.send.headed.unset", since=HEADED)
@SENT.rule("timestamp", "iggy.send.headed.unset", since=HEADED)
def unset_field(number: int) -> Fault | None:
    """Remark a field that a client leaves at 0 and the server sets: sections 5 and 6."""
    return remarked("iggy-unset-field") if number else None


@SENT.rule("reserved", "iggy.send.headed.reserved", since="0.9")
@POLLED.rule("reserved", "iggy.poll.headed.reserved", since="0.9")
@STORED.rule("reserved", "iggy.log.headed.reserved", since="0.9")
def reserved_set(number: int) -> Fault | None:
    """Refuse reserved bytes that are not 0."""
    return Fault("reserved-nonzero", str(number), detail="InvalidReservedField") if number else None


@POLLED.rule("checksum", "iggy.poll.checksum", since="0.0.40", until=HEADED)
def _other_payload(checksum: int, computed: int) -> Fault | None:
    return None if checksum == computed else remarked("iggy-payload-checksum")


@POLLED.rule("checksum", "iggy.poll.headed.phantom", since=HEADED)
def _phantom(checksum: int, computed: int, surplus: bool) -> Fault | None:
    """Refuse bytes behind the last message that clients make messages of: section 11.1, R8."""
    if checksum == computed or not surplus:
        return None
    return Fault("trailing-data", f"not a message: {checksum:x}, expected {computed:x}")


@POLLED.rule("checksum", "iggy.poll.headed.checksum", since=HEADED)
def unverified(checksum: int, computed: int) -> Fault | None:
    """Remark a checksum that clients do not compare with the message."""
    return None if checksum == computed else remarked("iggy-message-checksum")


@STORED.rule("checksum", "iggy.log.checksum", until=HEADED)
@STORED.rule("checksum", "iggy.log.headed.checksum", since=HEADED)
def wrong_checksum(checksum: int, computed: int) -> Fault | None:
    """Refuse a checksum that does not match."""
    if checksum == computed:
        return None
    text = f"{checksum:x}, expected {computed:x}"
    return Fault("crc-mismatch", text, detail="InvalidMessageChecksum")
