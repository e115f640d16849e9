"""Strategies for the binary bodies of sends and polls, and for segment files: iggy.md §3, §5 to §7."""

from collections.abc import Hashable
from functools import cache
from typing import Any, cast

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy import retained_batch
from wireproof.iggy.batch import Producer
from wireproof.iggy.family.strategies.batches import producers
from wireproof.iggy.family.strategies.destinations import identifiers, partitionings
from wireproof.iggy.family.strategies.messages import (
    sent_lists,
    sent_lists_since_0_7,
    stored_lists,
    stored_messages_since_0_7,
)
from wireproof.iggy.family.strategies.scalars import integers, unsigned
from wireproof.iggy.message import MessageRules, PolledMessage30, PolledMessage40, SentMessage90
from wireproof.iggy.poll import REVISIONS as POLLS
from wireproof.iggy.poll import Poll30, Poll40, Poll60
from wireproof.iggy.retained_batch import RetainedBatch
from wireproof.iggy.send import Send30, Send90, Send111


@cache
def sends() -> SearchStrategy[Send30]:
    """Return a strategy for bodies of SendMessages up to 0.6.x."""
    return st.builds(
        Send30,
        stream=identifiers(),
        topic=identifiers(),
        partitioning=partitionings(),
        messages=sent_lists(),
    )


@cache
def polls(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for poll responses before 0.7.0."""
    if revision == "0.0.30":
        return st.builds(Poll30, messages=stored_lists(PolledMessage30))
    if revision == "0.0.40":
        return st.builds(Poll40, messages=stored_lists(PolledMessage40))
    return st.builds(Poll60, **integers(POLLS[revision].layout), messages=stored_lists(PolledMessage40))


@cache
def sends_since_0_7(value: Hashable, message: Hashable, least: int) -> SearchStrategy[Any]:
    """Return a strategy for bodies of SendMessages since 0.7.0."""
    return st.builds(
        cast("type[Any]", value),
        stream=identifiers(least),
        topic=identifiers(least),
        partitioning=partitionings(),
        messages=sent_lists_since_0_7(message),
    )


@cache
def polls_since_0_7(value: Hashable, rules: MessageRules) -> SearchStrategy[Any]:
    """Return a strategy for poll responses since 0.7.0."""
    return st.builds(
        cast("type[Any]", value),
        **integers(POLLS["0.7"].layout),
        messages=st.lists(stored_messages_since_0_7(rules), max_size=3).map(tuple),
    )


@cache
@st.composite
def batched_sends(draw: DrawFn) -> Send90:
    """Draw a body of SendMessages since 0.11.0. Its timestamps are at most 2^32 - 1 microseconds apart."""
    value: Send90 = draw(sends_since_0_7(Send90, SentMessage90, 0))
    origin = draw(unsigned(64).map(lambda number: min(number, (1 << 64) - (1 << 32))))
    messages = tuple(
        evolve(message, id=message.id or 1, origin_timestamp=origin + draw(unsigned(32)))
        for message in value.messages
    )
    changed: Send90 = evolve(value, messages=messages)
    return changed


@cache
def batched_sends_111() -> SearchStrategy[Send111]:
    """Return a strategy for bodies of SendMessages since 0.11.1-edge."""

    def send(old: Send90, producer: Producer | None) -> Send111:
        return Send111(
            stream=old.stream,
            topic=old.topic,
            partitioning=old.partitioning,
            producer=producer,
            messages=old.messages,
        )

    return st.builds(send, batched_sends(), st.none() | producers())


@cache
def retained_batches() -> SearchStrategy[RetainedBatch]:
    """Return a strategy for batches of a segment file of 0.2.7 (§7)."""
    return st.builds(
        RetainedBatch,
        **integers(retained_batch.LAYOUT),
        messages=stored_lists(PolledMessage40),
    )


@cache
def logs_since_0_7(value: Hashable, rules: MessageRules) -> SearchStrategy[Any]:
    """Return a strategy for segment files of messages since 0.7.0."""
    return st.builds(
        cast("type[Any]", value), messages=st.lists(stored_messages_since_0_7(rules), max_size=3).map(tuple)
    )
