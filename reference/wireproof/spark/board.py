"""The tables of a scan or a campaign as the page that `check --html` writes, with charts above the matrix.

A row is a vector: items of which every implementation says the same; its bytes are those of the smallest
sample of what is loudest in it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import pyarrow.parquet as pq
from attrs import frozen

from wireproof.cases import token
from wireproof.cases.case import Case, Op
from wireproof.report.html import Board, Column, Page, drawn
from wireproof.report.matrix import QUIET, Cell, Row, Topic
from wireproof.spark import charts
from wireproof.spark.errors import SourceError
from wireproof.spark.judging import REFERENCE
from wireproof.spark.sampled import case_of
from wireproof.trial.events import CaseEvent, Run
from wireproof.trial.verdicts import ROWS, Name

Table = list[dict[str, Any]]

NAMES: Final = ("matrix", "positions", "samples", "signatures", "run")
ACCOUNT: Final = "files"
"""Of a scan alone."""


@frozen
class Kept:
    """The tables of a job that ended.

    Attributes:
        folder: where they lie.
        tables: by name; `run` has one row.
    """

    folder: Path
    tables: Mapping[str, Table]

    @property
    def manifest(self) -> dict[str, Any]:
        """What was asked."""
        return self.tables["run"][0]

    @property
    def scanned(self) -> bool:
        """Whether it is a scan, of which the reference is the first implementation; else a campaign."""
        return "source" in self.manifest

    @property
    def unit(self) -> str:
        """What is counted."""
        return "items" if self.scanned else "cases"

    @property
    def implementations(self) -> list[str]:
        """Whose answers a row of the matrix has, in its order."""
        return [*([REFERENCE] if self.scanned else []), *self.manifest["adapters"]]

    @cached_property
    def smallest(self) -> dict[str, dict[str, Any]]:
        """The smallest sample of each finding, which is its first row."""
        return {row["finding"]: row for row in reversed(self.tables["samples"])}

    @property
    def about(self) -> str:
        """What was asked, in a line."""
        one = self.manifest
        version = f"wireproof {one['version']}"
        if self.scanned:
            asked = ", ".join(one["options"])
            size = f"{one['objects']:,} objects, {one['bytes']:,} bytes, {one['spans']:,} spans"
            return "; ".join(filter(None, [f"{version}, {one['source']}", asked, size]))
        return f"{version}; {one['cases']:,} cases of seed {one['seed']}: {', '.join(one['formats'])}"


def kept(folder: Path) -> Kept:
    """The tables in a folder; raises `SourceError` where there are none."""
    found = {name: folder / f"{name}.parquet" for name in NAMES}
    missing = [file.name for file in found.values() if not file.exists()]
    if missing:
        raise SourceError(
            f"{folder}: {missing[0]} is missing: it is not the --out of a scan or a campaign that ended"
        )
    account = folder / f"{ACCOUNT}.parquet"
    found |= {ACCOUNT: account} if account.exists() else {}
    return Kept(folder, {name: pq.read_table(file).to_pylist() for name, file in found.items()})


def html(folder: Path) -> str:
    """The page; raises `SourceError` where there are no tables."""
    found = kept(folder)
    rows = [_Line.of(found, number, row) for number, row in enumerate(found.tables["matrix"])]
    cases = {event.seq: line.case for line in rows if line.case for event in line.events}
    columns = [_column(found, number, rows) for number in range(len(found.implementations))]
    topics = tuple(_topics(rows))
    drawings = charts.drawn(found.folder, found.unit, found.tables["positions"])
    board = Board(columns, topics, found.about, drawings, found.unit)
    return drawn(board, Page(f"wireproof: {found.folder.name}", lambda event: cases.get(event.seq)))


# --- rows ---


@frozen
class _Line:
    """A row of the table `matrix`, and what it is shown by.

    Attributes:
        seq: of the first of its events.
        topic: the format of what is asked.
        loudest: which of its answers is the most worth looking at.
        events: one for each answer.
        count: items.
        case: the smallest sample of the loudest answer.
    """

    seq: int
    topic: str
    loudest: int
    events: tuple[CaseEvent, ...]
    count: int
    case: Case | None

    @classmethod
    def of(cls, found: Kept, number: int, row: dict[str, Any]) -> "_Line":
        answers = row["answers"]
        loudest = max(range(len(answers)), key=lambda n: (_name(answers[n]) not in QUIET, n))
        sample = found.smallest.get(answers[loudest]["finding"])
        case = case_of(sample, found.folder) if sample else None
        seq = number * len(found.implementations)
        title = _title(answers[0] if found.scanned else answers[loudest])
        events = tuple(
            _event(found, seq + n, title, row, one, case if n == loudest else None)
            for n, one in enumerate(answers)
        )
        topic = answers[-1]["format"] if found.scanned else answers[0]["format"]
        return cls(seq, topic, loudest, events, row["count"], case)

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to look at."""
        return all(event.verdict in QUIET for event in self.events)


def _title(answer: dict[str, Any]) -> str:
    parts = (answer["op"], answer["kind"], answer["class"], answer["path"])
    return " ".join(part for part in parts if part)


def _name(answer: dict[str, Any]) -> str:
    return str(answer["kind"]).partition(":")[0]


def _event(
    found: Kept, seq: int, title: str, row: dict[str, Any], answer: dict[str, Any], case: Case | None
) -> CaseEvent:
    """An answer as the event that the page shows; its token, if it is short, replays the sample."""
    name, _, revision = answer["format"].partition("/")
    verdict, _, kind = answer["kind"].partition(":")
    word = token.dump(case) if case else ""
    place = f"{row['object']} at {row['position']:,}" if found.scanned else f"case {row['position']:,}"
    promote = f"; wireproof promote '{found.folder}#{answer['finding']}'" if case else ""
    return CaseEvent(
        seq,
        f"{answer['format']}/{title}",
        name,
        revision,
        cast("Op", answer["op"]),
        "must",
        cast("Name", verdict),  # or what the reference says of an item: frame, garbage, tail
        kind,
        answer["class"],
        answer["path"],
        text=f"first: {place}{promote}",
        token="" if word.startswith("@") else word,
    )


def _topics(lines: Sequence[_Line]) -> Iterator[Topic]:
    """The rows by format, what is worth looking at first, then what there is most of."""
    width = max((len(line.events) for line in lines), default=0)
    for name in sorted({line.topic for line in lines}):
        some = [line for line in lines if line.topic == name]
        some.sort(key=lambda line: (line.quiet, -line.count, line.seq))
        yield Topic(name, tuple(_row(line, width) for line in some))


def _row(line: _Line, width: int) -> Row:
    cells: list[Cell | None] = [Cell(event, line.count) for event in line.events]
    cells += [None] * (width - len(cells))
    return Row((line.events[0].id,), tuple(cells), line.count)


def _column(found: Kept, number: int, lines: Sequence[_Line]) -> Column:
    total: Counter[str] = Counter()
    for line in lines:
        if number < len(line.events):
            total[line.events[number].verdict] += line.count
    order = [*(name for name in total if name not in ROWS), *(name for name in ROWS if name in total)]
    spec = found.implementations[number]
    own = found.scanned and not number
    run = Run(found.manifest["version"], "", spec, "reference, of the log" if own else spec)
    return Column(run, {name: total[name] for name in order}, by_id=False)
