"""Bodies of HTTP as descriptions, with the functions that read and write them: iggy.md, section 8.

An `Object` is a JSON object with its members in the order in which writers write them, and a form says what
a value may be. Payloads, header values and partitioning values are standard base64 with padding.
"""

import binascii
import json
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, Protocol

from attrs import field, frozen

from wireproof.schema.compiling import refuse, report
from wireproof.schema.layout import Checksum, Number, bits_of
from wireproof.schema.rules import Fault
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

# --- the JSON parser: RFC 8259 ---

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


_OPENED: Final[Mapping[str, tuple[JsonType, str]]] = {"{": ("object", "a name"), "[": ("array", "a value")}
"""The mark that begins a value with others in it to the type, and to what follows if it is not empty."""

_CLOSING: Final[Mapping[str, str]] = {"object": "}", "array": "]"}


def parse_json(reader: Reader) -> JsonNode:  # noqa: C901, PLR0912 - a branch for each place of a token
    """Parse all bytes of the reader as one JSON value whose nodes have their byte positions.

    The parser has its own stack, runs in linear time and does not convert numbers, so that a document of
    only brackets or only digits is not expensive. Duplicate names are kept; the reader of the object decides
    about them.
    """
    try:
        reader.data.decode()
    except UnicodeDecodeError as error:
        raise reader.reject("bad-utf8", "", "not UTF-8", at=error.start) from None
    root: JsonNode | None = None
    inside: list[JsonNode] = []
    names: list[JsonNode] = []
    wanted, first = "a value", False
    for kind, start, end in _tokens(reader):
        if inside and kind == _CLOSING[inside[-1].kind] and (first or not wanted):
            inside.pop().end = end
            wanted, first = "", False
        elif not wanted:  # a value ends before it
            if not inside:
                raise reader.reject("trailing-data", "", "after the value", at=start)
            wanted, first = "a name" if inside[-1].kind == "object" else "a value", False
            if kind != ",":
                text = f"expected a comma or the end of the {inside[-1].kind}, got {kind}"
                raise reader.reject("bad-json", "", text, at=start)
        elif wanted == "a colon" and kind == ":":
            wanted = "a value"
        elif wanted == "a name" and kind == "string":
            names.append(JsonNode("string", start, end, _text_of(reader, kind, start, end)))
            wanted, first = "a colon", False
        elif wanted == "a value" and kind not in "}]:,":
            if kind in _OPENED:
                if len(inside) >= MAX_DEPTH:
                    raise reader.reject("bad-nesting", "", f"more than {MAX_DEPTH} levels", at=start)
                opened, wanted = _OPENED[kind]
                node, first = JsonNode(opened, start, end), True
            else:
                node = JsonNode(kind, start, end, _text_of(reader, kind, start, end))
                wanted, first = "", False
            if not inside:
                root = node
            elif inside[-1].kind == "object":
                inside[-1].members.append((names.pop(), node))
            else:
                inside[-1].items.append(node)
            if kind in _OPENED:
                inside.append(node)
        else:
            raise reader.reject("bad-json", "", f"expected {wanted}, got {kind}", at=start)
    if root is None or inside:
        raise reader.reject("bad-json", "", "ends too soon", at=reader.end)
    reader.pos = reader.end
    return root


def _tokens(reader: Reader) -> Iterator[tuple[Any, int, int]]:
    """Yield kind, start and end of each token; the kind is the mark itself or the name of its group."""
    data, pos = reader.data, reader.pos
    while True:
        match = _TOKEN.match(data, pos, reader.end)
        if match is None or match.lastgroup is None:
            raise reader.reject("bad-json", "", "not a JSON token", at=pos)
        start, pos = match.span(match.lastgroup)
        if match.lastgroup == "end":
            return
        yield chr(data[start]) if match.lastgroup == "mark" else match.lastgroup, start, pos


def _text_of(reader: Reader, kind: JsonType, start: int, end: int) -> str:
    """Return the unescaped text of a string, or the digits of a number; of others nothing."""
    if kind not in ("string", "number"):
        return ""
    raw = reader.data[start:end].decode()
    if kind == "number":
        return raw
    if "\\" not in raw:  # no escapes; the token pattern excludes characters that a string may not have
        return raw[1:-1]
    try:
        text: str = json.loads(raw)
        text.encode()
    except UnicodeEncodeError:  # an escaped surrogate without its pair
        raise reader.reject("bad-utf8", "", "a lone surrogate", at=start) from None
    except ValueError as error:
        raise reader.reject("bad-json", "", str(error), at=start) from None
    return text


_DECIMAL: Final = re.compile(r"0|[1-9][0-9]*+")
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+")

MAX_DIGITS: Final = 39
"""The number of digits of 2^128 - 1. A longer number is refused without converting it."""

REQUIRED: Final = object()
"""What a member has in place of a value for an absent one, if it may not be absent."""


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


# --- forms ---


class Form(Protocol):
    """What a value in JSON may be. Both functions raise `Rejected`, which has the name as its path."""

    def read(self, reader: Reader, node: JsonNode, name: str) -> Any:  # noqa: ANN401 - of any type
        """Return the value of a node."""

    def write(self, writer: Writer, value: Any, name: str) -> Any:  # noqa: ANN401 - of any type
        """Return the JSON tree of a value; None for null."""


@frozen
class Uint:
    """An unsigned integer; `kind` as in a layout."""

    kind: str

    def read(self, reader: Reader, node: JsonNode, name: str) -> int:
        """Return the number."""
        text, bits = require_type(reader, node, name, "number").text, bits_of(self.kind)
        if not _DECIMAL.fullmatch(text):
            raise reader.reject("type-mismatch", name, "not an unsigned integer", at=node.start)
        value = int(text) if len(text) <= MAX_DIGITS else 1 << bits
        if value >> bits:
            raise reader.reject("invalid-value", name, f"more than {bits} bits", at=node.start)
        reader.region(name, "json-number", node.start, node.end, value)
        return value

    def write(self, writer: Writer, value: int, name: str) -> int:
        """Return the number."""
        if value >> bits_of(self.kind):
            raise writer.invalid(name, f"{value} does not fit {self.kind}")
        return value


@frozen
class Word:
    """A string that is one of some words; any other is refused as `bad-kind`."""

    words: Collection[str]

    def read(self, reader: Reader, node: JsonNode, name: str) -> str:
        """Return the word."""
        text = require_type(reader, node, name, "string").text
        if text not in self.words:
            raise reader.reject("bad-kind", name, f"{text[:40]!r}", at=node.start)
        reader.region(name, "json-string", node.start, node.end, text)
        return text

    def write(self, _writer: Writer, value: str, _name: str) -> str:
        """Return the word."""
        return value


class Text:
    """A string, or null for None; the value is its bytes."""

    def read(self, reader: Reader, node: JsonNode, name: str) -> bytes:
        """Return the bytes."""
        text = require_type(reader, node, name, "string").text
        reader.region(name, "json-string", node.start, node.end, text)
        return text.encode()

    def write(self, writer: Writer, value: bytes | None, name: str) -> str | None:
        """Return the text."""
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError as error:
            raise writer.invalid(name, f"not UTF-8 at {error.start}") from None


class Base64:
    """Bytes as base64 with padding. They have their own space in the trace."""

    def read(self, reader: Reader, node: JsonNode, name: str) -> bytes:
        """Return the bytes."""
        return open_base64(reader, node, name).rest(name)

    def write(self, _writer: Writer, value: bytes, _name: str) -> str:
        """Return the base64 text."""
        return base64_of(value)


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


def base64_of(data: bytes) -> str:
    """Encode bytes as standard base64 with padding."""
    return b64encode(data).decode()


@frozen
class Array:
    """A list of values of one form, as a tuple."""

    of: Form

    def read(self, reader: Reader, node: JsonNode, name: str) -> tuple[Any, ...]:
        """Return the values."""
        values = []
        for index, item in enumerate(require_type(reader, node, name, "array").items):
            reader.enter(name, index)
            values.append(self.of.read(reader, item, ""))
            reader.leave()
        return tuple(values)

    def write(self, writer: Writer, value: tuple[Any, ...], name: str) -> list[Any]:
        """Return the trees of the values."""
        trees = []
        for index, one in enumerate(value):
            writer.enter(name, index)
            trees.append(self.of.write(writer, one, ""))
            writer.leave()
        return trees


# --- objects ---


@frozen(kw_only=True)
class Member:
    """A member of an object.

    Attributes:
        name: in JSON.
        form: of its value.
        attribute: of the object's value, if it has another name there.
        absent: the value if the member is absent; `REQUIRED` if that is refused as `missing-field`.
        null: whether null is the same as an absent member.
        omitted: whether writers leave the member out in place of null.
        derive: what writers write of the object's value; such a member has no attribute but a named one.
        inline: whether the members of the object that it is are attributes of the value around it.
        faults: what rules find wrong when the member was read, by what was read so far.
        refused: whether writers refuse it too.
    """

    name: str = field(kw_only=False)
    form: Form = field(kw_only=False)
    attribute: str = ""
    absent: Any = REQUIRED
    null: bool = False
    omitted: bool = False
    derive: Callable[[Any], Any] | None = None
    inline: bool = False
    faults: Callable[[Mapping[str, Any]], Iterable[Fault]] | None = None
    refused: bool = True


@frozen
class Object:
    """An object whose members are the attributes of a value.

    Attributes:
        type: the class of its values.
        members: in the order of writers.
        bare: whether the only member stands alone, without an object around it.
    """

    type: type[Any]
    members: tuple[Member, ...]
    bare: bool = False

    @property
    def attributes(self) -> Iterator[str]:
        """Yield the attributes of a value."""
        for member in self.members:
            if member.inline and isinstance(member.form, Object):
                yield from member.form.attributes
            elif member.derive is None or member.attribute:
                yield member.attribute or member.name

    def read(self, reader: Reader, node: JsonNode, name: str) -> Any:  # noqa: ANN401 - a value of `type`
        """Return the value; a name stands before the paths of its fields."""
        if name:
            reader.enter(name)
        _, values = self._fields(reader, node, "")
        if name:
            reader.leave()
        return self.type(**{attribute: values[attribute] for attribute in self.attributes})

    def _fields(
        self, reader: Reader, node: JsonNode, name: str
    ) -> tuple[dict[str, JsonNode], dict[str, Any]]:
        """Return the members, and their values by attribute or name."""
        names = [member.name for member in self.members]
        found = {names[0]: node} if self.bare else object_members(reader, node, name, names)
        values: dict[str, Any] = {}
        for member in self.members:
            one, attribute = found.get(member.name), member.attribute or member.name
            if one is None or (member.null and one.kind == "null"):
                if member.absent is REQUIRED:
                    raise reader.reject("missing-field", member.name, at=node.start)
                values[attribute] = member.absent
            elif member.inline and isinstance(member.form, Object):
                more, fields = member.form._fields(reader, one, member.name)
                found, values = more | found, fields | values
            else:
                values[attribute] = member.form.read(reader, one, member.name)
            for fault in member.faults(values) if member.faults else ():
                report(reader, member.name, found.get(fault.path, one or node).start, fault)
        return found, values

    def write(self, writer: Writer, value: Any, name: str) -> Any:  # noqa: ANN401 - a value of `type`
        """Return the tree of the value."""
        if name:
            writer.enter(name)
        fields = {attribute: getattr(value, attribute) for attribute in self.attributes}
        tree = {}
        for member in self.members:
            for fault in member.faults(fields) if member.faults and member.refused else ():
                refuse(writer, member.name, fault)
            if member.inline:
                tree[member.name] = member.form.write(writer, value, "")
                continue
            own = member.derive(value) if member.derive else fields[member.attribute or member.name]
            written = None if own is None else member.form.write(writer, own, member.name)
            if written is not None or not member.omitted:
                tree[member.name] = written
        if name:
            writer.leave()
        return tree[self.members[0].name] if self.bare else tree


def numbers(parts: Iterable[Number | Checksum]) -> tuple[Member, ...]:
    """Return the members for numbers of a binary layout: integers, or the words of a code."""
    return tuple(
        Member(
            part.name,
            Word(tuple(part.codes.values())) if isinstance(part, Number) and part.codes else Uint(part.kind),
        )
        for part in parts
    )


@frozen
class Body:
    """A body in a revision: its form, and the value of no bytes, if that is one."""

    form: Object
    empty: Any = None

    @property
    def value(self) -> type[Any]:
        """Return the class of its values."""
        return self.form.type


def decode(body: Body, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the body's value
    """Read a whole body."""
    if not reader.left and body.empty is not None:
        return body.empty
    root = parse_json(reader)
    reader.region("", "json", root.start, root.end)
    return body.form.read(reader, root, "")


def encode(body: Body, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - the body's value
    """Write a whole body as the server's JSON library does: no whitespace, strings as UTF-8."""
    tree = body.form.write(writer, value, "")
    writer.put("", json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode())
