"""The notes of a report on provisional revisions."""

from collections.abc import Iterator
from typing import Final

from wireproof.formats import FORMATS
from wireproof.runner.event_files import EventStream

PROVISIONAL_NOTE: Final = "provisional, a revision of a pre-release whose format may still change"
"""The words that mark a revision in reports and lists."""


def provisional_lines(stream: EventStream) -> Iterator[str]:
    """Yield a line for each provisional revision of which a run has cases."""
    for format_id in dict.fromkeys(event.format_id for event in stream.cases):
        row = FORMATS.get(format_id)
        if row is not None and row.provisional:
            yield f"{format_id}: {PROVISIONAL_NOTE}"
