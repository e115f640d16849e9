"""Hypothesis strategies for Iggy values, with many boundary values of iggy.md §2, §3 and §9.

All values are valid: their checksums are correct and their headers are sorted by key, so that a round trip
can be compared for equality. Hypothesis is an optional dependency.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from attrs import asdict, evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy import retained_batch
from wireproof.iggy.batch import PRODUCER
from wireproof.iggy.family.message_strategies import (
    batched_polls,
    batches,
    header_maps,
    header_maps_or_blocks,
    header_maps_v2,
    identifiers,
    integers,
    lists,
    octets,
    partitionings,
    unsigned,
)
from wireproof.iggy.fetch import FetchReply, FetchSection
from wireproof.iggy.frame import (
    CLASSIC_FRAME,
    CONTEXT,
    EVICTION_HEADER,
    FIRST_PARTITION_OPERATION,
    NON_REPLICATED,
    REPLY_HEADER,
    REQUEST_HEADER,
    VSR_FRAME,
    checksum_of,
)
from wireproof.iggy.headers import HeaderBlock, KeyedHeaderBlock
from wireproof.iggy.json_common import CONTEXT_NUMBERS, PartitionContext
from wireproof.iggy.json_poll import JSON_MESSAGE as JSON_POLLED
from wireproof.iggy.json_poll import JSON_POLL
from wireproof.iggy.json_reply import JSON_ERROR
from wireproof.iggy.json_send import JSON_MESSAGE, JSON_MESSAGE_64, JSON_SEND, JSON_SEND_64
from wireproof.iggy.log import SEGMENT
from wireproof.iggy.message import HEADERS_V1, HEADERS_V2, POLLED, SENT, STORED
from wireproof.iggy.poll import POLL
from wireproof.iggy.reply import CLASSIC_REPLY, CONFIRMATION, SEND_REPLY
from wireproof.iggy.requests import (
    CONSUMER,
    DEFERRED_MARGIN,
    DEFERRED_POLL_REQUEST,
    FETCH_REQUEST,
    FETCH_TARGET,
    LARGEST_TIMEOUT,
    LARGEST_WAIT,
    LEAST_BYTES,
    POLL_REQUEST,
    STARTS,
    STRATEGY,
    WAITING,
)
from wireproof.iggy.send import PRODUCED_SEND, SEND
from wireproof.schema.block import Block
from wireproof.schema.struct import Struct, StructLayout
from wireproof.wire.options import DEFAULT_OPTIONS, Options

# --- requests ---

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
def classic_frames() -> SearchStrategy[Any]:
    """Return a strategy for requests in the classic framing."""
    return st.builds(CLASSIC_FRAME.at("0.0.30").type, code=COMMAND_CODES, body=frame_bodies())


@cache
def classic_replies() -> SearchStrategy[Any]:
    """Return a strategy for replies in the classic framing."""
    return st.builds(CLASSIC_REPLY.at("0.0.30").type, status=STATUSES, body=frame_bodies())


@cache
def _requests_110() -> SearchStrategy[Any]:
    """Return a strategy for VSR headers of a request, without their checksum."""
    layout = REQUEST_HEADER.at("0.11")
    known = integers(layout, "operation")["operation"]
    return st.builds(
        layout.type,
        **integers(layout, "client"),
        operation=st.one_of(st.sampled_from([1, 2, 160, 160]), known),
        **integers(layout, "user_id", "code", "timestamp", "request", "session"),
    )


@cache
def _evictions() -> SearchStrategy[Any]:
    layout = EVICTION_HEADER.at("0.11")
    return st.builds(layout.type, **integers(layout))


@cache
def vsr_frames() -> SearchStrategy[Any]:
    """Return a strategy for VSR frames of every command."""
    layout = REPLY_HEADER.at("0.11")
    replies = st.builds(layout.type, **integers(layout))
    headers = st.one_of(_requests_110(), replies, _evictions())
    return st.builds(VSR_FRAME.at("0.11").type, header=headers, body=frame_bodies()).map(_with_checksum)


def _with_checksum(frame: Any) -> Any:  # noqa: ANN401 - a value of the structure
    """Return the frame with its request checksum, if it is a request (§2.1)."""
    if not hasattr(frame.header, "session"):
        return frame
    checksum = checksum_of(frame.header.operation, frame.body)
    return evolve(frame, header=evolve(frame.header, request_checksum=checksum))


@cache
def vsr_frames_111() -> SearchStrategy[Any]:
    """Return a strategy for VSR frames of every command since 0.11.1-edge."""
    layout, reply = REQUEST_HEADER.at(CONTEXT), REPLY_HEADER.at(CONTEXT)
    owner = ("partition_incarnation", "owner_generation", "minimum_metadata_op")
    requests = st.builds(
        layout.type,
        **integers(layout, "client", "request_checksum", "timestamp", "request", "session", *owner),
        operation=st.one_of(st.sampled_from([1, 2, 160, 160]), integers(layout, "operation")["operation"]),
        **integers(layout, "user_id", "code"),
    )
    wide = ("request_checksum", "context", "client", "op", "commit", "timestamp", "request")
    small = ("partition_incarnation", "operation", "committed_result", "status")
    replies = st.builds(reply.type, **integers(reply, *wide, *small))
    headers = st.one_of(requests.map(_with_random_checksum), replies, _evictions())
    return st.builds(VSR_FRAME.at(CONTEXT).type, header=headers, body=frame_bodies())


def _with_random_checksum(header: Any) -> Any:  # noqa: ANN401 - of a request
    """Return the header with a checksum of 0 if its operation has none, else with another one."""
    bare = header.operation == NON_REPLICATED or header.operation >= FIRST_PARTITION_OPERATION
    return evolve(header, request_checksum=0 if bare else header.request_checksum or 1)


@cache
def send_replies() -> SearchStrategy[Any]:
    """Return a strategy for replies to a send since 0.11.0, with up to three confirmations."""
    layout, reply = CONFIRMATION.at("0.11"), SEND_REPLY.at("0.11").type
    confirmation = st.builds(layout.type, **integers(layout))
    return st.lists(confirmation, max_size=3).map(lambda confirmed: reply(confirmations=tuple(confirmed)))


# --- replies and waits ---

MOST_U32: Final = (1 << 32) - 1

TEXTS: Final = st.one_of(
    st.sampled_from([b"", b"stream_id_not_found", "é\U0001f600".encode(), b'"\\/\n']),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "ignore")),
)
"""Texts of an error, with characters that JSON escapes."""


@cache
def json_errors(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for errors of HTTP."""
    layout = JSON_ERROR.at(revision)
    optional = {"field": st.none() | TEXTS} if "field" in layout.attributes else {}
    return st.builds(layout.type, id=unsigned(32), code=TEXTS, reason=TEXTS, **optional)


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
def fetches() -> SearchStrategy[Any]:
    """Return a strategy for replies of up to three sections, of which some could not be read."""

    def section(poll: Any, status: int, after: int) -> Any:  # noqa: ANN401 - a poll of 0.11.1-edge
        fields = asdict(poll, recurse=False)
        held = {"batches": (), "messages": ()} if status else {}
        return FetchSection(**{**fields, **held}, status=status, next_offset=after)

    statuses = st.one_of(st.just(0), st.sampled_from([0, 3007]), unsigned(32))
    sections = st.builds(section, batched_polls(CONTEXT), statuses, unsigned(64))
    return st.lists(sections, max_size=3).map(lambda found: FetchReply(sections=tuple(found)))


# --- binary bodies ---


@cache
def sends(revision: str, least: int = 1) -> SearchStrategy[Any]:
    """Return a strategy for bodies of SendMessages up to 0.10.x; `least` is the smallest identifier."""
    return st.builds(
        SEND.at(revision).type,
        stream=identifiers(least),
        topic=identifiers(least),
        partitioning=partitionings(),
        messages=lists(SENT.at(revision), 1),
    )


@cache
def polls(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for poll responses up to 0.10.x."""
    layout = POLL.at(revision)
    return st.builds(layout.type, **integers(layout), messages=lists(POLLED.at(revision)))


@cache
@st.composite
def batched_sends(draw: DrawFn) -> Any:  # noqa: ANN401 - a value of the structure
    """Draw a body of SendMessages since 0.11.0. Its timestamps are at most 2^32 - 1 microseconds apart."""
    value = draw(sends("0.9", 0))
    origin = draw(unsigned(64).map(lambda number: min(number, (1 << 64) - (1 << 32))))
    messages = tuple(
        evolve(message, id=message.id or 1, origin_timestamp=origin + draw(unsigned(32)))
        for message in value.messages
    )
    return evolve(value, messages=messages)


@cache
def produced_sends() -> SearchStrategy[Any]:
    """Return a strategy for bodies of SendMessages since 0.11.1-edge."""
    layout, producer = PRODUCED_SEND.at(CONTEXT), PRODUCER.at(CONTEXT)
    producers = st.none() | st.builds(producer.type, **integers(producer))
    return st.builds(
        lambda send, chosen: layout.type(**asdict(send, recurse=False), producer=chosen),
        batched_sends(),
        producers,
    )


@cache
def logs(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for segment files of messages (§5, §7)."""
    return st.builds(SEGMENT.at(revision).type, messages=lists(STORED.at(revision)))


@cache
def retained_logs() -> SearchStrategy[Any]:
    """Return a strategy for segment files of 0.2.7, of batches (§7)."""
    layout = retained_batch.LAYOUT
    batch = st.builds(layout.type, **integers(layout), messages=lists(STORED.at("0.2.7")))
    segment = SEGMENT.at("0.2.7").type
    return st.lists(batch, max_size=3).map(lambda batches: segment(batches=tuple(batches)))


@cache
def batched_logs(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for segment files of batches since 0.11.0."""
    segment = SEGMENT.at(revision).type
    return st.lists(batches("log", revision), max_size=3).map(lambda found: segment(batches=tuple(found)))


# --- JSON bodies ---


def contexts() -> SearchStrategy[Any]:
    """Return a strategy for the context of a send or a poll since 0.11.1-edge."""
    return st.builds(PartitionContext, **{name: unsigned(64) for name in CONTEXT_NUMBERS})


def _json_headers(layout: StructLayout) -> SearchStrategy[Any]:
    """Return a strategy for the header map of a message, or for bytes where they may be one."""
    block = layout.part("headers")
    assert isinstance(block, Block)
    kinds = {HEADERS_V1: header_maps, HEADERS_V2: header_maps_v2}
    return kinds.get(block.type, header_maps_or_blocks)()


@cache
def json_sends(
    revision: str, message: Struct = JSON_MESSAGE, send: Struct = JSON_SEND
) -> SearchStrategy[Any]:
    """Return a strategy for bodies of an HTTP send."""
    layout, body = message.at(revision), send.at(revision)
    single = st.builds(layout.type, **integers(layout), headers=_json_headers(layout), payload=octets(300))
    messages = st.lists(single, min_size=1, max_size=3).map(tuple)
    more = {"context": st.none() | contexts()} if "context" in body.attributes else {}
    return st.builds(body.type, partitioning=partitionings(), messages=messages, **more)


@cache
def json_polls(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for bodies of an HTTP poll response since 0.7.0."""
    layout, body = JSON_POLLED.at(revision), JSON_POLL.at(revision)
    single = st.builds(
        layout.type,
        **integers(layout),
        headers=_json_headers(layout),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    more = {"context": contexts()} if "context" in body.attributes else {}
    return st.builds(body.type, **integers(body), messages=st.lists(single, max_size=3).map(tuple), **more)


# --- all formats ---

VALUES: Final[dict[str, Callable[[], SearchStrategy[Any]]]] = {
    "iggy.poll-request/0.0.30": lambda: poll_requests("0.0.30"),
    "iggy.poll-request/0.0.92": lambda: poll_requests("0.0.92"),
    "iggy.poll-request/0.8": lambda: poll_requests("0.8", 0),
    "iggy.poll-request/0.10": lambda: poll_requests("0.10", 0),
    "iggy.frame/0.0.30": classic_frames,
    "iggy.frame/0.11": vsr_frames,
    "iggy.reply/0.0.30": classic_replies,
    "iggy.reply/0.11": send_replies,
    "iggy.identifier/0.0.30": identifiers,
    "iggy.identifier/0.8": lambda: identifiers(0),
    "iggy.partitioning/0.0.30": partitionings,
    "iggy.partitioning/0.9": partitionings,
    "iggy.headers/0.0.30": lambda: header_maps().map(HeaderBlock),
    "iggy.headers/0.9": lambda: header_maps_v2().map(KeyedHeaderBlock),
    "iggy.headers/0.10": lambda: header_maps_v2().map(KeyedHeaderBlock),
    "iggy.send/0.0.30": lambda: sends("0.0.30"),
    "iggy.send/0.7": lambda: sends("0.7"),
    "iggy.send/0.8": lambda: sends("0.8", 0),
    "iggy.send/0.9": lambda: sends("0.9", 0),
    "iggy.json.send/0.0.30": lambda: json_sends("0.0.30"),
    "iggy.json.send/0.7": lambda: json_sends("0.7", JSON_MESSAGE_64, JSON_SEND_64),
    "iggy.json.send/0.8": lambda: json_sends("0.8"),
    "iggy.json.send/0.9": lambda: json_sends("0.9"),
    "iggy.json.send/0.10": lambda: json_sends("0.10"),
    "iggy.json.poll/0.7": lambda: json_polls("0.7"),
    "iggy.json.poll/0.9": lambda: json_polls("0.9"),
    "iggy.json.poll/0.10": lambda: json_polls("0.10"),
    "iggy.json.send/0.11.1-edge": lambda: json_sends(CONTEXT),
    "iggy.json.poll/0.11.1-edge": lambda: json_polls(CONTEXT),
    "iggy.poll/0.0.30": lambda: polls("0.0.30"),
    "iggy.poll/0.0.40": lambda: polls("0.0.40"),
    "iggy.poll/0.0.60": lambda: polls("0.0.60"),
    "iggy.send/0.11": batched_sends,
    "iggy.poll/0.11": lambda: batched_polls("0.11"),
    "iggy.poll/0.7": lambda: polls("0.7"),
    "iggy.poll/0.8": lambda: polls("0.8"),
    "iggy.poll/0.9": lambda: polls("0.9"),
    "iggy.json.poll/0.0.30": lambda: polls("0.0.30"),
    "iggy.json.poll/0.0.40": lambda: polls("0.0.40"),
    "iggy.json.poll/0.0.60": lambda: polls("0.0.60"),
    "iggy.log/0.0.30": lambda: logs("0.0.30"),
    "iggy.log/0.0.40": lambda: logs("0.0.40"),
    "iggy.log/0.2.7": retained_logs,
    "iggy.log/0.7": lambda: logs("0.7"),
    "iggy.log/0.8": lambda: logs("0.8"),
    "iggy.log/0.9": lambda: logs("0.9"),
    "iggy.log/0.11": lambda: batched_logs("0.11"),
    "iggy.poll-request/0.11.1-edge": lambda: poll_requests("0.11.1-edge", 0),
    "iggy.deferred-poll-request/0.11.1-edge": deferred_polls,
    "iggy.fetch-request/0.11.1-edge": fetch_requests,
    "iggy.fetch/0.11.1-edge": fetches,
    "iggy.json.reply/0.11": send_replies,
    "iggy.json.error/0.0.30": lambda: json_errors("0.0.30"),
    "iggy.json.error/0.0.40": lambda: json_errors("0.0.40"),
    "iggy.frame/0.11.1-edge": vsr_frames_111,
    "iggy.send/0.11.1-edge": produced_sends,
    "iggy.poll/0.11.1-edge": lambda: batched_polls(CONTEXT),
    "iggy.log/0.11.1-edge": lambda: batched_logs(CONTEXT),
}
"""Format id to the strategy for its values."""


def _produce_options(_value: object) -> SearchStrategy[Options]:
    """Return a strategy for options: now and then the profile of a producer."""
    return st.sampled_from([*[DEFAULT_OPTIONS] * 5, Options(profile="produce")])


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {"iggy.send": _produce_options}
"""Name of a format to the strategy for the options of a value."""
