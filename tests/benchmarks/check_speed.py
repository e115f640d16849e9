"""`check` of several adapters, one by one and side by side: `python tests/benchmarks/check_speed.py`.

The two ways run in turn, in processes of their own, and write streams that must not differ. Given the Python
of another checkout, as in `python tests/benchmarks/check_speed.py /path/to/python`, it is the first way.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import click
from beside import conditions, told

ROUNDS: Final = 3
ADAPTERS: Final = ("kafka-python", "aiokafka", "kio")
MOST: Final = 0.5
"""Of the wall time of the first way."""


def judged(command: list[str], out: Path) -> tuple[float, float]:
    """Seconds on the wall and of the processor until a run has ended."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run([*command, "--out", out], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - start, spent


def without_times(out: Path) -> list[dict[str, Any]]:
    """Read the rows of a stream but for times, digests, and sizes of memory, which no two runs share."""
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        for name in ("ns", "started", "before", "not_compared", "profile"):
            row.pop(name, None)
        if row.get("verdict") in ("resource", "timeout"):
            row["got"] = row["text"] = ""
    return rows


def main() -> None:
    """Measure and print."""
    check = ["-m", "wireproof", "check", *ADAPTERS]
    other = [sys.argv[1], *check] if len(sys.argv) > 1 else [sys.executable, *check, "--jobs", "1"]
    conditions()
    walls: dict[str, list[float]] = {"first": [], "side by side": []}
    with TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            streams = []
            for name, command in (("first", other), ("side by side", [sys.executable, *check])):
                out = Path(folder, f"{number}-{name}.jsonl")
                wall, spent = judged(command, out)
                walls[name].append(wall)
                click.echo(f"{name:14} {wall:7.1f} s, {spent:7.1f} s of the processor")
                streams.append(without_times(out))
            same = "the same" if streams[0] == streams[1] else "NOT the same"
            click.echo(f"the streams are {same} but for times")
    told(
        "wall time side by side, of the first way",
        median(walls["side by side"]) / median(walls["first"]),
        most=MOST,
    )


if __name__ == "__main__":
    main()
