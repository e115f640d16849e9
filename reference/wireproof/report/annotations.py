"""Findings as annotations of a GitHub workflow: one `::error` line for each."""

from typing import Final

from wireproof.report.failure_block import replay_command
from wireproof.report.failure_groups import FailureGroup, failure_groups_of
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline
from wireproof.runner.event_files import EventStream

MAX_ANNOTATIONS: Final = 10
"""Annotations of each kind that a step shows; GitHub drops the others, so the last line counts them."""


def annotations(stream: EventStream, applied: AppliedBaseline = NO_BASELINE) -> list[str]:
    """Return the lines; the last one counts the findings that have no line."""
    found = failure_groups_of(stream, applied.overlays)
    kept = found if len(found) <= MAX_ANNOTATIONS else found[: MAX_ANNOTATIONS - 1]
    lines = [_line(group, stream) for group in kept]
    if len(kept) < len(found):
        lines.append(f"::error title=wireproof::{len(found) - len(kept)} more findings")
    return lines


def _line(group: FailureGroup, stream: EventStream) -> str:
    event = group.first
    facts = f"{event.level}, {event.profile}\nwant {event.want}\ngot {event.got or event.text}"
    text = f"{facts}\n{replay_command(event, stream.run)}"
    return f"::error title={_property(f'{event.id}: {event.label}')}::{_message(text)}"


def _message(text: str) -> str:
    """Escape the message of a workflow command."""
    return escape_unsafe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property of a workflow command, which ends at a colon or comma."""
    return _message(text).replace(":", "%3A").replace(",", "%2C")
