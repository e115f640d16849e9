"""How the target asks an adapter: called in this process, where coverage sees it, or in one of its own.

An adapter in a process of its own is asked in batches, so that its answers cost no round trip each; the
engine finds out who of a batch was guilty of a death.
"""

import resource
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.adapters.objects import Caller
from wireproof.cases.case import Case
from wireproof.cases.outcome import Exhausted, NotRun, Outcome, TimedOut
from wireproof.fuzz.clock import Clock
from wireproof.trial.engine import Engine
from wireproof.trial.plan import planned, request_for

BATCH: Final = 64
"""Cases that are asked of a process at once."""

SPREAD: Final = 8
"""A codec may hold so many times what it may unpack; beyond that it believed a length or a count."""

Answered = tuple[Case, Outcome]
"""A case as it was asked (lifted where that was needed), and what came of it."""


def peak() -> int:
    """MiB of this process in memory at most, up to now; it never falls, so that a growth shows once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


class Asker(Protocol):
    """What the target asks."""

    hello: Hello

    def ask(self, cases: Sequence[Case]) -> Iterator[Answered]:
        """The answers that are there, of these cases or of earlier ones."""
        ...

    def rest(self) -> Iterator[Answered]:
        """The answers that are still owed."""
        ...


class Here:
    """A Python object, called in this process under the clock."""

    def __init__(self, caller: Caller, clock: Clock) -> None:
        """Call through `caller`; what takes longer than `clock` allows timed out."""
        self.hello = caller.hello
        self._caller = caller
        self._clock = clock

    def ask(self, cases: Sequence[Case]) -> Iterator[Answered]:
        """One call a case."""
        for case in cases:
            asked = planned(case, self.hello)
            yield self._answered(asked) if isinstance(asked, Case) else (case, asked)

    def _answered(self, case: Case) -> Answered:
        """The outcome; where it took too much memory, of the case with the limit that says so to all."""
        before = peak()
        outcome = self._called(case)
        most = case.options.max_output * SPREAD >> 20
        if peak() - before <= most:
            return case, outcome
        limited = evolve(case, limits=evolve(case.limits, rss_mb=most))
        return limited, Exhausted("memory", f"over {most} MiB")

    def _called(self, case: Case) -> Outcome:
        def late() -> Outcome:
            return TimedOut(case.limits.ms, "by its processor time")

        return self._clock.within(lambda: self._caller.answer(request_for(case, "0")), late)

    def rest(self) -> Iterator[Answered]:
        """Nothing is owed."""
        yield from ()


class Away:
    """An adapter in a process of its own."""

    def __init__(self, spec: str) -> None:
        """Start it; raises `AdapterError`."""
        self._spec = spec
        self._engine = Engine(spec).__enter__()
        self.hello = self._engine.hello
        self._waiting: list[Case] = []

    def ask(self, cases: Sequence[Case]) -> Iterator[Answered]:
        """Whole batches."""
        self._waiting += cases
        if len(self._waiting) >= BATCH:
            yield from self.rest()

    def rest(self) -> Iterator[Answered]:
        """What waits, at once."""
        batch, self._waiting = self._waiting, []
        stopped = False
        for ran in self._engine.run(batch):
            stopped = stopped or isinstance(ran.outcome, NotRun)
            yield ran.case, ran.outcome
        if stopped:  # its budget of deaths is spent; a campaign goes on
            self.close()
            self._engine = Engine(self._spec).__enter__()

    def close(self) -> None:
        """End its process."""
        self._engine.__exit__(None, None, None)
