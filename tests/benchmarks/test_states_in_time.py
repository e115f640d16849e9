"""Each format's deep states from an empty corpus: the mutators of the schedule, and raw bytes beside them.

Three seeds here, median and range printed (`-s`). Inputs are counted, not seconds, so that a seed gives the
same answer wherever it runs.
"""

import pytest
from one_of_a_kind import each_format
from pytest_benchmark.fixture import BenchmarkFixture
from reaching import Mutator, Run, by_bytes, by_schedule, line, run

from wireproof.formats import FORMATS, Format

SEEDS = range(3)
MOST = 4000
"""Inputs of the mutators' for a row, all of whose states they reach."""

RAW = 12_000
"""Raw ones, which miss some of each row."""

NEVER = float("inf")

REACHED_BY_RAW_BYTES = {"iggy.poll-request/0.11.1-edge"}
"""Rows of short requests without a checksum or a length of a length, whose states raw bytes reach too."""


def _runs(row: Format, mutator: Mutator) -> list[Run]:
    return [run(row, mutator, seed, NEVER, MOST) for seed in SEEDS]


@pytest.mark.parametrize("format_id", each_format(FORMATS, swept="revisions", others="sweeps"))
def test_the_mutators_reach_the_deep_states_from_an_empty_corpus(
    benchmark: BenchmarkFixture, format_id: str
) -> None:
    row = FORMATS[format_id]
    aware: list[Run] = benchmark.pedantic(_runs, (row, by_schedule), rounds=1)
    raw = [run(row, by_bytes, 0, NEVER, RAW)]
    print(f"\nmutators  {line(row, aware)}\nraw bytes {line(row, raw)}")  # noqa: T201 - the figures are what it is for
    benchmark.extra_info["mutators"], benchmark.extra_info["raw"] = line(row, aware), line(row, raw)
    assert all(not one.missed for one in aware)
    assert all(one.missed for one in raw) is (format_id not in REACHED_BY_RAW_BYTES)
