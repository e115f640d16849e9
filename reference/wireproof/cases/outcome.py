"""The outcomes: the answer or failure of an implementation on one case."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from attrs import field, frozen

from wireproof.strict_parsing import JSON_NAME
from wireproof.wire.json_values import Json, json_of
from wireproof.wire.rejection import Position, RejectClass, Rejected


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple, with a type that mypy can follow through a converter."""
    return tuple(names)


@frozen
class BrokenRule:
    """A rule that has a level of its own, which an answer breaks whatever the case is about."""

    rule: str
    text: str = ""


@frozen
class Accepted:
    """The implementation accepted the input: adapter-contract.md#answers explains the fields.

    `value` is None for an encode, or if only `digest` was requested. The rules in `broken` are broken
    whatever the case is about.
    """

    value: Json = None
    consumed: int | None = None
    data: bytes | None = None
    remarks: tuple[str, ...] = field(default=(), converter=_names)
    digest: str | None = None
    broken: tuple[BrokenRule, ...] = ()


@frozen
class Refused:
    """The implementation rejected the input: adapter-contract.md#answers explains the fields.

    It is `untyped` if its library does not document the exception of the rejection.
    """

    cls: RejectClass = field(default="other", metadata={JSON_NAME: "class"})
    at: Position | None = None
    path: str = ""
    detail: str = ""
    text: str = ""
    before: Json = None
    untyped: bool = False
    broken: tuple[BrokenRule, ...] = ()


@frozen
class Unsupported:
    """The implementation declares that it does not support the case."""

    text: str = ""


@frozen
class Stalled:
    """The implementation delivered nothing and raised no error."""

    text: str = ""


@frozen
class Crashed:
    """The process died; `text` names the signal or exit code, and holds the end of its stderr."""

    text: str = ""


@frozen
class TimedOut:
    """There was no answer within `ms` milliseconds."""

    ms: int
    text: str = ""


@frozen
class Exhausted:
    """The implementation exceeded a limit of memory or output."""

    resource: Literal["memory", "output"]
    text: str = ""


@frozen
class Faulty:
    """The adapter broke its contract; this is no result about its codec."""

    text: str = ""


Cause = Literal["same-as", "spent", "faulty", "start", "large"]


@frozen
class NotRun:
    """The case was not run.

    Attributes:
        cause: `same-as`, its family failed three times in one way; `spent`, the run's budget of crashes and
            timeouts is used up; `faulty`, the budget of contract breaches is; `start`, the adapter did not
            start again; `large`, the input exceeds the limit of a message.
    """

    text: str = ""
    cause: Cause = "start"


Outcome: TypeAlias = (
    Accepted | Refused | Unsupported | Stalled | Crashed | TimedOut | Exhausted | Faulty | NotRun
)


def refused_outcome(rejected: Rejected) -> Refused:
    """Return the outcome of a decode, an encode or a scan that raised `rejected`."""
    return Refused(
        rejected.cls,
        rejected.at,
        rejected.path,
        rejected.detail,
        rejected.text,
        json_of(rejected.before, with_derived=True),
    )
