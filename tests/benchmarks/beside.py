"""Ways of doing the same thing, timed in turn within one run, and their ratios beside their bars.

Ratios are what to go by: a slow minute of the machine slows all ways alike, and the best of the rounds is
kept of each. The figures in seconds or bytes are for orientation.
"""

import os
import time
from collections.abc import Callable, Mapping

import click
from attrs import frozen

from wireproof.adapters.process.stats import cpu_seconds, tree

MIB = 1 << 20


@frozen
class Cost:
    """The cost of a run: wall-clock seconds, and processor seconds of it and of its child processes."""

    seconds: float
    cpu: float = 0.0


Way = Callable[[], Cost]


def of_process(call: Callable[[], object]) -> Way:
    """Measure a function in this process, on one core, by its own time."""

    def way() -> Cost:
        start = time.process_time()
        call()
        return Cost(time.process_time() - start)

    return way


def of_tree(call: Callable[[], object]) -> Way:
    """A way that has processes of its own: the clock's time, and that of the cores for all of them."""

    def way() -> Cost:
        cpu, start = had(), time.perf_counter()
        call()
        return Cost(time.perf_counter() - start, had() - cpu)

    return way


def had() -> float:
    """Seconds of all cores that this process and its descendants have had, those that ended included."""
    return sum(cpu_seconds(pid, ended_children=True) for pid in tree(os.getpid()))


def best(ways: Mapping[str, Way], rounds: int) -> dict[str, Cost]:
    """The least of each way's costs: of the clock and of the cores, each for itself."""
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for number in range(rounds):
        names = list(ways) if number % 2 else list(ways)[::-1]  # what comes second finds other caches
        for name in names:
            costs[name].append(ways[name]())
    return {
        name: Cost(min(one.seconds for one in some), min(one.cpu for one in some))
        for name, some in costs.items()
    }


def told(what: str, figure: float, *, least: float | None = None, most: float | None = None) -> None:
    """One line: the figure, its bar and whether it holds."""
    click.echo(f"{what:72} {figure:8.2f}   {_bar(figure, least, most)}".rstrip())


def _bar(figure: float, least: float | None, most: float | None) -> str:
    if least is not None:
        return f"at least {least:g}: {'holds' if figure >= least else 'MISSED'}"
    if most is not None:
        return f"at most {most:g}: {'holds' if figure <= most else 'MISSED'}"
    return ""


def conditions() -> None:
    """Print what else was going on, and let the processes that are measured keep the modules they compile."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each would compile all that it imports
    loads = " ".join(f"{load:.1f}" for load in os.getloadavg())
    click.echo(f"{os.cpu_count()} cores; load of the last 1, 5, 15 minutes: {loads}")
