"""What the page shows above its matrix: sums by topic as heat maps, the most serious findings, versions."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from attrs import astuple, evolve, frozen

from wireproof.cases.case import Case
from wireproof.judge.verdicts import ROWS
from wireproof.report.failure_groups import FailureGroup, Kind, failure_groups_of, severity
from wireproof.report.matrix import SECURITY, Column, MatrixTopic, row_name, verdict_class
from wireproof.report.uses import NOT_JUDGED, RUNS_AWAY, Implementation, by_concern
from wireproof.run.events import CaseEvent, EventStream, Run, fails_run

# --- sums ---

Standing = Literal["right", "wrong", "below", "open"]
"""What an answer counts as: `below` is a fault below the level of the run, `open` says nothing."""


@frozen
class Tally:
    """The answers of an implementation, by what they count as.

    Attributes:
        known: how many of `wrong` a baseline expects.
    """

    right: int = 0
    wrong: int = 0
    below: int = 0
    open: int = 0
    known: int = 0

    @property
    def judged(self) -> int:
        return self.right + self.wrong + self.below


def standing(event: CaseEvent, run: Run) -> Standing:
    if event.verdict in NOT_JUDGED:
        return "open"
    if verdict_class(event.verdict) != "bad":
        return "right"
    # What is no verdict of the judge is the reference's name of damage in a log.
    return "wrong" if event.verdict not in ROWS or fails_run(event, run) else "below"


def tally(
    events: Iterable[CaseEvent],
    run: Run,
    known: Collection[str] = (),
    weight: Callable[[CaseEvent], int] = lambda _: 1,
) -> Tally:
    """Return the sums of the events of a run; `weight` returns how many cases an event stands for."""
    count: Counter[str] = Counter()
    for event in events:
        count.update(_counted(event, run, weight(event), known=event.id in known))
    return Tally(**count)


def tallies(topics: Sequence[MatrixTopic], columns: Sequence[Column]) -> Mapping[str, Sequence[Tally]]:
    """Return for each topic the sums of each column; a derived family is one answer."""
    sums: dict[str, Sequence[Tally]] = {}
    for topic in topics:
        if topic.name == SECURITY:
            continue
        counts: list[Counter[str]] = [Counter() for _ in columns]
        for row in topic.rows:
            for cells in (row.cells, *row.others):
                for column, count, cell in zip(columns, counts, cells, strict=True):
                    if cell is not None:
                        count.update(_counted(cell.event, column.run, row.count or 1, known=cell.known))
        sums[topic.name] = [Tally(**count) for count in counts]
    return sums


def _counted(event: CaseEvent, run: Run, weight: int, *, known: bool) -> Mapping[str, int]:
    kind = standing(event, run)
    return {kind: weight, "known": weight if known and kind == "wrong" else 0}


def total(parts: Sequence[Tally]) -> Tally:
    return Tally(*map(sum, zip(*map(astuple, parts), strict=True)))


# --- heat maps ---


@frozen
class GridCell:
    """A cell of a heat map: a number or a sign, its classes in the style sheet, and words."""

    text: str
    style: str
    title: str = ""


@frozen
class Grid:
    """A heat map: a name and a cell for each column in each row.

    Attributes:
        rows: name, a note beside it, and the cells.
        filters: for each row the words that find it in the matrix; empty if the matrix has no such rows.
        quiet: names of the rows in which nothing is wrong.
        untouched: names of the rows that nobody was judged in.
    """

    title: str
    corner: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[GridCell]]]
    filters: Sequence[str] = ()
    quiet: Sequence[str] = ()
    untouched: Sequence[str] = ()


def topic_grids(found: Mapping[str, Sequence[Tally]], heads: Sequence[str]) -> Iterator[Grid]:
    """Yield a heat map of topics × implementations for each format: the worst topics first."""
    formats: dict[str, dict[str, Sequence[Tally]]] = {}
    for name, parts in found.items():
        words = name.split("/")  # format, revision and topic; a topic of a scan is a format
        format_id, topic = ("/".join(words[:2]), words[2]) if len(words) > 2 else (name, name)
        formats.setdefault(format_id, {})[topic] = parts
    for format_id, topics in formats.items():
        loud = {name: parts for name, parts in topics.items() if any(one.wrong or one.below for one in parts)}
        sums = {name: total(parts) for name, parts in loud.items()}
        order = sorted(loud, key=lambda name: (-sums[name].wrong, -sums[name].below))
        seen = {name for name, parts in topics.items() if any(one.judged for one in parts)}
        yield Grid(
            format_id,
            "topic",
            heads,
            [(name, "", [_heat(one) for one in loud[name]]) for name in order],
            [f"{format_id}/{name}" if name != format_id else name for name in order],
            [name for name in topics if name in seen and name not in loud],
            [name for name in topics if name not in seen],
        )


def _heat(one: Tally) -> GridCell:
    if not one.judged:
        return GridCell("·", "dim", "not judged")
    words = f"{one.wrong:,} of {one.judged:,} wrong"
    if one.below:
        words += f", {one.below:,} below the level of the run"
    if one.known:
        words += f", {one.known:,} of them known"
    if one.wrong:
        # The shares of wrong answers at which the next darker shade begins.
        shade = 1 + sum(one.wrong / one.judged > share for share in (0.05, 0.15, 0.35, 0.6))
        return GridCell(f"{one.wrong:,}", f"h{shade}" + " known" * (one.known == one.wrong), words)
    return GridCell(f"{one.below:,}", "below", words) if one.below else GridCell("✓", "pass", words)


# --- findings ---


@frozen
class Place:
    """Who has a finding; known failures have no number, which the others have as in the terminal."""

    name: str
    numbers: tuple[int, ...]
    count: int


@frozen
class Finding:
    """A kind of failure, of one or more implementations; `known` if a baseline expects it."""

    event: CaseEvent
    row: str
    places: tuple[Place, ...]
    known: bool = False

    @property
    def word(self) -> str:
        """Return what is wrong in a word or two, such as `hangs` or `wrong value`."""
        event = self.event
        kind = event.kind if event.verdict == "fail" else event.verdict
        return RUNS_AWAY.get(event.verdict, kind.replace("-", " "))


def findings(
    streams: Sequence[EventStream],
    names: Sequence[str],
    known: Sequence[Collection[str]] = (),
    weight: Callable[[CaseEvent], int] = lambda _: 1,
    numbers: Mapping[tuple[str, Kind], int] | None = None,
) -> Sequence[Finding]:
    """Return the kinds of failure of runs: new ones before known ones, the most severe first.

    Kinds with the same title that end in the same way are one, whatever implementation or revision has them.
    `known` has for each run the ids of the failures that its baseline expects; `weight` returns for how many
    cases an event stands; `numbers` has those that findings have already.
    """
    given = numbers or {}
    found: dict[tuple[object, ...], list[tuple[FailureGroup, Place]]] = {}
    number = 0
    for stream, name, ids in zip(streams, names, known or [()] * len(streams), strict=True):
        for expected in (False, True):
            events = tuple(event for event in stream.cases if (event.id in ids) == expected)
            for group in failure_groups_of(evolve(stream, cases=events)):
                number += not expected
                count = sum(map(weight, (group.first, *group.others)))
                first = group.first
                key = (first.title or first.id, first.label, first.cls, first.signature_path, expected)
                own = given.get((stream.run.spec, group.kind), number)
                place = Place(name, () if expected else (own,), count)
                found.setdefault(key, []).append((group, place))
    made = [_finding(parts, known=bool(key[-1])) for key, parts in found.items()]
    return [finding for _, finding in sorted(made, key=lambda one: (one[1].known, one[0]))]


def _finding(
    parts: Sequence[tuple[FailureGroup, Place]], *, known: bool
) -> tuple[tuple[int, int, bool, int], Finding]:
    places: dict[str, Place] = {}
    for _, place in parts:
        other = places.get(place.name, Place(place.name, (), 0))
        numbers = (*other.numbers, *place.numbers)
        places[place.name] = Place(place.name, numbers, other.count + place.count)
    group = min((group for group, _ in parts), key=severity)
    return severity(group), Finding(group.first, row_name(group.first), tuple(places.values()), known)


# --- versions ---


@frozen
class VersionLine:
    """The wrong answers of each version of an implementation, the oldest first, by kind of data."""

    name: str
    versions: Sequence[str]
    valid: Sequence[int]
    damaged: Sequence[int]

    def points(self, values: Sequence[int]) -> Sequence[tuple[float, float]]:
        """Return the points of a line in a box of 100 × 40, in which the largest number is at the top."""
        top = max(*self.valid, *self.damaged, 1)
        step = 100 / (len(values) - 1)
        return [(round(n * step, 1), round(40 - 40 * value / top, 1)) for n, value in enumerate(values)]


def version_lines(some: Sequence[Implementation], cases: Mapping[str, Case]) -> Iterator[VersionLine]:
    for one in some:
        if len(one.versions) > 1:
            concerns = [by_concern(version.wrong, cases) for version in one.versions]
            damaged = [len(found.get("damaged", ())) for found in concerns]
            valid = [len(version.wrong) - n for version, n in zip(one.versions, damaged, strict=True)]
            yield VersionLine(one.name, [version.version for version in one.versions], valid, damaged)
