"""Hypothesis strategy of what producers send: kafka.md §1.7; any client's encoder can write most of it."""

from functools import cache
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.cases.sending import NO_PRODUCER, Plain, Sending
from wireproof.cases.strategies.kafka import NOW
from wireproof.kafka.values import Header

CODECS: Final = (0, 0, 1, 2, 3, 4)

PRODUCERS: Final = (NO_PRODUCER, NO_PRODUCER, (1000, 0, 0), ((1 << 63) - 1, 32767, (1 << 31) - 1))
"""Without idempotence in half of them, at the ends of the three fields in some (§1.10)."""


@cache
def _octets() -> SearchStrategy[bytes | None]:
    """Null, which empty is not; 63 to 65 bytes, where a length takes one more byte; some that pack well."""
    packed = st.builds(bytes.__mul__, st.sampled_from([b"a", b"\0"]), st.sampled_from([63, 64, 65, 2000]))
    return st.one_of(st.sampled_from([None, b"", b"\0", b"k"]), st.binary(max_size=40), packed)


@cache
def _headers() -> SearchStrategy[tuple[Header, ...]]:
    """Headers in order, with keys that repeat, empty ones and no ASCII; values null, empty or bytes."""
    key = st.one_of(st.sampled_from(["", "h", "h", "ß", "漢"]), st.text("abc", max_size=8)).map(str.encode)
    return st.lists(st.tuples(key, st.one_of(st.none(), st.binary(max_size=12))), max_size=3).map(tuple)


@cache
@st.composite
def sendings(draw: DrawFn) -> Sending:
    """One to five messages; times of our days in any order, or all of one edge."""
    late = st.integers(-(10**4), 10**7).map(lambda more: NOW + more)
    time = draw(st.sampled_from([late, late, late, st.just(0), st.just(-1), st.just(1 << 40)]))
    plain = st.builds(Plain, _octets(), _octets(), time, _headers())
    producer = draw(st.sampled_from(PRODUCERS))
    return Sending(
        draw(st.sampled_from(CODECS)),
        tuple(draw(st.lists(plain, min_size=1, max_size=5))),
        producer,
        producer != NO_PRODUCER and draw(st.booleans()),
    )
