"""Processor time to load the fixtures: `python tests/benchmarks/load_speed.py`, each way in turn.

The bars hold beside another checkout, whose Python is an argument: `…/load_speed.py /path/to/python`. Each
way runs in a process of its own, in which the modules are imported before the clock starts.
"""

import subprocess
import sys
from typing import Final

import click
from beside import Cost, Way, best, conditions, told

ROUNDS: Final = 5

WAYS: Final = {
    "load, and every case": ("list(load().cases)", 0.2),
    "load, and every expectation": ("[case.expect for case in load().cases]", 0.5),
    "load, and the cases of Heka": ("select(load(), ['heka.**'])", 0.2),
}
"""By name: what is timed, and the most of it beside another checkout."""

SCRIPT: Final = """
import time
from wireproof.cases.fixtures import load
from wireproof.cases.id_patterns import select
from wireproof.formats import FAMILIES
list(FAMILIES.values())
start = time.process_time()
{}
print(time.process_time() - start)
"""


def way(python: str, words: str) -> Way:
    """A new process that does it once."""
    command = [python, "-c", SCRIPT.format(words)]
    return lambda: Cost(float(subprocess.run(command, check=True, capture_output=True).stdout))


@click.command()
@click.argument("other", required=False)
def main(other: str | None) -> None:
    """Measure this checkout, and OTHER beside it."""
    conditions()
    pythons = {"": sys.executable, "other: ": other}
    ways = {
        f"{head}{name}": way(python, words)
        for name, (words, _) in WAYS.items()
        for head, python in pythons.items()
        if python
    }
    costs = best(ways, ROUNDS)
    for name, (_, most) in WAYS.items():
        here = costs[name].seconds
        told(f"{name}, seconds", here)
        if other:
            told(f"{name}, beside the other checkout", here / costs[f"other: {name}"].seconds, most=most)


if __name__ == "__main__":
    main()
