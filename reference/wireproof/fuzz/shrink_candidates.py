"""The candidates of `shrink`: inputs smaller than a given one, the largest steps first. No side effects.

Elements of lists are removed first, then parts of the value, fields and ranges of bytes, each with lengths,
counts and checksums fixed up and without. At last, the numbers and bytes that are left become simpler.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from wireproof.cases.case import Chunks, Data, Generated, Input, Steps, Value
from wireproof.cases.edit_bytes import encode_field
from wireproof.cases.mutate.decode_trace import DecodeTrace, Element, cached_trace
from wireproof.cases.mutate.encodings import mended, written
from wireproof.cases.mutate.field_mutations import remove_elements
from wireproof.cases.mutate.splice import Splice, apply_splices
from wireproof.cases.mutate.values_of_type import EditSite, edit_sites, replace_part
from wireproof.cases.steps import bytes_of_steps, fewer_steps
from wireproof.formats import Format
from wireproof.wire.json_values import Json, canonical_json, from_json, to_json
from wireproof.wire.rejection import Rejected

Weight = tuple[int, int, bytes]
"""Length, distance from simple bytes, the bytes themselves: a total order, so that shrinking cannot loop."""

SIMPLE: Final = {0: 0, 1: 1, 0x61: 1, 0xFF: 2}
"""How simple a byte is; 0 is the simplest, and every other byte counts 3."""


def weight(given: Input) -> Weight:
    """Return the place of an input in the order; a smaller weight is simpler."""
    match given:
        case Data(data):
            return _weight(data)
        case Value(value):
            return _weight(canonical_json(value))
        case Chunks(chunks):
            return (sum(map(len, chunks)), len(chunks), b"".join(chunks))
        case Steps(steps) as sequence:
            data = bytes_of_steps(sequence)
            return (len(steps), len(data), data)
        case Generated(size=size, sha256=sha256):
            return (size, 0, sha256.encode())  # nobody shrinks one: `shrink` makes its bytes first


def _weight(data: bytes) -> Weight:
    return (len(data), sum(SIMPLE.get(byte, 3) for byte in data), data)


def smaller_inputs(fmt: Format, given: Input) -> Iterator[Input]:
    """Yield candidates of less weight than `given`, without duplicates."""
    limit, seen = weight(given), set[Weight]()
    for candidate in _candidates(fmt, given):
        found = weight(candidate)
        if found < limit and found not in seen:
            seen.add(found)
            yield candidate


def _candidates(fmt: Format, given: Input) -> Iterator[Input]:
    match given:
        case Data(data):
            yield from map(Data, _of_bytes(fmt, data))
        case Value(value):
            yield from map(Value, _of_value(fmt, value))
        case Chunks(chunks):
            yield from map(Chunks, _of_chunks(fmt, chunks))
        case Steps(steps):
            yield from map(Steps, fewer_steps(steps))


# --- bytes ---


def _of_bytes(fmt: Format, data: bytes) -> Iterator[bytes]:
    """Yield smaller bytes of a format."""
    source = cached_trace(fmt, data)
    yield from chain(
        _fewer_elements(source),
        _simpler_values(source),
        _shorter_fields(source),
        _shorter_bytes(source),
        _simpler_bytes(source),
    )


def _fewer_elements(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes without elements of a list: all of them, each half, each quarter, at last each one."""
    for many in chain.from_iterable(source.lists):
        found = [element for element in source.elements if element.many == many]
        for run in _runs(found):
            yield apply_splices(source, remove_elements(source, run))
            splices = [Splice(element.space, element.start, element.end, b"") for element in run]
            yield apply_splices(source, splices, lengths=False)


def _runs(found: list[Element]) -> Iterator[list[Element]]:
    """Yield the elements in runs of all, of a half, of a quarter, down to one."""
    size = len(found)
    while size:
        for at in range(0, len(found), size):
            yield found[at : at + size]
        size //= 2


def _simpler_values(source: DecodeTrace) -> Iterator[bytes]:
    """Yield encodings of the decoded value with one part simpler."""
    if source.value is None or source.rejected is not None:
        return
    for site in edit_sites(source.value):
        for part in _simpler_parts(site):
            try:
                yield written(source.row, mended(replace_part(source.value, site.steps, part)))
            except Rejected:
                continue


def _simpler_parts(site: EditSite) -> Iterator[Any]:
    """Yield simpler values for one place of a value."""
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


def _shorter_fields(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes with one field of bytes shorter and its length fixed up."""
    for span in source.octets:
        size = span.end - span.start
        for keep in dict.fromkeys((0, size // 2, size - 1)):
            if 0 <= keep < size:
                yield apply_splices(source, [Splice(span.space, span.start + keep, span.end, b"")])


def _shorter_bytes(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes without a range, on the wire or inside of compressed data; large ranges first."""
    for space in sorted(source.spaces, reverse=True):
        data = source.spaces[space]
        size = len(data) // 2
        while size:
            for start in range(0, len(data), size):
                splice = [Splice(space, start, min(start + size, len(data)), b"")]
                yield apply_splices(source, splice)
                yield apply_splices(source, splice, sums=False)
            size //= 2


def _simpler_bytes(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes with an integer field at 0, -1 or 1, or a byte at 0 or 1."""
    for span in source.integers:
        for value in (0, -1, 1):
            new = encode_field(span, value)
            if new is not None:
                for sums in (True, False):
                    splice = Splice(span.space, span.start, span.end, new, span.path)
                    yield apply_splices(source, [splice], sums=sums)
    for at in range(len(source.data)):
        for byte in (b"\0", b"\1"):
            yield apply_splices(source, [Splice("", at, at + 1, byte)])
            yield source.data[:at] + byte + source.data[at + 1 :]


# --- values and chunks ---


def _of_value(fmt: Format, value: Json) -> Iterator[Json]:
    """Yield simpler values to encode."""
    whole: Any
    try:
        whole = from_json(fmt.value, value)
    except Rejected:
        return
    for site in edit_sites(whole):
        for part in _simpler_parts(site):
            try:
                yield to_json(replace_part(whole, site.steps, part))
            except Rejected:
                continue


def _of_chunks(fmt: Format, chunks: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    """Yield fewer chunks, then chunks of smaller bytes, cut at the first place where they were cut."""
    if not chunks:
        return
    data = b"".join(chunks)
    yield (data,)
    for at in range(len(chunks) - 1):
        yield (*chunks[:at], chunks[at] + chunks[at + 1], *chunks[at + 2 :])
    for less in _of_bytes(fmt, data):
        if len(chunks) == 1:
            yield (less,)
        else:
            cut = min(len(chunks[0]), len(less))
            yield (less[:cut], less[cut:])
    for at in range(len(chunks)):
        yield (*chunks[:at], *chunks[at + 1 :])
