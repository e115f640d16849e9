"""The source of the function that reads a structure."""

from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any

import attrs

from wireproof.schema.layout import (
    REST,
    WHOLE,
    Block,
    Called,
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
    width_of,
)
from wireproof.schema.rules import INDEX, NUMBER, ROOM, SURPLUS, Rule
from wireproof.schema.source import Function, indented, inner_codec, is_block, packing, runs_of


class Read(Function):
    """The source of `read`."""

    def holds(self, rule: Rule) -> bool:
        """Return whether a rule holds for readers."""
        return not rule.unread

    def head(self) -> str:
        """Return its name and its parameters."""
        return f"read(reader, options=None{', first=0' if self.joined else ''})"

    def body(self) -> Iterator[str]:
        """Yield its body."""
        padded = any(isinstance(part, Zero) and part.until for part in self.layout.parts)
        if any(ROOM in rule.needs for rule in self.rules) or self.of_the_whole() or self.total or padded:
            yield "_start = reader.pos"
        if self.layout.empty:
            values = ", ".join("()" for _ in self.layout.attributes)
            yield "if reader.pos == reader.end:"
            yield f"    return _type({values})"
        if self.has_scopes():
            yield "_scope = reader.scope"
        if self.joined:
            yield "_outer = _scope[0] if _scope else None"
        for run in runs_of(self.layout.parts, self.total if self.is_windowed() else None):
            if len(run) > 1:
                yield from self.run(run)
            elif isinstance(run[0], Called):
                yield from self.called(run[0])
            elif is_block(run[0]):
                yield from self.block(run[0])
            else:
                yield from self.number(run[0])
        yield from self.end()
        beside = f", {attribute_of(self.joined.name)}" if self.joined else ""
        yield f"return {self.value()}{beside}"

    def value(self) -> str:
        """Return the expression of a value of all fields; their names would take time."""
        names, own = self.layout.attributes, attrs.fields(self.layout.type)
        in_order = tuple(one.name for one in own if not one.kw_only)[: len(names)] == names
        if in_order and self.layout.build is None:
            return f"_type({', '.join(names)})"
        return f"_type({', '.join(f'{name}={name}' for name in names)})"

    def end(self) -> Iterator[str]:
        """Yield what is looked at when the whole structure is read."""
        if self.whole:
            last = self.layout.parts[-1].name
            yield f"if reader.pos < reader.end:  # {self.whole}"
            yield f'    raise reader.reject("trailing-data", {last!r}, f"{{reader.left}} bytes after it")'
        for rule in self.of_the_whole():
            yield from self.look(rule, "_report_inside(reader, _layout, locals(), fault)")
        for part in () if self.layout.framed else self.checksums:
            if rules := self.verifying(part):
                yield from self.checksum(part, rules)

    def checksum(self, part: Checksum, rules: Sequence[Rule]) -> Iterator[str]:
        """Yield the comparison of a checksum with that of the bytes that it covers."""
        first, end = self.covered(part)
        algorithm = self.name_of(f"_{attribute_of(part.name)}_of", part.algorithm.of)
        yield f"computed = {algorithm}(reader.data[{first} : {end}])"
        if any(rule.verifies for rule in rules):
            yield f"reader.cover({part.name!r}, {part.algorithm.label!r}, {first}, {end})"
        for rule in rules:
            yield from self.look(rule, f"_report(reader, {part.name!r}, {place(part)}, fault)")

    def covered(self, part: Checksum) -> tuple[str, str]:
        """Return the expressions of the positions between which a checksum covers bytes."""
        if part.over == WHOLE:
            return "_start", "reader.pos"
        if part.over == REST:
            return f"{place(part)} + {width_of(part)}", "reader.pos"
        over = self.layout.part(part.over)
        return place(over), f"{place(over)} + len({attribute_of(part.over)})"

    def marks(self, part: Part, at: str) -> Iterator[str]:
        """Yield that the position of a part is noted, if a checksum or a fault of the whole may need it."""
        if self.of_the_whole() and self.layout.position(part.name) is None:
            yield f"{place(part)} = {at}"
            return
        verified = [] if self.layout.framed else [one for one in self.checksums if self.verifying(one)]
        if any(part is one or part.name == one.over for one in verified):
            yield f"{place(part)} = {at}"

    def argument(self, rule: Rule, need: str) -> str:
        """Return the expression for a parameter of a rule."""
        if need == NUMBER:
            return self.raw(self.layout.part(rule.guards))
        if need == SURPLUS:
            return 'reader.short == "trailing-data"'
        if need == INDEX:
            return "reader.scope[2]"
        return "reader.end - _start" if need == ROOM else need

    # --- fields of fixed width ---

    def run(self, run: Sequence[Any]) -> Iterator[str]:
        """Yield the reading of adjacent fields of fixed width: at once; one by one if traced or cut.

        Of a framed structure all bytes are there: its rules come behind all the fields, so that a trace has
        every field, also where a checksum is wrong.
        """
        size, framed = packing(run).size, self.layout.framed
        starts = [sum(width_of(part) or 0 for part in run[:index]) for index in range(len(run))]
        places = [f"_at + {start}" if start else "_at" for start in starts]
        looks = [list(self.behind(part, at)) for part, at in zip(run, places, strict=True)]
        yield "_at = reader.pos"
        for part, at in zip(run, places, strict=True):
            yield from self.marks(part, at)
        yield f"if reader.end - _at >= {size} and not reader.tracing:"
        unpack = self.name_of(f"_unpack_{attribute_of(run[0].name)}", packing(run).unpack_from)
        yield f"    {', '.join(map(self.raw, run))} = {unpack}(reader.data, _at)"
        yield f"    reader.pos = _at + {size}"
        for part, look in zip(run, looks, strict=True):
            if getattr(part, "kind", "") == "uint128le":
                yield f'    {self.raw(part)} = int.from_bytes({self.raw(part)}, "little")'
            yield from indented(iter(() if framed else look))
        yield "else:"
        for part, look in zip(run, looks, strict=True):
            yield f"    {self.primitive(part)}"
            yield from indented(self.covers(part))
            yield from indented(iter(() if framed else look))
        if framed:
            yield from (line for look in looks for line in look)

    def number(self, part: Any) -> Iterator[str]:  # noqa: ANN401 - a part of fixed width
        """Yield the reading of one field of fixed width."""
        rest = [*self.covers(part), *self.behind(part, "_at")]
        if any("_at" in line for line in rest):
            yield "_at = reader.pos"
        yield from self.marks(part, "reader.pos")
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
            case Length(of=of) | Checksum(over=of) if of == REST and self.layout.framed:
                kind = "length" if isinstance(part, Length) else part.algorithm.label
                yield f"reader.cover({part.name!r}, {kind!r}, reader.pos, reader.end)"
            case Length(of=of) if of in (REST, WHOLE):
                first = "_start" if of == WHOLE else "reader.pos"
                length = attribute_of(part.name)
                yield f'reader.cover({part.name!r}, "length", {first}, {first} + {length})'
            case Length(of=of) if self.directly_before(part, of):
                yield f"reader.cover_next({part.name!r}, {attribute_of(part.name)})"
            case Count(of=of, advisory=False) if of == self.layout.parts[-1].name:
                yield f'reader.cover({part.name!r}, "count", reader.pos, reader.end)'

    def directly_before(self, part: Part, of: str) -> bool:
        """Return whether a length stands directly before what it counts."""
        parts = self.layout.parts
        return parts[parts.index(part) + 1].name == of

    def behind(self, part: Part, at: str) -> Iterator[str]:
        """Yield the rules of a field, and what its number means."""
        early = [rule for rule in self.guarding(part) if NUMBER in rule.needs]
        late = [rule for rule in self.guarding(part) if NUMBER not in rule.needs]
        report = f"_report(reader, {part.name!r}, {at}, fault)"
        for rule in early:
            yield from self.look(rule, report)
        if isinstance(part, Number):
            yield from self.meaning(part, at)
        for rule in late:
            yield from self.look(rule, report)
        if isinstance(part, Checksum) and self.layout.framed and (rules := self.verifying(part)):
            algorithm = self.name_of(f"_{attribute_of(part.name)}_of", part.algorithm.of)
            yield f"computed = {algorithm}(reader.data[{at} + {width_of(part)} : reader.end])"
            for rule in rules:
                yield from self.look(rule, report)
        if part is self.total and not self.layout.framed:
            begin = "_start" if part.of == WHOLE else f"{at} + {width_of(part)}"
            if self.is_windowed():
                yield f"reader = reader.window({self.layout.parts[-1].name!r}, {attribute_of(part.name)})"
            else:
                yield f"_end = {begin} + {attribute_of(part.name)}"

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

    def called(self, part: Called) -> Iterator[str]:
        """Yield the call of a function that reads a part; nothing if that of a later part reads it too."""
        names = [attribute_of(name) for name in (*(part.also or ()), part.name)]
        if part.function is not None:
            targets = names[0] if part.also is None else f"({', '.join(names)},)"
            yield f"{targets} = {self.name_of(f'read_{names[-1]}', part.function)}(reader, options)"

    def block(self, part: Part) -> Iterator[str]:  # noqa: C901, PLR0912 - a case for each kind of part
        """Yield the reading of bytes, a structure or several."""
        name = attribute_of(part.name)
        rules = list(self.guarding(part))
        if rules:
            yield "_at = reader.pos"
        yield from self.marks(part, "reader.pos")
        if (size := self.lengths.get(part.name)) is not None and not self.directly_before(size, part.name):
            length = attribute_of(size.name)
            yield f'reader.cover({size.name!r}, "length", reader.pos, reader.pos + {length})'
        match part:
            case Block():
                window = "reader"
                if size is not None:
                    window = f"reader.window({part.name!r}, {attribute_of(size.name)})"
                yield f"{name} = {self.name_of(f'read_{name}', part.read)}({window})"
            case Zero(until=until):
                yield f"{name} = reader.take({part.name!r}, _start + {until} - reader.pos)"
            case Octets() if part.name in self.nullable:
                length = attribute_of(self.lengths[part.name].name)
                yield f"{name} = reader.take({part.name!r}, {length}) if {length} >= 0 else None"
            case Packed():
                yield from self.packed(part)
            case Octets() if part.name in self.lengths:
                length = attribute_of(self.lengths[part.name].name)
                yield f"{name} = reader.take({part.name!r}, {length})"
            case Octets():
                rest = "_end - reader.pos" if self.total and not self.is_windowed() else "reader.left"
                yield f"{name} = reader.take({part.name!r}, {rest})"
            case When(part=Nested() as given):
                yield f"{name} = None"
                yield f"if {attribute_of(part.number)} in {part.values}:"
                yield f"    reader.scope = (_scope, {part.name!r}, -1)"
                yield f"    {name} = {self.inner(given)}(reader)"
                yield "    reader.scope = _scope"
            case OneOf() | Nested():
                yield f"reader.scope = (_scope, {part.name!r}, -1)"
                yield f"{name} = {self.inner(part)}(reader)"
                yield "reader.scope = _scope"
            case Repeated(of=of):
                inner = self.name_of(f"read_{name}", inner_codec(of).read)
                yield from self.elements(part, inner)
            case _:
                raise TypeError(f"no reader for {type(part).__name__}")
        for rule in rules:
            yield from self.look(rule, f"_report(reader, {part.name!r}, _at, fault)")

    def packed(self, part: Packed) -> Iterator[str]:
        """Yield the call that reads what a region contains; before a fault stands the value up to it."""
        assert part.read is not None, "functions by hand read what is packed"
        name, known = attribute_of(part.of.name), {"start": "_start"}
        size = self.lengths.get(part.name)
        window = "reader" if size is None else f"reader.window({part.name!r}, {attribute_of(size.name)})"
        fields = {attribute_of(one.name) for one in self.layout.parts}
        needs = [need for need in signature(part.read).parameters if need in fields | known.keys()]
        arguments = ", ".join((window, *(f"{need}={known.get(need, need)}" for need in needs)))
        yield "try:"
        yield f"    {name} = {self.name_of(f'read_{name}', part.read)}({arguments})"
        yield "except _Rejected as rejected:"
        yield f"    {name} = rejected.before"
        yield f"    raise rejected.with_before({self.value()} if {name} else None) from None"

    def inner(self, part: OneOf | Nested) -> str:
        """Return the expression of the function that reads an inner structure."""
        name = f"read_{attribute_of(part.name)}"
        if isinstance(part, Nested):
            return self.name_of(name, inner_codec(part.of).read)
        reads = {number: inner_codec(one).read for number, one in part.layouts.items()}
        return f"{self.name_of(name, reads)}[{attribute_of(part.number)}]"

    def elements(self, part: Repeated, inner: str) -> Iterator[str]:  # noqa: C901 - a case for each kind of list
        """Yield the loop over the elements of a list, by their count or until their bytes end."""
        name, window = attribute_of(part.name), "reader"
        size = self.lengths.get(part.name)
        if size is not None or self.total is not None:
            length = attribute_of(size.name) if size is not None else "_end - reader.pos"
            window = "_window"
            if part.joined:
                yield "reader.scope = _outer"
            yield f"_window = reader.window({part.name!r}, {length})"
            if part.joined:
                yield "reader.scope = _scope"
        beside = self.inner_list(part)
        counted = name if beside is None else beside[0]
        count = self.counts.get(part.name if beside is None else beside[0])
        more = f"{window}.pos < {window}.end"
        if count is not None and not count.advisory:
            more = f"len({name}) < {attribute_of(count.name)}"
        elif count is not None and not count.loose and beside is None:
            yield f'reader.cover({count.name!r}, "count", {window}.pos, {window}.end)'
        elif beside is not None:
            yield f"_first = {window}.pos"
            yield f"{beside[0]} = []"
        yield f"{name} = []"
        yield f"while {more}:"
        if count is not None and count.advisory and window == "reader":
            yield f"    if len({counted}) >= {attribute_of(count.name)}:"
            yield f'        {window}.short = "trailing-data"'
        scope = (
            f"_outer, {part.name!r}, first + len({name})"
            if part.joined
            else f"_scope, {part.name!r}, len({name})"
        )
        yield f"    {window}.scope = ({scope})"
        if beside is not None:
            yield f"    element, _joined = {inner}({window}, first=len({counted}))"
            yield f"    {counted}.extend(_joined)"
            yield f"    {name}.append(element)"
        elif part.derive is not None:
            derive = self.name_of(f"derive_{name}", part.derive)
            yield f"    element = {inner}({window})"
            yield f"    {name}.append({derive}({', '.join(signature(part.derive).parameters)}))"
        else:
            yield f"    {name}.append({inner}({window}))"
        yield "reader.scope = _scope"
        yield f"{name} = tuple({name})"
        if beside is not None:
            yield f"{counted} = tuple({counted})"
            if count is not None:  # if an element is empty, the covered bytes hold more than what is counted
                yield f"if all(one.{beside[1]} for one in {name}):"
                yield f'    reader.cover({count.name!r}, "count", _first, reader.pos)'


def place(part: Part) -> str:
    """Return the variable of the position of a part."""
    return f"_{attribute_of(part.name)}_at"
