"""Format `heka.stream`: frames one after another, without other bytes between them. heka.md, sections 1 to 3.

0x1E | header_length (1 byte) | header | 0x1F | message (message_length bytes)
"""

import hmac as hmac_algorithm
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import evolve, frozen

from wireproof.heka import message
from wireproof.heka.message import REVISION, HekaMessage, add_common_rules
from wireproof.schema.layout import (
    OPAQUE_CONTENT,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OtherFields,
    ProtoField,
    Repeated,
    When,
)
from wireproof.schema.rules import KEY, Fault, remarked
from wireproof.schema.struct import Struct
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import NO_INDEX
from wireproof.wire.writer import Writer

RECORD_SEPARATOR: Final = 0x1E
UNIT_SEPARATOR: Final = 0x1F
FRAME_OVERHEAD: Final = 3
"""Bytes of a frame besides header and message."""

MAX_MESSAGE: Final = 65536
"""The largest message in bytes, inclusive: section 2, MAX_MESSAGE_SIZE."""

MAX_HEADER: Final = 255
"""The largest header in bytes: section 2; its length is one unsigned byte."""

HASH_FUNCTIONS: Final = ("MD5", "SHA1")
"""The names of the enum, in the order of their numbers."""


def max_message_size(options: Options) -> int:
    """Return the size of the largest message that `options` allow, in bytes."""
    return MAX_MESSAGE if options.max_message is None else options.max_message


# --- the header: section 1 ---

HEADER: Final = Struct(
    "Header",
    ProtoField("message_length", 1, "uint32", required=True, cover="length", over="message"),
    ProtoField(
        "message_encoding", 2, "enum", codes={0: "PROTOCOL_BUFFER", 1: "JSON"},
        deprecated=True, meaning="until 2013-09-18",
    ),
    ProtoField(
        "hmac_hash_function", 3, "enum", codes=dict(enumerate(HASH_FUNCTIONS)), meaning="MD5 if absent"
    ),
    ProtoField("hmac_signer", 4, "string"),
    ProtoField("hmac_key_version", 5, "uint32", meaning="0 if absent"),
    ProtoField("hmac", 6, "bytes", cover="hmac", over="message"),
    OtherFields(),
    revisions=(REVISION,),
    cites="heka.md §1",
)  # fmt: skip


@HEADER.rule("#", "heka.stream.header.unknown")
def _passed_over() -> Fault | None:
    """Remark a field without a meaning: S30."""
    return remarked("header-unknown-field", at=KEY)


@HEADER.rule("message_encoding", "heka.stream.header.unknown")
def _encoding(number: int) -> Fault | None:
    """Remark field 2: all readers now ignore it, also if it means JSON: S20, W11."""
    return remarked("legacy-encoding-json" if number else "legacy-encoding", at=KEY)


@HEADER.rule("message_length", "heka.stream.length.once")
def _second_length(again: bool) -> Fault | None:
    """Refuse a second length, because of two readers use different ones: S26, S27."""
    if again:
        return Fault("duplicate-field", "second occurrence", at=KEY, detail="duplicate_message_length")
    return None


@HEADER.rule("hmac_key_version", "heka.stream.header.undecodable")
def _wide_version(number: int) -> Fault | None:
    """Refuse a number that its type has no room for: S25."""
    if number >> 32:
        return Fault("bad-varint", f"{number} does not fit uint32", detail="int32_overflow")
    return None


@HEADER.rule("", "heka.stream.length.required")
def _no_length(message_length: int | None) -> Fault | None:
    """Refuse a header without length: S07, S18."""
    if message_length is None:
        return Fault("missing-field", "required", path="message_length", detail="missing_message_length")
    return None


@HEADER.rule("", "heka.stream.header.order")
def _other_order(order: Sequence[str]) -> Fault | None:
    """Remark a header that does not begin with the length: S19."""
    first = order[0] == "message_length"
    return None if first else remarked("header-order", path="message_length", at=KEY)


@HEADER.rule("", "heka.stream.length.zero")
def _zero_length(message_length: int) -> Fault | None:
    """Refuse a message of no bytes: S08."""
    if message_length:
        return None
    return Fault("bad-length", "0", path="message_length", at=KEY, detail="zero_message_length")


@HEADER.rule("", "heka.stream.length.limit")
def _large_length(message_length: int, options: Options) -> Fault | None:
    """Refuse a message over the limit: S24, S37; S25: Go and Python read it modulo 2^32."""
    if message_length <= (most := max_message_size(options)):
        return None
    detail = "message_length_overflow" if message_length >> 32 else "message_too_big"
    text = f"{message_length}, {most} allowed"
    return Fault("limit-exceeded", text, path="message_length", at=KEY, detail=detail)


@HEADER.rule("", "heka.stream.hmac.function")
def _no_function(hmac_hash_function: str | int | None, hmac: bytes | None, options: Options) -> Fault | None:
    """Refuse to verify with a function that the enum lacks: Go, which asks for it only then, ends: A14."""
    if options.keys is None or hmac is None or not isinstance(hmac_hash_function, int):
        return None
    text = f"{hmac_hash_function}"
    return Fault("auth-failed", text, path="hmac_hash_function", detail="auth_unknown_hash")


@HEADER.rule("", "heka.stream.hmac.function.unsigned")
def _unknown_function(hmac_hash_function: str | int | None) -> Fault | None:
    """Remark such a number, which protobuf takes for an unknown field: section 3, A14."""
    if not isinstance(hmac_hash_function, int):
        return None
    low = hmac_hash_function & 0xFFFF_FFFF
    cut = (("cut", HASH_FUNCTIONS[low]),) if low < len(HASH_FUNCTIONS) else ()
    others = (("number", str(hmac_hash_function)), *cut)
    return remarked("header-unknown-function", path="hmac_hash_function", others=others)


add_common_rules(HEADER)

HEKA_HEADER: Final = HEADER.at(REVISION)

if TYPE_CHECKING:
    from wireproof.heka import values

    HekaHeader: TypeAlias = values.Header
else:
    HekaHeader = HEKA_HEADER.type
"""The class of the values of a header; `message_length` is computed."""


def encode_header(writer: Writer, value: HekaHeader, message_length: int) -> bytes:
    """Return the bytes of a header: the fields that are not None, in ascending order of their numbers.

    Raises:
        Rejected: `invalid-value`, also for a header over 255 bytes (section 7, bug 2).
    """
    inner = Writer(scope=(writer.scope, "header", NO_INDEX))
    HEKA_HEADER.codec.write(inner, evolve(value, message_length=message_length))
    if len(inner.data) > MAX_HEADER:
        raise inner.invalid("", f"needs {len(inner.data)} bytes, {MAX_HEADER} allowed")
    return bytes(inner.data)


# --- the signature: an HMAC of the message bytes, section 3 ---
#
# Frames that Go's reader accepts without verification (a signer without HMAC, a header of 13 bytes or less)
# are rejected: an authentication bypass is never normative.

HASH_NAMES: Final[dict[str | None, str]] = {None: "md5", "MD5": "md5", "SHA1": "sha1"}
"""The hash functions: section 3, row functions. MD5 if the field is absent."""


def key_name(header: HekaHeader) -> str:
    """Return the name of the key: section 3, A08, A09. An absent signer is empty, an absent version is 0."""
    signer = (header.hmac_signer or b"").decode(errors="surrogateescape")
    return f"{signer}_{header.hmac_key_version or 0}"


def hmac_digest(header: HekaHeader, key: bytes, message: bytes) -> bytes:
    """Return the HMAC of the message bytes, without the header: section 3, row digest input."""
    return hmac_algorithm.digest(key, message, HASH_NAMES[header.hmac_hash_function])


def verify(reader: Reader, header: HekaHeader, message: bytes, options: Options) -> bytes | None:
    """Verify the signature; return the signer, or None for a message without signature, or without keys.

    Raises:
        Rejected: `auth-failed`, with the `detail` of section 3.
    """
    if options.keys is None:
        return None
    if header.hmac is None:
        if header.hmac_signer:  # A10, A11: a signer without HMAC
            raise _failed(reader, "hmac", "auth_missing_hmac")
        return None
    if not header.hmac_signer:  # A09
        raise _failed(reader, "hmac_signer", "auth_unnamed_signer")
    key = options.keys.get(key_name(header))
    if key is None:  # A05, A06, A07, A13
        raise _failed(reader, "hmac_signer", "auth_unknown_key")
    if not hmac_algorithm.compare_digest(hmac_digest(header, key, message), header.hmac):  # A04, A12, A15
        raise _failed(reader, "hmac", "auth_bad_digest")
    signer: bytes = header.hmac_signer
    return signer


def _failed(reader: Reader, name: str, detail: str) -> Exception:
    return reader.reject("auth-failed", f"header.{name}", detail, detail=detail)


def sign(writer: Writer, header: HekaHeader, message: bytes, options: Options) -> HekaHeader:
    """Return `header` with its HMAC if keys are given and it has a signer but no HMAC; else unchanged.

    Raises:
        Rejected: `invalid-value` if there is no key for the signer.
    """
    if options.keys is None or not header.hmac_signer or header.hmac is not None:
        return header
    key = options.keys.get(key_name(header))
    if key is None:
        raise writer.invalid("header.hmac_signer", f"no key {key_name(header)!r}")
    return evolve(header, hmac=hmac_digest(header, key, message))


# --- a frame: section 2 ---


@frozen
class HekaFrame:
    """A frame.

    Attributes:
        header: the header.
        message: the message, or the bytes of the content if `Options.content` is `opaque`.
        signer: computed: the signer whose HMAC was verified, or None. The header only claims a signer.
    """

    header: HekaHeader
    message: HekaMessage | bytes
    signer: bytes | None = None


_MESSAGE: Final = Octets(
    "message", holds=Nested("message", of=message.CONTENT), meaning="as long as message_length in the header"
)

FRAME: Final = Layout(
    "Frame",
    (
        Number("record_separator", "uint8", const=RECORD_SEPARATOR),
        Length("header_length", "uint8", of="header"),
        Nested("header", of=HEKA_HEADER),
        Number("unit_separator", "uint8", const=UNIT_SEPARATOR),
        When(_MESSAGE, number=OPAQUE_CONTENT, values=()),
    ),
    value=HekaFrame,
    computed=("signer",),
    cites="heka.md §2",
)  # fmt: skip


def read_header(reader: Reader, options: Options) -> HekaHeader | None:
    """Read a frame up to its unit separator; return None if the bytes end before it.

    The reader then does not move. The header is checked only after the separator: section 2.1, steps 2 and 3.

    Raises:
        Rejected: `bad-separator`, `bad-length` (no header), and as the rules of HEADER.
    """
    data, start = reader.data, reader.pos
    if reader.left and data[start] != RECORD_SEPARATOR:
        text = f"a frame cannot begin with 0x{data[start]:02x}"
        raise reader.reject("bad-separator", "", text, detail="garbage")
    if reader.left < 2 or reader.left < FRAME_OVERHEAD + data[start + 1]:
        return None
    reader.uint8("record_separator")
    length = reader.uint8("header_length")
    reader.cover("header_length", "length", reader.pos, reader.pos + length)
    if data[reader.pos + length] != UNIT_SEPARATOR:  # S09, S10
        at = reader.pos + length
        text = f"0x{data[at]:02x}"
        raise reader.reject("bad-separator", "unit_separator", text, at=at, detail="no_unit_separator")
    if not length:  # S07: Go reads it as the frame of an empty message
        raise reader.reject("bad-length", "header_length", "0", at=start + 1, detail="zero_header")
    reader.enter("header")
    found: HekaHeader = HEKA_HEADER.codec.read(reader.window("", length), options)
    reader.leave()
    reader.uint8("unit_separator")
    reader.cover("header.message_length", "length", reader.pos, reader.pos + found.message_length)
    return found


def read_content(reader: Reader, found: HekaHeader, options: Options) -> HekaFrame:
    """Verify and read the content after a header; all its bytes must be there.

    Raises:
        Rejected: `auth-failed`, or as `message.decode`.
    """
    start = reader.pos
    window = reader.window("message", found.message_length)
    reader.cover("header.hmac", "hmac", start, reader.pos)
    signer = verify(window, found, window.data[start : reader.pos], options)
    if options.content == "opaque":
        return HekaFrame(found, window.take("message", window.left), signer)
    window.enter("message")
    return HekaFrame(found, message.decode(window, options), signer)


def read(reader: Reader, options: Options) -> HekaFrame | None:
    """Read a frame; return None if the bytes end inside it, and leave the reader unchanged.

    Raises:
        Rejected: as `read_header` and `read_content`.
    """
    start, remarks = reader.pos, len(reader.remarks)
    found = read_header(reader, options)
    if found is not None and reader.left >= found.message_length:
        return read_content(reader, found, options)
    reader.pos = start
    del reader.remarks[remarks:]
    return None


def write(writer: Writer, value: HekaFrame, options: Options) -> None:
    """Write a frame; sign it if the header has a signer and no HMAC, and `Options.keys` are given.

    Raises:
        Rejected: `invalid-value` for a message over the limit (section 7, bug 2), content without a byte,
            which hekad writes no frame for (bug 3), a signer without key, or content that `Options.content`
            does not name, and as `message.encode` and `encode_header`.
    """
    content, max_size = value.message, max_message_size(options)
    if isinstance(content, bytes) != (options.content == "opaque"):
        found = "bytes" if isinstance(content, bytes) else "a message"
        raise writer.invalid("message", f"{found}, but the option content is {options.content}")
    if isinstance(content, bytes):
        body = content
    else:
        inner = Writer(scope=(writer.scope, "message", -1))
        message.encode(inner, content, options)
        body = bytes(inner.data)
    if not body:
        raise writer.invalid("message", "no bytes; a frame has at least one")
    if len(body) > max_size:
        raise writer.invalid("message", f"{len(body)} bytes, {max_size} allowed")
    head = encode_header(writer, sign(writer, value.header, body, options), len(body))
    writer.uint8("record_separator", RECORD_SEPARATOR)
    writer.uint8("header_length", len(head))
    writer.put("header", head)
    writer.uint8("unit_separator", UNIT_SEPARATOR)
    writer.put("message", body)


# --- the stream ---


@frozen
class FrameStream:
    """The whole frames of a stream."""

    frames: tuple[HekaFrame, ...]


STREAM: Final = Layout("Stream", (Repeated("frames", of=FRAME),), value=FrameStream, cites="heka.md §2")


def decode(reader: Reader, options: Options) -> FrameStream:
    """Decode whole frames from the first byte on; a frame cut by the end is not consumed: S12 to S14.

    Raises:
        Rejected: `bad-separator` for garbage, and as `read`; `before` is a stream of the frames before.
    """
    frames: list[HekaFrame] = []
    while reader.left:
        reader.enter("frames", len(frames))
        try:
            whole = read(reader, options)
        except Rejected as rejected:
            raise rejected.with_before(FrameStream(tuple(frames))) from None
        reader.leave()
        if whole is None:
            break
        frames.append(whole)
    return FrameStream(tuple(frames))


def encode(writer: Writer, value: FrameStream, options: Options) -> None:
    """Encode every frame; an empty stream is no bytes (section 7, bug 3).

    Raises:
        Rejected: `invalid-value`.
    """
    for index, whole in enumerate(value.frames):
        writer.enter("frames", index)
        write(writer, whole, options)
        writer.leave()
