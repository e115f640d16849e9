"""A Hypothesis strategy for bytes that are nearly valid: encoded values with one or two edits.

The edits are the field-aware mutations of `cases.mutate`, which the fuzzer uses too: of a field, of a list
element, of a compressed stream, of JSON text. Afterwards all, some or none of the lengths and checksums are
fixed up, and the changed regions are compressed again. A few are cut, and a few have further bytes behind
them. Hypothesis draws every number that a mutation needs, so that it can shrink the result.
"""

from random import Random
from typing import Any, Final, Self

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.cases.mutate.byte_mutations import random_splice
from wireproof.cases.mutate.decode_trace import DecodeTrace, trace_of
from wireproof.cases.mutate.field_mutations import (
    edit_field,
    reencode_protobuf_fields,
    replace_code,
    replace_count,
)
from wireproof.cases.mutate.json_mutations import mutate_json
from wireproof.cases.mutate.least import written
from wireproof.cases.mutate.random_draws import below, pick
from wireproof.cases.mutate.splice import Splice, apply_splices
from wireproof.cases.mutate.stream_mutations import compressed_regions, edit_stream
from wireproof.formats import Format

__all__ = ["nearly_valid_encodings", "written"]

REPAIRS: Final = ((True, True), (True, True), (True, True), (False, True), (False, False))
"""The repairs to draw from, as (lengths, checksums). `apply_splices` repairs lengths only with checksums."""

_BYTES: Final = st.integers(0, 255)
"""One draw. In larger ranges Hypothesis prefers small values, which would favour the first choices."""


class DrawnRandom(Random):
    """A random generator whose numbers Hypothesis draws and shrinks towards 0, the first choice.

    `st.randoms()` draws floats, which are not distributed evenly.
    """

    def __new__(cls, _draw: DrawFn) -> Self:
        """Create a generator without a seed."""
        return super().__new__(cls)

    def __init__(self, draw: DrawFn) -> None:
        """Draw with `draw`."""
        super().__init__(0)
        self._draw = draw

    def random(self) -> float:
        """Draw a number from 0 to below 1, with 16 bits."""
        return (self._draw(_BYTES) << 8 | self._draw(_BYTES)) / (1 << 16)

    def getrandbits(self, k: int, /) -> int:
        """Draw an integer of `k` bits."""
        return self._draw(st.integers(0, (1 << k) - 1))

    def randbytes(self, n: int) -> bytes:
        """Draw `n` bytes."""
        return self._draw(st.binary(min_size=n, max_size=n))


@st.composite
def nearly_valid_encodings(draw: DrawFn, fmt: Format, values: SearchStrategy[Any]) -> bytes:
    """Draw one of `values`, encode it and apply one or two edits."""
    trace = trace_of(fmt, written(fmt, draw(values)))
    rng = DrawnRandom(draw)
    if fmt.is_json and below(rng, 2):
        return mutate_json(rng, trace.data) or trace.data
    splices = [splice for _ in range(pick(rng, (1, 1, 1, 2))) for splice in _edit(trace, rng)]
    splices = splices or [random_splice(rng, trace.data)]
    lengths, sums = pick(rng, REPAIRS)
    data = apply_splices(trace, splices, lengths=lengths, sums=sums)
    match below(rng, 12):
        case 11:
            return data[: below(rng, len(data) + 1)]
        case 10:
            return data + rng.randbytes(pick(rng, (1, 2, 4)))
        case _:
            return data


def _edit(trace: DecodeTrace, rng: Random) -> list[Splice]:
    """Draw one edit: mostly of a field or an element; Hypothesis shrinks it to an edit of one byte."""
    kind = below(rng, 14)
    if kind == 0:
        return [random_splice(rng, trace.data)]
    if kind == 1:
        return replace_code(trace, rng)
    if kind > 11 and compressed_regions(trace):
        return edit_stream(trace, rng)
    if kind > 9:
        return replace_count(trace, rng)
    if kind > 6 and trace.fields:
        return reencode_protobuf_fields(trace, rng)
    return edit_field(trace, rng)
