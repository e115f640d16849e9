"""The first failure of a mutant in each part of the suite: golden and derived cases, properties, fuzzing."""

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from attrs import evolve, frozen

from tests.fixture_tables.history import Bug
from tests.mutants.registry import PREFIX, spec_of
from wireproof.adapters.registry.registry import load_object, resolve
from wireproof.cases.case import Generated, Level
from wireproof.cases.fixtures import Suite
from wireproof.derive.derived import derived_cases
from wireproof.fuzz.campaign import Campaign
from wireproof.fuzz.campaign import run_campaign as fuzz
from wireproof.fuzz.findings import read_findings
from wireproof.fuzz.property_run import (
    BLOCK_SIZE,
    JudgedCase,
    PropertySettings,
    RedrawCounts,
    property_targets,
    run_target,
)
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import Verdict, gates
from wireproof.run.engine import Engine
from wireproof.run.run import Selection, run

T = TypeVar("T")

EVERY: Final = "every"
"""The system of a mutant that claims the formats of several systems."""

ASSUMED: Final = Verdict("pass", text="assumed: the derived cases are asked alone")


@frozen
class Killed:
    """The first case that kills a mutant, and its verdict; `by` is empty for a mutant that survives.

    Attributes:
        by: the id of the case, or its token.
        label: the verdict.
        count: how many cases kill it; 1 if the run ends at the first.
        passed: how many it passed.
        ids: the cases that kill it, without those that are only blocked.
    """

    by: str
    label: str
    count: int
    passed: int
    ids: tuple[str, ...] = ()


def system_of(name: str) -> str:
    """Return `kafka`, `iggy`, `heka` or `every`; empty for an adapter that is no Python object.

    Raises:
        UnknownAdapter: there is no such adapter.
        AdapterStartError: its object cannot be created.
    """
    systems = {format_id.partition(".")[0] for format_id in getattr(_object(name), "revisions", ())}
    return systems.pop() if len(systems) == 1 else EVERY if systems else ""


def is_costly(name: str) -> bool:
    """Return whether a mutant must run in its own process, where time and memory are limited.

    Raises as `system_of`.
    """
    return bool(getattr(_object(name), "costly", False))


def _object(name: str) -> object:
    entry = resolve(spec_of(name))
    return load_object(entry) if entry.object else None


def verdict_on(name: str, suite: Suite, *, in_process: bool = False) -> Killed:
    """Run the golden cases of the formats that the mutant claims.

    Generated ones take seconds, so they run only if no other case kills it.
    """
    stored = [case for case in suite.cases if not isinstance(case.input, Generated)]
    made = [case for case in suite.cases if isinstance(case.input, Generated)]
    with Engine(spec_of(name), in_process=in_process) as engine:
        events = list(run(engine, Selection.of(engine.hello, stored, suite, families=False)))
        if not any(kills(event.verdict, event.level) for event in events):
            events += run(engine, Selection.of(engine.hello, made, suite, families=False))
    deadly = [event for event in events if kills(event.verdict, event.level)]
    passed = sum(event.verdict in ("pass", "info") for event in events)
    if not deadly:
        return Killed("", "", 0, passed)
    own = [event for event in deadly if event.verdict != "blocked"]
    first = (own or deadly)[0]
    return Killed(first.id, first.label, len(deadly), passed, tuple(event.id for event in own))


def kills(verdict: str, level: Level) -> bool:
    """Return whether a verdict kills: whether a run with `--level should` fails.

    There a refusal by an error that the library does not document fails too: the error was the bug.
    """
    return gates(verdict, level, hold="should")


def derived_on(name: str, suite: Suite, *, in_process: bool = False) -> Killed:
    """Run derived cases alone, one of each golden case in turn, until the first that kills.

    The golden cases do not run: each is assumed to pass, so that its family runs in any case.
    """
    passed = 0
    with Engine(spec_of(name), in_process=in_process) as engine:
        golden = Selection.of(engine.hello, suite.cases, suite).golden
        for ran in engine.run(_one_of_each(derived_cases(case) for case in golden)):
            verdict = judge(ran.case, ran.outcome, hello=engine.hello, twin=ASSUMED)
            if kills(verdict.name, ran.case.level):
                return Killed(ran.case.id, verdict.label, 1, passed, (ran.case.id,))
            passed += verdict.name in ("pass", "info")
    return Killed("", "", 0, passed)


def only(suite: Suite, names: Sequence[str]) -> Suite:
    """Return the suite with these cases and their twins, without which a refusal counts for nothing."""
    named = [suite.by_id[name] for name in names if name in suite.by_id]
    ids = {case.id for case in named} | {case.twin for case in named if case.twin}
    return evolve(suite, cases=tuple(case for case in suite.cases if case.id in ids))


def known_survivors(bugs: Iterable[Bug]) -> frozenset[str]:
    """Return the mutants that no golden case kills, as the entries of their bugs say."""
    return frozenset(f"{PREFIX}{bug.mutant}" for bug in bugs if bug.mutant and not bug.cases)


def _one_of_each(sources: Iterable[Iterator[T]]) -> Iterator[T]:
    """Yield the first item of each source, then the second of each, and so on: a fault shows early."""
    waiting = deque(sources)
    while waiting:
        source = waiting.popleft()
        for one in source:
            yield one
            waiting.append(source)
            break


# --- properties ---


def killed_by_property(
    name: str, count: int, seed: int = 0, *, in_process: bool = True, timeout_scale: float = 1.0
) -> Killed:
    """Run `count` examples of each row and op that an adapter claims, until the first failure.

    The targets take turns, a block of examples each. The run ends at the first verdict that fails a run.

    Raises:
        AdapterError: it cannot be started.
        PropertyError: Hypothesis is missing.
    """
    passed = 0
    with Engine(spec_of(name), in_process=in_process, timeout_scale=timeout_scale) as engine:
        ask = PropertySettings(count, seed)
        for judged in _block_of_each(
            [run_target(engine, one, ask, RedrawCounts()) for one in property_targets(engine.hello)]
        ):
            if kills(judged.verdict.name, judged.case.level):
                return Killed(judged.case.id, judged.verdict.label, 1, passed)
            passed += judged.verdict.passing
    return Killed("", "", 0, passed)


def _block_of_each(sources: list[Iterator[JudgedCase]]) -> Iterator[JudgedCase]:
    """Yield a block of each source, then the next block of each."""
    while sources:
        left = []
        for source in sources:
            block = 0
            for block, judged in enumerate(islice(source, BLOCK_SIZE), 1):  # noqa: B007 - how many there were
                yield judged
            left += [source] * (block == BLOCK_SIZE)
        sources = left


# --- fuzzing ---


def killed_by_fuzz(name: str, seconds: float, seed: int = 1, workers: int = 1) -> Killed:
    """Fuzz `name` for at most `seconds`, from the smallest encodings on, until its first failure.

    Raises:
        AdapterError: the adapter cannot be started, or atheris is missing.
    """
    with tempfile.TemporaryDirectory(prefix="wireproof-kill-") as folder:
        campaign = Campaign(
            spec_of(name),
            Path(folder),
            minutes=seconds / 60,
            seed=seed,
            workers=workers,
            minimal_seeds=True,
            level="should",
        )

        def first_failure() -> bool:
            return any(finding.gates_at("should") for finding in read_findings(campaign.findings_folder))

        gating = [finding for finding in fuzz(campaign, first_failure).findings if finding.gates_at("should")]
    if not gating:
        return Killed("", "", 0, 0)
    first = min(gating, key=lambda finding: finding.first)
    return Killed(first.token, first.signature.kind, len(gating), 0)
