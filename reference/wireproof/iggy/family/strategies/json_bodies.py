"""Strategies for the JSON bodies of HTTP sends and polls of every revision: iggy.md §8."""

from collections.abc import Hashable
from functools import cache
from typing import Any, cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.iggy.family.strategies.destinations import partitionings
from wireproof.iggy.family.strategies.headers import header_maps, header_maps_or_blocks, header_maps_v2
from wireproof.iggy.family.strategies.messages import sent_lists
from wireproof.iggy.family.strategies.scalars import octets, unsigned
from wireproof.iggy.json_common import CONTEXT_NUMBERS, PartitionContext
from wireproof.iggy.json_poll import JsonPolledMessage70, JsonPolledMessage90, JsonPolledMessage100
from wireproof.iggy.json_send import JsonSend, JsonSentMessage70, JsonSentMessage90, JsonSentMessage100
from wireproof.iggy.message import SentMessage


@cache
def json_sends() -> SearchStrategy[JsonSend]:
    """Return a strategy for bodies of an HTTP send up to 0.6.x."""
    return st.builds(JsonSend, partitioning=partitionings(), messages=sent_lists())


def contexts() -> SearchStrategy[PartitionContext]:
    """Return a strategy for the context of a send or a poll since 0.11.1-edge."""
    return st.builds(PartitionContext, **{name: unsigned(64) for name in CONTEXT_NUMBERS})


@cache
def json_sends_since_0_7(
    value: Hashable, message: Hashable, bits: int = 128, *, context: bool = False
) -> SearchStrategy[Any]:
    """Return a strategy for bodies of an HTTP send since 0.7.0, whose ids have at most `bits` bits."""
    headers = {
        JsonSentMessage70: header_maps,
        JsonSentMessage90: header_maps_v2,
        JsonSentMessage100: header_maps_or_blocks,
        SentMessage: header_maps,
    }
    single: SearchStrategy[Any] = st.builds(
        cast("type[Any]", message),
        id=unsigned(bits),
        headers=cast("Any", headers)[message](),
        payload=octets(300),
    )
    messages = st.lists(single, min_size=1, max_size=3).map(tuple)
    more = {"context": st.none() | contexts()} if context else {}
    return st.builds(cast("type[Any]", value), partitioning=partitionings(), messages=messages, **more)


@cache
def json_polls_since_0_7(value: Hashable, message: Hashable, *, context: bool = False) -> SearchStrategy[Any]:
    """Return a strategy for bodies of an HTTP poll response since 0.7.0."""
    headers = {
        JsonPolledMessage70: header_maps,
        JsonPolledMessage90: header_maps_v2,
        JsonPolledMessage100: header_maps_or_blocks,
    }
    one: SearchStrategy[Any] = st.builds(
        cast("type[Any]", message),
        id=unsigned(128),
        **{name: unsigned(64) for name in ("checksum", "offset", "timestamp", "origin_timestamp")},
        headers=cast("Any", headers)[message](),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    return st.builds(
        cast("type[Any]", value),
        partition_id=unsigned(32),
        current_offset=unsigned(64),
        messages=st.lists(one, max_size=3).map(tuple),
        **({"context": contexts()} if context else {}),
    )
