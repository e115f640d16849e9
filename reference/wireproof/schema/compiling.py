"""The functions that read and write a structure, compiled from its layout and its rules.

The source is what somebody would write by hand: a line for each field, and behind it a line for each rule.
Adjacent fields of fixed width are unpacked at once where nobody traces them and all their bytes are there.
`wireproof show --source` prints it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from struct import error as packing_error
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import frozen

from wireproof.schema.rules import NUMBER, ROOM, Fault, Rule
from wireproof.wire.layout import (
    REST,
    WHOLE,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Part,
    Repeated,
    Zero,
    attribute_of,
    least_size_of,
    width_of,
)
from wireproof.wire.layout_codec import is_fixed, packing
from wireproof.wire.reader import FIXED_WIDTH, Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

if TYPE_CHECKING:
    from wireproof.schema.struct import StructLayout


@frozen(eq=False)
class Codec:
    """The compiled functions of a structure, and their source.

    Attributes:
        read: reads a value, with a reader and perhaps options. Raises `Rejected`.
        write: writes a value, with a writer, the value and perhaps options. Raises `Rejected`.
        source: of both.
    """

    read: Callable[..., Any]
    write: Callable[..., None]
    source: str


def compile_codec(layout: "StructLayout", rules: Sequence[Rule], whole: str) -> Codec:
    """Return the codec of a layout with some of its rules; `whole` as in `StructLayout`."""
    names: dict[str, Any] = {"_type": layout.type, **_HELPERS}
    functions = (_Read(layout, rules, whole, names), _Write(layout, rules, whole, names))
    source = "\n\n\n".join("\n".join(one.lines()) for one in functions)
    exec(compile(source, f"<{layout.name}>", "exec"), names)  # noqa: S102 - made from a description of ours
    return Codec(names["read"], names["write"], f"{source}\n")


# --- what the compiled functions call ---


def report(reader: Reader, name: str, at: int, fault: Fault) -> None:
    """Add the remark of a fault, or raise its refusal."""
    if not fault.remark:
        raise reader.reject(cast("Any", fault.cls), name, fault.text, at=at, detail=fault.detail)
    others = tuple(reader.other(other, name, answer) for other, answer in fault.others)
    reader.remark(fault.cls, name, at=at, others=others)


def report_inside(reader: Reader, start: int, read: Callable[..., Any], fault: Fault) -> None:
    """Report a fault of a field of the structure that begins at `start`.

    Its position comes from a second read, with a trace: faults are rare, and noting each position is slow.
    """
    tracer = TracingReader(reader.data, pos=start, end=reader.end, space=reader.space)
    with suppress(Rejected):
        read(tracer, whole=False)
    place = fault.at or fault.path
    inside = (f"{place}.", f"{place}[")
    found = (span.start for span in tracer.spans if span.path == place or span.path.startswith(inside))
    report(reader, fault.path, next(found, start), fault)


def refuse(writer: Writer, name: str, fault: Fault) -> None:
    """Raise the refusal of a value, unless writers write what readers remark."""
    if not (fault.remark and fault.written):
        raise writer.invalid(fault.path or name, fault.text)


def unknown_code(reader: Reader, part: Number, number: int, at: int) -> Rejected:
    """Return the refusal of a number that is no code of its field."""
    return reader.reject("bad-kind", part.name, f"code {number}", at=at, detail=part.error)


_HELPERS: Final[dict[str, Any]] = {
    "_report": report, "_report_inside": report_inside, "_refuse": refuse, "_unknown_code": unknown_code,
    "_packing_errors": (packing_error, OverflowError),
}  # fmt: skip


def numbers_of(part: Number) -> Mapping[str, int]:
    """Return the numbers of a code by name."""
    return {name: number for number, name in (part.codes or {}).items()}


# --- source ---


def indented(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines one step further to the right."""
    return (f"    {line}" for line in lines)


def runs_of(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Yield the parts in their order: adjacent ones of fixed width and one byte order together."""
    run: list[Part] = []
    for part in parts:
        orders = {byte_order(one) for one in (*run, part)} - {""}
        if run and not (is_fixed(part) and len(orders) < 2):
            yield run
            run = []
        if is_fixed(part):
            run.append(part)
        else:
            yield [part]
    if run:
        yield run


def byte_order(part: Part) -> str:
    """Return the byte order of an integer as `struct` writes it; empty if it has none."""
    kind = getattr(part, "kind", "")
    packed = FIXED_WIDTH.get(kind)
    return packed.format[0] if packed is not None and packed.size > 1 else ""


def inner_codec(layout: Layout) -> Codec:
    """Return the codec of a structure inside of another one."""
    return cast("StructLayout", layout).inner_codec


def is_block(part: Part) -> bool:
    """Return whether a part is neither a number nor bytes of a fixed size."""
    return isinstance(part, Octets | Nested | Repeated | OneOf) and not is_fixed(part)


class _Function:
    """The source of a function. `names` are the objects that it refers to."""

    def __init__(
        self, layout: "StructLayout", rules: Sequence[Rule], whole: str, names: dict[str, Any]
    ) -> None:
        self.layout, self.whole, self.names = layout, whole, names
        self.rules = [rule for rule in rules if self.holds(rule)]
        parts = layout.parts
        self.lengths = {part.of: part for part in parts if isinstance(part, Length)}
        self.counts = {part.of: part for part in parts if isinstance(part, Count)}
        self.flags = {
            part.presence_of: attribute_of(part.name)
            for part in parts
            if isinstance(part, Number) and part.presence_of
        }
        lengths = (part for part in parts if isinstance(part, Length) and part.of in (REST, WHOLE))
        self.total = next(lengths, None)

    def holds(self, rule: Rule) -> bool:
        """Return whether a rule belongs into the function."""
        del rule
        return True

    def name_of(self, stem: str, thing: Any) -> str:  # noqa: ANN401 - any object
        """Return a name for an object: `stem`, with more underscores if that is taken."""
        name = stem
        while self.names.setdefault(name, thing) != thing:
            name += "_"
        return name

    def call(self, rule: Rule) -> str:
        """Return the call of a rule with the fields that it needs."""
        own = rule.check.__name__.strip("_")
        stem = f"{attribute_of(rule.guards) or 'whole'}_{own if own.isidentifier() else 'rule'}"
        return (
            f"{self.name_of(stem, rule.check)}({', '.join(self.argument(rule, need) for need in rule.needs)})"
        )

    def argument(self, rule: Rule, need: str) -> str:
        """Return the expression for a parameter of a rule."""
        del rule
        return need

    def raw(self, part: Part) -> str:
        """Return the variable of what is on the wire, where the value of the field is something else."""
        name = attribute_of(part.name)
        return f"{name}_number" if self.converted(part) else name

    def converted(self, part: Part) -> bool:
        """Return whether the value of a field is not the number on the wire."""
        return isinstance(part, Number) and bool(part.codes or part.truth or part.name in self.flags)

    def guarding(self, part: Part) -> Iterator[Rule]:
        """Yield the rules behind a field."""
        return (rule for rule in self.rules if rule.guards == part.name)

    def of_the_whole(self) -> list[Rule]:
        """Return the rules of the whole structure."""
        return [rule for rule in self.rules if not rule.guards]


class _Read(_Function):
    """The source of `read`. Its last argument is whether the rules of the whole structure are looked at."""

    def lines(self) -> Iterator[str]:
        yield "def read(reader, options=None, whole=True):"
        yield from indented(self.body())

    def body(self) -> Iterator[str]:
        if any(ROOM in rule.needs for rule in self.rules) or self.of_the_whole() or self.total:
            yield "_start = reader.pos"
        if self.layout.empty:
            values = ", ".join("()" for _ in self.layout.attributes)
            yield "if reader.pos == reader.end:"
            yield f"    return _type({values})"
        if any(isinstance(part, Nested | Repeated | OneOf) for part in self.layout.parts):
            yield "_scope = reader.scope"
        for run in runs_of(self.layout.parts):
            if len(run) > 1:
                yield from self.run(run)
            elif is_block(run[0]):
                yield from self.block(run[0])
            else:
                yield from self.number(run[0])
        if self.whole or self.of_the_whole():
            yield "if whole:"
            yield from indented(self.end())
        yield f"return _type({', '.join(f'{name}={name}' for name in self.layout.attributes)})"

    def end(self) -> Iterator[str]:
        if self.whole:
            last = self.layout.parts[-1].name
            yield f"if reader.pos < reader.end:  # {self.whole}"
            yield f'    raise reader.reject("trailing-data", {last!r}, f"{{reader.left}} bytes after it")'
        for rule in self.of_the_whole():
            yield f"if (fault := {self.call(rule)}) is not None:  # {rule.id}"
            yield "    _report_inside(reader, _start, read, fault)"

    def argument(self, rule: Rule, need: str) -> str:
        if need == NUMBER:
            return self.raw(self.layout.part(rule.guards))
        return "reader.end - _start" if need == ROOM else need

    # --- fields of fixed width ---

    def run(self, run: Sequence[Any]) -> Iterator[str]:
        size = packing(run).size
        starts = [sum(width_of(part) or 0 for part in run[:index]) for index in range(len(run))]
        yield "_at = reader.pos"
        yield f"if reader.end - _at >= {size} and not reader.tracing:"
        unpack = self.name_of(f"_unpack_{attribute_of(run[0].name)}", packing(run).unpack_from)
        yield f"    {', '.join(map(self.raw, run))} = {unpack}(reader.data, _at)"
        yield f"    reader.pos = _at + {size}"
        for part, start in zip(run, starts, strict=True):
            if getattr(part, "kind", "") == "uint128le":
                yield f'    {self.raw(part)} = int.from_bytes({self.raw(part)}, "little")'
            yield from indented(self.behind(part, f"_at + {start}" if start else "_at"))
        yield "else:"
        for part, start in zip(run, starts, strict=True):
            yield f"    {self.primitive(part)}"
            yield from indented(self.covers(part))
            yield from indented(self.behind(part, f"_at + {start}" if start else "_at"))

    def number(self, part: Any) -> Iterator[str]:  # noqa: ANN401 - a part of fixed width
        rest = [*self.covers(part), *self.behind(part, "_at")]
        if any("_at" in line for line in rest):
            yield "_at = reader.pos"
        yield self.primitive(part)
        yield from rest

    def primitive(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        if isinstance(part, Octets) or (isinstance(part, Zero) and part.size):
            return f"{self.raw(part)} = reader.take({part.name!r}, {part.size})"
        return f"{self.raw(part)} = reader.{part.kind}({part.name!r})"

    def covers(self, part: Part) -> Iterator[str]:
        """Yield what a trace notes about a length or a count; others record nothing."""
        match part:
            case Length(of=of) if of in (REST, WHOLE):
                first = "_start" if of == WHOLE else "reader.pos"
                length = attribute_of(part.name)
                yield f'reader.cover({part.name!r}, "length", {first}, {first} + {length})'
            case Length(of=of) if self.directly_before(part, of):
                yield f"reader.cover_next({part.name!r}, {attribute_of(part.name)})"
            case Count(of=of) if of == self.layout.parts[-1].name:
                yield f'reader.cover({part.name!r}, "count", reader.pos, reader.end)'

    def directly_before(self, part: Part, of: str) -> bool:
        parts = self.layout.parts
        return parts[parts.index(part) + 1].name == of

    def behind(self, part: Part, at: str) -> Iterator[str]:
        """Yield the rules of a field, and what its number means."""
        early = [rule for rule in self.guarding(part) if NUMBER in rule.needs]
        late = [rule for rule in self.guarding(part) if NUMBER not in rule.needs]
        for rule in early:
            yield from self.look(rule, part, at)
        if isinstance(part, Number):
            yield from self.meaning(part, at)
        for rule in late:
            yield from self.look(rule, part, at)
        if part is self.total:
            begin = "_start" if part.of == WHOLE else f"{at} + {width_of(part)}"
            yield f"_end = {begin} + {attribute_of(part.name)}"

    def look(self, rule: Rule, part: Part, at: str) -> Iterator[str]:
        yield f"if (fault := {self.call(rule)}) is not None:  # {rule.id}"
        yield f"    _report(reader, {part.name!r}, {at}, fault)"

    def meaning(self, part: Number, at: str) -> Iterator[str]:
        name, raw = attribute_of(part.name), self.raw(part)
        if part.truth:
            yield f"{name} = {raw} == 1" if part.truth == "one" else f"{name} = {raw} != 0"
        elif part.codes is not None:
            codes = self.name_of(f"{name}_codes", part.codes)
            yield f"if ({name} := {codes}.get({raw})) is None:"
            yield f"    raise _unknown_code(reader, {self.name_of(f'{name}_field', part)}, {raw}, {at})"
        elif part.name in self.flags:
            yield f"{name} = {raw} if {self.flags[part.name]} else None"
        elif part.known is not None:
            known = self.name_of(f"{name}_known", part.known)
            yield f"if {name} not in {known}:"
            yield f"    raise _unknown_code(reader, {self.name_of(f'{name}_field', part)}, {name}, {at})"

    # --- others ---

    def block(self, part: Part) -> Iterator[str]:
        name = attribute_of(part.name)
        rules = list(self.guarding(part))
        if rules:
            yield "_at = reader.pos"
        match part:
            case Octets() if part.name in self.lengths:
                length = attribute_of(self.lengths[part.name].name)
                yield f"{name} = reader.take({part.name!r}, {length})"
            case Octets():
                rest = "_end - reader.pos" if self.total else "reader.left"
                yield f"{name} = reader.take({part.name!r}, {rest})"
            case OneOf(layouts=layouts):
                reads = {number: inner_codec(one).read for number, one in layouts.items()}
                yield f"reader.scope = (_scope, {part.name!r}, -1)"
                yield f"{name} = {self.name_of(f'read_{name}', reads)}[{attribute_of(part.number)}](reader)"
                yield "reader.scope = _scope"
            case Nested(of=of):
                inner = self.name_of(f"read_{name}", inner_codec(of).read)
                yield f"reader.scope = (_scope, {part.name!r}, -1)"
                yield f"{name} = {inner}(reader)"
                yield "reader.scope = _scope"
            case Repeated(of=of):
                inner = self.name_of(f"read_{name}", inner_codec(of).read)
                count = self.counts.get(part.name)
                more = f"len({name}) < {attribute_of(count.name)}" if count else "reader.pos < reader.end"
                yield f"{name} = []"
                yield f"while {more}:"
                yield f"    reader.scope = (_scope, {part.name!r}, len({name}))"
                yield f"    {name}.append({inner}(reader))"
                yield "reader.scope = _scope"
                yield f"{name} = tuple({name})"
            case _:
                raise TypeError(f"no reader for {type(part).__name__}")
        for rule in rules:
            yield from self.look(rule, part, "_at")


class _Write(_Function):
    """The source of `write`."""

    def holds(self, rule: Rule) -> bool:
        return rule.holds_for_writers

    def lines(self) -> Iterator[str]:
        yield "def write(writer, item, options=None):"
        yield from indented(self.body())

    def body(self) -> Iterator[str]:
        if self.layout.complete is not None:
            yield f"item = {self.name_of('complete', self.layout.complete)}(item)"
        yield from self.variables()
        for rule in self.of_the_whole():
            yield from self.look(rule, "")
        if any(isinstance(part, Nested | Repeated | OneOf) for part in self.layout.parts):
            yield "_scope = writer.scope"
        for run in runs_of(self.layout.parts):
            for part in run:
                for rule in self.guarding(part):
                    yield from self.look(rule, self.place_of(part))
            for part in run:
                yield from self.limits(part)
            if len(run) > 1:
                yield from self.run(run)
            elif is_block(run[0]):
                yield from self.block(run[0])
            else:
                yield self.primitive(run[0])

    def variables(self) -> Iterator[str]:
        """Yield the fields of the value, then those that follow from them."""
        for name in self.layout.attributes:
            yield f"{name} = item.{name}"
        for part in self.layout.parts:
            match part:
                case Number(presence_of=of) if of:
                    yield f"{attribute_of(part.name)} = {attribute_of(of)} is not None"
                case Length(of=of) if of in (REST, WHOLE):
                    yield f"{attribute_of(part.name)} = {self.size_of(part)}"
                case Length(of=of) | Count(of=of):
                    yield f"{attribute_of(part.name)} = len({attribute_of(of)})"
                case OneOf(layouts=layouts):
                    numbers = {cast("StructLayout", one).type: number for number, one in layouts.items()}
                    known = self.name_of(f"{attribute_of(part.number)}_of", numbers)
                    yield f"{attribute_of(part.number)} = {known}[type({attribute_of(part.name)})]"

    def size_of(self, length: Length) -> str:
        """Return the expression of the size of the whole structure, or of what is behind its length."""
        parts = self.layout.parts
        counted = parts if length.of == WHOLE else parts[parts.index(length) + 1 :]
        fixed = sum(least_size_of(part) for part in counted)
        blocks = (part for part in counted if isinstance(part, Octets) and not part.size)
        return " + ".join((str(fixed), *(f"len({attribute_of(part.name)})" for part in blocks)))

    def place_of(self, part: Part) -> str:
        """Return the field that a writer names if a rule of `part` refuses: what a length counts."""
        match part:
            case Length(of=of) if of in (REST, WHOLE):
                return next(one.name for one in reversed(self.layout.parts) if isinstance(one, Octets))
            case Length(of=of) | Count(of=of):
                return of
        return part.name

    def limits(self, part: Part) -> Iterator[str]:
        """Yield the refusal of a number that is none of the known ones."""
        if isinstance(part, Number) and part.known is not None:
            name = attribute_of(part.name)
            yield f"if {name} not in {self.name_of(f'{name}_known', part.known)}:"
            yield f'    raise writer.invalid({part.name!r}, f"code {{{name}}}")'

    def look(self, rule: Rule, name: str) -> Iterator[str]:
        yield f"if (fault := {self.call(rule)}) is not None:  # {rule.id}"
        yield f"    _refuse(writer, {name!r}, fault)"

    def run(self, run: Sequence[Any]) -> Iterator[str]:
        pack = self.name_of(f"_pack_{attribute_of(run[0].name)}", packing(run).pack)
        yield "try:"
        yield f"    writer.pack({pack}, {', '.join(map(self.packed, run))})"
        yield "except _packing_errors:  # a field that does not fit is named"
        for part in run:
            yield f"    {self.primitive(part)}"

    def packed(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        expression = self.expression(part)
        return (
            f'{expression}.to_bytes(16, "little")' if getattr(part, "kind", "") == "uint128le" else expression
        )

    def expression(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        """Return the number that is written for a field."""
        name = attribute_of(part.name)
        match part:
            case Zero(size=size):
                return f"bytes({size})" if size else "0"
            case Number(truth=truth) if truth:
                return f"int({name})"
            case Number(codes=Mapping()):
                return f"{self.name_of(f'{name}_numbers', numbers_of(part))}[{name}]"
            case Number() if part.name in self.flags:
                return f"{name} or 0"
        return name

    def primitive(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        if isinstance(part, Octets) or (isinstance(part, Zero) and part.size):
            return f"writer.put({part.name!r}, {self.expression(part)})"
        return f"writer.{part.kind}({part.name!r}, {self.expression(part)})"

    def block(self, part: Part) -> Iterator[str]:
        name = attribute_of(part.name)
        match part:
            case Octets():
                yield f"writer.put({part.name!r}, {name})"
            case OneOf(layouts=layouts):
                writes = {number: inner_codec(one).write for number, one in layouts.items()}
                yield f"writer.scope = (_scope, {part.name!r}, -1)"
                yield f"{self.name_of(f'write_{name}', writes)}[{attribute_of(part.number)}](writer, {name})"
                yield "writer.scope = _scope"
            case Nested(of=of):
                inner = self.name_of(f"write_{name}", inner_codec(of).write)
                yield f"writer.scope = (_scope, {part.name!r}, -1)"
                yield f"{inner}(writer, {name})"
                yield "writer.scope = _scope"
            case Repeated(of=of):
                inner = self.name_of(f"write_{name}", inner_codec(of).write)
                yield f"for _index, _element in enumerate({name}):"
                yield f"    writer.scope = (_scope, {part.name!r}, _index)"
                yield f"    {inner}(writer, _element)"
                yield "writer.scope = _scope"
            case _:
                raise TypeError(f"no writer for {type(part).__name__}")
