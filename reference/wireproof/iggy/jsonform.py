"""The JSON shapes that sends and polls share: iggy.md, section 8.

Payloads, header values and partitioning values are standard base64 with padding; ids are bare
numbers over the full range of 128 bits.
"""

import binascii
import json
import re
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from wireproof.iggy.headers import Entry, HeaderMap, as_map, check_map, remark_fault
from wireproof.iggy.jsontext import Node
from wireproof.iggy.kinds import BY_NAME, SIZES, HeaderValue
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

V = TypeVar("V")

_DECIMAL: Final = re.compile(r"0|[1-9][0-9]*+")
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+")

MOST_DIGITS: Final = 39
"""Digits of 2^128 - 1; a longer number is refused before it is computed."""


def typed(reader: Reader, node: Node, name: str, kind: str) -> Node:
    """The node if it is of `kind`; else `type-mismatch`."""
    if node.kind != kind:
        raise reader.reject("type-mismatch", name, f"want {kind}, not {node.kind}", at=node.start)
    return node


def members(reader: Reader, node: Node, name: str, fields: Collection[str]) -> dict[str, Node]:
    """The members of an object that are called as `fields` say.

    A second one of a name is `duplicate-field`; one of another name is ignored with a remark, as the
    server's structures do.
    """
    found: dict[str, Node] = {}
    for key, value in typed(reader, node, name, "object").members:
        if key.text not in fields:
            reader.remark("iggy-json-unknown-field", name, at=key.start)
        elif key.text in found:
            raise reader.reject("duplicate-field", key.text, at=key.start)
        else:
            found[key.text] = value
    return found


def required(reader: Reader, node: Node, found: Mapping[str, Node], name: str) -> Node:
    """The member `name`; `missing-field` at the object's start if there is none."""
    if name not in found:
        raise reader.reject("missing-field", name, at=node.start)
    return found[name]


def uint(reader: Reader, node: Node, name: str, bits: int) -> int:
    """A number that is whole, not negative and of at most `bits` bits."""
    text = typed(reader, node, name, "number").text
    if not _DECIMAL.fullmatch(text):
        raise reader.reject("type-mismatch", name, "no whole number from 0 up", at=node.start)
    value = int(text) if len(text) <= MOST_DIGITS else 1 << bits
    if value >> bits:
        raise reader.reject("invalid-value", name, f"more than {bits} bits", at=node.start)
    reader.region(name, "json-number", node.start, node.end, value)
    return value


def word(reader: Reader, node: Node, name: str, words: Collection[str]) -> str:
    """A string out of a closed list; `bad-kind` for any other."""
    text = typed(reader, node, name, "string").text
    if text not in words:
        raise reader.reject("bad-kind", name, f"{text[:40]!r}", at=node.start)
    reader.region(name, "json-string", node.start, node.end, text)
    return text


def octets(reader: Reader, node: Node, name: str) -> bytes:
    """The bytes of a base64 string, in a space of their own that begins at the first of its letters."""
    text = typed(reader, node, name, "string").text
    if not _BASE64.fullmatch(text):
        text = "not base64 with padding"
        raise reader.reject("bad-json", name, text, at=node.start, detail="base64")
    data = binascii.a2b_base64(text)
    if b64encode(data[-(len(data) % 3 or 3) :]).decode() != text[-4:]:  # RFC 4648, section 3.5
        reader.remark("iggy-base64-bits", name, at=node.start)
    reader.region(name, "base64", node.start, node.end)
    return reader.unpacked(data, node.start + 1).rest(name)


def sequence(reader: Reader, node: Node, name: str) -> list[Node]:
    """The items of an array."""
    return typed(reader, node, name, "array").items


# --- header maps: `{"key": {"kind": "string", "value": "<base64>"}}`, or null, or absent ---


def header_map(reader: Reader, node: Node | None) -> HeaderMap:
    """The headers of a message; null and absent are none (section 8.1)."""
    if node is None or node.kind == "null":
        return ()
    entries: list[Entry] = []
    for name, value in typed(reader, node, "headers", "object").members:
        reader.enter("headers", len(entries))
        entries.append((_key(reader, name), header_value(reader, value)))
        reader.leave()
    return as_map(reader, entries, node.start)


def _key(reader: Reader, node: Node) -> bytes:
    key = node.text.encode()
    if len(key) not in SIZES:
        raise _too_long(reader, node, "key", key, "InvalidHeaderKey")
    reader.region("key", "json-string", node.start, node.end, key)
    return key


def header_value(reader: Reader, node: Node) -> HeaderValue:
    """A kind and a value of 1 to 255 bytes.

    To 0.6.x the server passes its own constructors by and stores any length (section 8.2, last line);
    what it stored so, no binary reader takes back. The limits of section 9 are held to here.
    """
    found = members(reader, node, "", ("kind", "value"))
    kind = word(reader, required(reader, node, found, "kind"), "kind", BY_NAME)
    at = required(reader, node, found, "value")
    data = octets(reader, at, "value")
    if len(data) not in SIZES:
        raise _too_long(reader, at, "value", data, "InvalidHeaderValue")
    value = HeaderValue(BY_NAME[kind].name, data)
    remark_fault(reader, value, at.start)
    return value


def _too_long(reader: Reader, node: Node, name: str, data: bytes, detail: str) -> Exception:
    return reader.reject("bad-length", name, f"{len(data)} bytes", at=node.start, detail=detail)


# --- writing ---


def base64_of(data: bytes) -> str:
    """Standard base64 with padding."""
    return b64encode(data).decode()


def headers_json(writer: Writer, headers: HeaderMap) -> dict[str, Any] | None:
    """The map form of headers; None for none."""
    check_map(writer, headers)
    tree = {key.decode(): {"kind": v.kind, "value": base64_of(v.value)} for key, v in headers}
    return tree or None


def put_json(writer: Writer, tree: dict[str, Any] | Sequence[Any]) -> None:
    """Write a tree as the server's JSON library does: no blanks, text as UTF-8."""
    writer.put("", json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode())
