"""Render the tables of a scan or a campaign as the page of `check --html`.

A row of the matrix represents all items that have the same verdict from every implementation. Its bytes are
the smallest sample of the answer that needs the most attention.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from attrs import frozen

from wireproof.cases import token
from wireproof.cases.case import Case, Op
from wireproof.judge.verdicts import ROWS, VerdictName
from wireproof.report.html import Board, render_board
from wireproof.report.matrix import QUIET, Column, MatrixCell, MatrixRow, MatrixTopic, Page
from wireproof.report.overview import findings, tally
from wireproof.run.events import CaseEvent, EventStream, Run
from wireproof.spark.errors import SourceError
from wireproof.spark.item_cases import REFERENCE
from wireproof.spark.sample_case import case_of_row
from wireproof.spark.stored_tables import latest_table, stored_rows
from wireproof.wire.text import counted


@frozen
class JobTables:
    """The tables of a completed job.

    Attributes:
        folder: of the tables.
        tables: by name; `run` has one row.
    """

    folder: Path
    tables: Mapping[str, list[dict[str, Any]]]

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the arguments of the job."""
        return self.tables["run"][0]

    @property
    def is_scan(self) -> bool:
        """Return True for a scan, whose first implementation is the reference; False for a campaign."""
        return "source" in self.manifest

    @property
    def implementations(self) -> list[str]:
        """Return the implementations of an answer in the table `matrix`, in order."""
        return [*([REFERENCE] if self.is_scan else []), *self.manifest["adapters"]]

    @cached_property
    def smallest_samples(self) -> dict[str, dict[str, Any]]:
        """Return the smallest sample of each finding, which is its first row."""
        return {row["finding"]: row for row in reversed(self.tables["samples"])}

    @property
    def description(self) -> str:
        """Return the arguments of the job in one line."""
        job = self.manifest
        version = f"wireproof {job['version']}"
        if self.is_scan:
            options = ", ".join(job["options"])
            size = f"{counted(job['objects'], 'object')}, {counted(job['bytes'], 'byte')}"
            return "; ".join(filter(None, [f"{version}, {job['source']}", options, size]))
        return (
            f"{version}; {counted(job['cases'], 'case')} of seed {job['seed']}: {', '.join(job['formats'])}"
        )


def load_job(folder: Path) -> JobTables:
    """Load the tables in a folder; raises `SourceError` if one is missing."""
    names = ("matrix", "samples", "signatures", "run", "files")  # only a scan has `files`
    tables = {name: stored_rows(latest_table(folder, name)) for name in names}
    if not tables["run"]:
        raise SourceError(f"{folder}: no table `run`; give the --out folder of a completed scan or campaign")
    return JobTables(folder, tables)


def render_page(folder: Path) -> str:
    """Render the page; raises `SourceError` if a table is missing."""
    job = load_job(folder)
    lines = [_Line.of(job, number, row) for number, row in enumerate(job.tables["matrix"])]
    of_event = {event.seq: line for line in lines for event in line.events}
    columns = [_column(job, number, lines) for number in range(len(job.implementations))]

    def weight(event: CaseEvent) -> int:
        return of_event[event.seq].count

    streams = [
        EventStream(column.run, tuple(line.events[number] for line in lines if number < len(line.events)))
        for number, column in enumerate(columns)
    ]
    judged = slice(int(job.is_scan), None)  # what the reference says of a log is no verdict on a codec
    board = Board(
        columns,
        tuple(_topics(lines)),
        job.description,
        unit="items" if job.is_scan else "cases",
        sums=[tally(stream.cases, stream.run, weight=weight) for stream in streams],
        found=findings(streams[judged], [column.name for column in columns[judged]], weight=weight),
    )
    return render_board(board, Page(f"wireproof: {job.folder.name}", lambda event: of_event[event.seq].case))


# --- rows of the matrix ---


@frozen
class _Line:
    """A row of the matrix on the page.

    Attributes:
        topic: the format of the items.
        events: one for each answer.
        count: of items.
        case: the smallest sample of the answer that needs the most attention.
    """

    topic: str
    events: tuple[CaseEvent, ...]
    count: int
    case: Case | None

    @classmethod
    def of(cls, job: JobTables, number: int, row: dict[str, Any]) -> "_Line":
        answers = row["answers"]
        loudest = max(
            range(len(answers)), key=lambda n: (answers[n]["verdict"].partition(":")[0] not in QUIET, n)
        )
        sample = job.smallest_samples.get(answers[loudest]["finding"])
        case = case_of_row(sample, job.folder) if sample else None
        seq = number * len(job.implementations)
        shown = answers[0] if job.is_scan else answers[loudest]
        title = " ".join(filter(None, (shown["op"], shown["verdict"], shown["class"], shown["field"])))
        events = tuple(
            _event(job, seq + n, title, row, answer, case if n == loudest else None)
            for n, answer in enumerate(answers)
        )
        topic = answers[-1]["format"] if job.is_scan else answers[0]["format"]
        return cls(topic, events, row["count"], case)


def _event(
    job: JobTables, seq: int, title: str, row: dict[str, Any], answer: dict[str, Any], case: Case | None
) -> CaseEvent:
    """Return an answer as an event of the page; if its token is short, it replays the sample."""
    name, _, revision = answer["format"].partition("/")
    verdict, _, kind = answer["verdict"].partition(":")
    case_token = token.to_token(case) if case else ""
    place = f"{row['path']} at {row['position']:,}" if job.is_scan else f"case {row['position']:,}"
    promote = f"; wireproof promote '{job.folder}#{answer['finding']}'" if case else ""
    return CaseEvent(
        seq,
        f"{answer['format']}/{title}",
        name,
        revision,
        cast("Op", answer["op"]),
        "must",
        cast("VerdictName", verdict),  # or the reference's kind of an item: frame, garbage, tail
        kind,
        answer["class"],
        answer["field"],
        text=f"first: {place}{promote}",
        token="" if case_token.startswith("@") else case_token,
    )


def _topics(lines: Sequence[_Line]) -> Iterator[MatrixTopic]:
    """Yield the rows by format: rows that need attention first, then by count."""

    def row(line: _Line) -> MatrixRow:
        cells: list[MatrixCell | None] = [MatrixCell(event, line.count) for event in line.events]
        return MatrixRow((line.events[0].id,), (*cells, *[None] * (width - len(cells))), line.count)

    width = max((len(line.events) for line in lines), default=0)
    for name in sorted({line.topic for line in lines}):
        lines_of_topic = [line for line in lines if line.topic == name]
        lines_of_topic.sort(
            key=lambda line: (all(event.verdict in QUIET for event in line.events), -line.count)
        )
        yield MatrixTopic(name, tuple(map(row, lines_of_topic)))


def _column(job: JobTables, number: int, lines: Sequence[_Line]) -> Column:
    total: Counter[str] = Counter()
    for line in lines:
        if number < len(line.events):
            total[line.events[number].verdict] += line.count
    order = [*(name for name in total if name not in ROWS), *(name for name in ROWS if name in total)]
    spec = job.implementations[number]
    is_reference = job.is_scan and not number
    run = Run(job.manifest["version"], "", spec, "reference, of the log" if is_reference else spec)
    fault = "damaged" if is_reference else "wrong"
    return Column(run, {name: total[name] for name in order}, by_id=False, fault=fault)
