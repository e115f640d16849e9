"""Each format's deep states from an empty corpus: the mutators of the schedule, and raw bytes beside them.

Three seeds here, median and range printed (`-s`); `states.py` runs five. Every state is reached within two
seconds, and raw bytes of half as long miss some of each row.
"""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from reaching import Mutator, Run, by_bytes, by_schedule, line, run

from wireproof.formats import FORMATS, Format

SEEDS = range(3)
SECONDS = 2.0
"""Of this process's own time: the machine may be shared."""

RAW = 1.0


def _runs(row: Format, mutator: Mutator) -> list[Run]:
    return [run(row, mutator, seed, SECONDS) for seed in SEEDS]


@pytest.mark.slow
@pytest.mark.parametrize("joined", FORMATS)
def test_the_mutators_reach_the_deep_states_from_an_empty_corpus(
    benchmark: BenchmarkFixture, joined: str
) -> None:
    row = FORMATS[joined]
    aware: list[Run] = benchmark.pedantic(_runs, (row, by_schedule), rounds=1)
    raw = [run(row, by_bytes, 0, RAW)]
    print(f"\nmutators  {line(row, aware)}\nraw bytes {line(row, raw)}")  # noqa: T201 - the figures are what it is for
    benchmark.extra_info["mutators"], benchmark.extra_info["raw"] = line(row, aware), line(row, raw)
    assert all(not one.missed for one in aware)
    assert all(one.missed for one in raw)
