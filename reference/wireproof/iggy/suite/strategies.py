"""What Hypothesis strategies for Iggy's values need beside their types and layouts. Sections are of iggy.md.

All values are valid: their checksums are correct and their headers are sorted by key, so that a round trip
can be compared for equality. Hypothesis is an optional dependency.
"""

from collections.abc import Callable
from typing import Any, Final, get_args, get_type_hints

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.derive.mutate.values_of_type import smallest
from wireproof.derive.strategies import Refinement, Wanted, by_type
from wireproof.iggy import send
from wireproof.iggy.batch import BATCHES
from wireproof.iggy.destination import Identifier
from wireproof.iggy.fetch import FetchSection
from wireproof.iggy.frame import CONTEXT, FIRST_PARTITION_OPERATION, NON_REPLICATED, REQUEST_HEADER
from wireproof.iggy.headers import sort_key
from wireproof.iggy.http import json_bodies
from wireproof.iggy.message import HEADERS_V1, HEADERS_V2
from wireproof.iggy.requests import (
    DEFERRED_POLL_REQUEST,
    FETCH_REQUEST,
    LARGEST_TIMEOUT,
    LARGEST_WAIT,
    WAITING,
)
from wireproof.iggy.send import CLASSIC_REPLY
from wireproof.iggy.suite.mutation import unique_entries
from wireproof.wire.options import DEFAULT_OPTIONS, Options


def _identifiers(ask: Wanted, drawn: SearchStrategy[Any]) -> SearchStrategy[Any]:
    zero = Identifier("numeric", bytes(4))
    from_1 = ask.fmt.revision in ("0.0.30", "0.0.92", "0.7")  # the number is not 0: §2.2
    return drawn if from_1 else st.one_of(drawn, drawn, st.just(zero))


def _sorted_map(_: Wanted, drawn: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Sort headers by key, without duplicate keys: §10.1."""
    return drawn.map(lambda headers: tuple(sorted(unique_entries(headers), key=sort_key)))


def _map_or_block(_: Wanted, drawn: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Begin bytes that are no map with kind 0, so that they never are one: §10.2."""
    return drawn.map(lambda headers: b"\0" + headers if isinstance(headers, bytes) else headers)


def _with_random_checksum(_: Wanted, drawn: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Give a request no checksum if its operation has none, else another number than 0: §6.1."""

    def change(header: Any) -> Any:  # noqa: ANN401 - of a request
        bare = header.operation == NON_REPLICATED or header.operation >= FIRST_PARTITION_OPERATION
        return evolve(header, request_checksum=0 if bare else header.request_checksum or 1)

    return drawn.map(change)


def _between(least: int, most: int) -> Refinement:
    return lambda _, __: st.one_of(st.sampled_from([least, most]), st.integers(least, most))


def _often(*numbers: int) -> Refinement:
    return lambda _, drawn: st.one_of(st.sampled_from(numbers), drawn)


def _not_empty(cls: type) -> dict[Any, Refinement]:
    """Return refinements of a send: it has a message, and a message has a payload."""
    message = get_args(get_type_hints(cls)["messages"])[0]
    return {
        (cls, "messages"): lambda _, drawn: drawn.map(lambda rows: rows or (smallest(message),)),
        (message, "payload"): lambda _, drawn: drawn.map(lambda payload: payload or b"p"),
    }


_SENDS: Final = {
    row.value
    for revisions in (send.REVISIONS, json_bodies.SENDS)
    for row in revisions.values()
    if "messages" in get_type_hints(row.value)
}

_WAITING: Final = (DEFERRED_POLL_REQUEST.at(WAITING).type, FETCH_REQUEST.at(WAITING).type)

VALUES: Final[dict[Any, Refinement]] = {
    Identifier: _identifiers,
    HEADERS_V1: _sorted_map,
    HEADERS_V2: _sorted_map,
    HEADERS_V1 | bytes: lambda ask, _: by_type(ask, HEADERS_V1),  # no client before 0.9.0 seals headers
    HEADERS_V2 | bytes: _map_or_block,
    REQUEST_HEADER.at(CONTEXT).type: _with_random_checksum,
    (CLASSIC_REPLY.at("0.0.30").type, "status"): _often(0, 0, 3, 4009, 4022),
    **{key: row for cls in _SENDS for key, row in _not_empty(cls).items()},
    (FetchSection, "status"): _often(0, 0, 3007),
    **{(cls, "wait_us"): _between(0, LARGEST_WAIT) for cls in _WAITING},
    **{(cls, "request_timeout_us"): _between(0, LARGEST_TIMEOUT) for cls in _WAITING},
    **{(BATCHES["poll"].at(one).type, "message_count"): _between(0, 2) for one in ("0.11", CONTEXT)},
}
"""Types and fields of classes to refinements of their strategies."""


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "iggy.send": lambda _: st.sampled_from([*[DEFAULT_OPTIONS] * 5, Options(profile="produce")])
}
"""Name of a format to the strategy for the options of a value."""
