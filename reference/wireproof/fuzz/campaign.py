"""A campaign: fuzz every format that an adapter claims, for some minutes, with one or more workers.

Each worker is a process of its own. If one cannot continue, it gives the reason in one line, and the others
continue.
"""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import inf
from typing import Final

from attrs import Factory, define, evolve, field, fields, frozen

from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.registry.registry import resolve
from wireproof.adapters.requests import claimed_ops
from wireproof.cases.case import Level
from wireproof.formats import FORMATS
from wireproof.fuzz.corpus import (
    LIBFUZZER_TIMEOUT,
    MINIMISE_FROM,
    Minimised,
    minimise,
    recover,
    size_of,
)
from wireproof.fuzz.findings import Finding, finding_files, read_finding, update_counts
from wireproof.fuzz.rejudge import NOTHING_KNOWN, KnownWays, judge_again, shrink_findings
from wireproof.fuzz.target import REFERENCE
from wireproof.fuzz.work import MINIMISE, StatsReader, Work
from wireproof.install_hint import install_command
from wireproof.run.engine import Engine

ERRORS: Final = "errors"
"""The file in the folder of a worker with what it writes."""


@frozen
class Campaign(Work):
    """The configuration of a fuzzing campaign: what its workers do, and what of it counts.

    Attributes:
        workers: number of worker processes; of `runs`, each makes a part.
        level: the lowest level whose failures are findings against the adapter.
        known: ways to fail that fail no run.
    """

    workers: int = 1
    level: Level = "must"
    known: KnownWays = NOTHING_KNOWN

    def findings(self) -> list[Finding]:
        """Return the stored findings with their counts; those that fail no run are known."""
        found = update_counts(self.findings_folder)
        return [evolve(one, state="known") if self.known.has(one.signature) else one for one in found]

    def works(self, format_ids: Sequence[str], until: float) -> list[Work]:
        """Return the work of each worker. All have every format, and they begin at different ones."""
        shared = Work(**{one.name: getattr(self, one.name) for one in fields(Work)})
        return [
            evolve(
                shared,
                formats=(*format_ids[first:], *format_ids[:first]),
                worker=f"w{number}",
                seed=self.seed + 100_000 * number,
                until=until,
                runs=-(-self.runs // self.workers),
            )
            for number in range(self.workers)
            for first in [number * len(format_ids) // self.workers]
        ]


@define
class CampaignResult:
    """The findings of this run and of earlier ones, and of these the mended ones.

    Attributes:
        worker_errors: one line for each reason why a worker could not continue.
        corpora: the minimised corpora, by the id of their format.
    """

    findings: list[Finding]
    worker_errors: list[str] = field(default=Factory(list))
    corpora: dict[str, Minimised] = field(default=Factory(dict))
    mended: list[Finding] = field(default=Factory(list))


class CampaignProgress:
    """What a campaign has done so far, read from its work directory while it runs.

    Attributes:
        executions, rate: number of inputs that were checked, and inputs a second since the fuzzing began.
        edges: edges of the code that inputs of the present format have reached.
        format_id: the present format; empty until the first is fuzzed.
        kinds: numbers of the failures that no earlier run has, by the kind of their verdict.
        permitted: number of permitted differences that no earlier run has.
        newest: the newest of the failures.
    """

    def __init__(self, campaign: Campaign) -> None:
        """Follow `campaign`, which begins now; findings that are stored already are of earlier runs."""
        self._campaign = campaign
        self._seen = set(finding_files(campaign.findings_folder))
        self.reader = StatsReader(campaign)
        self.executions, self.rate, self.edges, self.permitted = 0, 0.0, 0, 0
        self.format_id = ""
        self.kinds: Counter[str] = Counter()
        self.newest: Finding | None = None

    def poll(self) -> list[Finding]:
        """Read what is new, and return the new failures; permitted differences are only counted."""
        stats = self.reader.formats()
        self.executions = sum(one.executions for one in stats)
        seconds = sum(one.seconds for one in stats) / self._campaign.workers
        self.rate = self.executions / max(seconds, 1.0)
        if self.reader.last is not None:
            self.format_id = self.reader.last.format_id
            self.edges = next(one.coverage for one in stats if one.format_id == self.format_id)
        files = [path for path in finding_files(self._campaign.findings_folder) if path not in self._seen]
        self._seen.update(files)
        found = sorted((read_finding(path) for path in files), key=lambda finding: finding.first)
        gating = [finding for finding in found if finding.gates_at(self._campaign.level)]
        self.permitted += len(found) - len(gating)
        failures = [finding for finding in gating if not self._campaign.known.has(finding.signature)]
        self.kinds.update(finding.signature.kind for finding in failures)
        self.newest = failures[-1] if failures else self.newest
        return failures


def run_campaign(campaign: Campaign, tick: Callable[[], object] = lambda: None) -> CampaignResult:
    """Fuzz until the time is over, then make the new findings smaller.

    `tick` is called a few times a second while workers run; if it returns a true value, they are ended, and
    nothing is made smaller. The start of the workers belongs to the time, but `LEAST_SECONDS` of fuzzing are
    left.

    Raises:
        AdapterError: the adapter cannot be started or claims none of the formats, or an extra is missing.
        FindingError: a finding of an earlier run cannot be read.
    """
    if importlib.util.find_spec("atheris") is None:
        raise AdapterStartError(f"fuzzing needs a further package: {install_command('fuzz')}")
    begin, adapter, folder = time.monotonic(), campaign.adapter, campaign.findings_folder
    format_ids = _format_ids(campaign)
    for format_id in format_ids:
        recover(campaign.corpus(format_id))
    older = {path.stem for path in finding_files(folder)}
    mended = judge_again(folder, adapter) if adapter != REFERENCE else []
    corpora = dict(_minimise_large_corpora(campaign, format_ids))
    until = begin + campaign.minutes * 60 if campaign.minutes else inf
    worker_errors, ended = _run_workers(campaign.works(format_ids, until), tick)
    new = [one for one in campaign.findings() if one.is_open_at(campaign.level) and one.name not in older]
    if new and adapter != REFERENCE and not ended:
        seconds = max(5.0, min(30.0, campaign.minutes * 60 * 0.1))  # beyond the time of the campaign
        try:
            shrink_findings(folder, adapter, new, seconds)
        except AdapterError as error:  # what was found is told all the same
            worker_errors.append(f"the new findings are as they were found: {error}")
    return CampaignResult(campaign.findings(), worker_errors, corpora, mended)


def _format_ids(campaign: Campaign) -> tuple[str, ...]:
    """Return the ids of the formats that the campaign names and the adapter claims."""
    with Engine(campaign.adapter) as engine:
        hello = engine.hello
    registered = () if hello.revisions else resolve(campaign.adapter).formats
    found = tuple(
        format_id
        for format_id, fmt in FORMATS.items()
        if claimed_ops(hello, fmt)
        and (not registered or format_id.startswith(registered))
        and (not campaign.formats or format_id in campaign.formats)
    )
    if not found:
        raise AdapterStartError(f"{campaign.adapter} claims none of {', '.join(campaign.formats)}")
    return found


def _run_workers(works: list[Work], tick: Callable[[], object]) -> tuple[list[str], bool]:
    """Run the workers; return the error lines of those that failed, and whether `tick` has ended them."""
    lines: list[str] = []
    running = []
    for work in works:
        # Two minutes more, to reproduce a crash and to wait for answers.
        most = inf if work.replays else work.minutes * 60 + 120
        running.append((work, _start(work), time.monotonic() + most))
    try:
        while running:
            for worker in tuple(running):
                work, process, deadline = worker
                if process.poll() is not None:
                    running.remove(worker)
                    lines += error_lines(work, process.returncode)
                elif time.monotonic() > deadline:
                    _kill(process)
            if tick():
                return lines, True
            time.sleep(0.1)
    finally:
        for _, process, _ in running:
            _kill(process)
            process.wait()
    return lines, False


def _start(work: Work) -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own, with the environment that its adapter needs.

    Ctrl-C in a terminal thus reaches this process alone, and no codec in the middle of an input.
    """
    work.folder.mkdir(parents=True, exist_ok=True)
    with (work.folder / ERRORS).open("wb") as file:
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", f"{__package__}.worker", work.json()],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=_environment(work.adapter),
            start_new_session=True,
        )  # fmt: skip


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and the process that fuzzes, which may hang; nobody else would end that one."""
    with suppress(ProcessLookupError):  # it has ended by itself
        os.killpg(process.pid, signal.SIGKILL)


def _environment(adapter: str) -> dict[str, str]:
    """Return the environment of a worker: it imports from the same places as this process."""
    path = os.pathsep.join(part for part in (os.getcwd(), *sys.path) if part)  # noqa: PTH109 - a search path
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **resolve(adapter).environment}


def error_lines(work: Work, code: int) -> list[str]:
    """Return the last lines that a failed worker has written, or else what is known of its end."""
    if not code:
        return []
    text = (work.folder / ERRORS).read_text("utf-8", errors="replace")
    lines = [" ".join(line.split())[:300] for line in text.split("\n") if line.strip()]
    if lines:
        return lines[-3:]
    try:
        work.check_space()
    except OSError as error:
        return [f"{work.root}: {error}"]
    return [f"{work.worker} ended with exit code {code}"]


def _minimise_large_corpora(campaign: Campaign, format_ids: Sequence[str]) -> Iterator[tuple[str, Minimised]]:
    """Minimise the corpora that have grown large, in a quarter of the time; no worker runs yet.

    It is done before the fuzzing, so that a campaign ends in time and each of its processes, which reads the
    whole corpus first, gains from it. Each takes at least 30 s, as libFuzzer starts three processes.
    """
    until = time.monotonic() + campaign.minutes * 60 / 4
    for format_id in format_ids:
        seconds, folder = until - time.monotonic(), campaign.corpus(format_id)
        if seconds < 30:
            return
        if size_of(folder) >= MINIMISE_FROM:
            most = min(seconds, LIBFUZZER_TIMEOUT)
            yield format_id, minimise(folder, *minimising(campaign, format_id), most)


def minimising(work: Work, format_id: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs all inputs of a format, and its environment.

    It has a work directory of its own: a replay of the corpus must not count its findings again.
    """
    own = Work(work.adapter, work.folder.parent / MINIMISE, (format_id,), minutes=0.0, worker=MINIMISE)
    command = [sys.executable, "-m", f"{__package__}.standalone"]
    return command, {**_environment(work.adapter), "WIREPROOF_WORKER": own.json()}
