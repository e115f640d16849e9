"""The trace of encoded bytes, with the queries that the mutators need.

`DecodeTrace` has the fields of the bytes, the content of compressed regions, and the ranges that lengths,
counts and checksums cover. Refused bytes have a trace up to the refusal.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, Self

from attrs import frozen

from wireproof.derive.edit_bytes import companions_of_lists, counts_of_lists, name_of
from wireproof.formats import Format, trace_with_reader
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.protobuf import FIXED64, LENGTH_DELIMITED, VARINT
from wireproof.wire.reader import FIXED_WIDTH, TracingReader
from wireproof.wire.rejection import RejectClass, Rejected
from wireproof.wire.trace import FieldSpan

VARINT_TYPES: Final = ("varint", "varlong", "uvarint")

INTEGER_TYPES: Final = frozenset((*FIXED_WIDTH, "uint128le", *VARINT_TYPES))
"""The types of spans that hold an integer."""

_PLACE: Final = re.compile(r"\[\d+\]")
_ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")


class SpaceKeepingReader(TracingReader):
    """A tracing reader that keeps the bytes of every space by name; the wire has the empty name."""

    __slots__ = ("spaces",)

    def __init__(self, data: bytes, **window: Any) -> None:  # noqa: ANN401 - the bounds of `Reader`
        super().__init__(data, **window)
        self.spaces: dict[str, bytes] = {"": data}

    def _child(self, data: bytes, pos: int, end: int, space: str, short: RejectClass) -> Self:
        child = super()._child(data, pos, end, space, short)
        child.spaces = self.spaces
        self.spaces[space] = data
        return child


@frozen
class Element:
    """An element of the list with the path `many`, or a field of a protobuf message: the bytes of a space."""

    many: str
    index: int
    space: str
    start: int
    end: int


@frozen
class EncodedField:
    """A protobuf field as it is encoded: its number and wire type, and its bytes with the key.

    Attributes:
        payload: the bytes after its key and its length.
        numbers: whether it was read as one or more numbers.
    """

    number: int
    wire: int
    space: str
    start: int
    end: int
    payload: bytes
    numbers: bool


@frozen(eq=False)
class DecodeTrace:
    """The trace of a decode.

    Attributes:
        spans: in the order of the decode.
        spaces: the bytes of each space.
        value: the decoded value; for refused bytes the part that was delivered before the refusal, or None.
        rejected: the refusal, or None.
    """

    row: Format
    data: bytes
    spans: tuple[FieldSpan, ...]
    spaces: Mapping[str, bytes]
    value: Any
    rejected: Rejected | None

    @cached_property
    def covering_spans(self) -> Mapping[str, tuple[FieldSpan, ...]]:
        """Return by space the spans that cover other bytes (lengths, counts, checksums), as on the wire."""
        found: dict[str, list[FieldSpan]] = {space: [] for space in self.spaces}
        for span in self.spans:
            if span.cover is not None and span.space in found:
                here = FieldSpan(span.path, "", span.start, span.end, span.type, span.value, span.cover)
                found[span.space].append(here)
        return {space: tuple(spans) for space, spans in found.items()}

    @cached_property
    def integers(self) -> tuple[FieldSpan, ...]:
        return tuple(span for span in self.spans if span.type in INTEGER_TYPES)

    @cached_property
    def numbers(self) -> tuple[tuple[FieldSpan, ...], ...]:
        """Return the integers that are not 0, grouped by path without indices; none for protobuf."""
        groups: dict[str, list[FieldSpan]] = {}
        for span in () if self.fields else self.integers:
            if span.value:
                groups.setdefault(_PLACE.sub("", span.path), []).append(span)
        return tuple(map(tuple, groups.values()))

    @cached_property
    def varints(self) -> tuple[FieldSpan, ...]:
        """Return the integers of variable size; none for protobuf, whose fields are re-encoded as a whole."""
        return () if self.fields else tuple(span for span in self.integers if span.type in VARINT_TYPES)

    @cached_property
    def lengths(self) -> tuple[FieldSpan, ...]:
        """Return the lengths that cover bytes after them that are present and not empty."""
        return tuple(
            span
            for span in self.integers
            if span.cover is not None
            and span.cover.kind == "length"
            and span.end <= span.cover.start < span.cover.end <= len(self.spaces[span.space])
        )

    @cached_property
    def octets(self) -> tuple[FieldSpan, ...]:
        return tuple(span for span in self.spans if span.type == "bytes")

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """Return the elements of all lists in the order of their first fields, each to its last field.

        The fields of a protobuf message are elements of the list `<scope>#`.
        """
        bounds: dict[tuple[str, str, int], list[int]] = {}
        numbered: Counter[str] = Counter()
        for at, span in enumerate(self.spans):
            path = span.path
            while match := _ELEMENT.search(path):
                path = match[1]
                bound = bounds.setdefault((span.space, path, int(match[2])), [span.start, span.end])
                bound[1] = max(bound[1], span.end)
            scope, _, name = span.path.rpartition(".")
            if name == "key" and span.type == "uvarint":
                fields = f"{scope.rpartition('.')[0]}#"
                end = _payload_end(self.spans, at)
                bounds[span.space, fields, numbered[fields]] = [span.start, end]
                numbered[fields] += 1
        return tuple(Element(many, index, space, *bound) for (space, many, index), bound in bounds.items())

    @cached_property
    def fields(self) -> tuple[EncodedField, ...]:
        """Return the fields of all protobuf messages, without groups and fixed 32-bit fields.

        Of each the payload, with the first span behind the key, was read.
        """
        found = []
        for at, key in enumerate(self.spans[:-1]):
            body = self.spans[at + 1]
            if not key.path.endswith(".key") or key.type != "uvarint" or body.start != key.end:
                continue
            number, wire = divmod(int(key.value), 8)
            if wire in (VARINT, FIXED64):
                start, end = body.start, body.end
            elif wire == LENGTH_DELIMITED and body.cover is not None and body.cover.kind == "length":
                start, end = body.cover.start, body.cover.end
            else:
                continue
            data = self.spaces[key.space]
            if end > len(data):
                continue
            # A payload that begins with a varint or a double is a packed array.
            numbers = wire != LENGTH_DELIMITED or any(
                span.start == start and span.end <= end and not span.path.endswith(".key")
                and (span.type == "uvarint" or span.end - start == 8)
                for span in self.spans[at + 2 : at + 3]
            )  # fmt: skip
            found.append(EncodedField(number, wire, key.space, key.start, end, data[start:end], numbers))
        return tuple(found)

    @cached_property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of all lists with elements, grouped by path without indices."""
        groups: dict[str, dict[str, None]] = {}
        for element in self.elements:
            groups.setdefault(_PLACE.sub("", element.many), {})[element.many] = None
        return tuple(map(tuple, groups.values()))

    @cached_property
    def several(self) -> tuple[tuple[str, ...], ...]:
        """Return the lists with more than one element, grouped as in `lists`."""
        more = {element.many for element in self.elements if element.index}
        groups = (tuple(path for path in group if path in more) for group in self.lists)
        return tuple(group for group in groups if group)

    def counts(self, many: str) -> tuple[FieldSpan, ...]:
        """Return the counts of the list `many`: those in its scope, and those that cover all its elements.

        A count in its scope without a cover, because bytes after it were refused, is declared by the layout.
        """
        scope, _, name = many.rpartition(".")
        elements = [element for element in self.elements if element.many == many]
        declared = counts_of_lists(self.row.layout).get(name, frozenset())

        def counts_them(span: FieldSpan) -> bool:
            cover = span.cover if span.cover is not None and span.cover.kind == "count" else None
            is_number = span.value == len(elements)
            if span.path.rpartition(".")[0] == scope:
                return cover is not None or (is_number and name_of(span) in declared)
            return cover is not None and is_number and all(
                one.space == span.space and cover.start <= one.start and one.end <= cover.end
                for one in elements
            )  # fmt: skip

        return tuple(filter(counts_them, self.integers))

    def companions(self, one: Element) -> tuple[Element, ...]:
        """Return the elements with the same index in the lists that have one for each, such as an index."""
        scope, dot, name = one.many.rpartition(".")
        lists = {f"{scope}{dot}{like}" for like in companions_of_lists(self.row.layout).get(name, ())}
        same = (one.space, one.index)
        return tuple(
            other for other in self.elements if other.many in lists and (other.space, other.index) == same
        )


@lru_cache(maxsize=512)  # a fuzzing campaign mutates the same few inputs many times
def cached_trace(fmt: Format, data: bytes) -> DecodeTrace:
    """Return the cached trace of `data` in a format. Raise nothing."""
    return trace_of(fmt, data)


def trace_of(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> DecodeTrace:
    """Return the trace of bytes that are needed once, such as a mutation. Raise nothing."""
    reader = SpaceKeepingReader(data)
    traced = trace_with_reader(fmt, reader, options)
    return DecodeTrace(fmt, data, traced.spans, reader.spaces, traced.value, traced.rejected)


def _payload_end(spans: tuple[FieldSpan, ...], at: int) -> int:
    """Return the end of the protobuf field whose key is the span with index `at`."""
    end = spans[at].end
    for span in spans[at + 1 : at + 3]:
        if span.start != end:
            break
        if span.cover is not None and span.cover.kind == "length" and span.path.endswith(".length"):
            return span.cover.end
        end = span.end
        break
    return end
