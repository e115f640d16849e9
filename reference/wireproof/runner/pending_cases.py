"""The cases that an engine has in progress, their results, and the end of an adapter among them."""

import re
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from wireproof.adapters.contract import Request
from wireproof.cases.case import Case
from wireproof.cases.outcome import Cause, Crashed, Exhausted, Faulty, NotRun, Outcome, TimedOut


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


# --- failure budget ---
#
# Count the crashes, timeouts and contract breaches of an adapter, and decide when to stop running cases.
#
# After three failures with one signature in the family of one fixture, the rest of that family is not run.
# The budget of a run counts signatures, not failures: a codec with one bug that shows in a hundred fixtures
# is still asked about all of them. Only timeouts are counted one by one, because each costs seconds.


MAX_PER_FAMILY: Final = 3
"""Failures with one signature in a family, after which the rest of the family is not run."""

MAX_SIGNATURES: Final = 64
"""Different signatures, after which the rest of the run is not run."""

MAX_FAULTS: Final = 10
"""Contract breaches, or deaths that no case reproduces alone, after which the rest of the run is not run."""

MAX_CONSECUTIVE_TIMEOUTS: Final = 6
"""Consecutive timeouts of cases run in isolation, after which the rest of the run is not run."""

MAX_TIMEOUTS: Final = 100
"""Timeouts of cases run in isolation, after which the rest of the run is not run."""

_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


def family_of(case: Case) -> str:
    """Return the id of the golden case: the parent of a derived case, else the case itself."""
    return case.parent or case.id


class FailureBudget:
    """The failures of one run that end or hang the adapter.

    Attributes:
        count: the number of failures.
        signatures, faults, timeouts, consecutive_timeouts: what has a limit.
        has_answers: whether a case was answered.
        stopped: why no further case is run; None while cases are run.
    """

    def __init__(self) -> None:
        """Start without failures."""
        self.count = 0
        self._in_family: Counter[tuple[str, str]] = Counter()
        self.signatures: set[str] = set()
        self._stopped_families: dict[str, str] = {}
        self._first_case: dict[tuple[str, str], str] = {}
        self.faults = 0
        self.consecutive_timeouts = 0
        self.has_answers = False
        self.timeouts = 0
        self.stopped: NotRun | None = None

    def add(self, case: Case, outcome: Outcome, how: str, *, alone: bool = True) -> None:
        """Count a failure of `case`; not `alone`: the case was in flight and does not fail in isolation."""
        self.count += 1
        signature = f"{type(outcome).__name__}: {_NUMBER.sub('#', how)}"
        key = (family_of(case), signature)
        self._first_case.setdefault(key, case.id)
        self._in_family[key] += 1
        self.signatures.add(signature)
        if self._in_family[key] >= MAX_PER_FAMILY:
            self._stopped_families[key[0]] = self._first_case[key]
        # A timeout that no case reproduces alone comes from a slow machine, and must not end the run.
        self.faults += isinstance(outcome, Faulty) or not (alone or isinstance(outcome, TimedOut))
        if alone and isinstance(outcome, TimedOut):
            self.consecutive_timeouts += 1
            self.timeouts += 1
        self._check_limits(case.id)

    def merge(self, later: "FailureBudget", last: str) -> None:
        """Add the failures of a later part of the run, whose last case is `last`."""
        self.count += later.count
        self.signatures |= later.signatures
        self.faults += later.faults
        self.timeouts += later.timeouts
        before = 0 if later.has_answers else self.consecutive_timeouts
        self.consecutive_timeouts = before + later.consecutive_timeouts
        self.stopped = self.stopped or later.stopped
        if later.count:
            self._check_limits(last)

    def _check_limits(self, last: str) -> None:
        """Run no further case if a limit is reached; `last` is the id of the last case."""
        if self.consecutive_timeouts >= MAX_CONSECUTIVE_TIMEOUTS:
            self.stop(f"{MAX_CONSECUTIVE_TIMEOUTS} cases in a row without an answer in time, the last {last}")
        elif self.timeouts >= MAX_TIMEOUTS:
            self.stop(f"{MAX_TIMEOUTS} cases without an answer in time, the last {last}")
        elif self.faults >= MAX_FAULTS:
            self.stop(f"{MAX_FAULTS} faults of the adapter itself, the last at {last}", "faulty")
        elif len(self.signatures) >= MAX_SIGNATURES:
            self.stop(f"{MAX_SIGNATURES} different ways to die, the last at {last}")

    def answered(self) -> None:
        """Reset the count of consecutive timeouts, because a case was answered."""
        self.consecutive_timeouts = 0
        self.has_answers = True

    def stop(self, why: str, cause: Cause = "spent") -> None:
        """Run no further case; the first reason is kept."""
        self.stopped = self.stopped or NotRun(why, cause)

    def verdict(self, case: Case) -> NotRun | None:
        """Return the `NotRun` outcome of a case that must not be run; None if it may be run."""
        if self.stopped:
            return self.stopped
        first = self._stopped_families.get(family_of(case))
        return NotRun(f"same as {first}", "same-as") if first else None
