"""Failures asked again: a codec that answers the same bytes differently each time is told from a wrong one.

An unexpected failure is asked a second time at once, in the same process; if it fails again, in a fresh one.
If it passes then, its verdict is `fail:flaky`. A crash or a silence is not asked here: the engine repeats it
itself, to find the guilty case. A live server is never asked again: its state is not that of a process.

Asking again costs as much as a case, so there is a limit for each part of a run. A fresh process costs up to
a second, as much as a hundred cases: for three codecs from PyPI it would be a tenth of a run. So a large run
without a baseline, in which most codecs fail, starts one only on suspicion: a case that passed fails now.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self

from attrs import define, evolve, field

from wireproof.adapters.errors import AdapterError
from wireproof.cases.case import Accept, Case, Data, Level
from wireproof.runner.engine import Engine
from wireproof.runner.events import CaseEvent
from wireproof.runner.judge import judge
from wireproof.runner.verdicts import FLAKY, Verdict, gates

MAX_RETRIES: Final = 20
"""Failures of a part that are asked again; beside them, the first one with each signature is.

A part has 128 golden cases, or the families of 8: a codec that fails one case in ten at random has fewer.
"""

WITH_BASELINE: Final = 3
"""Fresh processes of a run with a baseline, in which an unexpected failure is rare."""

SMALL_RUN: Final = 256
"""Golden cases of a run without a baseline that starts one fresh process: a second more is no harm there."""

MAX_CONTROLS: Final = 4
"""Cases of a part that passed and are asked again after a failure."""

AT_ONCE: Final = "when asked again"
FRESH: Final = "when asked again in a fresh process"
FRESH_OBJECT: Final = "when asked again by a fresh object"


def fresh_processes(cases: int, *, has_baseline: bool) -> int:
    """Return how many fresh processes a run of so many golden cases may start without a suspicion."""
    return WITH_BASELINE if has_baseline else int(cases <= SMALL_RUN)


@define
class Retries:
    """Asks the failures of one part of a run again; a context manager that owns the fresh process.

    Attributes:
        engine: runs the adapter.
        fresh: makes another engine for the same adapter.
        expects: returns whether the baseline expects a failure, which is then not asked again.
        starts: how many fresh processes may still be started without a suspicion; None: none at all.
        where: the words for an answer of the fresh process.
    """

    engine: Engine
    fresh: Callable[[], Engine]
    level: Level
    expects: Callable[[CaseEvent], bool]
    starts: int | None
    where: str = FRESH
    _left: int = field(default=0, init=False)
    _controls: int = field(default=0, init=False)
    _passed: tuple[Case, Verdict | None] | None = field(default=None, init=False)
    _kinds: set[object] = field(factory=set, init=False)
    _second: Engine | None = field(default=None, init=False)
    _used: bool = field(default=True, init=False)
    _stack: ExitStack = field(factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        self._left, self._controls = MAX_RETRIES, MAX_CONTROLS
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def retry(
        self, case: Case, event: CaseEvent, first: Verdict, twin: Verdict | None
    ) -> tuple[Verdict, Verdict] | None:
        """Return the verdict of a failure that passes later, and that on its later answer; else None.

        Args:
            case: as it was sent.
            event: of the first answer.
            first: its verdict.
            twin: the verdict on the case's twin.
        """
        if first.passing and isinstance(case.input, Data) and isinstance(case.expect, Accept):
            self._passed = case, twin
        if first.name != "fail" or not self._is_asked(event):
            return None
        for engine, where in self._engines():
            second = self._judged(engine, case, twin)
            if second is not None and second.passing:
                return flaky_verdict(first, where), second
        return None

    def _is_asked(self, event: CaseEvent) -> bool:
        """Return whether a failure is asked again; one that the baseline knows as flaky always is."""
        if not gates(event.verdict, event.level, hold=self.level, security=event.is_security):
            return False
        if self.expects(event):
            return False
        if self.expects(evolve(event, kind=FLAKY, cls="", path="")):
            return True
        kind = event.signature("")
        if self._left <= 0 and kind in self._kinds:
            return False
        self._kinds.add(kind)
        self._left -= 1
        return True

    def _engines(self) -> Iterator[tuple[Engine, str]]:
        """Yield the engines that are asked in turn, each with the words for its answer."""
        yield self.engine, AT_ONCE
        if self._used and self.starts is not None:
            if self.starts > 0:
                self.starts -= 1
                self._start()
            elif self._second is None and self._is_suspect():
                self._start()
        if self._second is not None:
            yield self._second, self.where
            self._used = True  # the case failed in it, and may have left something behind

    def _is_suspect(self) -> bool:
        """Return whether the case that passed last fails now: then the codec keeps something."""
        if self._passed is None or self._controls <= 0:
            return False
        self._controls -= 1
        verdict = self._judged(self.engine, *self._passed)
        return verdict is not None and verdict.name == "fail"

    def _start(self) -> None:
        """Start a fresh process; a note says why there is none."""
        self._end()
        try:
            self._second = self._stack.enter_context(self.fresh())
            self.engine.check_same(self.engine.hello, self._second.hello)
            self._used = False
        except AdapterError as error:
            self.engine.notes.append(f"failures were not asked again in a fresh process: {error}")
            self.starts = None
            self._end()

    def _end(self) -> None:
        with suppress(AdapterError):  # an answer after the last one says nothing about the first process
            self._stack.close()
        self._second = None

    def _judged(self, engine: Engine, case: Case, twin: Verdict | None) -> Verdict | None:
        """Return the verdict on one more answer; None if the fresh process has become another adapter."""
        try:
            (ran,) = engine.run([case])
        except AdapterError:
            if engine is self.engine:
                raise
            return None
        return judge(ran.case, ran.outcome, hello=self.engine.hello, twin=twin)


def flaky_verdict(first: Verdict, where: str) -> Verdict:
    """Return the verdict on a failure that passes later; class and field of one answer are not its cause."""
    text = f"{first.label}, but passes {where}; `flaky = true` in a baseline expects it to come and go"
    return Verdict(
        "fail", FLAKY, text=text, want=first.want, got=first.got, broken=first.broken, level=first.level
    )
