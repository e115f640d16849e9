"""The pytest plugin: `pytest --codec ADAPTER` adds one item for each case, with the name of the case.

It imports only pytest until `--codec` is used. An empty selection is an error.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

if TYPE_CHECKING:
    from wireproof.pytest_run import PytestRun


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin to pytest."""
    group = parser.getgroup("wireproof", "conformance of a message codec")
    group.addoption(
        "--codec", action="append", default=[], metavar="ADAPTER", help="run the cases on this adapter"
    )
    group.addoption(
        "--codec-run", action="append", default=[], metavar="PATTERN", help="run only matching cases"
    )
    group.addoption(
        "--codec-level",
        default="must",
        choices=("must", "should"),
        help="lowest level whose failures fail an item [default: must]",
    )
    group.addoption(
        "--codec-families",
        action="store_true",
        help="run the derived families too, in the items of their cases",
    )
    group.addoption(
        "--codec-large", action="store_true",
        help="run the cases of more than 8 MiB or 10,000 records too, which take most of the time",
    )  # fmt: skip
    group.addoption(
        "--codec-baseline", default=None, metavar="FILE",
        help="known failures: their items are strict xfails, which fail once the cases pass",
    )  # fmt: skip
    group.addoption(
        "--codec-property", type=int, default=0, metavar="N",
        help="also run N generated examples of each format and op that the codec claims, one item each",
    )  # fmt: skip
    group.addoption("--codec-seed", type=int, default=0, help="random seed of the generated examples")


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the items
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the items of every adapter given by `--codec`."""
    for spec in config.getoption("--codec"):
        items.extend(_items(session, config, spec))


def _items(session: pytest.Session, config: pytest.Config, spec: str) -> Iterator[pytest.Item]:
    from wireproof.pytest_run import USAGE_ERRORS, PytestRun  # noqa: PLC0415 - only if `--codec` is used

    try:
        run = PytestRun.of(spec, config)
        names = run.names()
    except USAGE_ERRORS as error:
        raise pytest.UsageError(f"wireproof: {error}") from None
    if not names:
        more = " or add --codec-large" if run.large else ""
        raise pytest.UsageError(
            f"wireproof: no case for {spec}: check --codec-run and the adapter's claims{more}"
        )
    prefix = f"{spec}:" if len(config.getoption("--codec")) > 1 else ""
    for name in names:
        yield CaseItem.from_parent(session, name=prefix + name, nodeid=prefix + name, case=name, run=run)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell each run which of its items are left."""
    for item in session.items:
        if isinstance(item, CaseItem):
            item.run.chosen.add(item.case)


def pytest_report_collectionfinish(items: list[pytest.Item]) -> list[str]:
    """Return a line for each adapter whose large cases are left out."""
    runs = {item.run.spec: item.run for item in items if isinstance(item, CaseItem)}
    return [
        f"wireproof: {run.large} large cases of {spec} left out: add --codec-large"
        for spec, run in runs.items()
        if run.large
    ]


class CaseItem(pytest.Item):
    """One case on one adapter."""

    def __init__(self, *, case: str, run: "PytestRun", **more: Any) -> None:  # noqa: ANN401 - pytest's own construction
        """Create the item of the case `case` in the run `run`."""
        super().__init__(**more)
        self.case = case
        self.run = run

    def runtest(self) -> None:
        """Fail if a case of the item fails; skip a case that the adapter does not claim.

        An item whose failures are all known is an xfail, and a failure with `--runxfail`.
        """
        if failure := self.run.failure(self.case):
            raise CaseFailed(failure)
        reason, text = self.run.known_failure(self.case)
        if text:
            pytest.xfail(reason)
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
