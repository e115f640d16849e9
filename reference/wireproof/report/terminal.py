"""The view of a run in a terminal: a block for each kind of failure, and a table; passes are not listed.

Text from adapters is never interpreted as markup, and control characters in it are escaped.
"""

import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, frozen
from rich.console import Console
from rich.console import Group as Renderables
from rich.text import Text

from wireproof.report.closing_lines import (
    below_level_lines,
    corrected_lines,
    provisional_lines,
    uncompared_lines,
)
from wireproof.report.failure_groups import (
    FailureGroup,
    Lookup,
    SourceLookup,
    count_verdicts,
    failure_groups_of,
    failure_lines,
    known_security_failures,
    no_lookup,
    replay_command,
)
from wireproof.report.verdict_table import WIDEST, VerdictTable
from wireproof.runner.baseline import AppliedBaseline
from wireproof.runner.conclusion import conclusion_sentence, examples_line
from wireproof.runner.events import EventStream
from wireproof.runner.verdicts import PASSING
from wireproof.wire.safe_text import escape_unsafe

MAX_FINDINGS: Final = 20
"""Number of findings of a run that are shown if the output is no terminal; `--all` shows every one."""

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
        applied: the baseline, if there is one.
        every: show every finding; else those that fit the screen, or `MAX_FINDINGS` without a screen.
        share: the number of runs that share the screen.
        first: the number of the first finding, for `replay '#N'`.
    """

    lookup: Lookup = no_lookup
    twins: Lookup = no_lookup
    source: SourceLookup = no_lookup
    applied: AppliedBaseline | None = field(default=None)
    every: bool = False
    share: int = 1
    first: int = 1


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
    found = failure_groups_of(stream, view.applied.overlays if view.applied else None)
    for event in known_security_failures(stream, view.applied.overlays if view.applied else {}):
        head = f"security, in the baseline: {event.id} {event.label}"
        console.print(plain_text(head, "bold red"), soft_wrap=True)
        console.print(plain_text(f"  replay  {replay_command(event, stream.run)}"), soft_wrap=True)
    paragraph = total_failure(stream)
    if paragraph:
        print_line(console, paragraph, "bold red")
    table = VerdictTable(stream)
    lines = closing_lines(stream, view.applied)
    blocks = [_block(number, group, stream, console, view) for number, group in enumerate(found, view.first)]
    count = _fitting(blocks, console, view, len(table.rows) + len(lines))
    count = min(count, 1) if paragraph and not view.every else count
    for head, *body in blocks[:count]:
        console.print()
        console.print(Text(head, style="bold red"), soft_wrap=True)
        for line in body:
            console.print(Text(line), soft_wrap=True)
    console.print()
    console.print(table)
    for line in lines:
        print_line(console, line)
    return ShownFindings(found, count)


def plain_text(text: str, style: str = "") -> Text:
    """Return text without markup, with control characters escaped."""
    return Text(escape_unsafe(text), style=style)


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print a line; a terminal breaks it between words, never within one."""
    for line in wrap_words(escape_unsafe(text), console.width):
        console.print(Text(line, style=style), soft_wrap=True)


def wrap_words(text: str, width: int, indent: str = "  ") -> list[str]:
    """Break text between words into lines of at most `width` characters; a longer word stays whole."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _block(
    number: int, group: FailureGroup, stream: EventStream, console: Console, view: RunView
) -> list[str]:
    head, *body = failure_lines(group, stream.run, view.lookup, view.twins, console.width, view.source)
    return [f"{escape_unsafe(head)}  #{number}", *map(escape_unsafe, body)]


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
    cause = "" if first.broken else CAUSES.get(label, "")
    shown = ", ".join(filter(None, (first.text, first.got))) if first.broken else first.text or first.got
    detail = f" The first one: {shown}." if shown else ""
    advice = f" {cause}" if cause else ""
    return f"None of {total} cases passes; {labels[label]} end as {label}.{advice}{detail}"


def closing_lines(stream: EventStream, applied: AppliedBaseline | None) -> list[str]:
    """Return the lines below the matrix: the conclusion, and the known failures that changed."""
    lines = [*provisional_lines(stream), *uncompared_lines(stream), *corrected_lines(stream.run)]
    lines += below_level_lines(stream, applied.overlays if applied else None)
    lines += filter(None, [examples_line(stream)])
    lines.append(f"{stream.run.adapter}: {conclusion_sentence(stream, applied)}")
    if applied is None:
        return lines
    lines += [f"baseline: stale    {entry.id} ({entry.kind}), {entry.who}" for entry in applied.stale]
    lines += [f"baseline: changed  {entry.id} (was {entry.kind}), {entry.who}" for entry in applied.changed]
    lines += [f"baseline: expired  {entry.id} on {entry.expires}, {entry.who}" for entry in applied.expired]
    return lines
