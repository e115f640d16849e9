"""The releases of a range: each is built and judged, and its run is kept in the cache.

A release that was judged before is not judged again, as long as its driver, the fixtures and the
selection are the same. One that cannot be built or started is a row with the reason.
"""

import json
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

import click
from attrs import evolve, frozen

from wireproof.adapters.driver_build import build_folder
from wireproof.adapters.errors import AdapterError, UnknownAdapter
from wireproof.adapters.library_releases import near, releases
from wireproof.adapters.registry import resolve
from wireproof.cache import cache_folder
from wireproof.cli.build_notice import announce_builds
from wireproof.cli.check_worker import CheckOptions, CheckTask, OrderedFile, ResultCollector
from wireproof.cli.options import selection, suite_of
from wireproof.files import open_locked
from wireproof.release_order import age
from wireproof.report.history import AdapterHistory, release_history
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.events import EventError
from wireproof.runner.families import Families
from wireproof.runner.workers import TaskEnded, WorkerDiedError, run_serial

_RANGE: Final = re.compile(
    r"(?P<name>[^@/:]+)@(?P<first>[^@/:]*?)\.\.(?P<last>[^@/:]*)(?::(?P<options>[^@/]*))?"
)


@frozen
class ReleaseRange:
    """Releases of the library behind an adapter.

    Attributes:
        name: the adapter, without a version.
        first, last: the ends, both included; empty for an open end.
        options: of a client program, such as `side=consume`; empty for none.
    """

    name: str
    first: str = ""
    last: str = ""
    options: str = ""

    def __contains__(self, version: str) -> bool:
        """Return True for a version in the range; `..1.45` includes 1.45.0."""
        after = not self.first or age(version) >= age(self.first)
        return after and (not self.last or age(version)[: len(age(self.last)) - 1] <= age(self.last)[:-1])

    @property
    def title(self) -> str:
        """Return the adapter with its options."""
        return f"{self.name}{self._tail}"

    def spec(self, version: str) -> str:
        """Return the adapter in one version, with its options."""
        return f"{self.name}@{version}{self._tail}"

    @property
    def _tail(self) -> str:
        return f":{self.options}" if self.options else ""


def parse_range(text: str) -> ReleaseRange | None:
    """Return the range that a text such as `sarama@1.40.0..` names; None for any other text."""
    found = _RANGE.fullmatch(text)
    return ReleaseRange(**found.groupdict(default="")) if found else None


@frozen
class JudgedRange:
    """What is known of a range, also after an interrupt.

    Attributes:
        history: of the releases so far.
        files: the run of each release that was judged.
        broken_off: the interrupt that ended it; None if every release was tried.
    """

    history: AdapterHistory
    files: tuple[Path, ...]
    broken_off: KeyboardInterrupt | None = None


def judge_range(
    wanted: ReleaseRange,
    most: int | None,
    *,
    families: bool,
    folders: Sequence[Path],
    patterns: tuple[str, ...],
    skipped: tuple[str, ...],
) -> JudgedRange:
    """Build and judge the releases of a range; raise `AdapterError` if there are none.

    Args:
        wanted: the range.
        most: only so many of its last releases; None for all.
        families: judge derived cases too.
        folders: further fixtures.
        patterns: of the cases to judge; empty for all.
        skipped: patterns of the cases to leave out.
    """
    suite = suite_of(folders)
    asked = CheckOptions(
        suite=suite, cases=selection(suite, patterns, skipped), families=families, examples=None, golden=True,
        in_process=False, seed=0, scale=1.0, level="must", known_failures=None,
        filters=(*patterns, *(f"!{pattern}" for pattern in skipped)),
    )  # fmt: skip
    return _judged_versions(wanted, _versions(wanted, most), asked)


def _judged_versions(wanted: ReleaseRange, versions: Sequence[str], asked: CheckOptions) -> JudgedRange:
    runs: dict[str, EventStream] = {}
    unjudged: dict[str, str] = {}
    files: list[Path] = []
    broken_off = None
    try:
        for version in versions:
            try:
                runs[version], file = _judged(wanted.spec(version), asked)
                files.append(file)
            except (AdapterError, WorkerDiedError) as error:
                unjudged[version] = str(error).removeprefix(f"{wanted.name}@{version}: ")
            _report(wanted.title, version, runs, unjudged)
    except KeyboardInterrupt as error:
        broken_off = error
    history = release_history(wanted.title, runs, unjudged)
    if broken_off is None:
        second = _second_runs(wanted, history, asked)
        history = release_history(wanted.title, runs, unjudged, second)
    return JudgedRange(history, tuple(files), broken_off)


def _second_runs(
    wanted: ReleaseRange, history: AdapterHistory, asked: CheckOptions
) -> dict[str, EventStream]:
    """Judge the cases that changed once more in each release: a flaky one changes by itself."""
    changed = {turn.id for turn in history.turns if turn.changed}
    cases = tuple(case for case in asked.cases if case.id in changed)
    if not cases:
        return {}
    again = evolve(asked, cases=cases, families=False, seed=asked.seed + 1, filters=tuple(sorted(changed)))
    return {version: _judged(wanted.spec(version), again)[0] for version in history.versions}


def _versions(wanted: ReleaseRange, most: int | None) -> Sequence[str]:
    """Return the releases of a range, the oldest first."""
    entry = resolve(wanted.name)
    if entry.library is None:
        raise UnknownAdapter(f"{wanted.name}: it names no library, so its releases are unknown")
    known = releases(entry.library)
    found = [version for version in known if version in wanted]
    if not found:
        ends = ", ".join(dict.fromkeys(near(wanted.first or wanted.last, known)))
        raise UnknownAdapter(f"{wanted.name}: no release is in this range; near ones: {ends}")
    return found[-most:] if most else found


def _report(name: str, version: str, runs: dict[str, EventStream], unjudged: dict[str, str]) -> None:
    """Print a line on stderr, because a range may take an hour."""
    state = f"not judged: {unjudged[version]}" if version in unjudged else f"{len(runs[version].cases)} cases"
    click.echo(f"{name} {version}: {state}", err=True)


def _judged(spec: str, asked: CheckOptions) -> tuple[EventStream, Path]:
    """Return the run of one release and its file; judge it unless the cache has this run."""
    entry = resolve(spec)
    assert entry.prepare is not None, "a chosen version has a build"
    chosen = (asked.families, asked.seed, *(case.id for case in asked.cases))  # `@FILE` may have others now
    choice = blake2b(repr(chosen).encode(), digest_size=8).hexdigest()
    build = build_folder(entry.name, entry.prepare).name
    file = cache_folder() / "history" / f"{spec}-{build.rpartition('-')[2]}-{asked.suite.hash}-{choice}.jsonl"
    if kept := _kept(file):
        return kept, file
    announce_builds((spec,))
    file.parent.mkdir(parents=True, exist_ok=True)
    return _run(spec, asked, file), file


def _kept(file: Path) -> EventStream | None:
    """Return the complete run in a file; None if there is none."""
    if not file.exists():
        return None
    try:
        streams = read_events(file)
    except EventError:
        return None
    return streams[0] if streams and streams[0].complete else None


def _run(spec: str, asked: CheckOptions, file: Path) -> EventStream:
    with OrderedFile(file) as out:
        receiving = ResultCollector((spec,), file=out)
        for number, message in run_serial(1, CheckTask(asked, (spec,), Families())):
            if isinstance(message, TaskEnded):
                receiving.end(number, message.error)
            else:
                receiving.receive(number, message)
    (result,) = receiving.judged
    if result.error is not None:
        raise result.error
    assert result.stream is not None, "a task without an error has a run"
    return result.stream


def json_of(one: AdapterHistory) -> dict[str, object]:
    """Return a history for programs."""
    return {
        "adapter": one.adapter,
        "releases": [
            {"version": version, "passed": one.passed[version][0], "judged": one.passed[version][1]}
            if version in one.passed
            else {"version": version, "reason": one.unjudged[version]}
            for version in one.releases
        ],
        "failures": [
            {
                "id": turn.id,
                "verdict": turn.label,
                "first": turn.first,
                "passed": turn.passed,
                "fixed": turn.fixed_in,
                "verdicts": dict(one.labels[turn.id]),
            }
            for turn in one.turns
        ],
        "flaky": [{"id": case, "verdicts": dict(verdicts)} for case, verdicts in one.flaky.items()],
    }


def store_runs(out: Path, judged: Sequence[JudgedRange]) -> None:
    """Write the runs of all releases, as `check` writes those of several adapters, into one file."""
    with open_locked(out) as text:
        for file in (file for one in judged for file in one.files):
            text.write(file.read_text(encoding="utf-8"))


def dumped(found: Sequence[AdapterHistory]) -> str:
    """Return histories as JSON."""
    return json.dumps([json_of(one) for one in found], indent=1, ensure_ascii=False)
