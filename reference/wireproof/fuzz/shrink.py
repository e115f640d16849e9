"""A failing case made as small as it can be while it fails in the same way. Design, section 1, "signature".

Every candidate takes the road of any other case: the reference says what is to be expected of it, the
engine asks the adapter, the judge rules. So crashes and timeouts shrink too, in whatever process.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Case, Input
from wireproof.formats import FORMATS
from wireproof.fuzz.smaller import smaller, weight
from wireproof.trial.engine import Engine, Ran
from wireproof.trial.judge import judge
from wireproof.trial.reference import expectation
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import ROWS, SILENT, Verdict

BATCH: Final = 16
"""Candidates asked at once; one at a time where each may cost a process."""

ALONE: Final = frozenset(("crash", "timeout", "resource", "stalled"))
"""Verdicts that cost a process."""


class NothingToShrinkError(ValueError):
    """The case does not fail on the adapter, so that there is no signature to keep."""


@frozen
class Shrunk:
    """What came of it.

    Attributes:
        case: the smallest case with the signature.
        signature: of both.
        verdict: on the smallest.
        asked, kept: candidates that were asked, and those that were smaller and failed alike.
        seconds: how long it took.
        done: whether nothing smaller was left to try; else the time was over, or enough were asked.
    """

    case: Case
    signature: Signature
    verdict: Verdict
    asked: int
    kept: int
    seconds: float
    done: bool


class Shrinker:
    """Shrinks on one engine that was entered."""

    def __init__(self, engine: Engine, case: Case, clock: Callable[[], float] = time.monotonic) -> None:
        """Judge the case; raises `NothingToShrinkError` if the adapter does not fail it."""
        self._engine = engine
        self._clock = clock
        self._asked = 0
        self._most: int | None = None
        self._row = FORMATS[case.joined]
        self.best = evolve(case, twin=None, expect=expectation(case))
        self.verdict, self.signature = next(self._judged([self.best]))
        if ROWS[self.verdict.name].gate in SILENT:
            raise NothingToShrinkError(
                f"{case.id} is {self.verdict.label} on {engine.hello.name}, no failure"
            )

    def run(self, seconds: float, most: int | None = None) -> Shrunk:
        """The smallest case found in `seconds`; each step is strictly smaller than the one before.

        `most` bounds the candidates asked: with it and no bound in time, the same case shrinks the same
        on a slow machine.
        """
        start = self._clock()
        self._most = most
        kept = 0
        while self._clock() - start < seconds and not self._spent:
            better = self._better(start + seconds)
            if better is None:
                break
            self.best, self.verdict = better
            kept += 1
        spent = self._clock() - start
        done = spent < seconds and not self._spent
        return Shrunk(self.best, self.signature, self.verdict, self._asked, kept, spent, done)

    @property
    def _spent(self) -> bool:
        return self._most is not None and self._asked >= self._most

    def _better(self, until: float) -> tuple[Case, Verdict] | None:
        """The first smaller case with the signature; None if there is none, or no time is left."""
        candidates = smaller(self._row, self.best.input)
        size = 1 if self.verdict.name in ALONE else BATCH
        while self._clock() < until and not self._spent:
            batch = [self._case(given) for given in islice(candidates, size)]
            if not batch:
                return None
            found = [
                (case, verdict)
                for case, (verdict, made) in zip(batch, self._judged(batch), strict=True)
                if made == self.signature
            ]
            if found:
                return min(found, key=lambda pair: weight(pair[0].input))
        return None

    def _case(self, given: Input) -> Case:
        """A candidate; its id is its own, so that no family is closed by the deaths of others."""
        self._asked += 1
        case = evolve(self.best, input=given, id=f"{self.best.joined}/shrink/n{self._asked}", parent=None)
        return evolve(case, expect=expectation(case))

    def _judged(self, cases: Iterable[Case]) -> Iterator[tuple[Verdict, Signature]]:
        for ran in self._engine.run(cases):
            verdict = judge(ran.case, ran.outcome, hello=self._engine.hello)
            yield verdict, signature(self._engine.hello.name, self._named(ran), verdict)

    def _named(self, ran: Ran) -> Case:
        return evolve(ran.case, format=self._row.name, revision=self._row.revision)


def shrink(engine: Engine, case: Case, seconds: float) -> Shrunk:
    """As `Shrinker`; the shrunk case bears the id of the case that it came from.

    Raises:
        NothingToShrinkError: the adapter does not fail the case.
    """
    shrunk = Shrinker(engine, case).run(seconds)
    name = case.id.partition("~")[0]
    small = evolve(shrunk.case, id=f"{name}~shrunk:0", parent=case.parent or name, family="shrunk")
    return evolve(shrunk, case=small)
