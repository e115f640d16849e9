"""Who died of what, and when it is enough. Design, section 4, "death".

After three deaths with one signature in one fixture's family the rest of the family is not run. The
budget of a run counts signatures, not deaths: a codec with one fault that shows in a hundred fixtures
is asked about all of them. Only timeouts are counted one by one, for each costs seconds.
"""

import re
from collections import Counter
from typing import Final

from wireproof.cases.case import Case
from wireproof.cases.outcome import Cause, Faulty, NotRun, Outcome, TimedOut

PER_FAMILY: Final = 3
"""Deaths with one signature, after which the rest of a family is not run."""

SIGNATURES: Final = 64
"""Different signatures, after which the rest of the run is not run."""

FAULTS: Final = 10
"""Breaches of the contract, or deaths that no case causes alone, after which nothing more is learned."""

SILENT: Final = 6
"""Cases in a row without an answer in time, each asked alone, after which the rest of the run is not run."""

TIMEOUTS: Final = 100
"""The same of all cases without an answer in time."""

_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


def family_of(case: Case) -> str:
    """The golden case that a case is, or comes from."""
    return case.parent or case.id


class Deaths:
    """The deaths of one run.

    Attributes:
        count: all of them.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self._in_family: Counter[tuple[str, str]] = Counter()
        self._signatures: set[str] = set()
        self._closed: dict[str, str] = {}
        self._first: dict[tuple[str, str], str] = {}
        self._faults = 0
        self._silent = 0
        self._timeouts = 0
        self._over: NotRun | None = None

    def add(self, case: Case, outcome: Outcome, how: str, *, alone: bool = True) -> None:
        """Note that `case` died with `outcome`; not `alone`: it was in flight and does not die by itself."""
        self.count += 1
        signature = f"{type(outcome).__name__}: {_NUMBER.sub('#', how)}"
        key = (family_of(case), signature)
        self._first.setdefault(key, case.id)
        self._in_family[key] += 1
        self._signatures.add(signature)
        if self._in_family[key] >= PER_FAMILY:
            self._closed[key[0]] = self._first[key]
        # Slowness that no case shows alone is the machine's, and must not end a run.
        self._faults += isinstance(outcome, Faulty) or not (alone or isinstance(outcome, TimedOut))
        if alone and isinstance(outcome, TimedOut):
            self._silent += 1
            self._timeouts += 1
        if self._silent >= SILENT:
            self.stop(f"{SILENT} cases in a row without an answer in time, the last {case.id}")
        elif self._timeouts >= TIMEOUTS:
            self.stop(f"{TIMEOUTS} cases without an answer in time, the last {case.id}")
        elif self._faults >= FAULTS:
            self.stop(f"{FAULTS} faults of the adapter itself, the last at {case.id}", "faulty")
        elif len(self._signatures) >= SIGNATURES:
            self.stop(f"{SIGNATURES} different ways to die, the last at {case.id}")

    def answered(self) -> None:
        """Note that some case was answered: the adapter does not hang on everything."""
        self._silent = 0

    def stop(self, why: str, cause: Cause = "spent") -> None:
        """Let nothing more be run."""
        self._over = self._over or NotRun(why, cause)

    def verdict(self, case: Case) -> NotRun | None:
        """Return the outcome of a `case` that is not to be run; None where it is."""
        if self._over:
            return self._over
        first = self._closed.get(family_of(case))
        return NotRun(f"same as {first}", "same-as") if first else None
