"""The source of the function that writes a structure."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from wireproof.schema.layout import (
    REST,
    WHOLE,
    Block,
    Checksum,
    Count,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    Repeated,
    When,
    Zero,
    attribute_of,
    least_size_of,
    width_of,
)
from wireproof.schema.rules import OF_READERS, Rule
from wireproof.schema.source import Function, inner_codec, is_block, packing, runs_of

if TYPE_CHECKING:
    from wireproof.schema.struct import StructLayout


class Write(Function):
    """The source of `write`."""

    def holds(self, rule: Rule) -> bool:
        """Return whether a writer has everything that a rule needs."""
        known_late = rule.guards and self.is_patched(self.layout.part(rule.guards))
        return not (rule.unwritten or known_late) and OF_READERS.isdisjoint(rule.needs)

    def head(self) -> str:
        """Return its name and its parameters."""
        beside = f", {attribute_of(self.joined.name)}=(), first=0" if self.joined else ""
        return f"write(writer, item, options=None{beside})"

    def body(self) -> Iterator[str]:
        """Yield its body."""
        if self.layout.complete is not None:
            yield f"item = {self.name_of('complete', self.layout.complete)}(item)"
        yield from self.variables()
        for rule in self.of_the_whole():
            yield from self.look(rule, "_refuse(writer, '', fault)")
        if self.has_scopes():
            yield "_scope = writer.scope"
        if self.joined:
            yield "_outer = _scope[0] if _scope else None"
        if any(map(self.is_patched, self.layout.parts)):
            yield "_start = writer.pos"
        for run in runs_of(self.layout.parts):
            for part in run:
                for rule in self.guarding(part):
                    yield from self.look(rule, f"_refuse(writer, {self.place_of(part)!r}, fault)")
            for part in run:
                yield from self.limits(part)
            yield from self.parts(run)
        yield from self.patches()

    def parts(self, run: Sequence[Part]) -> Iterator[str]:
        """Yield the writing of adjacent parts of fixed width, or of a single part."""
        if len(run) > 1:
            yield from self.run(run)
        elif is_block(run[0]):
            yield from self.block(run[0])
        else:
            yield self.primitive(run[0])

    def variables(self) -> Iterator[str]:  # noqa: C901 - a case for each kind of part
        """Yield the fields of the value, then those that follow from them."""
        for name in self.layout.attributes:
            yield f"{name} = item.{name}"
        for part in self.layout.parts:
            match part:
                case Number(presence_of=of) if of:
                    yield f"{attribute_of(part.name)} = {attribute_of(of)} is not None"
                case Length() | Checksum() if self.is_patched(part):
                    yield f"{attribute_of(part.name)} = 0"
                case Length(of=of) if of in (REST, WHOLE):
                    yield f"{attribute_of(part.name)} = {self.size_of(part)}"
                case Checksum(over=over) if over in self.layout.attributes:
                    algorithm = self.name_of(f"_{attribute_of(part.name)}_of", part.algorithm.of)
                    yield f"{attribute_of(part.name)} = {algorithm}({attribute_of(over)})"
                case Length(of=of) if isinstance(block := self.layout.part(of), Block):
                    yield f"{attribute_of(part.name)} = {self.measured(block)}"
                case Length(of=of) if of in self.nullable:
                    name = attribute_of(of)
                    yield f"{attribute_of(part.name)} = {part.null} if {name} is None else len({name})"
                case Length(of=of) | Count(of=of):
                    yield f"{attribute_of(part.name)} = len({attribute_of(of)})"
                case When(number=number, values=(present, *_)):
                    given = f"{attribute_of(part.name)} is not None"
                    yield f"{attribute_of(number)} = {present} if {given} else 0"
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
        return " + ".join((str(fixed), *map(self.measured, blocks)))

    def measured(self, part: Octets) -> str:
        """Return the expression of the size of bytes."""
        name = attribute_of(part.name)
        if isinstance(part, Block):
            return f"{self.name_of(f'size_of_{name}', part.measure)}({name})"
        return f"len({name})"

    def is_patched(self, part: Part) -> bool:
        """Return whether a number is known only when all that it is about is written."""
        match part:
            case Length(of=of) if of not in (REST, WHOLE):
                return not isinstance(self.layout.part(of), Octets)
            case Length():
                unknown = (isinstance(one, Repeated | Packed) for one in self.layout.parts)
                return bool(self.nullable) or any(unknown)
            case Checksum(over=over):
                return over in (REST, WHOLE)
        return False

    def patches(self) -> Iterator[str]:
        """Yield the numbers that are known at the end: lengths first, which a checksum may cover."""
        patched = [part for part in self.layout.parts if self.is_patched(part)]
        for part in sorted(patched, key=lambda part: isinstance(part, Checksum)):
            at = f"_start + {self.layout.offset(part.name)}"
            if isinstance(part, Checksum):
                first = "_start" if part.over == WHOLE else f"{at} + {width_of(part)}"
                algorithm = self.name_of(f"_{attribute_of(part.name)}_of", part.algorithm.of)
                number = f"{algorithm}(bytes(writer.data[{first}:]))"
                yield f"writer.patch({part.name!r}, {part.kind!r}, {at}, {number})"
            elif isinstance(part, Length) and part.of in (REST, WHOLE):
                first = "_start" if part.of == WHOLE else f"({at} + {width_of(part)})"
                yield f"writer.patch({part.name!r}, {part.kind!r}, {at}, writer.pos - {first})"
            elif isinstance(part, Length):
                yield f"writer.patch({part.name!r}, {part.kind!r}, {at}, _{attribute_of(part.of)}_size)"

    def place_of(self, part: Part) -> str:
        """Return the field that a writer names if a rule of `part` refuses: what a length counts."""
        match part:
            case Length(of=of) if of in (REST, WHOLE):
                octets = (one.name for one in reversed(self.layout.parts) if isinstance(one, Octets))
                return next(octets, part.name)
            case Length(of=of) | Count(of=of):
                return of
        return part.name

    def limits(self, part: Part) -> Iterator[str]:
        """Yield the refusal of a number that is none of the known ones."""
        if isinstance(part, Number) and part.known is not None:
            name = attribute_of(part.name)
            yield f"if {name} not in {self.name_of(f'{name}_known', part.known)}:"
            yield f'    raise writer.invalid({part.name!r}, f"code {{{name}}}")'

    def run(self, run: Sequence[Any]) -> Iterator[str]:
        """Yield the writing of adjacent fields of fixed width, at once; one by one where one does not fit."""
        pack = self.name_of(f"_pack_{attribute_of(run[0].name)}", packing(run).pack)
        yield "try:"
        yield f"    writer.pack({pack}, {', '.join(map(self.packed, run))})"
        yield "except _packing_errors:  # a field that does not fit is named"
        for part in run:
            yield f"    {self.primitive(part)}"

    def packed(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        """Return what `struct` packs for a field."""
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
            case Number(codes=Mapping() as codes):
                numbers = {word: number for number, word in codes.items()}
                return f"{self.name_of(f'{name}_numbers', numbers)}[{name}]"
            case Number() if part.name in self.flags:
                return f"{name} or 0"
        return name

    def primitive(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        """Return the call that writes a field of fixed width."""
        if isinstance(part, Octets) or (isinstance(part, Zero) and part.size):
            return f"writer.put({part.name!r}, {self.expression(part)})"
        return f"writer.{part.kind}({part.name!r}, {self.expression(part)})"

    def block(self, part: Part) -> Iterator[str]:
        """Yield the writing of bytes, a structure or several."""
        name = attribute_of(part.name)
        match part:
            case Block():
                yield f"{self.name_of(f'write_{name}', part.write)}(writer, {name})"
            case Packed():
                assert part.write is not None, "functions by hand write what is packed"
                contents = attribute_of(part.of.name)
                write = self.name_of(f"write_{contents}", part.write)
                yield f"{write}({', '.join(signature(part.write).parameters)})"
            case Octets() if part.name in self.nullable:
                yield f"if {name} is not None:"
                yield f"    writer.put({part.name!r}, {name})"
            case Octets():
                yield f"writer.put({part.name!r}, {name})"
            case Zero(until=until):
                yield f"writer.put({part.name!r}, bytes(_start + {until} - writer.pos))"
            case When(part=Nested(of=of)):
                inner = self.name_of(f"write_{name}", inner_codec(of).write)
                yield f"if {name} is not None:"
                yield f"    writer.scope = (_scope, {part.name!r}, -1)"
                yield f"    {inner}(writer, {name})"
                yield "    writer.scope = _scope"
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
                yield from self.elements(part, inner)
            case _:
                raise TypeError(f"no writer for {type(part).__name__}")

    def elements(self, part: Repeated, inner: str) -> Iterator[str]:
        """Yield the loop over the elements of a list."""
        name, beside = attribute_of(part.name), self.inner_list(part)
        if part.name in self.lengths:
            yield "_first = writer.pos"
        if beside is not None:
            yield "_done = 0"
        yield f"for _index, _element in enumerate({name}):"
        scope = f"_outer, {part.name!r}, first + _index" if part.joined else f"_scope, {part.name!r}, _index"
        yield f"    writer.scope = ({scope})"
        if beside is not None:
            yield f"    _next = _done + _element.{beside[1]}"
            yield f"    {inner}(writer, _element, None, {beside[0]}[_done:_next], _done)"
            yield "    _done = _next"
        else:
            yield f"    {inner}(writer, _element)"
        yield "writer.scope = _scope"
        if part.name in self.lengths:
            yield f"_{name}_size = writer.pos - _first"
