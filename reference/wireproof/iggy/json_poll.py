"""The body of an HTTP poll response: iggy.md, section 8.2.

Up to 0.6.x the fields are those of the binary response, so this module uses the revisions of `poll`. The body
is an array of messages, or an object if it has more fields than the messages. Since 0.7.0 the fields of a
message header are in an object `header`, and the headers are called `user_headers`. Since 0.11.1-edge the
body begins with `context`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.headers import block_size
from wireproof.iggy.json_common import (
    FORMS_30,
    FORMS_70,
    FORMS_90,
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
    read_uint,
    read_word,
    required_member,
    write_json,
)
from wireproof.iggy.json_parser import JsonNode, parse_json
from wireproof.iggy.message import PAYLOAD, POLLED, header_maps
from wireproof.iggy.poll import POLL
from wireproof.iggy.revision import EDGE
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.compiling import report
from wireproof.schema.struct import Struct, StructLayout, inner, many, since
from wireproof.wire.layout import WIDTHS, Checksum, Length, Number, Octets, Repeated
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

_MESSAGE: Final = POLLED.at("0.9")
_HEADER: Final = tuple(part for part in _MESSAGE.parts if isinstance(part, Number | Checksum))
_LENGTHS: Final = tuple(part.name for part in _MESSAGE.parts if isinstance(part, Length))
"""The members of a message header, which are the fields of the binary one."""
_PREFIX: Final = POLL.at("0.7").numbers

JSON_MESSAGE: Final = Struct(
    "JsonPolledMessage",
    *(Number(part.name, part.kind) for part in _HEADER),
    *header_maps(),
    PAYLOAD,
    revisions=ALL,
    cites="iggy.md §8.2",
)
"""A message of a poll since 0.7.0."""

JSON_POLL: Final = Struct(
    "JsonPoll",
    since(EDGE, inner("context", PARTITION_CONTEXT)),
    *_PREFIX,
    many("messages", JSON_MESSAGE),
    revisions=ALL,
    cites="iggy.md §8.2",
)
"""The value of a poll since 0.7.0."""


@frozen
class JsonMessageForm:
    """The JSON form of messages since 0.7.0.

    Attributes:
        value: the class of a message.
        reserved: whether the header has the member `reserved`.
        forms: the forms of `user_headers`.
        none: the value of `user_headers` for a message without headers; None if writers omit the member.
    """

    value: type[Any]
    reserved: bool
    forms: Mapping[str, HeadersForm]
    none: list[Any] | None


@frozen
class JsonPollRevision:
    """A revision of the body.

    Attributes:
        value: the class of the value.
        read: returns the value of a body.
        tree: returns the JSON tree of a value.
        poll: up to 0.6.x, the binary layout with the same fields.
        headed: since 0.7.0, the form of the messages.
        context: whether a body has a context.
        counted: whether a count of other than the messages is refused.
    """

    value: type[Any]
    read: Callable[["JsonPollRevision", Reader, JsonNode], Any]
    tree: Callable[["JsonPollRevision", Writer, Any], Any]
    poll: StructLayout | None = None
    headed: JsonMessageForm | None = None
    context: bool = False
    counted: bool = False


def decode(revision: JsonPollRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read a whole body."""
    root = parse_json(reader)
    reader.region("", "json", root.start, root.end)
    return revision.read(revision, reader, root)


def encode(revision: JsonPollRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    write_json(writer, revision.tree(revision, writer, value))


# --- up to 0.6.x ---


def _read_plain(revision: JsonPollRevision, reader: Reader, root: JsonNode) -> Any:  # noqa: ANN401 - see `decode`
    poll = revision.poll
    assert poll is not None
    prefix, array = _envelope(poll, reader, root)
    messages: list[Any] = []
    for node in array_items(reader, array, "messages"):
        reader.enter("messages", len(messages))
        messages.append(_message(reader, node, _message_layout(poll)))
        reader.leave()
    for fault in poll.faults(messages=tuple(messages)):
        report(reader, "messages", array.start, fault)
    return revision.value(**prefix, messages=tuple(messages))


def _message_layout(poll: StructLayout) -> StructLayout:
    part = poll.part("messages")
    assert isinstance(part, Repeated)
    assert isinstance(part.of, StructLayout)
    return part.of


def _envelope(poll: StructLayout, reader: Reader, root: JsonNode) -> tuple[dict[str, Any], JsonNode]:
    """Return the fields of the body other than the messages, and the array of messages."""
    if not poll.numbers:
        return {}, root
    found = object_members(reader, root, "", [*(part.name for part in poll.numbers), "messages"])
    prefix = {
        part.name: _fixed(reader, required_member(reader, root, found, part.name), part)
        for part in poll.numbers
    }
    return prefix, required_member(reader, root, found, "messages")


def _message(reader: Reader, node: JsonNode, layout: StructLayout) -> Any:  # noqa: ANN401 - the layout's value class
    scalars = [part for part in layout.parts if isinstance(part, Number | Checksum)]
    found = object_members(reader, node, "", [*(part.name for part in scalars), "headers", "payload"])
    values: dict[str, Any] = {
        part.name: _fixed(reader, required_member(reader, node, found, part.name), part) for part in scalars
    }
    payload = required_member(reader, node, found, "payload")
    values["payload"] = read_base64(reader, payload, "payload")
    values["headers"] = header_map(reader, found.get("headers"), FORMS_30)
    for fault in layout.faults(payload=values["payload"]):
        report(reader, "payload", payload.start, fault)
    for part in scalars:
        if isinstance(part, Checksum):
            checksums = {"checksum": values[part.name], "computed": part.algorithm.of(values["payload"])}
            for fault in layout.faults(**checksums):
                report(reader, part.name, found[part.name].start, fault)
    return layout.type(**values)


def _fixed(reader: Reader, node: JsonNode, part: Number | Checksum) -> Any:  # noqa: ANN401 - an int or a name
    if isinstance(part, Number) and part.codes is not None:
        return read_word(reader, node, part.name, tuple(part.codes.values()))
    return read_uint(reader, node, part.name, 8 * WIDTHS[part.kind])


def _tree_plain(revision: JsonPollRevision, writer: Writer, value: Any) -> Any:  # noqa: ANN401 - see `decode`
    poll = revision.poll
    assert poll is not None
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_message_json(writer, message, _message_layout(poll)))
        writer.leave()
    if not poll.numbers:
        return messages
    return {**{part.name: _fixed_json(writer, value, part) for part in poll.numbers}, "messages": messages}


def _message_json(writer: Writer, message: Any, layout: StructLayout) -> dict[str, Any]:  # noqa: ANN401 - see `_message`
    json_object: dict[str, Any] = {}
    for part in layout.parts:
        match part:
            case Checksum(name=name):
                json_object[name] = part.algorithm.of(message.payload)
            case Number(name=name):
                json_object[name] = _fixed_json(writer, message, part)
            case Octets(name="headers"):
                json_object["headers"] = headers_json(writer, message.headers)
            case Octets(name=name):
                json_object[name] = base64_of(message.payload)
            case _:  # JSON has no lengths
                pass
    return json_object


def _fixed_json(writer: Writer, value: Any, part: Number | Checksum) -> Any:  # noqa: ANN401 - an int or a name
    field = getattr(value, part.name)
    coded = isinstance(part, Number) and part.codes is not None
    if not coded and field >> 8 * WIDTHS[part.kind]:
        raise writer.invalid(part.name, f"{field} does not fit {part.kind}")
    return field


# --- since 0.7.0 ---


def _read_headed(revision: JsonPollRevision, reader: Reader, root: JsonNode) -> Any:  # noqa: ANN401 - see `decode`
    headed = revision.headed
    assert headed is not None
    names = [*["context"] * revision.context, *(part.name for part in _PREFIX), "count", "messages"]
    found = object_members(reader, root, "", names)
    prefix: dict[str, Any] = (
        {"context": read_context(reader, required_member(reader, root, found, "context"))}
        if revision.context
        else {}
    )
    prefix |= {
        part.name: _fixed(reader, required_member(reader, root, found, part.name), part) for part in _PREFIX
    }
    count_node = required_member(reader, root, found, "count")
    count = read_uint(reader, count_node, "count", 32)
    messages: list[Any] = []
    for node in array_items(reader, required_member(reader, root, found, "messages"), "messages"):
        reader.enter("messages", len(messages))
        messages.append(_read_message(headed, reader, node))
        reader.leave()
    if count != len(messages):
        if revision.counted:
            text = f"{count} for {len(messages)}"
            raise reader.reject(
                "count-mismatch", "count", text, at=count_node.start, detail="InvalidMessagesCount"
            )
        reader.remark("iggy-message-count", "count", at=count_node.start)
    return revision.value(**prefix, messages=tuple(messages))


def _read_message(headed: JsonMessageForm, reader: Reader, node: JsonNode) -> Any:  # noqa: ANN401 - the revision's message class
    found = object_members(reader, node, "", ("header", "payload", "user_headers"))
    values, lengths = _read_header(headed, reader, required_member(reader, node, found, "header"))
    payload = read_base64(reader, required_member(reader, node, found, "payload"), "payload")
    headers = header_map(reader, found.get("user_headers"), headed.forms)
    sizes = (block_size(headers), len(payload))
    for name, size, (length, at) in zip(_LENGTHS, sizes, lengths, strict=True):
        if length != size:
            reader.remark("iggy-json-length", name, at=at)
    return headed.value(**values, headers=headers, payload=payload)


def _read_header(
    headed: JsonMessageForm, reader: Reader, node: JsonNode
) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """Return the fields of a message header by name, and its two lengths, each with its position."""
    names = [*(part.name for part in _HEADER), *_LENGTHS, *["reserved"] * headed.reserved]
    found = object_members(reader, node, "header", names)
    for name in names:
        required_member(reader, node, found, name)
    values = {part.name: _fixed(reader, found[part.name], part) for part in _HEADER}
    lengths = [(read_uint(reader, found[name], name, 32), found[name].start) for name in _LENGTHS]
    if headed.reserved and read_uint(reader, found["reserved"], "reserved", 64):  # section 11.1, R16
        reader.remark("iggy-json-reserved", "reserved", at=found["reserved"].start)
    return values, lengths


def _tree_headed(revision: JsonPollRevision, writer: Writer, value: Any) -> Any:  # noqa: ANN401 - see `decode`
    headed = revision.headed
    assert headed is not None
    messages = []
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        messages.append(_headed_json(headed, writer, message))
        writer.leave()
    context = {"context": context_json(writer, value.context)} if revision.context else {}
    prefix = {**context, **{part.name: _fixed_json(writer, value, part) for part in _PREFIX}}
    return {**prefix, "count": len(messages), "messages": messages}


def _headed_json(headed: JsonMessageForm, writer: Writer, message: Any) -> dict[str, Any]:  # noqa: ANN401 - see `_read_message`
    header = {part.name: _fixed_json(writer, message, part) for part in _HEADER}
    sizes = (block_size(message.headers), len(message.payload))
    header |= dict(zip(_LENGTHS, sizes, strict=True))
    header |= {"reserved": 0} if headed.reserved else {}
    json_object: dict[str, Any] = {"header": header, "payload": base64_of(message.payload)}
    headers = headers_json(writer, message.headers)
    user_headers = headed.none if headers is None else headers
    return json_object if user_headers is None else {**json_object, "user_headers": user_headers}


def _plain(revision: str) -> JsonPollRevision:
    poll = POLL.at(revision)
    return JsonPollRevision(poll.type, _read_plain, _tree_plain, poll=poll)


def _headed(
    revision: str, forms: Mapping[str, HeadersForm], none: list[Any] | None = None, *, reserved: bool = True
) -> JsonPollRevision:
    """Return the row of a revision since 0.7.0. In 0.11.1-edge it has a context, and its count is right."""
    form = JsonMessageForm(JSON_MESSAGE.at(revision).type, reserved, forms, none)
    value, edge = JSON_POLL.at(revision).type, revision == EDGE
    return JsonPollRevision(value, _read_headed, _tree_headed, headed=form, context=edge, counted=edge)


REVISIONS: Final[dict[str, JsonPollRevision]] = {
    **{revision: _plain(revision) for revision in ("0.0.30", "0.0.40", "0.0.60")},
    "0.7": _headed("0.7", FORMS_70, reserved=False),
    "0.9": _headed("0.9", FORMS_90, []),
    "0.10": _headed("0.10", FORMS_100, []),
    EDGE: _headed(EDGE, FORMS_100, []),
}
"""Revision to its row."""
