"""Hypothesis strategies for bytes that are nearly valid.

They are encoded values with one or two edits: the field-aware mutations of `derive.mutate`, as
the fuzzer uses them. Afterwards all, some or none of the lengths and checksums are fixed up, and the changed
regions are compressed again. A few are cut, and a few have further bytes behind them. Hypothesis draws every
number that a mutation needs, so that it can shrink the result.
"""

from random import Random
from typing import Any, Final, Self

from attrs import frozen
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.derive.mutate.compression_variants import compressed_regions, edit_stream
from wireproof.derive.mutate.decode_trace import DecodeTrace, trace_of
from wireproof.derive.mutate.draws import below, pick
from wireproof.derive.mutate.encodings import written
from wireproof.derive.mutate.field_mutations import (
    edit_field,
    reencode_protobuf_fields,
    replace_code,
    replace_count,
)
from wireproof.derive.mutate.splice import Splice, apply_splices, random_splice
from wireproof.derive.mutate.value_mutations import mutate_json
from wireproof.formats import Format

_BYTES: Final = st.integers(0, 255)
"""One draw. In larger ranges Hypothesis prefers small values, which would favour the first choices."""


class DrawnRandom(Random):
    """A random generator whose numbers Hypothesis draws and shrinks towards 0, the first choice.

    `st.randoms()` draws floats, which are not distributed evenly.
    """

    def __new__(cls, _draw: DrawFn) -> Self:
        return super().__new__(cls)

    def __init__(self, draw: DrawFn) -> None:
        super().__init__(0)
        self._draw = draw

    def random(self) -> float:
        return (self._draw(_BYTES) << 8 | self._draw(_BYTES)) / (1 << 16)

    def getrandbits(self, k: int, /) -> int:
        return self._draw(st.integers(0, (1 << k) - 1))

    def randbytes(self, n: int) -> bytes:
        return self._draw(st.binary(min_size=n, max_size=n))


@frozen
class NearlyValid:
    """The encoding of a value after one or two edits.

    Attributes:
        data: the edited bytes. Some of them are still valid, for example if no rule constrains the field.
        value: what was encoded.
        edits: what was done, one line each: `batchLength 8..12 -> 0000003a`, `checksums are not fixed up`.
    """

    data: bytes
    value: Any
    edits: tuple[str, ...]


def nearly_valid_encodings(fmt: Format, values: SearchStrategy[Any]) -> SearchStrategy[NearlyValid]:
    """Return a strategy that draws one of `values`, encodes it and applies one or two edits."""

    @st.composite  # without arguments, as in `strategies`
    def edited(draw: DrawFn) -> NearlyValid:
        value, rng = draw(values), DrawnRandom(draw)
        trace = trace_of(fmt, written(fmt, value))
        if fmt.is_json and below(rng, 2):
            text = mutate_json(rng, trace.data)
            return NearlyValid(text or trace.data, value, ("members of the JSON text",) if text else ())
        splices = [splice for _ in range(pick(rng, (1, 1, 1, 2))) for splice in _edit(trace, rng)]
        splices = splices or [random_splice(rng, trace.data)]
        # `apply_splices` repairs lengths only with checksums.
        lengths, sums = pick(rng, (*[(True, True)] * 3, (False, True), (False, False)))
        data = apply_splices(trace, splices, lengths=lengths, sums=sums)
        edits = [_described(trace, splice) for splice in splices]
        fixed_up = {"lengths": lengths, "checksums": sums}
        edits += [f"{what} are not fixed up" for what, done in fixed_up.items() if not done]
        match below(rng, 12):
            case 11:
                data = data[: below(rng, len(data) + 1)]
                edits.append(f"cut to {len(data)} bytes")
            case 10:
                more = rng.randbytes(pick(rng, (1, 2, 4)))
                data += more
                edits.append(f"{more.hex()} after the end")
        return NearlyValid(data, value, tuple(edits))

    return edited()


def _described(trace: DecodeTrace, splice: Splice) -> str:
    """Return an edit in words: the field, or the structure around the bytes; the place; what is there now."""
    inside = [
        span
        for span in trace.spans
        if span.space == splice.space and span.start <= splice.start and splice.end <= span.end
    ]
    field = min(inside, key=lambda span: span.end - span.start).path if inside else ""
    place = f"{splice.space and f'{splice.space}>'}{splice.start}..{splice.end}"
    new = splice.new.hex()
    shown = new if len(new) <= 64 else f"{new[:64]}… ({len(splice.new)} bytes)"
    return f"{field} {place} -> {shown or 'nothing'}".strip()


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
