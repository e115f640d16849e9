"""The findings of a campaign: those of earlier ones are judged again before it, new ones shrunk behind it."""

import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from attrs import evolve

from wireproof.cases.case import Case, Data
from wireproof.cases.outcome import NotRun
from wireproof.derive.examples import capabilities_of_case
from wireproof.fuzz.findings import Finding, Findings, State, case_of_token, finding_name, read_findings
from wireproof.fuzz.shrink import ONE_AT_A_TIME, NothingToShrinkError, Shrinker
from wireproof.fuzz.target import failures_of
from wireproof.run.engine import Engine


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
            state = _state(finding.state, finding.name, ways)
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
        ways = {finding_name(one.signature, one.shape): one for one in failures}
        if finding.name not in ways:
            data = case.input.data if isinstance(case.input, Data) else store.data_of(finding.name)
            more = {"version": engine.hello.version, "origin": f"replay of {finding.name}"}
            for one in ways.values():
                store.add(one.signature, one.verdict, case, data, **more)
        yield from ways or ("",)


def _state(before: State, name: str, ways: list[str | None]) -> State:
    if name in ways:
        return "open" if before == "mended" else before
    return before if None in ways else "mended"


CANDIDATES: Final = 300
"""Candidates that are tried to make a finding smaller."""

CANDIDATES_ALONE: Final = 8
"""The same if each may end a process or take all of its time."""


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
            most = CANDIDATES_ALONE if shrinker.verdict.name in ONE_AT_A_TIME else CANDIDATES
            small = shrinker.run(until - time.monotonic(), most)
            assert isinstance(small.case.input, Data), "a smaller input is of the same kind"
            data = small.case.input.data
            name = f"{case.format_id}/fuzz/n{hashlib.sha256(data).hexdigest()[:16]}"
            kept = evolve(small.case, id=name, needs=capabilities_of_case(small.case))
            if len(data) < len(case.input.data):
                origin = f"{finding.origin}, shrunk"
                store.save(small.signature, small.verdict, kept, data, version=finding.version, origin=origin)
