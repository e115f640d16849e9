"""The cost of a mutation, compared with a decode, encode, decode of the same inputs, interleaved."""

import time
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from wireproof import formats
from wireproof.cases.mutate import mutate_with_edits, seed
from wireproof.cases.mutate.encodings import written
from wireproof.formats import FORMATS, Format
from wireproof.wire.rejection import Rejected

INPUTS = 200
ROUNDS = 5


def _corpus(row: Format) -> list[bytes]:
    rng, found = Random(1), [seed(row)]
    for _ in range(2000):
        data = mutate_with_edits(row, rng.choice(found), rng, 512).data
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


@pytest.mark.parametrize("format_id", ["kafka.batch/v2", "iggy.poll/0.0.40", "heka.stream/0.10"])
def test_the_price_of_a_mutation_beside_a_round_trip(benchmark: BenchmarkFixture, format_id: str) -> None:
    row = FORMATS[format_id]
    corpus, rng, spent = _corpus(row), Random(2), [0.0, 0.0]

    def interleaved() -> None:
        for data in corpus:
            start = time.perf_counter()
            mutate_with_edits(row, data, rng, 512)
            middle = time.perf_counter()
            _there_and_back(row, data)
            spent[0] += middle - start
            spent[1] += time.perf_counter() - middle

    benchmark.pedantic(interleaved, rounds=ROUNDS)
    calls = len(corpus) * ROUNDS
    text = f"mutate {calls / spent[0]:.0f}/s, decode-encode-decode {calls / spent[1]:.0f}/s"
    benchmark.extra_info["rates"] = f"{text}, ratio {spent[1] / spent[0]:.2f}"
    print(f"\n{format_id}: {benchmark.extra_info['rates']}")  # noqa: T201 - the figures are what it is for
