"""The requests that read messages: PollMessages (code 100), a poll that waits (106), FetchMessages (109).

iggy.md, sections 3.2, 4, 5, 6.1 and 6.2. Times are in microseconds. A flag is true if its byte is 1, and
false for any other byte; since 0.10.0 `auto_commit` is true for every byte but 0.
"""

from typing import TYPE_CHECKING, Final

from wireproof.iggy.destination import IDENTIFIER
from wireproof.iggy.revision import REVISIONS
from wireproof.schema.layout import Count, Number
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Field, Struct, inner, many, since, until

if TYPE_CHECKING:
    from wireproof.iggy import values

WAITING: Final = "0.11.1-edge"
"""The first revision with requests that wait."""

LARGEST_WAIT: Final = 600_000_000
"""The longest wait, in microseconds: ten minutes."""

LARGEST_TIMEOUT: Final = LARGEST_WAIT + 30_000_000
"""The longest timeout of a request, in microseconds."""

DEFERRED_MARGIN: Final = 1_000_000
"""The least time between the end of the wait and the timeout, in microseconds."""

LEAST_BYTES: Final = 40 + 256 + 48
"""The least limit of bytes: the prefix of a reply, the header of a batch and that of a message."""

LARGEST_PARTITIONS: Final = 1000
"""The largest number of partitions of one request, and of sections of its reply."""

STARTS: Final = ("offset", "next")
"""The polling strategies of a target of a fetch: the others are resolved before by a poll."""


# --- their parts ---

_CONSUMER_KINDS: Final = {1: "consumer", 2: "group"}

CONSUMER: Final = Struct(
    "Consumer",
    until(WAITING, Number("kind", "uint8", codes=_CONSUMER_KINDS, error="InvalidCommand")),
    since(
        WAITING,
        Number("kind", "uint8", codes={**_CONSUMER_KINDS, 3: "external_group"}, error="InvalidCommand"),
    ),
    until("0.0.92", Number("id", "uint32le")),
    since("0.0.92", inner("id", IDENTIFIER)),
    revisions=REVISIONS,
    cites="iggy.md §2.2, §6.1",
)
"""A consumer, or a group of them; an external group is one outside Iggy, such as one of Kafka."""

STRATEGY: Final = Struct(
    "PollingStrategy",
    Number(
        "kind",
        "uint8",
        codes={1: "offset", 2: "timestamp", 3: "first", 4: "last", 5: "next"},
        error="InvalidCommand",
    ),
    Number("value", "uint64le", meaning="an offset, or microseconds"),
    revisions=REVISIONS,
    cites="iggy.md §2.2",
)

_FLAG_CODES: Final = {0: "false", 1: "true"}

_PLACE: Final = (inner("consumer", CONSUMER), inner("stream", IDENTIFIER), inner("topic", IDENTIFIER))

_AUTO_COMMIT: Final[tuple[Field, ...]] = (
    until("0.10", Number("auto_commit", "uint8", codes=_FLAG_CODES, truth="one")),
    since("0.10", Number("auto_commit", "uint8", codes=_FLAG_CODES, truth="any")),
)


# --- PollMessages ---

POLL_REQUEST: Final = Struct(
    "PollMessages",
    *_PLACE,
    since(
        "0.8", Number("partition_flag", "uint8", codes=_FLAG_CODES, truth="one", presence_of="partition_id")
    ),
    Number("partition_id", "uint32le"),
    inner("strategy", STRATEGY),
    Number("count", "uint32le", asks_for="messages", meaning="the most messages"),
    *_AUTO_COMMIT,
    revisions=REVISIONS,
    cites="iggy.md §3.2, §4, §5, §6.1",
)

POLL_REQUEST_REVISIONS: Final = ("0.0.30", "0.0.92", "0.8", "0.10", WAITING)
"""The revisions that began with a new layout of it."""


# --- a poll that waits ---

DEFERRED_POLL_REQUEST: Final = Struct(
    "DeferredPollMessages",
    Number("wait_us", "uint64le", meaning="microseconds"),
    Number("min_count", "uint32le", asks_for="messages", meaning="the messages to wait for"),
    Number("max_bytes", "uint32le"),
    Number("request_timeout_us", "uint64le", meaning="microseconds"),
    revisions=REVISIONS,
    cites="iggy.md §6.2",
    extends=POLL_REQUEST,
    whole="iggy.deferred-poll-request.end",
)


# --- FetchMessages: many partitions of a topic ---

FETCH_TARGET: Final = Struct(
    "FetchTarget",
    Number("partition_id", "uint32le"),
    inner("strategy", STRATEGY),
    Number("max_bytes", "uint32le"),
    Number("incarnation", "uint64le"),
    Number("owner_generation", "uint64le"),
    revisions=REVISIONS,
    cites="iggy.md §6.2",
)
"""A partition to read, and from where. The last two numbers identify the partition that is meant."""

FETCH_REQUEST: Final = Struct(
    "FetchMessages",
    *_PLACE,
    Number("wait_us", "uint64le", meaning="microseconds"),
    Number("request_timeout_us", "uint64le", meaning="microseconds"),
    Number("min_count", "uint32le", asks_for="messages", meaning="the messages to wait for"),
    Number("count", "uint32le", asks_for="messages", meaning="the most messages"),
    Number("max_bytes", "uint32le"),
    *_AUTO_COMMIT,
    Count("targets_count", "uint32le", of="targets"),
    many("targets", FETCH_TARGET),
    revisions=REVISIONS,
    cites="iggy.md §6.2",
    whole="iggy.fetch-request.end",
)


# --- flags, the partition and the count: §3.2, §5 ---


@POLL_REQUEST.rule("partition_flag", "iggy.poll-request.flag", since="0.8")
@POLL_REQUEST.rule("auto_commit", "iggy.poll-request.flag")
@FETCH_REQUEST.rule("auto_commit", "iggy.poll-request.flag")
def _odd_flag(number: int) -> Fault | None:
    return remarked("iggy-flag") if number > 1 else None


@POLL_REQUEST.rule("partition_id", "iggy.poll-request.partition", since="0.8")
def _unset_partition(partition_flag: bool, number: int) -> Fault | None:
    return remarked("iggy-unset-field") if number and not partition_flag else None


@POLL_REQUEST.rule("count", "iggy.poll-request.count")
def _no_messages(count: int) -> Fault | None:
    return None if count else Fault("invalid-value", "0", detail="InvalidMessagesCount")


# --- limits of requests that wait: §6.2 ---


def _outside(*limits: tuple[str, int, int, int | None]) -> Fault | None:
    """Return the fault of the first field outside its limits: path, number, the least and the largest one."""
    for path, number, least, most in limits:
        if number < least or (most is not None and number > most):
            allowed = f"at least {least}" if most is None else f"{least} to {most}"
            return Fault("invalid-value", f"{number}, allowed: {allowed}", path=path)
    return None


@DEFERRED_POLL_REQUEST.rule("", "iggy.deferred-poll-request.limits")
def _deferred_limits(
    wait_us: int, count: int, min_count: int, max_bytes: int, request_timeout_us: int
) -> Fault | None:
    margin = DEFERRED_MARGIN if wait_us else 1
    return _outside(
        ("wait_us", wait_us, 0, LARGEST_WAIT),
        ("count", count, 0, None),
        ("min_count", min_count, 1, count),
        ("max_bytes", max_bytes, LEAST_BYTES, None),
        ("request_timeout_us", request_timeout_us, wait_us + margin, LARGEST_TIMEOUT),
    )


@FETCH_REQUEST.rule("targets_count", "iggy.fetch-request.target-limits")
def _too_many(targets_count: int) -> Fault | None:
    if targets_count > LARGEST_PARTITIONS:
        return Fault("limit-exceeded", f"{targets_count} targets, {LARGEST_PARTITIONS} allowed")
    return None


@FETCH_REQUEST.rule("", "iggy.fetch-request.limits")
def _fetch_limits(
    wait_us: int, request_timeout_us: int, count: int, min_count: int, max_bytes: int
) -> Fault | None:
    return _outside(
        ("wait_us", wait_us, 0, LARGEST_WAIT),
        ("request_timeout_us", request_timeout_us, wait_us + DEFERRED_MARGIN, LARGEST_TIMEOUT),
        ("count", count, 0, None),
        ("min_count", min_count, 1, count),
        ("max_bytes", max_bytes, LEAST_BYTES, None),
    )


@FETCH_REQUEST.rule("", "iggy.fetch-request.target-limits")
def _target_limits(targets: tuple["values.FetchTarget", ...], max_bytes: int) -> Fault | None:
    if not targets:
        return Fault(
            "invalid-value", f"0, allowed: 1 to {LARGEST_PARTITIONS}", path="targets", at="targets_count"
        )
    seen: set[int] = set()
    for index, target in enumerate(targets):
        path = f"targets[{index}]"
        if target.strategy.kind not in STARTS:
            text = f"{target.strategy.kind}, allowed: {' and '.join(STARTS)}"
            return Fault("invalid-value", text, path=f"{path}.strategy")
        if fault := _outside((f"{path}.max_bytes", target.max_bytes, LEAST_BYTES, max_bytes)):
            return fault
        if target.partition_id in seen:
            return Fault("invalid-value", f"{target.partition_id} twice", path=f"{path}.partition_id")
        seen.add(target.partition_id)
    return None
