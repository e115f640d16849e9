"""Make a failing case as small as possible while it fails in the same way: with the same signature.

Every candidate is run like any other case: the reference gives the expectation, the engine runs the adapter,
the judge compares. So crashes and timeouts shrink too, in whatever process the adapter runs.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Case, Input, Steps
from wireproof.cases.made_case import made_case, needs_digest
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.steps import with_steps
from wireproof.formats import get
from wireproof.fuzz.shrink_candidates import smaller_inputs, weight
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge
from wireproof.runner.pending_cases import CaseResult
from wireproof.runner.signature import Signature, signature
from wireproof.runner.verdicts import NO_FINDING_GATES, ROWS, Verdict

BATCH_SIZE: Final = 16
"""Candidates that are run together. If each of them may end a process, they are run one by one."""

ONE_AT_A_TIME: Final = frozenset(("crash", "timeout", "resource", "stalled"))
"""Verdicts after which the process of the adapter is replaced."""


class NothingToShrinkError(ValueError):
    """The adapter does not fail the case, so there is no signature to keep."""


@frozen
class Shrunk:
    """The result of shrinking.

    Attributes:
        case: the smallest case with the signature.
        signature: of the first case and of the smallest one.
        verdict: on the smallest case.
        asked: number of candidates that were run.
        kept: number of candidates that were smaller and had the signature.
        seconds: time that it took.
        done: whether no smaller candidate was left; False if the time or the number of candidates ended it.
    """

    case: Case
    signature: Signature
    verdict: Verdict
    asked: int
    kept: int
    seconds: float
    done: bool


class Shrinker:
    """Shrinks one case on an engine that has been entered.

    Attributes:
        best: the smallest case so far.
        verdict: on that case.
        signature: which every candidate must have.
    """

    def __init__(self, engine: Engine, case: Case, clock: Callable[[], float] = time.monotonic) -> None:
        """Judge the case; raises `NothingToShrinkError` if the adapter does not fail it."""
        self._engine = engine
        self._clock = clock
        self._asked = 0
        self._max_candidates: int | None = None
        self._fmt = get(case.format, case.revision)
        self.best = _expecting(evolve(case, twin=None))
        self.verdict, self.signature = next(self._judged([self.best]))
        if ROWS[self.verdict.name].gate in NO_FINDING_GATES:
            raise NothingToShrinkError(
                f"{case.id} is {self.verdict.label} on {engine.hello.name}: no failure to shrink"
            )

    def run(self, seconds: float, max_candidates: int | None = None) -> Shrunk:
        """Shrink for at most `seconds` with at most `max_candidates`, and return the smallest case found.

        Each step is strictly smaller than the one before. If only the candidates are limited, a slow machine
        comes to the same result.
        """
        start = self._clock()
        self._max_candidates = max_candidates
        kept = 0
        while self._clock() - start < seconds and not self._is_spent:
            better = self._better(start + seconds)
            if better is None:
                break
            self.best, self.verdict = better
            kept += 1
        spent = self._clock() - start
        done = spent < seconds and not self._is_spent
        return Shrunk(self.best, self.signature, self.verdict, self._asked, kept, spent, done)

    @property
    def _is_spent(self) -> bool:
        """Return True if the allowed number of candidates has been run."""
        return self._max_candidates is not None and self._asked >= self._max_candidates

    def _better(self, until: float) -> tuple[Case, Verdict] | None:
        """Return the first smaller case with the signature; None if there is none or a limit is reached."""
        candidates = smaller_inputs(self._fmt, self.best.input)
        size = 1 if self.verdict.name in ONE_AT_A_TIME else BATCH_SIZE
        while self._clock() < until and not self._is_spent:
            batch = [self._case(given) for given in islice(candidates, size)]
            if not batch:
                return None
            found = [
                (case, verdict)
                for case, (verdict, sign) in zip(batch, self._judged(batch), strict=True)
                if sign == self.signature
            ]
            if found:
                return min(found, key=lambda pair: weight(pair[0].input))
        return None

    def _case(self, given: Input) -> Case:
        """Return a candidate. It has an id of its own, so that crashes of others do not close its family."""
        self._asked += 1
        case = evolve(self.best, input=given, id=f"{self.best.format_id}/shrink/n{self._asked}", parent=None)
        return _expecting(case)

    def _judged(self, cases: Iterable[Case]) -> Iterator[tuple[Verdict, Signature]]:
        """Run the cases, and yield the verdict and the signature of each."""
        for ran in self._engine.run(cases):
            verdict = judge(ran.case, ran.outcome, hello=self._engine.hello)
            yield verdict, signature(self._engine.hello.name, self._with_own_format(ran), verdict)

    def _with_own_format(self, ran: CaseResult) -> Case:
        """Return the case that was run, under the format of the first case instead of that of its stream."""
        return evolve(ran.case, format=self._fmt.name, revision=self._fmt.revision)


def _expecting(case: Case) -> Case:
    """Return a case with the expectation of the reference; that of a sequence is in its steps."""
    if isinstance(case.input, Steps):
        return with_steps(case, case.input.steps)
    return evolve(case, expect=reference_expectation(case))


def shrink(engine: Engine, case: Case, seconds: float) -> Shrunk:
    """Shrink `case` for at most `seconds`; the id of the shrunk case begins with the id of `case`.

    Raises:
        NothingToShrinkError: the adapter does not fail the case.
    """
    if needs_digest(case):
        raise NothingToShrinkError(f"{case.id} has values over 1.5 MiB: its recipe is as small as it gets")
    shrunk = Shrinker(engine, made_case(case)).run(seconds)
    name = case.id.partition("~")[0]
    small = evolve(shrunk.case, id=f"{name}~shrunk:0", parent=case.parent or name, family="shrunk")
    return evolve(shrunk, case=small)
