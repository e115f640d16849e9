"""Fields of messages as Kafka's schemas declare them: text, bytes, lists and tagged fields (KIP-482).

Integers are in big-endian order. A list is a tuple, a uuid its text as Kafka writes it, and text that is not
UTF-8 has its bytes escaped as surrogates. Lengths are bounded before anything is read: a list has at most as
many elements as the bytes left can hold. Lengths below -1 are refused, which Kafka reads as null where null
is allowed.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, Final

from attrs import define, field, frozen

from wireproof.schema.layout import ReadCall
from wireproof.wire.json_values import Json, camel_case, derived, to_json
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import NO_INDEX

MAX_STRING: Final = 0x7FFF
"""The longest string, in bytes, of every version: the length of older versions is an int16."""

MAX_LENGTH: Final = 0x7FFF_FFFF
"""The largest number that Kafka reads as an unsigned varint without a change of its sign."""

MAX_ELEMENTS: Final = 1_000_000
"""The most elements of a list that Kafka's classes read, since 4.4; here the most of all lists of a value and
of its tagged fields together, which bounds the memory."""

MAX_TAGS: Final = 10_000
"""The most tagged fields of a struct that Kafka's classes read, since 4.4."""

_FLOAT: Final = Struct(">d")


@define
class Message:
    """The options of the functions of a message.

    Attributes:
        room: the number of elements and tagged fields that it may still have.
        texts: the texts of its outermost structure on which the meaning of other fields depends.
    """

    room: int = MAX_ELEMENTS
    texts: dict[str, str | None] = field(factory=dict)

    def take_room(self, reader: Reader, label: str, count: int, at: int) -> None:
        """Count elements; raise `Rejected` if they are too many."""
        self.room -= count
        if self.room < 0:
            text = f"{count} elements; a value has at most {MAX_ELEMENTS} in all its lists"
            raise reader.reject("limit-exceeded", label, text, at=at)


@camel_case
@derived(unknown_tags=tuple[tuple[int, bytes], ...])
class MessageValue:
    """The base class of the values of structures with tagged fields."""

    unknown_tags: tuple[tuple[int, bytes], ...] = ()

    def add_derived(self, tree: dict[str, Json]) -> None:
        """Add the tagged fields that the structure does not have, if there are some."""
        if self.unknown_tags:
            tree["unknownTags"] = [{"tag": str(tag), "data": data.hex()} for tag, data in self.unknown_tags]


@derived(data=bytes, value=Any, rest=bytes)
@frozen
class Held:
    """Bytes that are a message of their own.

    Attributes:
        data: all bytes.
        version: their first two bytes. A version above the newest one is read as the newest one.
        value: the message.
        rest: the bytes after it.
    """

    data: bytes
    version: int
    value: Any
    rest: bytes

    def add_derived(self, tree: dict[str, Json]) -> None:
        """Add the fields of the message, and the rest if there is one."""
        fields = to_json(self.value, with_derived=True)
        assert isinstance(fields, dict), "a message is an object"
        tree |= fields | ({"rest": self.rest.hex()} if self.rest else {})


def uuid_text(data: bytes) -> str:
    """Return Kafka's text form of a uuid: base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


# --- lengths ---


def _uvarint(reader: Reader, name: str) -> int:
    """Read an unsigned varint of 32 bits that is a length, a count or a size."""
    start = reader.pos
    if not reader.tracing and start < reader.end and (byte := reader.data[start]) < 0x80:
        reader.pos = start + 1
        return byte
    number = reader.uvarint(name, 32)
    if number > MAX_LENGTH:
        raise reader.reject("bad-varint", name, f"{number}, at most {MAX_LENGTH}", at=start)
    return number


def _length(reader: Reader, name: str, kind: str, *, compact: bool, nullable: bool) -> int:
    """Read the length or count of the field `name`; -1 for null. A compact one is a varint, plus one."""
    start = reader.pos
    length: int = _uvarint(reader, name) - 1 if compact else getattr(reader, kind)(name)
    if length < -1:
        raise reader.reject("negative-length", name, f"length {length}", at=start)
    if length < 0 and not nullable:
        raise reader.reject("null-not-allowed", name, "null", at=start)
    return length


def _past_end(reader: Reader, name: str, what: str, at: int) -> Rejected:
    """Return the refusal of a count of more elements than the bytes left can hold."""
    cls = "length-past-end" if reader.short == "truncated" else reader.short
    return reader.reject(cls, name, f"{what}, {reader.left} bytes left", at=at)


# --- values ---


def scalar(kind: str, *, compact: bool) -> Callable[[Reader, str], Any]:
    """Return the function that reads a value that is not null: an integer, `bool`, `uuid` and so on."""
    match kind:
        case "bool":
            return lambda reader, name: reader.int8(name) != 0
        case "uuid":
            return lambda reader, name: uuid_text(reader.take(name, 16))
        case "float64":
            return lambda reader, name: _FLOAT.unpack(reader.take(name, 8))[0]
        case "string":
            return lambda reader, name: _text(reader, name, compact=compact, nullable=False)
    return lambda reader, name: getattr(reader, kind)(name)


def _octets(reader: Reader, name: str, kind: str, *, compact: bool, nullable: bool) -> tuple[int, Any]:
    """Read text or bytes, None for null; return their position too."""
    label, start = f"{name}Length", reader.pos
    length = _length(reader, label, kind, compact=compact, nullable=nullable)
    if length < 0:
        return start, None
    if kind == "int16" and length > MAX_STRING:
        raise reader.reject("bad-length", label, f"{length}, at most {MAX_STRING}", at=start)
    start = reader.pos
    data = reader.take(name, length)
    reader.cover(label, "length", start, reader.pos, int(compact))
    return start, data


def _text(reader: Reader, name: str, *, compact: bool, nullable: bool) -> str | None:
    _, data = _octets(reader, name, "int16", compact=compact, nullable=nullable)
    return None if data is None else data.decode(errors="surrogateescape")


def text(name: str, *, compact: bool, nullable: bool, kept: bool) -> ReadCall:
    """Return the function that reads text. `kept`: whether the meaning of other fields depends on it."""

    def read(reader: Reader, message: Message) -> str | None:
        found = _text(reader, name, compact=compact, nullable=nullable)
        if kept:
            message.texts[name] = found
        return found

    return read


def octets(
    name: str,
    *,
    compact: bool,
    nullable: bool,
    held: Callable[[Reader], Held] | None,
    only_if: tuple[str, str] | None,
) -> ReadCall:
    """Return the function that reads bytes, or the message that they are if a text has a certain value.

    `held` raises `Rejected` for bytes that are no message.
    """

    def read(reader: Reader, message: Message) -> bytes | Held | None:
        start, data = _octets(reader, name, "int32", compact=compact, nullable=nullable)
        unlike = only_if is not None and message.texts.get(only_if[0]) != only_if[1]
        if data is None or held is None or unlike:
            return data  # type: ignore[no-any-return] # bytes or None
        try:
            found = held(Reader(data))
        except Rejected:
            return data  # type: ignore[no-any-return] # bytes
        if reader.tracing:  # read again the bytes that were passed; the reader itself does not move
            end, reader.pos = reader.pos, start
            inner = reader.window(name, end - start)
            inner.enter(name, NO_INDEX)
            held(inner)
        return found

    return read


def inner(name: str, read_inner: ReadCall, *, nullable: bool, tagged: bool) -> ReadCall:
    """Return the function that reads a structure inside another one."""

    def read(reader: Reader, message: Message) -> Any:  # noqa: ANN401 - a value of the structure
        if nullable:
            label = f"{name}Present"  # a varint in a tagged field
            if _uvarint(reader, label) == 0 if tagged else reader.int8(label) < 0:
                return None
        reader.enter(name)
        value = read_inner(reader, message)
        reader.leave()
        return value

    return read


def many(name: str, of: ReadCall | str, least: int, *, compact: bool, nullable: bool) -> ReadCall:
    """Return the function that reads a list; `least`: the bytes of its smallest structure or scalar."""
    label = f"{name}Count"

    def read(reader: Reader, message: Message) -> tuple[Any, ...] | None:
        start = reader.pos
        count = _length(reader, label, "int32", compact=compact, nullable=nullable)
        if count < 0:
            return None
        if count * least > reader.left:
            raise _past_end(reader, label, f"{count} elements", start)
        message.take_room(reader, label, count, start)
        first = reader.pos
        elements = read_all(reader, message, count)
        reader.cover(label, "count", first, reader.pos, int(compact))
        return elements

    def read_all(reader: Reader, message: Message, count: int) -> tuple[Any, ...]:
        if callable(of):
            scope, found = reader.scope, []
            for index in range(count):
                reader.scope = (scope, name, index)
                found.append(of(reader, message))
            reader.scope = scope
            return tuple(found)
        if of in FIXED_WIDTH and not reader.tracing:
            packing = Struct(f">{count}{FIXED_WIDTH[of].format[1:]}")
            return packing.unpack(reader.take(name, packing.size))
        read_one = scalar(of, compact=compact)
        return tuple(read_one(reader, f"{name}[{index}]") for index in range(count))

    return read


# --- tagged fields ---


@frozen(eq=False)
class TaggedField:
    """A tagged field of a version: its name, the function that reads it, and its value where it is absent."""

    name: str
    read: ReadCall
    default: Any


def tagged(known: Mapping[int, TaggedField], every: frozenset[int]) -> ReadCall:
    """Return the function that reads tagged fields: a count, then a tag, a size and as many bytes each.

    Args:
        known: the fields of the version by tag, in the order of the tuple that the function returns; after
            them it has those of other tags, as pairs of tag and bytes.
        every: the tags of all versions.
    """

    def read(reader: Reader, message: Message) -> tuple[Any, ...]:
        values = {tag: one.default for tag, one in known.items()}
        unknown: list[tuple[int, bytes]] = []
        start = reader.pos
        count = _uvarint(reader, "tagCount")
        if 2 * count > reader.left:
            raise _past_end(reader, "tagCount", f"{count} fields", start)
        if count > MAX_TAGS:
            text = f"{count} fields, at most {MAX_TAGS}"
            raise reader.reject("limit-exceeded", "tagCount", text, at=start)
        message.take_room(reader, "tagCount", count, start)
        for _ in range(count):
            start = reader.pos
            tag = reader.uvarint("tag", 32)
            if tag not in known and tag in every:
                raise reader.reject("unknown-field", "tag", f"tag {tag} is of other versions", at=start)
            size = _uvarint(reader, "tagSize")
            if tag not in known:
                unknown.append((tag, reader.take("tagged", size)))
                continue
            if size > reader.left:
                why = f"a tagged field of {size} bytes, {reader.left} left"
                raise reader.reject(reader.short, "tagSize", why, detail="TAGGED_FIELD_PAST_END")
            window = reader.window(known[tag].name, size, "length-mismatch")
            reader.cover("tagSize", "length", window.pos, window.end)
            values[tag] = known[tag].read(window, message)
            if window.left:
                why = f"a tagged field of {size} bytes, {window.left} of them after its value"
                raise window.reject("length-mismatch", known[tag].name, why)
        return (*values.values(), tuple(unknown))

    return read
