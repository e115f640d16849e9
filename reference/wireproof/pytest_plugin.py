"""`pytest --codec ADAPTER`: one item a case, named as the case. Design, section 6.

It imports nothing but pytest until it is asked for. An empty selection is an error.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from wireproof.trial.events import CaseEvent


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("wireproof", "conformance of a message codec")
    group.addoption(
        "--codec", action="append", default=[], metavar="ADAPTER", help="an adapter to hold to the cases"
    )
    group.addoption("--codec-run", action="append", default=[], metavar="PATTERN", help="only these cases")
    group.addoption("--codec-level", default="must", choices=("must", "should"), help="what fails an item")
    group.addoption(
        "--codec-families", action="store_true", help="judge the derived families too, one item a fixture"
    )
    group.addoption(
        "--codec-baseline", default=None, metavar="FILE", help="known failures, which are expected"
    )
    group.addoption(
        "--property", type=int, default=0, metavar="N", dest="codec_property",
        help="also N generated examples of each format and op that the codec claims, one item each",
    )  # fmt: skip
    group.addoption("--seed", type=int, default=0, dest="codec_seed", help="of the examples")


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the items
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the items of every adapter that was asked for."""
    for spec in config.getoption("--codec"):
        items.extend(_items(session, config, spec))


def _items(session: pytest.Session, config: pytest.Config, spec: str) -> Iterator[pytest.Item]:
    from wireproof.pytest_items import USAGE, CodecRun  # noqa: PLC0415 - not before it is asked for

    try:
        run = CodecRun.of(spec, config)
        names = [*run.names(), *run.properties()]
    except USAGE as error:
        raise pytest.UsageError(f"wireproof: {error}") from None
    if not names:
        raise pytest.UsageError(f"wireproof: no case for {spec}: look at --codec-run and at what it claims")
    prefix = f"{spec}:" if len(config.getoption("--codec")) > 1 else ""
    for name in names:
        yield CaseItem.from_parent(session, name=prefix + name, nodeid=prefix + name, case=name, run=run)


class CaseItem(pytest.Item):
    """One case on one adapter."""

    def __init__(self, *, case: str, run: Any, **more: Any) -> None:  # noqa: ANN401 - pytest's own construction
        """Remember which case of which run it is."""
        super().__init__(**more)
        self.case = case
        self.run = run

    def runtest(self) -> None:
        """Fail where the verdict gates; skip what the adapter does not claim, unless that is everything."""
        if why := self.run.nothing_judged:
            raise CaseFailed(f"{self.run.spec}: {why}")
        failing: list[CaseEvent] = self.run.failing(self.case)
        if failing:
            raise CaseFailed(self.run.text(failing))
        if why := self.run.unsupported(self.case):
            pytest.skip(why)  # not claimed: counted apart, and pytest shows why

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *more: Any) -> Any:  # noqa: ANN401 - as pytest
        """The block that the terminal shows too."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *more)

    def reportinfo(self) -> tuple[str, None, str]:
        """Where an item is: nowhere but in its name, which pytest must not take for a dotted Python name."""
        return "wireproof", None, f"case {self.name}"


class CaseFailed(Exception):  # noqa: N818 - a verdict
    """A verdict that gates."""
