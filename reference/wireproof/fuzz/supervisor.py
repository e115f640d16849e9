"""The supervisor of one turn of a format: it forks a fuzzing process, watches it, and replaces it.

The input that stopped a fuzzing process is run again, alone in a fresh process, and its result recorded.
"""

import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Final

from attrs import evolve

from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.cases.case import Case
from wireproof.derive.examples import Examples, with_expectation
from wireproof.fuzz.corpus import StatsLine, append_line, remove_input
from wireproof.fuzz.executors import HangDetector, InputState
from wireproof.fuzz.findings import Findings, is_finding, read_findings
from wireproof.fuzz.format_session import FormatSession, WorkerContext
from wireproof.fuzz.libfuzzer import EXIT_DONE, EXIT_TOO_LARGE
from wireproof.fuzz.worker_config import WorkerConfig
from wireproof.judge.judge import judge
from wireproof.judge.signature import Signature, signature
from wireproof.judge.verdicts import Verdict
from wireproof.run.engine import Engine
from wireproof.strict_parsing import structure

POLL_SECONDS: Final = 0.05
"""Seconds between two looks at the fuzzing process."""

STATS_SECONDS: Final = 2.0
"""Seconds between two lines of the statistics."""

MAX_FAILED_STARTS: Final = 3
"""Processes in a row that may end before their first input. After that, restarting does not help."""

EXIT_BUG, EXIT_UNCAUGHT = 70, 77
"""Exit codes of a process whose target raised an exception: our own code, and libFuzzer's."""

TARGET_ERROR: Final = "the fuzz target raised an exception"
"""The reason of a process that ended with one of these codes."""

_STATUS: Final = re.compile(rb"cov: (\d+) ft: (\d+) corp: (\d+)")
"""The numbers in a line of libFuzzer's output."""


class Supervisor:
    """The supervisor of one turn of a format.

    Attributes:
        line: the statistics of the turn so far.
    """

    def __init__(self, session: FormatSession, until: float, parent: int, seed: int = 0) -> None:
        """Prepare a turn that ends at `until` on the monotonic clock, or when the process `parent` ends.

        `seed` is added to the random seed of the configuration.
        """
        config = session.config
        self._session = session
        self._start = time.monotonic()
        self._until = until
        self._parent = parent
        self._seed = seed
        self._reported = self._start
        self.line = StatsLine(time.time(), config.worker, config.adapter, session.fmt.format_id, 0.0)

    def run(self) -> None:
        """Start and watch processes until the time is over; raises `AdapterStartError` if none can run."""
        failed_starts = 0
        for number in self._numbers():
            reason = self._watch(self._fork(number))
            state = self._session.shared_input.state()
            failed_starts = 0 if state.executions else failed_starts + 1
            if reason:
                self.line.deaths += 1
                self.line.last = reason
                self._reproduce(reason, state)
            if self._session.config.replays and not reason:
                break
            if failed_starts >= MAX_FAILED_STARTS:
                self._session.config.work_directory.check_space()
                raise AdapterStartError(
                    f"{self._session.config.adapter}: {failed_starts} fuzzing processes ended "
                    f"before their first input: {reason or 'no error'}: {self._last_output()}"
                )
        self._report(force=True)

    def may_stop(self) -> bool:
        """Report whether the worker stops at its first finding and has one."""
        config = self._session.config
        found = read_findings(config.work_directory.findings(config.adapter)) if config.stop_at_first else []
        return any(finding.is_open_at(config.level) for finding in found)

    def _numbers(self) -> Iterator[int]:
        """Yield what is added to the random seed of each process, as long as the turn lasts."""
        number = self._seed
        most = self._session.config.runs or inf
        while time.monotonic() < self._until and os.getppid() == self._parent and not self.may_stop():
            if self.line.executions >= most:
                return
            yield number
            number += 1

    def _fork(self, number: int) -> int:
        """Start a fuzzing process and return its id."""
        supervisor = os.getpid()
        self._session.shared_input.reset()
        process = os.fork()
        if process:
            return process
        try:
            self._session.fuzz(number, self._until, supervisor, self.line.executions)
        except BaseException:  # noqa: BLE001 - whatever it is, it must not continue as a second supervisor
            traceback.print_exc()
        finally:
            os._exit(EXIT_BUG)

    def _watch(self, process: int) -> str:
        """Wait for the end of a process, and end it if it hangs.

        Returns:
            The reason why it ended; empty if it ended well.
        """
        before = self.line.executions
        detector = HangDetector(process, self._session.config.hang_seconds)
        while True:
            ended, status, usage = os.wait4(process, os.WNOHANG)
            state = self._session.shared_input.state()
            self.line.executions = before + state.executions
            if ended:
                self.line.resident = max(self.line.resident, usage.ru_maxrss * 1024)
                # Why a process ended, from its wait status; empty if it ended well.
                if os.WIFSIGNALED(status):
                    return f"died by {signal.Signals(os.WTERMSIG(status)).name}"
                code = os.waitstatus_to_exitcode(status)
                if code in (EXIT_BUG, EXIT_UNCAUGHT):
                    return TARGET_ERROR
                return "" if code in (EXIT_DONE, EXIT_TOO_LARGE) else f"ended with exit code {code}"
            self._report()
            if detector.hangs(state) or os.getppid() != self._parent:
                os.kill(process, signal.SIGKILL)
                os.wait4(process, 0)
                return f"{NO_PROGRESS} for {state.seconds:.0f} s"
            time.sleep(POLL_SECONDS)

    def _reproduce(self, reason: str, state: InputState) -> None:
        """Run the last input of a process again; raises `AdapterStartError` if the target had a bug."""
        config = self._session.config
        if reason == TARGET_ERROR:
            config.work_directory.check_space()
            raise AdapterStartError(
                f"{TARGET_ERROR}: {self._last_output()}; this is a bug of wireproof, "
                f"please report it with {self._session.log}"
            )
        if state.phase != "running":
            return
        remove_input(self._session.folders, state.data)
        findings = Findings(config.work_directory.findings(config.adapter), config.worker, config.level)
        origin = f"seed {config.seed} #{state.executions}"
        try:
            reproduce_crash(config.adapter, self._session.examples, findings, state.data, reason, origin)
        finally:
            findings.close()

    # --- statistics ---

    def _report(self, *, force: bool = False) -> None:
        """Append a line to the statistics if it is time for one."""
        if not force and time.monotonic() - self._reported < STATS_SECONDS:
            return
        self._reported = time.monotonic()
        found = _STATUS.findall(_tail(self._session.log))
        if found:
            self.line.coverage, self.line.features, self.line.corpus = map(int, found[-1])
        self.line.at = round(time.time(), 1)
        self.line.seconds = round(self._reported - self._start, 1)
        append_line(self._session.config.work_directory, self.line)

    def _last_output(self) -> str:
        """Return the last line of libFuzzer's output."""
        lines = _tail(self._session.log).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


def _tail(path: Path) -> bytes:
    """Return the last 8 KiB of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            return file.read()
    except OSError:
        return b""


# --- the input that stopped a process, again ---

NO_PROGRESS: Final = "no progress"
"""Beginning of the reason of a process that was stopped as hanging."""


def reproduce_crash(
    spec: str, examples: Examples, findings: Findings, data: bytes, reason: str, origin: str
) -> list[Signature]:
    """Run each case of `data` in fresh processes of the adapter, and keep the crashes as findings.

    Args:
        spec: the adapter.
        examples: makes the same cases as in the process that stopped.
        findings: where crashes, timeouts and exhausted memory are added.
        data: the input that the process worked on.
        reason: how the process stopped; the text of the finding if the crash does not happen again.
        origin: seed and number of the execution, for the record.

    Returns:
        The signatures of what was added. A crash that does not happen again is added too. A hang that does
        not happen again is not: the cause was the load of the machine.
    """
    case = with_expectation(examples.decode_case(data))
    found: list[Signature] = []
    with Engine(spec) as engine:
        hello = engine.hello
        for sent, verdict in _verdicts(engine, [case, *examples.follow_ups(case)]):
            if is_finding(verdict) and verdict.name in ("crash", "timeout", "resource"):
                sign = signature(hello.name, sent, verdict)
                findings.add(sign, verdict, sent, data, version=hello.version, origin=origin)
                found.append(sign)
    if not found and not reason.startswith(NO_PROGRESS):
        verdict = Verdict("crash", text=f"{reason}; not again in a fresh process")
        sign = evolve(signature(hello.name, case, verdict), path="not repeated")
        findings.add(sign, verdict, case, data, version=hello.version, origin=origin)
        found.append(sign)
    return found


def _verdicts(engine: Engine, cases: list[Case]) -> Iterator[tuple[Case, Verdict]]:
    for case, ran in zip(cases, engine.run(cases), strict=True):
        yield case, judge(ran.case, ran.outcome, hello=engine.hello)


def main(arguments: list[str]) -> int:
    """Run the worker that the one argument describes in JSON; returns the exit code."""
    config = structure(json.loads(arguments[0]), WorkerConfig, "the configuration")
    parent, failures = os.getppid(), 0
    try:
        context = WorkerContext(config)
        sessions = {format_id: FormatSession(context, format_id) for format_id in config.formats}
        for number, (format_id, until) in enumerate(config.turns(time.monotonic())):
            supervisor = Supervisor(sessions[format_id], until, parent, number * 1000)
            failures += not _run_turn(supervisor, format_id)
            if supervisor.may_stop():
                break
    except (AdapterError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 4
    return 4 if failures else 0


def _run_turn(supervisor: Supervisor, format_id: str) -> bool:
    """Run one turn of a format; returns False, and prints the reason, if it cannot continue."""
    try:
        supervisor.run()
    except AdapterError as error:
        sys.stderr.write(f"{format_id}: {error}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
