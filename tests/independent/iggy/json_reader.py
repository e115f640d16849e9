"""Read Iggy's JSON texts by iggy.md §8, to check the golden cases.

Nothing here comes from the codec under test: the text is read by RFC 8259, with the position of every value.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from tests.independent.iggy import layouts
from tests.independent.iggy.header_numbers import with_numbers
from tests.independent.iggy.reader import KINDS, Bytes, read_map
from tests.independent.refused import RefusedError

Json = Any

BLANK: Final = b" \t\n\r"
NUMBER: Final = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
WORDS: Final[Mapping[bytes, Json]] = {b"true": True, b"false": False, b"null": None}
ESCAPES: Final = {
    b'"': '"',
    b"\\": "\\",
    b"/": "/",
    b"b": "\b",
    b"f": "\f",
    b"n": "\n",
    b"r": "\r",
    b"t": "\t",
}
DEEPEST: Final = 128


@frozen
class Node:
    """A value of a text.

    Attributes:
        at: the position of its first byte.
        kind: `object`, `array`, `text`, `number` or `word`.
        content: members as pairs of names and nodes, elements, the text, the digits, or true, false and null.
    """

    at: int
    kind: str
    content: Any

    @property
    def is_null(self) -> bool:
        return self.kind == "word" and self.content is None


# --- texts ---


class Text:
    """Reads a JSON text from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def whole(self) -> Node:
        """Return the only value of the text."""
        node = self.value(0)
        self.blank()
        if self.at < len(self.data):
            raise RefusedError("trailing-data", self.at)
        return node

    def blank(self) -> None:
        while self.at < len(self.data) and self.data[self.at] in BLANK:
            self.at += 1

    def fail(self, at: int | None = None) -> RefusedError:
        return RefusedError("bad-json", self.at if at is None else at)

    def peek(self) -> bytes:
        self.blank()
        return self.data[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        sign = self.peek()
        at = self.at
        if depth > DEEPEST:
            raise RefusedError("bad-nesting", at)
        if sign == b"{":
            return Node(at, "object", self.members(depth))
        if sign == b"[":
            return Node(at, "array", self.elements(depth))
        if sign == b'"':
            return Node(at, "text", self.string())
        for word, meaning in WORDS.items():
            if self.data.startswith(word, at):
                self.at += len(word)
                return Node(at, "word", meaning)
        if found := NUMBER.match(self.data, at):
            self.at = found.end()
            return Node(at, "number", found[0].decode())
        raise self.fail()

    def members(self, depth: int) -> list[tuple[str, Node, int]]:
        """Return name, value and the position of the name of each member."""
        rows: list[tuple[str, Node, int]] = []
        self.at += 1
        if self.peek() == b"}":
            self.at += 1
            return rows
        while True:
            if self.peek() != b'"':
                raise self.fail()
            at, name = self.at, self.string()
            if self.peek() != b":":
                raise self.fail()
            self.at += 1
            rows.append((name, self.value(depth + 1), at))
            if self.ends(b"}"):
                return rows

    def elements(self, depth: int) -> list[Node]:
        rows: list[Node] = []
        self.at += 1
        if self.peek() == b"]":
            self.at += 1
            return rows
        while True:
            rows.append(self.value(depth + 1))
            if self.ends(b"]"):
                return rows

    def ends(self, end: bytes) -> bool:
        """Pass over a comma, or over the end."""
        sign = self.peek()
        if sign not in (b",", end):
            raise self.fail()
        self.at += 1
        return sign == end

    def string(self) -> str:
        start = self.at
        self.at += 1
        out = bytearray()
        while (byte := self.data[self.at : self.at + 1]) != b'"':
            if not byte or byte < b" ":
                raise self.fail(start)
            if byte == b"\\":
                out += self.escape(start).encode("utf-8", "surrogatepass")
            else:
                out += byte
                self.at += 1
        self.at += 1
        try:
            return out.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise RefusedError("bad-utf8", start) from None

    def escape(self, start: int) -> str:
        sign = self.data[self.at + 1 : self.at + 2]
        self.at += 2
        if sign in ESCAPES:
            return ESCAPES[sign]
        digits = self.data[self.at : self.at + 4]
        if sign != b"u" or not re.fullmatch(rb"[0-9a-fA-F]{4}", digits):
            raise self.fail(start)
        self.at += 4
        return chr(int(digits, 16))


# --- parts ---


def members(node: Node, known: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Node]:
    """Return the known members of an object; the others are passed over."""
    if node.kind != "object":
        raise RefusedError("type-mismatch", node.at)
    found: dict[str, Node] = {}
    for name, part, at in node.content:
        if name in known:
            if name in found:
                raise RefusedError("duplicate-field", at)
            found[name] = part
    if any(name not in found for name in needed):
        raise RefusedError("missing-field", node.at)
    return found


def elements(node: Node) -> list[Node]:
    if node.kind != "array":
        raise RefusedError("type-mismatch", node.at)
    return list(node.content)


def number(node: Node, bits: int) -> str:
    """Return an unsigned number without fraction or exponent."""
    if node.kind != "number" or not node.content.isdigit():
        raise RefusedError("type-mismatch", node.at)
    if int(node.content) >> bits:
        raise RefusedError("invalid-value", node.at)
    return str(int(node.content))


def text(node: Node) -> str:
    if node.kind != "text":
        raise RefusedError("type-mismatch", node.at)
    return str(node.content)


def octets(node: Node) -> bytes:
    """Return the bytes of base64 with padding."""
    try:
        data = text(node).encode("ascii")
        found = base64.b64decode(data, validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise RefusedError("bad-json", node.at) from None
    if base64.b64encode(found) != data:
        raise RefusedError("bad-json", node.at)
    return found


def kind_value(node: Node, names: tuple[str, ...]) -> tuple[str, bytes, Node]:
    found = members(node, ("kind", "value"), ("kind", "value"))
    kind = text(found["kind"])
    if kind not in names:
        raise RefusedError("bad-kind", found["kind"].at)
    return kind, octets(found["value"]), found["value"]


def header_part(node: Node, *, bounded: bool) -> Json:
    kind, value, place = kind_value(node, KINDS)
    if bounded and not 1 <= len(value) <= 255:
        raise RefusedError("bad-length", place.at)
    return {"kind": kind, "value": value.hex()}


def map_of(node: Node, *, bounded: bool) -> list[Json]:
    """Return headers that are an object, sorted by key; equal keys stay in order."""
    if node.kind != "object":
        raise RefusedError("type-mismatch", node.at)
    rows = []
    for name, part, at in node.content:
        key = name.encode()
        if bounded and not 1 <= len(key) <= 255:
            raise RefusedError("bad-length", at)
        rows.append([key.hex(), header_part(part, bounded=bounded)])
    return sorted(rows, key=lambda row: bytes.fromhex(row[0]))


def pairs_of(node: Node) -> list[Json]:
    """Return headers that are an array, sorted by the kind and the bytes of the key."""
    rows = []
    for one in elements(node):
        found = members(one, ("key", "value"), ("key", "value"))
        rows.append([header_part(found[name], bounded=True) for name in ("key", "value")])
    return sorted(rows, key=lambda row: (KINDS.index(row[0]["kind"]), bytes.fromhex(row[0]["value"])))


def headers_of(node: Node | None, revision: str, *, sent: bool = False) -> Json:
    """Return the headers of a message: §8.1 and §8.2. To 0.6 those of a poll are of any length."""
    early = revision in ("0.0.30", "0.0.40", "0.0.60")
    if node is None or (node.is_null and (sent or early or revision in ("0.10", "0.11.1-edge"))):
        return []
    if revision not in KEYED:
        return map_of(node, bounded=sent or not early)
    if node.kind == "text" and revision != "0.9":
        data = octets(node)
        try:
            return read_map(Bytes(data), keyed=True)
        except RefusedError:
            return data.hex()
    return pairs_of(node)


KEYED: Final = ("0.9", "0.10", "0.11.1-edge")


# --- formats ---

CONTEXT: Final = ("incarnation", "owner_generation", "metadata_op")
HEADER: Final = (
    ("checksum", 64), ("id", 128), ("offset", 64), ("timestamp", 64), ("origin_timestamp", 64),
    ("user_headers_length", 32), ("payload_length", 32), ("reserved", 64),
)  # fmt: skip


def context_of(node: Node) -> Json:
    found = members(node, CONTEXT, CONTEXT)
    return {name: number(found[name], 64) for name in CONTEXT}


def read_error(node: Node, revision: str) -> Json:
    names = ("id", "code", "reason") if revision == "0.0.30" else ("id", "code", "reason", "field")
    found = members(node, names, ("id", "code", "reason"))
    value: dict[str, Any] = {
        "id": number(found["id"], 32),
        **{name: text(found[name]).encode().hex() for name in ("code", "reason")},
    }
    if revision != "0.0.30":
        field = found.get("field")
        value["field"] = None if field is None or field.is_null else text(field).encode().hex()
    return value


def read_reply(node: Node, _: str) -> Json:
    sizes = {"stream_id": 32, "topic_id": 32, "partition_id": 32, "base_offset": 64}
    rows = []
    for one in elements(members(node, ("confirmations",), ("confirmations",))["confirmations"]):
        found = members(one, tuple(sizes), tuple(sizes))
        rows.append({name: number(found[name], bits) for name, bits in sizes.items()})
    return {"confirmations": rows}


def read_send(node: Node, revision: str) -> Json:
    known = ("partitioning", "messages") + (("context",) if revision == "0.11.1-edge" else ())
    found = members(node, known, ("partitioning", "messages"))
    kind, value, place = kind_value(found["partitioning"], layouts.KINDS["key"])
    if (
        (kind == "partition_id" and len(value) != 4)
        or (kind == "messages_key" and not 1 <= len(value) <= 255)
        or (kind == "balanced" and value)
    ):
        raise RefusedError("bad-length", place.at)
    rows = [sent_message(one, revision) for one in elements(found["messages"])]
    if not rows:
        raise RefusedError("count-mismatch", found["messages"].at)
    result: dict[str, Any] = {"partitioning": {"kind": kind, "value": value.hex()}, "messages": rows}
    if revision == "0.11.1-edge":
        context = found.get("context")
        result["context"] = None if context is None or context.is_null else context_of(context)
    return result


def sent_message(node: Node, revision: str) -> Json:
    headers = "user_headers" if revision in KEYED else "headers"
    found = members(node, ("id", "payload", headers), ("payload",))
    ident = "0" if "id" not in found else ident_of(found["id"], revision)
    payload = octets(found["payload"])
    if not payload:
        raise RefusedError("bad-length", found["payload"].at)
    return {
        "id": ident,
        "headers": headers_of(found.get(headers), revision, sent=True),
        "payload": payload.hex(),
    }


def ident_of(node: Node, revision: str) -> str:
    """Return the id of a message that is sent: a number; from 0.8 on also digits in a text, or a UUID."""
    if revision in ("0.0.30", "0.7") or node.kind != "text":
        return number(node, 128 if revision == "0.0.30" else 64)
    digits = str(node.content)
    bare = (
        digits.replace("-", "")
        if re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", digits)
        else digits
    )
    if re.fullmatch(r"[0-9]+", digits) and not int(digits) >> 128:
        return str(int(digits))
    if re.fullmatch(r"[0-9a-fA-F]{32}", bare):
        return str(int(bare, 16))
    raise RefusedError("invalid-value", node.at)


def read_poll(node: Node, revision: str) -> Json:
    if revision in ("0.0.30", "0.0.40"):
        return {"messages": [early_message(one, revision) for one in elements(node)]}
    edge, counted = revision == "0.11.1-edge", revision != "0.0.60"
    names = (
        *(("context",) if edge else ()),
        "partition_id",
        "current_offset",
        *(("count",) if counted else ()),
        "messages",
    )
    found = members(node, names, names)
    value: dict[str, Any] = {"context": context_of(found["context"])} if edge else {}
    value |= {
        "partition_id": number(found["partition_id"], 32),
        "current_offset": number(found["current_offset"], 64),
    }
    count = number(found["count"], 32) if counted else "0"
    read: Callable[[Node, str], Json] = polled_message if counted else early_message
    value["messages"] = [read(one, revision) for one in elements(found["messages"])]
    if edge and int(count) != len(value["messages"]):
        raise RefusedError("count-mismatch", found["count"].at)
    return value


def early_message(node: Node, revision: str) -> Json:
    checked = revision != "0.0.30"
    needed = ("offset", "timestamp", "id", "payload", *(("state", "checksum") if checked else ()))
    found = members(node, (*needed, "headers"), needed)
    value = {
        "offset": number(found["offset"], 64),
        "timestamp": number(found["timestamp"], 64),
        "id": number(found["id"], 128),
    }
    if checked:
        state = text(found["state"])
        if state not in layouts.STATES:
            raise RefusedError("bad-kind", found["state"].at)
        value |= {"state": state, "checksum": number(found["checksum"], 32)}
    return {
        **value,
        "headers": headers_of(found.get("headers"), revision),
        "payload": octets(found["payload"]).hex(),
    }


def polled_message(node: Node, revision: str) -> Json:
    found = members(node, ("header", "payload", "user_headers"), ("header", "payload"))
    fields = HEADER if revision in KEYED else HEADER[:-1]
    names = tuple(name for name, _ in fields)
    header = members(found["header"], names, names)
    numbers = {name: number(header[name], bits) for name, bits in fields}
    shown = {name: numbers[name] for name in names[:5]}
    return {
        **shown,
        "headers": headers_of(found.get("user_headers"), revision),
        "payload": octets(found["payload"]).hex(),
    }


READERS: Final[Mapping[str, Callable[[Node, str], Json]]] = {
    "iggy.json.error": read_error,
    "iggy.json.poll": read_poll,
    "iggy.json.reply": read_reply,
    "iggy.json.send": read_send,
}


def read(form: str, revision: str, data: bytes) -> tuple[Json, int]:
    """Return the value of a text with its derived fields, and its size; a reply may have no byte."""
    if form == "iggy.json.reply" and not data:
        return {"confirmations": []}, 0
    return with_numbers(READERS[form](Text(data).whole(), revision)), len(data)
