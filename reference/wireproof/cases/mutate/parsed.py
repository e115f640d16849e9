"""What the mutators know of some bytes: their trace, what was unpacked, and what speaks of what.

Design, section 2, "The layout trace". Bytes that are refused have a trace too, as far as they were read.
"""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from typing import Any, Final, Self

from attrs import evolve, frozen

from wireproof.formats import Format
from wireproof.wire.classes import RejectClass
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.protobuf import LENGTH
from wireproof.wire.reader import FIXED, TracingReader
from wireproof.wire.rejected import Rejected
from wireproof.wire.trace import Cover, Span

VARINTS: Final = ("varint", "varlong", "uvarint")

INTEGERS: Final = frozenset((*FIXED, "uint128le", *VARINTS))
"""Types of a span that hold an integer."""

KEPT: Final = 512
"""Parents whose traces are remembered; a campaign mutates few and often."""

_PLACE: Final = re.compile(r"\[\d+\]")
_ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")


class KeepingReader(TracingReader):
    """A tracing reader that keeps what was unpacked, by the name of its space; the wire is the empty one."""

    __slots__ = ("spaces",)

    def __init__(self, data: bytes, **window: Any) -> None:  # noqa: ANN401 - the bounds of `Reader`
        """Open a window as `Reader` does."""
        super().__init__(data, **window)
        self.spaces: dict[str, bytes] = {"": data}

    def _child(self, data: bytes, pos: int, end: int, space: str, short: RejectClass) -> Self:
        child = super()._child(data, pos, end, space, short)
        child.spaces = self.spaces
        self.spaces[space] = data
        return child


@frozen
class Element:
    """An element of a list, or a field of a protobuf message: its list, its place in it, its bytes."""

    many: str
    index: int
    space: str
    start: int
    end: int


@frozen
class Spelled:
    """A protobuf field as it stands.

    Attributes:
        number, wire: what its key says.
        space, start, end: where it stands, with its key.
        payload: what lies behind its key, and behind its length if it has one.
        numbers: whether it was read as one number or more.
    """

    number: int
    wire: int
    space: str
    start: int
    end: int
    payload: bytes
    numbers: bool


@frozen(eq=False)
class Parsed:
    """The trace of some bytes.

    Attributes:
        row, data: what was read as what.
        spans: in the order in which they were read; lengths that the codec does not tell are inferred.
        spaces: the bytes of each space.
        value: what they stand for; of refused bytes what was delivered before, or None.
        rejected: why they are refused; None if they are not.
    """

    row: Format
    data: bytes
    spans: tuple[Span, ...]
    spaces: Mapping[str, bytes]
    value: Any
    rejected: Rejected | None

    def within(self, space: str) -> tuple[Span, ...]:
        """The spans of one space, as if it were the wire."""
        return tuple(_here(span) for span in self.spans if span.space == space)

    @cached_property
    def speaking(self) -> Mapping[str, tuple[Span, ...]]:
        """By space, the spans that speak of other bytes, as `within` gives them."""
        return {
            space: tuple(span for span in self.within(space) if span.cover is not None)
            for space in self.spaces
        }

    @cached_property
    def summing(self) -> Mapping[str, tuple[Span, ...]]:
        """Those of `speaking` that are no lengths."""
        return {
            space: tuple(span for span in spans if span.cover is None or span.cover.kind != "length")
            for space, spans in self.speaking.items()
        }

    @cached_property
    def integers(self) -> tuple[Span, ...]:
        """The spans that hold an integer."""
        return tuple(span for span in self.spans if span.type in INTEGERS)

    @cached_property
    def numbers(self) -> tuple[tuple[Span, ...], ...]:
        """Those that are not 0, together whose paths differ by places alone; none of protobuf's."""
        found: dict[str, list[Span]] = {}
        for span in () if self.fields else self.integers:
            if span.value:
                found.setdefault(_PLACE.sub("", span.path), []).append(span)
        return tuple(map(tuple, found.values()))

    @cached_property
    def varints(self) -> tuple[Span, ...]:
        """Those whose number of bytes is not that of their type; protobuf's are spelled by their fields."""
        return () if self.fields else tuple(span for span in self.integers if span.type in VARINTS)

    @cached_property
    def lengths(self) -> tuple[Span, ...]:
        """The lengths of bytes that are there."""
        return tuple(
            span
            for span in self.integers
            if span.cover is not None
            and span.cover.kind == "length"
            and span.end <= span.cover.start < span.cover.end <= len(self.spaces[span.space])
        )

    @cached_property
    def octets(self) -> tuple[Span, ...]:
        """The spans that hold bytes."""
        return tuple(span for span in self.spans if span.type == "bytes")

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """Every element of every list, from its first field on to its last."""
        return tuple(_elements(self.spans))

    @cached_property
    def fields(self) -> tuple[Spelled, ...]:
        """The fields of every protobuf message, but for groups and 32 fixed bits."""
        return tuple(_fields(self.spans, self.spaces))

    @cached_property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """The lists that the elements are of, those together whose paths differ by places alone."""
        found: dict[str, dict[str, None]] = {}
        for element in self.elements:
            found.setdefault(_PLACE.sub("", element.many), {})[element.many] = None
        return tuple(map(tuple, found.values()))

    @cached_property
    def several(self) -> tuple[tuple[str, ...], ...]:
        """Those of `lists` that have more elements than one."""
        more = {element.many for element in self.elements if element.index}
        found = (tuple(many for many in group if many in more) for group in self.lists)
        return tuple(group for group in found if group)

    def counts(self, many: str) -> tuple[Span, ...]:
        """The spans that count the elements of the list `many`: in its scope, or around all of them."""
        scope, _, name = many.rpartition(".")
        held = [element for element in self.elements if element.many == many]
        called = f"{name.rstrip('s').lower()}count"
        return tuple(
            one
            for one in self.integers
            if (
                _counts(one) or (one.path.lower().endswith(called) and one.value == len(held))
                if one.path.rpartition(".")[0] == scope
                else one.value == len(held) and _counts_these(one, held)
            )
        )

    def companions(self, one: Element) -> tuple[Element, ...]:
        """The elements at its place of the lists that one field counts together with its own: its index.

        Such a list stands in front of all the elements, and has as many of its own.
        """
        scope = one.many.rpartition(".")[0]
        own = [each for each in self.elements if each.many == one.many]
        first = min(each.start for each in own)
        beside: dict[str, list[Element]] = {}
        for other in self.elements:
            if other.many != one.many and other.many.rpartition(".")[0] == scope and other.space == one.space:
                beside.setdefault(other.many, []).append(other)
        counts = set(self.counts(one.many)) if beside else set()
        return tuple(
            list_[one.index]
            for many, list_ in beside.items()
            if len(list_) == len(own) and list_[-1].end <= first and counts & set(self.counts(many))
        )


def _counts(span: Span) -> bool:
    return span.cover is not None and span.cover.kind == "count"


def _counts_these(span: Span, held: list[Element]) -> bool:
    """Whether a count is told to speak of bytes in which all of the elements lie."""
    cover = span.cover
    if cover is None or cover.kind != "count":
        return False
    return all(
        (one.space, cover.start <= one.start, one.end <= cover.end) == (span.space, True, True)
        for one in held
    )


def _here(span: Span) -> Span:
    """The span as if its space were the wire."""
    return (
        Span(span.path, "", span.start, span.end, span.type, span.value, span.cover) if span.space else span
    )


@lru_cache(maxsize=KEPT)
def parsed(row: Format, data: bytes) -> Parsed:
    """The trace of `data` as a `row`, remembered; it raises nothing."""
    return read(row, data)


def read(row: Format, data: bytes, options: Options = DEFAULT) -> Parsed:
    """The trace of bytes that are seen once, such as a child's; it raises nothing."""
    reader = KeepingReader(data)
    value: Any = None
    refused: Rejected | None = None
    try:
        value = row.decode(reader, options)
    except Rejected as rejected:
        value, refused = rejected.before, rejected
    return Parsed(row, data, _inferred(reader.spans), reader.spaces, value, refused)


# --- what the trace does not say ---


def _inferred(spans: list[Span]) -> tuple[Span, ...]:
    """The spans, each length that its codec does not declare with the bytes that it measures.

    An integer in front of as many bytes as it says is their length; one called length that says how far it
    is to the end of its own scope is the length of that. So lie the records of Kafka, whose reader tells
    no lengths because it is the hot loop.
    """
    ends: dict[tuple[str, str], int] = {}
    runs: set[tuple[str, int, int]] = set()
    for span in spans:
        if span.type not in INTEGERS:
            runs.add((span.space, span.start, span.end))
        path = span.path
        while path:
            path = path.rpartition(".")[0]
            ends[span.space, path] = max(ends.get((span.space, path), 0), span.end)
    return tuple(
        span if span.cover is not None or span.type not in INTEGERS else _with_cover(span, runs, ends)
        for span in spans
    )


def _with_cover(
    span: Span, runs: AbstractSet[tuple[str, int, int]], ends: Mapping[tuple[str, str], int]
) -> Span:
    """The integer, if it is called a length, with what is as long: what stands behind it, or its scope."""
    scope, _, name = span.path.rpartition(".")
    if not name.lower().endswith("length"):
        return span
    stop = span.end + int(span.value)
    own = name == "length" and ends.get((span.space, scope)) == stop
    if own or (span.space, span.end, stop) in runs:
        return evolve(span, cover=Cover("length", span.end, stop))
    return span


def _elements(spans: tuple[Span, ...]) -> Iterator[Element]:
    """In the order of their first fields; the fields of a protobuf message are elements of `<scope>#`."""
    bounds: dict[tuple[str, str, int], list[int]] = {}
    numbered: dict[str, int] = {}
    for at, span in enumerate(spans):
        path = span.path
        while match := _ELEMENT.search(path):
            path = match[1]
            place = bounds.setdefault((span.space, path, int(match[2])), [span.start, span.end])
            place[1] = max(place[1], span.end)
        scope, _, name = span.path.rpartition(".")
        if name == "key" and span.type == "uvarint":
            outer = scope.rpartition(".")[0]
            many = f"{outer}#"
            numbered[many] = numbered.get(many, -1) + 1
            bounds[span.space, many, numbered[many]] = [span.start, _payload_end(spans, at)]
    for (space, many, index), (start, end) in bounds.items():
        yield Element(many, index, space, start, end)


def _payload_end(spans: tuple[Span, ...], at: int) -> int:
    """Where the protobuf field ends whose key is the span `at`."""
    end = spans[at].end
    for span in spans[at + 1 : at + 3]:
        if span.start != end:
            break
        if span.cover is not None and span.cover.kind == "length" and span.path.endswith(".length"):
            return span.cover.end
        end = span.end
        break
    return end


def _fields(spans: tuple[Span, ...], spaces: Mapping[str, bytes]) -> Iterator[Spelled]:
    for at, key in enumerate(spans[:-1]):
        body = spans[at + 1]
        if not key.path.endswith(".key") or key.type != "uvarint" or body.start != key.end:
            continue
        bounds, data = _bounds(int(key.value) & 7, body), spaces[key.space]
        if bounds is not None and bounds[1] <= len(data):
            number, wire = divmod(int(key.value), 8)
            numbers = wire != LENGTH or _packed(spans[at + 2 : at + 3], *bounds)
            payload = data[slice(*bounds)]
            yield Spelled(number, wire, key.space, key.start, bounds[1], payload, numbers)


def _packed(inner: tuple[Span, ...], start: int, end: int) -> bool:
    """Whether what lies in a payload begins with a varint or a double that fills it not, or just."""
    return any(
        one.start == start and one.end <= end and not one.path.endswith(".key")
        and (one.type == "uvarint" or one.end - start == 8)
        for one in inner
    )  # fmt: skip


def _bounds(wire: int, body: Span) -> tuple[int, int] | None:
    """Where the payload lies of a field of a wire type, of which `body` is the first span."""
    match wire:
        case 0 | 1:
            return body.start, body.end
        case 2 if body.cover is not None and body.cover.kind == "length":
            return body.cover.start, body.cover.end
    return None
