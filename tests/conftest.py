"""Which tests run when, what a run leaves out, and which tests share a worker of a run on several.

A new test needs no marker if it takes less than a second and nothing but Python. All others have the marker
that says why (`support/lanes.py`): `pytestmark = pytest.mark.sweeps`, or a line above one function.
A test that starts a program of another language has `@needs("node")` too (`support/machine.py`).
"""

import os
import sys
from collections import Counter
from collections.abc import Generator, Iterable
from typing import Any, Final

import lanes
import machine
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

TOGETHER: Final = {
    "tests/spark/": "spark",  # a session: two of them would be two virtual machines on the same cores
    "tests/properties/test_columnar": "kernels",  # which each worker compiles
    "tests/properties/test_one_walk.py": "kernels",
    "tests/unit/columnar/test_columnar": "kernels",
    "tests/unit/spark/test_log_rows.py": "kernels",
    "tests/unit/run/test_interop.py": "interop",  # one interop run, which several tests look at
    "tests/unit/inspect/test_entry_list.py": "kernels",
    "tests/conformance/test_outside_family.py": "outside",  # an environment with packages of its own
    "tests/unit/report/test_export.py": "export",  # all cases, written once
    "tests/live/test_kill_table.py::test_brokers": "faulty brokers",  # a fifth of the time of all of them
    "tests/live/test_kill_table.py::test_iggy": "iggy servers",  # as long as those below
    "tests/live/test_kill_table.py::test_an_iggy": "iggy servers",
    "tests/live/test_iggy_": "iggy servers",
    "tests/live/": "live",  # brokers on the loopback, whose clients wait for each other
    "tests/unit/report/test_page.py": "page",  # a page in a browser
    "tests/unit/adapters/test_templates.py::test_a_template_conforms": "templates",  # compilers
    "tests/unit/derive/test_mutate_protobuf_variants.py": "spelling",  # respellings, which are made once
    "tests/unit/derive/test_redact.py": "redact",  # tables of a scan, likewise
}
"""The tests that go to one worker, by the beginning of their ids, and a name for them."""

LEFT_OUT: Final = pytest.StashKey[Counter[str]]()
"""Of a worker or of a run on its own, by marker."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, each with its line in the table."""
    for name, tests in lanes.LANES.items():
        config.addinivalue_line("markers", f"{name}: {tests}")
    config.addinivalue_line("markers", machine.MARKER)
    config.stash[LEFT_OUT] = Counter()
    os.environ.pop("LINES", None)  # xdist sets it in its workers; commands would print what fits 24 lines


# --- what is left out ---


def pytest_deselected(items: Iterable[pytest.Item]) -> None:
    """Count what a run leaves out, whether by `-m` or by `-k`."""
    for item in items:
        item.config.stash[LEFT_OUT][lanes.lane(item)] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the counts of a worker to the process that prints the summary."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = dict(config.stash[LEFT_OUT])
    elif "hypothesis" not in sys.modules and not config.getoption("numprocesses", None):
        # its plugin imports all of it for the summary, though no test used it: half a second for one file
        config.pluginmanager.unregister(name="hypothesispytest")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a worker; each of them collects every test."""
    if counts := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[LEFT_OUT] = Counter(counts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print a line of what passed, if it has markers, and one of what was left out and how to run it."""
    ran = Counter(report.lane for report in terminalreporter.stats.get("passed", ()))
    if ran.keys() - {lanes.UNMARKED}:
        terminalreporter.write_line(lanes.passed(ran))
    if counts := config.stash[LEFT_OUT]:
        terminalreporter.write_line(lanes.left_out(counts))


# --- what a test needs ---


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tools are not here; where `CI` is `true`, fail it."""
    for marker in item.iter_markers("needs"):
        machine.need(*marker.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the marker; show all tests that lack the same tool as one line of the summary.

    The summary folds what has one place.
    """
    report = yield
    report.lane = lanes.lane(item)  # a worker sends it along with the report
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
        return next((name for begin, name in TOGETHER.items() if nodeid.startswith(begin)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are cores: one test in six waits, for a process or a time limit."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together | None:
    """Where nobody asked for another way to spread tests."""
    return Together(config, log) if config.getvalue("dist") == "load" else None
