"""One frame of a stream. heka.md, section 2.

0x1E | header_length (1 byte) | header | 0x1F | message (message_length bytes)
"""

from typing import Final

from attrs import frozen

from wireproof.heka import header, hmac_signature, message
from wireproof.heka.header import HekaHeader
from wireproof.heka.message import HekaMessage
from wireproof.wire.layout import OPAQUE_CONTENT, Layout, Length, Nested, Number, Octets, When
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

RECORD_SEPARATOR: Final = 0x1E
UNIT_SEPARATOR: Final = 0x1F
FRAME_OVERHEAD: Final = 3
"""Bytes of a frame besides header and message."""


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
        Nested("header", of=header.HEADER),
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
        Rejected: `bad-separator`, `bad-length` (no header), and as `header.read`.
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
        raise reader.reject(
            "bad-separator", "unit_separator", f"0x{data[at]:02x}", at=at, detail="no_unit_separator"
        )
    if not length:  # S07: Go reads it as the frame of an empty message
        raise reader.reject("bad-length", "header_length", "0", at=start + 1, detail="zero_header")
    reader.enter("header")
    found = header.read(reader.window("", length), options)
    reader.leave()
    reader.uint8("unit_separator")
    reader.cover("header.message_length", "length", reader.pos, reader.pos + found.message_length)
    return found


def read_content(reader: Reader, found: HekaHeader, options: Options) -> HekaFrame:
    """Verify and read the content after a header; all its bytes must be there.

    Raises:
        Rejected: `auth-failed`, or as `message.read`.
    """
    start = reader.pos
    window = reader.window("message", found.message_length)
    reader.cover("header.hmac", "hmac", start, reader.pos)
    signer = hmac_signature.verify(window, found, window.data[start : reader.pos], options)
    if options.content == "opaque":
        return HekaFrame(found, window.take("message", window.left), signer)
    window.enter("message")
    return HekaFrame(found, message.read(message.decompressed(window, options)), signer)


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
            does not name, and as `message.encode` and `header.encode_header`.
    """
    body, max_size = _content_bytes(writer, value.message, options), header.max_message_size(options)
    if not body:
        raise writer.invalid("message", "no bytes; a frame has at least one")
    if len(body) > max_size:
        raise writer.invalid("message", f"{len(body)} bytes, {max_size} allowed")
    head = header.encode_header(writer, hmac_signature.sign(writer, value.header, body, options), len(body))
    writer.uint8("record_separator", RECORD_SEPARATOR)
    writer.uint8("header_length", len(head))
    writer.put("header", head)
    writer.uint8("unit_separator", UNIT_SEPARATOR)
    writer.put("message", body)


def _content_bytes(writer: Writer, content: HekaMessage | bytes, options: Options) -> bytes:
    """Return the bytes of the content: those given if it is opaque, else those of the encoded message."""
    opaque = isinstance(content, bytes)
    if opaque != (options.content == "opaque"):
        found = "bytes" if opaque else "a message"
        raise writer.invalid("message", f"{found}, but the option content is {options.content}")
    if isinstance(content, bytes):
        return content
    inner = Writer(scope=(writer.scope, "message", -1))
    message.encode(inner, content, options)
    return bytes(inner.data)
