"""A campaign: fuzz every format that an adapter claims, for some minutes, with one or more workers.

Each worker is a process of its own. If one cannot continue, it gives the reason in one line, and the others
continue.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final

from attrs import Factory, define, evolve, field, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.registry.registry import resolve
from wireproof.adapters.requests import claimed_ops
from wireproof.cases.case import Level
from wireproof.formats import FORMATS
from wireproof.fuzz import supervisor as worker_process
from wireproof.fuzz.corpus import (
    LIBFUZZER_TIMEOUT,
    MINIMISE_FROM,
    Minimised,
    StatsReader,
    WorkDirectory,
    minimise,
    recover,
)
from wireproof.fuzz.findings import Finding, finding_files, read_finding, update_counts
from wireproof.fuzz.known_ways import NOTHING_KNOWN, KnownWays
from wireproof.fuzz.rejudge import judge_again, shrink_findings
from wireproof.fuzz.standalone import write_launcher
from wireproof.fuzz.target import REFERENCE
from wireproof.fuzz.worker_config import WorkerConfig
from wireproof.install_hint import install_command
from wireproof.run.engine import Engine
from wireproof.strict_parsing import to_tree

GRACE_SECONDS: Final = 120.0
"""Seconds that a worker may take beyond its time: to reproduce a crash, to wait for answers."""

MINIMISE_SHARE: Final = 0.25
"""The part of the time that large corpora of earlier runs may take to become smaller, before the fuzzing."""

LEAST_MINIMISE_SECONDS: Final = 30.0
"""Less time than this is not worth the attempt: a run of libFuzzer over a corpus starts three processes."""

SHRINK_SHARE: Final = 0.1
"""The part of its time that a campaign takes beyond it to make new findings smaller."""

MOST_SHRINK_SECONDS: Final = 30.0
LEAST_SHRINK_SECONDS: Final = 5.0


@frozen
class Campaign:
    """The configuration of a fuzzing campaign: its target, duration and folder of results.

    Attributes:
        adapter: name of the adapter, as users write it.
        root: the work directory.
        formats: ids of the formats; empty for all that the adapter claims.
        minutes: wall-clock time of the campaign, from its start to its end; 0 only reads findings and corpora
            again.
        workers: number of worker processes.
        seed: random seed.
        fixtures: folders of further fixtures that serve as seeds.
        stop_at_first: stop at the first finding.
        minimal_seeds: begin with the minimal encodings only, without the fixtures.
        held_out: ids of fixtures that do not serve as seeds.
        level: the lowest level whose failures are findings against the adapter.
        runs: executions of each format after which the campaign ends, of all workers together; 0 for any
            number.
        inputs: a folder with further inputs for every format.
        known: ways to fail that fail no run.
    """

    adapter: str
    root: Path
    formats: tuple[str, ...] = ()
    minutes: float = 5.0
    workers: int = 1
    seed: int = 1
    fixtures: tuple[str, ...] = ()
    stop_at_first: bool = False
    minimal_seeds: bool = False
    held_out: tuple[str, ...] = ()
    level: Level = "must"
    runs: int = 0
    inputs: Path | None = None
    known: KnownWays = NOTHING_KNOWN

    @property
    def work_directory(self) -> WorkDirectory:
        """Return the work directory."""
        return WorkDirectory(self.root)

    def findings(self) -> list[Finding]:
        """Return the stored findings with their counts; those that fail no run are known."""
        found = update_counts(self.work_directory.findings(self.adapter))
        return [evolve(one, state="known") if self.known.has(one.signature) else one for one in found]


@define
class CampaignResult:
    """The result of a campaign.

    Attributes:
        findings: of this run and of earlier ones.
        worker_errors: one line for each reason why a worker could not continue.
        corpora: the minimised corpora, by the id of their format.
        mended: findings of earlier runs that are mended since then.
    """

    findings: list[Finding]
    worker_errors: list[str] = field(default=Factory(list))
    corpora: dict[str, Minimised] = field(default=Factory(dict))
    mended: list[Finding] = field(default=Factory(list))


class CampaignProgress:
    """What a campaign has done so far, read from its work directory while it runs.

    Attributes:
        executions: number of inputs that were checked.
        rate: inputs a second, since the fuzzing began.
        edges: edges of the code that inputs of the present format have reached.
        format_id: the present format; empty until the first is fuzzed.
        kinds: numbers of the failures that no earlier run has, by the kind of their verdict.
        permitted: number of permitted differences that no earlier run has.
        newest: the newest of the failures.
        reader: reads the statistics of each format.
    """

    def __init__(self, campaign: Campaign) -> None:
        """Follow `campaign`, which begins now; findings that are stored already are of earlier runs."""
        self._campaign = campaign
        self._folder = campaign.work_directory.findings(campaign.adapter)
        self._seen = set(finding_files(self._folder))
        self.reader = StatsReader(campaign.work_directory, campaign.adapter, time.time())
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
        files = [path for path in finding_files(self._folder) if path not in self._seen]
        self._seen.update(files)
        found = sorted((read_finding(path) for path in files), key=lambda finding: finding.first)
        gating = [finding for finding in found if finding.gates_at(self._campaign.level)]
        self.permitted += len(found) - len(gating)
        failures = [finding for finding in gating if not self._campaign.known.has(finding.signature)]
        self.kinds.update(finding.signature.kind for finding in failures)
        self.newest = failures[-1] if failures else self.newest
        return failures


@frozen
class _RunningWorker:
    """A worker, its process, and when the process is killed."""

    config: WorkerConfig
    process: subprocess.Popen[bytes]
    deadline: float


def run_campaign(campaign: Campaign, tick: Callable[[], None] = lambda: None) -> CampaignResult:
    """Fuzz until the time is over, then make the new findings smaller.

    `tick` is called a few times a second while workers run.

    The start of the workers belongs to the time, but `LEAST_SECONDS` of fuzzing are left.

    Raises:
        AdapterError: the adapter cannot be started or claims none of the formats, or an extra is missing.
        FindingError: a finding of an earlier run cannot be read.
    """
    if importlib.util.find_spec("atheris") is None:
        raise AdapterStartError(f"fuzzing needs a further package: {install_command('fuzz')}")
    begin = time.monotonic()
    # The ids of the formats that the campaign names and the adapter claims.
    hello = _hello(campaign.adapter)
    claimed = tuple(format_id for format_id, fmt in FORMATS.items() if claimed_ops(hello, fmt))
    if not hello.revisions and (registered := resolve(campaign.adapter).formats):
        claimed = tuple(format_id for format_id in claimed if format_id.startswith(registered))
    chosen = tuple(
        format_id for format_id in claimed if not campaign.formats or format_id in campaign.formats
    )
    if not chosen:
        raise AdapterStartError(f"{campaign.adapter} claims none of {', '.join(campaign.formats)}")
    format_ids = chosen
    for format_id in format_ids:
        recover(campaign.work_directory.corpus(campaign.adapter, format_id))
    folder = campaign.work_directory.findings(campaign.adapter)
    older = {path.stem for path in finding_files(folder)}
    mended = judge_again(folder, campaign.adapter) if campaign.adapter != REFERENCE else []
    corpora = dict(_minimise_large_corpora(campaign, format_ids))
    until = begin + campaign.minutes * 60 if campaign.minutes else inf
    worker_errors = list(_run_workers(_worker_configs(campaign, format_ids, until), tick))
    new = [one for one in campaign.findings() if one.is_open_at(campaign.level) and one.name not in older]
    if new and campaign.adapter != REFERENCE and not campaign.stop_at_first:
        seconds = max(LEAST_SHRINK_SECONDS, min(MOST_SHRINK_SECONDS, campaign.minutes * 60 * SHRINK_SHARE))
        try:
            shrink_findings(folder, campaign.adapter, new, seconds)
        except AdapterError as error:  # what was found is told all the same
            worker_errors.append(f"the new findings are as they were found: {error}")
    return CampaignResult(campaign.findings(), worker_errors, corpora, mended)


def _hello(adapter: str) -> Hello:
    with Engine(adapter) as engine:
        return engine.hello


def _worker_configs(campaign: Campaign, format_ids: Sequence[str], until: float) -> list[WorkerConfig]:
    """Return the configuration of each worker. All have every format, and they begin at different ones."""
    return [
        WorkerConfig(
            campaign.adapter,
            (*format_ids[first:], *format_ids[:first]),
            str(campaign.root),
            f"w{number}",
            campaign.minutes * 60,
            campaign.seed + 100_000 * number,
            campaign.fixtures,
            stop_at_first=campaign.stop_at_first,
            minimal_seeds=campaign.minimal_seeds,
            held_out=campaign.held_out,
            level=campaign.level,
            until=until,
            runs=-(-campaign.runs // campaign.workers),
            inputs=str(campaign.inputs or ""),
        )
        for number in range(campaign.workers)
        for first in [number * len(format_ids) // campaign.workers]
    ]


def _run_workers(configs: list[WorkerConfig], tick: Callable[[], None]) -> Iterator[str]:
    """Run the workers, and yield the error lines of those that fail."""
    running = [_start(config) for config in configs]
    try:
        while running:
            for worker in tuple(running):
                if worker.process.poll() is not None:
                    running.remove(worker)
                    yield from _error_lines(worker)
                elif time.monotonic() > worker.deadline:
                    _kill(worker)
            tick()
            time.sleep(0.1)
    finally:
        for worker in running:
            _kill(worker)
            worker.process.wait()


def _start(config: WorkerConfig) -> _RunningWorker:
    """Start a worker in a session of its own, with the environment that its adapter needs.

    Ctrl-C in a terminal thus reaches this process alone, and no codec in the middle of an input.
    """
    errors = _error_file(config)
    errors.parent.mkdir(parents=True, exist_ok=True)
    with errors.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", worker_process.__name__, _json(config)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=_environment(config.adapter),
            start_new_session=True,
        )  # fmt: skip
    seconds = inf if config.replays else config.seconds + GRACE_SECONDS
    return _RunningWorker(config, process, time.monotonic() + seconds)


def _kill(worker: _RunningWorker) -> None:
    """Kill a worker and the process that fuzzes, which may hang; nobody else would end that one."""
    with suppress(ProcessLookupError):  # it has ended by itself
        os.killpg(worker.process.pid, signal.SIGKILL)


def _error_file(config: WorkerConfig) -> Path:
    return config.work_directory.worker(config.worker) / "errors"


def _json(config: WorkerConfig) -> str:
    return json.dumps(to_tree(config))


def _environment(adapter: str) -> dict[str, str]:
    """Return the environment of a worker: it imports from the same places as this process."""
    path = os.pathsep.join(part for part in (os.getcwd(), *sys.path) if part)  # noqa: PTH109 - a search path
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **resolve(adapter).environment}


def _error_lines(worker: _RunningWorker) -> Iterator[str]:
    """Yield the last lines that a failed worker has written, or else what is known of its end."""
    if worker.process.returncode:
        text = _error_file(worker.config).read_text("utf-8", errors="replace")
        lines = [" ".join(line.split())[:300] for line in text.split("\n") if line.strip()]
        yield from lines[-3:] or [_end_without_output(worker)]


def _end_without_output(worker: _RunningWorker) -> str:
    """Return why a worker ended that has written nothing: its disk may be full."""
    try:
        worker.config.work_directory.check_space()
    except OSError as error:
        return f"{worker.config.root}: {error}"
    return f"{worker.config.worker} ended with exit code {worker.process.returncode}"


def _minimise_large_corpora(campaign: Campaign, format_ids: Sequence[str]) -> Iterator[tuple[str, Minimised]]:
    """Minimise the corpora that have grown large in earlier runs; no worker runs yet.

    It is done before the fuzzing, so that a campaign ends in time and each of its processes, which reads the
    whole corpus first, gains from it.
    """
    until = time.monotonic() + campaign.minutes * 60 * MINIMISE_SHARE
    for format_id in format_ids:
        seconds = until - time.monotonic()
        if seconds < LEAST_MINIMISE_SECONDS:
            return
        folder = campaign.work_directory.corpus(campaign.adapter, format_id)
        if not folder.is_dir() or sum(1 for _ in folder.iterdir()) < MINIMISE_FROM:
            continue
        # In a work directory of its own: a replay of the corpus must not count its findings again.
        own = campaign.work_directory.worker("minimise")
        config = WorkerConfig(campaign.adapter, (format_id,), str(own), "minimise", 0.0)
        launcher = write_launcher(own / "target", _json(config))
        yield format_id, minimise(folder, launcher, min(seconds, LIBFUZZER_TIMEOUT))
