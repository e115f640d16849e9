"""The view of a run in a terminal: a block for each kind of failure, and a table; passes are not listed.

Text from adapters is never interpreted as markup, and control characters in it are escaped.
"""

import os
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import define, field, frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.console import Group as Renderables
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from wireproof.formats import FORMATS
from wireproof.judge.verdicts import FLAKY, PASSING
from wireproof.report.failure_groups import (
    SEVEREST,
    BasisLookup,
    FailureGroup,
    Kind,
    Lookup,
    cause_of,
    count_verdicts,
    failure_groups_of,
    failure_lines,
    known_security_failures,
    no_basis,
    no_lookup,
    replay_command,
    sets_exit_code,
)
from wireproof.run.baselines.baseline import NO_BASELINE, AppliedBaseline, Overlay, baseline_lines
from wireproof.run.conclusion import conclusion_sentence, examples_line, large_line
from wireproof.run.events import CaseEvent, EventStream, Run
from wireproof.wire.text import counted, escape_unsafe

MAX_FINDINGS: Final = 20
"""Number of findings of a run that are shown if the output is no terminal; `--all` shows every one."""

MAX_KINDS: Final = 8
"""Number of kinds of failure that the answer of a run lists; `report last` has every one."""

CAUSES: Final[Mapping[str, str]] = {
    "fail:wrong-reject": "It refuses everything: check that it reads this format and revision.",
    "fail:wrong-accept": "It accepts everything: check that its answers depend on the bytes.",
    "fail:wrong-value": "Every value differs: compare one with the value of `wireproof show`.",
    "fail:undeclared-skip": "It skips everything that it claims: check the revisions in its hello.",
    "crash": "Its process dies at the first request: run its command by hand and read its output.",
    "timeout": "It answers nothing in time: check that it flushes its output after each answer.",
    "adapter-error": "It breaks the adapter contract: compare an answer with `wireproof serve reference`.",
    "unsupported": "It supports none of the requests: check the revisions in its hello.",
}


@frozen
class RunView:
    """Settings of the view of a run.

    Attributes:
        lookup, twins, basis: return the case of an event, its twin, and what its expectation rests on.
        origin: returns why the baseline does not have a failure, in words.
        every: show every finding; else those that fit the screen, or `MAX_FINDINGS` without a screen.
        share: the number of runs that share the screen.
        first: the number of the first finding, for `replay '#N'`.
        numbers: the numbers that findings have already.
    """

    lookup: Lookup = no_lookup
    twins: Lookup = no_lookup
    basis: BasisLookup = no_basis
    applied: AppliedBaseline = NO_BASELINE
    origin: Callable[[CaseEvent, Run], str] = lambda _event, _run: ""
    every: bool = False
    share: int = 1
    first: int = 1
    numbers: Mapping[tuple[str, Kind], int] = field(factory=dict)


def output_console() -> Console:
    """Return the console of standard output; if it is no terminal, lines have any length."""
    found = Console()
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = WIDEST
    found.width = max(found.width, 20)  # COLUMNS may be 0
    return found


def print_run(
    stream: EventStream, console: Console, view: RunView | None = None
) -> tuple[Sequence[FailureGroup], int]:
    """Print a run; return its findings, the most severe first, and the number that was printed."""
    view = view or RunView()
    found = failure_groups_of(stream, view.applied.overlays)
    for event in known_security_failures(stream, view.applied.overlays):
        head = f"security, in the baseline: {event.id} {event.label}"
        console.print(plain_text(head, "bold red"), soft_wrap=True)
        console.print(plain_text(f"  replay  {replay_command(event, stream.run)}"), soft_wrap=True)
    paragraph = total_failure(stream)
    if paragraph:
        print_line(console, paragraph, "bold red")
    table = VerdictTable(stream)
    lines = [
        *provisional_lines(stream),
        *note_lines(stream, view.applied),
        *filter(None, [large_line(stream.run)]),
        f"{stream.run.adapter}: {conclusion_sentence(stream, view.applied)}",
        *baseline_lines(stream, view.applied),
    ]
    blocks = []
    for place, group in enumerate(found, view.first):
        number = view.numbers.get((stream.run.spec, group.kind), place)
        blocks.append(_block(number, group, stream.run, console, view))
    count = _fitting(blocks, console, view, len(table.rows) + len(lines))
    count = min(count, 1) if paragraph and not view.every else count
    for block in blocks[:count]:
        _print_block(console, block)
    console.print()
    console.print(table)
    for line in lines:
        print_line(console, line)
    return found, count


def print_answer(
    stream: EventStream,
    console: Console,
    found: Sequence[FailureGroup],
    numbers: Mapping[tuple[str, Kind], int],
    sentences: Sequence[str] = (),
    applied: AppliedBaseline = NO_BASELINE,
) -> None:
    """Print the answer of a run whose failures were printed: what it may be used for, and what was found.

    `found` are its kinds of failure, the most severe first; `sentences` say what it may be used for.
    """
    overlays = applied.overlays
    known = known_security_failures(stream, overlays)
    security = f"security, in the baseline: {known[0].id} {known[0].label}" if known else ""
    lines = [
        *sentences,
        *filter(None, [total_failure(stream)]),
        *_kind_lines(stream.run, found, numbers),
        *flaky_lines(stream, overlays),
        *filter(None, [security + (f" and {len(known) - 1} more" if len(known) > 1 else "")]),
        *not_judged_lines(stream),
        *provisional_lines(stream),
        *corrected_lines(stream.run),
        *below_level_lines(stream, overlays, most=3),
        *filter(None, [examples_line(stream), large_line(stream.run)]),
    ]
    console.print()
    print_line(console, f"{stream.run.adapter}: {conclusion_sentence(stream, applied)}", "bold")
    for line in lines:
        print_line(console, f"  {line}", indent="      ")
    for line in baseline_lines(stream, applied):
        print_line(console, line)


def _kind_lines(
    run: Run, found: Sequence[FailureGroup], numbers: Mapping[tuple[str, Kind], int]
) -> Iterator[str]:
    if not found:
        return
    cases = sum(1 + len(group.others) for group in found)
    blocked = sum(group.blocks for group in found)
    blocks = f", which block {counted(blocked, 'refusal')}" if blocked else ""
    more = f", the {MAX_KINDS} most severe first" if len(found) > MAX_KINDS else ""
    yield f"{counted(len(found), 'kind')} of failure in {counted(cases, 'case')}{blocks}{more}:"
    for group in found[:MAX_KINDS]:
        event, others = group.first, len(group.others)
        like = f"  and {others:,} more like it" if others else ""
        kind = f"{event.label} {cause_of(event)}".rstrip()
        yield f"  #{numbers[run.spec, group.kind]:<3} {kind}  {event.id}{like}"


def plain_text(text: str, style: str = "") -> Text:
    """Return text without markup, with control characters escaped."""
    return Text(escape_unsafe(text), style=style)


def print_line(console: Console, text: str, style: str = "", indent: str = "  ") -> None:
    """Print a line; a terminal breaks it between words, never within one."""
    lines = [escape_unsafe(text)]
    if len(lines[0]) > console.width:
        lines = textwrap.wrap(
            lines[0], console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)


def _block(number: int, group: FailureGroup, run: Run, console: Console, view: RunView) -> list[str]:
    origin = view.origin(group.first, run)
    head, *body = failure_lines(group, run, view.lookup, view.twins, console.width, view.basis, origin)
    return [f"{escape_unsafe(head)}  #{number}", *map(escape_unsafe, body)]


def _print_block(console: Console, block: Sequence[str]) -> None:
    head, *body = block
    console.print()
    console.print(Text(head, style="bold red"), soft_wrap=True)
    for line in body:
        console.print(Text(line), soft_wrap=True)


@define
class FindingPrinter:
    """Prints the first failure of each kind as soon as it is judged, and numbers the kinds from 1.

    Attributes:
        view: its lookups; whether every kind is printed whole, or only severe ones and `MAX_FINDINGS` others.
        is_known: returns whether the baseline expects a failure, which is then not printed.
        found: by adapter as the user wrote it and by kind, the first failure.
    """

    console: Console
    view: RunView
    is_known: Callable[[CaseEvent], bool] = lambda _: False
    found: dict[tuple[str, Kind], CaseEvent] = field(factory=dict)

    def add(self, run: Run, events: Iterable[CaseEvent]) -> None:
        """Print the failures of new kinds among events; a refusal that another failure blocks is no kind."""
        for event in events:
            if sets_exit_code(event, run) and event.verdict != "blocked" and not self.is_known(event):
                self.print_group(run, FailureGroup(event.signature(run.adapter), event))

    def print_group(self, run: Run, group: FailureGroup) -> None:
        key = run.spec, group.kind
        if key in self.found:
            return
        self.found[key] = group.first
        block = _block(len(self.found), group, run, self.console, self.view)
        severe = group.first.is_security or any(group.first.verdict in names for names in SEVEREST)
        short = len(self.found) > MAX_FINDINGS and not (self.view.every or severe)
        _print_block(self.console, block[: 1 + bool(group.first.title)] if short else block)

    @property
    def numbers(self) -> Mapping[tuple[str, Kind], int]:
        return {key: number for number, key in enumerate(self.found, 1)}


def _fitting(blocks: Sequence[Sequence[str]], console: Console, view: RunView, rows: int) -> int:
    """Return the number of blocks to print: at least one, and only blocks that fit the screen whole."""
    if view.every:
        return len(blocks)
    if not (console.is_terminal or "LINES" in os.environ):
        return min(len(blocks), MAX_FINDINGS)
    # 12 lines are kept free for the exit code and the next commands; 8 of the table are not rows.
    free = (console.height - 12) // view.share - rows - 8
    used = 0
    for count, lines in enumerate(blocks):
        used += 1 + sum(max(1, -(-len(line) // console.width)) for line in lines)
        if used > free and count:
            return count
    return len(blocks)


def summary(streams: Sequence[EventStream]) -> Renderables:
    return Renderables(*map(VerdictTable, streams))


def total_failure(stream: EventStream) -> str:
    """Return one paragraph for a run in which nothing passes, remarks aside; empty for any other run."""
    seen = count_verdicts(stream)
    total = len(stream.cases)
    labels = Counter(event.label for event in stream.cases if event.verdict not in PASSING)
    if total < 5 or seen.keys() & {"pass", "pass-unclassified", "lenient"} or not labels:
        return ""
    label = labels.most_common(1)[0][0]
    first = next(event for event in stream.cases if event.label == label)
    if first.broken:
        count = sum(event.broken == first.broken for event in stream.cases)
        return f"None of {total} cases passes; {count} break {first.broken}. The first one: {first.got}."
    shown = first.text or first.got
    detail = f" The first one: {shown}." if shown else ""
    advice = f" {CAUSES[label]}" if label in CAUSES else ""
    return f"None of {total} cases passes; {labels[label]} end as {label}.{advice}{detail}"


STYLES: Final = {
    "pass": "green",
    "info": "cyan",
    "lenient": "yellow",
    "pass-unclassified": "yellow",
    "undocumented": "yellow",
    "unsupported": "dim",
    "not-run": "dim",
    "other": "dim",
}

OTHER: Final = "other"
"""The heading of the column that adds up the verdicts for which there is no room."""

WIDEST: Final = 10_000
"""Width of an output that is no terminal, in characters: lines are never cut there."""


class VerdictTable:
    """The verdicts of one run by format, as wide as the console allows; rich renders it."""

    def __init__(self, stream: EventStream) -> None:
        self.title = escape_unsafe(f"{stream.run.adapter} {stream.run.version}".strip())
        self.total = count_verdicts(stream)
        self.rows: dict[str, Counter[str]] = {}
        for event in sorted(stream.cases, key=lambda event: event.format_id):
            self.rows.setdefault(event.format_id, Counter())[event.verdict] += 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, style="bold")
        shown, other = list(self.total), list[str]()
        whole = console.options.update(max_width=WIDEST)
        table = self._table(shown, other)
        while len(shown) > 1 and Measurement.get(console, whole, table).maximum > options.max_width:
            order = ["unsupported", "pass-unclassified", "undocumented", "info", "lenient", "not-run"]
            other.append(shown.pop(shown.index(next((name for name in order if name in shown), shown[-1]))))
            table = self._table(shown, other)
        yield table
        if other:
            named = sorted(other, key=list(self.total).index)
            yield Text(f"{OTHER}: " + ", ".join(f"{self.total[name]} {name}" for name in named) + "\n")

    def _table(self, shown: Sequence[str], other: Sequence[str]) -> Table:
        columns = [*shown, *([OTHER] if other else [])]
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), show_footer=len(self.rows) > 1)
        table.add_column("", "all", no_wrap=True)
        total = _cells(self.total, shown, other)
        for name, number in zip(columns, total, strict=True):
            table.add_column(name, number, justify="right", style=STYLES.get(name, "red"), no_wrap=True)
        for name, seen in self.rows.items():
            table.add_row(Text(escape_unsafe(name)), *_cells(seen, shown, other))
        return table


def _cells(seen: Mapping[str, int], shown: Sequence[str], other: Sequence[str]) -> list[str]:
    numbers = [seen.get(name, 0) for name in shown]
    numbers += [sum(seen.get(name, 0) for name in other)] if other else []
    return [str(number or "") for number in numbers]


# --- notes at the end of a run ---


def note_lines(stream: EventStream, applied: AppliedBaseline) -> Iterator[str]:
    """Yield what a run did not compare, corrected, found unsteady or below its level, and its examples."""
    yield from uncompared_lines(stream)
    yield from corrected_lines(stream.run)
    yield from flaky_lines(stream, applied.overlays)
    yield from below_level_lines(stream, applied.overlays)
    yield from filter(None, [examples_line(stream)])


def provisional_lines(stream: EventStream) -> Iterator[str]:
    for format_id in dict.fromkeys(event.format_id for event in stream.cases):
        row = FORMATS.get(format_id)
        if row is not None and row.provisional:
            yield f"{format_id}: provisional, a revision of a pre-release whose format may still change"


MAX_NAMES: Final = 12
"""Number of cases, or of fields, that a line names; the others are counted."""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def corrected_lines(run: Run) -> Iterator[str]:
    """Yield a line that names the corrected cases, for a run against a set with such cases."""
    if (asked := run.requirements) and asked.corrected:
        yield f"corrected since {asked.id}, with the reason in case-changes.md: {_listed(asked.corrected)}"


def uncompared_lines(stream: EventStream) -> Iterator[str]:
    """Yield `kafka.log/mixed: not compared, …: batches[].baseOffset, …` for each judged format with some."""
    judged = {event.format_id for event in stream.cases if event.verdict != "unsupported"}
    judged |= set(map(_stream_of, judged))
    for format_id, names in stream.run.not_compared.items():
        if format_id in judged:
            yield f"{format_id}: not compared, the adapter does not show them: {_listed(names)}"


def uncompared_in_format(run: Run, format_id: str) -> tuple[str, ...]:
    """Return the patterns of the fields that were not compared in cases of a format, or of its stream."""
    return tuple(run.not_compared.get(format_id) or run.not_compared.get(_stream_of(format_id), ()))


def _stream_of(format_id: str) -> str:
    """Return the format of a stream in which an adapter without this format reads its values."""
    row = FORMATS.get(format_id)
    return "/".join(row.wrapped_by[:2]) if row is not None and row.wrapped_by else ""


def not_judged_lines(stream: EventStream) -> Iterator[str]:
    """Yield a line that counts the cases with their most frequent reasons, and one for the fields."""
    reasons = Counter(event.text for event in stream.cases if event.verdict in ("unsupported", "not-run"))
    if reasons:
        first = reasons.most_common(3)
        shown = ", ".join(f"{count:,} ({text})" for text, count in first)
        rest = reasons.total() - sum(count for _, count in first)
        yield f"not judged: {shown}" + (f", {rest:,} for other reasons" if rest else "")
    if fields := list(uncompared_lines(stream)):
        more = f"; and fields of {len(fields) - 1} further formats" if len(fields) > 1 else ""
        yield fields[0] + more


def flaky_lines(stream: EventStream, overlays: Mapping[str, Overlay] | None = None) -> Iterator[str]:
    known = overlays or {}
    flaky = sum(
        event.kind == FLAKY and sets_exit_code(event, stream.run) and known.get(event.id) != "expected"
        for event in stream.cases
    )
    if flaky:
        yield (
            f"flaky: {counted(flaky, 'failure')} {'passes' if flaky == 1 else 'pass'} when asked again; "
            f"repair that, or accept it: baseline add FILE RUN fail:{FLAKY}"
        )


FAULTS: Final = frozenset(
    {"fail", "lenient", "undocumented", "blocked", "crash", "timeout", "resource", "stalled"}
)


def below_level_lines(
    stream: EventStream, overlays: Mapping[str, Overlay] | None = None, most: int = 12
) -> Iterator[str]:
    """Yield `below the level: 6 of kafka.append.max-timestamp` for the most frequent rules, then the rest."""
    counts = below_level_counts(stream.cases, stream, overlays or {})
    for name, count in counts.most_common(most):
        yield f"below the level: {count:,} of {name}"
    if rest := counts.most_common()[most:]:
        number = sum(count for _, count in rest)
        yield f"below the level: {number:,} of {counted(len(rest), 'further rule')}"


def below_level_counts(
    events: Iterable[CaseEvent], stream: EventStream, overlays: Mapping[str, Overlay]
) -> Counter[str]:
    """Count the faults that do not fail a run and that no baseline expects, by their first rule."""
    return Counter(
        next(iter(event.deciding_rules), event.suite)
        for event in events
        if event.verdict in FAULTS
        and not sets_exit_code(event, stream.run)
        and overlays.get(event.id) != "expected"
    )
