"""Strategies for identifiers and partitionings, the destination of a send: iggy.md §2.2."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.iggy.destination import Identifier, Partitioning
from wireproof.iggy.family.strategies.scalars import octets, texts, unsigned


@cache
def identifiers(least: int = 1) -> SearchStrategy[Identifier]:
    """Return a strategy for identifiers. `least` is the smallest number: 0 is valid since 0.8.0 (§2.2)."""
    numbers = unsigned(32).map(lambda number: max(number, least).to_bytes(4, "little"))
    return st.one_of(
        st.builds(Identifier, st.just("numeric"), numbers), st.builds(Identifier, st.just("string"), texts())
    )


@cache
def partitionings() -> SearchStrategy[Partitioning]:
    """Return a strategy for partitionings of the three kinds (§2.2)."""
    ids = unsigned(32).map(lambda number: number.to_bytes(4, "little"))
    return st.one_of(
        st.just(Partitioning("balanced", b"")),
        st.builds(Partitioning, st.just("partition_id"), ids),
        st.builds(Partitioning, st.just("messages_key"), octets()),
    )
