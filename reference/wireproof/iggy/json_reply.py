"""The bodies of HTTP replies other than a poll: iggy.md, sections 8 and 8.1.

A send is answered with `{"confirmations": [{"stream_id", "topic_id", "partition_id", "base_offset"}]}` since
0.11.0, and with an empty body before, which later clients read as no confirmations. An error is
`{"id", "code", "reason"}`, since 0.0.40 also `field`; its HTTP status is not part of the body.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import fields, frozen

from wireproof.iggy.json_common import (
    array_items,
    object_members,
    read_uint,
    require_type,
    required_member,
    write_json,
)
from wireproof.iggy.json_parser import JsonNode, parse_json
from wireproof.iggy.reply import CONFIRMATION, SEND_REPLY
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.struct import Struct, since
from wireproof.wire.layout import Number, Octets, bits_of
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

JSON_ERROR: Final = Struct(
    "JsonError",
    Number("id", "uint32le"),
    Octets("code"),
    Octets("reason"),
    since("0.0.40", Number("field_flag", "uint8", presence_of="field")),  # JSON has null in place of a flag
    since("0.0.40", Octets("field")),
    revisions=ALL,
    cites="iggy.md §8",
)
"""An error. `id` is its code, or the HTTP status if no command failed; `field` names a wrong field."""


@frozen
class JsonReplyRevision:
    """A revision of a body.

    Attributes:
        value: the class of the value.
        read: returns the value of a body.
        tree: returns the JSON tree of a value.
        empty: the value of an empty body; None if it has none.
    """

    value: type[Any]
    read: Callable[[type[Any], Reader, JsonNode], Any]
    tree: Callable[[Writer, Any], Mapping[str, Any]]
    empty: Any = None


def decode(revision: JsonReplyRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read a whole body."""
    if not reader.left and revision.empty is not None:
        return revision.empty
    root = parse_json(reader)
    reader.region("", "json", root.start, root.end)
    return revision.read(revision.value, reader, root)


def encode(revision: JsonReplyRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    write_json(writer, dict(revision.tree(writer, value)))


# --- the confirmations of a send ---


_CONFIRMATION: Final = CONFIRMATION.at("0.11")
_REPLY: Final = SEND_REPLY.at("0.11").type
_NUMBERS: Final = tuple(part for part in _CONFIRMATION.parts if isinstance(part, Number))


def _read_confirmations(value: type[Any], reader: Reader, root: JsonNode) -> Any:  # noqa: ANN401 - see `decode`
    found = object_members(reader, root, "", ("confirmations",))
    confirmed: list[Any] = []
    for node in array_items(reader, required_member(reader, root, found, "confirmations"), "confirmations"):
        reader.enter("confirmations", len(confirmed))
        confirmed.append(_read_confirmation(reader, node))
        reader.leave()
    return value(confirmations=tuple(confirmed))


def _read_confirmation(reader: Reader, node: JsonNode) -> Any:  # noqa: ANN401 - see `decode`
    found = object_members(reader, node, "", [part.name for part in _NUMBERS])
    numbers = {
        part.name: read_uint(
            reader, required_member(reader, node, found, part.name), part.name, bits_of(part.kind)
        )
        for part in _NUMBERS
    }
    return _CONFIRMATION.type(**numbers)


def _confirmations_tree(writer: Writer, value: Any) -> dict[str, Any]:  # noqa: ANN401 - see `decode`
    rows = []
    for index, one in enumerate(value.confirmations):
        writer.enter("confirmations", index)
        rows.append({part.name: _number(writer, one, part.name, part.kind) for part in _NUMBERS})
        writer.leave()
    return {"confirmations": rows}


def _number(writer: Writer, owner: Any, name: str, kind: str) -> int:  # noqa: ANN401 - a value class
    number: int = getattr(owner, name)
    if number >> bits_of(kind):
        raise writer.invalid(name, f"{number} does not fit {kind}")
    return number


# --- errors ---

OPTIONAL: Final = "field"
"""The member that may be null or absent."""


def _read_error(value: type[Any], reader: Reader, root: JsonNode) -> Any:  # noqa: ANN401 - see `decode`
    names = [one.name for one in fields(value)]
    found = object_members(reader, root, "", names)
    number = read_uint(reader, required_member(reader, root, found, "id"), "id", 32)
    texts = {name: _read_text(reader, root, found, name) for name in names if name not in ("id", OPTIONAL)}
    if OPTIONAL in names:
        absent = OPTIONAL not in found or found[OPTIONAL].kind == "null"
        texts[OPTIONAL] = None if absent else _read_text(reader, root, found, OPTIONAL)
    return value(id=number, **texts)


def _read_text(reader: Reader, root: JsonNode, found: Mapping[str, JsonNode], name: str) -> Any:  # noqa: ANN401 - bytes, for a field that may be None
    node = require_type(reader, required_member(reader, root, found, name), name, "string")
    reader.region(name, "json-string", node.start, node.end, node.text)
    return node.text.encode()


def _error_tree(writer: Writer, value: Any) -> dict[str, Any]:  # noqa: ANN401 - see `decode`
    texts = (one.name for one in fields(type(value)) if one.name != "id")
    return {
        "id": _number(writer, value, "id", "uint32le"),
        **{name: _text(writer, name, getattr(value, name)) for name in texts},
    }


def _text(writer: Writer, name: str, data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        raise writer.invalid(name, f"not UTF-8 at {error.start}") from None


REVISIONS: Final = {
    "0.11": JsonReplyRevision(
        _REPLY, _read_confirmations, _confirmations_tree, empty=_REPLY(confirmations=())
    )
}
"""Revision to its row, of the reply to a send."""

ERRORS: Final = {
    revision: JsonReplyRevision(JSON_ERROR.at(revision).type, _read_error, _error_tree)
    for revision in ("0.0.30", "0.0.40")
}
"""Revision to its row, of an error."""
