"""The view of a run in a terminal: a block for each kind of failure, and a table; passes are not listed.

Text from adapters is never interpreted as markup, and control characters in it are escaped.
"""

import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import define, field, frozen
from rich.console import Console
from rich.console import Group as Renderables
from rich.text import Text

from wireproof.report.closing_lines import (
    below_level_lines,
    corrected_lines,
    flaky_lines,
    not_judged_lines,
    provisional_lines,
    uncompared_lines,
)
from wireproof.report.failure_groups import (
    SEVEREST,
    FailureGroup,
    Kind,
    Lookup,
    SourceLookup,
    cause_of,
    count_verdicts,
    failure_groups_of,
    failure_lines,
    known_security_failures,
    no_lookup,
    replay_command,
    sets_exit_code,
)
from wireproof.report.verdict_table import WIDEST, VerdictTable
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline
from wireproof.runner.conclusion import conclusion_sentence, counted, examples_line, large_line
from wireproof.runner.events import CaseEvent, EventStream, Run
from wireproof.runner.origins import baseline_lines
from wireproof.runner.verdicts import PASSING
from wireproof.wire.safe_text import escape_unsafe

MAX_FINDINGS: Final = 20
"""Number of findings of a run that are shown if the output is no terminal; `--all` shows every one."""

MAX_KINDS: Final = 8
"""Number of kinds of failure that the answer of a run lists; `report last` has every one."""

MAX_RULES_AT_END: Final = 3
"""Number of rules with faults below the level that the answer of a run lists."""

RESERVED_LINES: Final = 12
"""Lines of a screen that are kept free for the end of the run: the exit code, and the next commands."""

MIN_CASES_TO_SUMMARISE: Final = 5
"""A run with at least this many cases and no pass is reported in one paragraph."""

CAUSES: Final[Mapping[str, str]] = {
    "fail:wrong-reject": "It refuses everything: check that it reads this format and revision.",
    "fail:wrong-accept": "It accepts everything: check that its answers depend on the bytes.",
    "fail:wrong-value": "It reads everything differently: check how the adapter writes values as JSON.",
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
        lookup, twins: return the case of an event, and the accepted twin of that case.
        source: returns the place that the rules of an event cite.
        applied: the effect of its baseline.
        origin: returns why the baseline does not have a failure, in words.
        every: show every finding; else those that fit the screen, or `MAX_FINDINGS` without a screen.
        share: the number of runs that share the screen.
        first: the number of the first finding, for `replay '#N'`.
        numbers: the numbers that findings have already.
    """

    lookup: Lookup = no_lookup
    twins: Lookup = no_lookup
    source: SourceLookup = no_lookup
    applied: AppliedBaseline = NO_BASELINE
    origin: Callable[[CaseEvent, Run], str] = lambda _event, _run: ""
    every: bool = False
    share: int = 1
    first: int = 1
    numbers: Mapping[tuple[str, Kind], int] = field(factory=dict)

    def number(self, run: Run, group: FailureGroup, place: int) -> int:
        """Return the number of the finding at a place of its run."""
        return self.numbers.get((run.spec, group.kind), self.first + place)


@frozen
class ShownFindings:
    """The findings of a run, the most severe first, and the number that was printed."""

    found: tuple[FailureGroup, ...]
    printed: int


def output_console() -> Console:
    """Return the console of standard output; if it is no terminal, lines have any length."""
    found = Console()
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = WIDEST
    return found


def print_run(stream: EventStream, console: Console, view: RunView | None = None) -> ShownFindings:
    """Print one run, and return its findings."""
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
    lines = closing_lines(stream, view.applied)
    blocks = [
        _block(view.number(stream.run, group, place), group, stream.run, console, view)
        for place, group in enumerate(found)
    ]
    count = _fitting(blocks, console, view, len(table.rows) + len(lines))
    count = min(count, 1) if paragraph and not view.every else count
    for block in blocks[:count]:
        _print_block(console, block)
    console.print()
    console.print(table)
    for line in lines:
        print_line(console, line)
    return ShownFindings(found, count)


def print_answer(
    stream: EventStream,
    console: Console,
    found: Sequence[FailureGroup],
    numbers: Mapping[tuple[str, Kind], int],
    sentences: Sequence[str] = (),
    applied: AppliedBaseline = NO_BASELINE,
) -> None:
    """Print the answer of a run whose failures were printed: what it may be used for, and what was found.

    Args:
        stream: the run.
        console: prints it.
        found: the kinds of failure, the most severe first.
        numbers: their numbers.
        sentences: what the implementation may be used for.
        applied: the effect of its baseline.
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
        *below_level_lines(stream, overlays, MAX_RULES_AT_END),
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
    """Yield the number of kinds of failure, and a line for each of the most severe ones."""
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
    for line in wrap_words(escape_unsafe(text), console.width, indent):
        console.print(Text(line, style=style), soft_wrap=True)


def wrap_words(text: str, width: int, indent: str = "  ") -> list[str]:
    """Break text between words into lines of at most `width` characters; a longer word stays whole."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _block(number: int, group: FailureGroup, run: Run, console: Console, view: RunView) -> list[str]:
    origin = view.origin(group.first, run)
    head, *body = failure_lines(group, run, view.lookup, view.twins, console.width, view.source, origin)
    return [f"{escape_unsafe(head)}  #{number}", *map(escape_unsafe, body)]


def _print_block(console: Console, block: Sequence[str]) -> None:
    head, *body = block
    console.print()
    console.print(Text(head, style="bold red"), soft_wrap=True)
    for line in body:
        console.print(Text(line), soft_wrap=True)


@define
class FindingPrinter:
    """Prints the first failure of each kind as soon as it is judged, and gives the kinds their numbers.

    Attributes:
        view: its lookups; whether every kind is printed whole, or only severe ones and `MAX_FINDINGS` others.
        is_known: returns whether the baseline expects a failure, which is then not printed.
        found: by adapter as the user wrote it and by kind, the first failure. The first one is number 1.
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
        """Print the first failure of a kind that is new."""
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
        """Return the numbers of the kinds."""
        return {key: number for number, key in enumerate(self.found, 1)}


def _fitting(blocks: Sequence[Sequence[str]], console: Console, view: RunView, rows: int) -> int:
    """Return the number of blocks to print: at least one, and only blocks that fit the screen whole."""
    if view.every:
        return len(blocks)
    if not (console.is_terminal or "LINES" in os.environ):
        return min(len(blocks), MAX_FINDINGS)
    free = (console.height - RESERVED_LINES) // view.share - rows - _TABLE
    used = 0
    for count, lines in enumerate(blocks):
        used += 1 + sum(max(1, -(-len(line) // console.width)) for line in lines)
        if used > free and count:
            return count
    return len(blocks)


_TABLE: Final = 8
"""Lines of the table of verdicts that are not rows."""


def summary(streams: Sequence[EventStream]) -> Renderables:
    """Return a section for each run: one row for each format, and its verdicts as columns."""
    return Renderables(*map(VerdictTable, streams))


def total_failure(stream: EventStream) -> str:
    """Return one paragraph for a run in which nothing passes, remarks aside; empty for any other run."""
    seen = count_verdicts(stream)
    total = len(stream.cases)
    if total < MIN_CASES_TO_SUMMARISE or any(
        name in seen for name in ("pass", "pass-unclassified", "lenient")
    ):
        return ""
    labels: dict[str, int] = {}
    for event in stream.cases:
        if event.verdict not in PASSING:
            labels[event.label] = labels.get(event.label, 0) + 1
    if not labels:
        return ""
    label = max(labels, key=lambda name: labels[name])
    first = next(event for event in stream.cases if event.label == label)
    if first.broken:
        count = sum(event.broken == first.broken for event in stream.cases)
        return f"None of {total} cases passes; {count} break {first.broken}. The first one: {first.got}."
    shown = first.text or first.got
    detail = f" The first one: {shown}." if shown else ""
    advice = f" {CAUSES[label]}" if label in CAUSES else ""
    return f"None of {total} cases passes; {labels[label]} end as {label}.{advice}{detail}"


def closing_lines(stream: EventStream, applied: AppliedBaseline) -> list[str]:
    """Return the lines below the matrix: the conclusion, and the known failures that changed."""
    lines = [*provisional_lines(stream), *uncompared_lines(stream), *corrected_lines(stream.run)]
    lines += [*flaky_lines(stream, applied.overlays), *below_level_lines(stream, applied.overlays)]
    lines += filter(None, [examples_line(stream), large_line(stream.run)])
    lines.append(f"{stream.run.adapter}: {conclusion_sentence(stream, applied)}")
    return lines + list(baseline_lines(stream, applied))
