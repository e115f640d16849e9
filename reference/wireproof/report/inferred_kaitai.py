"""Layouts as Kaitai Struct specifications, made from the layout traces of the accepted golden cases.

No format is described by hand here. The order of the fields, the lengths and counts, and the conditions under
which a field is present are taken from what all traces of a revision have in common (`layout_tree` leaves out
the protobuf inside Heka's frames). A field is conditional if an earlier number, or some of its bits,
separates the traces that have the field from those that do not. Compressed data stays bytes, because
checksums, codecs and rules are not part of a layout.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.formats import FORMATS
from wireproof.report.layout_tree import (
    SCALARS,
    FieldNode,
    GroupNode,
    ListNode,
    Part,
    Shapes,
    cases_of,
    frame_of,
    has_trailing_bytes,
    trace_of,
)

_INFERRED: Final = (
    "iggy.frame/0.0.30", "iggy.reply/0.0.30", "iggy.reply/0.11",
    "iggy.headers/0.0.30", "iggy.headers/0.9", "iggy.headers/0.10",
    "iggy.identifier/0.0.30", "iggy.identifier/0.8", "iggy.partitioning/0.0.30", "iggy.partitioning/0.9",
    "iggy.send/0.0.30", "iggy.send/0.7", "iggy.send/0.8", "iggy.send/0.9", "iggy.send/0.11",
    "iggy.poll-request/0.0.30", "iggy.poll-request/0.0.92", "iggy.poll-request/0.8",
    "iggy.poll-request/0.10",
    "iggy.poll/0.0.30", "iggy.poll/0.0.40", "iggy.poll/0.0.60",
    "iggy.poll/0.7", "iggy.poll/0.8", "iggy.poll/0.9",
    "iggy.log/0.0.30", "iggy.log/0.0.40", "iggy.log/0.7", "iggy.log/0.8", "iggy.log/0.9", "iggy.log/0.11",
)  # fmt: skip
"""The revisions whose layout can be inferred from traces. A test compiles each and checks it on its cases.

Left out are frames that differ by command.
"""


SPECIFIED_FORMATS: Final = tuple(one for one in _INFERRED if FORMATS[one].layout is None)
"""Those of them that have no declared layout."""

MASKS: Final = (-1, 0x07, 0x08, 0x10, 0x20, 0x40)
"""Bit masks of a number that may decide if a field is present; the whole number first."""

PACKED_NUMBERS: Final = {"varint": 32, "varlong": 64, "uvarint": 64}
"""The number of bits of each varint type: groups of seven bits, the lowest first. Higher bits are dropped."""


# --- common structure of the trees ---


@frozen
class Scope:
    """All occurrences of one group of fields, each with the root of its trace and the size of its input."""

    rows: tuple[tuple[GroupNode, GroupNode, int], ...]

    def order(self) -> list[str]:
        """Return the names of all fields in order, also of those that some occurrences lack."""
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
        """Return the occurrences of a field."""
        return [struct.parts[name] for struct, _, _ in self.rows if name in struct.parts]


def spec(format_id: str, cases: Iterable[Case]) -> dict[str, Any]:
    """Return the specification of a revision as the tree of its YAML."""
    clean = [case for case in cases_of(format_id, cases) if not has_trailing_bytes(case)]
    traces = [(trace_of(case), len(frame_of(case))) for case in clean]
    shapes = Shapes.of(spans for spans, _ in traces)
    trees = [(shapes.tree(spans), size) for spans, size in traces]
    rows = [(root, root, size) for root, size in trees]
    types: dict[str, Any] = {}
    seq = _seq(Scope(tuple(rows)), types, "")
    meta = {
        "id": ident(re.sub(r"[./]", "_", format_id)),
        "title": f"{format_id}, from {len(rows)} accepted cases",
    }
    text = json.dumps(seq) + json.dumps(types)
    types |= {
        name: varint_type(bits, zigzag=name != "uvarint")
        for name, bits in PACKED_NUMBERS.items()
        if f'"type": "{name}"' in text
    }
    return {"meta": meta, "seq": seq} | ({"types": types} if types else {})


def varint_type(bits: int, *, zigzag: bool) -> dict[str, Any]:
    """Return the type of a varint; zig-zag turns 0, 1, 2, 3 into 0, -1, 1, -2."""
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
        entry: dict[str, Any] = {"id": ident(name)}
        entry |= _body(scope, name, parts, before, types, path)
        if condition := _condition(scope, name, before):
            entry["if"] = condition
        seq.append(entry)
        if all(isinstance(part, FieldNode) and part.type in SCALARS for part in parts):
            before.append(name)
        before += _inner_numbers(name, parts)
    return seq


def _inner_numbers(name: str, parts: Sequence[Part]) -> list[str]:
    """Return the numbers that are in every occurrence of a group, with their paths from its parent."""
    inner = [part.parts for part in parts if isinstance(part, GroupNode)]
    names = dict.fromkeys(one for part in inner for one in part)
    return [f"{name}.{one}" for one in names if all(isinstance(_at(part, one), FieldNode) for part in inner)]


def _at(parts: Mapping[str, Part], name: str) -> FieldNode | None:
    part = parts.get(name)
    return part if isinstance(part, FieldNode) and part.type in SCALARS else None


def _body(
    scope: Scope, name: str, parts: Sequence[Part], before: Sequence[str], types: dict[str, Any], path: str
) -> dict[str, Any]:
    match parts[0]:
        case FieldNode(type=kind) if kind in SCALARS:
            return {"type": SCALARS[kind]}
        case FieldNode():
            return _sized(scope, name, before)
        case GroupNode():
            inner = tuple(
                (part, root, size) for struct, root, size in scope.rows
                if isinstance(part := struct.parts.get(name), GroupNode)
            )  # fmt: skip
        case ListNode():
            inner = tuple(
                (item, root, size) for struct, root, size in scope.rows
                if isinstance(many := struct.parts.get(name), ListNode) for item in many.items
            )  # fmt: skip
    here = f"{path}{name}_"
    types[ident(here.rstrip("_"))] = {"seq": _seq(Scope(inner), types, here)}
    entry = {"type": ident(here.rstrip("_"))}
    if isinstance(parts[0], GroupNode) and (sized := _size(scope, name, before)) and not sized[1]:
        entry["size"] = _value(scope, sized[0])
    if isinstance(parts[0], ListNode):
        by = _count(scope, name, before)
        entry |= {"repeat": "expr", "repeat-expr": _value(scope, by)} if by else {"repeat": "eos"}
    return entry


def _found(struct: GroupNode, name: str) -> Part | None:
    """Find a part of a group, or of a group in it."""
    head, _, rest = name.partition(".")
    part = struct.parts.get(head)
    return _found(part, rest) if rest and isinstance(part, GroupNode) else part


def _number(struct: GroupNode, name: str) -> int | None:
    part = _found(struct, name)
    return part.value if isinstance(part, FieldNode) and isinstance(part.value, int) else None


def _sized(scope: Scope, name: str, before: Sequence[str]) -> dict[str, Any]:
    by = _size(scope, name, before)
    if by is not None:
        return {"size": _value(scope, by[0]) + (f" - {by[1]}" if by[1] else "")}
    sizes = {part.end - part.start for part in scope.parts(name)}
    return {"size": sizes.pop()} if len(sizes) == 1 else {"size-eos": True}


def _size(scope: Scope, name: str, before: Sequence[str]) -> tuple[str, int] | None:
    """Return the earlier length of a field's bytes, and the number of those bytes that precede the field."""
    rows = [struct for struct, _, _ in scope.rows if name in struct.parts]
    for other in reversed(before):
        covers = [(part, struct.parts[name]) for struct in rows if (part := _found(struct, other))]
        gaps = {_gap(one, two) for one, two in covers}
        if len(covers) == len(rows) and len(gaps) == 1 and None not in gaps:
            (gap,) = gaps
            return (other, gap) if gap is not None else None
    return None


def _gap(length: Part, part: Part) -> int | None:
    """Return how many bytes a length counts beyond the field; None if it does not give the field's end."""
    if not isinstance(length, FieldNode) or not isinstance(length.value, int):
        return None
    gap = length.value - (part.end - part.start)
    if length.cover is None:
        return 0 if gap == 0 else None
    ends = length.cover.kind == "length" and length.cover.end == part.end
    return gap if ends and gap >= 0 else None


def _count(scope: Scope, name: str, before: Sequence[str]) -> str:
    """Return the earlier number that equals the number of items in every occurrence."""
    rows = [struct for struct, _, _ in scope.rows if name in struct.parts]
    for other in reversed(before):
        if all(_number(struct, other) == len(_items(struct.parts[name])) for struct in rows):
            return other
    return ""


def _items(part: Part) -> list[GroupNode]:
    return part.items if isinstance(part, ListNode) else []


def _value(scope: Scope, name: str) -> str:
    part = next(part for struct, _, _ in scope.rows if (part := _found(struct, name)))
    grouped = isinstance(part, FieldNode) and SCALARS[part.type] in PACKED_NUMBERS
    words = ".".join(map(ident, name.split(".")))
    return f"{words}.value" if grouped else words


# --- conditions of optional fields ---


def _condition(scope: Scope, name: str, before: Sequence[str]) -> str:
    """Return the condition that a field is present; empty if all occurrences have it."""
    rows = [(struct, size) for struct, _, size in scope.rows if name not in struct.parts]
    away = [struct for struct, size in rows if not _is_empty(scope, name, before, (struct, size))]
    if not away:
        return ""
    there = [struct for struct, _, _ in scope.rows if name in struct.parts]
    for other in reversed(before):
        for mask in MASKS:
            if text := _separating_condition(scope, there, away, (other, mask)):
                return text
    raise ValueError(f"{name}: no earlier number determines when it is present")


def _is_empty(scope: Scope, name: str, before: Sequence[str], row: tuple[GroupNode, int]) -> bool:
    """Return True if a field that is missing in an occurrence can also be read there as an empty field."""
    struct, size = row
    part = scope.parts(name)[0]
    if isinstance(part, ListNode) and (number := _count(scope, name, before)):
        return _number(struct, number) == 0
    if isinstance(part, FieldNode) and part.type not in SCALARS and (by := _size(scope, name, before)):
        return _number(struct, by[0]) == by[1]
    return not _room(scope, struct, name, size)


def _room(scope: Scope, struct: GroupNode, name: str, size: int) -> bool:
    """Return True if bytes are left at the place of a missing field; if not, it can be read as empty."""
    order = scope.order()
    above = [struct.parts[one] for one in order[: order.index(name)] if one in struct.parts]
    end = max((part.end for part in above), default=struct.start if struct.parts else 0)
    covers = [part.cover for part in above if isinstance(part, FieldNode) and part.cover is not None]
    return end != size and all(
        cover.kind != "length" or cover.end != end or cover.start == end for cover in covers
    )


def _separating_condition(
    scope: Scope, there: Sequence[GroupNode], away: Sequence[GroupNode], by: tuple[str, int]
) -> str:
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


def _masked(struct: GroupNode, name: str, mask: int) -> int | None:
    number = _number(struct, name)
    return None if number is None else number & mask


# --- text ---


def ident(name: str) -> str:
    """Convert a name to Kaitai's form: `baseOffset` becomes `base_offset`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("#", "n").replace("-", "_").lower()


def yaml(tree: Mapping[str, Any]) -> str:
    """Return the text of a specification."""
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


def specifications(
    cases: Sequence[Case], chosen: Container[str] = SPECIFIED_FORMATS
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each selected specification."""
    for format_id in (one for one in SPECIFIED_FORMATS if one in chosen):
        made = spec(format_id, cases)
        yield made["meta"]["id"], yaml(made)
