"""Processor time until a command has ended that does next to nothing: `python tests/benchmarks/startup.py`.

Each runs ten times in turn with the others, in a process of its own; the bars are those of the least. Another
checkout is measured by its own Python: `python tests/benchmarks/startup.py /path/to/python`.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from statistics import median
from typing import Final

import click
from beside import conditions, told

ROUNDS: Final = 10

BATCH: Final = (
    "0000000000000000000000430000000702fe033bcd0000000000010000018bcfe568000000018bcfe56801ffffffffffffff"
    "ffffffffffffff00000002100000000261023100100002020262023200"
)

COMMANDS: Final[Mapping[str, tuple[str, float]]] = {
    "--help": ("--help", 0.15),
    "explain HEX": (f"explain {BATCH}", 0.3),
}
"""By name: the words, and the most seconds."""

COMPLETIONS: Final[Mapping[str, tuple[str, float]]] = {
    "a verb": ("wireproof ex", 0.3),
    "an option": ("wireproof check --f", 0.3),
    "an adapter": ("wireproof check kaf", 0.3),
    "a case": ("wireproof show kafka.batch/v2/crc/z", 0.3),
}


def shell(words: str) -> dict[str, str]:
    """The environment in which bash asks for the completion of the last of some words."""
    number = str(len(words.split(" ")) - 1)
    return {"_WIREPROOF_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": number}


def spent(python: str, words: list[str], environment: Mapping[str, str]) -> float:
    """Seconds of the processor, the system's share included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [python, "-m", "wireproof", *words],
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Measure and print."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    ways = {name: (words.split(), {}, most) for name, (words, most) in COMMANDS.items()}
    ways |= {f"completion of {name}": ([], shell(words), most) for name, (words, most) in COMPLETIONS.items()}
    conditions()
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS + 1):
        for name, (words, environment, _most) in ways.items():
            costs[name].append(spent(python, words, environment))
    for name, (_words, _environment, most) in ways.items():
        some = costs[name][1:]  # the first one may have compiled the modules
        told(f"{name}: least of {ROUNDS}", min(some), most=most)
        click.echo(f"{name + ': median':72} {median(some):8.2f}")


if __name__ == "__main__":
    main()
