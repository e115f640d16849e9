"""What fuzzing finds of all that the golden cases know of a codec: `python recall.py ADAPTER`.

Each way in which ADAPTER fails a golden decode is a signature. The share of them that a campaign of so many
seconds meets is its recall; median and range over the seeds. Apart from it stands the recall of the vectors
of kafka.md §7 that kafka-python takes and Kafka refuses. A campaign begins as `wireproof fuzz` does, from
the fixtures, among which are those that ADAPTER fails; with --held-out these are left out, so that it meets
what nobody showed it; with --bare it begins from the least encodings alone, and no fixture helps it.
"""

import re
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click
from attrs import evolve

from wireproof.cases.case import Case
from wireproof.cases.fixtures import load
from wireproof.fuzz.campaign import Campaign, run_campaign
from wireproof.judge.judge import judge
from wireproof.judge.signature import Signature, signature
from wireproof.judge.verdicts import ROWS
from wireproof.run.engine import Engine
from wireproof.run.run import Selection

VECTORS: Final = frozenset(("I15", "I16", "T03", "T09", "T16", "Z20", "L06", "L23", "L33", "X09", "X10"))
"""INVALID in kafka.md §7, and marked `kp:A`."""


def known(adapter: str) -> dict[Signature, list[Case]]:
    """The signatures of the golden decodes that `adapter` fails, each with its cases."""
    suite = load()
    found: dict[Signature, list[Case]] = {}
    with Engine(adapter) as engine:
        cases = Selection.of(engine.hello, suite.cases, suite).golden
        decodes = [evolve(case, twin=None) for case in cases if case.op == "decode"]
        for case, ran in zip(decodes, engine.run(decodes), strict=True):
            verdict = judge(ran.case, ran.outcome, hello=engine.hello)
            if ROWS[verdict.name].gate == "level" and case.level == "must":
                asked = evolve(ran.case, format=case.format, revision=case.revision)
                found.setdefault(signature(engine.hello.name, asked, verdict), []).append(case)
    return found


def vectors(cases: list[Case]) -> set[str]:
    """Those of `VECTORS` that are among the cases."""
    documents = " ".join(case.source.document for case in cases if case.source and case.format != "kafka.log")
    return VECTORS & set(re.findall(r"\b[A-Z]\d\d\b", documents))


def met(adapter: str, seconds: float, seed: int, *, bare: bool, held: Iterable[str]) -> set[Signature]:
    """The signatures that a campaign meets, that began without the fixtures `held`."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(
            adapter, Path(folder), minutes=seconds / 60, seed=seed, minimal_seeds=bare, held_out=tuple(held)
        )
        return {finding.signature for finding in run_campaign(campaign).findings if finding.gates_at("must")}


@click.command()
@click.argument("adapter")
@click.option("--seconds", default=60.0, help="of all formats together")
@click.option("--seeds", default=5)
@click.option("--held-out", is_flag=True, help="without the fixtures that it fails")
@click.option("--bare", is_flag=True, help="from the least encodings alone")
def main(*, adapter: str, seconds: float, seeds: int, held_out: bool, bare: bool) -> None:
    """Print the recall of each seed, what it missed, and the median and range."""
    want = known(adapter)
    for sign, cases in want.items():
        click.echo(f"known: {sign} ({cases[0].id}, of {len(cases)}) {' '.join(sorted(vectors(cases)))}")
    held = {case.id for cases in want.values() for case in cases}
    shares = []
    for seed in range(1, seeds + 1):
        found = met(adapter, seconds, seed, bare=bare, held=held if held_out else ())
        missed = [sign for sign in want if sign not in found]
        got = set().union(*(vectors(cases) for sign, cases in want.items() if sign in found))
        shares.append(1 - len(missed) / len(want))
        click.echo(
            f"seed {seed}: {len(got)} of {len(VECTORS)} vectors, "
            f"{len(want) - len(missed)} of {len(want)} known, {len(found)} in all"
        )
        for sign in missed:
            click.echo(f"  not met: {sign} ({want[sign][0].id})")
    click.echo(f"median {statistics.median(shares):.2f}, from {min(shares):.2f} to {max(shares):.2f}")


if __name__ == "__main__":
    main()
