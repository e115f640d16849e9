"""The request of a poll that waits (code 106): iggy.md, section 6.2.

The layout is that of a poll request of 0.11.1-edge, then four limits, and nothing after them.
"""

from typing import Any, Final

from attrs import asdict, frozen

from wireproof.iggy import poll_request
from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.poll_request import Consumer111, PollingStrategy, PollRequest111
from wireproof.iggy.revision import Revision
from wireproof.iggy.wait_limits import (
    DEFERRED_MARGIN,
    LARGEST_TIMEOUT,
    LARGEST_WAIT,
    LEAST_BYTES,
    Fault,
    first_fault,
)
from wireproof.wire.layout import Layout, Number
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

_POLL: Final = poll_request.REVISIONS["0.11.1-edge"]


@frozen(kw_only=True)
class DeferredPollRequest:
    """The value of a request. Times are in microseconds."""

    consumer: Consumer111
    stream: Identifier
    topic: Identifier
    partition_id: int | None
    strategy: PollingStrategy
    count: int
    auto_commit: bool
    wait_us: int
    min_count: int
    max_bytes: int
    request_timeout_us: int


LIMITS: Final = Layout(
    "Limits",
    (
        Number("wait_us", "uint64le", meaning="microseconds"),
        Number("min_count", "uint32le", asks_for="messages", meaning="the messages to wait for"),
        Number("max_bytes", "uint32le"),
        Number("request_timeout_us", "uint64le", meaning="microseconds"),
    ),
    cites="iggy.md §6.2",
)

LAYOUT: Final = Layout(
    "DeferredPollMessages",
    (*_POLL.layout.parts, *LIMITS.parts),
    value=DeferredPollRequest,
    cites="iggy.md §6.2",
)

(_LIMITS,) = iggy_runs(LIMITS)


REVISIONS: Final = {"0.11.1-edge": Revision(LAYOUT)}
"""Revision to its row."""


def _faults(value: DeferredPollRequest) -> Fault | None:
    """Return the first field outside its limits."""
    margin = DEFERRED_MARGIN if value.wait_us else 1
    return first_fault(
        ("wait_us", value.wait_us, 0, LARGEST_WAIT),
        ("count", value.count, 0, None),
        ("min_count", value.min_count, 1, value.count),
        ("max_bytes", value.max_bytes, LEAST_BYTES, None),
        ("request_timeout_us", value.request_timeout_us, value.wait_us + margin, LARGEST_TIMEOUT),
    )


def decode(revision: Revision, reader: Reader, options: Options) -> DeferredPollRequest:
    """Read one request, to the end of the body."""
    poll = poll_request.decode(_POLL, reader, options)
    start, limits = reader.pos, _LIMITS.read_fields(reader)
    if reader.left:
        raise reader.reject("trailing-data", "request_timeout_us", f"{reader.left} bytes after it")
    value: DeferredPollRequest = revision.value(**asdict(poll, recurse=False), **limits)
    if fault := _faults(value):
        raise reader.reject("invalid-value", fault.name, fault.text, at=start + LIMITS.offset(fault.name))
    return value


def encode(_: Revision, writer: Writer, value: DeferredPollRequest, options: Options) -> None:
    """Write one request."""
    if fault := _faults(value):
        raise writer.invalid(fault.name, fault.text)
    fields: dict[str, Any] = asdict(value, recurse=False)
    limits = {part.name: fields.pop(part.name) for part in LIMITS.parts}
    poll_request.encode(_POLL, writer, PollRequest111(**fields), options)
    _LIMITS.write(writer, tuple(limits.values()))
