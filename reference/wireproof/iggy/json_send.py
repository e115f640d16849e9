"""The body of an HTTP send: iggy.md, section 8.1.

The layout is `{"partitioning": {"kind", "value"}, "messages": [{"id", "payload", "headers"}]}`. `id` (default
0) and `headers` may be omitted; `headers` are called `user_headers` since 0.9.0. Since 0.11.1-edge a third
member, `context`, may follow. The stream and the topic are in the path of the HTTP request.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.destination import PARTITIONING, PARTITIONING_KINDS, Partitioning
from wireproof.iggy.json_common import (
    FORMS_30,
    FORMS_90_NULL,
    FORMS_100,
    PARTITION_CONTEXT,
    HeadersForm,
    array_items,
    base64_of,
    context_json,
    header_map,
    headers_json,
    object_members,
    read_base64,
    read_context,
    read_id,
    read_id_number,
    read_word,
    required_member,
    write_json,
)
from wireproof.iggy.json_parser import JsonNode, parse_json
from wireproof.iggy.message import PAYLOAD, SENT, header_maps
from wireproof.iggy.revision import EDGE
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.iggy.send import SEND
from wireproof.schema.compiling import refuse, report
from wireproof.schema.struct import Struct, StructLayout, inner, many, optional, since
from wireproof.wire.layout import Number
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


def _bodies(bits: int) -> tuple[Struct, Struct]:
    """Return the values of a message, whose id has so many bits, and of a body."""
    message = Struct(
        "JsonSentMessage",
        Number("id", f"uint{bits}le"),
        *header_maps(),
        PAYLOAD,
        revisions=ALL,
        cites="iggy.md §8.1",
    )
    body = Struct(
        "JsonSend",
        inner("partitioning", PARTITIONING),
        many("messages", message),
        since(EDGE, Number("context_flag", "uint8")),  # JSON has null in place of a flag
        since(EDGE, optional("context", "context_flag", PARTITION_CONTEXT)),
        revisions=ALL,
        cites="iggy.md §8.1",
    )
    return message, body


JSON_MESSAGE, JSON_SEND = _bodies(128)
JSON_MESSAGE_64, JSON_SEND_64 = _bodies(64)
"""The same in 0.7, whose ids have 64 bits."""


@frozen
class JsonSendRevision:
    """A revision of the body.

    Attributes:
        value: the class of the value.
        message: the class of its messages.
        partitioning: the binary layout of the partitioning, which has its rules.
        limited: the layout of a binary send, which has the limits of the messages.
        field: the member that has the headers.
        forms: the forms of the headers.
        id: the function that reads an id, and the largest width of an id that is a number, in bits.
        context: whether a send may have a context.
    """

    value: type[Any]
    message: type[Any]
    partitioning: StructLayout
    limited: StructLayout
    field: str
    forms: Mapping[str, HeadersForm]
    id: tuple[Callable[[Reader, JsonNode, int], int], int]
    context: bool = False


def _revision(
    revision: str,
    field: str,
    forms: Mapping[str, HeadersForm],
    number: tuple[Callable[[Reader, JsonNode, int], int], int] = (read_id, 64),
    bodies: tuple[Struct, Struct] = (JSON_MESSAGE, JSON_SEND),
) -> JsonSendRevision:
    message, body = (one.at(revision).type for one in bodies)
    binary = PARTITIONING.at(revision), SEND.at(revision)
    return JsonSendRevision(body, message, *binary, field, forms, number, revision == EDGE)


REVISIONS: Final[dict[str, JsonSendRevision]] = {
    "0.0.30": _revision("0.0.30", "headers", FORMS_30, (read_id_number, 128)),
    "0.7": _revision("0.7", "headers", FORMS_30, (read_id_number, 64), (JSON_MESSAGE_64, JSON_SEND_64)),
    "0.8": _revision("0.8", "headers", FORMS_30),
    "0.9": _revision("0.9", "user_headers", FORMS_90_NULL),
    "0.10": _revision("0.10", "user_headers", FORMS_100),
    EDGE: _revision(EDGE, "user_headers", FORMS_100),
}
"""Revision to its row. An id of over 64 bits is refused; the server of 0.7 reads it as 0 (§11.1, R13)."""


def decode(revision: JsonSendRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read a whole body, and check the limits of the binary format."""
    root = parse_json(reader)
    reader.region("", "json", root.start, root.end)
    found = object_members(reader, root, "", ("partitioning", "messages", *["context"] * revision.context))
    reader.enter("partitioning")
    partitioning = _partitioning(revision, reader, required_member(reader, root, found, "partitioning"))
    reader.leave()
    array = required_member(reader, root, found, "messages")
    messages: list[Any] = []
    for node in array_items(reader, array, "messages"):
        reader.enter("messages", len(messages))
        messages.append(_message(revision, reader, node))
        reader.leave()
    for fault in revision.limited.faults(messages=messages):
        report(reader, "messages", array.start, fault)
    more = _context(reader, found.get("context")) if revision.context else {}
    return revision.value(partitioning=partitioning, messages=tuple(messages), **more)


def _context(reader: Reader, node: JsonNode | None) -> dict[str, Any]:
    """Return the context by its name: None for one that is absent or null."""
    return {"context": None if node is None or node.kind == "null" else read_context(reader, node)}


def _partitioning(revision: JsonSendRevision, reader: Reader, node: JsonNode) -> Partitioning:
    found = object_members(reader, node, "", ("kind", "value"))
    kinds = PARTITIONING_KINDS.values()
    kind: Any = read_word(reader, required_member(reader, node, found, "kind"), "kind", kinds)
    at = required_member(reader, node, found, "value")
    value = read_base64(reader, at, "value")
    for fault in revision.partitioning.faults(kind=kind, length=len(value), value=value):
        report(reader, "value", at.start, fault)
    return Partitioning(kind, value)


def _message(revision: JsonSendRevision, reader: Reader, node: JsonNode) -> Any:  # noqa: ANN401 - the revision's message class
    found = object_members(reader, node, "", ("id", "payload", revision.field))
    read, bits = revision.id
    number = read(reader, found["id"], bits) if "id" in found else 0
    at = required_member(reader, node, found, "payload")
    payload = read_base64(reader, at, "payload")
    for fault in SENT.at("0.0.30").faults(payload=payload):
        report(reader, "payload", at.start, fault)
    headers = header_map(reader, found.get(revision.field), revision.forms)
    return revision.message(id=number, payload=payload, headers=headers)


def encode(revision: JsonSendRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body, with the fields in the order that the client of 0.8.0 uses."""
    for fault in revision.limited.faults(messages=value.messages):
        refuse(writer, "messages", fault)
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_message_json(revision, writer, message))
        writer.leave()
    partitioning = _partitioning_json(revision, writer, value.partitioning)
    context = value.context if revision.context else None
    more = {} if context is None else {"context": context_json(writer, context)}
    write_json(writer, {"partitioning": partitioning, "messages": messages, **more})


def _partitioning_json(revision: JsonSendRevision, writer: Writer, value: Partitioning) -> dict[str, Any]:
    writer.enter("partitioning")
    fields = {"kind": value.kind, "length": len(value.value), "value": value.value}
    for fault in revision.partitioning.faults(**fields):
        refuse(writer, "value", fault)
    writer.leave()
    return {"kind": value.kind, "value": base64_of(value.value)}


def _message_json(revision: JsonSendRevision, writer: Writer, message: Any) -> dict[str, Any]:  # noqa: ANN401 - see `_message`
    if not message.payload:
        raise writer.invalid("payload", "empty")
    json_object = {"id": _id_json(revision, writer, message.id), "payload": base64_of(message.payload)}
    headers = headers_json(writer, message.headers)
    return json_object if headers is None else {**json_object, revision.field: headers}


def _id_json(revision: JsonSendRevision, writer: Writer, number: int) -> int | str:
    """Return an id as a number, or as a string if the number is too wide and the revision reads strings."""
    read, bits = revision.id
    if number >> (bits if read is read_id_number else 128):
        raise writer.invalid("id", f"{number} does not fit {bits} bits")
    return str(number) if number >> bits else number
