"""Edits of fields where they stand on the wire, by the trace: what no encoder would write."""

from collections.abc import Sequence
from random import Random
from typing import Final

from wireproof.cases.damage import encoded
from wireproof.cases.mutate.draft import Splice
from wireproof.cases.mutate.draws import below, early, pick
from wireproof.cases.mutate.numbers import integer, octets
from wireproof.cases.mutate.parsed import INTEGERS, Element, Parsed
from wireproof.cases.mutate.respelled import respelled
from wireproof.wire.trace import Span

BEYOND: Final = (1 << 8, 1 << 16, 1 << 32)
"""The same length to a reader that keeps so few bits of it."""

WIDEST: Final = (5, 6, 6, 10, 11)
"""Bytes that a varint of 32 bits has at most, and one of 64, and one more than these: kafka.md §4."""

CODES: Final = 32
"""Of kinds, states and flags, most formats know fewer."""


def edit(parent: Parsed, rng: Random) -> list[Splice]:
    """The splices of one edit of a field or element; none where the trace has no field."""
    held = (
        parent.integers,
        parent.numbers,
        parent.octets,
        parent.elements,
        parent.elements,
        parent.lengths,
        parent.varints,
    )
    kinds = [kind for kind, some in zip(KINDS, held, strict=True) if some]
    return pick(rng, kinds)(parent, rng) if kinds else []


def number(parent: Parsed, rng: Random) -> list[Splice]:
    """An integer at an edge of its type or of the structure."""
    speaking = [span for span in parent.integers if span.cover is not None]
    span = early(rng, speaking if speaking and not below(rng, 4) else parent.integers)
    if span.cover is not None and not below(rng, 6):
        new = encoded(span, _standing_still(parent, span))
        if new is not None:
            return [Splice(span.space, span.start, span.end, new, span.path)]
    left = len(parent.spaces[span.space]) - span.end
    for _ in range(3):
        new = encoded(span, _other(span, rng, left))
        if new is not None:
            return [Splice(span.space, span.start, span.end, new, span.path)]
    return [Splice(span.space, span.start, span.end, rng.randbytes(span.end - span.start), span.path)]


def unset(parent: Parsed, rng: Random) -> list[Splice]:
    """A number at 0, as in a field that nobody set: by its name first, that many records hide no other."""
    span = pick(rng, pick(rng, parent.numbers))
    new = encoded(span, 0)
    return [] if new is None else [Splice(span.space, span.start, span.end, new, span.path)]


def longer(parent: Parsed, rng: Random) -> list[Splice]:
    """A varint in more bytes: one or a few more, all that its type has, or one more than that."""
    span = early(rng, parent.varints)
    old = parent.spaces[span.space][span.start : span.end]
    size = pick(rng, WIDEST) if below(rng, 3) else len(old) + pick(rng, (1, 2, 3))
    last = pick(rng, (b"\0", b"\0", b"\0", b"\1"))
    new = old[:-1] + bytes([old[-1] | 0x80]) + b"\x80" * (size - len(old) - 1) + last
    return [Splice(span.space, span.start, span.end, new, span.path)]


def _standing_still(parent: Parsed, span: Span) -> int:
    """The length that leads a reader back to where its element begins, for ever."""
    assert span.cover is not None
    around = (one for one in parent.elements if one.space == span.space)
    starts = [one.start for one in around if one.start <= span.start < one.end]
    return max(starts, default=0) - span.cover.start


def _other(span: Span, rng: Random, left: int) -> int:
    """A length or count is mostly wrong by little; any other number is anything."""
    if span.cover is not None and below(rng, 2):
        return int(span.value) + pick(rng, (-1, 1, -int(span.value), -int(span.value) - 1, pick(rng, BEYOND)))
    if span.path.endswith(".key") and below(rng, 2):  # another field of the same wire type
        return (1 + below(rng, 15)) << 3 | int(span.value) & 7
    if span.type == "uint8" and below(rng, 2):  # mostly a code out of few
        return below(rng, CODES)
    return integer(rng, int(span.value), left)


def text(parent: Parsed, rng: Random) -> list[Splice]:
    """Other bytes in a field; the lengths that speak of it follow."""
    span = pick(rng, parent.octets)
    old = parent.spaces[span.space][span.start : span.end]
    return [Splice(span.space, span.start, span.end, octets(rng, old))]


def hollow(parent: Parsed, rng: Random) -> list[Splice]:
    """Nothing, or little, where a length speaks of something; the length follows."""
    span = pick(rng, parent.lengths)
    assert span.cover is not None
    start, end = span.cover.start, span.cover.end
    kept = start if below(rng, 2) else start + below(rng, end - start)
    return [Splice(span.space, kept, end, b"")]


def element(parent: Parsed, rng: Random) -> list[Splice]:
    """An element taken out, put in twice, or changed for another one; mostly its count follows."""
    move = below(rng, 8)
    if move > 4 or (move == 4 and parent.fields):
        return _swapped(parent, rng)
    many = _list(parent, rng, parent.lists)
    found = [one for one in parent.elements if one.many == many]
    if move == 4:
        return without(parent, found)
    one = pick(rng, found)
    times = 2 * (move % 2)
    new = parent.spaces[one.space][one.start : one.end] * times
    return [Splice(one.space, one.start, one.end, new), *_counted(parent, one, rng, times)]


def _list(parent: Parsed, rng: Random, lists: Sequence[Sequence[str]]) -> str:
    """One of the lists by its name; protobuf's readers lean most on the order of the outer ones."""
    evenly = not parent.fields and below(rng, 2)
    return pick(rng, pick(rng, lists) if evenly else early(rng, lists))


def _swapped(parent: Parsed, rng: Random) -> list[Splice]:
    """Two elements of a list that has so many, each in the place of the other."""
    many = _list(parent, rng, parent.several or parent.lists)
    found = [one for one in parent.elements if one.many == many]
    one = found[0] if below(rng, 2) else pick(rng, found)  # what comes first is what readers rely on
    same = [other for other in found if other.space == one.space]
    other = pick(rng, [each for each in same if each != one] or same)
    data = parent.spaces[one.space]
    return [
        Splice(one.space, one.start, one.end, data[other.start : other.end]),
        Splice(one.space, other.start, other.end, data[one.start : one.end]),
    ]


KINDS: Final = (number, unset, text, element, element, hollow, longer)
"""What is edited, in the order in which `edit` asks whether there is such."""


def respelling(parent: Parsed, rng: Random) -> list[Splice]:
    """A protobuf field in another spelling; the lengths around it follow."""
    numbers = [one for one in parent.fields if one.numbers]
    some = numbers if numbers and below(rng, 4) else parent.fields
    return [respelled(early(rng, some), rng) for _ in range(pick(rng, (1, 1, 2)))]


def _counted(parent: Parsed, one: Element, rng: Random, times: int) -> list[Splice]:
    return accompanied(parent, one, times) if below(rng, 8) else []


def accompanied(parent: Parsed, one: Element, times: int) -> list[Splice]:
    """The splices by which counts and companions follow an element that is gone, or stands there twice."""
    if not times:
        return without(parent, [one])[1:]
    made = recounted(parent, one.many, times - 1)
    for other in parent.companions(one):
        # A copy stands in front, as it was, for it speaks of the first of the two. With it goes the first
        # field behind it, so that no length that ends where the companion begins takes the copy for its own.
        data, end = parent.spaces[other.space], _first_end(parent, other)
        copied = data[other.start : other.end] + data[other.start : end]
        made.append(Splice(other.space, other.start, end, copied))
    return made


def _first_end(parent: Parsed, one: Element) -> int:
    """Where the first field of an element ends."""
    return next(span.end for span in parent.spans if (span.space, span.start) == (one.space, one.start))


def without(parent: Parsed, gone: Sequence[Element]) -> list[Splice]:
    """The splices that take elements of one list away, and with them their companions; counts follow."""
    beside = (other for one in gone for other in parent.companions(one))
    taken = [Splice(one.space, one.start, one.end, b"") for one in (*gone, *beside)]
    return [*taken, *recounted(parent, gone[0].many, -len(gone))]


def recounted(parent: Parsed, many: str, step: int) -> list[Splice]:
    """The splices that make the counts of a list follow, `step` elements having come or gone."""
    made: list[Splice] = []
    for span in parent.counts(many):
        new = encoded(span, int(span.value) + step) if span.type in INTEGERS else None
        if new is not None:
            made.append(Splice(span.space, span.start, span.end, new))
    return made


def count(parent: Parsed, rng: Random) -> list[Splice]:
    """A wrong count."""
    counts = [span for span in parent.integers if _counts(span)]
    if not counts:
        return number(parent, rng) if parent.integers else []
    span = pick(rng, counts)
    new = encoded(span, int(span.value) + pick(rng, (-1, 1, 2, -int(span.value) - 1, 1 << 20)))
    return [] if new is None else [Splice(span.space, span.start, span.end, new, span.path)]


def _counts(span: Span) -> bool:
    return (span.cover is not None and span.cover.kind == "count") or span.path.lower().endswith("count")
