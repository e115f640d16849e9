"""The requirement sets that each version of an implementation meets, judged from the streams of its runs.

A set counts as met only if every `must` case of it was judged and none is wrong: a known failure is a failure
here, and a case that an implementation does not claim stays open. See releases.md#requirement-sets.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

from attrs import field, frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.requirements import (
    RequiredCases,
    RequirementSet,
    read_requirements,
    required_cases,
    requirement_files,
)
from wireproof.cases.steps import is_refused
from wireproof.formats import FORMATS
from wireproof.report.history import FirstFailure, histories, version_key
from wireproof.runner.event_files import EventStream, joined
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import PASSING, TABLE

State = Literal["met", "open", "damaged", "fails", "unknown"]
Concern = Literal["runaway", "valid", "damaged"]

LEAST_JUDGED: Final = 0.5
"""The share of a set's `must` cases below which a run without a failure says nothing about the set."""

CONCERNS: Final[Mapping[Concern, str]] = {
    "runaway": "crashes, hangs or exhausts memory",
    "valid": "gets valid data wrong",
    "damaged": "mishandles damaged data",
}
"""What a wrong answer means for a user, the worst first."""

RUNAWAY: Final = frozenset(row.name for row in TABLE if row.gate == "runaway")
NOT_JUDGED: Final = frozenset({"unsupported", "not-run"})


@frozen
class Level:
    """A requirement set as a column.

    Attributes:
        family: of its formats, such as `kafka`.
        use: the words of its title between the family and the number: `consumer`.
        column: those words and the number: `consumer 2`.
        text: what an implementation that meets it can do.
    """

    required: RequiredCases
    family: str
    use: str
    column: str
    text: str

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        """Return its cases by their ids."""
        return {case.id: case for case in self.required.cases}

    @cached_property
    def must(self) -> frozenset[str]:
        """Return the ids of its `must` cases."""
        return frozenset(case.id for case in self.required.cases if case.level == "must")


@frozen
class LevelResult:
    """A version of an implementation against a requirement set.

    Attributes:
        right: the number of `must` cases with an acceptable answer.
        wrong: the events of those with another one.
    """

    level: Level
    right: int
    wrong: tuple[CaseEvent, ...]

    @property
    def judged(self) -> int:
        """Return the number of its `must` cases that were judged."""
        return self.right + len(self.wrong)

    @property
    def security(self) -> int:
        """Return how many of the wrong answers can be exploited."""
        return sum(event.is_security for event in self.wrong)

    @cached_property
    def concerns(self) -> Mapping[Concern, int]:
        """Return the numbers of wrong answers by what they mean, the worst first."""
        found = Counter(concern_of(event, self.level.by_id[event.id]) for event in self.wrong)
        return {name: found[name] for name in CONCERNS if found[name]}

    @property
    def state(self) -> State:
        """Return the state of the cell.

        `met`; `open` if cases are not judged; `damaged` if valid data is right and damaged data is not;
        `fails`; `unknown` if too few cases are judged.
        """
        if self.wrong:
            return "damaged" if list(self.concerns) == ["damaged"] else "fails"
        if self.judged == len(self.level.must):
            return "met"
        return "open" if self.judged >= LEAST_JUDGED * len(self.level.must) else "unknown"


@frozen
class VersionResult:
    """The last run of one version.

    Attributes:
        levels: by the id of the set; only those of which at least one case was judged.
    """

    version: str
    stream: EventStream
    levels: Mapping[str, LevelResult]

    @property
    def wrong(self) -> Sequence[CaseEvent]:
        """Return every wrong answer to a golden `must` case."""
        return [event for event in self.stream.cases if _is_wrong(event) and event.level == "must"]

    @property
    def wrong_should(self) -> Sequence[CaseEvent]:
        """Return every wrong answer to a golden `should` case."""
        return [event for event in self.stream.cases if _is_wrong(event) and event.level == "should"]

    @property
    def judged(self) -> int:
        """Return the number of golden `must` cases that were judged."""
        return sum(
            event.level == "must" and event.verdict not in NOT_JUDGED and "~" not in event.id
            for event in self.stream.cases
        )

    @property
    def share(self) -> float:
        """Return the share of right answers among the judged `must` cases, 0 to 1."""
        return 1 - len(self.wrong) / self.judged if self.judged else 0.0

    @property
    def left_out(self) -> Mapping[str, int]:
        """Return the reasons why cases were not judged, with their numbers, the most frequent first."""
        found = Counter(
            event.text or event.label for event in self.stream.cases if event.verdict in NOT_JUDGED
        )
        return dict(found.most_common())


@frozen
class Implementation:
    """The versions of one implementation.

    Attributes:
        versions: the oldest first.
        turns: each case that began to fail, with the version that fixed it.
    """

    name: str
    versions: tuple[VersionResult, ...]
    turns: Mapping[str, FirstFailure] = field(factory=dict)

    @property
    def newest(self) -> VersionResult:
        """Return the result of the newest version."""
        return self.versions[-1]


@frozen
class Section:
    """Implementations that are judged by the same sets, as one table.

    Attributes:
        family: such as `kafka`.
        uses: such as `consumer` and `producer`.
        levels: the columns.
        rows: the best implementation first.
    """

    family: str
    uses: tuple[str, ...]
    levels: tuple[Level, ...]
    rows: tuple[Implementation, ...]

    @property
    def choices(self) -> Sequence["Choice"]:
        """Return, for the last set of each use, who has nothing wrong and who has all valid data right."""
        last = {level.use: level for level in self.levels}
        return [self._choice(level) for level in last.values()]

    def _choice(self, level: Level) -> "Choice":
        states: dict[State, list[str]] = {}
        for row in self.rows:
            result = row.newest.levels.get(level.required.id)
            if result is not None:
                states.setdefault(result.state, []).append(row.name)
        return Choice(level, (*states.get("met", ()), *states.get("open", ())), (*states.get("damaged", ()),))


@frozen
class Choice:
    """What somebody who must choose an implementation for a use looks for.

    Attributes:
        nothing_wrong: names of those without a wrong answer.
        valid_right: names of those that are wrong on damaged data only.
    """

    level: Level
    nothing_wrong: tuple[str, ...]
    valid_right: tuple[str, ...]


def levels_of(suite: Suite) -> Sequence[Level]:
    """Return the sets of the newest date in the fixtures of a suite."""
    pages = requirement_files(suite.roots)
    if not pages:
        return ()
    page = read_requirements(pages[max(pages)])
    return [_level(required_cases(suite, f"{page.date}:{one.name}"), one) for one in page.sets]


def _level(required: RequiredCases, one: RequirementSet) -> Level:
    words = one.title.split()[1:]
    use = " ".join(word for word in words if not word[0].isdecimal())
    return Level(required, FORMATS[one.define[0].formats[0]].family, use, " ".join(words), one.text)


def implementations(levels: Sequence[Level], streams: Iterable[EventStream]) -> Sequence[Implementation]:
    """Return every implementation of the streams, sorted by name; the last run of a version counts."""
    whole = joined(streams)
    turns = {one.adapter: one.turns for one in histories(whole)}
    found: dict[str, dict[str, EventStream]] = {}
    for stream in sorted(whole, key=lambda one: one.run.started):
        found.setdefault(stream.run.adapter, {})[stream.run.version] = stream
    return [
        Implementation(
            name,
            tuple(_version_result(levels, runs[version]) for version in sorted(runs, key=version_key)),
            {turn.id: turn for turn in turns[name] if "~" not in turn.id},
        )
        for name, runs in sorted(found.items())
    ]


def _version_result(levels: Sequence[Level], stream: EventStream) -> VersionResult:
    answers = {event.id: event for event in stream.cases}
    results = (_level_result(level, answers) for level in levels)
    return VersionResult(
        stream.run.version, stream, {one.level.required.id: one for one in results if one.judged}
    )


def _level_result(level: Level, answers: Mapping[str, CaseEvent]) -> LevelResult:
    events = [answers[name] for name in sorted(level.must) if name in answers]
    judged = [event for event in events if event.verdict not in NOT_JUDGED]
    wrong = tuple(event for event in judged if event.verdict not in PASSING)
    return LevelResult(level, len(judged) - len(wrong), wrong)


def concern_of(event: CaseEvent, case: Case | None) -> Concern:
    """Return what a wrong answer to a case means for a user; None for a case that the suite does not have."""
    if event.verdict in RUNAWAY:
        return "runaway"
    return "damaged" if case is not None and is_refused(case) else "valid"


def _is_wrong(event: CaseEvent) -> bool:
    return event.verdict not in PASSING and event.verdict not in NOT_JUDGED and "~" not in event.id


def sections(levels: Sequence[Level], some: Sequence[Implementation]) -> Iterator[Section]:
    """Yield a table for each group of implementations that are judged by the same uses of a family."""
    tables: dict[tuple[str, tuple[str, ...]], list[Implementation]] = {}
    for family in dict.fromkeys(level.family for level in levels):
        for one in some:
            uses = _uses(one, family)
            if uses:
                tables.setdefault((family, uses), []).append(one)
    for (family, uses), rows in sorted(tables.items(), key=lambda row: _order(row[0], levels)):
        columns = tuple(level for level in levels if level.family == family and level.use in uses)
        yield Section(family, uses, columns, tuple(sorted(rows, key=lambda one: _rank(one, columns))))


def _uses(one: Implementation, family: str) -> tuple[str, ...]:
    """Return the uses of a family about which the newest version's runs say something."""
    known = (
        result.level.use
        for result in one.newest.levels.values()
        if result.level.family == family and result.state != "unknown"
    )
    return tuple(dict.fromkeys(known))


def _order(key: tuple[str, tuple[str, ...]], levels: Sequence[Level]) -> tuple[int, int]:
    family, uses = key
    return [level.family for level in levels].index(family), -len(uses)


_STATES: Final[Mapping[State, int]] = {"met": 0, "open": 1, "damaged": 2, "fails": 3, "unknown": 4}


def _rank(one: Implementation, columns: Sequence[Level]) -> tuple[object, ...]:
    """Return the sort key of a row: by the states of the columns, then by wrong answers, then by name."""
    found = [one.newest.levels.get(level.required.id) for level in columns]
    states = sum(4 if result is None else _STATES[result.state] for result in found)
    wrong = max((len(result.wrong) for result in found if result is not None), default=0)
    return states, wrong, one.name
