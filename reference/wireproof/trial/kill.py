"""Which golden case each mutant dies by. Design, section 7, "Mutants"."""

from attrs import frozen

from wireproof.adapters.registry import entries
from wireproof.cases.fixtures import Suite
from wireproof.trial.engine import Engine
from wireproof.trial.run import Plan, run
from wireproof.trial.verdicts import gates


@frozen
class Killed:
    """The first golden case that a mutant fails, how, and how many do; `by` is empty for one that lives."""

    by: str
    label: str
    count: int
    passed: int


def mutants() -> list[str]:
    """Every registered mutant."""
    return [name for name in entries() if name.startswith("mutant:")]


def verdict_on(name: str, suite: Suite, *, in_process: bool = False) -> Killed:
    """Run the golden cases of the formats that the mutant claims."""
    with Engine(name, in_process=in_process) as engine:
        plan = Plan.of(engine.hello, suite.cases, suite, families=False)
        events = list(run(engine, plan))
    deadly = [event for event in events if gates(event.verdict, event.level)]
    passed = sum(event.verdict in ("pass", "info") for event in events)
    if not deadly:
        return Killed("", "", 0, passed)
    first = next((event for event in deadly if event.verdict != "blocked"), deadly[0])
    return Killed(first.id, first.label, len(deadly), passed)
