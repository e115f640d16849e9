"""The headers of messages in JSON: iggy.md, sections 8.1 and 8.2.

`{"key": {"kind", "value"}}`; since 0.9.0 `[{"key": {...}, "value": {...}}]`; since 0.10.0 also base64.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

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
from wireproof.iggy.http.json_body import (
    Base64,
    Word,
    base64_of,
    object_members,
    open_base64,
    required_member,
)
from wireproof.iggy.http.json_parser import JsonNode
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

HeadersForm: TypeAlias = Callable[[Reader, JsonNode], HeaderMap | bytes]


def _read_null(_reader: Reader, _node: JsonNode) -> HeaderMap:
    return ()


def _read_object(reader: Reader, node: JsonNode) -> HeaderMap:
    entries: list[HeaderEntry] = []
    for name, value in node.members:
        reader.enter("headers", len(entries))
        entries.append((_read_key(reader, name), _read_value(reader, value)))
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
        read_key = _read_value(reader, key, "InvalidHeaderKey")
        reader.leave()
        reader.enter("value")
        entries.append((read_key, _read_value(reader, value)))
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
"""What headers may be, by JSON type."""


@frozen
class Headers:
    """Headers in one of the forms that a revision allows.

    Attributes:
        forms: by JSON type.
        none: what writers write for no headers.
    """

    forms: Mapping[str, HeadersForm]
    none: list[Any] | None = None

    def read(self, reader: Reader, node: JsonNode, _name: str) -> HeaderMap | bytes:
        """Return the map, or the bytes of a block that is not a map."""
        if node.kind not in self.forms:
            text = f"expected {' or '.join(self.forms)}, got {node.kind}"
            raise reader.reject("type-mismatch", "headers", text, at=node.start)
        return self.forms[node.kind](reader, node)

    def write(self, writer: Writer, value: HeaderMap | bytes, _name: str) -> Any:  # noqa: ANN401 - a tree
        """Return an object, an array if keys have kinds, or a base64 string for a block that is not a map."""
        if isinstance(value, bytes):
            write_map_or_block(TLV_WIRE_10, Writer(scope=writer.scope), value)
            return base64_of(value)
        check_map(writer, value)
        if value and isinstance(value[0][0], HeaderValue):
            return [{"key": _value_json(key), "value": _value_json(one)} for key, one in value]
        return {key.decode(): _value_json(one) for key, one in value} or self.none


def _read_key(reader: Reader, node: JsonNode) -> bytes:
    key = node.text.encode()
    if len(key) not in SIZES:
        raise _too_long(reader, node, "key", key, "InvalidHeaderKey")
    reader.region("key", "json-string", node.start, node.end, key)
    return key


def _read_value(reader: Reader, node: JsonNode, detail: str = "InvalidHeaderValue") -> HeaderValue:
    """Read a kind and a value of 1 to 255 bytes.

    Up to 0.6.x the server bypasses its own constructors and stores a value of any length (section 8.2, last
    line), which no binary reader accepts. This reader enforces the limits of section 9.
    """
    found = object_members(reader, node, "", ("kind", "value"))
    kind = Word(KINDS_BY_NAME).read(reader, required_member(reader, node, found, "kind"), "kind")
    member = required_member(reader, node, found, "value")
    data = Base64().read(reader, member, "value")
    if len(data) not in SIZES:
        raise _too_long(reader, member, "value", data, detail)
    value = HeaderValue(KINDS_BY_NAME[kind].name, data)
    remark_fault(reader, value, member.start)
    return value


def _too_long(reader: Reader, node: JsonNode, name: str, data: bytes, detail: str) -> Exception:
    return reader.reject("bad-length", name, f"{len(data)} bytes", at=node.start, detail=detail)


def _value_json(value: HeaderValue) -> dict[str, str]:
    return {"kind": value.kind, "value": base64_of(value.value)}
