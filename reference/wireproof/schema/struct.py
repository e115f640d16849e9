"""Structures: fields from top to bottom, as a specification shows them, in all revisions at once.

    STRATEGY = Struct(
        "PollingStrategy",
        Number("kind", "uint8", codes={1: "offset", 2: "timestamp", 3: "first", 4: "last", 5: "next"}),
        Number("value", "uint64le", meaning="an offset, or microseconds"),
        revisions=REVISIONS, cites="iggy.md §2.2",
    )

`STRATEGY.at("0.8")` is its layout in a revision, with the class of its values and its codec. A field that
begins or ends with a revision is in `since` or `until`; the structure inside another one has the revision of
the outer one. Mistakes in a description are errors when it is defined.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, reduce
from keyword import iskeyword
from operator import or_
from typing import Any, Final, Literal, TypeAlias, cast

import attrs
from attrs import evolve, field, frozen

from wireproof.schema.compiling import Codec, compile_codec
from wireproof.schema.layout import (
    REST,
    VARINTS,
    WHOLE,
    WIDTHS,
    Block,
    Called,
    Checksum,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    ProtoField,
    Repeated,
    Tagged,
    When,
    all_layouts,
    attribute_of,
    proto_fields,
    width_of,
)
from wireproof.schema.protobuf import is_computed, mistakes, type_of_field
from wireproof.schema.rules import (
    COMPUTED,
    NUMBER,
    OF_READERS,
    Check,
    Fault,
    Rule,
)
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


class DescriptionError(ValueError):
    """A description contradicts itself; the message begins with the names of the structure and the field."""


@frozen
class Ranged:
    """A field that revisions from `since` on have, up to and without `until`; empty for no limit."""

    part: "Field"
    since: str = ""
    until: str = ""


def since(revision: str, part: "Field") -> Ranged:
    """Return a field that begins with a revision."""
    return evolve(part, since=revision) if isinstance(part, Ranged) else Ranged(part, since=revision)


def until(revision: str, part: "Field") -> Ranged:
    """Return a field that the revisions before `revision` have."""
    return evolve(part, until=revision) if isinstance(part, Ranged) else Ranged(part, until=revision)


def _placed(of: Any) -> Any:  # noqa: ANN401 - structures, and layouts in their place
    """Return the structures inside a description, whose layouts `Struct.at` puts in their place."""
    return of


def inner(name: str, of: "Struct") -> Nested:
    """Return a field that is another structure."""
    return Nested(name, of=_placed(of))


def many(
    name: str, of: "Struct", *, joined: bool = False, derive: Callable[..., Any] | None = None
) -> Repeated:
    """Return a field that is a list of structures; `Repeated` has the arguments."""
    return Repeated(name, of=_placed(of), joined=joined, derive=derive)


def choice(name: str, number: str, of: Mapping[int, "Struct"]) -> OneOf:
    """Return a field that is one of several structures, by an earlier number, which no value has."""
    return OneOf(name, number=number, layouts=_placed(of))


def optional(name: str, number: str, of: "Struct") -> When:
    """Return a field that is a structure or, if an earlier number, which no value has, is not 1, nothing."""
    return When(inner(name, of), number=number, values=(1,))


@frozen(eq=False)
class ByRevision:
    """A field that is another part in each revision that has it."""

    name: str
    part_at: Callable[[str], Part]


Plain: TypeAlias = Part | ByRevision

Field: TypeAlias = Plain | Ranged


@frozen(kw_only=True, eq=False)
class StructLayout(Layout):
    """The layout of a structure in one revision.

    Attributes:
        rules: those of the revision, in their order.
        whole: the id of the rule that nothing follows; empty if bytes behind the structure are not its own.
        empty: whether no bytes at all are a value, whose lists are empty.
        complete: the function that completes a value before it is written, such as by a checksum.
        framed: whether the window of a reader is the structure, because an earlier look at its size said so.
            Then a checksum of the rest is compared before that is read.
        build: makes a value of the fields, if its class has others too.
    """

    rules: tuple[Rule, ...] = field(default=(), repr=False)
    whole: str = ""
    empty: bool = False
    complete: Callable[[Any], Any] | None = None
    framed: bool = False
    build: Callable[..., Any] | None = None

    @property
    def type(self) -> type[Any]:
        """Return the class of its values."""
        assert self.value is not None, "a structure has a class"
        return self.value

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the names of the attributes of a value, in the order of the wire."""
        return tuple(name for name, _ in value_fields(self.parts))

    def decode(self, reader: Reader, options: Options) -> Any:  # noqa: ANN401 - a value of `type`
        """Read a value of a format. Raises `Rejected`."""
        return self.codec.read(reader, options)

    def encode(self, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - a value of `type`
        """Write a value of a format. Raises as `Codec.write`."""
        self.codec.write(writer, value, options)

    @cached_property
    def codec(self) -> Codec:
        """Return the functions that read and write a value of a format."""
        return compile_codec(self, self.rules, self.whole)

    def faults(self, **fields: Any) -> Iterator[Fault]:  # noqa: ANN401 - of any type
        """Yield what the rules find wrong with fields that come from elsewhere, such as a JSON body."""
        for rule in _rules_of(self, frozenset(fields)):
            if (fault := rule.check(**{name: fields[name] for name in rule.needs})) is not None:
                yield fault

    @cached_property
    def inner_codec(self) -> Codec:
        """Return the functions that read and write a value inside of another one."""
        return compile_codec(self, tuple(rule for rule in self.rules if not rule.alone), "")


@cache
def _rules_of(layout: StructLayout, names: frozenset[str]) -> tuple[Rule, ...]:
    """Return the rules of a structure that need nothing but these fields."""
    return tuple(rule for rule in layout.rules if not rule.alone and names.issuperset(rule.needs))


class Struct:
    """A structure in all revisions."""

    def __init__(
        self,
        name: str,
        *fields: Field,
        revisions: Sequence[str],
        cites: str,
        value: type[Any] | None = None,
        extends: "Struct | None" = None,
        base: type[Any] = object,
        **more: Any,  # noqa: ANN401 - of many types
    ) -> None:
        """Describe a structure.

        Args:
            name: as the specification writes it, and of the class of its values.
            fields: in the order of the wire.
            revisions: all that the family has, oldest first.
            cites: the section of the specification.
            value: a class of its values that exists already.
            extends: a structure whose fields and rules come before its own.
            base: the base class of the classes of its values.
            more: attributes of `StructLayout`.

        Raises:
            DescriptionError: the description contradicts itself.
        """
        if unknown := [one for one in more if one not in attrs.fields_dict(StructLayout)]:
            raise DescriptionError(f"{name}: a layout has no {unknown[0]}")
        self.name, self.revisions, self.cites = name, revisions, cites
        self.fields: tuple[Field, ...] = (*extends.fields, *fields) if extends else fields
        self._extends, self._value, self._base, self._more = extends, value, base, more
        self._rules: list[Rule] = []
        self._types: dict[Any, type[Any]] = {}
        self._layouts: dict[str, StructLayout] = {}
        self._check_ranges()
        for revision in revisions:
            self._check(revision)

    def rule(
        self,
        guards: str,
        rule_id: str,
        *,
        since: str = "",
        until: str = "",
        alone: bool = False,
        unread: bool = False,
        unwritten: bool = False,
    ) -> Callable[[Check], Check]:
        """Return a decorator that makes a function a rule; `Rule` has the arguments.

        Raises:
            DescriptionError: the rule guards or needs no field, or the structure is in use already.
        """

        def add(check: Check) -> Check:
            rule = Rule(rule_id, guards, check, since, until, alone, unread, unwritten)
            if self._layouts:
                raise DescriptionError(f"{self.name}: rule {rule_id} comes behind the first use")
            self._check_rule(rule)
            self._rules.append(rule)
            return check

        return add

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Return all rules, those of the structure that it extends first."""
        return (*(self._extends.rules if self._extends else ()), *self._rules)

    def at(self, revision: str) -> StructLayout:
        """Return the layout in a revision.

        Raises:
            DescriptionError: there is no such revision.
        """
        if revision not in self._layouts:
            if revision not in self.revisions:
                raise DescriptionError(f"{self.name}: no revision {revision}")
            parts = tuple(self._part(one, revision) for one in self._fields(revision))
            rules = tuple(rule for rule in self.rules if self._holds(rule.since, rule.until, revision))
            self._check_layout(parts, rules, revision)
            self._layouts[revision] = StructLayout(
                self.name,
                parts,
                value=self._type(parts),
                cites=self.cites,
                rules=rules,
                **self._more,
            )
        return self._layouts[revision]

    # --- revisions ---

    def _holds(self, first: str, end: str, revision: str) -> bool:
        order = self.revisions.index
        return (not first or order(first) <= order(revision)) and (not end or order(revision) < order(end))

    def _fields(self, revision: str) -> Iterator[Plain]:
        for one in self.fields:
            if isinstance(one, Ranged):
                if self._holds(one.since, one.until, revision):
                    assert not isinstance(one.part, Ranged)
                    yield one.part
            else:
                yield one

    def lists(self, revision: str) -> Iterator[Repeated]:
        """Yield the fields of a revision that are lists of structures."""
        return (one for one in self._fields(revision) if isinstance(one, Repeated))

    @classmethod
    def _part(cls, one: Plain, revision: str) -> Part:
        """Return a field with the layouts of the revision in place of structures."""
        match one:
            case ByRevision(part_at=part_at):
                return part_at(revision)
            case Nested(of=Struct() as struct) | Repeated(of=Struct() as struct):
                return evolve(one, of=struct.at(revision))
            case OneOf(layouts=of):
                layouts = {
                    number: struct.at(revision) if isinstance(struct, Struct) else struct
                    for number, struct in of.items()
                }
                return evolve(one, layouts=layouts)
            case When(part=part):
                return evolve(one, part=cls._part(part, revision))
        return one

    # --- mistakes in a description ---

    def _check(self, revision: str) -> None:
        """Refuse names that occur twice, and lengths and counts of what is not behind them."""
        known: set[str] = set()
        names = [one.name for one in self._fields(revision)]
        for one in self._fields(revision):
            if one.name in known:
                raise DescriptionError(f"{self.name}.{one.name}: two fields of this name in {revision}")
            known.add(one.name)
            kind = getattr(one, "kind", "")
            if kind and kind not in WIDTHS and kind not in VARINTS:
                raise DescriptionError(f"{self.name}.{one.name}: no integer is called {kind}")
            target = _target_of(one)
            if target and (target in known or target not in (*names, *self._joined_lists(revision))):
                raise DescriptionError(f"{self.name}.{one.name}: no field {target} behind it in {revision}")
        for mistake in mistakes(tuple(self._fields(revision))):
            raise DescriptionError(f"{self.name}.{mistake}")

    def _joined_lists(self, revision: str) -> Iterator[str]:
        """Yield the lists that a value has beside the list of structures that they are in."""
        for one in self.lists(revision):
            if isinstance(one.of, Struct):
                yield from (part.name for part in one.of.lists(revision) if part.joined)

    def _check_ranges(self) -> None:
        for ranged in (one for one in self.fields if isinstance(one, Ranged)):
            for limit in filter(None, (ranged.since, ranged.until)):
                if limit not in self.revisions:
                    raise DescriptionError(f"{self.name}.{_name(ranged)}: no revision {limit}")
            order = self.revisions.index
            if ranged.since and ranged.until and order(ranged.since) >= order(ranged.until):
                raise DescriptionError(f"{self.name}.{_name(ranged)}: it ends before it begins")

    def _check_layout(self, parts: Sequence[Part], rules: Sequence[Rule], revision: str) -> None:
        """Refuse what would fail, or read without end, when a value of the revision is read."""
        known = (
            {attribute_of(part.name) for part in parts}
            | OF_READERS
            | {name for name, _ in value_fields(parts)}
        )
        guarded = {rule.guards for rule in rules}
        for rule in rules:
            absent = [name for name in rule.needs if name not in known]
            if absent and (not rule.guards or attribute_of(rule.guards) in known):
                raise DescriptionError(f"{self.name}: rule {rule.id} needs {absent[0]}, not in {revision}")
        for part in parts:
            if isinstance(part, OneOf) and part.number not in guarded:
                raise DescriptionError(f"{self.name}.{part.name}: no rule refuses another {part.number}")
            counted = any(isinstance(one, Count) and one.of == part.name for one in parts)
            if isinstance(part, Repeated) and part.joined and not counted:
                raise DescriptionError(f"{self.name}.{part.name}: a joined list needs its count")
            if isinstance(part, Repeated) and not part.of.least_size:
                raise DescriptionError(f"{self.name}.{part.name}: elements of no bytes have no end")

    def _check_rule(self, rule: Rule) -> None:
        for limit in filter(None, (rule.since, rule.until)):
            if limit not in self.revisions:
                raise DescriptionError(f"{self.name}: rule {rule.id} has no revision {limit}")
        names = {_name(one) for one in self.fields}
        lists = {name for revision in self.revisions for name in self._joined_lists(revision)}
        attributes = {attribute_of(name) for name in names} | OF_READERS | lists
        if clash := [name for name in rule.needs if name in OF_READERS & names]:
            raise DescriptionError(f"{self.name}: rule {rule.id} needs {clash[0]}, which is a field too")
        if not rule.guards and NUMBER in rule.needs:
            raise DescriptionError(f"{self.name}: rule {rule.id} needs the {NUMBER} of no field")
        if rule.guards and rule.guards not in names:
            raise DescriptionError(f"{self.name}.{rule.guards}: rule {rule.id} guards no field")
        if unknown := [name for name in rule.needs if name not in attributes]:
            raise DescriptionError(f"{self.name}: rule {rule.id} needs {unknown[0]}, which is no field")
        own = max((at for at, one in enumerate(self.fields) if _name(one) == rule.guards), default=-1)
        read = {attribute_of(_name(one)) for one in (self.fields[: own + 1] if rule.guards else self.fields)}
        read |= lists
        if late := [name for name in rule.needs if name not in read | OF_READERS]:
            text = f"rule {rule.id} needs {late[0]}, which comes behind it"
            raise DescriptionError(f"{self.name}.{rule.guards}: {text}")

    # --- values ---

    def _type(self, parts: Sequence[Part]) -> type[Any]:
        """Return the class of values, the same one for revisions with the same fields."""
        types = dict(value_fields(parts))
        if self._value is not None:
            if absent := [name for name in types if name not in attrs.fields_dict(self._value)]:
                raise DescriptionError(f"{self.name}: {self._value.__name__} has no attribute {absent[0]}")
            return self._value
        key = tuple(types.items())
        if key not in self._types:
            computed = {attribute_of(part.name) for part in parts if is_computed(part)}
            rows = {
                name: field(type=kind, default=0) if name in computed else field(type=kind)
                for name, kind in types.items()
            }
            self._types[key] = attrs.make_class(
                self.name, rows, bases=(self._base,), frozen=True, kw_only=bool(computed)
            )
        return self._types[key]


def _target_of(one: Plain) -> str:
    """Return the name of the field of which a field is the length, the count or the presence; else empty."""
    match one:
        case Length(of=of) if of in (REST, WHOLE):
            return ""
        case Length(of=of) | Count(of=of) | Number(presence_of=of):
            return of
    return ""


def _name(one: Field) -> str:
    return _name(one.part) if isinstance(one, Ranged) else one.name


def value_fields(parts: Sequence[Part]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that a value of these parts has, with their types."""
    present = {part.presence_of for part in parts if isinstance(part, Number)}
    selecting = {part.number for part in parts if isinstance(part, OneOf | When)}
    present |= {part.of for part in parts if isinstance(part, Length) and part.null is not None}
    joined = {part.name for part in parts if isinstance(part, Repeated) and part.joined}
    for part in parts:
        match part:
            case Nested(inline=True, of=of):
                yield from value_fields(of.parts)
                continue
            case Packed(of=contents):
                yield attribute_of(contents.name), Any
                continue
            case Count(of=of) if of in joined:
                yield attribute_of(part.name), int
                continue
        kind = None if part.name in selecting | joined else _type_of(part)
        if kind is not None:
            yield attribute_of(part.name), kind | None if part.name in present else kind
        if isinstance(part, Repeated):
            inner_lists = (one for one in part.of.parts if isinstance(one, Repeated) and one.joined)
            yield from ((one.name, _type_of(one)) for one in inner_lists)


def fields_of(layout: StructLayout, value: Any) -> dict[str, Any]:  # noqa: ANN401 - a value of the layout
    """Return the fields of a value by the names of the specification, for programs."""
    names = dict(value_fields(layout.parts))
    return {
        part.name: getattr(value, attribute_of(part.name))
        for part in layout.parts
        if attribute_of(part.name) in names
    }


def _type_of(part: Part) -> Any:  # noqa: ANN401, PLR0911 - a type; a case for each kind of part
    """Return the type of the attribute of a part; None if no value has it."""
    match part:
        case Called(type=kind) | Block(type=kind):
            return kind
        case Number(presence_of=""):
            return bool if part.truth else Literal[tuple(part.codes.values())] if part.codes else int
        case Checksum(shown=True):
            return int
        case Octets():
            return bytes
        case ProtoField():
            return type_of_field(part)
        case Nested(of=StructLayout() as layout):
            return layout.type
        case Repeated(of=StructLayout() as layout):
            return tuple.__class_getitem__((layout.type, ...))
        case When(part=Nested(of=StructLayout() as layout)):
            return layout.type | None
        case OneOf(layouts=layouts):
            return reduce(or_, (cast("StructLayout", layout).type for layout in layouts.values()))
    return None


# --- what a compiled function could not read or write ---

LOCALS: Final = frozenset(("reader", "writer", "item", "fault", "first", "computed", "read", "write"))
"""The names of a compiled function that no field may take."""


def layout_of(struct: Struct, revision: str) -> StructLayout:
    """Return the layout of a format in a revision.

    Raises:
        DescriptionError: it cannot be read or written; the message names the structure and the field.
    """
    for name, part in _names(struct):
        word = attribute_of(part)
        if not word.isidentifier() or iskeyword(word) or word in LOCALS or word.startswith("_"):
            raise DescriptionError(f"{name}.{part}: a function has no variable of this name; choose another")
    try:
        layout = struct.at(revision)
    except RecursionError:
        raise DescriptionError(f"{struct.name}: it contains itself") from None
    check(layout)
    return layout


def _names(struct: Struct) -> Iterator[tuple[str, str]]:
    """Yield the names of the fields of a structure and of those in it, each behind that of its structure."""
    for one in struct.fields:
        part = one.part if isinstance(one, Ranged) else one
        yield struct.name, _name(part)
        inside = part.part if isinstance(part, When) else part
        match inside:
            case Nested(of=of) | Repeated(of=of):
                structs: Iterable[object] = (of,)
            case OneOf(layouts=layouts):
                structs = layouts.values()
            case _:
                structs = ()
        for each in structs:
            yield from _names(each) if isinstance(each, Struct) else ()


def check(layout: StructLayout) -> None:
    """Refuse what cannot be read or written; the fields of protobuf messages come in any order.

    Raises:
        DescriptionError: the message names the structure and the field.
    """
    for one in all_layouts(layout):
        if isinstance(one, StructLayout) and not proto_fields(one):
            for fault in _faults(one):
                raise DescriptionError(f"{one.name}{fault}")


def _faults(layout: StructLayout) -> Iterator[str]:
    """Yield what is wrong: `.`, the name of the field, and the reason."""
    parts, counted = layout.parts, {part.of for part in layout.parts if isinstance(part, Length | Count)}
    if not parts:
        yield ": it has no field"
    attributes: dict[str, str] = {}
    for index, part in enumerate(parts):
        name = attribute_of(part.name)
        if (other := attributes.setdefault(name, part.name)) != part.name:
            yield f".{part.name}: {other} has the same attribute, {name}"
        takes_all = (type(part) is Octets and not part.size) or (isinstance(part, Repeated) and not part.like)
        if takes_all and part.name not in counted and index + 1 < len(parts):
            text = f"without a length or a count before it, it takes the bytes of {parts[index + 1].name}"
            yield f".{part.name}: {text}"
        yield from (f".{part.name}: {text}" for text in _of_part(layout, part))


def _of_part(layout: StructLayout, part: Part) -> Iterator[str]:
    before = {one.name for one in layout.parts[: layout.parts.index(part)]}
    rules = [rule for rule in layout.rules if rule.guards == part.name]
    octets = [one.name for one in layout.parts if isinstance(one, Octets)]
    match part:
        case Number(const=int(const)) if not rules and not layout.framed:  # a look at its size sees it
            yield f"no rule refuses another number than {const}"
        case Checksum(over=over, shown=shown) if over not in (REST, WHOLE, *octets) and (
            not shown or any(COMPUTED in rule.needs for rule in rules)
        ):
            yield f"there are no bytes {over} that it could cover"
        case Length(of=of) if of in (REST, WHOLE) and width_of(part) is None:
            yield f"a length of {of} has a fixed width"
        case When(part=Nested(), number=number) | OneOf(number=number) if number not in before:
            yield f"no field {number} before it"
        case Packed(read=None):
            yield "it needs functions that read and write it"
        case Tagged() | When(part=Octets() | Number() | Repeated()):
            yield f"a structure has no {type(part).__name__}; write functions for it, as of a Block"
