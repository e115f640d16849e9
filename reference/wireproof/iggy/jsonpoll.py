"""The body of an HTTP poll, 0.0.30 to 0.6.x: iggy.md, section 8.2.

The fields are those of the binary response, so the rows of its editions serve here too. Only the
envelope is another: an array of messages while there is nothing to put beside them, then an object.
"""

import zlib
from typing import Any

from wireproof.iggy.jsonform import (
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
from wireproof.iggy.layout import WIDTHS, Block, Checksum, Fixed, Layout
from wireproof.iggy.message import check_checksum, check_payload
from wireproof.iggy.poll import EDITIONS, Edition, remark_order
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

__all__ = ["EDITIONS", "decode", "encode"]


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read a whole body."""
    root = parse(reader)
    reader.region("", "json", root.start, root.end)
    prefix, listed = _envelope(edition, reader, root)
    messages: list[Any] = []
    for node in sequence(reader, listed, "messages"):
        reader.enter("messages", len(messages))
        messages.append(_message(reader, node, edition.message))
        reader.leave()
    remark_order(reader, messages, listed.start)
    return edition.value(**prefix, messages=tuple(messages))


def _envelope(edition: Edition, reader: Reader, root: Node) -> tuple[dict[str, Any], Node]:
    """The fields beside the messages, and the array of these."""
    if not edition.prefix:
        return {}, root
    found = members(reader, root, "", [*(part.name for part in edition.prefix), "messages"])
    prefix = {
        part.name: _fixed(reader, required(reader, root, found, part.name), part) for part in edition.prefix
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
    values["headers"] = header_map(reader, found.get("headers"))
    check_payload(reader, layout, values["payload"], at.start)
    for part in scalars:
        if isinstance(part, Checksum):
            check_checksum(reader, part, values, found[part.name].start)
    return layout.value(**values)


def _fixed(reader: Reader, node: Node, part: Fixed | Checksum) -> Any:  # noqa: ANN401 - an int or a name
    if isinstance(part, Fixed) and part.names is not None:
        return word(reader, node, part.name, tuple(part.names.values()))
    return uint(reader, node, part.name, 8 * WIDTHS[part.kind])


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_message_json(writer, message, edition.message))
        writer.leave()
    if not edition.prefix:
        put_json(writer, messages)
        return
    prefix = {part.name: _fixed_json(writer, value, part) for part in edition.prefix}
    put_json(writer, {**prefix, "messages": messages})


def _message_json(writer: Writer, message: Any, layout: Layout) -> dict[str, Any]:  # noqa: ANN401 - see `_message`
    tree: dict[str, Any] = {}
    for part in layout.parts:
        match part:
            case Checksum(name):
                tree[name] = zlib.crc32(message.payload)
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
