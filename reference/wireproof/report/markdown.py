"""Markdown for a comment on a change: at most 60 lines."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from wireproof.report.closing_lines import (
    below_level_lines,
    corrected_lines,
    flaky_lines,
    provisional_lines,
    uncompared_lines,
)
from wireproof.report.failure_groups import (
    FailureGroup,
    cause_of,
    count_verdicts,
    failure_groups_of,
    replay_command,
)
from wireproof.report.terminal import total_failure
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline, Overlay
from wireproof.runner.conclusion import conclusion_sentence, examples_line
from wireproof.runner.events import EventStream
from wireproof.runner.origins import baseline_lines
from wireproof.runner.summaries import MAX_OUTPUT, MAX_TEXT, shorten
from wireproof.wire.safe_text import escape_unsafe

LINES: Final = 60

_SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def escape(text: str, most: int = MAX_TEXT) -> str:
    """Escape text, so that Markdown shows it unchanged on one line of at most `most` characters."""
    return _SIGNS.sub(r"\\\1", shorten(escape_unsafe(text), most))


def code(text: str) -> str:
    """Format text as code in a table cell; replace backticks and bars, which would end the code or cell."""
    return f"`{shorten(escape_unsafe(text)).replace('`', 'ʼ').replace('|', '¦')}`"


def markdown(streams: Sequence[EventStream], baselines: Sequence[AppliedBaseline] = ()) -> str:
    """Render the counts of runs, then as many of their findings as fit.

    Args:
        streams: the runs.
        baselines: those of the runs, in their order; empty without.
    """
    runs = list(zip(streams, baselines or [NO_BASELINE] * len(streams), strict=True))
    lines = ["## wireproof", "", *_table(streams), *_endings(runs)]
    room = max(1, (LINES - len(lines)) // max(1, len(streams)))
    for stream, applied in runs:
        lines += _findings(stream, room, applied.overlays)
    return "\n".join(_cut(lines)) + "\n"


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 1], f"… {len(lines) - LINES + 1} more lines"]


def _table(streams: Sequence[EventStream]) -> list[str]:
    columns = list(dict.fromkeys(name for stream in streams for name in count_verdicts(stream)))
    head = ["adapter", "cases", *columns, ""]
    rows = [_row(stream, columns) for stream in streams]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _endings(runs: Sequence[tuple[EventStream, AppliedBaseline]]) -> list[str]:
    """Return how each run ended and what it did not compare; these lines precede findings that may be cut."""
    lines = [
        f"- {escape(one.run.adapter)}: {escape(conclusion_sentence(one, known), MAX_OUTPUT)}"
        for one, known in runs
    ]
    provisional = dict.fromkeys(line for stream, _ in runs for line in provisional_lines(stream))
    lines += [f"- {escape(line)}" for line in provisional]
    for one, known in runs:
        faults = (*flaky_lines(one, known.overlays), *below_level_lines(one, known.overlays))
        more = (*uncompared_lines(one), *corrected_lines(one.run), *faults, examples_line(one))
        lines += [f"- {escape(line, MAX_OUTPUT)}" for line in baseline_lines(one, known)]
        lines += [f"- {escape(line)}" for line in more if line]
    return ["", *lines]


def _row(stream: EventStream, columns: list[str]) -> list[str]:
    seen = count_verdicts(stream)
    cells = [str(seen.get(name, "")) for name in columns]
    name = escape(f"{stream.run.adapter} {stream.run.version}".strip())
    return [name, str(len(stream.cases)), *cells, "" if stream.complete else "**incomplete**"]


def _findings(stream: EventStream, room: int, overlays: Mapping[str, Overlay]) -> list[str]:
    """Return a heading and a table of findings in at most `room` lines."""
    paragraph = total_failure(stream)
    if paragraph:
        return ["", f"**{escape(stream.run.adapter)}**: {escape(paragraph)}"]
    found = failure_groups_of(stream, overlays)
    if not found or room < 6:
        return []
    most = room - 5
    lines = ["", f"### {escape(stream.run.adapter)}: {len(found)} findings"]
    lines += ["| case | verdict | profile | want | got | like it |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [_finding(group) for group in found[:most]]
    left = f" {len(found) - most} more findings." if len(found) > most else ""
    return [*lines, f"Replay: {code(replay_command(found[0].first, stream.run))}.{left}"]


def _finding(group: FailureGroup) -> str:
    event = group.first
    texts = (f"{event.label} {cause_of(event)}".rstrip(), event.profile, event.want, event.got or event.text)
    cells = (code(event.id), *map(escape, texts))
    return f"| {' | '.join(cells)} | {len(group.others) or ''} |"
