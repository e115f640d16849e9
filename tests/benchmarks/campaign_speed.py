"""A campaign on two tasks beside one, and what a case costs: `python tests/benchmarks/campaign_speed.py`.

The cost of a case is the time of all cores, over campaigns of a number of cases, of twice and of four times
as many, and over one, two and four tasks. Sessions are warm; spans are alike in all.

What hangs an adapter takes as long as a thousand other cases, and comes by chance: with a handful of them in
a campaign their number is what is measured. So the usual format is one in which nothing hangs the usual
adapters, and how many answers did not come is told. (Both hang on a wrapper of v0 or v1 with an inner size of
-12: such an entry ends where it begins.)
"""

import shutil
import tempfile
from pathlib import Path

import click
from attrs import frozen
from beside import Cost, best, conditions, of_tree, told

from wireproof.cases.seeded_examples import SeededCases
from wireproof.spark import campaign_job
from wireproof.spark.session import session, start_adapters

BAR = 1.4
GROWTH = 1.1
"""Bounds of a cost that does not grow: measurements have errors."""

TIMES = (1, 2, 4)


@frozen
class Shape:
    """The settings that all campaigns of a run share: adapters, formats, cases of a span."""

    adapters: list[str]
    formats: list[str]
    grain: int

    def run(self, cases: int, tasks: int) -> int:
        """A campaign as the verb makes it, in a folder that is thrown away; how many answers did not come."""
        hellos = start_adapters(self.adapters)
        with tempfile.TemporaryDirectory() as name:
            out = Path(name) / "out"
            numbered = SeededCases(
                campaign_job.claimed_formats(hellos, self.formats), campaign_job.claimed_ops(hellos), 1
            )
            plan = campaign_job.plan_campaign(numbered, self.adapters, cases, out, grain=self.grain)
            found = campaign_job.run_campaign(plan, None, lambda *_: None, tasks).signatures
            shutil.rmtree(out)
        return sum(row["count"] for row in found if row["kind"] in {"timeout", "crash"})


@click.command()
@click.option("--adapters", default="aiokafka,kafka-python", help="who is asked")
@click.option("--formats", default="kafka.batch/v2", help="that they are asked about")
@click.option("--cases", default=8_000, help="of the smallest campaign")
@click.option("--grain", default=1_000, help="cases of a span")
@click.option("--rounds", default=3, help="of which the best is kept")
def main(*, adapters: str, formats: str, cases: int, grain: int, rounds: int) -> None:
    """Print the ratio and the costs beside their bars."""
    conditions()
    shape = Shape(adapters.split(","), formats.split(","), grain)
    spark = session("local[2]")
    shape.run(2 * grain, 2)
    unanswered: dict[int, int] = {}

    def cost(times: int, tasks: int) -> Cost:
        return of_tree(lambda: unanswered.update({times: shape.run(times * cases, tasks)}))()

    shapes = [*((times, 2) for times in TIMES), *((1, tasks) for tasks in TIMES if tasks != 2)]
    took = best({f"{a} {b}": lambda a=a, b=b: cost(a, b) for a, b in shapes}, rounds)
    spark.stop()
    told("campaign, two tasks / one", took["1 1"].seconds / took["1 2"].seconds, least=BAR)
    for times in TIMES:
        one = took[f"{times} 2"]
        told(f"{times * cases} cases, two tasks: cases a second", times * cases / one.seconds)
        told(f"{times * cases} cases: answers that did not come", unanswered[times])
        told(f"{times * cases} cases, two tasks: cost of a case, in that of {cases}",
             one.cpu / times / took["1 2"].cpu, most=GROWTH)  # fmt: skip
    for tasks in TIMES:
        told(f"{cases} cases, tasks {tasks}: cost of a case, in that of one task",
             took[f"1 {tasks}"].cpu / took["1 1"].cpu, most=GROWTH)  # fmt: skip


if __name__ == "__main__":
    main()
