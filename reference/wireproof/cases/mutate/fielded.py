"""Mutations of fields on the wire, found by the trace: they make bytes that no encoder writes."""

from collections.abc import Sequence
from random import Random
from typing import Final

from wireproof.cases.damage import encoded
from wireproof.cases.mutate.draft import Splice
from wireproof.cases.mutate.draws import below, early, pick
from wireproof.cases.mutate.numbers import integer, octets
from wireproof.cases.mutate.parsed import INTEGERS, Element, Parsed
from wireproof.cases.mutate.respelled import respelled
from wireproof.wire.trace import FieldSpan

BEYOND: Final = (1 << 8, 1 << 16, 1 << 32)
"""Numbers that do not change a length for a reader that keeps only 8, 16 or 32 bits."""

WIDEST: Final = (5, 6, 6, 10, 11)
"""The largest sizes of varints of 32 and 64 bits, and one byte more: kafka.md §4."""

CODES: Final = 32
"""The upper limit for drawn codes of kinds, states and flags; most formats define fewer."""


def edit(parent: Parsed, rng: Random) -> list[Splice]:
    """Return the splices of one edit of a field or list element; none if the trace has no fields."""
    targets = (
        parent.integers,
        parent.numbers,
        parent.octets,
        parent.elements,
        parent.elements,
        parent.lengths,
        parent.varints,
    )
    kinds = [kind for kind, found in zip(KINDS, targets, strict=True) if found]
    return pick(rng, kinds)(parent, rng) if kinds else []


def number(parent: Parsed, rng: Random) -> list[Splice]:
    """Replace an integer by a boundary value of its type or of the structure."""
    covering = [span for span in parent.integers if span.cover is not None]
    span = early(rng, covering if covering and not below(rng, 4) else parent.integers)
    if span.cover is not None and not below(rng, 6):
        new = encoded(span, _looping_length(parent, span))
        if new is not None:
            return [Splice(span.space, span.start, span.end, new, span.path)]
    remaining = len(parent.spaces[span.space]) - span.end
    for _ in range(3):
        new = encoded(span, _other_number(span, rng, remaining))
        if new is not None:
            return [Splice(span.space, span.start, span.end, new, span.path)]
    return [Splice(span.space, span.start, span.end, rng.randbytes(span.end - span.start), span.path)]


def unset(parent: Parsed, rng: Random) -> list[Splice]:
    """Set a number to 0, as in a field that was never set.

    Draw its name first, so that the fields of many records do not dominate.
    """
    span = pick(rng, pick(rng, parent.numbers))
    new = encoded(span, 0)
    return [] if new is None else [Splice(span.space, span.start, span.end, new, span.path)]


def longer(parent: Parsed, rng: Random) -> list[Splice]:
    """Encode a varint in more bytes: a few more, the most that its type allows, or one more than that."""
    span = early(rng, parent.varints)
    old = parent.spaces[span.space][span.start : span.end]
    size = pick(rng, WIDEST) if below(rng, 3) else len(old) + pick(rng, (1, 2, 3))
    last = pick(rng, (b"\0", b"\0", b"\0", b"\1"))
    new = old[:-1] + bytes([old[-1] | 0x80]) + b"\x80" * (size - len(old) - 1) + last
    return [Splice(span.space, span.start, span.end, new, span.path)]


def _looping_length(parent: Parsed, span: FieldSpan) -> int:
    """Return the negative length that makes a reader loop: it points back to the start of the element."""
    assert span.cover is not None
    enclosing = (one for one in parent.elements if one.space == span.space)
    starts = [one.start for one in enclosing if one.start <= span.start < one.end]
    return max(starts, default=0) - span.cover.start


def _other_number(span: FieldSpan, rng: Random, remaining: int) -> int:
    """Return another number: mostly a small error for a length or a count, any number for other fields."""
    if span.cover is not None and below(rng, 2):
        return int(span.value) + pick(rng, (-1, 1, -int(span.value), -int(span.value) - 1, pick(rng, BEYOND)))
    if span.path.endswith(".key") and below(rng, 2):  # another field with the same wire type
        return (1 + below(rng, 15)) << 3 | int(span.value) & 7
    if span.type == "uint8" and below(rng, 2):  # mostly the code of a small enumeration
        return below(rng, CODES)
    return integer(rng, int(span.value), remaining)


def text(parent: Parsed, rng: Random) -> list[Splice]:
    """Replace the bytes of a field; its lengths are fixed up."""
    span = pick(rng, parent.octets)
    old = parent.spaces[span.space][span.start : span.end]
    return [Splice(span.space, span.start, span.end, octets(rng, old))]


def hollow(parent: Parsed, rng: Random) -> list[Splice]:
    """Remove all or the end of the bytes that a length covers; the length is fixed up."""
    span = pick(rng, parent.lengths)
    assert span.cover is not None
    start, end = span.cover.start, span.cover.end
    kept = start if below(rng, 2) else start + below(rng, end - start)
    return [Splice(span.space, kept, end, b"")]


def element(parent: Parsed, rng: Random) -> list[Splice]:
    """Remove, duplicate or swap elements of a list; mostly the count is adjusted."""
    move = below(rng, 8)
    if move > 4 or (move == 4 and parent.fields):
        return _swap_elements(parent, rng)
    list_path = _pick_list(parent, rng, parent.lists)
    elements = [one for one in parent.elements if one.many == list_path]
    if move == 4:
        return without(parent, elements)
    one = pick(rng, elements)
    times = 2 * (move % 2)
    new = parent.spaces[one.space][one.start : one.end] * times
    return [Splice(one.space, one.start, one.end, new), *_mostly_accompanied(parent, one, rng, times)]


def _pick_list(parent: Parsed, rng: Random, lists: Sequence[Sequence[str]]) -> str:
    """Return the path of a list. For protobuf prefer the outer lists, whose order matters most to readers."""
    evenly = not parent.fields and below(rng, 2)
    return pick(rng, pick(rng, lists) if evenly else early(rng, lists))


def _swap_elements(parent: Parsed, rng: Random) -> list[Splice]:
    """Swap two elements of a list."""
    list_path = _pick_list(parent, rng, parent.several or parent.lists)
    elements = [one for one in parent.elements if one.many == list_path]
    one = elements[0] if below(rng, 2) else pick(rng, elements)  # readers depend most on the first element
    candidates = [other for other in elements if other.space == one.space]
    other = pick(rng, [each for each in candidates if each != one] or candidates)
    data = parent.spaces[one.space]
    return [
        Splice(one.space, one.start, one.end, data[other.start : other.end]),
        Splice(one.space, other.start, other.end, data[one.start : one.end]),
    ]


KINDS: Final = (number, unset, text, element, element, hollow, longer)
"""The edits, in the order of the targets in `edit`."""


def respelling(parent: Parsed, rng: Random) -> list[Splice]:
    """Encode one or two protobuf fields in another way; the lengths around them are fixed up."""
    numeric = [one for one in parent.fields if one.numbers]
    fields = numeric if numeric and below(rng, 4) else parent.fields
    return [respelled(early(rng, fields), rng) for _ in range(pick(rng, (1, 1, 2)))]


def _mostly_accompanied(parent: Parsed, one: Element, rng: Random, times: int) -> list[Splice]:
    return accompanied(parent, one, times) if below(rng, 8) else []


def accompanied(parent: Parsed, one: Element, times: int) -> list[Splice]:
    """Return the splices that adjust counts and companions after an element is removed or duplicated."""
    if not times:
        return without(parent, [one])[1:]
    splices = recounted(parent, one.many, times - 1)
    for other in parent.companions(one):
        # The unchanged copy comes first, because it refers to the first of the two elements. The splice also
        # replaces the first field of the companion; otherwise a length that ends where the companion begins
        # would grow to cover the copy.
        data, end = parent.spaces[other.space], _first_end(parent, other)
        copied = data[other.start : other.end] + data[other.start : end]
        splices.append(Splice(other.space, other.start, end, copied))
    return splices


def _first_end(parent: Parsed, one: Element) -> int:
    """Return the end of the first field of an element."""
    return next(span.end for span in parent.spans if (span.space, span.start) == (one.space, one.start))


def without(parent: Parsed, gone: Sequence[Element]) -> list[Splice]:
    """Return the splices that remove elements of one list and their companions, and adjust the counts."""
    companions = (other for one in gone for other in parent.companions(one))
    removed = [Splice(one.space, one.start, one.end, b"") for one in (*gone, *companions)]
    return [*removed, *recounted(parent, gone[0].many, -len(gone))]


def recounted(parent: Parsed, many: str, step: int) -> list[Splice]:
    """Return the splices that add `step` to the counts of a list."""
    splices: list[Splice] = []
    for span in parent.counts(many):
        new = encoded(span, int(span.value) + step) if span.type in INTEGERS else None
        if new is not None:
            splices.append(Splice(span.space, span.start, span.end, new))
    return splices


def count(parent: Parsed, rng: Random) -> list[Splice]:
    """Replace a count by a wrong one; without counts, replace any number."""
    counts = [span for span in parent.integers if _is_count(span)]
    if not counts:
        return number(parent, rng) if parent.integers else []
    span = pick(rng, counts)
    new = encoded(span, int(span.value) + pick(rng, (-1, 1, 2, -int(span.value) - 1, 1 << 20)))
    return [] if new is None else [Splice(span.space, span.start, span.end, new, span.path)]


def _is_count(span: FieldSpan) -> bool:
    """Return whether a field is a count, by its cover or by its name."""
    return (span.cover is not None and span.cover.kind == "count") or span.path.lower().endswith("count")
