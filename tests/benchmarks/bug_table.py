"""Print which of thirty planted bugs each way of testing reaches and reports, for one or more seeds.

    python -m tests.benchmarks.bug_table [--way golden --way fuzz …] [--seeds 1 2 3] [--minutes 3 | --runs N]

On a machine that has other work, `--runs` gives fuzzing a number of executions instead of minutes.
A bug is reached if it changed an answer. It is reported if one of the first failures of each signature and
shape fails in the same way where this bug alone is switched on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from tests.support.planted_bugs import CODECS, Planted
from wireproof.cases.case import Case
from wireproof.cases.fixtures import load
from wireproof.cases.token import from_token
from wireproof.derive.examples import with_expectation
from wireproof.fuzz.findings import read_findings
from wireproof.judge.judge import judge_ways
from wireproof.judge.signature import Signature, shape_of_finding, signature
from wireproof.run.case_lookup import find_case
from wireproof.run.engine import Engine
from wireproof.run.events import read_events

WAYS = {
    "golden": ["--no-families", "--property", "0"],
    "derived": ["--property", "0"],
    "property 200": ["--no-families", "--property", "200"],
    "property 2000": ["--no-families", "--property", "2000"],
    "fuzz": [],
}
"""The ways of testing, and the options of `check`."""

WayToFail = tuple[Signature, str]


@frozen
class Row:
    """What one way has found in one codec."""

    reached: frozenset[str]
    reported: frozenset[str]


def spec_of(codec: type[Planted]) -> str:
    return f"py:{codec.__module__}:{codec.__name__}"


def run(words: list[str], folder: Path) -> None:
    """Run wireproof with all bugs on; each leaves a file in `seen` once it has changed an answer."""
    (folder / "seen").mkdir()
    more = {"PLANTED": "all", "PLANTED_SEEN": str(folder / "seen"), "PYTHONPATH": os.getcwd()}  # noqa: PTH109 - a path of Python
    command = [sys.executable, "-m", "wireproof", *words]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")


def failures(way: str, codec: type[Planted], seed: int, effort: list[str], folder: Path) -> Iterator[Case]:
    """Yield the inputs that a reader of the report sees: the first of each way to fail."""
    if way == "fuzz":
        run(["fuzz", spec_of(codec), *effort, "--seed", str(seed)], folder)
        for found in (folder / "wireproof-fuzz" / "findings").iterdir():
            for finding in read_findings(found):
                for one in finding.inputs:
                    token = f"@{found / one.token[1:]}" if one.token.startswith("@") else one.token
                    yield with_expectation(from_token(token))
        return
    out = folder / "run.jsonl"
    words = ["check", spec_of(codec), "--run", f"{codec.format_id}/**", "--out", str(out), *WAYS[way]]
    run([*words, "--seed", str(seed)], folder)
    suite = load()
    (stream,) = read_events(out)
    seen: set[tuple[Signature, str, str]] = set()
    for event in stream.cases:
        key = event.signature(codec.name), event.want, event.got
        if event.verdict != "fail" or key in seen:
            continue
        seen.add(key)
        case = from_token(event.token) if event.token else find_case(suite, event.id)
        if case is not None:
            yield case


def ways_to_fail(codec: type[Planted], cases: list[Case], bugs: str) -> dict[str, tuple[WayToFail, ...]]:
    """Return in which ways each case fails with these bugs, by its id; the first is what `check` says."""
    os.environ["PLANTED"] = bugs
    found = {}
    with Engine(spec_of(codec), in_process=True) as engine:
        for ran in engine.run(cases):
            verdicts = judge_ways(ran.case, ran.outcome, hello=engine.hello)
            if verdicts[0].name == "fail":
                found[ran.case.id] = tuple(
                    (signature(codec.name, ran.case, verdict), shape_of_finding(verdict))
                    for verdict in verdicts
                )
    return found


def row_of(way: str, codec: type[Planted], seed: int, effort: list[str]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        cases = list({case.id: case for case in failures(way, codec, seed, effort, Path(folder))}.values())
        reached = frozenset(path.name for path in (Path(folder) / "seen").iterdir())
    together = ways_to_fail(codec, cases, "all")
    if way != "fuzz":  # a run says of each case how it fails first, and shows the first of these cases
        together = {name: ways[:1] for name, ways in together.items()}
        first = {ways: name for name, ways in reversed(together.items())}
        cases = [case for case in cases if case.id in first.values()]
    alone = {bug.name: ways_to_fail(codec, cases, bug.name) for bug in codec.bugs}
    reported = frozenset(
        bug
        for bug, found in alone.items()
        if any(how[0] in together.get(name, ()) for name, how in found.items())
    )
    return Row(reached, reported)


def main() -> None:
    parser = argparse.ArgumentParser(description="Print what each way of testing finds of planted bugs.")
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--codec", action="append", choices=[codec.__name__ for codec in CODECS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--runs", type=int)
    given = parser.parse_args()
    effort = ["--runs", str(given.runs)] if given.runs else ["--minutes", str(given.minutes)]
    for codec in CODECS:
        if given.codec and codec.__name__ not in given.codec:
            continue
        for way in given.way or WAYS:
            for seed in given.seeds:
                row = row_of(way, codec, seed, effort)
                missed = [bug.name for bug in codec.bugs if bug.name not in row.reported]
                numbers = {"reached": len(row.reached), "reported": len(row.reported), "not reported": missed}
                line = {"codec": codec.__name__, "way": way, "seed": seed, "bugs": len(codec.bugs), **numbers}
                sys.stdout.write(json.dumps(line) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
