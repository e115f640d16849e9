"""Each format's deep states from an empty corpus: the mutators of the schedule, and raw bytes beside them.

The loop is the plain one that runs without coverage: a child that shows something new to the trace (a path, a
class of refusal, a remark, a codec) is kept and has children itself. Three seeds here, median and range
printed (`-s`). Inputs are counted, not seconds, so that a seed gives the same answer wherever it runs.
"""

import re
import time
from collections.abc import Callable
from functools import lru_cache
from random import Random
from statistics import median

import pytest
from attrs import frozen
from one_of_a_kind import each_format
from pytest_benchmark.fixture import BenchmarkFixture

from tests.coverage_goals import reached, states_of
from wireproof import formats
from wireproof.derive.mutate import mutate, seed
from wireproof.derive.mutate.splice import mutate_bytes
from wireproof.formats import FORMATS, Format, TracedDecode

Mutator = Callable[[Format, bytes, Random], bytes]
LARGEST = 4096

SEEDS = range(3)
MOST = 4000
"""Inputs for a row: those of the mutators reach all of its states, and raw ones miss some."""


def by_schedule(row: Format, data: bytes, rng: Random) -> bytes:
    return mutate(row, data, rng, LARGEST)


def by_bytes(row: Format, data: bytes, rng: Random) -> bytes:
    del row
    return mutate_bytes(rng, data)[:LARGEST]


@lru_cache(maxsize=4096)
def unnumbered(path: str) -> str:
    return re.sub("[0-9]+", "", path)


def shown(seen: TracedDecode) -> set[str]:
    """The behaviours of an input that no other input showed."""
    if seen.rejected is not None:
        return {f"{seen.rejected.cls} {unnumbered(seen.rejected.path)}"}
    assert seen.decoded is not None
    types = {span.type for span in seen.spans if span.space == ""}
    paths = {unnumbered(span.path) for span in seen.spans}
    flags = {f"attributes {span.value}" for span in seen.spans if span.path.endswith("attributes")}
    return paths | types | flags | {remark.cls for remark in seen.decoded.remarks}


@frozen
class Run:
    """One run: when each state was reached, in seconds of this process; how many inputs were tried."""

    at: dict[str, float]
    missed: tuple[str, ...]
    tried: int
    seconds: float

    @property
    def last(self) -> float:
        return max(self.at.values(), default=0.0) if not self.missed else float("inf")


def run(row: Format, mutator: Mutator, number: int) -> Run:
    rng = Random(number)
    wanted = {state.name: state for state in states_of(row)}
    corpus, known, at, tried = [seed(row)], set[str](), dict[str, float](), 0
    start = time.process_time()
    while wanted and tried < MOST:
        data = mutator(row, rng.choice(corpus), rng)
        seen = formats.decode_with_trace(row, data)
        tried += 1
        new = reached(tuple(wanted.values()), seen)
        for state in new:
            at[state.name] = time.process_time() - start
            del wanted[state.name]
        features = shown(seen)
        if new or not features <= known:
            known |= features
            corpus.append(data)
    return Run(at, tuple(wanted), tried, time.process_time() - start)


def line(row: Format, runs: list[Run]) -> str:
    """Median and range of the last state, and what was missed."""
    lasts = sorted(one.last for one in runs)
    total = len(states_of(row))
    least = min(total - len(one.missed) for one in runs)
    missed = sorted({name for one in runs for name in one.missed})
    rate = median(one.tried / one.seconds for one in runs)
    spread = f"{median(lasts):.2f} s ({lasts[0]:.2f} to {lasts[-1]:.2f})"
    text = f"{row.format_id:24} {least}/{total} states, last after {spread}, {rate:.0f} a second"
    return text + (f"; missed: {', '.join(missed)}" if missed else "")


def _runs(row: Format, mutator: Mutator) -> list[Run]:
    return [run(row, mutator, number) for number in SEEDS]


@pytest.mark.parametrize("format_id", each_format(FORMATS, swept="revisions", others="sweeps"))
def test_the_mutators_reach_the_deep_states_from_an_empty_corpus(
    benchmark: BenchmarkFixture, format_id: str
) -> None:
    row = FORMATS[format_id]
    aware: list[Run] = benchmark.pedantic(_runs, (row, by_schedule), rounds=1)
    raw = [run(row, by_bytes, 0)]
    print(f"\nmutators  {line(row, aware)}\nraw bytes {line(row, raw)}")  # noqa: T201 - the figures are what it is for
    benchmark.extra_info["mutators"], benchmark.extra_info["raw"] = line(row, aware), line(row, raw)
    assert all(not one.missed for one in aware)
    assert all(one.missed for one in raw)
