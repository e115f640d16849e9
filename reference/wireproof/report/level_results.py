"""The requirement sets that each version of an implementation meets, judged from the streams of its runs.

A set counts as met only if every `must` case of it was judged and none is wrong: a known failure is a failure
here, and a case that an implementation does not claim stays open. See releases.md#requirement-sets.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

from attrs import frozen

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry import resolve
from wireproof.adapters.registry_entry import Entry
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
from wireproof.report.diff import runs_by_name, unversioned
from wireproof.report.html import render_template, template_file
from wireproof.runner.events import CaseEvent, EventStream, joined
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

LANGUAGES: Final[Mapping[str, str]] = {
    "c": "C",
    "csharp": "C#",
    "go": "Go",
    "java": "Java",
    "node": "JavaScript",
    "python": "Python",
    "rust": "Rust",
}
"""Languages of adapters, as people write them."""

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
        use_text: the same in a few words.
        own: the ids of its cases beside those of the sets that it includes.
    """

    required: RequiredCases
    family: str
    use: str
    column: str
    text: str
    use_text: str = ""
    own: frozenset[str] = frozenset()

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
        own: the number of judged cases beside those of the sets that it includes.
    """

    level: Level
    right: int
    wrong: tuple[CaseEvent, ...]
    own: int

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
        `fails`; `unknown` if too few cases are judged, of all or of those beside the sets that it includes.
        """
        own_wrong = any(event.id in self.level.own for event in self.wrong)
        if not own_wrong and self.own < LEAST_JUDGED * len(self.level.own & self.level.must):
            return "unknown"
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
    def judged(self) -> int:
        """Return the number of golden `must` cases that were judged."""
        return sum(
            event.level == "must" and event.verdict not in NOT_JUDGED and "~" not in event.id
            for event in self.stream.cases
        )


Kind = Literal["clients", "codecs", "servers"]

KINDS: Final[Mapping[Kind, str]] = {
    "clients": "Whole clients, judged as an application uses them: by their public interface, against a "
    "broker of the suite.",
    "codecs": "The code that reads and writes the bytes, called directly: more shows than through a client, "
    "and the client around it may guard against some of it.",
    "servers": "Running servers, judged by what they store, return and refuse.",
}
"""What is judged, in the order of the page."""


@frozen
class Implementation:
    """The versions of one implementation.

    Attributes:
        versions: the oldest first.
        kind: whether it is judged as a client, as a codec or as a server.
        language: of its adapter; empty if it is not known.
    """

    name: str
    versions: tuple[VersionResult, ...]
    kind: Kind = "codecs"
    language: str = ""

    @property
    def newest(self) -> VersionResult:
        """Return the result of the newest version."""
        return self.versions[-1]


@frozen
class Section:
    """Implementations of one kind that are judged by the same sets, as one table.

    Attributes:
        family: such as `kafka`.
        kind: of all its implementations.
        uses: such as `consumer` and `producer`.
        levels: the columns.
        rows: the best implementation first.
    """

    family: str
    kind: Kind
    uses: tuple[str, ...]
    levels: tuple[Level, ...]
    rows: tuple[Implementation, ...]

    @property
    def id(self) -> str:
        """Return its place in the page, such as `kafka-clients`."""
        return f"{self.family}-{self.kind}"

    @property
    def title(self) -> str:
        """Return its heading, such as `Kafka clients`."""
        return f"{self.family.capitalize()} {self.kind}"

    @property
    def about(self) -> str:
        """Return what is judged."""
        return KINDS[self.kind]

    @property
    def choices(self) -> Sequence["Choice"]:
        """Return, for each set, who can be chosen for it."""
        return [self._choice(level) for level in self.levels]

    def _choice(self, level: Level) -> "Choice":
        found = [(row.name, row.newest.levels.get(level.required.id)) for row in self.rows]
        states: dict[State, list[tuple[str, LevelResult]]] = {}
        for name, result in found:
            if result is not None:
                states.setdefault(result.state, []).append((name, result))
        wrong = [
            (name, len(one.wrong) - one.concerns.get("damaged", 0)) for name, one in states.get("fails", ())
        ]
        return Choice(
            level,
            tuple(name for state in ("met", "open") for name, _ in states.get(state, ())),
            tuple(name for name, _ in states.get("damaged", ())),
            tuple(sorted(wrong, key=lambda row: row[1])),
        )


@frozen
class Choice:
    """What somebody who must choose an implementation for a use looks for.

    Attributes:
        nothing_wrong: names of those without a wrong answer.
        valid_right: names of those that are wrong on damaged data only.
        wrong: names of the others, with the number of valid data that they get wrong; the fewest first.
    """

    level: Level
    nothing_wrong: tuple[str, ...]
    valid_right: tuple[str, ...]
    wrong: tuple[tuple[str, int], ...] = ()


def levels_of(suite: Suite) -> Sequence[Level]:
    """Return the sets of the newest date in the fixtures of a suite."""
    pages = requirement_files(suite.roots)
    if not pages:
        return ()
    page = read_requirements(pages[max(pages)])
    return [_level(suite, required_cases(suite, f"{page.date}:{one.name}"), one) for one in page.sets]


def _level(suite: Suite, required: RequiredCases, one: RequirementSet) -> Level:
    words = one.title.split()[1:]
    use = " ".join(word for word in words if not word[0].isdecimal())
    return Level(
        required,
        FORMATS[one.define[0].formats[0]].family,
        use,
        " ".join(words),
        one.text,
        one.use or " ".join(words),
        frozenset(case.id for case in map(suite.get, one.cases) if case is not None),
    )


def implementations(levels: Sequence[Level], streams: Iterable[EventStream]) -> Sequence[Implementation]:
    """Return every implementation of the streams, sorted by name; the last run of a version counts."""
    whole = joined(streams)
    return [_implementation(levels, name, runs) for name, runs in runs_by_name(whole).items()]


def _implementation(levels: Sequence[Level], name: str, runs: Mapping[str, EventStream]) -> Implementation:
    versions = tuple(_version_result(levels, version, stream) for version, stream in runs.items())
    try:
        entry = resolve(unversioned(versions[-1].stream.run.spec))
    except AdapterError:  # the run is of another machine, which had another adapter
        entry = Entry(name)
    kind: Kind = "clients" if entry.client else "servers" if entry.relay else "codecs"
    return Implementation(name, versions, kind, LANGUAGES.get(entry.language, entry.language))


def _version_result(levels: Sequence[Level], version: str, stream: EventStream) -> VersionResult:
    answers = {event.id: event for event in stream.cases}
    results = (_level_result(level, answers) for level in levels)
    return VersionResult(version, stream, {one.level.required.id: one for one in results if one.judged})


def _level_result(level: Level, answers: Mapping[str, CaseEvent]) -> LevelResult:
    events = [answers[name] for name in sorted(level.must) if name in answers]
    judged = [event for event in events if event.verdict not in NOT_JUDGED]
    wrong = tuple(event for event in judged if event.verdict not in PASSING)
    own = sum(event.id in level.own for event in judged)
    return LevelResult(level, len(judged) - len(wrong), wrong, own)


def concern_of(event: CaseEvent, case: Case | None) -> Concern:
    """Return what a wrong answer to a case means for a user; None for a case that the suite does not have."""
    if event.verdict in RUNAWAY:
        return "runaway"
    return "damaged" if case is not None and is_refused(case) else "valid"


def _is_wrong(event: CaseEvent) -> bool:
    return event.verdict not in PASSING and event.verdict not in NOT_JUDGED and "~" not in event.id


def sections(levels: Sequence[Level], some: Sequence[Implementation]) -> Iterator[Section]:
    """Yield a table for each family and kind of implementations; its columns are the sets of their uses."""
    for family in dict.fromkeys(level.family for level in levels):
        for kind in KINDS:
            rows = [one for one in some if one.kind == kind and _uses(one, family)]
            if rows:
                uses = {use for one in rows for use in _uses(one, family)}
                columns = tuple(level for level in levels if level.family == family and level.use in uses)
                kept = tuple(dict.fromkeys(level.use for level in columns))
                best_first = sorted(rows, key=lambda one: _rank(one, columns))
                yield Section(family, kind, kept, columns, tuple(best_first))


def _uses(one: Implementation, family: str) -> tuple[str, ...]:
    """Return the uses of a family about which the newest version's runs say something."""
    known = (
        result.level.use
        for result in one.newest.levels.values()
        if result.level.family == family and result.state != "unknown"
    )
    return tuple(dict.fromkeys(known))


def _rank(one: Implementation, columns: Sequence[Level]) -> tuple[object, ...]:
    """Return the sort key of a row: the share of valid data that is wrong, of damaged data, and the name.

    A set that it does not claim counts for nothing: who only reads is not worse for that.
    """
    found = [one.newest.levels.get(level.required.id) for level in columns]
    known = [result for result in found if result is not None and result.state != "unknown"]
    judged = max(sum(result.judged for result in known), 1)
    damaged = sum(result.concerns.get("damaged", 0) for result in known)
    return (sum(len(result.wrong) for result in known) - damaged) / judged, damaged / judged, one.name


# --- results page ---
#
# The page that says which implementation is safe for which use: boxes and pills by requirement set.


WITHOUT_RULE: Final = "other cases"


@frozen
class Results:
    """What the page shows.

    Attributes:
        suite: the cases.
        levels: the requirement sets of the newest date.
        implementations: by name.
    """

    suite: Suite
    levels: Sequence[Level]
    implementations: Sequence[Implementation]

    def by_concern(self, version: VersionResult) -> Mapping[str, Sequence[CaseEvent]]:
        """Return the wrong answers of a version by what they mean, the worst first."""
        found: dict[str, list[CaseEvent]] = {name: [] for name in CONCERNS}
        for event in version.wrong:
            found[concern_of(event, self.suite.get(event.id))].append(event)
        return {name: events for name, events in found.items() if events}


def results_of(suite: Suite, streams: Sequence[EventStream]) -> Results:
    """Return the results of the streams of runs."""
    levels = levels_of(suite)
    return Results(suite, levels, implementations(levels, streams))


def results_page(results: Results) -> str:
    """Render the page, which is one HTML file that needs nothing else."""
    tables = list(sections(results.levels, results.implementations))
    listed = {row.name for table in tables for row in table.rows}
    runs = [version.stream.run for one in results.implementations for version in one.versions]
    return render_template(
        "results.html",
        style=template_file("results.css"),
        script=template_file("results.js"),
        sections=tables,
        others=[one for one in results.implementations if one.name not in listed],
        levels=results.levels,
        count=len(results.implementations),
        runs=len(runs),
        dates=sorted(run.started[:10] for run in runs if run.started),
        rules=results.suite.rules,
        concerns=CONCERNS,
        by_concern=results.by_concern,
        by_rule=by_rule,
    )


def by_rule(events: Sequence[CaseEvent]) -> Sequence[tuple[str, Sequence[CaseEvent]]]:
    """Return events by the first rule of their cases, the rule with most of them first."""
    found: dict[str, list[CaseEvent]] = {}
    for event in sorted(events, key=lambda one: not one.is_security):
        found.setdefault(next(iter(event.deciding_rules), WITHOUT_RULE), []).append(event)
    return sorted(found.items(), key=lambda row: (not row[1][0].is_security, -len(row[1]), row[0]))
