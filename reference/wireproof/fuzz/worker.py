"""A worker of a campaign: it forks a fuzzing process for each turn of a format, watches and replaces it.

What is imported and opened, is so before the first fork; what is instrumented, before the first guided turn.
The input that stopped a fuzzing process is run again, alone in a fresh process, and its result recorded.
"""

import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import closing, suppress
from math import inf
from pathlib import Path
from typing import Final, Literal, NoReturn

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.object_worker import limit_memory
from wireproof.adapters.process.controller import MEMORY
from wireproof.adapters.process.stats import cpu_seconds, own_address_space, own_resident
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry.registry import load_object, resolve
from wireproof.adapters.requests import claimed_ops, prepare_case
from wireproof.cases.case import Case
from wireproof.cases.fixtures import load
from wireproof.cases.reference_answers import load_levels
from wireproof.derive.examples import Examples, OptionVariant, option_variants, with_expectation, with_variant
from wireproof.derive.mutate import dictionary, seed
from wireproof.derive.mutate.dictionary import dictionary_text
from wireproof.derive.mutate.draws import MAX_SIZE
from wireproof.formats import FORMATS
from wireproof.fuzz.corpus import input_files, remove_input, write_seeds
from wireproof.fuzz.findings import Findings, is_finding
from wireproof.fuzz.libfuzzer import (
    SUPERVISED_FLAGS,
    Mutator,
    compile_codecs,
    instrument,
    modules_to_instrument,
    run_libfuzzer,
    uninstrumented_modules,
)
from wireproof.fuzz.process import (
    CpuTimer,
    Executor,
    InProcessExecutor,
    InputState,
    SharedInput,
    SubprocessExecutor,
)
from wireproof.fuzz.target import REFERENCE, FuzzTarget
from wireproof.fuzz.work import StatsLine, Turn, Work, append_line, slug
from wireproof.judge.judge import judge
from wireproof.judge.signature import signature
from wireproof.judge.verdicts import Verdict
from wireproof.run.engine import Engine

INPUT_SECONDS, MAX_CPU_SECONDS = 2.0, 4.0
"""Processor time that one input may take, which is the time limit of a case; the same as seen from outside
the process, since a loop in C is not ended by the timer within."""

RESIDENT_LIMIT: Final = 1024 * 1024 * 1024
"""Resident memory in bytes at which a process ends and a fresh one takes over, which costs one fork."""

STATS_SECONDS: Final = 2.0
"""Seconds between two lines of the statistics."""

MAX_FAILED_STARTS: Final = 3
"""Processes in a row that may end before their first input. After that, restarting does not help."""

EXIT_DONE, EXIT_BUG, EXIT_UNCAUGHT, EXIT_TOO_LARGE = 0, 70, 77, 75
"""Exit codes: its time is over, the target raised an exception (twice, by who saw it), it is too large."""

TARGET_ERROR: Final = "the fuzz target raised an exception"
"""The reason of a process that ended because of that."""

NO_PROGRESS: Final = "no progress"
"""Beginning of the reason of a process that was stopped as hanging."""


class Worker:
    """The parts that a worker imports and opens once, before its first fork.

    Attributes:
        shared_input: the input that a fuzzing process works on.
        is_guided: whether the codecs are instrumented.
    """

    def __init__(self, work: Work) -> None:
        """Import the adapter; raises `AdapterError`."""
        entry = resolve(work.adapter)
        self.work = work
        self.suite = load(tuple(map(Path, work.fixtures)))
        in_process = work.adapter != REFERENCE and entry.object and not entry.interpreter
        self._caller = Caller(load_object(entry)) if in_process else None
        if self._caller is not None:
            self.hello: Hello = self._caller.hello
        else:
            with Engine(work.adapter) as engine:
                self.hello = engine.hello
        self.shared_input = SharedInput(work.folder / "input", MAX_SIZE)
        self._modules = modules_to_instrument((FORMATS[format_id] for format_id in work.formats), entry)
        compile_codecs(case for case in self.suite.cases if case.format_id in work.formats)
        self.is_guided = False

    def guide(self) -> None:
        """Instrument the codecs, for this process and those that it forks from now on."""
        if not self.is_guided:
            self.is_guided = True
            instrument(self._modules)
            # Behind `instrument`, so that the copy is not instrumented; before a fork, which shares it.
            uninstrumented_modules()

    def executor(self, timer: CpuTimer) -> Executor | None:
        """Return a way to run the adapter from a fuzzing process; None for the reference."""
        if self.work.adapter == REFERENCE:
            return None
        if self._caller is None:
            return SubprocessExecutor(self.work.adapter)
        return InProcessExecutor(self._caller, timer)


def supported_variants(
    variants: Iterable[OptionVariant], case: Case, hello: Hello
) -> tuple[OptionVariant, ...]:
    """Return the variants in which an adapter with this `hello` can run `case`."""
    cases = ((one, prepare_case(with_variant(case, one), hello)) for one in variants)
    return tuple(one for one, prepared in cases if isinstance(prepared, Case))


class Session:
    """One format of a worker: its examples and files, and the fuzzing processes that use them.

    Attributes:
        examples: turns bytes into cases.
        log, dictionary: the files with the output of libFuzzer, and with the words that it inserts.
        folders: the folders of the corpus, of the seeds, and of further inputs.
        files: the inputs in these folders when the worker began.
        line: the statistics of the present turn.
    """

    def __init__(self, worker: Worker, format_id: str) -> None:
        """Write the seeds and the dictionary, and call the adapter once."""
        work, hello, self.fmt = worker.work, worker.hello, FORMATS[format_id]
        self.work, self._worker = work, worker
        self.examples = Examples(
            self.fmt,
            self._variants("decode"),
            claimed_ops(hello, self.fmt),
            scan_variants=self._variants("scan"),
            wrapped=bool(hello.revisions) and format_id not in hello.revisions,
        )
        self.log = work.folder / "log"
        self.dictionary = work.folder / f"{slug(format_id)}.dict"
        self.dictionary.write_text(dictionary_text(dictionary(self.fmt)), encoding="ascii")
        cases = () if work.minimal_seeds else worker.suite.cases
        seeds = write_seeds(work.folder / "seeds" / slug(format_id), self.fmt, cases)
        corpus = work.corpus(format_id)
        corpus.mkdir(parents=True, exist_ok=True)
        self.folders = (corpus, seeds, *(Path(one) for one in (work.inputs,) if one))
        self.files = tuple(input_files(self.folders))
        self._warm_up()

    def _variants(self, op: Literal["decode", "scan"]) -> tuple[OptionVariant, ...]:
        """Return the option variants that the adapter supports for `op`."""
        empty = evolve(Examples(self.fmt, (), ()).without_expectation(b""), op=op)
        return supported_variants(
            option_variants(self.fmt, self._worker.suite, op), empty, self._worker.hello
        )

    def _warm_up(self) -> None:
        """Call the adapter once: what it compiles or loads on first use must not count as a hang.

        The levels of refusals are loaded too: else the input that needs them first has their coverage.
        """
        for format_id in {self.fmt.format_id, "/".join((self.fmt.wrapped_by or ())[:2])} - {""}:
            load_levels(format_id)
        data, timer = seed(self.fmt), CpuTimer(120.0)
        case, executor = self.examples.decode_case(data), self._worker.executor(timer)
        if isinstance(executor, InProcessExecutor):
            timer.start()
            for _ in executor.run([case, *self.examples.all_follow_ups(case)], data):
                pass
            timer.stop()

    def target(self) -> FuzzTarget:
        timer = CpuTimer(INPUT_SECONDS)
        return FuzzTarget(
            self.examples,
            self._worker.executor(timer),
            self._findings(),
            self._worker.shared_input,
            timer,
            f"seed {self.work.seed}",
        )

    def mutator(self) -> Mutator:
        seeds = [path.read_bytes() for path in input_files(self.folders[1:2])]
        return Mutator(self.fmt, seeds, self.examples.keys, is_copy=self._worker.is_guided)

    def arguments(self, number: int) -> list[str]:
        """Return libFuzzer's command line for the process that has this number."""
        # Without coverage no input is interesting, and none would be kept.
        return [
            *SUPERVISED_FLAGS,
            f"-keep_seed={int(not self._worker.is_guided)}",
            f"-max_len={MAX_SIZE}",
            f"-seed={self.work.seed + number}",
            f"-dict={self.dictionary}",
            f"-artifact_prefix={self.work.folder}/",
            *map(str, self.folders),
        ]

    def _findings(self) -> Findings:
        return Findings(self.work.findings_folder, self.work.worker)

    def fuzz(self, number: int, turn: Turn, parent: int, done: int = 0) -> NoReturn:
        """Turn this process into the fuzzing process of one turn, whose seed `number` is added to.

        It stops when the process `parent` has ended. `done` are the executions of the turn so far; where
        nothing but files is read, so many were read.
        """
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        target = self.target()
        # A codec that allocates what a length field states gets an error, and the machine keeps its memory.
        limit_memory(own_address_space() + MEMORY)
        target.timer.start()
        if self.work.replays:
            for path in self.files[done:]:  # of those that are there still
                with suppress(FileNotFoundError), path.open("rb") as file:
                    target(file.read(MAX_SIZE))
        else:
            left, count = turn.runs - done if turn.runs else inf, 0

            def callback(data: bytes) -> None:
                """Run the target, and end the process in time or when it is too large."""
                nonlocal count
                target(data)
                count += 1
                looks = count % 8 == 0
                done = count >= left or (looks and (time.monotonic() > turn.until or os.getppid() != parent))
                if done or (count % 64 == 0 and own_resident() > RESIDENT_LIMIT):
                    target.finish()
                    sys.stderr.flush()
                    os._exit(EXIT_DONE if done else EXIT_TOO_LARGE)

            run_libfuzzer(sys.argv[0], self.arguments(number), callback, self.mutator())
        target.finish()
        os._exit(EXIT_DONE)

    def run_turn(self, number: int, turn: Turn, parent: int) -> None:
        """Start and watch processes until a turn ends, or until the process `parent` does.

        Raises `AdapterStartError` if none can run.
        """
        self.line = StatsLine(self.work.worker, number, self.work.adapter, self.fmt.format_id)
        self._begin = self._reported = time.monotonic()
        failed_starts, process = 0, number * 1000
        while time.monotonic() < turn.until and os.getppid() == parent:
            if 0 < turn.runs <= self.line.executions:
                break
            reason = self._watch(self._fork(process, turn), parent)
            process += 1
            state = self._worker.shared_input.state()
            failed_starts = 0 if state.executions else failed_starts + 1
            if reason:
                self.line.deaths += 1
                self.line.last = reason
                self._reproduce(reason, state)
            elif self.work.replays:
                break
            if failed_starts >= MAX_FAILED_STARTS:
                self.work.check_space()
                raise AdapterStartError(
                    f"{self.work.adapter}: {failed_starts} fuzzing processes ended "
                    f"before their first input: {reason or 'no error'}: {self._last_output()}"
                )
        self._report(force=True)

    def _fork(self, number: int, turn: Turn) -> int:
        """Start a fuzzing process and return its id."""
        worker = os.getpid()
        self._worker.shared_input.reset()
        process = os.fork()
        if process:
            return process
        try:
            self.fuzz(number, turn, worker, self.line.executions)
        except BaseException:  # noqa: BLE001 - whatever it is, it must not continue as a second worker
            traceback.print_exc()
        finally:
            os._exit(EXIT_BUG)

    def _watch(self, process: int, parent: int) -> str:
        """Wait for the end of a process, and end it if it hangs; return why it ended, empty if it ended well.

        A process that waits uses no processor time. Wall-clock time alone would blame inputs for other load
        on the machine.
        """
        before, seen, spent = self.line.executions, -1, 0.0
        while True:
            ended, status, usage = os.wait4(process, os.WNOHANG)
            state = self._worker.shared_input.state()
            self.line.executions = before + state.executions
            if ended:
                self.line.resident = max(self.line.resident, usage.ru_maxrss * 1024)
                code = os.waitstatus_to_exitcode(status)
                if code < 0:
                    return f"died by {signal.Signals(-code).name}"
                if code in (EXIT_BUG, EXIT_UNCAUGHT):
                    return TARGET_ERROR
                return "" if code in (EXIT_DONE, EXIT_TOO_LARGE) else f"ended with exit code {code}"
            self._report()
            if state.executions != seen:
                seen, spent = state.executions, cpu_seconds(process)
            waits = state.data is None  # for a batch of another process
            hangs = state.seconds > self.work.hang_seconds * (20.0 if waits else 1.0) or (
                not waits and cpu_seconds(process) - spent > MAX_CPU_SECONDS
            )
            if hangs or os.getppid() != parent:
                os.kill(process, signal.SIGKILL)
                os.wait4(process, 0)
                return f"{NO_PROGRESS} for {state.seconds:.0f} s"
            time.sleep(0.05)

    def _reproduce(self, reason: str, state: InputState) -> None:
        """Run each case of the last input of a process in fresh processes, and keep crashes as findings.

        A crash that does not happen again is kept too; a hang is not: its cause was the load of the machine.
        Raises `AdapterStartError` if the target had a bug.
        """
        if reason == TARGET_ERROR:
            self.work.check_space()
            raise AdapterStartError(
                f"{TARGET_ERROR}: {self._last_output()}; this is a bug of wireproof, "
                f"please report it with {self.log}"
            )
        data = state.data
        if data is None:
            return
        remove_input(self.folders, data)
        case, found = with_expectation(self.examples.decode_case(data)), False
        cases = [case, *self.examples.follow_ups(case)]
        with closing(self._findings()) as findings, Engine(self.work.adapter) as engine:
            hello = engine.hello
            more = {"version": hello.version, "origin": f"seed {self.work.seed} #{state.executions}"}
            for sent, ran in zip(cases, engine.run(cases), strict=True):
                verdict = judge(ran.case, ran.outcome, hello=hello)
                if is_finding(verdict) and verdict.name in ("crash", "timeout", "resource"):
                    found = True
                    findings.add(signature(hello.name, sent, verdict), verdict, sent, data, **more)
            if not found and not reason.startswith(NO_PROGRESS):
                verdict = Verdict("crash", text=f"{reason}; not again in a fresh process")
                sign = evolve(signature(hello.name, case, verdict), path="not repeated")
                findings.add(sign, verdict, case, data, **more)

    def _report(self, *, force: bool = False) -> None:
        """Append a line to the statistics if it is time for one."""
        if not force and time.monotonic() - self._reported < STATS_SECONDS:
            return
        self._reported = time.monotonic()
        found = re.findall(rb"cov: (\d+) ft: (\d+) corp: (\d+)", _tail(self.log))
        if found:
            self.line.coverage, self.line.features, self.line.corpus = map(int, found[-1])
        self.line.seconds = round(self._reported - self._begin, 1)
        append_line(self.work, self.line)

    def _last_output(self) -> str:
        """Return the last line of libFuzzer's output."""
        lines = _tail(self.log).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


def _tail(path: Path) -> bytes:
    """Return the last 8 KiB of a file; empty if it cannot be read."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 8192))
        return file.read()
    return b""


def main(text: str) -> int:
    """Do the work that a JSON text describes; returns the exit code."""
    work = Work.of_json(text)
    parent, code = os.getppid(), 0
    try:
        worker = Worker(work)
        sessions = {format_id: Session(worker, format_id) for format_id in work.formats}
        for number, turn in enumerate(work.turns(time.monotonic())):
            if turn.guided:
                worker.guide()
            try:
                sessions[turn.format_id].run_turn(number, turn, parent)
            except AdapterError as error:
                sys.stderr.write(f"{turn.format_id}: {error}\n")
                code = 4
    except (AdapterError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 4
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
