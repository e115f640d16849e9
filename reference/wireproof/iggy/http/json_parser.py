"""A JSON parser whose nodes have their byte positions: iggy.md, section 8; RFC 8259.

The parser has its own stack, runs in linear time and does not convert numbers, so that a document of only
brackets or only digits is not expensive. Duplicate names are kept; the reader of the object decides about
them.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from wireproof.wire.reader import Reader

JsonType = Literal["object", "array", "string", "number", "true", "false", "null"]

MAX_DEPTH: Final = 128
"""The deepest nesting that the JSON library of the Rust server accepts."""

_TOKEN: Final = re.compile(
    rb"""[ \t\n\r]*+(?:
      (?P<mark>[{}\[\],:])
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*+")
    | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)
    | (?P<true>true) | (?P<false>false) | (?P<null>null)
    | (?P<end>\Z))""",
    re.VERBOSE,
)


class JsonToken(NamedTuple):
    """A punctuation mark, a scalar or the end. `kind` is the mark itself or the name of its group."""

    kind: str
    start: int
    end: int


class JsonNode:
    """A JSON value at the bytes `start` to `end`.

    Attributes:
        kind: the type of the value.
        start: the position of its first byte.
        end: one past its last byte.
        text: the unescaped text of a string, or the digits of a number; else empty.
        members: the names and values of an object, in order.
        items: the items of an array.
    """

    __slots__ = ("end", "items", "kind", "members", "start", "text")

    def __init__(self, kind: JsonType, start: int, end: int, text: str = "") -> None:
        """Create a node without children."""
        self.kind: JsonType = kind
        self.start = start
        self.end = end
        self.text = text
        self.members: list[tuple[JsonNode, JsonNode]] = []
        self.items: list[JsonNode] = []


ParserState: TypeAlias = Callable[[JsonToken], "ParserState"]


class _Builder:
    """A pushdown automaton. Its states are methods that take a token and return the next state."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.root: JsonNode | None = None
        self.open: list[JsonNode] = []
        self.names: list[JsonNode] = []

    def refuse(self, token: JsonToken, expected: str) -> Exception:
        text = f"expected {expected}, got {token.kind}"
        return self.reader.reject("bad-json", "", text, at=token.start)

    def value(self, token: JsonToken) -> ParserState:
        if token.kind in ("{", "["):
            return self.opened(token)
        if token.kind not in ("string", "number", "true", "false", "null"):
            raise self.refuse(token, "a value")
        node = JsonNode(token.kind, token.start, token.end)  # type: ignore[arg-type] # narrowed a line above
        if token.kind in ("string", "number"):
            node.text = self.text_of(token)
        return self.attached(node)

    def opened(self, token: JsonToken) -> ParserState:
        if len(self.open) >= MAX_DEPTH:
            raise self.reader.reject("bad-nesting", "", f"more than {MAX_DEPTH} levels", at=token.start)
        node = JsonNode("object" if token.kind == "{" else "array", token.start, token.end)
        self.attached(node)
        self.open.append(node)
        return self.first_name if node.kind == "object" else self.first_item

    def attached(self, node: JsonNode) -> ParserState:
        if not self.open:
            self.root = node
        elif self.open[-1].kind == "object":
            self.open[-1].members.append((self.names.pop(), node))
        else:
            self.open[-1].items.append(node)
        return self.after

    def first_name(self, token: JsonToken) -> ParserState:
        return self.closed(token) if token.kind == "}" else self.name(token)

    def first_item(self, token: JsonToken) -> ParserState:
        return self.closed(token) if token.kind == "]" else self.value(token)

    def name(self, token: JsonToken) -> ParserState:
        if token.kind != "string":
            raise self.refuse(token, "a name")
        self.names.append(JsonNode("string", token.start, token.end, self.text_of(token)))
        return self.colon

    def colon(self, token: JsonToken) -> ParserState:
        if token.kind != ":":
            raise self.refuse(token, "a colon")
        return self.value

    def after(self, token: JsonToken) -> ParserState:
        if not self.open:
            raise self.reader.reject("trailing-data", "", "after the value", at=token.start)
        inside = self.open[-1].kind
        if token.kind == ("}" if inside == "object" else "]"):
            return self.closed(token)
        if token.kind != ",":
            raise self.refuse(token, f"a comma or the end of the {inside}")
        return self.name if inside == "object" else self.value

    def closed(self, token: JsonToken) -> ParserState:
        self.open.pop().end = token.end
        return self.after

    def text_of(self, token: JsonToken) -> str:
        raw = self.reader.data[token.start : token.end].decode()
        if token.kind == "number":
            return raw
        if "\\" not in raw:  # no escapes; the token pattern excludes characters that a string may not have
            return raw[1:-1]
        try:
            text: str = json.loads(raw)
            text.encode()
        except UnicodeEncodeError:  # an escaped surrogate without its pair
            raise self.reader.reject("bad-utf8", "", "a lone surrogate", at=token.start) from None
        except ValueError as error:
            raise self.reader.reject("bad-json", "", str(error), at=token.start) from None
        return text


def parse_json(reader: Reader) -> JsonNode:
    """Parse all bytes of the reader as one JSON value."""
    try:
        reader.data.decode()
    except UnicodeDecodeError as error:
        raise reader.reject("bad-utf8", "", "not UTF-8", at=error.start) from None
    tree = _Builder(reader)
    state: ParserState = tree.value
    for token in _tokens(reader):
        if token.kind == "end":
            break
        state = state(token)
    if tree.root is None or tree.open:
        raise reader.reject("bad-json", "", "ends too soon", at=reader.end)
    reader.pos = reader.end
    return tree.root


def _tokens(reader: Reader) -> Iterator[JsonToken]:
    pos = reader.pos
    while True:
        match = _TOKEN.match(reader.data, pos, reader.end)
        if match is None or match.lastgroup is None:
            raise reader.reject("bad-json", "", "not a JSON token", at=pos)
        start, pos = match.span(match.lastgroup)
        kind = match[match.lastgroup].decode() if match.lastgroup == "mark" else match.lastgroup
        yield JsonToken(kind, start, pos)
        if kind == "end":
            return
