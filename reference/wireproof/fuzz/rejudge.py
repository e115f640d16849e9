"""What is judged around a campaign: earlier findings again, new ones made smaller, what a baseline knows."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import PROPERTY, Case, Data
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import NotRun
from wireproof.derive.examples import capabilities_of_case
from wireproof.fuzz.findings import (
    Finding,
    Findings,
    State,
    case_of_token,
    failures_of,
    finding_name,
    read_findings,
)
from wireproof.fuzz.property_run import known_signatures
from wireproof.fuzz.shrink import ONE_AT_A_TIME, NothingToShrinkError, Shrinker
from wireproof.judge.signature import Signature
from wireproof.run.baselines.known_failures import Baseline, KnownFailure, failure_of
from wireproof.run.engine import Engine
from wireproof.run.events import EventStream, Footer, manifest_fields, run_event
from wireproof.run.run import Selection, run


def judge_again(folder: Path, spec: str) -> list[Finding]:
    """Judge each input of the findings in `folder` again, and return the findings that are mended by now.

    Each finding gets its state. An input that fails in another way is added to the finding of that way.

    Raises:
        AdapterError: the adapter cannot be started.
        FindingError: a finding cannot be read.
    """
    found = read_findings(folder)
    inputs = {finding.name: [case_of_token(folder, one.token) for one in finding.inputs] for finding in found}
    if not found:
        return []
    mended = []
    store = Findings(folder, "replay")
    with closing(store), Engine(spec) as engine:
        for finding in found:
            ways = list(_judged(engine, store, finding, inputs[finding.name]))
            if not finding.shape and any(way and way != finding.name for way in ways):
                store.remove(finding.name)  # of an earlier version, without a shape
                continue
            state: State = "mended"
            if finding.name in ways:
                state = "open" if finding.state == "mended" else finding.state
            elif None in ways:
                state = finding.state
            store.set_state(finding.name, state)
            if state == "mended" != finding.state:
                mended.append(finding)
    return mended


def _judged(engine: Engine, store: Findings, finding: Finding, cases: list[Case]) -> Iterator[str | None]:
    """Yield the findings to which each input belongs now: empty if it passes, None if that is unknown."""
    engine.begin(finding.name)  # what others did to the adapter leaves none of these out
    for case, ran in zip(cases, engine.run(cases), strict=True):
        if isinstance(ran.outcome, NotRun):
            yield None
            continue
        failures = failures_of(engine.hello, case, ran.case, ran.outcome)
        names = [finding_name(one.signature, one.shape) for one in failures]
        if finding.name not in names:
            data = case.input.data if isinstance(case.input, Data) else store.data_of(finding.name)
            more = {"version": engine.hello.version, "origin": f"replay of {finding.name}"}
            for one in store.separate(failures):
                store.add(one.signature, one.verdict, case, data, **more)
        yield from names or ("",)


def shrink_findings(folder: Path, spec: str, findings: Iterable[Finding], seconds: float) -> None:
    """Replace the smallest inputs of findings in `folder` by smaller ones, for at most `seconds`.

    One that does not fail again in its way is left as it is.

    Raises:
        AdapterError: the adapter cannot be started.
        FindingError: an input cannot be read.
    """
    until = time.monotonic() + seconds
    store = Findings(folder, "shrink")
    with closing(store), Engine(spec) as engine:
        for finding in findings:
            case = case_of_token(folder, finding.token)
            if time.monotonic() > until or not isinstance(case.input, Data):
                continue
            engine.begin(finding.name)
            try:
                shrinker = Shrinker(engine, case, way=finding.way)
            except NothingToShrinkError:
                continue
            if (shrinker.signature, shrinker.shape) != finding.way:
                continue
            most = 8 if shrinker.verdict.name in ONE_AT_A_TIME else 300
            small = shrinker.run(until - time.monotonic(), most)
            assert isinstance(small.case.input, Data), "a smaller input is of the same kind"
            data = small.case.input.data
            name = f"{case.format_id}/fuzz/n{hashlib.sha256(data).hexdigest()[:16]}"
            kept = evolve(small.case, id=name, needs=capabilities_of_case(small.case))
            if len(data) < len(case.input.data):
                origin = f"{finding.origin}, shrunk"
                store.save(small.signature, small.verdict, kept, data, version=finding.version, origin=origin)


@frozen
class KnownWays:
    """Ways to fail that are known: of cases that fail as a baseline says, and its entries about examples."""

    signatures: frozenset[Signature] = frozenset()
    examples: tuple[KnownFailure, ...] = ()

    def has(self, sign: Signature) -> bool:
        return sign in self.signatures or any(
            entry.failure == failure_of(sign.kind, sign.cls, exact=entry.exact)
            and entry.is_about(f"{sign.format}/{PROPERTY}/{sign.op}~")
            and entry.path in ("", sign.path)
            for entry in self.examples
        )


NOTHING_KNOWN: Final = KnownWays()


def known_ways(adapter: str, baseline: Baseline, suite: Suite, formats: Sequence[str]) -> KnownWays:
    """Judge the cases of a baseline on an adapter, and return the ways in which they fail as it says.

    Entries that have expired are left out; without `formats` all formats count. Raises `AdapterError`.
    """
    now = datetime.now(tz=UTC)
    entries = tuple(entry for entry in baseline.entries if entry.expires >= now.date())
    cases = [
        case
        for case in suite.cases
        if (not formats or case.format_id in formats) and any(entry.selects(case.id) for entry in entries)
    ]
    about = [entry for entry in entries if "~" in entry.id and not entry.of_examples]

    def keep(case: Case) -> bool:
        return any(entry.is_about(case.id) for entry in about)

    with Engine(adapter) as engine:
        golden = Selection.of(engine.hello, cases, suite).golden
        events = tuple(run(engine, Selection(golden, suite.by_id, families=bool(about), keep=keep)))
        head = run_event(engine.hello, spec=adapter, fixtures="", filters=(), **manifest_fields())
        stream = EventStream(head, events, Footer({}, complete=True))
        signatures = known_signatures(engine.hello, stream, entries, now.date())
    return KnownWays(signatures, tuple(entry for entry in entries if entry.of_examples))
