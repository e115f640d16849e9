"""The cost of a mutation and of an execution of a campaign, each beside what it cannot be cheaper than."""

import time
from random import Random

import pytest
from execution_speed import rates
from machine import needs
from pytest_benchmark.fixture import BenchmarkFixture

from wireproof import formats
from wireproof.derive.mutate import mutate, seed
from wireproof.derive.mutate.encodings import written
from wireproof.formats import FORMATS, Format
from wireproof.wire.rejection import Rejected

pytestmark = pytest.mark.benchmarks

LEAST = {"kafka.batch/v2": 0.6, "iggy.poll/0.0.40": 0.6, "heka.stream/0.10": 0.6}
"""By format, mutations in the time of a round trip."""

LEAST_OF_ATHERIS = 0.5
"""Executions of a campaign in the time of one of atheris, which neither judges nor has a reference."""

INPUTS = 200
ROUNDS = 5


def _corpus(row: Format) -> list[bytes]:
    rng, found = Random(1), [seed(row)]
    for _ in range(2000):
        data = mutate(row, rng.choice(found), rng, 512)
        try:
            formats.decode(row, data)
        except Rejected:
            continue
        found.append(data)
    return found[-INPUTS:]


def _there_and_back(row: Format, data: bytes) -> None:
    try:
        formats.decode(row, written(row, formats.decode(row, data).value))
    except Rejected:
        return


@pytest.mark.parametrize("format_id", LEAST)
def test_the_price_of_a_mutation_beside_a_round_trip(benchmark: BenchmarkFixture, format_id: str) -> None:
    row = FORMATS[format_id]
    corpus, rng, spent = _corpus(row), Random(2), [0.0, 0.0]

    def interleaved() -> None:
        for data in corpus:
            start = time.perf_counter()
            mutate(row, data, rng, 512)
            middle = time.perf_counter()
            _there_and_back(row, data)
            spent[0] += middle - start
            spent[1] += time.perf_counter() - middle

    benchmark.pedantic(interleaved, rounds=ROUNDS)
    calls = len(corpus) * ROUNDS
    ratio = spent[1] / spent[0]
    text = (
        f"mutate {calls / spent[0]:.0f}/s, decode-encode-decode {calls / spent[1]:.0f}/s, ratio {ratio:.2f}"
    )
    print(f"\n{format_id}: {text}")  # noqa: T201 - the figures are what it is for
    benchmark.extra_info["ratio"] = ratio
    assert ratio >= LEAST[format_id]


@needs("[fuzz]", "[peers]")
def test_the_price_of_an_execution_of_a_campaign_beside_atheris_with_the_same_mutator(
    benchmark: BenchmarkFixture,
) -> None:
    found = benchmark.pedantic(rates, ("kafka-python", "kafka.batch/v2", 3000, 1), rounds=1)
    print(f"\n{found}")  # noqa: T201 - as above
    benchmark.extra_info["ratio"] = found["campaign"] / found["mutator"]
    assert benchmark.extra_info["ratio"] >= LEAST_OF_ATHERIS
