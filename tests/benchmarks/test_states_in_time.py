"""Each format's deep states from an empty corpus: the mutators of the schedule, and raw bytes beside them.

Five seeds, median and range printed (`-s`). What must hold is what does not depend on the
machine: the mutators reach what they are for, and raw bytes do not get past the checksum of a record batch.
"""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from reaching import Mutator, Run, by_bytes, by_schedule, line, run

from wireproof.cases.states import states_of
from wireproof.formats import FORMATS, Format

SEEDS = range(5)
SECONDS = 2.0
LONGEST = 12.0
TRIES = 9000
"""What two seconds hold where nothing else runs; a busy machine is given the inputs and not the time."""

SAMPLE = ("kafka.batch/v2", "iggy.send/0.0.30", "heka.stream/0.10")
"""One row of each system; the loop is the same for all."""


def _runs(row: Format, mutator: Mutator) -> list[Run]:
    return [run(row, mutator, seed, LONGEST, TRIES) for seed in SEEDS]


@pytest.mark.slow
@pytest.mark.parametrize("joined", SAMPLE)
def test_the_mutators_reach_the_deep_states_from_an_empty_corpus(
    benchmark: BenchmarkFixture, joined: str
) -> None:
    row = FORMATS[joined]
    aware: list[Run] = benchmark.pedantic(_runs, (row, by_schedule), rounds=1)
    raw = [run(row, by_bytes, seed, SECONDS) for seed in SEEDS[:2]]
    print(f"\nmutators  {line(row, aware)}\nraw bytes {line(row, raw)}")  # noqa: T201 - the figures are what it is for
    benchmark.extra_info["mutators"], benchmark.extra_info["raw"] = line(row, aware), line(row, raw)
    total = len(states_of(row))
    assert max(len(one.at) for one in aware) == total
    assert all(len(one.missed) <= total // 10 for one in aware)
    assert min(len(one.missed) for one in raw) > max(len(one.missed) for one in aware)
