"""The fields of accepted cases as trees, from which layouts are made and with which they are checked.

A tree has the groups and lists that the paths of a trace name. Compressed data and protobuf stay bytes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS, TracedDecode
from wireproof.wire.trace import Cover, FieldSpan

SCALARS: Final = {
    "int8": "s1", "int16": "s2be", "int32": "s4be", "int64": "s8be", "uint32": "u4be", "uint16": "u2be",
    "uint8": "u1", "uint16le": "u2le", "uint32le": "u4le", "uint64le": "u8le",
    "varint": "varint", "varlong": "varlong", "uvarint": "uvarint",
}  # fmt: skip
"""Kaitai's name for each scalar type of a trace; every other type is bytes."""

AFTER_FRAME: Final = frozenset({"ignored", "garbage"})
"""Bytes that a reader skips after a frame; no layout contains them."""

PACKED: Final = "_packed"
"""Suffix of the name of a list whose items are compressed."""

FRAMED: Final = "heka.stream/0.10"

HEADER: Final = re.compile(r"(.*\])\.header\.(.*)")

STEP: Final = re.compile(r"([^.\[]+)(?:\[(\d+)\])?")


@define
class GroupNode:
    """One occurrence of a group of fields: its parts in their order."""

    parts: "dict[str, Part]" = field(factory=dict)

    @property
    def start(self) -> int:
        """Return the position of its first byte."""
        return min(part.start for part in self.parts.values())

    @property
    def end(self) -> int:
        """Return the position after its last byte."""
        return max(part.end for part in self.parts.values())


@define
class ListNode:
    """One occurrence of a list of groups."""

    items: list[GroupNode] = field(factory=list)

    @property
    def start(self) -> int:
        """Return the position of its first byte."""
        return self.items[0].start

    @property
    def end(self) -> int:
        """Return the position after its last byte."""
        return self.items[-1].end


@define
class FieldNode:
    """One occurrence of a field."""

    type: str
    start: int
    end: int
    value: Any
    cover: Cover | None


Part = GroupNode | ListNode | FieldNode


def wire_spans(layout: TracedDecode) -> list[FieldSpan]:
    """Return the spans of wire bytes in a layout, without those after the frame or in compressed data."""
    wire = [span for span in layout.spans if not span.space and span.type not in AFTER_FRAME]
    closed = [span for span in wire if span.type not in SCALARS]
    within = tuple(f"{span.path}{sign}" for span in closed for sign in ".[")
    found: dict[str, FieldSpan] = {}
    for span in wire:
        if not span.path.startswith(within):
            found.setdefault(span.path, span)
    return list(found.values())


def pattern(path: str) -> str:
    """Return a path without its indices."""
    return re.sub(r"\[\d+\]", "[]", path)


@frozen
class Shapes:
    """The shapes that the fields of a revision have in its traces.

    Attributes:
        lists: the patterns of lists; a compressed list is another field.
        leaves: the patterns of bytes; a field that has parts in some traces only is bytes in all.
    """

    lists: frozenset[str]
    leaves: frozenset[str]

    @classmethod
    def of(cls, traces: Iterable[Sequence[FieldSpan]]) -> "Shapes":
        """Return the shapes of traces."""
        spans = {(pattern(span.path), span.type) for trace in traces for span in trace}
        lists = {path[: sign.start()] for path, _ in spans for sign in re.finditer(r"\[\]", path)}
        leaves = {path for path, kind in spans if kind not in SCALARS and path not in lists}
        return cls(frozenset(lists), frozenset(leaves))

    def tree(self, spans: Iterable[FieldSpan]) -> GroupNode:
        """Arrange the fields of one trace in the groups and lists that their paths name."""
        root = GroupNode()
        for span in spans:
            here = root
            steps = STEP.findall(span.path)
            for name, index in steps[:-1]:
                here = _inner(here, name, index)
            name = steps[-1][0] + (PACKED if pattern(span.path) in self.lists else "")
            here.parts[name] = FieldNode(span.type, span.start, span.end, span.value, span.cover)
        self._closed(root, "")
        return root

    def _closed(self, struct: GroupNode, path: str) -> None:
        for name, part in struct.parts.items():
            where = f"{path}{name}"
            match part:
                case GroupNode() if where in self.leaves:
                    struct.parts[name] = FieldNode("bytes", part.start, part.end, None, None)
                case GroupNode():
                    self._closed(part, f"{where}.")
                case ListNode():
                    for item in part.items:
                        self._closed(item, f"{where}[].")


def _inner(here: GroupNode, name: str, index: str) -> GroupNode:
    if not index:
        inner = here.parts.setdefault(name, GroupNode())
        assert isinstance(inner, GroupNode), name
        return inner
    many = here.parts.setdefault(name, ListNode())
    assert isinstance(many, ListNode), name
    if int(index) == len(many.items):
        many.items.append(GroupNode())
    return many.items[int(index)]


def lengths_first(spans: Iterable[FieldSpan]) -> bool:
    """Return True if the first field of each header is the length of its message."""
    first: dict[str, str] = {}
    for head, inner in (HEADER.findall(span.path)[0] for span in spans if HEADER.match(span.path)):
        first.setdefault(head, inner)
    return set(first.values()) <= {"message_length.key"}


def framing_spans(spans: Iterable[FieldSpan]) -> list[FieldSpan]:
    """Return the framing without its protobuf: the header length, then header and message as bytes."""
    found: list[FieldSpan] = []
    ends: dict[str, int] = {}
    for span in (span for span in spans if not span.space):
        path, inner = span.path.partition("]")[0] + "]", span.path.partition("].")[2]
        if inner == "header_length" and span.cover:
            ends[path] = span.cover.end
        if inner == "header.message_length.key":
            found.append(evolve(span, path=f"{path}.header.message_length_key"))
        elif inner == "header.message_length" and span.cover:
            rest = FieldSpan(f"{path}.header.rest", "", span.end, ends[path], "bytes", None)
            message = FieldSpan(f"{path}.message", "", span.cover.start, span.cover.end, "bytes", None)
            found += [span, rest, message]
        elif not inner.startswith(("header.", "message")):
            found.append(span)
    return sorted(found, key=lambda span: (span.start, span.end))


def cases_of(format_id: str, cases: Iterable[Case]) -> list[Case]:
    """Return the cases from which a layout is derived and with which it is checked: accepted decodes.

    Of Heka's frames, only those whose header begins with the length of the message, as all its writers do.
    """
    mine = (case for case in cases if case.format_id == format_id and isinstance(case.input, Data))
    some = [case for case in mine if isinstance(case.expect, Accept) and frame_of(case)]
    return [case for case in some if format_id != FRAMED or lengths_first(layout_of(case).spans)]


def trace_of(case: Case) -> list[FieldSpan]:
    """Return the fields of a case that belong to its layout, without those of a cut tail."""
    layout, size = layout_of(case), len(frame_of(case))
    spans = framing_spans(layout.spans) if case.format_id == FRAMED else wire_spans(layout)
    return [span for span in spans if span.end <= size]


def frame_of(case: Case) -> bytes:
    """Return the bytes of the value of a case, without trailing bytes or a cut tail."""
    assert isinstance(case.input, Data)
    assert isinstance(case.expect, Accept)
    return case.input.data[: case.expect.consumed]


def has_trailing_bytes(case: Case) -> bool:
    """Return True if the reader skips bytes of the case, which are in no layout."""
    return any(span.type in AFTER_FRAME for span in layout_of(case).spans if not span.space)


def layout_of(case: Case) -> TracedDecode:
    """Return the trace of a case."""
    assert isinstance(case.input, Data)
    return formats.decode_with_trace(FORMATS[case.format_id], case.input.data, case.options)


def leaves(struct: GroupNode, path: str = "") -> Iterator[tuple[str, FieldNode]]:
    """Yield every field of a tree, with its path."""
    for name, part in struct.parts.items():
        match part:
            case FieldNode():
                yield f"{path}{name}", part
            case GroupNode():
                yield from leaves(part, f"{path}{name}.")
            case ListNode():
                for number, item in enumerate(part.items):
                    yield from leaves(item, f"{path}{name}[{number}].")
