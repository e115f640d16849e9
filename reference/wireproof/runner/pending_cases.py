"""The cases that an engine has in progress, their results, and the end of an adapter among them."""

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import define, field, frozen

from wireproof.adapters.contract import Request
from wireproof.cases.case import Case
from wireproof.cases.outcome import Crashed, Exhausted, Faulty, Outcome, TimedOut


@frozen
class CaseResult:
    """A case as it was sent (wrapped as a stream if needed), its outcome and its nanoseconds.

    With several requests in flight the time is the share of the case between two arrivals of answers.
    """

    case: Case
    outcome: Outcome
    ns: int


ResultMaker: TypeAlias = Callable[[Case, Outcome, int], Any]
"""Makes the stored result from a case, its outcome and its nanoseconds: `CaseResult`, or less."""


@define
class CaseGroup:
    """Cases that are shuffled among themselves, and their results so far.

    Attributes:
        cases: in the order of the run.
        keep: makes the stored result, as soon as an answer arrives.
        results: by position in `cases`.
        open: the positions of the cases that are queued or in flight.
        measured: the cases that run with nothing else in flight: with a limit of memory, or generated.
        last: whether `take` ends with this block.
    """

    cases: list[Case]
    keep: ResultMaker
    results: dict[int, Any] = field(factory=dict)
    open: set[int] = field(factory=set)
    measured: "deque[PendingCase]" = field(factory=deque)
    last: bool = False

    def settle(self, place: int, case: Case, outcome: Outcome, ns: int) -> None:
        """Store the result of the case at `place`, which is then no longer open."""
        self.results[place] = self.keep(case, outcome, ns)
        self.open.discard(place)


@frozen
class PendingCase:
    """A case in progress: its block and position, its request, the milliseconds that it may take."""

    block: CaseGroup
    place: int
    case: Case
    request: Request
    ms: int


@frozen
class AdapterEnd:
    """The failure that ended the adapter while requests were in flight."""

    outcome: Crashed | TimedOut | Exhausted | Faulty
    how: str
    stray: str = ""
