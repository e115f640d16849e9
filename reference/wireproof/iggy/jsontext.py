"""JSON text as a tree of nodes that know their bytes: iggy.md, section 8; RFC 8259.

The parser keeps its own stack, takes linear time, and never turns digits into a number: a document of
brackets or of digits alone costs no more than its length. Duplicate names are kept for the reader of
the object to judge.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from wireproof.wire.reader import Reader

Kind = Literal["object", "array", "string", "number", "true", "false", "null"]

MOST_DEPTH: Final = 128
"""Levels of nesting that the JSON library of the Rust server follows."""

_TOKEN: Final = re.compile(
    rb"""[ \t\n\r]*+(?:
      (?P<mark>[{}\[\],:])
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*+")
    | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)
    | (?P<true>true) | (?P<false>false) | (?P<null>null)
    | (?P<end>\Z))""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A mark, a scalar or the end; `kind` is the mark itself or the name of its group."""

    kind: str
    start: int
    end: int


class Node:
    """A JSON value and the bytes `start` to `end` it stands on.

    Attributes:
        text: of a string, unescaped; of a number, as written; empty elsewhere.
        members: of an object, name and value in order.
        items: of an array.
    """

    __slots__ = ("end", "items", "kind", "members", "start", "text")

    def __init__(self, kind: Kind, start: int, end: int, text: str = "") -> None:
        """A node without children."""
        self.kind: Kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.members: list[tuple[Node, Node]] = []
        self.items: list[Node] = []


State: TypeAlias = Callable[[Token], "State"]


class _Builder:
    """A pushdown automaton whose states are its methods: each takes a token and gives the next state."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.root: Node | None = None
        self.open: list[Node] = []
        self.names: list[Node] = []

    def refuse(self, token: Token, wanted: str) -> Exception:
        text = f"want {wanted}, not {token.kind}"
        return self.reader.reject("bad-json", "", text, at=token.start)

    def value(self, token: Token) -> State:
        if token.kind in ("{", "["):
            return self.opened(token)
        if token.kind not in ("string", "number", "true", "false", "null"):
            raise self.refuse(token, "a value")
        node = Node(token.kind, token.start, token.end)  # type: ignore[arg-type] # narrowed a line above
        if token.kind in ("string", "number"):
            node.text = self.text_of(token)
        return self.attached(node)

    def opened(self, token: Token) -> State:
        if len(self.open) >= MOST_DEPTH:
            raise self.reader.reject("bad-nesting", "", f"more than {MOST_DEPTH} levels", at=token.start)
        node = Node("object" if token.kind == "{" else "array", token.start, token.end)
        self.attached(node)
        self.open.append(node)
        return self.first_name if node.kind == "object" else self.first_item

    def attached(self, node: Node) -> State:
        if not self.open:
            self.root = node
        elif self.open[-1].kind == "object":
            self.open[-1].members.append((self.names.pop(), node))
        else:
            self.open[-1].items.append(node)
        return self.after

    def first_name(self, token: Token) -> State:
        return self.closed(token) if token.kind == "}" else self.name(token)

    def first_item(self, token: Token) -> State:
        return self.closed(token) if token.kind == "]" else self.value(token)

    def name(self, token: Token) -> State:
        if token.kind != "string":
            raise self.refuse(token, "a name")
        self.names.append(Node("string", token.start, token.end, self.text_of(token)))
        return self.colon

    def colon(self, token: Token) -> State:
        if token.kind != ":":
            raise self.refuse(token, "a colon")
        return self.value

    def after(self, token: Token) -> State:
        if not self.open:
            raise self.reader.reject("trailing-data", "", "after the value", at=token.start)
        inside = self.open[-1].kind
        if token.kind == ("}" if inside == "object" else "]"):
            return self.closed(token)
        if token.kind != ",":
            raise self.refuse(token, f"a comma or the end of the {inside}")
        return self.name if inside == "object" else self.value

    def closed(self, token: Token) -> State:
        self.open.pop().end = token.end
        return self.after

    def text_of(self, token: Token) -> str:
        raw = self.reader.data[token.start : token.end].decode()
        if token.kind == "number":
            return raw
        if "\\" not in raw:  # nothing is escaped, and what may not stand in a string is no token
            return raw[1:-1]
        try:
            text: str = json.loads(raw)
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, escaped
            raise self.reader.reject("bad-utf8", "", "a lone surrogate", at=token.start) from None
        except ValueError as error:
            raise self.reader.reject("bad-json", "", str(error), at=token.start) from None
        return text


def parse(reader: Reader) -> Node:
    """The whole of the reader's bytes as one JSON value; the reader then stands at its end."""
    try:
        reader.data.decode()
    except UnicodeDecodeError as error:
        raise reader.reject("bad-utf8", "", "not UTF-8", at=error.start) from None
    builder = _Builder(reader)
    state: State = builder.value
    for token in _tokens(reader):
        if token.kind == "end":
            break
        state = state(token)
    if builder.root is None or builder.open:
        raise reader.reject("bad-json", "", "ends too soon", at=reader.end)
    reader.pos = reader.end
    return builder.root


def _tokens(reader: Reader) -> Iterator[Token]:
    pos = reader.pos
    while True:
        match = _TOKEN.match(reader.data, pos, reader.end)
        if match is None or match.lastgroup is None:
            raise reader.reject("bad-json", "", "no JSON token", at=pos)
        start, pos = match.span(match.lastgroup)
        kind = match[match.lastgroup].decode() if match.lastgroup == "mark" else match.lastgroup
        yield Token(kind, start, pos)
        if kind == "end":
            return
