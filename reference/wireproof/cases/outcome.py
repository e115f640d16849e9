"""What an implementation did with one case: design, section 1, "outcome"."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from attrs import field, frozen

from wireproof.wire.classes import RejectClass
from wireproof.wire.rejected import At
from wireproof.wire.values import Json


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """`tuple`, with a type that the checker can follow through a converter."""
    return tuple(names)


@frozen
class Accepted:
    """It answered.

    Attributes:
        value: what the bytes stand for, in JSON form; None for encode, or where only `digest` was asked for.
        consumed: bytes used of the input; None where the implementation does not say.
        data: the bytes of an encode.
        remarks: the remark classes it reported.
        digest: of the value over the observed fields, in place of the value.
    """

    value: Json = None
    consumed: int | None = None
    data: bytes | None = None
    remarks: tuple[str, ...] = field(default=(), converter=_names)
    digest: str | None = None


@frozen
class Refused:
    """It said no.

    Attributes:
        cls: the class; `other` where its library's error tells none.
        before: what it delivered first; None where it does not say.
        untyped: its library does not document the exception that carried the refusal.
    """

    cls: RejectClass = "other"
    at: At | None = None
    path: str = ""
    detail: str = ""
    text: str = ""
    before: Json = None
    untyped: bool = False


@frozen
class Unsupported:
    """It does not do this at all, and says so."""

    text: str = ""


@frozen
class Stalled:
    """It delivered nothing and said nothing."""

    text: str = ""


@frozen
class Crashed:
    """Its process died; `text` says how, by signal or exit code, and holds the end of its stderr."""

    text: str = ""


@frozen
class TimedOut:
    """It did not answer in `ms` milliseconds."""

    ms: int
    text: str = ""


@frozen
class Exhausted:
    """It went over a limit of a resource."""

    resource: Literal["memory", "output"]
    text: str = ""


@frozen
class Faulty:
    """It broke the adapter contract; nothing can be said of its codec."""

    text: str = ""


Cause = Literal["same-as", "spent", "faulty", "start", "large"]


@frozen
class NotRun:
    """It was not asked.

    Attributes:
        cause: `same-as`, its family died of one thing three times; `spent`, the run's budget of deaths and
            timeouts is; `faulty`, so is that of breaches of the contract; `start`, the adapter did not start
            again; `large`, the input is over the limit of a message.
    """

    text: str = ""
    cause: Cause = "start"


Outcome: TypeAlias = (
    Accepted | Refused | Unsupported | Stalled | Crashed | TimedOut | Exhausted | Faulty | NotRun
)
