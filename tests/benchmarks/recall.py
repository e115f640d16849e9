"""What fuzzing finds of all that the golden cases know of a codec: `python recall.py ADAPTER`.

Each way in which ADAPTER fails a golden decode is a signature. The share of them that a campaign of so many
seconds meets is its recall; median and range over the seeds. A campaign begins as `wireproof fuzz` does;
with --bare it begins from the least encodings alone, and no fixture helps it.
"""

import statistics
import tempfile
from pathlib import Path

import click
from attrs import evolve

from wireproof.cases.fixtures import load
from wireproof.fuzz.campaign import Campaign, run
from wireproof.trial.engine import Engine
from wireproof.trial.judge import judge
from wireproof.trial.run import Plan
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import ROWS


def known(adapter: str) -> dict[Signature, str]:
    """The signatures of the golden decodes that `adapter` fails, each with the first of its cases."""
    suite = load()
    found: dict[Signature, str] = {}
    with Engine(adapter) as engine:
        cases = Plan.of(engine.hello, suite.cases, suite).golden
        decodes = [evolve(case, twin=None) for case in cases if case.op == "decode"]
        for case, ran in zip(decodes, engine.run(decodes), strict=True):
            verdict = judge(ran.case, ran.outcome, hello=engine.hello)
            if ROWS[verdict.name].gate == "level" and case.level == "must":
                asked = evolve(ran.case, format=case.format, revision=case.revision)
                found.setdefault(signature(engine.hello.name, asked, verdict), case.id)
    return found


def met(adapter: str, seconds: float, seed: int, *, bare: bool) -> set[Signature]:
    """The signatures that a campaign meets."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(adapter, Path(folder), minutes=seconds / 60, seed=seed, bare=bare)
        return {finding.signature for finding in run(campaign).findings if finding.gates}


@click.command()
@click.argument("adapter")
@click.option("--seconds", default=60.0, help="of all formats together")
@click.option("--seeds", default=5)
@click.option("--bare", is_flag=True, help="from the least encodings alone")
def main(*, adapter: str, seconds: float, seeds: int, bare: bool) -> None:
    """Print the recall of each seed, what it missed, and the median and range."""
    want = known(adapter)
    shares = []
    for seed in range(1, seeds + 1):
        found = met(adapter, seconds, seed, bare=bare)
        missed = {sign: name for sign, name in want.items() if sign not in found}
        shares.append(1 - len(missed) / len(want))
        click.echo(f"seed {seed}: {len(want) - len(missed)} of {len(want)} known, {len(found)} in all")
        for sign, name in missed.items():
            click.echo(f"  not met: {sign} ({name})")
    click.echo(f"median {statistics.median(shares):.2f}, from {min(shares):.2f} to {max(shares):.2f}")


if __name__ == "__main__":
    main()
