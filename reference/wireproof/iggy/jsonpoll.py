"""The body of an HTTP poll: iggy.md, section 8.2.

To 0.6.x the fields are those of the binary response, so the rows of its editions serve here too. Only the
envelope is another: an array of messages while there is nothing to put beside them, then an object. From
0.7.0 on the fields of a message header stand in an object of their own, and headers are `user_headers`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.headers import V1, WIRE_10, Tlv
from wireproof.iggy.jsonform import (
    FORMS_30,
    FORMS_70,
    FORMS_90,
    FORMS_100,
    Form,
    base64_of,
    header_map,
    headers_json,
    members,
    octets,
    put_json,
    required,
    sequence,
    uint,
    word,
)
from wireproof.iggy.jsontext import Node, parse
from wireproof.iggy.kinds import HeaderValue
from wireproof.iggy.layout import WIDTHS, Block, Checksum, Fixed, Layout
from wireproof.iggy.message import check_checksum, check_payload
from wireproof.iggy.poll import EDITIONS as POLLS
from wireproof.iggy.poll import Edition as Poll
from wireproof.iggy.poll import remark_order
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class JsonPolled70:
    """A message of an HTTP poll of 0.7 and 0.8; two kinds of checksums stand in one field."""

    checksum: int
    id: int
    offset: int
    timestamp: int
    origin_timestamp: int
    headers: tuple[tuple[bytes, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class JsonPolled90:
    """The same of 0.9: keys have kinds."""

    checksum: int
    id: int
    offset: int
    timestamp: int
    origin_timestamp: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...]
    payload: bytes


@frozen(kw_only=True)
class JsonPolled100:
    """The same from 0.10.0 on; bytes for headers are a block that is no map."""

    checksum: int
    id: int
    offset: int
    timestamp: int
    origin_timestamp: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...] | bytes
    payload: bytes


@frozen(kw_only=True)
class JsonPoll70:
    """The value of an HTTP poll of 0.7 and 0.8."""

    partition_id: int
    current_offset: int
    messages: tuple[JsonPolled70, ...]


@frozen(kw_only=True)
class JsonPoll90:
    """The value of an HTTP poll of 0.9."""

    partition_id: int
    current_offset: int
    messages: tuple[JsonPolled90, ...]


@frozen(kw_only=True)
class JsonPoll100:
    """The value of an HTTP poll from 0.10.0 on."""

    partition_id: int
    current_offset: int
    messages: tuple[JsonPolled100, ...]


@frozen
class Headed:
    """How the messages of later editions are told.

    Attributes:
        value: the class of a message.
        reserved: whether the header has that member.
        forms: of `user_headers`.
        none: how no headers are written: None leaves them out.
        tlv: how they lie on the wire, which tells their length.
    """

    value: type[Any]
    reserved: bool
    forms: Mapping[str, Form]
    none: list[Any] | None
    tlv: Tlv


@frozen
class Edition:
    """A row: the class of the value, and what reads and writes the whole."""

    value: type[Any]
    read: Callable[["Edition", Reader, Node], Any]
    tree: Callable[["Edition", Writer, Any], Any]
    poll: Poll | None = None
    headed: Headed | None = None


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read a whole body."""
    root = parse(reader)
    reader.region("", "json", root.start, root.end)
    return edition.read(edition, reader, root)


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    put_json(writer, edition.tree(edition, writer, value))


# --- to 0.6.x ---


def _read_plain(edition: Edition, reader: Reader, root: Node) -> Any:  # noqa: ANN401 - see `decode`
    poll = edition.poll
    assert poll is not None
    prefix, listed = _envelope(poll, reader, root)
    messages: list[Any] = []
    for node in sequence(reader, listed, "messages"):
        reader.enter("messages", len(messages))
        messages.append(_message(reader, node, poll.message))
        reader.leave()
    remark_order(poll, reader, messages, listed.start)
    return edition.value(**prefix, messages=tuple(messages))


def _envelope(poll: Poll, reader: Reader, root: Node) -> tuple[dict[str, Any], Node]:
    """The fields beside the messages, and the array of these."""
    if not poll.prefix:
        return {}, root
    found = members(reader, root, "", [*(part.name for part in poll.prefix), "messages"])
    prefix = {
        part.name: _fixed(reader, required(reader, root, found, part.name), part) for part in poll.prefix
    }
    return prefix, required(reader, root, found, "messages")


def _message(reader: Reader, node: Node, layout: Layout) -> Any:  # noqa: ANN401 - the layout's value class
    scalars = [part for part in layout.parts if isinstance(part, Fixed | Checksum)]
    found = members(reader, node, "", [*(part.name for part in scalars), "headers", "payload"])
    values: dict[str, Any] = {
        part.name: _fixed(reader, required(reader, node, found, part.name), part) for part in scalars
    }
    at = required(reader, node, found, "payload")
    values["payload"] = octets(reader, at, "payload")
    values["headers"] = header_map(reader, found.get("headers"), FORMS_30)
    check_payload(reader, layout, values["payload"], at.start)
    for part in scalars:
        if isinstance(part, Checksum):
            start = found[part.name].start
            check_checksum(reader, part, values[part.name], values["payload"], start)
    return layout.value(**values)


def _fixed(reader: Reader, node: Node, part: Fixed | Checksum) -> Any:  # noqa: ANN401 - an int or a name
    if isinstance(part, Fixed) and part.names is not None:
        return word(reader, node, part.name, tuple(part.names.values()))
    return uint(reader, node, part.name, 8 * WIDTHS[part.kind])


def _tree_plain(edition: Edition, writer: Writer, value: Any) -> Any:  # noqa: ANN401 - see `decode`
    poll = edition.poll
    assert poll is not None
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_message_json(writer, message, poll.message))
        writer.leave()
    if not poll.prefix:
        return messages
    return {**{part.name: _fixed_json(writer, value, part) for part in poll.prefix}, "messages": messages}


def _message_json(writer: Writer, message: Any, layout: Layout) -> dict[str, Any]:  # noqa: ANN401 - see `_message`
    tree: dict[str, Any] = {}
    for part in layout.parts:
        match part:
            case Checksum(name):
                tree[name] = part.sum.of(message.payload)
            case Fixed(name):
                tree[name] = _fixed_json(writer, message, part)
            case Block("headers"):
                tree["headers"] = headers_json(writer, message.headers)
            case Block(name):
                tree[name] = base64_of(message.payload)
            case _:  # JSON needs no lengths
                pass
    return tree


def _fixed_json(writer: Writer, value: Any, part: Fixed) -> Any:  # noqa: ANN401 - an int or a name
    field = getattr(value, part.name)
    if part.names is None and field >> 8 * WIDTHS[part.kind]:
        raise writer.invalid(part.name, f"{field} does not fit {part.kind}")
    return field


# --- from 0.7.0 on ---

_HEADER: Final = (
    Fixed("checksum", "uint64le"),
    Fixed("id", "uint128le"),
    Fixed("offset", "uint64le"),
    Fixed("timestamp", "uint64le"),
    Fixed("origin_timestamp", "uint64le"),
)
_LENGTHS: Final = ("user_headers_length", "payload_length")
_PREFIX: Final = (Fixed("partition_id", "uint32le"), Fixed("current_offset", "uint64le"))


def _read_headed(edition: Edition, reader: Reader, root: Node) -> Any:  # noqa: ANN401 - see `decode`
    headed = edition.headed
    assert headed is not None
    found = members(reader, root, "", [*(part.name for part in _PREFIX), "count", "messages"])
    prefix = {part.name: _fixed(reader, required(reader, root, found, part.name), part) for part in _PREFIX}
    at = required(reader, root, found, "count")
    count = uint(reader, at, "count", 32)
    messages: list[Any] = []
    for node in sequence(reader, required(reader, root, found, "messages"), "messages"):
        reader.enter("messages", len(messages))
        messages.append(_read_message(headed, reader, node))
        reader.leave()
    if count != len(messages):
        reader.remark("iggy-message-count", "count", at=at.start)
    return edition.value(**prefix, messages=tuple(messages))


def _read_message(headed: Headed, reader: Reader, node: Node) -> Any:  # noqa: ANN401 - the edition's message class
    found = members(reader, node, "", ("header", "payload", "user_headers"))
    values, lengths = _read_header(headed, reader, required(reader, node, found, "header"))
    payload = octets(reader, required(reader, node, found, "payload"), "payload")
    headers = header_map(reader, found.get("user_headers"), headed.forms)
    sizes = (headed.tlv.size(headers), len(payload))
    for name, size, (length, at) in zip(_LENGTHS, sizes, lengths, strict=True):
        if length != size:
            reader.remark("iggy-json-length", name, at=at)
    return headed.value(**values, headers=headers, payload=payload)


def _read_header(headed: Headed, reader: Reader, node: Node) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """The fields of a message header, by the names of the value; the two lengths, each with its place."""
    names = [*(part.name for part in _HEADER), *_LENGTHS, *["reserved"] * headed.reserved]
    found = members(reader, node, "header", names)
    for name in names:
        required(reader, node, found, name)
    values = {part.name: _fixed(reader, found[part.name], part) for part in _HEADER}
    lengths = [(uint(reader, found[name], name, 32), found[name].start) for name in _LENGTHS]
    if headed.reserved and uint(reader, found["reserved"], "reserved", 64):  # section 11.1, R16
        reader.remark("iggy-json-reserved", "reserved", at=found["reserved"].start)
    return values, lengths


def _tree_headed(edition: Edition, writer: Writer, value: Any) -> Any:  # noqa: ANN401 - see `decode`
    headed = edition.headed
    assert headed is not None
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_headed_json(headed, writer, message))
        writer.leave()
    prefix = {part.name: _fixed_json(writer, value, part) for part in _PREFIX}
    return {**prefix, "count": len(messages), "messages": messages}


def _headed_json(headed: Headed, writer: Writer, message: Any) -> dict[str, Any]:  # noqa: ANN401 - see `_read_message`
    header = {part.name: _fixed_json(writer, message, part) for part in _HEADER}
    sizes = (headed.tlv.size(message.headers), len(message.payload))
    header |= dict(zip(_LENGTHS, sizes, strict=True))
    header |= {"reserved": 0} if headed.reserved else {}
    tree: dict[str, Any] = {"header": header, "payload": base64_of(message.payload)}
    headers = headers_json(writer, message.headers)
    shown = headed.none if headers is None else headers
    return tree if shown is None else {**tree, "user_headers": shown}


def _plain(revision: str) -> Edition:
    poll = POLLS[revision]
    return Edition(poll.value, _read_plain, _tree_plain, poll=poll)


def _headed(value: type[Any], headed: Headed) -> Edition:
    return Edition(value, _read_headed, _tree_headed, headed=headed)


EDITIONS: Final[dict[str, Edition]] = {
    **{revision: _plain(revision) for revision in ("0.0.30", "0.0.40", "0.0.60")},
    "0.7": _headed(JsonPoll70, Headed(JsonPolled70, reserved=False, forms=FORMS_70, none=None, tlv=V1)),
    "0.9": _headed(JsonPoll90, Headed(JsonPolled90, reserved=True, forms=FORMS_90, none=[], tlv=WIRE_10)),
    "0.10": _headed(JsonPoll100, Headed(JsonPolled100, reserved=True, forms=FORMS_100, none=[], tlv=WIRE_10)),
}
"""By revision."""
