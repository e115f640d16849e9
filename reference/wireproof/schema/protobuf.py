"""The functions that read and write a protobuf message, compiled from its fields and its rules.

A message is a structure whose parts are `ProtoField`s. Its fields come in any order, so a rule behind a
field knows only that field; one without a field runs at the end of the message. A value has None for a field
that is absent: no default is filled in. So it has for a number that an enum lacks, as in proto2.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from wireproof.schema.layout import (
    PROTO_INTEGERS,
    PROTO_WIRES,
    Checksum,
    OtherFields,
    Part,
    ProtoField,
    proto_fields,
)
from wireproof.schema.rules import (
    AGAIN,
    FILLED,
    KEY,
    NUMBER,
    NUMBERS,
    OCTETS,
    OF_READERS,
    ORDER,
    Check,
    Fault,
    Rule,
)
from wireproof.schema.source import Function, indented, inner_codec
from wireproof.wire.protobuf import (
    FIXED64,
    VARINT,
    WireField,
    as_int32,
    as_int64,
    read_fields,
    read_packed_fixed64,
    read_packed_varints,
    unknown_field_name,
    unzigzag,
    write_bytes,
    write_varint,
)
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import MASK64, Writer, encode_uvarint, zigzag

if TYPE_CHECKING:
    from wireproof.schema.struct import Struct, StructLayout

# --- values ---


def type_of_field(part: ProtoField) -> Any:  # noqa: ANN401 - a type
    """Return the type of the attribute of a field; None for a deprecated one, which no value has."""
    if part.deprecated:
        return None
    if part.codes is not None:
        kind: Any = Literal[tuple(part.codes.values())]
    else:
        kind = _TYPES[part.of] if isinstance(part.of, str) else cast("StructLayout", part.of).type
    if part.repeated:
        return tuple.__class_getitem__((kind, ...))
    return kind if part.required else kind | None


_TYPES: Final[dict[str, type]] = {
    "bool": bool, "bytes": bytes, "double": bytes, "string": bytes, **dict.fromkeys(PROTO_INTEGERS, int),
}  # fmt: skip
"""The types of values. Text is the bytes on the wire; a double is its 8 IEEE bytes, big-endian."""


def is_computed(part: Part) -> bool:
    """Return whether the encoder computes a part that values have."""
    return isinstance(part, Checksum) or (isinstance(part, ProtoField) and part.cover == "length")


def rule_of_fields(
    message: "Struct", rule_id: str, check: Check, holds: Callable[[ProtoField], bool]
) -> None:
    """Make a function a rule of each field of a message for which `holds` is true."""
    for part in message.fields:
        if isinstance(part, ProtoField) and holds(part):
            message.rule(part.name, rule_id)(check)


def mistakes(parts: Sequence[Any]) -> Iterator[str]:
    """Yield what the parts of a message must not have, each behind the name of the part."""
    fields = [part for part in parts if isinstance(part, ProtoField)]
    numbers: set[int] = set()
    for part in parts if fields else ():
        if not isinstance(part, ProtoField | OtherFields):
            yield f"{part.name}: a message has only fields of protobuf"
    for part in fields:
        if part.name in OF_READERS:
            yield f"{part.name}: rules know something else by this name"
        if part.number in numbers:
            yield f"{part.name}: two fields of number {part.number}"
        if isinstance(part.of, str) and part.of not in PROTO_WIRES:
            yield f"{part.name}: no type is called {part.of}"
        elif part.of in ("bool", "double") and not part.repeated:
            yield f"{part.name}: there is no codec for one {part.of}"
        numbers.add(part.number)


# --- the source of `read` ---

_MEANINGS: Final[dict[str, str]] = {
    "bool": "_number != 0", "double": "_number[::-1]",
    "int32": "_as_int32(_number)", "int64": "_as_int64(_number)", "uint32": "_number",
    "sint32": "_unzigzag(_number)", "sint64": "_unzigzag(_number)",
}  # fmt: skip
"""The value that a number on the wire means, by type: an expression."""


class ReadMessage(Function):
    """The source of `read`. The fields may have any order: M53, M54, M55, M91 of heka.md."""

    def holds(self, rule: Rule) -> bool:
        """Return whether a rule holds for readers: each does."""
        del rule
        return True

    def head(self) -> str:
        """Return its name and its parameters."""
        return "read(reader, options=None)"

    def body(self) -> Iterator[str]:
        """Yield its body."""
        fields, whole = proto_fields(self.layout), self.of_the_whole()
        for part in fields:
            yield f"{part.name} = {'[]' if part.repeated else 'None'}"
        names = FieldNames({part.number: part.name for part in fields})
        yield f"_names = {self.name_of('field_names', names)}"
        yield "_seen = []"
        yield "for _field in _read_fields(reader, _names.__getitem__):"
        yield "    _seen.append(_field)"
        for index, part in enumerate(fields):
            yield f"    {'el' if index else ''}if _field.number == {part.number}:"
            yield from indented(indented(self.field(part)))
        yield "    else:"
        yield "        _name = _names[_field.number]"
        for other in self.layout.parts:
            if isinstance(other, OtherFields):
                for rule in self.guarding(other):
                    report = "_report(reader, _name, _place_in(_field, fault), fault)"
                    yield from indented(indented(self.look(rule, report)))
        yield from shared_lines(self.layout, whole, "[_names[one.number] for one in _seen]")
        for rule in whole:
            report = "_report(reader, fault.path, _place_of(reader, _seen, _names, fault), fault)"
            yield from self.look(rule, report)
        yield f"return _type({', '.join(map(self.attribute, filter(type_of_field, fields)))})"

    @staticmethod
    def attribute(part: ProtoField) -> str:
        """Return the argument for an attribute of the value."""
        value = f"tuple({part.name})" if part.repeated else part.name
        return f"{part.name}={value}" + (f" if isinstance({value}, str) else None" if part.codes else "")

    def field(self, part: ProtoField) -> Iterator[str]:
        """Yield the reading of one occurrence of a field, and the look at its rules."""
        wires = part.wires
        yield f"if _field.wire {f'!= {wires[0]}' if len(wires) == 1 else f'not in {wires}'}:"
        yield f"    raise _other_wire_type(reader, {part.name!r}, _field)"
        name = repr(part.name)
        if part.repeated and not part.packable:
            yield f'_name = f"{part.name}[{{len({part.name})}}]"'
            name = "_name"
        early = [rule for rule in self.guarding(part) if {NUMBER, NUMBERS}.intersection(rule.needs)]
        report = f"_report(reader, {name}, _place_in(_field, fault), fault)"
        yield from self.number(part)
        for rule in early:
            yield from self.look(rule, report)
        yield from self.value(part, name)
        for rule in self.guarding(part):
            if rule not in early:
                yield from self.look(rule, report)
        if not part.repeated:
            yield f"{part.name} = _value"
        else:
            yield f"{part.name} += _value" if part.packable else f"{part.name}.append(_value)"

    @staticmethod
    def number(part: ProtoField) -> Iterator[str]:
        """Yield the reading of what is on the wire, if it is no bytes."""
        if part.packable:
            function = "_read_doubles" if part.of == "double" else "_read_numbers"
            yield f"_numbers = {function}(reader, {part.name!r}, _field)"
        elif part.of in _MEANINGS or part.codes:
            yield "_number = _field.value"
        else:
            yield "_number = _field.length"

    def value(self, part: ProtoField, name: str) -> Iterator[str]:
        """Yield the reading of a payload of bytes, or what the number on the wire means."""
        if not isinstance(part.of, str):
            inner = self.name_of(f"read_{part.name}", inner_codec(part.of).read)
            yield f"reader.enter({name})"
            yield f'_value = {inner}(reader.window("", _number), options)'
            yield "reader.leave()"
        elif part.codes:
            yield f"_value = {self.name_of(f'{part.name}_codes', part.codes)}.get(_number, _number)"
        elif part.of not in _MEANINGS:
            yield f"_value = reader.take({name}, _number)"
        elif part.packable:
            yield f"_value = [{_MEANINGS[part.of]} for _number in _numbers]"
        else:
            yield f"_value = {_MEANINGS[part.of]}"

    def argument(self, rule: Rule, need: str) -> str:
        """Return the expression for a parameter of a rule."""
        expressions = {
            NUMBER: "_number", NUMBERS: "_numbers", OCTETS: "_value", rule.guards: "_value",
            AGAIN: f"{rule.guards} is not None",
        }  # fmt: skip
        return expressions.get(need, need)


def shared_lines(layout: "StructLayout", rules: Sequence[Rule], order: str) -> Iterator[str]:
    """Yield what rules of a whole message share: the names of its fields and of its filled arrays."""
    needs = {need for rule in rules for need in rule.needs}
    if ORDER in needs:
        yield f"{ORDER} = {order}"
    if FILLED in needs:
        arrays = ", ".join(f"({part.name!r}, {part.name})" for part in proto_fields(layout) if part.repeated)
        yield f"{FILLED} = [_name for _name, _values in ({arrays},) if _values]"


# --- the source of `write` ---


class WriteMessage(Function):
    """The source of `write`: the fields that are there, in ascending order, numbers packed."""

    def holds(self, rule: Rule) -> bool:
        """Return whether a writer has everything that a rule needs; it knows the order and lengths too."""
        octets = [part.name for part in proto_fields(self.layout) if part.of in ("bytes", "string")]
        known = {ORDER, FILLED, *[NUMBER] * (rule.guards in octets)}
        return OF_READERS.isdisjoint({*rule.needs} - known)

    def head(self) -> str:
        """Return its name and its parameters."""
        return "write(writer, item, options=None)"

    def body(self) -> Iterator[str]:
        """Yield its body."""
        fields = sorted(proto_fields(self.layout), key=lambda part: part.number)
        fields = [part for part in fields if not part.deprecated]
        for part in fields:
            yield f"{part.name} = item.{part.name}"
        order = self.name_of("field_order", tuple(part.name for part in fields))
        yield from shared_lines(self.layout, self.of_the_whole(), order)
        for rule in self.of_the_whole():
            yield from self.look(rule, "_refuse(writer, '', fault)")
        for part in fields:
            refusal = f"_refuse(writer, {part.name!r}, fault)"
            lines = [line for rule in self.guarding(part) for line in self.look(rule, refusal)]
            lines += self.field(part)
            if part.required or (part.repeated and not part.packable):
                yield from lines
            else:
                yield f"if {part.name}:" if part.repeated else f"if {part.name} is not None:"
                yield from indented(iter(lines))

    def argument(self, rule: Rule, need: str) -> str:
        """Return the expression for a parameter of a rule."""
        return f"len({rule.guards})" if need == NUMBER else need

    def field(self, part: ProtoField) -> Iterator[str]:
        """Yield the writing of a field, or of each of its values."""
        place = f"{part.name!r}, {part.number}"
        if part.packable:
            yield f"_write_bytes(writer, {place}, _pack(writer, {part.name!r}, {part.of!r}, {part.name}))"
        elif part.repeated:
            yield f"for _index, _value in enumerate({part.name}):"
            yield from indented(self.element(part))
        elif part.codes:
            numbers = self.name_of(f"{part.name}_numbers", {name: code for code, name in part.codes.items()})
            yield f"_write_varint(writer, {place}, {numbers}[{part.name}])"
        elif part.of in PROTO_INTEGERS:
            yield f"_write_varint(writer, {place}, _fitting(writer, {part.name!r}, {part.of!r}, {part.name}))"
        else:
            yield f"_write_bytes(writer, {place}, {part.name})"

    def element(self, part: ProtoField) -> Iterator[str]:
        """Yield the writing of one of the values of a field: bytes, text or an inner message."""
        value = "_value"
        if not isinstance(part.of, str):
            write = self.name_of(f"write_{part.name}", inner_codec(part.of).write)
            yield f"_inner = _Writer(scope=(writer.scope, {part.name!r}, _index))"
            yield f"{write}(_inner, _value, options)"
            value = "bytes(_inner.data)"
        yield f'_write_bytes(writer, f"{part.name}[{{_index}}]", {part.number}, {value})'


# --- what the compiled functions call ---


class FieldNames(dict[int, str]):
    """The names of the fields of a message by number; of any other number `#` and the number."""

    def __missing__(self, number: int) -> str:
        """Return the name of a number that is no field's."""
        return unknown_field_name(number)


def other_wire_type(reader: Reader, name: str, field: WireField) -> Rejected:
    """Return the refusal of a field of another wire type: M25 to M28, M74, M81, M82, S29 of heka.md."""
    text = f"wire type {field.wire}"
    return reader.reject("type-mismatch", name, text, at=field.at, detail="wrong_wiretype")


def place_in(field: WireField, fault: Fault) -> int:
    """Return the position of a fault of a field: its payload, or its key."""
    return field.at if fault.at == KEY else field.start


def place_of(reader: Reader, seen: Sequence[WireField], names: FieldNames, fault: Fault) -> int:
    """Return the position of a fault of a whole message.

    It is the first key of the field, or the last payload, which counts; of an absent field the end.
    """
    found = [one for one in seen if names[one.number] == fault.path]
    if not found:
        return reader.pos
    return found[0].at if fault.at == KEY else found[-1].start


def read_numbers(reader: Reader, name: str, field: WireField) -> list[int]:
    """Read varints, packed or not: M62 to M68, M75 to M78 of heka.md."""
    if field.wire == VARINT:
        return [field.value]
    return list(read_packed_varints(reader.window(name, field.length), name))


def read_doubles(reader: Reader, name: str, field: WireField) -> list[bytes]:
    """Read the bytes of doubles, packed or not: M69 to M73 of heka.md."""
    if field.wire == FIXED64:
        return [field.value.to_bytes(8, "little")]
    return list(read_packed_fixed64(reader.window(name, field.length), name))


def fitting(writer: Writer, name: str, kind: str, value: int) -> int:
    """Return the number on the wire of an integer; raise `Rejected` for one outside of its type."""
    bits, signed = PROTO_INTEGERS[kind]
    if not (-(1 << bits - 1) <= value < 1 << bits - 1 if signed else 0 <= value < 1 << bits):
        raise writer.invalid(name, f"{value} does not fit {kind}")
    return zigzag(value) if kind.startswith("s") else value


def pack(writer: Writer, name: str, kind: str, values: Sequence[Any]) -> bytes:
    """Return the numbers of a repeated field as one payload; raise `Rejected` if one does not fit."""
    if kind == "bool":
        return bytes(values)
    places = [(f"{name}[{index}]", value) for index, value in enumerate(values)]
    if kind != "double":
        return b"".join(encode_uvarint(fitting(writer, place, kind, one) & MASK64) for place, one in places)
    for place, bits in places:
        if len(bits) != 8:
            raise writer.invalid(place, f"{len(bits)} bytes, expected 8")
    return b"".join(bits[::-1] for bits in values)


MESSAGE_HELPERS: Final[dict[str, Any]] = {
    "_Writer": Writer, "_as_int32": as_int32, "_as_int64": as_int64, "_fitting": fitting,
    "_other_wire_type": other_wire_type, "_pack": pack, "_place_in": place_in, "_place_of": place_of,
    "_read_doubles": read_doubles, "_read_fields": read_fields, "_read_numbers": read_numbers,
    "_unzigzag": unzigzag,
    "_write_bytes": write_bytes, "_write_varint": write_varint,
}  # fmt: skip
"""What the compiled functions of messages call, by the name that they have for it."""
