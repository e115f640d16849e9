"""The cost of a mutation and of an execution of a campaign, each beside what it cannot be cheaper than."""

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
from machine import needs
from pytest_benchmark.fixture import BenchmarkFixture

from wireproof import formats
from wireproof.adapters.requests import request_for
from wireproof.derive.mutate import mutate, seed
from wireproof.derive.mutate.encodings import written
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.libfuzzer import MUTATOR_FLAGS, run_libfuzzer
from wireproof.fuzz.process import InProcessExecutor
from wireproof.fuzz.work import Turn, Work
from wireproof.fuzz.worker import Session, Worker
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


# --- executions of a campaign ---


def forked(call: Callable[[], object]) -> float:
    """Return the seconds of the processor that a call takes in a process of its own, which it ends itself."""
    child = os.fork()
    if not child:
        try:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            call()
        except BaseException:  # noqa: BLE001 - nothing may return into the parent's code
            traceback.print_exc()
        finally:
            os._exit(70)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"a process ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


class Ways:
    """The ways of fuzzing one codec: bare atheris, our mutator with it, and what `wireproof fuzz` does."""

    def __init__(self, adapter: str, format_id: str, root: Path) -> None:
        self.work = Work(adapter, root, (format_id,), minutes=60.0)
        worker = Worker(self.work)
        worker.guide()
        self.session = Session(worker, format_id)

    def campaign(self, runs: int) -> None:
        self.session.fuzz(0, Turn(self.session.fmt.format_id, runs=runs), os.getppid())

    def callback(self) -> Callable[[bytes], None]:
        executor = self.session.target().executor
        assert isinstance(executor, InProcessExecutor), "a codec in Python"
        caller, case_of = executor._caller, self.session.examples.without_expectation

        def call(data: bytes) -> None:
            caller.answer(request_for(case_of(data), "0"))

        return call

    def mutator(self, runs: int) -> None:
        run_libfuzzer(sys.argv[0], self.arguments(runs), self.callback(), self.session.mutator())

    def bare(self, runs: int) -> None:
        import atheris  # noqa: PLC0415 - an extra

        atheris.Setup([sys.argv[0], *MUTATOR_FLAGS, *self.arguments(runs)], self.callback())
        atheris.Fuzz()

    def arguments(self, runs: int) -> list[str]:
        return [*self.session.arguments(0), f"-runs={runs}"]


def rates(adapter: str, format_id: str, runs: int, rounds: int) -> dict[str, float]:
    """Return the executions for each second of the processor, by way."""
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(adapter, format_id, Path(folder))
        best: dict[str, float] = {}
        for _ in range(rounds):
            for way in (ways.bare, ways.mutator, ways.campaign):
                for path in ways.session.folders[0].iterdir():
                    path.unlink()
                name = way.__name__
                best[name] = max(best.get(name, 0.0), runs / forked(partial(way, runs)))
        return best


@needs("[fuzz]", "[peers]")
def test_the_price_of_an_execution_of_a_campaign_beside_atheris_with_the_same_mutator(
    benchmark: BenchmarkFixture,
) -> None:
    found = benchmark.pedantic(rates, ("kafka-python", "kafka.batch/v2", 3000, 1), rounds=1)
    print(f"\n{found}")  # noqa: T201 - as above
    benchmark.extra_info["ratio"] = found["campaign"] / found["mutator"]
    assert benchmark.extra_info["ratio"] >= LEAST_OF_ATHERIS
