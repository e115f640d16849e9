"""The parts of JSON bodies that sends and polls share: iggy.md, section 8.

Payloads, header values and partitioning values are standard base64 with padding. Ids are numbers; since 0.8.0
a send may also have them as strings.
"""

import binascii
import json
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from attrs import asdict

from wireproof.iggy.header_kinds import KINDS_BY_NAME, SIZES, HeaderValue
from wireproof.iggy.headers import (
    TLV_WIRE_10,
    HeaderEntry,
    HeaderMap,
    check_map,
    map_of_entries,
    read_map_or_bytes,
    remark_fault,
    write_map_or_block,
)
from wireproof.iggy.json_parser import JsonNode
from wireproof.iggy.poll import CONTEXT
from wireproof.iggy.revision import EDGE, REVISIONS
from wireproof.schema.struct import Struct
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

V = TypeVar("V")

_DECIMAL: Final = re.compile(r"0|[1-9][0-9]*+")
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+")

MAX_DIGITS: Final = 39
"""The number of digits of 2^128 - 1. A longer number is refused without converting it."""


def require_type(reader: Reader, node: JsonNode, name: str, kind: str) -> JsonNode:
    """Return the node if it has the JSON type `kind`, else refuse it as `type-mismatch`."""
    if node.kind != kind:
        raise reader.reject("type-mismatch", name, f"expected {kind}, got {node.kind}", at=node.start)
    return node


def object_members(reader: Reader, node: JsonNode, name: str, fields: Collection[str]) -> dict[str, JsonNode]:
    """Return the members of an object whose names are in `fields`.

    A duplicate name is refused as `duplicate-field`. Other members are ignored with a remark, as the server
    ignores them.
    """
    found: dict[str, JsonNode] = {}
    for key, value in require_type(reader, node, name, "object").members:
        if key.text not in fields:
            reader.remark("iggy-json-unknown-field", name, at=key.start)
        elif key.text in found:
            raise reader.reject("duplicate-field", key.text, at=key.start)
        else:
            found[key.text] = value
    return found


def required_member(reader: Reader, node: JsonNode, found: Mapping[str, JsonNode], name: str) -> JsonNode:
    """Return the member `name`; if it is missing, refuse the object as `missing-field`."""
    if name not in found:
        raise reader.reject("missing-field", name, at=node.start)
    return found[name]


def read_uint(reader: Reader, node: JsonNode, name: str, bits: int) -> int:
    """Read an unsigned integer of at most `bits` bits."""
    text = require_type(reader, node, name, "number").text
    if not _DECIMAL.fullmatch(text):
        raise reader.reject("type-mismatch", name, "not an unsigned integer", at=node.start)
    value = int(text) if len(text) <= MAX_DIGITS else 1 << bits
    if value >> bits:
        raise reader.reject("invalid-value", name, f"more than {bits} bits", at=node.start)
    reader.region(name, "json-number", node.start, node.end, value)
    return value


_ID: Final = re.compile(r"\+?0*+([0-9]{0,39})")
_UUID: Final = re.compile(r"(?:-*+[0-9a-fA-F]){32}-*+")


def read_id_number(reader: Reader, node: JsonNode, bits: int) -> int:
    """Read an id that is a number."""
    return read_uint(reader, node, "id", bits)


def read_id(reader: Reader, node: JsonNode, bits: int) -> int:
    """Read an id that is a number of `bits` bits or a string: decimal, else 32 hex digits (section 8.1)."""
    if node.kind != "string":
        return read_id_number(reader, node, bits)
    decimal = _ID.fullmatch(node.text)
    if decimal and node.text.strip("+") and not int(decimal[1] or "0") >> 128:
        return _traced_id(reader, node, int(decimal[1] or "0"))
    if not _UUID.fullmatch(node.text):
        raise reader.reject("invalid-value", "id", "neither decimal nor UUID", at=node.start)
    return _traced_id(reader, node, int(node.text.replace("-", ""), 16))


def _traced_id(reader: Reader, node: JsonNode, number: int) -> int:
    """Add the string of an id to the trace, and return its number."""
    reader.region("id", "json-string", node.start, node.end, node.text)
    return number


def read_word(reader: Reader, node: JsonNode, name: str, words: Collection[str]) -> str:
    """Read a string that must be one of `words`; refuse any other as `bad-kind`."""
    text = require_type(reader, node, name, "string").text
    if text not in words:
        raise reader.reject("bad-kind", name, f"{text[:40]!r}", at=node.start)
    reader.region(name, "json-string", node.start, node.end, text)
    return text


def read_base64(reader: Reader, node: JsonNode, name: str) -> bytes:
    """Read the bytes of a base64 string. They have their own space in the trace."""
    return open_base64(reader, node, name).rest(name)


def open_base64(reader: Reader, node: JsonNode, name: str) -> Reader:
    """Return a reader for the bytes of a base64 string."""
    text = require_type(reader, node, name, "string").text
    if not _BASE64.fullmatch(text):
        text = "not base64 with padding"
        raise reader.reject("bad-json", name, text, at=node.start, detail="base64")
    data = binascii.a2b_base64(text)
    if b64encode(data[-(len(data) % 3 or 3) :]).decode() != text[-4:]:  # RFC 4648, section 3.5
        reader.remark("iggy-base64-bits", name, at=node.start)
    reader.region(name, "base64", node.start, node.end)
    return reader.inner_reader(data, node.start + 1)


def array_items(reader: Reader, node: JsonNode, name: str) -> list[JsonNode]:
    """Return the items of an array."""
    return require_type(reader, node, name, "array").items


# --- the context of a poll or a send, since 0.11.1-edge ---


PARTITION_CONTEXT: Final = Struct(
    "PartitionContext", *CONTEXT, revisions=REVISIONS, cites="iggy.md §6.1, §8.1"
)
"""The partition that a poll came from, or that a send is for."""

PartitionContext: Final = PARTITION_CONTEXT.at(EDGE).type
"""The class of its values."""

CONTEXT_NUMBERS: Final = tuple(part.name for part in CONTEXT)
"""Its members, numbers of 64 bits."""


def read_context(reader: Reader, node: JsonNode) -> Any:  # noqa: ANN401 - a `PartitionContext`
    """Read a context, whose members are all required."""
    reader.enter("context")
    found = object_members(reader, node, "", CONTEXT_NUMBERS)
    members = {name: required_member(reader, node, found, name) for name in CONTEXT_NUMBERS}
    numbers = {name: read_uint(reader, member, name, 64) for name, member in members.items()}
    reader.leave()
    return PartitionContext(**numbers)


def context_json(writer: Writer, context: Any) -> dict[str, int]:  # noqa: ANN401 - as above
    """Return the JSON form of a context."""
    writer.enter("context")
    numbers = asdict(context)
    for name, number in numbers.items():
        if number >> 64:
            raise writer.invalid(name, f"{number} does not fit 64 bits")
    writer.leave()
    return numbers


# --- headers: `{"key": {"kind", "value"}}`, since 0.9.0 `[{"key": {...}, "value": {...}}]`, or base64 ---

HeadersForm: TypeAlias = Callable[[Reader, JsonNode], HeaderMap | bytes]


def header_map(reader: Reader, node: JsonNode | None, forms: Mapping[str, HeadersForm]) -> Any:  # noqa: ANN401 - a map or bytes
    """Read the headers of a message in one of the forms that a revision allows.

    A missing member means no headers (section 8.1).
    """
    if node is None:
        return ()
    if node.kind not in forms:
        text = f"expected {' or '.join(forms)}, got {node.kind}"
        raise reader.reject("type-mismatch", "headers", text, at=node.start)
    return forms[node.kind](reader, node)


def _read_null(_reader: Reader, _node: JsonNode) -> HeaderMap:
    return ()


def _read_object(reader: Reader, node: JsonNode) -> HeaderMap:
    entries: list[HeaderEntry] = []
    for name, value in node.members:
        reader.enter("headers", len(entries))
        entries.append((_read_key(reader, name), read_header_value(reader, value)))
        reader.leave()
    return map_of_entries(reader, entries, node.start)


def _read_array(reader: Reader, node: JsonNode) -> HeaderMap:
    """Read an array of entries, whose key and value each have a kind and a value."""
    entries: list[HeaderEntry] = []
    for item in node.items:
        reader.enter("headers", len(entries))
        found = object_members(reader, item, "", ("key", "value"))
        key, value = (required_member(reader, item, found, name) for name in ("key", "value"))
        reader.enter("key")
        read_key = read_header_value(reader, key, "InvalidHeaderKey")
        reader.leave()
        reader.enter("value")
        entries.append((read_key, read_header_value(reader, value)))
        reader.leave()
        reader.leave()
    return map_of_entries(reader, entries, node.start)


def _read_base64(reader: Reader, node: JsonNode) -> HeaderMap | bytes:
    """Read a base64 string with the bytes of a header block, which may be encrypted."""
    return read_map_or_bytes(open_base64(reader, node, "headers"), TLV_WIRE_10)


FORMS_30: Final[Mapping[str, HeadersForm]] = {"object": _read_object, "null": _read_null}
FORMS_70: Final[Mapping[str, HeadersForm]] = {"object": _read_object}
FORMS_90: Final[Mapping[str, HeadersForm]] = {"array": _read_array}
FORMS_90_NULL: Final[Mapping[str, HeadersForm]] = {"array": _read_array, "null": _read_null}
FORMS_100: Final[Mapping[str, HeadersForm]] = {
    "array": _read_array,
    "string": _read_base64,
    "null": _read_null,
}
"""The forms of headers by JSON type: sections 8.1 and 8.2."""


def _read_key(reader: Reader, node: JsonNode) -> bytes:
    key = node.text.encode()
    if len(key) not in SIZES:
        raise _too_long(reader, node, "key", key, "InvalidHeaderKey")
    reader.region("key", "json-string", node.start, node.end, key)
    return key


def read_header_value(reader: Reader, node: JsonNode, detail: str = "InvalidHeaderValue") -> HeaderValue:
    """Read a kind and a value of 1 to 255 bytes.

    Up to 0.6.x the server bypasses its own constructors and stores a value of any length (section 8.2, last
    line), which no binary reader accepts. This reader enforces the limits of section 9.
    """
    found = object_members(reader, node, "", ("kind", "value"))
    kind = read_word(reader, required_member(reader, node, found, "kind"), "kind", KINDS_BY_NAME)
    member = required_member(reader, node, found, "value")
    data = read_base64(reader, member, "value")
    if len(data) not in SIZES:
        raise _too_long(reader, member, "value", data, detail)
    value = HeaderValue(KINDS_BY_NAME[kind].name, data)
    remark_fault(reader, value, member.start)
    return value


def _too_long(reader: Reader, node: JsonNode, name: str, data: bytes, detail: str) -> Exception:
    return reader.reject("bad-length", name, f"{len(data)} bytes", at=node.start, detail=detail)


# --- writing ---


def base64_of(data: bytes) -> str:
    """Encode bytes as standard base64 with padding."""
    return b64encode(data).decode()


def headers_json(writer: Writer, headers: HeaderMap | bytes) -> Any:  # noqa: ANN401 - a tree
    """Return the JSON form of headers, or None if there are none.

    The form is an object, an array if keys have kinds, or a base64 string for a block that is not a map.
    """
    if isinstance(headers, bytes):
        write_map_or_block(TLV_WIRE_10, Writer(scope=writer.scope), headers)
        return base64_of(headers)
    check_map(writer, headers)
    if headers and isinstance(headers[0][0], HeaderValue):
        return [{"key": _value_json(key), "value": _value_json(value)} for key, value in headers]
    return {key.decode(): _value_json(value) for key, value in headers} or None


def _value_json(value: HeaderValue) -> dict[str, str]:
    return {"kind": value.kind, "value": base64_of(value.value)}


def write_json(writer: Writer, tree: dict[str, Any] | Sequence[Any]) -> None:
    """Write a JSON tree as the server's JSON library does: no whitespace, strings as UTF-8."""
    writer.put("", json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode())
