"""The deep states of each row, by mutators and raw bytes: `PYTHONPATH=. python tests/benchmarks/states.py`.

Five seeds of two seconds each, of this process's own time, for the machine may be shared; a part of a row's
name as an argument chooses rows.
"""

import sys

from reaching import Mutator, by_bytes, by_schedule, line, run

from wireproof.formats import FORMATS, Format

SEEDS = range(5)
SECONDS = 2.0


def told(row: Format, mutator: Mutator) -> str:
    return line(row, [run(row, mutator, seed, SECONDS) for seed in SEEDS])


def main(part: str = "") -> None:
    for row in FORMATS.values():
        if part in row.format_id:
            print(f"mutators  {told(row, by_schedule)}", flush=True)  # noqa: T201 - what the script is for
            print(f"raw bytes {told(row, by_bytes)}", flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main(*sys.argv[1:])
