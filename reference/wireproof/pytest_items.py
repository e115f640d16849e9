"""What stands behind the items of the pytest plugin: one run of an adapter, made when the first item runs."""

from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import define

from wireproof.adapters.errors import AdapterError
from wireproof.cases.case import Case, Level
from wireproof.cases.fixtures import FixtureError, Suite, load
from wireproof.cases.patterns import PatternError, select
from wireproof.report.failure import block
from wireproof.report.groups import Group
from wireproof.trial import baseline
from wireproof.trial.engine import Engine
from wireproof.trial.events import CaseEvent, run_event
from wireproof.trial.lookup import Lookups
from wireproof.trial.platform import manifest
from wireproof.trial.run import Plan, run
from wireproof.trial.streams import Stream
from wireproof.trial.verdicts import ROWS, gates

if TYPE_CHECKING:
    import pytest

USAGE: Final = (AdapterError, FixtureError, PatternError, baseline.BaselineError, OSError)
"""What a user can cause before a case is asked: one line each."""

SILENT: Final = ("unsupported", "not-run")


@define(slots=False)
class CodecRun:
    """The run of one adapter over the selected cases."""

    spec: str
    suite: Suite
    selected: tuple[Case, ...]
    families: bool
    level: Level
    debts: tuple[baseline.Debt, ...]

    @classmethod
    def of(cls, spec: str, config: "pytest.Config") -> "CodecRun":
        """The run that the options of pytest ask for."""
        suite = load()
        patterns: list[str] = config.getoption("--codec-run")
        file: str | None = config.getoption("--codec-baseline")
        debts = baseline.parse(Path(file).read_text(encoding="utf-8"), file) if file else ()
        selected = select(suite, patterns) if patterns else suite.cases
        families: Any = config.getoption("--codec-families")
        return cls(spec, suite, selected, families, config.getoption("--codec-level"), debts)

    @cached_property
    def plan(self) -> Plan:
        """What the adapter is asked, by its claims."""
        with Engine(self.spec) as engine:
            return Plan.of(engine.hello, self.selected, self.suite, families=self.families)

    def names(self) -> list[str]:
        """The ids of the cases that concern the adapter."""
        return [case.id for case in self.plan.golden]

    @cached_property
    def stream(self) -> Stream:
        """The whole run."""
        with Engine(self.spec) as engine:
            head = run_event(
                engine.hello, spec=self.spec, fixtures=self.suite.hash, level=self.level, **manifest()
            )
            return Stream(head, tuple(run(engine, self.plan)))

    @cached_property
    def by_fixture(self) -> dict[str, list[CaseEvent]]:
        """The events of each fixture, its derived cases among them."""
        found: dict[str, list[CaseEvent]] = {}
        for event in self.stream.cases:
            found.setdefault(event.id.partition("~")[0], []).append(event)
        return found

    def failing(self, name: str) -> list[CaseEvent]:
        """The events of a fixture that gate and that no baseline expects."""
        today = datetime.now(tz=UTC).date()
        known = baseline.apply(self.stream, self.debts, today).overlays if self.debts else {}
        return [
            event
            for event in self.by_fixture[name]
            if known.get(event.id) != "expected"
            and (
                ROWS[event.verdict].gate in ("suite", "adapter")
                or gates(event.verdict, event.level, hold=self.level)
            )
        ]

    def unsupported(self, name: str) -> str:
        """Why no case of a fixture was asked; empty if one was."""
        events = self.by_fixture[name]
        return events[0].text if all(event.verdict in SILENT for event in events) else ""

    def text(self, failing: list[CaseEvent]) -> str:
        """The block of the first failure, as the terminal shows it."""
        lookups = Lookups(self.suite)
        group = Group(failing[0].signature(self.stream.run.adapter), failing[0], tuple(failing[1:]))
        return "\n".join(block(group, self.stream.run, lookups.case, lookups.twin))
