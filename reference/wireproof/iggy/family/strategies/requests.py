"""Strategies for requests, replies and their frames: iggy.md §2.1, §3.2, §6."""

from functools import cache
from typing import Any, Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.iggy.family.strategies.destinations import identifiers
from wireproof.iggy.family.strategies.scalars import integers, unsigned
from wireproof.iggy.frame import (
    EVICTION,
    FIRST_PARTITION_OPERATION,
    HEADERS_BY_COMMAND,
    HEADERS_BY_COMMAND_111,
    NON_REPLICATED,
    REPLY,
    REQUEST,
    EvictionHeader,
    ReplyHeader,
    ReplyHeader111,
    RequestHeader,
    RequestHeader111,
    VsrFrame,
    VsrFrame111,
)
from wireproof.iggy.reply import CONFIRMATION, SendConfirmation, SendReply
from wireproof.iggy.requests import CONSUMER, POLL_REQUEST, STRATEGY
from wireproof.wire.checksums import xxh3_64

COMMAND_CODES: Final = st.one_of(st.sampled_from([1, 38, 100, 101]), unsigned(32))
STATUSES: Final = st.one_of(st.sampled_from([0, 0, 3, 4009, 4022]), unsigned(32))


@cache
def consumers(revision: str, least: int) -> SearchStrategy[Any]:
    """Return a strategy for consumers and groups. `least` is the smallest number of an identifier."""
    ids: SearchStrategy[Any] = unsigned(32) if revision == "0.0.30" else identifiers(least)
    return st.builds(CONSUMER.at(revision).type, st.sampled_from(["consumer", "group"]), ids)


@cache
def starts(revision: str, *kinds: str) -> SearchStrategy[Any]:
    """Return a strategy for polling strategies of some kinds."""
    return st.builds(STRATEGY.at(revision).type, st.sampled_from(kinds), unsigned(64))


@cache
def poll_requests(revision: str, least: int = 1) -> SearchStrategy[Any]:
    """Return a strategy for requests of PollMessages. `least` is the smallest number of an identifier."""
    layout = POLL_REQUEST.at(revision)
    partitions: SearchStrategy[Any] = unsigned(32)
    return st.builds(
        layout.type,
        consumer=consumers(revision, least),
        stream=identifiers(least),
        topic=identifiers(least),
        partition_id=partitions | st.none() if layout.position("partition_flag") else partitions,
        strategy=starts(revision, "offset", "timestamp", "first", "last", "next"),
        count=unsigned(32).map(lambda number: max(number, 1)),
        auto_commit=st.booleans(),
    )


@cache
def frame_bodies() -> SearchStrategy[bytes]:
    """Return a strategy for bodies, including an empty one."""
    return st.one_of(st.just(b""), st.just(b"b" * 300), st.binary(max_size=40))


@cache
def _requests_110() -> SearchStrategy[Any]:
    """Return a strategy for VSR headers of a request, without their checksum."""
    layout = HEADERS_BY_COMMAND[REQUEST]
    known = integers(layout, "operation")["operation"]
    return st.builds(
        RequestHeader,
        **integers(layout, "client"),
        operation=st.one_of(st.sampled_from([1, 2, 160, 160]), known),
        **integers(layout, "user_id", "code", "timestamp", "request", "session"),
    )


@cache
def _evictions() -> SearchStrategy[EvictionHeader]:
    return st.builds(EvictionHeader, **integers(HEADERS_BY_COMMAND[EVICTION]))


@cache
def vsr_frames() -> SearchStrategy[VsrFrame]:
    """Return a strategy for VSR frames of every command."""
    replies = st.builds(ReplyHeader, **integers(HEADERS_BY_COMMAND[REPLY]))
    headers = st.one_of(_requests_110(), replies, _evictions())
    return st.builds(VsrFrame, header=headers, body=frame_bodies()).map(_with_checksum)


def _with_checksum(frame: VsrFrame) -> VsrFrame:
    """Return the frame with its request checksum, which only replicated requests except sends have (§2.1)."""
    if not isinstance(frame.header, RequestHeader) or frame.header.operation in (2, 160):
        return frame
    return evolve(frame, header=evolve(frame.header, request_checksum=xxh3_64(frame.body)))


@cache
def vsr_frames_111() -> SearchStrategy[VsrFrame111]:
    """Return a strategy for VSR frames of every command since 0.11.1-edge."""
    layout = HEADERS_BY_COMMAND_111[REQUEST]
    owner = ("partition_incarnation", "owner_generation", "minimum_metadata_op")
    requests = st.builds(
        RequestHeader111,
        **integers(layout, "client", "request_checksum", "timestamp", "request", "session", *owner),
        operation=st.one_of(st.sampled_from([1, 2, 160, 160]), integers(layout, "operation")["operation"]),
        **integers(layout, "user_id", "code"),
    )
    wide = ("request_checksum", "context", "client", "op", "commit", "timestamp", "request")
    small = ("partition_incarnation", "operation", "committed_result", "status")
    replies = st.builds(ReplyHeader111, **integers(HEADERS_BY_COMMAND_111[REPLY], *wide, *small))
    headers = st.one_of(requests.map(_with_random_checksum), replies, _evictions())
    return st.builds(VsrFrame111, header=headers, body=frame_bodies())


def _with_random_checksum(header: RequestHeader111) -> RequestHeader111:
    """Return the header with a checksum of 0 if its operation has none, else with another one."""
    bare = header.operation == NON_REPLICATED or header.operation >= FIRST_PARTITION_OPERATION
    return evolve(header, request_checksum=0 if bare else header.request_checksum or 1)


@cache
def send_replies() -> SearchStrategy[SendReply]:
    """Return a strategy for replies to a send since 0.11.0, with up to three confirmations."""
    confirmation = st.builds(SendConfirmation, **integers(CONFIRMATION))
    return st.lists(confirmation, max_size=3).map(lambda confirmed: SendReply(confirmations=tuple(confirmed)))
