"""Processor time of the generated examples that every run has: `python tests/benchmarks/examples_share.py`.

Each adapter is checked without and with them in turn, with families and without; the bars are those of the
least. Name other adapters in place of these: `python tests/benchmarks/examples_share.py heka-py kio`.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from attrs import frozen
from beside import conditions, told

from wireproof.runner.events import read_events

ADAPTERS: Final = ("reference", "kafka-python", "exec:wireproof serve reference")
ROUNDS: Final = 3
MOST: Final = 0.1
"""Of the time of the run without them."""


@frozen
class Run:
    """Seconds of the processor, the system's share included, and the examples that ran."""

    spent: float
    examples: int


def run(adapter: str, words: tuple[str, ...]) -> Run:
    """Check an adapter in a process of its own."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "run.jsonl")
        before = os.times()
        command = [sys.executable, "-m", "wireproof", "check", adapter, *words, "--jobs", "1", "--out", out]
        subprocess.run(command, capture_output=True, check=False)
        after = os.times()
        (stream,) = read_events(out)
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return Run(spent, sum(event.is_property for event in stream.cases))


def main() -> None:
    """Measure and print."""
    conditions()
    for adapter in sys.argv[1:] or ADAPTERS:
        for words in ((), ("--no-families",)):
            pairs = [(run(adapter, (*words, "--property", "0")), run(adapter, words)) for _ in range(ROUNDS)]
            without, having = (min(pair[side].spent for pair in pairs) for side in (0, 1))
            click.echo(f"{pairs[0][1].examples} examples: {without:.1f} s without, {having:.1f} s with them")
            told(f"{' '.join((adapter, *words))}: time of the examples", having / without - 1, most=MOST)


if __name__ == "__main__":
    main()
