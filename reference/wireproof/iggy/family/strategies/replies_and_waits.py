"""Strategies for HTTP replies, and for requests that wait with their reply: iggy.md §6.2, §8."""

from collections.abc import Hashable
from functools import cache
from typing import Any, Final, cast

from attrs import asdict
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.family.strategies.batches import batched_polls_111
from wireproof.iggy.family.strategies.destinations import identifiers
from wireproof.iggy.family.strategies.requests import consumers, poll_requests, starts
from wireproof.iggy.family.strategies.scalars import integers, unsigned
from wireproof.iggy.fetch import FetchReply, FetchSection
from wireproof.iggy.json_reply import JsonError40
from wireproof.iggy.requests import (
    DEFERRED_MARGIN,
    DEFERRED_POLL_REQUEST,
    FETCH_REQUEST,
    FETCH_TARGET,
    LARGEST_TIMEOUT,
    LARGEST_WAIT,
    LEAST_BYTES,
    STARTS,
    WAITING,
)

MOST_U32: Final = (1 << 32) - 1

TEXTS: Final = st.one_of(
    st.sampled_from([b"", b"stream_id_not_found", "é\U0001f600".encode(), b'"\\/\n']),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "ignore")),
)
"""Texts of an error, with characters that JSON escapes."""


@cache
def json_errors(value: Hashable) -> SearchStrategy[Any]:
    """Return a strategy for errors of HTTP."""
    optional = {"field": st.none() | TEXTS} if value is JsonError40 else {}
    return st.builds(cast("type[Any]", value), id=unsigned(32), code=TEXTS, reason=TEXTS, **optional)


@cache
@st.composite
def deferred_polls(draw: DrawFn) -> Any:  # noqa: ANN401 - a value of the structure
    """Draw a request of a poll that waits."""
    poll = draw(poll_requests(WAITING, 0))
    wait = draw(_numbers(0, LARGEST_WAIT))
    least = wait + DEFERRED_MARGIN if wait else 1
    return DEFERRED_POLL_REQUEST.at(WAITING).type(
        **asdict(poll, recurse=False),
        wait_us=wait,
        min_count=draw(_numbers(1, poll.count)),
        max_bytes=draw(_numbers(LEAST_BYTES, MOST_U32)),
        request_timeout_us=draw(_numbers(least, LARGEST_TIMEOUT)),
    )


def _numbers(least: int, most: int) -> SearchStrategy[int]:
    """Return a strategy for integers that are often a limit."""
    return st.one_of(st.sampled_from([least, most]), st.integers(least, most))


@cache
@st.composite
def fetch_requests(draw: DrawFn) -> Any:  # noqa: ANN401 - a value of the structure
    """Draw a request of up to three partitions."""
    wait = draw(_numbers(0, LARGEST_WAIT))
    count = draw(_numbers(1, MOST_U32))
    size = draw(_numbers(LEAST_BYTES, MOST_U32))
    partitions = draw(st.lists(unsigned(32), min_size=1, max_size=3, unique=True))
    return FETCH_REQUEST.at(WAITING).type(
        consumer=draw(consumers(WAITING, 0)),
        stream=draw(identifiers(0)),
        topic=draw(identifiers(0)),
        wait_us=wait,
        request_timeout_us=draw(_numbers(wait + DEFERRED_MARGIN, LARGEST_TIMEOUT)),
        min_count=draw(_numbers(1, count)),
        count=count,
        max_bytes=size,
        auto_commit=draw(st.booleans()),
        targets=tuple(draw(_targets(partition, size)) for partition in partitions),
    )


def _targets(partition: int, size: int) -> SearchStrategy[Any]:
    layout = FETCH_TARGET.at(WAITING)
    return st.builds(
        layout.type,
        partition_id=st.just(partition),
        strategy=starts(WAITING, *STARTS),
        max_bytes=_numbers(LEAST_BYTES, size),
        **integers(layout, "incarnation", "owner_generation"),
    )


@cache
def fetches() -> SearchStrategy[FetchReply]:
    """Return a strategy for replies of up to three sections, of which some could not be read."""

    def section(poll: Any, status: int, after: int) -> FetchSection:  # noqa: ANN401 - a poll of 0.11.1-edge
        fields = asdict(poll, recurse=False)
        held = {"batches": (), "messages": ()} if status else {}
        return FetchSection(**{**fields, **held}, status=status, next_offset=after)

    statuses = st.one_of(st.just(0), st.sampled_from([0, 3007]), unsigned(32))
    sections = st.builds(section, batched_polls_111(), statuses, unsigned(64))
    return st.lists(sections, max_size=3).map(lambda found: FetchReply(sections=tuple(found)))
