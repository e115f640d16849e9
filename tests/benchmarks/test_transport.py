"""The cost of a case between the engine and an adapter that does nothing: `pytest tests/benchmarks`."""

from typing import Any

import pytest

from wireproof.adapters.contract import Request
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Accepted, Outcome
from wireproof.judge.judge import judge
from wireproof.run.engine import Engine
from wireproof.run.events import case_event, to_line

CASES = 8_000


class Nothing:
    """Answers at once; the worker finds it as `test_transport:Nothing`."""

    name = "nothing"
    version = "1"
    window = 64

    def decode(self, request: Request) -> Outcome:
        return Accepted({"a": "1"}, len(request.data))


def _a_second(benchmark: Any) -> None:
    """Into the table; beside other workers nothing is measured."""
    if benchmark.enabled:
        benchmark.extra_info["cases_per_second"] = round(CASES / benchmark.stats.stats.min)


@pytest.mark.parametrize("in_process", [False, True], ids=["exec", "in-process"])
def test_small_cases_per_second(benchmark: Any, in_process: bool) -> None:
    plan = [Case(f"toy/v1/t/c{n}", "toy", "v1", Data(bytes(70)), Accept({"a": "1"})) for n in range(CASES)]
    with Engine("py:test_transport:Nothing", in_process=in_process) as engine:
        outcomes = benchmark.pedantic(lambda: [ran.outcome for ran in engine.run(plan)], rounds=3)
    _a_second(benchmark)
    assert outcomes == [Accepted({"a": "1"}, 70)] * CASES


def test_small_cases_judged_and_written_per_second(benchmark: Any) -> None:
    """The whole road from case to line of the stream, with the adapter in a process of its own."""
    data = Data(bytes(70))
    plan = [Case(f"toy/v1/t/c{n}", "toy", "v1", data, Accept({"a": "1"}, 70)) for n in range(CASES)]
    with Engine("py:test_transport:Nothing") as engine:

        def lines() -> list[str]:
            return [
                to_line(case_event(seq, ran.case, judge(ran.case, ran.outcome, hello=engine.hello), ran.ns))
                for seq, ran in enumerate(engine.run(plan))
            ]

        written = benchmark.pedantic(lines, rounds=2)
    _a_second(benchmark)
    assert sum('"verdict":"pass"' in line for line in written) == CASES
