"""The source of the function that reads a structure."""

from collections.abc import Iterator, Sequence
from typing import Any

from wireproof.schema.rules import NUMBER, ROOM, Rule
from wireproof.schema.source import Function, indented, inner_codec, is_block, runs_of
from wireproof.wire.layout import (
    REST,
    WHOLE,
    Called,
    Count,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Part,
    Repeated,
    Zero,
    attribute_of,
    width_of,
)
from wireproof.wire.layout_codec import packing


class Read(Function):
    """The source of `read`. Its last argument is whether the rules of the whole structure are looked at."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the function."""
        yield "def read(reader, options=None, whole=True):"
        yield from indented(self.body())

    def body(self) -> Iterator[str]:
        """Yield its body."""
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
        """Yield what is looked at when the whole structure is read."""
        if self.whole:
            last = self.layout.parts[-1].name
            yield f"if reader.pos < reader.end:  # {self.whole}"
            yield f'    raise reader.reject("trailing-data", {last!r}, f"{{reader.left}} bytes after it")'
        for rule in self.of_the_whole():
            yield f"if (fault := {self.call(rule)}) is not None:  # {rule.id}"
            yield "    _report_inside(reader, _start, read, fault)"

    def argument(self, rule: Rule, need: str) -> str:
        """Return the expression for a parameter of a rule."""
        if need == NUMBER:
            return self.raw(self.layout.part(rule.guards))
        return "reader.end - _start" if need == ROOM else need

    # --- fields of fixed width ---

    def run(self, run: Sequence[Any]) -> Iterator[str]:
        """Yield the reading of adjacent fields of fixed width: at once; one by one if traced or cut."""
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
        """Yield the reading of one field of fixed width."""
        rest = [*self.covers(part), *self.behind(part, "_at")]
        if any("_at" in line for line in rest):
            yield "_at = reader.pos"
        yield self.primitive(part)
        yield from rest

    def primitive(self, part: Any) -> str:  # noqa: ANN401 - a part of fixed width
        """Return the call that reads a field of fixed width."""
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
        """Return whether a length stands directly before what it counts."""
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
        """Yield the look at a rule."""
        yield f"if (fault := {self.call(rule)}) is not None:  # {rule.id}"
        yield f"    _report(reader, {part.name!r}, {at}, fault)"

    def meaning(self, part: Number, at: str) -> Iterator[str]:
        """Yield the value that the number of a field means."""
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
        """Yield the reading of bytes, a structure or several."""
        name = attribute_of(part.name)
        rules = list(self.guarding(part))
        if rules:
            yield "_at = reader.pos"
        match part:
            case Called(function=None):
                pass  # a later part reads it too
            case Called(function=function, also=also):
                targets = name if also is None else f"({', '.join((*map(attribute_of, also), name))},)"
                yield f"{targets} = {self.name_of(f'read_{name}', function)}(reader, options)"
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
