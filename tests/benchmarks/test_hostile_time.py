"""Seconds that hostile bytes cost the reference; `unit/test_linear_time.py` counts how they grow."""

import pytest
from growing_inputs import HOSTILE
from pytest_benchmark.fixture import BenchmarkFixture

from wireproof import formats

KIB = 16
"""Of bytes, about: small enough to be run with all tests."""


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_of_hostile_bytes(benchmark: BenchmarkFixture, name: str) -> None:
    row, make = HOSTILE[name]
    data = make(max(1, KIB * 1024 * 100 // max(100, len(make(100)))))
    benchmark.extra_info["bytes"] = len(data)
    layout = benchmark.pedantic(formats.decode_with_trace, (row, data), rounds=1)
    assert layout.rejected or layout.decoded
