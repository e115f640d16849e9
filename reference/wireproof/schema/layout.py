"""The vocabulary of layouts. A layout is an ordered list of parts, declared once and read by everything else.

A declaration is the table of a specification: one part for each field, in the order of the wire. The `name`
of a part is that of the specification, its `kind` the primitive of `Reader` that reads it, such as `int32` or
`varint`, and its `meaning` a line for the field tables.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, reduce
from operator import or_
from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen

from wireproof.wire.protobuf import FIXED64, LENGTH_DELIMITED, VARINT
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.trace import CoverKind
from wireproof.wire.writer import Writer

REST: Final = "the rest"
"""All bytes from the end of the field to the end of the layout."""

WHOLE: Final = "the whole"
"""All bytes of the layout, the field itself too."""

VARINTS: Final[dict[str, tuple[int, bool]]] = {
    "varint": (32, True), "varlong": (64, True), "uvarint": (64, False)
}  # fmt: skip
"""The integers of variable size: bits and sign."""

OPTION: Final = "the option compression"
"""The codec of a `Packed` part that no number on the wire declares: the option of the decode has it."""

OPAQUE_CONTENT: Final = "the option content"
"""The condition of bytes that are a field of their own if the option of the decode says so."""

PROTO_WIRES: Final[dict[str, int]] = {
    "bool": VARINT, "int32": VARINT, "int64": VARINT, "uint32": VARINT, "enum": VARINT,
    "sint32": VARINT, "sint64": VARINT,
    "double": FIXED64,
    "bytes": LENGTH_DELIMITED, "string": LENGTH_DELIMITED,
}  # fmt: skip
"""The wire type of each type of protobuf that a `ProtoField` may have."""

PROTO_INTEGERS: Final[dict[str, tuple[int, bool]]] = {
    "int32": (32, True), "int64": (64, True), "uint32": (32, False),
    "sint32": (32, True), "sint64": (64, True),
}  # fmt: skip
"""The integers of protobuf: bits and sign."""


@frozen
class Flag:
    """Named bits of a number. `codes`: the names of the numbers that these bits make."""

    name: str
    mask: int
    codes: Mapping[int, str] | None = None


def named_bits(flags: Iterable[Flag]) -> int:
    """Return the bits that have a name."""
    return reduce(or_, (flag.mask for flag in flags), 0)


@frozen
class ChecksumAlgorithm:
    """A checksum algorithm: its name in traces, and the function that computes it."""

    label: CoverKind
    of: Callable[[bytes], int]


@frozen(kw_only=True)
class Number:
    """An integer.

    Attributes:
        const: the only number that the field has in this revision; None if it varies.
        most: the largest number that it may have, if `kind` has room for larger ones.
        known: the numbers that it may have; None for any.
        codes: the names of its numbers, if it is a code.
        error: the reader's name for the refusal of another code, if it has one.
        flags: its named bits, if it has any.
        asks_for: in a request, the list of the reply whose number of elements it limits; empty for others.
        truth: of a boolean, whether 1 alone or every number but 0 means true; empty for others.
        presence_of: the field of which it says whether it is there; such a number is in no value.
    """

    name: str = field(kw_only=False)
    kind: str = field(kw_only=False)
    meaning: str = ""
    const: int | None = None
    most: int | None = None
    known: frozenset[int] | None = None
    codes: Mapping[int, str] | None = None
    error: str = ""
    flags: tuple[Flag, ...] = ()
    asks_for: str = ""
    truth: Literal["", "one", "any"] = ""
    presence_of: str = ""


@frozen(kw_only=True)
class Length:
    """The number of bytes of the part `of`, which a surrounding layout may have, or of `REST` or `WHOLE`.

    Attributes:
        of: the part.
        null: the number for a part that is absent.
    """

    name: str = field(kw_only=False)
    kind: str = field(kw_only=False)
    of: str
    meaning: str = ""
    null: int | None = None


@frozen(kw_only=True)
class Count:
    """The number of elements of the part `of`.

    Attributes:
        of: the part.
        advisory: whether readers read the elements until the bytes end, and only compare their number.
        loose: whether they accept any other number too, so that an edit need not make it right.
    """

    name: str = field(kw_only=False)
    kind: str = field(kw_only=False)
    of: str
    advisory: bool = False
    loose: bool = False
    meaning: str = ""


@frozen(kw_only=True)
class Checksum:
    """A checksum over the part `over`, `REST` or `WHOLE`. `shown`: whether the value has it too."""

    name: str = field(kw_only=False)
    kind: str = field(kw_only=False)
    algorithm: ChecksumAlgorithm
    over: str = REST
    meaning: str = ""
    shown: bool = False


@frozen(kw_only=True)
class Zero:
    """Bytes that writers leave at 0 and that no value has.

    Attributes:
        size: of bytes; 0 for others.
        kind: of a number; empty for bytes.
        until: the position in the layout where bytes without a fixed size end.
        error: the reader's name for the refusal of other bytes, if it has one.
    """

    name: str = field(kw_only=False)
    size: int = 0
    kind: str = ""
    until: int = 0
    error: str = ""


@frozen(kw_only=True)
class Octets:
    """Bytes: `size` of them, or as many as an earlier `Length` says, or else all that are left.

    Attributes:
        size: for a fixed size; 0 for others.
        text: whether they are UTF-8.
        holds: a part that some of them contain, at the same positions, such as the key of a control record.
    """

    name: str = field(kw_only=False)
    size: int = 0
    text: bool = False
    holds: "Part | None" = None
    meaning: str = ""


@frozen(kw_only=True, eq=False)
class Block(Octets):
    """Bytes whose value functions by hand read and write, such as a map of tagged values.

    Attributes:
        type: of the value.
        read: reads a value from a reader whose window is the block. Raises `Rejected`.
        write: writes a value. Raises `Rejected`.
        measure: returns the size of a value, in bytes.
    """

    type: Any = field()
    read: Callable[[Reader], Any] = field()
    write: Callable[[Writer, Any], None] = field()
    measure: Callable[[Any], int] = field()


@frozen(kw_only=True)
class Repeated:
    """Elements one after another: as many as an earlier `Count` says, else until the bytes end.

    Attributes:
        of: the layout of an element.
        like: the part that has as many elements, if the `Count` is of that part.
        joined: whether the elements of all such parts of an outer list are one list, beside the outer one.
        derive: a function that completes an `element` by fields of the layout; its parameters name them.
    """

    name: str = field(kw_only=False)
    of: "Layout"
    like: str = ""
    joined: bool = False
    derive: Callable[..., Any] | None = None
    meaning: str = ""


@frozen(kw_only=True)
class Nested:
    """Another layout. Its fields have paths of their own unless `name` is empty or they are `inline`."""

    name: str = field(kw_only=False)
    of: "Layout"
    inline: bool = False


@frozen(kw_only=True)
class Packed:
    """Bytes that are compressed if bits of an earlier number say so.

    Attributes:
        codec_of: the earlier number, or `OPTION`.
        mask: its bits with the number of the codec; 0 is no compression.
        of: the part that the bytes contain.
        read: reads the contents from a reader whose window is the region; of a description that is compiled.
            Its other parameters are earlier fields, or `start`, the position of the structure. Raises
            `Rejected`, whose `before` are the elements before the fault.
        write: writes the contents; its parameters are the writer, the contents and fields.
    """

    name: str = field(kw_only=False)
    codec_of: str
    mask: int = -1
    of: "Part"
    read: Callable[..., Any] | None = None
    write: Callable[..., None] | None = None


@frozen(kw_only=True)
class When:
    """A part that is there only if an earlier number, masked, is one of `values`."""

    part: "Part" = field(kw_only=False)
    number: str
    values: tuple[int, ...]
    mask: int = -1

    @property
    def name(self) -> str:
        """Return the name of the part."""
        return self.part.name

    @property
    def meaning(self) -> str:
        """Return the meaning of the part."""
        meaning: str = getattr(self.part, "meaning", "")
        return meaning


@frozen(kw_only=True)
class OneOf:
    """One of several layouts, selected by a number: an earlier one, or one that all of them have.

    Such a number is at the same position in all of them, so that a reader can look at it first.
    """

    name: str = field(kw_only=False)
    number: str
    layouts: Mapping[int, "Layout"]


@frozen(kw_only=True)
class Tagged:
    """The tagged fields of KIP-482: a count, and for each field a tag, a size and as many bytes."""

    name: str = field(kw_only=False)
    of: "Layout"


@frozen(kw_only=True)
class ProtoField:
    """A field of a protobuf message: a key, then a payload. The fields of a message come in any order.

    Attributes:
        number: as in the schema.
        of: a key of `PROTO_WIRES`, or the layout of the message that the payload is.
        required, repeated: the label; neither means optional.
        deprecated: whether readers ignore it; no value has it then.
        size: of bytes that always have this size; 0 for others.
        codes: the names of the numbers of an enum.
        cover, over: the part of the surrounding layout that it is the length or the checksum of, and which
            of them; empty for other fields.
    """

    name: str = field(kw_only=False)
    number: int = field(kw_only=False)
    of: "str | Layout" = field(kw_only=False)
    required: bool = False
    repeated: bool = False
    deprecated: bool = False
    size: int = 0
    codes: Mapping[int, str] | None = None
    cover: CoverKind | None = None
    over: str = ""
    meaning: str = ""

    @property
    def packable(self) -> bool:
        """Return whether one payload may have all its values: it is repeated, and its values are numbers."""
        return self.repeated and isinstance(self.of, str) and PROTO_WIRES[self.of] != LENGTH_DELIMITED

    @property
    def wires(self) -> tuple[int, ...]:
        """Return the wire types that a reader accepts."""
        wire = PROTO_WIRES[self.of] if isinstance(self.of, str) else LENGTH_DELIMITED
        return (wire, LENGTH_DELIMITED) if self.packable else (wire,)


@frozen(kw_only=True)
class OtherFields:
    """Protobuf fields of any other number; a rule says what readers do with them."""

    name: str = "#"
    meaning: str = "fields of other numbers, which readers skip"


ReadCall: TypeAlias = Callable[[Reader, Any], Any]
"""Reads a value, with the options of the structure that it is in. Raises `Rejected`."""


@frozen(kw_only=True, eq=False)
class Called:
    """A part that a function of its own reads. A structure that has one is only read.

    Attributes:
        type: of its values.
        function: None if that of a later part reads it too.
        also: the earlier parts whose values precede its own in the tuple that the function returns; None if
            it returns its own value alone.
        of: the layout of its value, or of the elements of its value.
        names: the names of some of its numbers.
    """

    name: str = field(kw_only=False)
    type: Any = field(kw_only=False)
    function: "ReadCall | None" = field(kw_only=False)
    also: tuple[str, ...] | None = None
    of: "Layout | None" = None
    names: Mapping[int, str] | None = None


FixedPart: TypeAlias = Number | Length | Count | Checksum
"""The parts that are one integer."""

Part: TypeAlias = (
    FixedPart
    | Zero
    | Octets
    | Repeated
    | Nested
    | Packed
    | When
    | OneOf
    | Tagged
    | ProtoField
    | OtherFields
    | Called
)


# --- layouts ---


def tagged_fields() -> tuple[Part, ...]:
    """Return the parts of tagged fields; they are in the scope of the fields before them."""
    size = Length("tagSize", "uvarint", of="tagged")
    one = Layout("TaggedField", (Number("tag", "uvarint"), size, Octets("tagged")))
    return Count("tagCount", "uvarint", of="tags"), Tagged("tags", of=one)


def proto_fields(layout: "Layout") -> tuple[ProtoField, ...]:
    """Return the protobuf fields of a layout."""
    return tuple(part for part in layout.parts if isinstance(part, ProtoField))


@cache
def attribute_of(name: str) -> str:
    """Return the attribute of a value class for the field `name`: `baseOffset` is `base_offset`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


def width_of(part: Part) -> int | None:
    """Return the number of bytes that a part always has, or None."""
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return WIDTHS.get(kind)
        case Zero(size=size, kind=kind):
            return size or WIDTHS.get(kind)
        case Octets(size=size):
            return size or None
    return None


def whole_width(part: Part) -> int | None:
    """Return the number of bytes that a part always has, also if it is another layout, or None."""
    if not isinstance(part, Nested):
        return width_of(part)
    widths = [whole_width(one) for one in part.of.parts]
    return None if None in widths else sum(width or 0 for width in widths)


def end_of(part: Part, start: int) -> int | None:
    """Return the position in the layout where a part ends that begins at `start`; None if it varies."""
    if isinstance(part, Zero) and part.until:
        return part.until
    width = width_of(part)
    return None if width is None else start + width


def least_size_of(part: Part) -> int:
    """Return the size of the smallest value of a part, in bytes."""
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return WIDTHS.get(kind, 1)
        case Nested(of=layout):
            return layout.least_size
        case OneOf(layouts=layouts):
            return min(layout.least_size for layout in layouts.values())
    return width_of(part) or 0


WIDTHS: Final[dict[str, int]] = {
    **{name: packing.size for name, packing in FIXED_WIDTH.items()},
    "uint128le": 16,
}
"""The size in bytes of each integer of fixed width."""


@frozen(kw_only=True, eq=False)  # a layout is one object, and its tables have no hash
class Layout:
    """An ordered list of parts.

    Attributes:
        name: of the layout, as the specification writes it.
        parts: in the order of the wire.
        value: the class of its values; None if it has no class of its own.
        computed: the attributes of `value` that decode computes and that no part has.
        cites: the section of the specification.
    """

    name: str = field(kw_only=False)
    parts: tuple[Part, ...] = field(kw_only=False)
    value: type[Any] | None = None
    computed: tuple[str, ...] = ()
    cites: str = ""

    def part(self, name: str) -> Part:
        """Return the part with this name.

        Raises:
            KeyError: there is none.
        """
        return self._by_name[name]

    def offset(self, name: str) -> int:
        """Return the position of a part that only parts of fixed width precede.

        Raises:
            KeyError: there is no such part.
        """
        return self._offsets[name]

    def position(self, name: str) -> int | None:
        """Return the position of a part as `offset` does; None if there is no such part."""
        return self._offsets.get(name)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the integers that a value has: all but lengths, counts and checksums."""
        return tuple(part for part in self.parts if isinstance(part, Number))

    @cached_property
    def least_size(self) -> int:
        """Return the size of the smallest value, in bytes."""
        return sum(least_size_of(part) for part in self.parts)

    @cached_property
    def _by_name(self) -> Mapping[str, Part]:
        return {part.name: part for part in self.parts}

    @cached_property
    def _offsets(self) -> Mapping[str, int]:
        offsets: dict[str, int] = {}
        at: int | None = 0
        for part in self.parts:
            if at is None:  # what is behind bytes of any size has no fixed offset
                break
            offsets[part.name] = at
            at = end_of(part, at)
        return offsets

    @cached_property
    def fixed_size(self) -> int:
        """Return the size of the parts of fixed width at the beginning, in bytes."""
        size = 0
        for part in self.parts:
            end = end_of(part, size)
            if end is None:
                break
            size = end
        return size


def all_layouts(layout: Layout | None) -> Iterator[Layout]:
    """Yield a layout and all layouts in it, outer ones first; none of a format without a layout."""
    if layout is None:
        return
    yield layout
    for part in layout.parts:
        yield from _layouts_in(part)


def _layouts_in(part: Part) -> Iterator[Layout]:
    match part:
        case Repeated(of=layout) | Nested(of=layout) | Tagged(of=layout) | ProtoField(of=Layout() as layout):
            yield from all_layouts(layout)
        case When(part=inner) | Packed(of=inner) | Octets(holds=inner) if inner is not None:
            yield from _layouts_in(inner)
        case OneOf(layouts=layouts):
            for layout in layouts.values():
                yield from all_layouts(layout)


@cache
def declared_lengths(layout: Layout | None) -> Mapping[str, frozenset[str]]:
    """Return the names of the lengths of each part in a layout, by the name of the part; none without one."""
    found: dict[str, set[str]] = {}
    for one in all_layouts(layout):
        for part in map(present, one.parts):
            if isinstance(part, Length):
                found.setdefault(part.of, set()).add(part.name)
    return {name: frozenset(lengths) for name, lengths in found.items()}


def present(part: Part) -> Part:
    """Return an optional part as if it were there."""
    return part.part if isinstance(part, When) else part


def is_signed(kind: str) -> bool:
    """Return whether a primitive reads a signed integer."""
    return VARINTS[kind][1] if kind in VARINTS else kind.startswith("int")


def bits_of(kind: str) -> int:
    """Return the number of bits of an integer."""
    return VARINTS[kind][0] if kind in VARINTS else 8 * WIDTHS[kind]
