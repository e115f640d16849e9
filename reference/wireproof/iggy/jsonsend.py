"""The body of an HTTP send, 0.0.30 to 0.6.x: iggy.md, section 8.1.

`{"partitioning": {"kind", "value"}, "messages": [{"id", "payload", "headers"}]}`; `id` may be left out
(0), and so may `headers`. Stream and topic stand in the path of the request.
"""

from typing import Any, cast

from attrs import frozen

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
from wireproof.iggy.limits import check_read, check_written
from wireproof.iggy.message import SENT, Sent, check_payload
from wireproof.iggy.partitioning import TAGS, Partitioning, PartitioningKind
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

_KINDS = {tag.name: tag for tag in TAGS.values()}


@frozen(kw_only=True)
class JsonSend:
    """The value of an HTTP send."""

    partitioning: Partitioning
    messages: tuple[Sent, ...]


def decode(reader: Reader, _: Options) -> JsonSend:
    """Read a whole body, and hold it to the same limits as the binary one."""
    root = parse(reader)
    reader.region("", "json", root.start, root.end)
    found = members(reader, root, "", ("partitioning", "messages"))
    reader.enter("partitioning")
    partitioning = _partitioning(reader, required(reader, root, found, "partitioning"))
    reader.leave()
    listed = required(reader, root, found, "messages")
    messages: list[Sent] = []
    for node in sequence(reader, listed, "messages"):
        reader.enter("messages", len(messages))
        messages.append(_message(reader, node))
        reader.leave()
    check_read(reader, messages, listed.start)
    return JsonSend(partitioning=partitioning, messages=tuple(messages))


def _partitioning(reader: Reader, node: Node) -> Partitioning:
    found = members(reader, node, "", ("kind", "value"))
    kind = word(reader, required(reader, node, found, "kind"), "kind", _KINDS)
    at = required(reader, node, found, "value")
    value = octets(reader, at, "value")
    if len(value) not in _KINDS[kind].lengths:
        text = f"{len(value)} bytes for {kind}"
        raise reader.reject("bad-length", "value", text, at=at.start, detail=_KINDS[kind].detail)
    if kind == "balanced" and value:
        reader.remark("iggy-balanced-value", "value", at=at.start)
    return Partitioning(cast("PartitioningKind", kind), value)


def _message(reader: Reader, node: Node) -> Sent:
    found = members(reader, node, "", ("id", "payload", "headers"))
    number = uint(reader, found["id"], "id", 128) if "id" in found else 0
    at = required(reader, node, found, "payload")
    payload = octets(reader, at, "payload")
    check_payload(reader, SENT, payload, at.start)
    return Sent(id=number, payload=payload, headers=header_map(reader, found.get("headers")))


def encode(writer: Writer, value: JsonSend, _: Options) -> None:
    """Write a whole body, in the order of fields that the client of 0.8.0 was seen to use."""
    check_written(writer, value.messages)
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_message_json(writer, message))
        writer.leave()
    put_json(writer, {"partitioning": _partitioning_json(writer, value.partitioning), "messages": messages})


def _partitioning_json(writer: Writer, value: Partitioning) -> dict[str, Any]:
    writer.enter("partitioning")
    lengths = _KINDS[value.kind].lengths if value.kind != "balanced" else (0,)
    if len(value.value) not in lengths:
        raise writer.invalid("value", f"{len(value.value)} bytes for {value.kind}")
    writer.leave()
    return {"kind": value.kind, "value": base64_of(value.value)}


def _message_json(writer: Writer, message: Sent) -> dict[str, Any]:
    if not message.payload:
        raise writer.invalid("payload", "empty")
    if message.id >> 128:
        raise writer.invalid("id", f"{message.id} does not fit 128 bits")
    tree = {"id": message.id, "payload": base64_of(message.payload)}
    headers = headers_json(writer, message.headers)
    return tree if headers is None else {**tree, "headers": headers}
