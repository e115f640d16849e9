"""The findings of earlier campaigns, judged again before a new one: those of a repaired codec are mended."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from wireproof.cases.case import Case, Data
from wireproof.cases.examples import with_expectation
from wireproof.cases.outcome import NotRun
from wireproof.cases.token import TokenError, from_token
from wireproof.fuzz.findings import Finding, FindingError, Findings, State, finding_name, read_findings
from wireproof.fuzz.target import signature_of_finding
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge_ways
from wireproof.runner.signature import shape_of_finding


def judge_again(folder: Path, spec: str) -> list[Finding]:
    """Judge each input of the findings in `folder` again, and return the findings that are mended by now.

    Each finding gets its state. An input that fails in another way is added to the finding of that way.

    Raises:
        AdapterError: the adapter cannot be started.
        FindingError: a finding cannot be read.
    """
    found = read_findings(folder)
    inputs = {finding.name: [_case(folder, one.token) for one in finding.inputs] for finding in found}
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


def _case(folder: Path, token: str) -> Case:
    """Return the case of a kept input, with the expectation of this version."""
    try:
        return with_expectation(from_token(f"@{folder / token[1:]}" if token.startswith("@") else token))
    except (TokenError, OSError) as error:
        raise FindingError(f"{folder}: an input cannot be read: {error}") from None


def _judged(engine: Engine, store: Findings, finding: Finding, cases: list[Case]) -> Iterator[str | None]:
    """Yield the findings to which each input belongs now: empty if it passes, None if that is unknown."""
    engine.begin(finding.name)  # what others did to the adapter leaves none of these out
    for case, ran in zip(cases, engine.run(cases), strict=True):
        if isinstance(ran.outcome, NotRun):
            yield None
            continue
        ways = {}
        for verdict in judge_ways(ran.case, ran.outcome, hello=engine.hello):
            sign = signature_of_finding(engine.hello.name, case, verdict, ran.outcome)
            if sign is not None:
                ways[finding_name(sign, shape_of_finding(verdict))] = sign, verdict
        if finding.name not in ways:
            data = case.input.data if isinstance(case.input, Data) else store.data_of(finding.name)
            origin = f"replay of {finding.name}"
            for sign, verdict in ways.values():
                store.add(sign, verdict, case, data, version=engine.hello.version, origin=origin)
        yield from ways or ("",)


def _state(before: State, name: str, ways: list[str | None]) -> State:
    if name in ways:
        return "open" if before == "mended" else before
    return before if None in ways else "mended"
