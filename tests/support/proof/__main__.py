"""Prove that a change loses nothing: `python -m tests.support.proof COMMIT` in a checkout.

It records what COMMIT does and what HEAD does, each in a checkout and an environment of its own, and prints
what differs. It ends with 1 if something that was there is lost or is another, or if a part could not be
compared. A record is kept for its commit; one that was interrupted goes on.
"""

import sys
from pathlib import Path
from typing import Final

import click

from tests.support.proof.checkouts import ROOM, prepare, record, record_folder, times
from tests.support.proof.compare import benchmark_lines, compare, missing, slower
from tests.support.proof.record import QUICK, WHOLE

BENCHMARKS: Final = "benchmarks"
"""The part that is measured anew each time, since both commits have to run in turn."""

ROUNDS: Final = 3
MORE_ROUNDS: Final = 7
"""Rounds of the benchmarks; there are more while one is slower, for a machine that was busy then."""


@click.command()
@click.argument("before")
@click.argument("now", default="HEAD")
@click.option(
    "--whole", is_flag=True, help="derived cases, documents, faulty servers, peers and benchmarks too"
)
@click.option(
    "--part", "parts", multiple=True, type=click.Choice([*WHOLE, BENCHMARKS]), help="only these parts"
)
@click.option("--shown", default=10, help="differences of a part that are printed, of each kind")
@click.option("--room", default=ROOM, type=click.Path(path_type=Path), help="where the records lie")
def main(*, before: str, now: str, whole: bool, parts: tuple[str, ...], shown: int, room: Path) -> None:
    """Compare commit BEFORE with commit NOW."""
    wanted = parts or ((*WHOLE, BENCHMARKS) if whole else tuple(QUICK))
    recorded = [part for part in wanted if part in WHOLE]
    folders = [prepare(commit, room) for commit in (before, now)]
    fault = any([record(folder, recorded) for folder in folders]) if recorded else False  # noqa: C419 - both
    records = [record_folder(folder) for folder in folders]
    for difference in compare(*records, recorded):
        click.echo("\n".join(difference.lines(shown)))
        fault |= difference.is_fault
    for line in missing(*records, recorded):
        click.echo(line)
        fault = True
    if BENCHMARKS in wanted:
        fault |= _benchmarks(*folders)
    sys.exit(fault)


def _benchmarks(*folders: Path) -> bool:
    """Print the least time of each benchmark in both checkouts, in turn; return whether one is slower."""
    best: list[dict[str, float]] = [{}, {}]
    for number in range(MORE_ROUNDS):
        for least, folder in zip(best, folders, strict=True):
            found = times(folder / "venv/bin/python", folder / "checkout", folder / "benchmarks.json")
            least.update({name: min(seconds, least.get(name, seconds)) for name, seconds in found.items()})
        if number + 1 >= ROUNDS and not slower(*best):
            break
    click.echo("benchmarks:")
    for line in benchmark_lines(*best):
        click.echo(line)
    return bool(slower(*best) or best[0].keys() - best[1].keys())


if __name__ == "__main__":
    main()
