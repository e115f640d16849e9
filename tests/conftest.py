"""Which tests run when, what a run leaves out, and which tests share a worker of a run on several.

A new test needs no marker if it takes less than a second and nothing but Python. All others have the marker
of one of the lanes below: `pytestmark = pytest.mark.sweeps`, or `@pytest.mark.sweeps` above a function.
A test that starts a program of another language has `@needs("node")` too (`support/machine.py`).
"""

from collections import Counter
from collections.abc import Generator, Iterable
from typing import Any, Final

import machine
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

LANES: Final = {
    "peers": "codecs of others beside their baselines, and those built with the tools of other languages",
    "tools": "kits, exported readers and layouts, with compilers and interpreters of other languages",
    "browser": "pages in a headless Chromium",
    "documents": "the commands of the README and of the action, each as it stands there",
    "campaigns": "fuzzing that goes on for seconds: libFuzzer in processes of its own",
    "sweeps": "every mutant, every state and every derived case, where one of a kind runs without a lane",
    "spark": "sources, scans and campaigns in a session of Spark; a few of them run without a lane",
    "cluster": "Spark sessions and clusters of their own, which take minutes",
}
"""Markers whose tests the README's test command leaves out, and `.ci/run` runs after it."""

TOGETHER: Final = (
    "tests/spark/",  # a session: two of them would be two virtual machines on the same cores
    "tests/unit/test_page.py",  # a page in a browser
    "tests/unit/test_kits.py::test_a_kit_conforms_and_a_fault_in_it_is_found",  # compilers
    "tests/unit/test_kaitai.py::test_a_compiled_layout",  # another one
    "tests/unit/test_rust_peers.py",  # drivers that are built once
    "tests/unit/test_go_peers.py",
    "tests/unit/test_node_peers.py",
    "tests/unit/test_heka_peers.py",
)

LEFT_OUT: Final = pytest.StashKey[Counter[str]]()
"""Of a worker or of a run on its own, by lane."""

NO_LANE: Final = ""


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, each with the line that stands in the table."""
    for name, tests in LANES.items():
        config.addinivalue_line("markers", f"{name}: {tests}")
    config.addinivalue_line("markers", machine.MARKER)
    config.stash[LEFT_OUT] = Counter()


# --- what is left out ---


def lane(item: pytest.Item) -> str:
    """Return the lane of a test, the first of them if it bears several markers."""
    return next((name for name in LANES if item.get_closest_marker(name)), NO_LANE)


def pytest_deselected(items: Iterable[pytest.Item]) -> None:
    """Count what a run leaves out, whether by `-m` or by `-k`."""
    for item in items:
        item.config.stash[LEFT_OUT][lane(item)] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the counts of a worker to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a worker; each of them collects every test."""
    if left_out := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[LEFT_OUT] = Counter(left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print one line of what the run left out, and how to run it."""
    if left_out := config.stash[LEFT_OUT]:
        terminalreporter.write_line(_line(left_out))


def _line(left_out: Counter[str]) -> str:
    parts = [f"{name} {left_out[name]:,}" for name in LANES if left_out[name]]
    parts += [f"without a lane {left_out[NO_LANE]:,}"] * bool(left_out[NO_LANE])
    how = "pytest -m NAME runs a lane, pytest -m '' everything"
    return f"left out: {left_out.total():,} tests: {', '.join(parts)}; {how}"


# --- what a test needs ---


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tools are not here; where `CI` is `true`, fail it."""
    for marker in item.iter_markers("needs"):
        machine.need(*marker.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show all tests that lack the same tool as one line of the summary, which folds what has one place."""
    report = yield
    match report.longrepr:
        case (_, _, str(text)) if text.removeprefix("Skipped: ") in machine.shown_once:
            report.longrepr = (machine.__file__, 1, text)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a file whose imports want an extra that is not installed; where `CI` is `true`, it is an error."""
    report = yield
    call = report.call  # type: ignore[attr-defined] # pytest sets it for its runner
    if call.excinfo and (reason := machine.lacking_extra(call.excinfo.value)):
        report.outcome, report.longrepr = "skipped", (machine.__file__, 1, reason)
    return report


# --- which tests share a worker ---


class Together(LoadScopeScheduling):
    """One test after the other goes to whoever is free, and these to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return next((begin for begin in TOGETHER if nodeid.startswith(begin)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together | None:
    """Where nobody asked for another way to spread tests."""
    return Together(config, log) if config.getvalue("dist") == "load" else None
