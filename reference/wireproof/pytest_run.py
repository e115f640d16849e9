"""The run of an adapter behind the items of the pytest plugin. It starts when the first item runs."""

from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import define

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError
from wireproof.cases.case import Case, Level
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.id_patterns import PatternError, select
from wireproof.cases.seeded_examples import PropertyError, property_examples
from wireproof.fuzz import property_run
from wireproof.report.failure_groups import FailureGroup, failure_groups_of, failure_lines
from wireproof.runner import baseline
from wireproof.runner.case_lookup import CaseLookup
from wireproof.runner.conclusion import why_nothing_judged
from wireproof.runner.engine import Engine
from wireproof.runner.events import CaseEvent, EventStream, Run, run_event
from wireproof.runner.known_failures import BaselineError, KnownFailure, read_baseline
from wireproof.runner.property_suite import (
    PropertySettings,
    PropertyTarget,
    RedrawCounts,
    property_targets,
)
from wireproof.runner.run import Selection, run
from wireproof.runner.run_manifest import manifest_fields
from wireproof.runner.signature import Signature
from wireproof.runner.verdicts import ROWS, gates

if TYPE_CHECKING:
    import pytest

USAGE_ERRORS: Final = (
    AdapterError,
    FixtureError,
    PatternError,
    BaselineError,
    PropertyError,
    OSError,
)
"""Errors that a user can cause before the first case runs; each message is one line."""


@define(slots=False)
class PytestRun:
    """The run of one adapter over the selected cases.

    Attributes:
        spec: the adapter, as given by `--codec`.
        suite: all cases.
        selected: the selected cases.
        families: True to run the derived families too.
        level: lowest level whose failures fail an item.
        known_failures: the failures that are expected.
        examples: number of generated examples of each format and operation.
        seed: random seed of the examples.
    """

    spec: str
    suite: Suite
    selected: tuple[Case, ...]
    families: bool
    level: Level
    known_failures: tuple[KnownFailure, ...]
    examples: int = 0
    seed: int = 0

    @classmethod
    def of(cls, spec: str, config: "pytest.Config") -> "PytestRun":
        """Return the run that the options of pytest describe."""
        suite = load()
        patterns: list[str] = config.getoption("--codec-run")
        file: str | None = config.getoption("--codec-baseline")
        known_failures = read_baseline(Path(file), suite) if file else ()
        selected = select(suite, patterns) if patterns else suite.cases
        families: Any = config.getoption("--codec-families")
        examples, seed = config.getoption("codec_property"), config.getoption("codec_seed")
        level: Level = config.getoption("--codec-level")
        return cls(spec, suite, selected, families, level, known_failures, examples, seed)

    @cached_property
    def plan(self) -> Selection:
        """Return the cases for the adapter, by its claims."""
        return Selection.of(self.hello, self.selected, self.suite, families=self.families)

    def names(self) -> list[str]:
        """Return the ids of the golden cases for the adapter."""
        return [case.id for case in self.plan.golden]

    @cached_property
    def hello(self) -> Hello:
        """Return the hello of the adapter: its name, version and claims."""
        with Engine(self.spec) as engine:
            return engine.hello

    @cached_property
    def targets(self) -> dict[str, PropertyTarget]:
        """Return the targets of generated examples, by the name of their item.

        Raises:
            PropertyError: examples cannot be generated.
        """
        if not self.examples:
            return {}
        formats = {case.format_id for case in self.selected}
        by_name = {
            f"{one.row.format_id}/property/{one.op}": one for one in property_targets(self.hello, formats)
        }
        for target in by_name.values():
            property_examples(target.row.format_id, self.seed)
        return by_name

    def properties(self) -> list[str]:
        """Return the names of the items of generated examples."""
        return list(self.targets)

    def _head(self, hello: Hello) -> Run:
        return run_event(
            hello,
            spec=self.spec,
            fixtures=self.suite.hash_of(self.selected),
            seed=self.seed,
            level=self.level,
            **manifest_fields(),
        )

    @cached_property
    def stream(self) -> EventStream:
        """Return the events of all cases; the first access runs them."""
        with Engine(self.spec) as engine:
            return EventStream(self._head(engine.hello), tuple(run(engine, self.plan)))

    @cached_property
    def known(self) -> frozenset[Signature]:
        """Return the signatures of the known failures, from the cases of this run; examples avoid them."""
        if not self.known_failures:
            return frozenset()
        today = datetime.now(tz=UTC).date()
        return property_run.known_signatures(self.hello, self.stream, self.known_failures, today)

    def _run_examples(self, name: str) -> list[CaseEvent]:
        """Run one item of generated examples and return its events."""
        held = tuple(entry for entry in self.known_failures if entry.of_examples)
        ask = PropertySettings(self.examples, self.seed, known=self.known, held=held)
        with Engine(self.spec, seed=self.seed) as engine:
            return list(
                property_run.target_events(engine, self.targets[name], ask, RedrawCounts(), self.level)
            )

    @cached_property
    def by_item(self) -> dict[str, list[CaseEvent]]:
        """Return the events of each item: of a golden case with its derived cases, or of examples."""
        events: dict[str, list[CaseEvent]] = {}
        for event in self.stream.cases:
            events.setdefault(event.id.partition("~")[0], []).append(event)
        return events

    def events(self, name: str) -> list[CaseEvent]:
        """Return the events of an item; generated examples run when their item does."""
        if name not in self.by_item and name in self.targets:
            self.by_item[name] = self._run_examples(name)
        return self.by_item[name]

    def failing(self, name: str) -> list[CaseEvent]:
        """Return the events that fail an item: failures at or above the level that are not known failures."""
        stream, today = self.stream, datetime.now(tz=UTC).date()
        if name in self.targets:
            stream = EventStream(stream.run, tuple(self.events(name)))
        known = baseline.apply(stream, self.known_failures, today).overlays
        return [
            event
            for event in self.events(name)
            if known.get(event.id) != "expected"
            and (
                event.verdict == "not-run"
                or ROWS[event.verdict].gate in ("suite", "adapter")
                or gates(event.verdict, event.level, hold=self.level, security=event.is_security)
            )
        ]

    def unsupported(self, name: str) -> str:
        """Return the reason why no case of an item was run; empty if one was."""
        events = self.events(name)
        if not events:
            return "no generated example fits the claims and avoids the known failures"
        return events[0].text if all(event.verdict == "unsupported" for event in events) else ""

    @cached_property
    def nothing_judged(self) -> str:
        """Return the reason why the run judged no case at all; empty if it judged any."""
        return "" if self.targets else why_nothing_judged(self.stream)

    def text(self, failing: list[CaseEvent]) -> str:
        """Return the text of a failure, as in the terminal output of `check`."""
        lookups = CaseLookup(self.suite)
        head = self._head(self.hello)
        if failing[0].id.partition("~")[0] in self.targets:
            stream = EventStream(head, tuple(failing))
            lines = [
                failure_lines(group, head, lookups.case, lookups.twin, source=lookups.source)
                for group in failure_groups_of(stream)
            ]
            return "\n\n".join("\n".join(one) for one in lines)
        group = FailureGroup(failing[0].signature(head.adapter), failing[0], tuple(failing[1:]))
        return "\n".join(failure_lines(group, head, lookups.case, lookups.twin, source=lookups.source))
