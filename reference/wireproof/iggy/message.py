"""One message, read and written by its layout: iggy.md, sections 3.1, 3.3 and 7."""

from typing import Any, Literal
from zlib import crc32

from attrs import field, frozen

from wireproof.iggy.headers import read_map, write_map
from wireproof.iggy.kinds import HeaderValue
from wireproof.iggy.layout import STATES, Block, Checksum, Fixed, Layout, Length
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

State = Literal["available", "unavailable", "poisoned", "marked_for_deletion"]


@frozen(kw_only=True)
class Sent:
    """A message inside a send; id 0 asks the server to mint one (section 2.5)."""

    id: int
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class Polled30:
    """A message inside a poll response of 0.0.30; timestamps are microseconds."""

    offset: int
    timestamp: int
    id: int
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class Polled40:
    """A message inside a poll response, and on disk, from 0.0.40 on."""

    offset: int
    state: State
    timestamp: int
    id: int
    checksum: int = field(default=0)
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class Stored30:
    """A record of a segment file of 0.0.30."""

    offset: int
    timestamp: int
    id: int
    checksum: int = field(default=0)
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


_OFFSET = Fixed("offset", "uint64le")
_STATE = Fixed("state", "uint8", STATES)
_TIMESTAMP = Fixed("timestamp", "uint64le")
_ID = Fixed("id", "uint128le")
_BODY = (
    Length("headers_len", "uint32le", "headers"),
    Block("headers"),
    Length("payload_len", "uint32le", "payload"),
    Block("payload"),
)


def _checksum(wrong: Literal["remark", "reject"]) -> Checksum:
    return Checksum("checksum", "uint32le", wrong)


SENT = Layout((_ID, *_BODY), Sent, "reject")
POLLED_30 = Layout((_OFFSET, _TIMESTAMP, _ID, *_BODY), Polled30, "remark")
POLLED_40 = Layout((_OFFSET, _STATE, _TIMESTAMP, _ID, _checksum("remark"), *_BODY), Polled40, "remark")
STORED_30 = Layout((_OFFSET, _TIMESTAMP, _ID, _checksum("reject"), *_BODY), Stored30, "remark")
STORED_40 = Layout((_OFFSET, _STATE, _TIMESTAMP, _ID, _checksum("reject"), *_BODY), Polled40, "remark")


def read_fixed(reader: Reader, part: Fixed) -> Any:  # noqa: ANN401 - an int, or the name of its code
    """A field of a fixed width; a code without a name is refused as `bad-kind`."""
    start = reader.pos
    code = getattr(reader, part.kind)(part.name)
    if part.names is None:
        return code
    if code not in part.names:
        raise reader.reject("bad-kind", part.name, f"code {code}", at=start, detail="InvalidCommand")
    return part.names[code]


def write_fixed(writer: Writer, part: Fixed, value: Any) -> None:  # noqa: ANN401 - as in `read_fixed`
    """Write an int, or the code of a name."""
    if part.names is not None:
        value = next(code for code, name in part.names.items() if name == value)
    getattr(writer, part.kind)(part.name, value)


def read_message(reader: Reader, layout: Layout) -> Any:  # noqa: ANN401 - the layout's value class
    """Read one message; it ends where its lengths say, whatever its headers hold (section 10.4)."""
    values: dict[str, Any] = {}
    starts: dict[str, int] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for part in layout.parts:
        starts[part.name] = reader.pos
        match part:
            case Length(name, kind, of):
                lengths[of] = (name, getattr(reader, kind)(name))
            case Block(name):
                values[name] = _read_block(reader, name, *lengths[name])
            case Checksum(name, kind):
                values[name] = getattr(reader, kind)(name)
            case Fixed(name):
                values[name] = read_fixed(reader, part)
    check_payload(reader, layout, values["payload"], starts["payload"])
    for part in layout.parts:
        if isinstance(part, Checksum):
            if part.wrong == "reject":  # what need not match is no seal that damage must renew
                reader.cover(
                    part.name, "crc32", starts["payload"], starts["payload"] + len(values["payload"])
                )
            check_checksum(reader, part, values, starts[part.name])
    return layout.value(**values)


def _read_block(reader: Reader, name: str, length_name: str, length: int) -> Any:  # noqa: ANN401 - its value
    start = reader.pos
    reader.cover(length_name, "length", start, start + length)
    if name == "payload":
        return reader.take(name, length)
    window = reader.window(name, length)
    reader.region(name, "headers", start, reader.pos)
    return read_map(window)


def check_payload(reader: Reader, layout: Layout, payload: bytes, start: int) -> None:
    """A send never carries an empty payload (section 3.1); a reader that meets one must not drop it."""
    if payload:
        return
    if layout.empty == "reject":
        raise reader.reject("bad-length", "payload", "empty", at=start, detail="EmptyMessagePayload")
    reader.remark("iggy-empty-payload", "payload", at=start)


def check_checksum(reader: Reader, part: Checksum, values: dict[str, Any], start: int) -> None:
    """Compare the checksum that stands at `start` with that of the payload."""
    found, right = values[part.name], crc32(values["payload"])
    if found == right:
        return
    if part.wrong == "reject":
        text = f"{found:08x}, the payload has {right:08x}"
        raise reader.reject("crc-mismatch", part.name, text, at=start, detail="InvalidMessageChecksum")
    reader.remark("iggy-payload-checksum", part.name, at=start)


def write_message(writer: Writer, layout: Layout, message: Any) -> None:  # noqa: ANN401 - as in `read_message`
    """Write one message; lengths and checksum are computed."""
    if layout.empty == "reject" and not message.payload:
        raise writer.invalid("payload", "empty")
    lengths: dict[str, tuple[Length, int]] = {}
    for part in layout.parts:
        match part:
            case Length(name, kind, of):
                lengths[of] = (part, writer.pos)
                getattr(writer, kind)(name, 0)
            case Block(name):
                _write_block(writer, message, name, *lengths[name])
            case Checksum(name, kind):
                getattr(writer, kind)(name, crc32(message.payload))
            case Fixed(name):
                write_fixed(writer, part, getattr(message, name))


def _write_block(writer: Writer, message: Any, name: str, length: Length, at: int) -> None:  # noqa: ANN401 - above
    start = writer.pos
    if name == "payload":
        writer.put(name, message.payload)
    else:
        write_map(writer, message.headers)
    writer.patch(length.name, length.kind, at, writer.pos - start)
    writer.cover(length.name, "length", start, writer.pos)
