"""A Hypothesis strategy for the messages of producers, which most clients can encode: kafka.md §1.7."""

from functools import cache
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.kafka.family.producer_messages import NO_PRODUCER, LogicalMessage, LogicalMessageSet
from wireproof.kafka.family.strategies import RECENT_TIMESTAMP
from wireproof.kafka.values import RecordHeader

CODECS: Final = (0, 0, 1, 2, 3, 4)

PRODUCERS: Final = (NO_PRODUCER, NO_PRODUCER, (1000, 0, 0), ((1 << 63) - 1, 32767, (1 << 31) - 1))
"""Producer ids, epochs and sequences: none in half of the draws, else small or at the limits (§1.10)."""


@cache
def _octets() -> SearchStrategy[bytes | None]:
    """Return a strategy for null, short bytes, and compressible bytes around the length boundary of 64."""
    compressible = st.builds(
        bytes.__mul__, st.sampled_from([b"a", b"\0"]), st.sampled_from([63, 64, 65, 2000])
    )
    return st.one_of(st.sampled_from([None, b"", b"\0", b"k"]), st.binary(max_size=40), compressible)


@cache
def _headers() -> SearchStrategy[tuple[RecordHeader, ...]]:
    """Return a strategy for ordered headers with repeated, empty or non-ASCII keys; values may be null."""
    key = st.one_of(st.sampled_from(["", "h", "h", "ß", "漢"]), st.text("abc", max_size=8)).map(str.encode)
    return st.lists(st.tuples(key, st.one_of(st.none(), st.binary(max_size=12))), max_size=3).map(tuple)


@cache
@st.composite
def logical_message_sets(draw: DrawFn) -> LogicalMessageSet:
    """Draw one to five messages with recent timestamps in any order, or all with one boundary timestamp."""
    recent = st.integers(-(10**4), 10**7).map(lambda delta: RECENT_TIMESTAMP + delta)
    time = draw(st.sampled_from([recent, recent, recent, st.just(0), st.just(-1), st.just(1 << 40)]))
    plain = st.builds(LogicalMessage, _octets(), _octets(), time, _headers())
    producer = draw(st.sampled_from(PRODUCERS))
    return LogicalMessageSet(
        draw(st.sampled_from(CODECS)),
        tuple(draw(st.lists(plain, min_size=1, max_size=5))),
        producer,
        producer != NO_PRODUCER and draw(st.booleans()),
    )
