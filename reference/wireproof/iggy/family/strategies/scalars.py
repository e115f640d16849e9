"""Strategies for integers, strings and bytes with boundary values, used by all strategies for Iggy."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.wire.layout import Layout, Number, bits_of


@cache
def unsigned(bits: int) -> SearchStrategy[int]:
    """Return a strategy for unsigned integers of `bits` bits, often limits, the sign bit or 2^53 + 1."""
    top = (1 << bits) - 1
    edges = [0, 1, top, top >> 1, (top >> 1) + 1, min(top, (1 << 53) + 1)]
    return st.one_of(st.sampled_from(edges), st.integers(0, top))


def integers(layout: Layout, *names: str) -> dict[str, SearchStrategy[int]]:
    """Return a strategy of the declared width for each number of a layout, or for those with these names."""
    numbers = {part.name: part for part in layout.parts if isinstance(part, Number)}
    return {name: _number(numbers[name]) for name in names or numbers}


def _number(part: Number) -> SearchStrategy[int]:
    if part.known is not None:
        return st.sampled_from(sorted(part.known))
    return unsigned(bits_of(part.kind) if part.most is None else part.most.bit_length())


@cache
def texts() -> SearchStrategy[bytes]:
    """Return a strategy for 1 to 255 bytes of UTF-8, for names and keys."""
    edges = st.sampled_from(
        [
            b"k",
            b"K",
            b"key-1",
            b"n" * 63,
            b"n" * 64,
            b"n" * 128,
            b"n" * 255,
            "é".encode(),
            ("é" * 127).encode(),
        ]
    )
    plain = st.text(min_size=1, max_size=20).map(_encodable).filter(lambda text: 1 <= len(text) <= 255)
    return st.one_of(edges, plain)


def _encodable(text: str) -> bytes:
    return text.encode("utf-8", "ignore")


@cache
def octets(most: int = 255) -> SearchStrategy[bytes]:
    """Return a strategy for 1 to `most` bytes, for payloads and the keys of messages."""
    return st.one_of(
        st.sampled_from([b"\0", b"\xff" * 128, b"\xff" * most]), st.binary(min_size=1, max_size=40)
    )
