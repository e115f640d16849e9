"""The engine: sends cases to one adapter and returns the outcome of each, in the order of the cases.

Every wait has a limit: the controller's for the hello and the process's end, the engine's for an answer.

    queue -> in flight (a window of requests) -> answered -> results of a block
                 `-> the adapter dies, breaks the contract or is silent: the cases in flight are suspects
Each suspect runs again, alone in a fresh process, until one fails: it is guilty, the others are queued again.
If none fails alone, the failure is attributed to the oldest request, with a note. Output after an answer
shows only with the next message: one case is sent again at the end of a block, and the last two answered are
suspects. `run` has nothing in flight while it yields a result, so a slow caller costs no case its time.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from types import TracebackType
from typing import Final, Literal, Self, TypeVar

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.adapters.controller import Broken, Controller
from wireproof.adapters.errors import AdapterBreachError, AdapterStartError, MessageError
from wireproof.adapters.process.controller import HELLO_SECONDS, MEMORY, MIB
from wireproof.adapters.process.recording import Recorder
from wireproof.adapters.registry.registry import open_adapter, resolve
from wireproof.adapters.requests import (
    BLOCK_SIZE,
    SLOW_BLOCK_SIZE,
    AdapterEnd,
    CaseGroup,
    CaseResult,
    FailureBudget,
    PendingCase,
    ResultMaker,
    SeededOrder,
    blocks,
    prepare_case,
    request_for,
    weight_of,
    with_input,
)  # fmt: skip
from wireproof.cases.case import Case, Generated
from wireproof.cases.outcome import Accepted, Faulty, NotRun, Outcome, TimedOut

MAX_WINDOW: Final = 256
"""Maximum number of requests in flight, whatever the adapter offers."""

RECENT_ANSWERS: Final = 2
"""Number of last answered cases that are suspects when something comes after an answer."""

IDENTITY: Final = {
    "name": "another name",
    "version": "another version",
    "revisions": "other claims",
    "errors": "other claims",
}
"""The parts of a hello by which an adapter is known and judged, and what is said if one has changed."""

T = TypeVar("T")


class Engine:
    """Runs cases on one adapter; a context manager that owns the adapter's process.

    `deaths` counts its failures, and `notes` are lines for the user about events that belong to no case.
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
        recorder: Recorder | None = None,
    ) -> None:
        """Store the settings; the adapter starts on entry.

        `spec`, `in_process`, `memory`, `check_claims` and `recorder` are those of `registry.open_adapter`;
        `probe` gives advice where others refuse a claim. `seed` decides the order and the ids.
        `timeout_scale` multiplies each case's `limits.ms`, and above 1 the wait for the hello: where cases
        are slow, the start is slow too. With `digest`, digests are requested instead of values.
        """
        self._open: Callable[[], Controller] = partial(
            open_adapter, spec, in_process=in_process, hello_seconds=hello_seconds * max(timeout_scale, 1.0),
            memory=memory, check=check_claims, recorder=recorder,
        )  # fmt: skip
        self._seed = seed
        self._draw = SeededOrder(seed)
        self._scale = timeout_scale
        self._spec = spec
        self._least_ms = 0
        self._answer: Literal["value", "digest"] = "digest" if digest else "value"
        self._controller: Controller | None = None
        self._blocks: deque[CaseGroup] = deque()
        self._queue: deque[PendingCase] = deque()
        self._flight: dict[str, PendingCase] = {}
        self._answered: dict[str, PendingCase] = {}
        self.deaths = FailureBudget()
        self.notes: list[str] = []
        self._no_start: AdapterStartError | None = None
        self._late = ""

    def __enter__(self) -> Self:
        """Start the adapter; raises `UnknownAdapter` or `AdapterStartError`."""
        self._controller = self._open()
        self._least_ms = round(resolve(self._spec).case_seconds * 1000)
        self.hello = self._controller.hello
        self.notes += self.hello.notes
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the adapter; raise as `close` does, unless there is an error already."""
        if kind is None:
            self.close()
        self._close_adapter()

    def close(self) -> None:
        """End the adapter; raise `AdapterBreachError` if it answered after its last answer."""
        self._close_adapter()
        if self._late:
            raise AdapterBreachError(
                f"{self._spec} answered {self._late} after the last request was answered: "
                "each request has one answer"
            )

    def begin(self, part: str) -> None:
        """Begin a part of a run: its order and its count of failures do not depend on what ran before it."""
        self._draw = SeededOrder(f"{self._seed} {part}")
        self.deaths = FailureBudget()

    def run(self, cases: Iterable[Case]) -> Iterator[CaseResult]:
        """Yield the result of each case, in their order.

        Raises only `AdapterBreachError`, if the adapter is another one after it was started again.
        """
        return chain.from_iterable(self.run_with(cases, CaseResult))

    def run_with(
        self,
        cases: Iterable[Case],
        keep: Callable[[Case, Outcome, int], T],
        size: int | None = None,
        *,
        claimed: bool = True,
    ) -> Iterator[Sequence[T]]:
        """Yield `keep(case, outcome, nanoseconds)` of each block of cases, in their order.

        Whenever answers came, an empty block is yielded. `keep` is called as soon as an answer arrives, so
        that no answer stays in memory longer than that, and once more if the result has changed. The cases of
        a block, by default of the engine's own `size`, are shuffled among themselves. With
        `claimed`, cases outside of the adapter's claims are not sent.
        """
        for block in blocks(cases, min(size or self._size, self._size)):
            self._enqueue(block, self.hello if claimed else None, keep)
            group = self._blocks.popleft()
            for _ in self._settling(group):
                yield ()
            yield group.in_order()

    def ask(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome]]:
        """Yield the outcome of each case; for `probe`, which ignores the claims."""
        some = chain.from_iterable(self.run_with(cases, CaseResult, claimed=False))
        return ((ran.case, ran.outcome) for ran in some)

    @property
    def _size(self) -> int:
        return SLOW_BLOCK_SIZE if self.hello.cost == "slow" else BLOCK_SIZE

    def put(self, cases: Sequence[Case]) -> None:
        """Queue cases and send as many as possible without waiting; `take` returns their results."""
        assert cases, "an empty put has no block for take"
        for block in blocks(cases, self._size):
            self._enqueue(block, self.hello, CaseResult)
        self._blocks[-1].last = True

    def take(self) -> list[CaseResult]:
        """Return the results of the earliest `put`; raises no error of the adapter."""
        ran: list[CaseResult] = []
        while True:
            block = self._blocks.popleft()
            for _ in self._settling(block):
                pass
            ran += block.in_order()
            if block.last:
                return ran

    # --- the running adapter ---

    def _ensure_started(self) -> Controller:
        """Return the running adapter; one that started before gets a second attempt, and no third."""
        if self._no_start is not None:
            raise self._no_start
        if self._controller is None:
            try:
                self._controller = self._open()
            except AdapterStartError as error:
                self.notes.append(f"started again after: {error}")
                self._controller = self._open()
            self.check_same(self.hello, self._controller.hello)
        return self._controller

    def check_same(self, first: Hello, again: Hello) -> None:
        """Raise `AdapterBreachError` if an adapter that was started again is another one."""
        phrases = (text for part, text in IDENTITY.items() if getattr(again, part) != getattr(first, part))
        changed = " and ".join(dict.fromkeys(phrases))
        if changed:
            names = " became ".join(f"{one.name} {one.version}".strip() for one in (first, again))
            raise AdapterBreachError(
                f"{self._spec} has {changed} after it was started again ({names}): "
                "its hello must be the same each time"
            )

    def _close_adapter(self) -> None:
        if self._controller is not None:
            self._controller.close()
            self._late = self._late or self._controller.late
            self.notes += filter(None, (self._controller.note,))
        self._controller = None
        self._answered.clear()

    def _enqueue(self, cases: list[Case], hello: Hello | None, keep: ResultMaker) -> None:
        """Queue a block, and send as much of it as the window allows."""
        block = CaseGroup(cases, keep)
        for place in self._draw.order(len(cases)):
            case = prepare_case(cases[place], hello) if hello else cases[place]
            if not isinstance(case, Case):
                block.settle(place, cases[place], case, 0)
                continue
            generated = isinstance(case.input, Generated)
            answer = "digest" if generated and self.hello.digests else self._answer
            request = request_for(case, self._draw.name(), answer)
            ms = round(max(case.limits.ms, self._least_ms) * self._scale)
            pending = PendingCase(block, place, case, request, ms)
            if case.limits.rss_mb is None and not generated:  # these are large, and run one at a time
                block.open.add(place)
                self._queue.append(pending)
            else:
                block.measured.append(pending)
        self._blocks.append(block)
        if self._controller is not None:
            self._fill_window(self._controller)

    def _settling(self, block: CaseGroup) -> Iterator[None]:
        """Settle all cases of a block; yield whenever answers came."""
        try:
            yield from self._drain(block.open)
            if block.measured:
                for other in self._blocks:
                    yield from self._drain(other.open)
                yield from self._run_alone(block.measured)
            self._check_after_answers()
        except AdapterStartError as error:
            self.deaths.stop(f"it did not start again: {error}", "start")
            self._no_start = error
            self._queue.clear()
            self._flight.clear()
        for place, case in enumerate(block.cases):
            if place not in block.results:
                block.settle(place, case, self.deaths.verdict(case) or NotRun("never pending"), 0)
        for name in [name for name, pending in self._answered.items() if pending.block is block]:
            del self._answered[name]  # its result is returned

    def _drain(self, wanted: set[int]) -> Iterator[None]:
        """Run the queue, one window at a time, until nothing in `wanted` is open; yield after each answer."""
        while self._queue and not self._flight and self.deaths.stopped:  # no adapter is started for these
            self._record(self._queue.popleft(), self.deaths.stopped, 0)
        while wanted and (self._queue or self._flight):
            end = yield from self._exchange_messages(wanted)
            if end is not None:
                suspects = list(self._flight.values())
                self._flight.clear()
                self._queue.extendleft(reversed(self._after_end(suspects, end)))

    def _after_end(self, suspects: list[PendingCase], end: AdapterEnd) -> list[PendingCase]:
        """Return the cases to run again; if no restart is possible, the first open suspect is guilty."""
        try:
            return suspects if self._find_breach_after_answer(end) else self._find_guilty(suspects, end)
        except AdapterStartError:
            if first := next((one for one in suspects if one.place not in one.block.results), None):
                self._record(first, end.outcome, 0)
            raise

    def _exchange_messages(self, wanted: set[int]) -> Generator[None, None, AdapterEnd | None]:
        """Send and receive until nothing in `wanted` is open; return the adapter's end, if it ended."""
        controller = self._ensure_started()
        before = time.perf_counter_ns()
        while wanted and (self._queue or self._flight):
            self._fill_window(controller)
            if not self._flight:
                continue
            ms = max(pending.ms for pending in self._flight.values())
            try:
                answers = controller.receive(ms / 1000)
            except Broken as broken:
                return AdapterEnd(broken.outcome, broken.how, broken.stray)
            if not answers:
                return AdapterEnd(TimedOut(ms, controller.progress()), "timeout")
            now = time.perf_counter_ns()
            for name, outcome in answers:
                self._answered[name] = self._flight.pop(name)
                self._record(self._answered[name], outcome, (now - before) // len(answers))
            yield
            before = time.perf_counter_ns()  # the time of `keep` and of the caller is not the adapter's
        return None

    def _fill_window(self, controller: Controller) -> None:
        window = min(self.hello.window, MAX_WINDOW)
        if len(self._flight) > window // 2:
            return
        batch: list[PendingCase] = []
        weight = sum(pending.request.weight for pending in self._flight.values())
        while self._queue and len(self._flight) + len(batch) < window and weight < 4 * MIB:
            pending = self._queue.popleft()
            if why := self.deaths.verdict(pending.case):
                self._record(pending, why, 0)
                continue
            weight += pending.request.weight
            batch.append(pending)
        self._flight.update(self._send(controller, batch))

    def _send(self, controller: Controller, batch: list[PendingCase]) -> dict[str, PendingCase]:
        """Send requests and return those that were sent; one that is too large becomes `NotRun`."""
        if not batch:
            return {}
        try:
            controller.send([with_input(pending.case, pending.request) for pending in batch])
        except MessageError as error:
            if len(batch) == 1:
                self._record(batch[0], NotRun(str(error), "large"), 0)
                return {}
            return {key: one for pending in batch for key, one in self._send(controller, [pending]).items()}
        return {pending.request.id: pending for pending in batch}

    def _record(self, pending: PendingCase, outcome: Outcome, ns: int) -> None:
        if isinstance(outcome, Accepted) and (outcome.data is not None) != (pending.case.op == "encode"):
            kind = "a value or digest" if outcome.data is None else "bytes"
            outcome = Faulty(f"{pending.case.op} was answered with {kind}")
        if not isinstance(outcome, TimedOut | NotRun):
            self.deaths.answered()
        pending.block.settle(pending.place, pending.case, outcome, ns)

    # --- deaths ---

    def _find_guilty(self, suspects: list[PendingCase], end: AdapterEnd) -> list[PendingCase]:
        """Run each suspect alone in a fresh process until one fails; return those that were not run again."""
        for number, pending in enumerate(suspects):
            if why := self.deaths.verdict(pending.case):
                self._record(pending, why, 0)
                continue
            self._close_adapter()
            again = self._run_isolated(pending) or self._breach_after_answer(pending, end)
            if again is not None:
                self.deaths.add(pending.case, again.outcome, again.how)
                self._close_adapter()
                return suspects[number + 1 :]
        self._close_adapter()
        if suspects:
            self._attribute_to_oldest(suspects, end)
        return []

    def _run_isolated(self, pending: PendingCase) -> AdapterEnd | None:
        """Run one case with nothing else in flight and store its outcome; return the adapter's end."""
        controller = self._ensure_started()
        most = pending.case.limits.rss_mb
        controller.mark_memory(None if most is None else most * MIB)
        start = time.perf_counter_ns()
        if not self._send(controller, [pending]):
            return None
        end, over = None, None
        try:
            answers = controller.receive(pending.ms / 1000)
        except Broken as broken:
            end = AdapterEnd(broken.outcome, broken.how)
        else:
            over = controller.over_memory()
            if not answers:
                # excess memory counts before the timeout
                late = AdapterEnd(TimedOut(pending.ms, controller.progress()), "timeout")
                end = late if over is None else AdapterEnd(over, "memory")
        self._answered[pending.request.id] = pending
        outcome = end.outcome if end is not None else over or answers[0][1]
        self._record(pending, outcome, time.perf_counter_ns() - start)
        controller.mark_memory(None)
        return end

    # --- after an answer ---

    def _check_after_answers(self) -> None:
        """Find a breach after the last answers, while their results can still be changed."""
        if self._flight or self._queue or self._controller is None or not self._answered:
            return
        last = list(self._answered.values())[-RECENT_ANSWERS:]
        end = self._send_again(min(last, key=lambda pending: weight_of(pending.case, pending.request)))
        if end is not None and not self._find_breach_after_answer(end):
            self._attribute_to_oldest(last[-1:], end)
        self._answered.clear()

    def _send_again(self, pending: PendingCase) -> AdapterEnd | None:
        """Send an answered case once more; return the breach that comes before its second answer."""
        controller = self._ensure_started()
        if not controller.piped:
            return None
        try:
            request = with_input(pending.case, pending.request)
            controller.send([evolve(request, id=self._draw.name())])
            if not controller.receive(pending.ms / 1000):
                self._close_adapter()
        except Broken as broken:
            if isinstance(broken.outcome, Faulty):
                return AdapterEnd(broken.outcome, broken.how, broken.stray)
            self._close_adapter()
        return None

    def _find_breach_after_answer(self, end: AdapterEnd) -> bool:
        """Attribute the breach to one of the last answered cases, if it causes the breach again alone."""
        if not isinstance(end.outcome, Faulty):
            return False
        names = dict.fromkeys((end.stray, *reversed(list(self._answered)[-RECENT_ANSWERS:])))
        for pending in [self._answered[name] for name in names if name in self._answered]:
            self._close_adapter()
            again = self._breach_of(pending)
            if again is not None:
                self._record(pending, again.outcome, 0)
                self.deaths.add(pending.case, again.outcome, again.how)
                self._close_adapter()
                return True
        return False

    def _breach_of(self, pending: PendingCase) -> AdapterEnd | None:
        """Return how a case breaks the contract alone in a fresh process, before or after its answer."""
        controller = self._ensure_started()
        try:
            controller.send([with_input(pending.case, pending.request)])
            return self._send_again(pending) if controller.receive(pending.ms / 1000) else None
        except Broken as broken:
            faulty = isinstance(broken.outcome, Faulty)
            return AdapterEnd(broken.outcome, broken.how) if faulty else None

    def _breach_after_answer(self, pending: PendingCase, end: AdapterEnd) -> AdapterEnd | None:
        if not isinstance(end.outcome, Faulty) or self._controller is None:
            return None
        again = self._send_again(pending)
        if again is not None:
            self._record(pending, again.outcome, 0)
        return again

    def _attribute_to_oldest(self, suspects: list[PendingCase], end: AdapterEnd) -> None:
        """Attribute a death or breach that no suspect repeats alone to the oldest one; a timeout to none."""
        oldest = suspects[0]
        what = f"{len(suspects)} in flight, none of which does it alone in a fresh process"
        self.notes.append(f"{oldest.case.id}: {end.outcome.text}; {what}")
        self.deaths.add(oldest.case, end.outcome, f"no case alone: {end.how}", alone=False)
        if not isinstance(end.outcome, TimedOut):
            self._record(oldest, evolve(end.outcome, text=f"{end.outcome.text}; {what}"), 0)

    def _run_alone(self, queue: deque[PendingCase]) -> Iterator[None]:
        """Run each case that has a memory limit with nothing else in flight, and compare its peak."""
        while queue:
            pending = queue.popleft()
            if why := self.deaths.verdict(pending.case):
                self._record(pending, why, 0)
                continue
            end = self._run_isolated(pending)
            if end is not None:
                self._find_guilty([pending], end)
            yield
