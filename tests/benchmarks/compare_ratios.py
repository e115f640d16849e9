"""Compare the ratios of two runs of the benchmarks; exit code 1 if one has become much worse.

    pytest -m benchmarks --benchmark-json new.json
    python tests/benchmarks/compare_ratios.py old.json new.json

A ratio is of two speeds in one run, so that runs on different machines can be compared; larger is better.
"""

import json
import sys
from pathlib import Path

MOST_LOST = 0.25
"""The part of a ratio that may be lost between two runs: two runs of one commit differ by less."""


def ratios(path: Path) -> dict[str, float]:
    """Return the ratios in a file of pytest-benchmark, by the name of the test."""
    found = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
    return {one["name"]: one["extra_info"]["ratio"] for one in found if "ratio" in one["extra_info"]}


def main(old: Path, new: Path) -> int:
    before, after = ratios(old), ratios(new)
    worse = []
    for name, ratio in after.items():
        was = before.get(name)
        sys.stdout.write(f"{ratio:8.2f}  {'new' if was is None else f'was {was:.2f}'}  {name}\n")
        if was is not None and ratio < was * (1 - MOST_LOST):
            worse.append(name)
    gone = [name for name in before if name not in after]
    sys.stdout.writelines(f"worse by more than {MOST_LOST:.0%}: {name}\n" for name in worse)
    sys.stdout.writelines(f"not measured any more: {name}\n" for name in gone)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:3])))
