"""The request of FetchMessages (code 109), which reads many partitions of a topic: iggy.md, section 6.2.

It names a consumer, a stream and a topic, then has limits for all partitions and one target for each
partition. Nothing follows.
"""

from typing import Final

from attrs import frozen

from wireproof.iggy import poll_request
from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.poll_request import Consumer111, PollingStrategy
from wireproof.iggy.revision import Revision
from wireproof.iggy.wait_limits import (
    DEFERRED_MARGIN,
    LARGEST_PARTITIONS,
    LARGEST_TIMEOUT,
    LARGEST_WAIT,
    LEAST_BYTES,
    Fault,
    first_fault,
)
from wireproof.wire.layout import Count, Layout, Nested, Number, Repeated
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

_POLL: Final = poll_request.REVISIONS["0.11.1-edge"]

STARTS: Final = ("offset", "next")
"""The polling strategies of a target: the others are resolved before by a poll."""


@frozen(kw_only=True)
class FetchTarget:
    """A partition to read, and from where. The last two numbers identify the partition that is meant."""

    partition_id: int
    strategy: PollingStrategy
    max_bytes: int
    incarnation: int
    owner_generation: int


@frozen(kw_only=True)
class FetchRequest:
    """The value of a request. Times are in microseconds."""

    consumer: Consumer111
    stream: Identifier
    topic: Identifier
    wait_us: int
    request_timeout_us: int
    min_count: int
    count: int
    max_bytes: int
    auto_commit: bool
    targets: tuple[FetchTarget, ...]


LIMITS: Final = Layout(
    "Limits",
    (
        Number("wait_us", "uint64le", meaning="microseconds"),
        Number("request_timeout_us", "uint64le", meaning="microseconds"),
        Number("min_count", "uint32le", asks_for="messages", meaning="the messages to wait for"),
        Number("count", "uint32le", asks_for="messages", meaning="the most messages"),
        Number("max_bytes", "uint32le"),
    ),
    cites="iggy.md §6.2",
)

TARGET_TAIL: Final = Layout(
    "TargetTail",
    (
        Number("max_bytes", "uint32le"),
        Number("incarnation", "uint64le"),
        Number("owner_generation", "uint64le"),
    ),
    cites="iggy.md §6.2",
)

TARGET: Final = Layout(
    "FetchTarget",
    (
        Number("partition_id", "uint32le"),
        Nested("strategy", of=poll_request.STRATEGY),
        *TARGET_TAIL.parts,
    ),
    value=FetchTarget,
    cites="iggy.md §6.2",
)

LAYOUT: Final = Layout(
    "FetchMessages",
    (
        *poll_request.place(_POLL.consumer),
        *LIMITS.parts,
        poll_request.AUTO_COMMIT,
        Count("targets_count", "uint32le", of="targets"),
        Repeated("targets", of=TARGET),
    ),
    value=FetchRequest,
    cites="iggy.md §6.2",
)

(_LIMITS,) = iggy_runs(LIMITS)
(_PARTITION,) = iggy_runs(TARGET)
(_TARGET_TAIL,) = iggy_runs(TARGET_TAIL)


REVISIONS: Final = {"0.11.1-edge": Revision(LAYOUT)}
"""Revision to its row."""


def decode(revision: Revision, reader: Reader, options: Options) -> FetchRequest:
    """Read one request, to the end of the body."""
    place = poll_request.read_place(_POLL, reader, options)
    starts = {name: reader.pos + offset for name, offset in _LIMITS.offsets.items()}
    limits = _LIMITS.read_fields(reader)
    commit = poll_request.read_flag(reader, "auto_commit", any_byte=True)
    starts["targets"] = reader.pos
    targets = _read_targets(reader, options, starts)
    value: FetchRequest = revision.value(**place, **limits, auto_commit=commit, targets=targets)
    if fault := _fault(value):
        raise reader.reject("invalid-value", fault.name, fault.text, at=starts[fault.name])
    return value


def _read_targets(reader: Reader, options: Options, starts: dict[str, int]) -> tuple[FetchTarget, ...]:
    """Read the targets; `starts` gets the position of each of their fields that has limits."""
    at, count = reader.pos, reader.uint32le("targets_count")
    reader.cover("targets_count", "count", reader.pos, reader.end)
    if count > LARGEST_PARTITIONS:
        text = f"{count} targets, {LARGEST_PARTITIONS} allowed"
        raise reader.reject("limit-exceeded", "targets_count", text, at=at)
    targets: list[FetchTarget] = []
    while len(targets) < count:
        reader.enter("targets", len(targets))
        targets.append(_read_target(reader, options, f"targets[{len(targets)}].", starts))
        reader.leave()
    if reader.left:
        raise reader.reject("trailing-data", "targets", f"{reader.left} bytes after {count} targets")
    return tuple(targets)


def _read_target(reader: Reader, options: Options, prefix: str, starts: dict[str, int]) -> FetchTarget:
    starts[f"{prefix}partition_id"] = reader.pos
    (partition,) = _PARTITION.read(reader)
    starts[f"{prefix}strategy"] = reader.pos
    strategy = poll_request.read_strategy(reader, options)
    starts[f"{prefix}max_bytes"] = reader.pos
    return FetchTarget(partition_id=partition, strategy=strategy, **_TARGET_TAIL.read_fields(reader))


def _fault(value: FetchRequest) -> Fault | None:
    """Return the first field outside its limits."""
    least = value.wait_us + DEFERRED_MARGIN
    fault = first_fault(
        ("wait_us", value.wait_us, 0, LARGEST_WAIT),
        ("request_timeout_us", value.request_timeout_us, least, LARGEST_TIMEOUT),
        ("count", value.count, 0, None),
        ("min_count", value.min_count, 1, value.count),
        ("max_bytes", value.max_bytes, LEAST_BYTES, None),
        ("targets", len(value.targets), 1, LARGEST_PARTITIONS),
    )
    return fault or _target_fault(value)


def _target_fault(value: FetchRequest) -> Fault | None:
    """Return the first field of a target outside its limits."""
    seen: set[int] = set()
    for index, target in enumerate(value.targets):
        prefix = f"targets[{index}]."
        if target.strategy.kind not in STARTS:
            return Fault(f"{prefix}strategy", f"{target.strategy.kind}, allowed: {' and '.join(STARTS)}")
        if fault := first_fault((f"{prefix}max_bytes", target.max_bytes, LEAST_BYTES, value.max_bytes)):
            return fault
        if target.partition_id in seen:
            return Fault(f"{prefix}partition_id", f"{target.partition_id} twice")
        seen.add(target.partition_id)
    return None


def encode(_: Revision, writer: Writer, value: FetchRequest, options: Options) -> None:
    """Write one request."""
    if fault := _fault(value):
        raise writer.invalid(fault.name, fault.text)
    poll_request.write_place(_POLL, writer, value, options)
    _LIMITS.write_fields(writer, value)
    writer.uint8("auto_commit", int(value.auto_commit))
    writer.uint32le("targets_count", len(value.targets))
    for index, target in enumerate(value.targets):
        writer.enter("targets", index)
        _write_target(writer, target)
        writer.leave()


def _write_target(writer: Writer, target: FetchTarget) -> None:
    _PARTITION.write_fields(writer, target)
    poll_request.write_strategy(writer, target.strategy)
    _TARGET_TAIL.write_fields(writer, target)
