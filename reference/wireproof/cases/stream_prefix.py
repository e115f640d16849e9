"""The ends of the frames of an accepted stream, and so the value of any prefix of it.

A truncated log keeps its prefix. The ends come from the layout trace; nothing is decoded again, so that the
reference can be checked against the result.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.case import Accept
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Remark
from wireproof.wire.trace import FieldSpan

ELEMENT: Final = re.compile(r"([^.\[]+)\[([0-9]+)\]")
"""The beginning of a path inside an element of a list: `batches[3].crc`."""


@frozen
class StreamFrames:
    """The frames of a stream.

    Attributes:
        name: the list that holds them in the value.
        values: of each, in JSON form.
        ends: one past the last byte of each.
        remarks: the remark classes of each.
    """

    name: str
    values: Sequence[Json]
    ends: Sequence[int]
    remarks: Sequence[frozenset[str]]

    def within(self, stop: int) -> Accept:
        """Return the expectation for the first `stop` bytes: the frames that end there or before."""
        whole = bisect_right(self.ends, stop)
        seen = sorted(frozenset[str]().union(*self.remarks[:whole]))
        consumed = self.ends[whole - 1] if whole else 0
        return Accept({self.name: [*self.values[:whole]]}, consumed, tuple(seen))


def stream_frames(
    accept: Accept, spans: Iterable[FieldSpan], remarks: Iterable[Remark]
) -> StreamFrames | None:
    """Return the frames of an accepted decode of a stream.

    None if its value is no single list, or if the trace does not show an end for each of its elements, the
    last of them being `consumed`.
    """
    match accept.value:
        case dict(value) if len(value) == 1 and isinstance(next(iter(value.values())), list):
            ((name, rows),) = value.items()
        case _:
            return None
    assert isinstance(rows, list)
    ends = _ends(name, spans)
    if sorted(ends) != [*range(len(rows))] or (rows and ends[len(rows) - 1] != accept.consumed):
        return None
    seen: list[set[str]] = [set() for _ in rows]
    for remark in remarks:
        if (at := _element(name, remark.path)) is not None and at < len(rows):
            seen[at].add(remark.cls)
    return StreamFrames(name, rows, [ends[at] for at in range(len(rows))], [frozenset(one) for one in seen])


def _ends(name: str, spans: Iterable[FieldSpan]) -> dict[int, int]:
    """Return the end of each element: of its fields, and of the bytes that its lengths cover."""
    ends: dict[int, int] = {}
    for span in spans:
        at = None if span.space else _element(name, span.path)
        if at is not None:
            reach = span.cover.end if span.cover is not None and span.cover.kind == "length" else 0
            ends[at] = max(ends.get(at, 0), span.end, reach)
    return ends


def _element(name: str, path: str) -> int | None:
    head = ELEMENT.match(path)
    return int(head[2]) if head is not None and head[1] == name else None
