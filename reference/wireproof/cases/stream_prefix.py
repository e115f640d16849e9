"""The ends of the frames of an accepted stream, and so the value of any prefix of it.

A truncated log keeps its prefix. The ends come from the layout trace; nothing is decoded again, so that the
reference can be checked against the result.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from wireproof.cases.case import Accept
from wireproof.formats import FAMILIES
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Remark
from wireproof.wire.trace import FieldSpan


def stream_value(form: str, name: str, frames: Sequence[Json], *, ended: bool = True) -> Json:
    """Return the value of a stream with these frames; if not `ended`, without fields derived from them."""
    return {name: [*frames], **_derived_fields(form)(frames if ended else ())}


def _derived_fields(form: str) -> Callable[[Sequence[Json]], dict[str, Json]]:
    family = FAMILIES.get(form.partition(".")[0])
    return (family.derived_fields if family is not None else {}).get(form, lambda _: {})


@frozen
class StreamFrames:
    """The frames of a stream: the list `name` of its format `form` in the value.

    Of each there are the value in JSON form, one past its last byte, and its remark classes.
    """

    form: str
    name: str
    values: Sequence[Json]
    ends: Sequence[int]
    remarks: Sequence[frozenset[str]]

    def within(self, stop: int) -> Accept:
        """Return the expectation for the first `stop` bytes: the frames that end there or before."""
        whole = bisect_right(self.ends, stop)
        seen = sorted(frozenset[str]().union(*self.remarks[:whole]))
        consumed = self.ends[whole - 1] if whole else 0
        return Accept(stream_value(self.form, self.name, self.values[:whole]), consumed, tuple(seen))


def stream_frames(
    form: str, accept: Accept, spans: Iterable[FieldSpan], remarks: Iterable[Remark]
) -> StreamFrames | None:
    """Return the frames of an accepted decode of the stream format `form`.

    None if its value is not one list with derived fields, or if the trace does not show an end for each of
    its elements, the last of them being `consumed`.
    """
    value, derived = accept.value, _derived_fields(form)(()).keys()
    if not isinstance(value, dict) or not value.keys() >= derived:
        return None
    match [(name, part) for name, part in value.items() if name not in derived]:
        case [(name, [*rows])]:
            pass
        case _:
            return None
    ends = _ends(name, spans)
    if sorted(ends) != [*range(len(rows))] or (rows and ends[len(rows) - 1] != accept.consumed):
        return None
    seen: list[set[str]] = [set() for _ in rows]
    for remark in remarks:
        if (at := _element(name, remark.path)) is not None and at < len(rows):
            seen[at].add(remark.cls)
    classes = [frozenset(names) for names in seen]
    return StreamFrames(form, name, rows, [ends[at] for at in range(len(rows))], classes)


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
    """Return the place of an element of the list, from a path inside it such as `batches[3].crc`."""
    head = re.match(r"([^.\[]+)\[([0-9]+)\]", path)
    return int(head[2]) if head is not None and head[1] == name else None
