"""Asks one adapter a sequence of cases and gives what came of each, in the order of the plan.

Design, section 4. Every wait has an owner and a limit: the hello is waited for by the controller, a
case by this engine, an end by the controller again.

A window of requests is in flight at a time. When the adapter dies, breaks the contract or falls silent
for longer than any case in flight may take, each case in flight is asked again, alone, in a fresh
process, until one of them does it again: that one is guilty, and the others are asked as if nothing
had happened. What no case does alone is laid at the door of the one that waited longest, and said so.
A breach of the contract may also come behind an answer: those that were answered last are asked again first,
and at the end of a block one case is asked once more: what came behind the answers comes before its own.
Of `run`, nothing is in flight while a result is handed out, so a slow reader of the results costs no case its
time. Who has other work meanwhile calls `put` and later `take`: an answer that is there by then is in time.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar

from attrs import define, evolve, field, frozen

from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.controller import Broken, Controller
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.process import HELLO_SECONDS, MEMORY, MIB
from wireproof.adapters.registry import open_adapter
from wireproof.cases.case import Case
from wireproof.cases.outcome import Accepted, Crashed, Exhausted, Faulty, NotRun, Outcome, TimedOut
from wireproof.trial.deaths import Deaths
from wireproof.trial.plan import BLOCK, SLOW_BLOCK, Draw, blocks, planned, request_for

WIDEST: Final = 256
"""Requests in flight at most, whatever the adapter offers."""

RECENT: Final = 2
"""Cases answered last that are suspected of what comes behind an answer."""

HEAVIEST: Final = 4 * MIB
"""Bytes of input in flight, over which no further request is sent."""

T = TypeVar("T")


@frozen
class Ran:
    """A case as it was asked (lifted where that was needed), what came of it, and the nanoseconds it took.

    With one request in flight the time is exact; with more it is the share of the case in the time
    between two arrivals of answers.
    """

    case: Case
    outcome: Outcome
    ns: int


Keep: TypeAlias = Callable[[Case, Outcome, int], Any]
"""Makes of a case, its outcome and its nanoseconds what the engine keeps: `Ran`, or less."""


@define
class _Block:
    """Cases that are shuffled among themselves, and what came of them so far.

    Attributes:
        cases: in the order of the plan.
        keep: makes what is kept of each result, as soon as it arrives.
        results: by place.
        open: the places of those that are queued or in flight.
        measured: those that are asked with nothing else in flight.
        last: whether `take` ends with this one.
    """

    cases: list[Case]
    keep: Keep
    results: dict[int, Any] = field(factory=dict)
    open: set[int] = field(factory=set)
    measured: "deque[_Asked]" = field(factory=deque)
    last: bool = False

    def settle(self, place: int, case: Case, outcome: Outcome, ns: int) -> None:
        """Keep what came of the case at `place`, which is open no longer."""
        self.results[place] = self.keep(case, outcome, ns)
        self.open.discard(place)


@frozen
class _Asked:
    """A case on its way: its place in its block, its request, the milliseconds that it may take."""

    block: _Block
    place: int
    case: Case
    request: Request
    ms: int


@frozen
class _End:
    """How the adapter ended while something was in flight."""

    outcome: Crashed | TimedOut | Exhausted | Faulty
    how: str
    stray: str = ""


class Engine:
    """Runs cases on one adapter; a context manager that holds its process.

    Attributes:
        hello: who the adapter is and what it claims.
        deaths: what it died of.
        notes: one line for each thing that a user should know and no case tells.
    """

    hello: Hello

    def __init__(  # noqa: PLR0913 - the settings of a run, each by its name
        self,
        spec: str,
        *,
        in_process: bool = False,
        seed: int = 0,
        timeout_scale: float = 1.0,
        hello_seconds: float = HELLO_SECONDS,
        memory: int | None = MEMORY,
        digest: bool = False,
        check_claims: bool = True,
    ) -> None:
        """Remember what to start.

        Args:
            spec: as `registry` reads it.
            in_process: call a Python object here, without timeouts.
            seed: of the order and the ids.
            timeout_scale: by which each case's `limits.ms` is multiplied, and above 1 the wait for the hello:
                where cases are slow, so is a start.
            hello_seconds: the wait for the hello.
            memory: bytes, as `registry.open_adapter` has it.
            digest: ask for digests in place of values.
            check_claims: refuse a hello that claims what does not exist; `probe` gives advice instead.
        """
        self._spec = spec
        self._in_process = in_process
        self._draw = Draw(seed)
        self._scale = timeout_scale
        self._hello_seconds = hello_seconds * max(timeout_scale, 1.0)
        self._memory = memory
        self._answer: Literal["value", "digest"] = "digest" if digest else "value"
        self._check_claims = check_claims
        self._controller: Controller | None = None
        self._blocks: deque[_Block] = deque()
        self._queue: deque[_Asked] = deque()
        self._flight: dict[str, _Asked] = {}
        self._answered: dict[str, _Asked] = {}
        self.deaths = Deaths()
        self.notes: list[str] = []

    def __enter__(self) -> Self:
        """Start the adapter; raises `UnknownAdapter` or `AdapterStartError`."""
        self._controller = self._opened()
        self.hello = self._controller.hello
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._drop()

    def run(self, cases: Iterable[Case]) -> Iterator[Ran]:
        """What came of each case, in their order; raises nothing of the adapter's."""
        return self._run(cases, self.hello, Ran)

    def settled(
        self, cases: Iterable[Case], keep: Callable[[Case, Outcome, int], T], size: int | None = None
    ) -> Iterator[T]:
        """Yield what `keep` makes of each case, its outcome and its nanoseconds, in their order.

        `keep` is called as soon as an answer arrives, so that no answer is held in memory longer than that.

        Args:
            cases: what is asked.
            keep: called once for each case, in the order of the answers.
            size: the cases of a block, which are shuffled among themselves; by default the engine's own.
        """
        return self._run(cases, self.hello, keep, size)

    def ask(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome]]:
        """The same without regard to the claims: nothing is held back, nothing lifted. For `probe`."""
        return ((ran.case, ran.outcome) for ran in self._run(cases, None, Ran))

    def _run(
        self, cases: Iterable[Case], hello: Hello | None, keep: Keep, size: int | None = None
    ) -> Iterator[Any]:
        for block in blocks(cases, min(size or self._size, self._size)):
            self._put(block, hello, keep)
            yield from self._taken(self._blocks.popleft())

    @property
    def _size(self) -> int:
        return SLOW_BLOCK if self.hello.cost == "slow" else BLOCK

    def put(self, cases: Sequence[Case]) -> None:
        """Have some cases asked, as far as that goes without waiting; `take` gives what came of them."""
        assert cases, "what is taken was put"
        for block in blocks(cases, self._size):
            self._put(block, self.hello, Ran)
        self._blocks[-1].last = True

    def take(self) -> list[Ran]:
        """What came of each case of the earliest `put`; raises nothing of the adapter's."""
        ran: list[Ran] = []
        last = False
        while not last:
            block = self._blocks.popleft()
            last = block.last
            ran += self._taken(block)
        return ran

    # --- the running adapter ---

    def _opened(self) -> Controller:
        return open_adapter(
            self._spec,
            in_process=self._in_process,
            hello_seconds=self._hello_seconds,
            memory=self._memory,
            check=self._check_claims,
        )

    def _running(self) -> Controller:
        """The adapter; one that started before and does not now gets a second chance."""
        if self._controller is None:
            try:
                self._controller = self._opened()
            except AdapterStartError as error:
                self.notes.append(f"started again after: {error}")
                self._controller = self._opened()
        return self._controller

    def _drop(self) -> None:
        if self._controller is not None:
            self._controller.close()
        self._controller = None
        self._answered.clear()

    # --- a block ---

    def _put(self, cases: list[Case], hello: Hello | None, keep: Keep) -> None:
        """Queue a block, and send of it what there is room for."""
        block = _Block(cases, keep)
        for place in self._draw.order(len(cases)):
            case = planned(cases[place], hello) if hello else cases[place]
            if not isinstance(case, Case):
                block.settle(place, cases[place], case, 0)
                continue
            request = request_for(case, self._draw.name(), self._answer)
            asked = _Asked(block, place, case, request, round(case.limits.ms * self._scale))
            if case.limits.rss_mb is None:
                block.open.add(place)
                self._queue.append(asked)
            else:
                block.measured.append(asked)
        self._blocks.append(block)
        if self._controller is not None:
            self._top_up(self._controller)

    def _taken(self, block: _Block) -> list[Any]:
        """The results of a block, in its order."""
        try:
            self._windowed(block.open)
            if block.measured:
                for other in self._blocks:
                    self._windowed(other.open)
                self._measured(block.measured)
            self._look_behind()
        except AdapterStartError as error:
            self.deaths.stop(f"it did not start again: {error}", "start")
            self._queue.clear()
            self._flight.clear()
        for place, case in enumerate(block.cases):
            if place not in block.results:
                block.settle(place, case, self.deaths.verdict(case) or NotRun("never asked"), 0)
        for name in [name for name, asked in self._answered.items() if asked.block is block]:
            del self._answered[name]  # its result is handed out
        return [block.results[place] for place in range(len(block.cases))]

    def _windowed(self, wanted: set[int]) -> None:
        """Ask what is queued, a window at a time, until nothing that is `wanted` is open."""
        while wanted and (self._queue or self._flight):
            end = self._converse(wanted)
            if end is not None:
                suspects = list(self._flight.values())
                self._flight.clear()
                self._queue.extendleft(reversed(self._after(suspects, end)))

    def _after(self, suspects: list[_Asked], end: _End) -> list[_Asked]:
        """Return those to ask again; without a new start the end stays with the first not cleared."""
        try:
            return suspects if self._broken_behind(end) else self._blame(suspects, end)
        except AdapterStartError:
            if first := next((one for one in suspects if one.place not in one.block.results), None):
                self._keep(first, end.outcome, 0)
            raise

    def _converse(self, wanted: set[int]) -> _End | None:
        """Ask until nothing `wanted` is open, or the adapter ends: then the suspects are in flight."""
        controller = self._running()
        before = time.perf_counter_ns()
        while wanted and (self._queue or self._flight):
            self._top_up(controller)
            if not self._flight:
                continue
            ms = max(asked.ms for asked in self._flight.values())
            try:
                answers = controller.receive(ms / 1000)
            except Broken as broken:
                return _End(broken.outcome, broken.how, broken.stray)
            if not answers:
                return _End(TimedOut(ms, controller.progress()), "timeout")
            now = time.perf_counter_ns()
            for name, outcome in answers:
                self._answered[name] = self._flight.pop(name)
                self._keep(self._answered[name], outcome, (now - before) // len(answers))
            before = time.perf_counter_ns()  # what is kept may have been judged: not the adapter's time
        return None

    def _top_up(self, controller: Controller) -> None:
        """Fill the window, once it is half empty: many requests go in one write."""
        window = min(self.hello.window, WIDEST)
        if len(self._flight) > window // 2:
            return
        batch: list[_Asked] = []
        weight = sum(asked.request.weight for asked in self._flight.values())
        while self._queue and len(self._flight) + len(batch) < window and weight < HEAVIEST:
            asked = self._queue.popleft()
            if why := self.deaths.verdict(asked.case):
                self._keep(asked, why, 0)
                continue
            weight += asked.request.weight
            batch.append(asked)
        self._flight.update(self._sent(controller, batch))

    def _sent(self, controller: Controller, batch: list[_Asked]) -> dict[str, _Asked]:
        """Send; what is too large to be sent is not run, and does not hold up the others."""
        if not batch:
            return {}
        try:
            controller.send([asked.request for asked in batch])
        except MessageError as error:
            if len(batch) == 1:
                self._keep(batch[0], NotRun(str(error), "large"), 0)
                return {}
            return {key: one for asked in batch for key, one in self._sent(controller, [asked]).items()}
        return {asked.request.id: asked for asked in batch}

    def _keep(self, asked: _Asked, outcome: Outcome, ns: int) -> None:
        if isinstance(outcome, Accepted) and (outcome.data is not None) != (asked.case.op == "encode"):
            given = "a value or digest" if outcome.data is None else "bytes"
            outcome = Faulty(f"{asked.case.op} was answered with {given}")
        if not isinstance(outcome, TimedOut | NotRun):
            self.deaths.answered()
        asked.block.settle(asked.place, asked.case, outcome, ns)

    # --- deaths ---

    def _blame(self, suspects: list[_Asked], end: _End) -> list[_Asked]:
        """Ask each suspect alone in a fresh process until one is guilty; gives those not yet asked."""
        for number, asked in enumerate(suspects):
            if why := self.deaths.verdict(asked.case):
                self._keep(asked, why, 0)
                continue
            self._drop()
            again = self._alone(asked) or self._behind(asked, end)
            if again is not None:
                self.deaths.add(asked.case, again.outcome, again.how)
                self._drop()
                return suspects[number + 1 :]
        self._drop()
        if suspects:
            self._nobody(suspects, end)
        return []

    def _alone(self, asked: _Asked) -> _End | None:
        """Ask one case with nothing else in flight and keep its outcome; an end, if the adapter did."""
        controller = self._running()
        most = asked.case.limits.rss_mb
        controller.mark_memory(None if most is None else most * MIB)
        start = time.perf_counter_ns()
        if not self._sent(controller, [asked]):
            return None
        end, over = None, None
        try:
            answers = controller.receive(asked.ms / 1000)
        except Broken as broken:
            end = _End(broken.outcome, broken.how)
        else:
            over = controller.over_memory()
            if not answers:
                end = self._late(asked, controller, over)
        self._answered[asked.request.id] = asked
        outcome = end.outcome if end is not None else over or answers[0][1]
        self._keep(asked, outcome, time.perf_counter_ns() - start)
        controller.mark_memory(None)
        return end

    # --- behind an answer ---

    def _look_behind(self) -> None:
        """Find what came behind the last answers, while their results can still be changed."""
        if self._flight or self._queue or self._controller is None or not self._answered:
            return
        last = list(self._answered.values())[-RECENT:]
        end = self._asked_again(min(last, key=lambda asked: asked.request.weight))
        if end is not None and not self._broken_behind(end):
            self._nobody(last[-1:], end)
        self._answered.clear()

    def _asked_again(self, asked: _Asked) -> _End | None:
        """Ask a case that was just answered once more; return the breach that comes before its answer."""
        controller = self._running()
        if not controller.piped:
            return None
        try:
            controller.send([evolve(asked.request, id=self._draw.name())])
            if not controller.receive(asked.ms / 1000):
                self._drop()
        except Broken as broken:
            if isinstance(broken.outcome, Faulty):
                return _End(broken.outcome, broken.how, broken.stray)
            self._drop()
        return None

    def _broken_behind(self, end: _End) -> bool:
        """Blame the breach on one of those that were answered last, if it commits it again alone."""
        if not isinstance(end.outcome, Faulty):
            return False
        names = dict.fromkeys((end.stray, *reversed(list(self._answered)[-RECENT:])))
        for asked in [self._answered[name] for name in names if name in self._answered]:
            self._drop()
            again = self._breach_of(asked)
            if again is not None:
                self._keep(asked, again.outcome, 0)
                self.deaths.add(asked.case, again.outcome, again.how)
                self._drop()
                return True
        return False

    def _breach_of(self, asked: _Asked) -> _End | None:
        """Return how a case breaks the contract alone in a fresh process, before or behind its answer."""
        controller = self._running()
        try:
            controller.send([asked.request])
            return self._asked_again(asked) if controller.receive(asked.ms / 1000) else None
        except Broken as broken:
            faulty = isinstance(broken.outcome, Faulty)
            return _End(broken.outcome, broken.how) if faulty else None

    def _behind(self, asked: _Asked, end: _End) -> _End | None:
        """Return the breach behind the answer of a suspect of one, and give it to the case."""
        if not isinstance(end.outcome, Faulty) or self._controller is None:
            return None
        again = self._asked_again(asked)
        if again is not None:
            self._keep(asked, again.outcome, 0)
        return again

    @staticmethod
    def _late(asked: _Asked, controller: Controller, over: Exhausted | None) -> _End:
        """Return how a case without an answer ended: memory comes first, for which one does is chance."""
        if over is not None:
            return _End(over, "memory")
        return _End(TimedOut(asked.ms, controller.progress()), "timeout")

    def _nobody(self, suspects: list[_Asked], end: _End) -> None:
        """No suspect does it alone. A death or breach stays with the oldest; mere slowness with nobody."""
        oldest = suspects[0]
        what = f"{len(suspects)} in flight, none of which does it alone in a fresh process"
        self.notes.append(f"{oldest.case.id}: {end.outcome.text}; {what}")
        self.deaths.add(oldest.case, end.outcome, f"nobody alone: {end.how}", alone=False)
        if not isinstance(end.outcome, TimedOut):
            self._keep(oldest, evolve(end.outcome, text=f"{end.outcome.text}; {what}"), 0)

    # --- memory ---

    def _measured(self, queue: deque[_Asked]) -> None:
        """Ask each case that has a limit of memory with nothing else in flight, and look at the peak."""
        while queue:
            asked = queue.popleft()
            if why := self.deaths.verdict(asked.case):
                self._keep(asked, why, 0)
                continue
            end = self._alone(asked)
            if end is not None:
                self._blame([asked], end)
