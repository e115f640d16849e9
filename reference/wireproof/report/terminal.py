"""The view for a person at a terminal: nothing for passes, a block for each finding, a table at the end.

Design, section 5. Text from adapters is never read as markup, and control signs in it are shown, not sent.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.console import Group as Renderables
from rich.table import Table
from rich.text import Text

from wireproof.report.failure import block, replay
from wireproof.report.groups import Group, Lookup, counts, groups, nowhere, owed
from wireproof.report.uncompared import uncompared
from wireproof.report.visible import visible
from wireproof.trial.baseline import Applied
from wireproof.trial.conclusion import sentence
from wireproof.trial.streams import Stream
from wireproof.trial.verdicts import PASSING

MOST: Final = 20
"""Findings that are shown whole; the rest is counted."""

EVERYTHING: Final = 5
"""Cases from which on a run without a single pass is told in one paragraph."""

STYLES: Final[Mapping[str, str]] = {
    "pass": "green",
    "info": "cyan",
    "lenient": "yellow",
    "pass-unclassified": "yellow",
    "undocumented": "yellow",
    "unsupported": "dim",
    "not-run": "dim",
}

HEADS: Final[Mapping[str, str]] = {
    "pass-unclassified": "no class",
    "undocumented": "undoc.",
    "unsupported": "n/a",
    "adapter-error": "adapter",
    "suite-bug": "suite",
}
"""What stands over the columns of the verdicts with long names."""

CAUSES: Final[Mapping[str, str]] = {
    "fail:wrong-reject": "It refuses everything: look whether it reads another format or revision.",
    "fail:wrong-accept": "It accepts everything: look whether its answers come from the bytes at all.",
    "fail:wrong-value": "It reads everything differently: look at how the adapter spells values.",
    "fail:undeclared-skip": "It skips everything that it claims: look at the revisions in its hello.",
    "crash": "Its process dies at the first request: run its command by hand and read what it prints.",
    "timeout": "It answers nothing in time: look whether it flushes its output after each answer.",
    "adapter-error": "It breaks the adapter contract: compare an answer with `wireproof serve reference`.",
    "unsupported": "It supports nothing that was asked: look at the revisions in its hello.",
}


@frozen
class View:
    """What the terminal shows besides the stream.

    Attributes:
        lookup, twins: from an event to its case, and to the accepted twin of its case.
        applied: the baseline, if there is one.
        most: findings shown whole.
        strict_class: whether a refusal without its class fails.
    """

    lookup: Lookup = nowhere
    twins: Lookup = nowhere
    applied: Applied | None = field(default=None)
    most: int = MOST
    strict_class: bool = False


def show(stream: Stream, console: Console, view: View | None = None) -> tuple[Group, ...]:
    """Print one run; returns the findings that were shown whole, in their order."""
    view = view or View()
    found, shown = listed(stream, view)
    for event in owed(stream, view.applied.overlays if view.applied else {}):
        head = f"security, in the baseline: {event.id} {event.label}"
        console.print(plain(head, "bold red"), soft_wrap=True)
        console.print(plain(f"  replay  {replay(event, stream.run)}"), soft_wrap=True)
    paragraph = all_fail(stream)
    if paragraph:
        console.print(plain(paragraph, "bold red"))
    for group in shown:
        console.print()
        _show_block(group, stream, console, view)
    if len(found) > view.most and not paragraph:
        console.print(plain(f"\n… and {len(found) - view.most} more findings: see the stream"))
    console.print()
    console.print(summary([stream]))
    for line in closing(stream, view.applied, strict_class=view.strict_class):
        console.print(plain(line), soft_wrap=True)
    return shown


def listed(stream: Stream, view: View) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """The findings of a run, and those of them that are shown whole."""
    found = groups(stream, view.applied.overlays if view.applied else None)
    return found, found[:1] if all_fail(stream) else found[: view.most]


def plain(text: str, style: str = "") -> Text:
    """Text that is only text: no markup, no control signs."""
    return Text(visible(text), style=style)


def _show_block(group: Group, stream: Stream, console: Console, view: View) -> None:
    head, *body = block(group, stream.run, view.lookup, view.twins)
    console.print(plain(head, "bold red"), soft_wrap=True)
    for line in body:
        console.print(plain(line), soft_wrap=True)


def summary(streams: Sequence[Stream]) -> Renderables:
    """A section a run: one row a format, and the verdicts that it saw as columns."""
    return Renderables(*(part for stream in streams for part in _section(stream)))


def _section(stream: Stream) -> tuple[Text, Table]:
    head = f"{stream.run.adapter} {stream.run.version}".strip()
    rows = by_format(stream)
    total = counts(stream)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), show_footer=len(rows) > 1)
    table.add_column("", "all", no_wrap=True)
    for name, number in total.items():
        table.add_column(
            HEADS.get(name, name),
            str(number),
            justify="right",
            style=STYLES.get(name, "red"),
            overflow="fold",
        )
    for name, part in rows.items():
        seen = counts(part)
        table.add_row(plain(name), *(str(seen[column]) if column in seen else "" for column in total))
    return plain(head, "bold"), table


def by_format(stream: Stream) -> dict[str, Stream]:
    """The run cut by format and revision."""
    parts: dict[str, list[int]] = {}
    for number, event in enumerate(stream.cases):
        parts.setdefault(event.joined, []).append(number)
    return {
        name: Stream(stream.run, tuple(stream.cases[number] for number in numbers), stream.footer)
        for name, numbers in sorted(parts.items())
    }


def all_fail(stream: Stream) -> str:
    """The one paragraph for a run in which nothing passes, open places aside; empty for any other."""
    seen = counts(stream)
    total = len(stream.cases)
    if total < EVERYTHING or any(name in seen for name in ("pass", "pass-unclassified", "lenient")):
        return ""
    labels: dict[str, int] = {}
    for event in stream.cases:
        if event.verdict not in PASSING:
            labels[event.label] = labels.get(event.label, 0) + 1
    if not labels:
        return ""
    label = max(labels, key=lambda name: labels[name])
    first = next(event for event in stream.cases if event.label == label)
    cause = CAUSES.get(label, "")
    said = f" The first says: {first.text or first.got}." if first.text or first.got else ""
    return f"None of {total} cases passes; {labels[label]} end as {label}. {cause}{said}".strip()


def closing(stream: Stream, applied: Applied | None, *, strict_class: bool = False) -> list[str]:
    """Return what the matrix cannot show: the conclusion, and the known failures that changed."""
    lines = [*uncompared(stream.run)]
    lines.append(f"{stream.run.adapter}: {sentence(stream, applied, strict_class=strict_class)}")
    if applied is None:
        return lines
    lines += [f"baseline: stale    {debt.id} ({debt.kind}), {debt.who}" for debt in applied.stale]
    lines += [f"baseline: changed  {debt.id} (was {debt.kind}), {debt.who}" for debt in applied.changed]
    lines += [f"baseline: expired  {debt.id} on {debt.expires}, {debt.who}" for debt in applied.expired]
    return lines
