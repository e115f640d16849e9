"""A whole run of the reference: golden and derived cases of every format, judged, as events.

With benchmarks switched off, as beside other workers, golden cases alone, those whose input is stored: what
is derived is judged by `wireproof check reference` in `.ci/run`, and its relations by
`tests/unit/cases/test_derived.py`.
"""

import time
from typing import Any

from goldens import load, stored_cases

from wireproof.runner.engine import Engine
from wireproof.runner.run import Selection, run
from wireproof.runner.verdicts import ROWS

TARGET = 60
"""Seconds; printed beside what it took, and never asserted."""


def test_golden_and_derived_cases_of_the_reference(benchmark: Any) -> None:
    suite = load()
    cases = suite.cases if benchmark.enabled else stored_cases()

    def whole() -> dict[str, int]:
        counts: dict[str, int] = {}
        with Engine("reference") as engine:
            plan = Selection.of(engine.hello, cases, suite, families=benchmark.enabled)
            for event in run(engine, plan):
                counts[event.verdict] = counts.get(event.verdict, 0) + 1
        return counts

    start = time.perf_counter()
    counts = benchmark.pedantic(whole, rounds=1)
    seconds = time.perf_counter() - start
    total = sum(counts.values())
    benchmark.extra_info.update(cases=total, seconds=round(seconds, 1), per_second=round(total / seconds))
    print(f"\n{total} cases in {seconds:.1f} s, about {TARGET} s wanted: {counts}")  # noqa: T201 - a benchmark
    gating = {name for name in counts if ROWS[name].gate != "never"}
    assert total > len(cases) if benchmark.enabled else total == len(cases)
    assert not gating & {"fail", "crash", "timeout", "suite-bug"}
