"""The pytest plugin: `pytest --codec ADAPTER` adds one item for each case, with the name of the case.

The name can be an argument of pytest, as that of a file can. An item is asked when it is due, by one engine
for each process. The plugin imports only pytest until `--codec` is used. An empty selection is an error.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

if TYPE_CHECKING:
    from wireproof.pytest_run import PytestRun

ADAPTER: Final = "codec"
"""The property of an item, also in JUnit's XML, that names its adapter."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("wireproof", "conformance of a message codec").addoption
    add("--codec", action="append", default=[], metavar="ADAPTER", help="run the cases on this adapter")
    add("--codec-run", action="append", default=[], metavar="PATTERN", help="run only matching cases")
    add("--codec-level", default="must", choices=("must", "should"),
        help="lowest level whose failures fail an item [default: must]")  # fmt: skip
    add("--codec-families", action="store_true",
        help="run the derived families too, in the items of their cases")  # fmt: skip
    large = "run the cases of more than 8 MiB or 10,000 records too, which take most of the time"
    add("--codec-large", action="store_true", help=large)
    add("--codec-baseline", default=None, metavar="FILE",
        help="known failures: their items are strict xfails, which fail once the cases pass")  # fmt: skip
    examples = "also run N generated examples of each format and op that the codec claims, one item each"
    add("--codec-property", type=int, default=0, metavar="N", help=examples)
    add("--codec-seed", type=int, default=0, help="random seed of the generated examples")


TYPED: Final = pytest.StashKey[list[str]]()
"""The names of items among the arguments of pytest, which is not to look for files of these names."""


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--codec"):
        folder = config.invocation_params.dir
        typed = [one for one in config.args if not (folder / one.partition("::")[0]).exists()]
        config.args[:] = [one for one in config.args if one not in typed]
        config.stash[TYPED] = typed
        config.pluginmanager.register(JudgedCounts(config), "wireproof-counts")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add a collector for each adapter given by `--codec` to those of the session."""
    report = yield
    if collector.config.getoption("--codec") and isinstance(collector, pytest.Session):
        typed = collector.config.stash[TYPED]
        for run, names in _runs(collector.config):
            items = {name: case for name, case in names.items() if not typed or name in typed}
            report.result.append(
                AdapterCollector.from_parent(collector, name=run.spec, nodeid=run.spec, items=items, run=run)
            )
    return report


def _runs(config: pytest.Config) -> list[tuple["PytestRun", dict[str, str]]]:
    """Return the run of each adapter, with the case of each of its items by name.

    Raises:
        UsageError: an adapter has nothing to run, or a typed name is that of no item.
    """
    from wireproof.pytest_run import USAGE_ERRORS, PytestRun  # noqa: PLC0415 - only if `--codec` is used

    specs: list[str] = config.getoption("--codec")
    typed = config.stash[TYPED]
    runs = []
    for spec in specs:
        prefix = f"{spec}:" if len(specs) > 1 else ""
        try:
            run = PytestRun.of(spec, config, [one.removeprefix(prefix) for one in typed])
            config.add_cleanup(run.end)
            names = run.names()
        except USAGE_ERRORS as error:
            raise pytest.UsageError(f"wireproof: {error}") from None
        if not names:
            more = " or add --codec-large" if run.left_out else ""
            raise pytest.UsageError(
                f"wireproof: no case for {spec}: check --codec-run and the adapter's claims{more}"
            )
        runs.append((run, {prefix + name: name for name in names}))
    if unknown := [one for one in typed if not any(one in names for _, names in runs)]:
        raise pytest.UsageError(
            f"wireproof: no file and no item: {', '.join(unknown)}; --collect-only -q lists the items"
        )
    return runs


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Raise the usage errors here: what a worker of pytest-xdist raises while it collects is never shown."""
    if config.getoption("--codec"):
        for run, _ in _runs(config):
            run.end()


def pytest_collection_finish(session: pytest.Session) -> None:
    for item in session.items:
        if isinstance(item, CaseItem):
            item.run.chosen.add(item.case)


def pytest_report_collectionfinish(items: list[pytest.Item]) -> list[str]:
    """Return a line for each adapter whose large cases are left out."""
    runs = {item.run.spec: item.run for item in items if isinstance(item, CaseItem)}
    if not runs:
        return []
    from wireproof.wire.text import counted  # noqa: PLC0415 - only if `--codec` is used

    return [
        f"wireproof: {counted(len(run.left_out), 'large case')} of {spec} left out: add --codec-large"
        for spec, run in runs.items()
        if run.left_out
    ]


class AdapterCollector(pytest.Collector):
    """The items of one adapter, which ends after the last of them."""

    def __init__(self, *, items: dict[str, str], run: "PytestRun", **more: Any) -> None:  # noqa: ANN401 - pytest's own construction
        """Create the collector of the run `run`, with the case of each item by its name."""
        super().__init__(**more)
        self.items = items
        self.run = run

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the items; the id of one is its name alone, without the adapter."""
        for name, case in self.items.items():
            yield CaseItem.from_parent(self, name=name, nodeid=name, case=case, run=self.run)

    def teardown(self) -> None:
        from wireproof.adapters.errors import AdapterError  # noqa: PLC0415 - only if `--codec` is used

        try:
            self.run.end()
        except AdapterError as error:
            pytest.fail(f"{self.run.spec}: {error}", pytrace=False)


class CaseItem(pytest.Item):
    """One case on one adapter."""

    def __init__(self, *, case: str, run: "PytestRun", **more: Any) -> None:  # noqa: ANN401 - pytest's own construction
        """Create the item of the case `case` in the run `run`."""
        super().__init__(**more)
        self.case = case
        self.run = run
        self.user_properties.append((ADAPTER, run.spec))

    def runtest(self) -> None:
        """Fail if a case of the item fails; skip a case that the adapter does not claim.

        An item whose failures are all known is an xfail, and a failure with `--runxfail`.
        """
        if failure := self.run.failure(self.case):
            raise CaseFailed(failure)
        reason, text = self.run.known_failure(self.case)
        if text:
            pytest.xfail(reason)  # the reason of the entry of the baseline
            raise CaseFailed(text)
        if why := self.run.unsupported(self.case):
            pytest.skip(why)  # not claimed: pytest counts it separately and shows the reason

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *more: Any) -> Any:  # noqa: ANN401 - as pytest
        """Return the text of the failure without a traceback.

        The lines at the end of a run show its first line: pytest repeats a bare text whole where `CI` is set,
        and has no public class for a text with a line of its own.
        """
        if not isinstance(excinfo.value, CaseFailed | pytest.xfail.Exception):
            return super().repr_failure(excinfo, *more)
        text = str(excinfo.value)
        place = ReprFileLocation("wireproof", 1, text.partition("\n")[0])
        return ReprExceptionInfo(ReprTraceback([ReprEntryNative([f"{text}\n"])], None, "native"), place)

    def reportinfo(self) -> tuple[str, None, str]:
        """Return the name for reports; pytest must not read it as a dotted Python name."""
        return "wireproof", None, f"case {self.name}"


class CaseFailed(Exception):  # noqa: N818 - a verdict
    """The verdict of a case fails its item."""


class JudgedCounts:
    """Lets pytest fail if no item of an adapter was judged, whichever worker of pytest-xdist had it."""

    def __init__(self, config: pytest.Config) -> None:
        """Count nothing yet."""
        self._is_worker = hasattr(config, "workerinput")
        self._judged: Counter[str] = Counter()
        self._reasons: dict[str, Counter[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spec = str(dict(report.user_properties).get(ADAPTER, ""))
        if not spec or report.when != "call":
            return
        unsupported = report.skipped and not hasattr(report, "wasxfail")
        self._judged[spec] += not unsupported
        if unsupported and isinstance(report.longrepr, tuple):
            self._reasons.setdefault(spec, Counter())[report.longrepr[2].removeprefix("Skipped: ")] += 1

    def _lines(self) -> list[str]:
        """Return a line for each adapter that was asked, and not judged."""
        return [
            f"wireproof: {spec}: no case was judged: "
            + "; ".join(f"{count} unsupported: {why}" for why, count in self._reasons[spec].most_common(3))
            for spec, judged in self._judged.items()
            if not judged and spec in self._reasons
        ]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._lines() and not self._is_worker and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self._lines():
            terminalreporter.write_line(line)
