"""Bytes that are nearly valid: an encoding with one field of its layout replaced. Design, section 2.

The field is drawn by its place in the trace, its new value by its type: an integer one step or a sign
away or at an edge, octets longer, shorter or others. Then what speaks of it is repaired, in part or not.
"""

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof import formats
from wireproof.cases.damage import Damaged, encoded, replaced, resealed
from wireproof.formats import Format
from wireproof.wire.options import DEFAULT
from wireproof.wire.trace import Span
from wireproof.wire.writer import Writer

EDGES: Final = (
    0,
    1,
    -1,
    -2,
    127,
    128,
    255,
    32767,
    65535,
    (1 << 31) - 1,
    -(1 << 31),
    (1 << 32) - 1,
    -(1 << 63),
)
"""What a length, count or delta is most often wrong by being."""


def written(row: Format, value: Any) -> bytes:  # noqa: ANN401 - a value of the row's class
    """The encoding of a value in its class; raises `Rejected` (`invalid-value`)."""
    writer = Writer()
    row.encode(writer, value, DEFAULT)
    return bytes(writer.data)


@st.composite
def damaged_of(draw: DrawFn, row: Format, values: SearchStrategy[Any]) -> bytes:
    """An encoding of one of `values`, damaged."""
    data = written(row, draw(values))
    spans = tuple(span for span in formats.layout(row, data).spans if not span.space)
    if not spans:
        return data + draw(st.binary(max_size=4))
    span = draw(st.sampled_from(spans))
    damaged = replaced(data, spans, span, draw(_another(span, data[span.start : span.end])))
    return draw(st.sampled_from(_repairs(damaged, span)))


def _another(span: Span, old: bytes) -> SearchStrategy[bytes]:
    """Other bytes for a field: of its type where that holds integers, else octets."""
    if isinstance(span.value, int):
        near = (span.value + step for step in (-1, 1, -2, 2))
        drawn = [encoded(span, value) for value in (*near, -span.value, *EDGES)]
        fitting = [new for new in drawn if new is not None]
        if fitting:
            return st.sampled_from(fitting)
    flip = st.integers(0, max(len(old) * 8 - 1, 0)).map(lambda bit: _flipped(old, bit))
    return st.one_of(flip, st.just(old[:-1]), st.just(old + b"\0"), st.binary(max_size=16))


def _flipped(old: bytes, bit: int) -> bytes:
    if not old:
        return b"\xff"
    data = bytearray(old)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def _repairs(damaged: Damaged, span: Span) -> list[bytes]:
    """As it is; with checksums repaired; with lengths too; with all but the field itself."""
    return [
        damaged.data,
        resealed(damaged, lengths=False).data,
        resealed(damaged).data,
        resealed(damaged, spare=span.path).data,
    ]
