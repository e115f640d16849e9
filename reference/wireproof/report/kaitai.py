"""Layouts as Kaitai Struct specifications, made from the layout traces of the accepted golden cases.

Nothing is written here by hand of any format: the order of fields, what is the length or the number of what,
and when a field is there at all are what all traces of an edition have in common. A field is there under a
condition if an earlier number, or some of its bits, tells those traces that have it from those that do not.
What is packed stays bytes, for a checksum, a codec or a rule is no matter of a layout.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS, Layout
from wireproof.wire.trace import Cover, Span

WRITTEN: Final = (
    "kafka.batch/v0", "kafka.batch/v1", "kafka.batch/v2", "heka.stream/0.10",
    "iggy.frame/0.0.30", "iggy.reply/0.0.30", "iggy.reply/0.11",
    "iggy.headers/0.0.30", "iggy.headers/0.9", "iggy.headers/0.10",
    "iggy.identifier/0.0.30", "iggy.identifier/0.8", "iggy.partitioning/0.0.30", "iggy.partitioning/0.9",
    "iggy.send/0.0.30", "iggy.send/0.7", "iggy.send/0.8", "iggy.send/0.9", "iggy.send/0.11",
    "iggy.poll-request/0.0.30", "iggy.poll-request/0.0.92", "iggy.poll-request/0.8",
    "iggy.poll/0.0.30", "iggy.poll/0.0.40", "iggy.poll/0.0.60",
    "iggy.poll/0.7", "iggy.poll/0.8", "iggy.poll/0.9",
    "iggy.log/0.0.30", "iggy.log/0.0.40", "iggy.log/0.7", "iggy.log/0.8", "iggy.log/0.9", "iggy.log/0.11",
)  # fmt: skip
"""The editions whose layouts their traces tell; each is compiled and held to its cases by a test.

A log of entries of several editions, frames that differ by command, and protobuf's fields, which come in any
order, are not told so: of Heka there is the framing.
"""

SCALARS: Final = {
    "int8": "s1", "int16": "s2be", "int32": "s4be", "int64": "s8be", "uint32": "u4be", "uint16": "u2be",
    "uint8": "u1", "uint16le": "u2le", "uint32le": "u4le", "uint64le": "u8le",
    "varint": "varint", "varlong": "varlong", "uvarint": "uvarint",
}  # fmt: skip
"""The types of a trace, and Kaitai's; what is not here is bytes."""

BEHIND: Final = frozenset({"ignored", "garbage"})
"""What a reader skips behind a frame stands in no layout."""

MASKS: Final = (-1, 0x07, 0x08, 0x10, 0x20, 0x40)
"""Parts of a number that may decide whether a field is there; all of it first."""

PACKED_NUMBERS: Final = {"varint": 32, "varlong": 64, "uvarint": 64}
"""Numbers in groups of seven bits, the lowest first: their bits; what is beyond these is dropped."""


@define
class Struct:
    """One occurrence of a group of fields: its parts in their order."""

    parts: "dict[str, Part]" = field(factory=dict)

    @property
    def start(self) -> int:
        """Its first byte."""
        return min(part.start for part in self.parts.values())

    @property
    def end(self) -> int:
        """One past its last byte."""
        return max(part.end for part in self.parts.values())


@define
class Many:
    """One occurrence of a list of groups."""

    items: list[Struct] = field(factory=list)

    @property
    def start(self) -> int:
        """Its first byte."""
        return self.items[0].start

    @property
    def end(self) -> int:
        """One past its last byte."""
        return self.items[-1].end


@define
class Leaf:
    """One occurrence of a field."""

    type: str
    start: int
    end: int
    value: Any
    cover: Cover | None


Part = Struct | Many | Leaf
PACKED: Final = "_packed"
"""Behind the name of a list, where its items are packed."""

FRAMED: Final = "heka.stream/0.10"
HEADER: Final = re.compile(r"(.*\])\.header\.(.*)")
STEP: Final = re.compile(r"([^.\[]+)(?:\[(\d+)\])?")


# --- from spans to trees ---


def kept(layout: Layout) -> list[Span]:
    """The spans of the wire that a layout has: none behind a frame, none within what is packed."""
    wire = [span for span in layout.spans if not span.space and span.type not in BEHIND]
    closed = [span for span in wire if span.type not in SCALARS]
    within = tuple(f"{span.path}{sign}" for span in closed for sign in ".[")
    found: dict[str, Span] = {}
    for span in wire:
        if not span.path.startswith(within):
            found.setdefault(span.path, span)
    return list(found.values())


def pattern(path: str) -> str:
    """A path without its indices."""
    return re.sub(r"\[\d+\]", "[]", path)


@frozen
class Shapes:
    """What the fields of an edition are in any of its traces.

    Attributes:
        lists: the patterns of lists; one that is packed is another field.
        leaves: the patterns of bytes; what has an inside in some traces only is bytes in all.
    """

    lists: frozenset[str]
    leaves: frozenset[str]

    @classmethod
    def of(cls, traces: Iterable[Sequence[Span]]) -> "Shapes":
        """The shapes of some traces."""
        spans = {(pattern(span.path), span.type) for trace in traces for span in trace}
        lists = {path[: sign.start()] for path, _ in spans for sign in re.finditer(r"\[\]", path)}
        leaves = {path for path, kind in spans if kind not in SCALARS and path not in lists}
        return cls(frozenset(lists), frozenset(leaves))

    def tree(self, spans: Iterable[Span]) -> Struct:
        """The fields of one trace under the groups and lists that their paths name."""
        root = Struct()
        for span in spans:
            here = root
            steps = STEP.findall(span.path)
            for name, index in steps[:-1]:
                here = _inner(here, name, index)
            name = steps[-1][0] + (PACKED if pattern(span.path) in self.lists else "")
            here.parts[name] = Leaf(span.type, span.start, span.end, span.value, span.cover)
        self._closed(root, "")
        return root

    def _closed(self, struct: Struct, path: str) -> None:
        for name, part in struct.parts.items():
            where = f"{path}{name}"
            match part:
                case Struct() if where in self.leaves:
                    struct.parts[name] = Leaf("bytes", part.start, part.end, None, None)
                case Struct():
                    self._closed(part, f"{where}.")
                case Many():
                    for item in part.items:
                        self._closed(item, f"{where}[].")


def _inner(here: Struct, name: str, index: str) -> Struct:
    if not index:
        inner = here.parts.setdefault(name, Struct())
        assert isinstance(inner, Struct), name
        return inner
    many = here.parts.setdefault(name, Many())
    assert isinstance(many, Many), name
    if int(index) == len(many.items):
        many.items.append(Struct())
    return many.items[int(index)]


# --- Heka's frames ---


def lengths_first(spans: Iterable[Span]) -> bool:
    """Whether the first field of each header is the length of its message."""
    first: dict[str, str] = {}
    for head, inner in (HEADER.findall(span.path)[0] for span in spans if HEADER.match(span.path)):
        first.setdefault(head, inner)
    return set(first.values()) <= {"message_length.key"}


def framed(spans: Iterable[Span]) -> list[Span]:
    """The framing without its protobuf: the length in a header; what follows it and the message as bytes."""
    found: list[Span] = []
    ends: dict[str, int] = {}
    for span in (span for span in spans if not span.space):
        path, inner = span.path.partition("]")[0] + "]", span.path.partition("].")[2]
        if inner == "header_length" and span.cover:
            ends[path] = span.cover.end
        if inner == "header.message_length.key":
            found.append(evolve(span, path=f"{path}.header.message_length_key"))
        elif inner == "header.message_length" and span.cover:
            rest = Span(f"{path}.header.rest", "", span.end, ends[path], "bytes", None)
            message = Span(f"{path}.message", "", span.cover.start, span.cover.end, "bytes", None)
            found += [span, rest, message]
        elif not inner.startswith(("header.", "message")):
            found.append(span)
    return sorted(found, key=lambda span: (span.start, span.end))


# --- what trees have in common ---


@frozen
class Scope:
    """All occurrences of one group of fields, each with the root of its trace and the size of its input."""

    rows: tuple[tuple[Struct, Struct, int], ...]

    def order(self) -> list[str]:
        """The names of all fields; where an occurrence lacks some, the others tell their places."""
        names: list[str] = []
        for struct, _, _ in self.rows:
            place = 0
            for name in struct.parts:
                if name in names:
                    place = names.index(name) + 1
                else:
                    names.insert(place, name)
                    place += 1
        return names

    def parts(self, name: str) -> list[Part]:
        """The occurrences of a field."""
        return [struct.parts[name] for struct, _, _ in self.rows if name in struct.parts]


def spec(joined: str, cases: Iterable[Case]) -> dict[str, Any]:
    """The specification of an edition, as the tree of its YAML."""
    clean = [case for case in cases_of(joined, cases) if not leaves_some(case)]
    traces = [(trace_of(case), len(frame_of(case))) for case in clean]
    shapes = Shapes.of(spans for spans, _ in traces)
    trees = [(shapes.tree(spans), size) for spans, size in traces]
    rows = [(root, root, size) for root, size in trees]
    types: dict[str, Any] = {}
    seq = _seq(Scope(tuple(rows)), types, "")
    meta = {"id": ident(re.sub(r"[./]", "_", joined)), "title": f"{joined}, from {len(rows)} accepted cases"}
    text = json.dumps(seq) + json.dumps(types)
    types |= {
        name: packed(bits, zigzag=name != "uvarint")
        for name, bits in PACKED_NUMBERS.items()
        if f'"type": "{name}"' in text
    }
    return {"meta": meta, "seq": seq} | ({"types": types} if types else {})


def cases_of(joined: str, cases: Iterable[Case]) -> list[Case]:
    """The cases by which a layout is made, and held: those that are decoded and accepted.

    Of Heka's frames, those whose header begins with the length of the message, as all its writers have it.
    """
    mine = (case for case in cases if case.joined == joined and isinstance(case.input, Data))
    some = [case for case in mine if isinstance(case.expect, Accept) and frame_of(case)]
    return [case for case in some if joined != FRAMED or lengths_first(layout_of(case).spans)]


def trace_of(case: Case) -> list[Span]:
    """The fields of a case that stand in its layout: none of a torn tail."""
    layout, size = layout_of(case), len(frame_of(case))
    spans = framed(layout.spans) if case.joined == FRAMED else kept(layout)
    return [span for span in spans if span.end <= size]


def frame_of(case: Case) -> bytes:
    """The bytes of a case that are its value: none that follow, no torn tail."""
    assert isinstance(case.input, Data)
    assert isinstance(case.expect, Accept)
    return case.input.data[: case.expect.consumed]


def leaves_some(case: Case) -> bool:
    """Whether its reader skips bytes of it, from which nothing is learned of a layout."""
    return any(span.type in BEHIND for span in layout_of(case).spans if not span.space)


def layout_of(case: Case) -> Layout:
    """The trace of a case."""
    assert isinstance(case.input, Data)
    return formats.layout(FORMATS[case.joined], case.input.data, case.options)


def packed(bits: int, *, zigzag: bool) -> dict[str, Any]:
    """The type of a number in groups of seven bits: of 0, 1, 2, 3 zig-zag makes 0, -1, 1, -2."""
    parts = (f"(groups.size > {n} ? (groups[{n}] & 0x7f) << {7 * n} : 0)" for n in range(-(-bits // 7)))
    return {
        "seq": [{"id": "groups", "type": "u1", "repeat": "until", "repeat-until": "(_ & 0x80) == 0"}],
        "instances": {
            "raw": {"value": f"({' + '.join(parts)}) & 0x{(1 << bits) - 1:x}"},
            "value": {"value": "(raw >> 1) ^ -(raw & 1)" if zigzag else "raw"},
        },
    }


def _seq(scope: Scope, types: dict[str, Any], path: str) -> list[dict[str, Any]]:
    seq: list[dict[str, Any]] = []
    before: list[str] = []
    for name in scope.order():
        parts = scope.parts(name)
        told: dict[str, Any] = {"id": ident(name)}
        told |= _body(scope, name, parts, before, types, path)
        if condition := _condition(scope, name, before):
            told["if"] = condition
        seq.append(told)
        if all(isinstance(part, Leaf) and part.type in SCALARS for part in parts):
            before.append(name)
        before += _inner_numbers(name, parts)
    return seq


def _inner_numbers(name: str, parts: Sequence[Part]) -> list[str]:
    """The numbers that stand in every occurrence of a group, as numbers of what the group stands in."""
    inner = [part.parts for part in parts if isinstance(part, Struct)]
    names = dict.fromkeys(one for part in inner for one in part)
    return [f"{name}.{one}" for one in names if all(isinstance(_at(part, one), Leaf) for part in inner)]


def _at(parts: Mapping[str, Part], name: str) -> Leaf | None:
    part = parts.get(name)
    return part if isinstance(part, Leaf) and part.type in SCALARS else None


def _body(
    scope: Scope, name: str, parts: Sequence[Part], before: Sequence[str], types: dict[str, Any], path: str
) -> dict[str, Any]:
    match parts[0]:
        case Leaf(type=kind) if kind in SCALARS:
            return {"type": SCALARS[kind]}
        case Leaf():
            return _sized(scope, name, before)
        case Struct():
            inner = tuple(
                (part, root, size) for struct, root, size in scope.rows
                if isinstance(part := struct.parts.get(name), Struct)
            )  # fmt: skip
        case Many():
            inner = tuple(
                (item, root, size) for struct, root, size in scope.rows
                if isinstance(many := struct.parts.get(name), Many) for item in many.items
            )  # fmt: skip
    here = f"{path}{name}_"
    types[ident(here.rstrip("_"))] = {"seq": _seq(Scope(inner), types, here)}
    told = {"type": ident(here.rstrip("_"))}
    if isinstance(parts[0], Struct) and (sized := _size(scope, name, before)) and not sized[1]:
        told["size"] = _value(scope, sized[0])
    if isinstance(parts[0], Many):
        by = _count(scope, name, before)
        told |= {"repeat": "expr", "repeat-expr": _value(scope, by)} if by else {"repeat": "eos"}
    return told


def _found(struct: Struct, name: str) -> Part | None:
    """A part of a group, or of a group in it."""
    head, _, rest = name.partition(".")
    part = struct.parts.get(head)
    return _found(part, rest) if rest and isinstance(part, Struct) else part


def _number(struct: Struct, name: str) -> int | None:
    part = _found(struct, name)
    return part.value if isinstance(part, Leaf) and isinstance(part.value, int) else None


def _sized(scope: Scope, name: str, before: Sequence[str]) -> dict[str, Any]:
    by = _size(scope, name, before)
    if by is not None:
        return {"size": _value(scope, by[0]) + (f" - {by[1]}" if by[1] else "")}
    sizes = {part.end - part.start for part in scope.parts(name)}
    return {"size": sizes.pop()} if len(sizes) == 1 else {"size-eos": True}


def _size(scope: Scope, name: str, before: Sequence[str]) -> tuple[str, int] | None:
    """The earlier length that says how many bytes a field has, and how many of them lie before it."""
    rows = [struct for struct, _, _ in scope.rows if name in struct.parts]
    for other in reversed(before):
        covers = [(part, struct.parts[name]) for struct in rows if (part := _found(struct, other))]
        gaps = {_gap(one, two) for one, two in covers}
        if len(covers) == len(rows) and len(gaps) == 1 and None not in gaps:
            (gap,) = gaps
            return (other, gap) if gap is not None else None
    return None


def _gap(length: Part, part: Part) -> int | None:
    """How much of what a length speaks of is no part of the field; None if it says nothing of its end."""
    if not isinstance(length, Leaf) or not isinstance(length.value, int):
        return None
    gap = length.value - (part.end - part.start)
    if length.cover is None:
        return 0 if gap == 0 else None
    ends = length.cover.kind == "length" and length.cover.end == part.end
    return gap if ends and gap >= 0 else None


def _count(scope: Scope, name: str, before: Sequence[str]) -> str:
    """The earlier number that is that of the items in every occurrence."""
    rows = [struct for struct, _, _ in scope.rows if name in struct.parts]
    for other in reversed(before):
        if all(_number(struct, other) == len(_items(struct.parts[name])) for struct in rows):
            return other
    return ""


def _items(part: Part) -> list[Struct]:
    return part.items if isinstance(part, Many) else []


def _value(scope: Scope, name: str) -> str:
    part = next(part for struct, _, _ in scope.rows if (part := _found(struct, name)))
    grouped = isinstance(part, Leaf) and SCALARS[part.type] in PACKED_NUMBERS
    words = ".".join(map(ident, name.split(".")))
    return f"{words}.value" if grouped else words


# --- when a field is there ---


def _condition(scope: Scope, name: str, before: Sequence[str]) -> str:
    """What tells occurrences with the field from those without it; empty where all have it."""
    rows = [(struct, size) for struct, _, size in scope.rows if name not in struct.parts]
    away = [struct for struct, size in rows if not _is_empty(scope, name, before, (struct, size))]
    if not away:
        return ""
    there = [struct for struct, _, _ in scope.rows if name in struct.parts]
    for other in reversed(before):
        for mask in MASKS:
            if text := _told_by(scope, there, away, (other, mask)):
                return text
    raise ValueError(f"{name}: no earlier number tells when it is there")


def _is_empty(scope: Scope, name: str, before: Sequence[str], row: tuple[Struct, int]) -> bool:
    """Whether a field that an occurrence lacks may as well be there with nothing in it."""
    struct, size = row
    part = scope.parts(name)[0]
    if isinstance(part, Many) and (number := _count(scope, name, before)):
        return _number(struct, number) == 0
    if isinstance(part, Leaf) and part.type not in SCALARS and (by := _size(scope, name, before)):
        return _number(struct, by[0]) == by[1]
    return not _room(scope, struct, name, size)


def _room(scope: Scope, struct: Struct, name: str, size: int) -> bool:
    """Whether anything is left where an occurrence lacks a field: if not, it may as well be empty."""
    order = scope.order()
    above = [struct.parts[one] for one in order[: order.index(name)] if one in struct.parts]
    end = max((part.end for part in above), default=struct.start if struct.parts else 0)
    covers = [part.cover for part in above if isinstance(part, Leaf) and part.cover is not None]
    return end != size and all(
        cover.kind != "length" or cover.end != end or cover.start == end for cover in covers
    )


def _told_by(scope: Scope, there: Sequence[Struct], away: Sequence[Struct], by: tuple[str, int]) -> str:
    other, mask = by
    yes, no = ({_masked(struct, other, mask) for struct in structs} for structs in (there, away))
    if yes & no or None in yes | no:
        return ""
    what = _value(scope, other) if mask == -1 else f"({_value(scope, other)} & {mask})"
    if len(no) == 1:
        return f"{what} != {no.pop()}"
    if len(yes) == 1:
        return f"{what} == {yes.pop()}"
    lowest, highest = min(filter(None, yes), default=0), max(filter(None, no), default=0)
    return f"{what} > {highest}" if lowest > highest else ""


def _masked(struct: Struct, name: str, mask: int) -> int | None:
    number = _number(struct, name)
    return None if number is None else number & mask


# --- text ---


def ident(name: str) -> str:
    """A name as Kaitai has it: `baseOffset` is `base_offset`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("#", "n").replace("-", "_").lower()


def yaml(tree: Mapping[str, Any]) -> str:
    """The text of a specification."""
    return "\n".join(_lines(tree, 0)) + "\n"


def _lines(tree: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - the tree of some YAML
    pad = "  " * depth
    for key, part in tree.items():
        match part:
            case Mapping():
                yield f"{pad}{key}:"
                yield from _lines(part, depth + 1)
            case list():
                yield f"{pad}{key}:"
                for item in part:
                    first, *rest = _lines(item, depth + 2)
                    yield f"{pad}  - {first.strip()}"
                    yield from rest
            case _:
                yield f"{pad}{key}: {json.dumps(part)}"


def written(cases: Sequence[Case], chosen: Container[str] = WRITTEN) -> Iterator[tuple[str, str]]:
    """The name and the text of each specification that is chosen."""
    for joined in (one for one in WRITTEN if one in chosen):
        made = spec(joined, cases)
        yield made["meta"]["id"], yaml(made)


def leaves(struct: Struct, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every field of a tree, with its path."""
    for name, part in struct.parts.items():
        match part:
            case Leaf():
                yield f"{path}{name}", part
            case Struct():
                yield from leaves(part, f"{path}{name}.")
            case Many():
                for number, item in enumerate(part.items):
                    yield from leaves(item, f"{path}{name}[{number}].")
