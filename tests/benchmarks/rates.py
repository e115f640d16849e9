"""The schedule beside its target without a mutator, both instrumented: `python tests/benchmarks/rates.py`.

The target is decode, encode, decode. Without a mutator it is given sound parents as they are; with one it is
given their children. A third figure is of the same children, made before: many are refused early and cheap.
Five seeds, median and range, in this process's own time; a part of a row's name as an argument chooses rows.
"""

import sys
import time
from collections.abc import Callable
from random import Random
from statistics import median

from attrs import frozen

from wireproof import formats
from wireproof.adapters.registry import resolve
from wireproof.cases.mutate import mutate_with_edits, seed
from wireproof.cases.mutate.encodings import written
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.libfuzzer import instrument, modules_to_instrument
from wireproof.wire.rejection import Rejected

SEEDS = range(5)
PARENTS = 200
INPUTS = 1000
LARGEST = 512


def there_and_back(row: Format, data: bytes) -> bool:
    try:
        one = formats.decode(row, data).value
        return bool(one == formats.decode(row, written(row, one)).value)
    except Rejected:
        return False


def sound(row: Format) -> list[bytes]:
    """Parents that are accepted, descendants of the least encoding."""
    rng, found = Random(1), [seed(row)]
    for _ in range(8 * PARENTS):
        data = mutate_with_edits(row, rng.choice(found), rng, LARGEST).data
        if there_and_back(row, data):
            found.append(data)
    return found[-PARENTS:]


def seconds(call: Callable[[bytes], object], inputs: list[bytes]) -> float:
    start = time.process_time()
    for data in inputs:
        call(data)
    return time.process_time() - start


@frozen
class Rate:
    """Inputs a second: the target without a mutator, with one, and on the same children without."""

    plain: float
    scheduled: float
    children: float


def rated(row: Format, parents: list[bytes], number: int) -> Rate:
    rng = Random(number)
    drawn = [rng.choice(parents) for _ in range(INPUTS)]
    made: list[bytes] = []
    mutation = seconds(lambda data: made.append(mutate_with_edits(row, data, rng, LARGEST).data), drawn)
    target = seconds(lambda data: there_and_back(row, data), made)
    plain = seconds(lambda data: there_and_back(row, data), drawn)
    return Rate(INPUTS / plain, INPUTS / (mutation + target), INPUTS / target)


def line(row: Format) -> str:
    parents = sound(row)
    rates = [rated(row, parents, number) for number in SEEDS]
    shares = sorted(one.scheduled / one.plain for one in rates)
    same = median(one.scheduled / one.children for one in rates)
    return (
        f"{row.format_id:24} {median(one.plain for one in rates):7.0f}/s without a mutator, "
        f"{median(one.scheduled for one in rates):6.0f}/s with: {median(shares):.2f} "
        f"({shares[0]:.2f} to {shares[-1]:.2f}); {same:.2f} of the same children"
    )


def main(part: str = "") -> None:
    rows = [row for row in FORMATS.values() if part in row.format_id]
    instrument(modules_to_instrument(rows, resolve("reference")))
    for row in rows:
        print(line(row), flush=True)  # noqa: T201 - what the script is for


if __name__ == "__main__":
    main(*sys.argv[1:])
