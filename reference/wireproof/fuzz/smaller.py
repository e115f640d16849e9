"""Smaller inputs than a given one, the boldest first: what `shrink` tries. Pure.

Elements of lists go first, then parts of the value and fields, then bytes, each with lengths, counts and
checksums repaired and also without; at last what is left is made simpler in place.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from wireproof.cases.case import Chunks, Data, Input, Value
from wireproof.cases.damage import encoded
from wireproof.cases.mutate.draft import Splice, drafted
from wireproof.cases.mutate.fielded import without
from wireproof.cases.mutate.least import written
from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.parsed import Element, Parsed, parsed
from wireproof.cases.mutate.sites import Site, put, sites
from wireproof.formats import Format
from wireproof.wire.rejected import Rejected
from wireproof.wire.values import Json, canonical, from_json, to_json

Weight = tuple[int, int, bytes]
"""Length, then how far from simple, then the bytes themselves: a total order, in which shrinking descends."""

SIMPLE: Final = {0: 0, 1: 1, 0x61: 1, 0xFF: 2}
"""Bytes by how simple they are; any other is less so."""


def weight(given: Input) -> Weight:
    """The place of an input in the order; smaller is simpler."""
    match given:
        case Data(data):
            return _weight(data)
        case Value(value):
            return _weight(canonical(value))
        case Chunks(chunks):
            return (sum(map(len, chunks)), len(chunks), b"".join(chunks))


def _weight(data: bytes) -> Weight:
    return (len(data), sum(SIMPLE.get(byte, 3) for byte in data), data)


def smaller(row: Format, given: Input) -> Iterator[Input]:
    """Candidates of less weight than `given`, each of them once."""
    most, seen = weight(given), set[Weight]()
    for candidate in _candidates(row, given):
        found = weight(candidate)
        if found < most and found not in seen:
            seen.add(found)
            yield candidate


def _candidates(row: Format, given: Input) -> Iterator[Input]:
    match given:
        case Data(data):
            yield from map(Data, of_bytes(row, data))
        case Value(value):
            yield from map(Value, of_value(row, value))
        case Chunks(chunks):
            yield from map(Chunks, of_chunks(row, chunks))


# --- bytes ---


def of_bytes(row: Format, data: bytes) -> Iterator[bytes]:
    """Smaller bytes of a format."""
    made = parsed(row, data)
    yield from chain(_fewer(made), _of_parts(made), _emptied(made), _shorter(made), _simpler(made))


def _fewer(made: Parsed) -> Iterator[bytes]:
    """Elements taken out: all of a list, each half of it, each one."""
    for many in chain.from_iterable(made.lists):
        found = [element for element in made.elements if element.many == many]
        for run in _runs(found):
            yield drafted(made, without(made, run))
            splices = [Splice(one.space, one.start, one.end, b"") for one in run]
            yield drafted(made, splices, lengths=False)


def _runs(found: list[Element]) -> Iterator[list[Element]]:
    size = len(found)
    while size:
        for at in range(0, len(found), size):
            yield found[at : at + size]
        size //= 2


def _of_parts(made: Parsed) -> Iterator[bytes]:
    """Parts of the value simpler, and all of it written again."""
    if made.value is None or made.rejected is not None:
        return
    for site in sites(made.value):
        for part in _simpler_parts(site):
            try:
                yield written(made.row, mended(put(made.value, site.steps, part)))
            except Rejected:
                continue


def _simpler_parts(site: Site) -> Iterator[Any]:
    if site.kind.null:
        yield None
    match site.now:
        case bool():
            yield False
        case int(number):
            yield from (0, number & ~7, number & 7, -1, number // 2)
        case bytes(data):
            yield from (b"", data[: len(data) // 2], data[:-1], b"\0" * len(data), b"a" * len(data))
        case tuple(items) if site.kind.holds == "list":
            yield from ((), items[: len(items) // 2], items[len(items) // 2 :], items[:-1])
        case str():
            yield site.kind.of[0]


def _emptied(made: Parsed) -> Iterator[bytes]:
    """The bytes of a field fewer, its length following; and numbers at zero."""
    for span in made.octets:
        size = span.end - span.start
        for keep in dict.fromkeys((0, size // 2, size - 1)):
            if 0 <= keep < size:
                yield drafted(made, [Splice(span.space, span.start + keep, span.end, b"")])


def _shorter(made: Parsed) -> Iterator[bytes]:
    """Ranges of bytes taken out, on the wire and inside; large ones first."""
    for space in sorted(made.spaces, reverse=True):
        data = made.spaces[space]
        size = len(data) // 2
        while size:
            for start in range(0, len(data), size):
                splice = [Splice(space, start, min(start + size, len(data)), b"")]
                yield drafted(made, splice)
                yield drafted(made, splice, sums=False)
            size //= 2


def _simpler(made: Parsed) -> Iterator[bytes]:
    """Fields at zero or one, bytes of fields at zero."""
    for span in made.integers:
        for value in (0, -1, 1):
            new = encoded(span, value)
            if new is not None:
                for sums in (True, False):
                    splice = Splice(span.space, span.start, span.end, new, span.path)
                    yield drafted(made, [splice], sums=sums)
    for at in range(len(made.data)):
        for byte in (b"\0", b"\1"):
            yield drafted(made, [Splice("", at, at + 1, byte)])
            yield made.data[:at] + byte + made.data[at + 1 :]


# --- values and chunks ---


def of_value(row: Format, value: Json) -> Iterator[Json]:
    """Simpler values to encode."""
    whole: Any
    try:
        whole = from_json(row.value, value)
    except Rejected:
        return
    for site in sites(whole):
        for part in _simpler_parts(site):
            try:
                yield to_json(put(whole, site.steps, part))
            except Rejected:
                continue


def of_chunks(row: Format, chunks: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    """Fewer chunks, then the chunks of smaller bytes, cut where they were."""
    if not chunks:
        return
    data = b"".join(chunks)
    yield (data,)
    for at in range(len(chunks) - 1):
        yield (*chunks[:at], chunks[at] + chunks[at + 1], *chunks[at + 2 :])
    for less in of_bytes(row, data):
        if len(chunks) == 1:
            yield (less,)
        else:
            cut = min(len(chunks[0]), len(less))
            yield (less[:cut], less[cut:])
    for at in range(len(chunks)):
        yield (*chunks[:at], *chunks[at + 1 :])
