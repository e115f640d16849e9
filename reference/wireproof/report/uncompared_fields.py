"""The fields that a run did not compare because the adapter does not show them."""

from collections.abc import Iterator
from typing import Final

from wireproof.formats import FORMATS
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import Run

MAX_FIELDS: Final = 12
"""Number of fields that a line names; the others are counted."""


def uncompared_lines(stream: EventStream) -> Iterator[str]:
    """Yield `kafka.log/mixed: not compared, …: batches[].baseOffset, …` for each judged format with some."""
    judged = {event.format_id for event in stream.cases if event.verdict != "unsupported"}
    judged |= set(map(_stream_of, judged))
    for format_id, names in stream.run.not_compared.items():
        if format_id not in judged:
            continue
        more = f" and {len(names) - MAX_FIELDS} more" if len(names) > MAX_FIELDS else ""
        shown = ", ".join(names[:MAX_FIELDS])
        yield f"{format_id}: not compared, the adapter does not show them: {shown}{more}"


def uncompared_in_format(run: Run, format_id: str) -> tuple[str, ...]:
    """Return the patterns of the fields that were not compared in cases of a format, or of its stream."""
    return tuple(run.not_compared.get(format_id) or run.not_compared.get(_stream_of(format_id), ()))


def _stream_of(format_id: str) -> str:
    """Return the format of a stream in which an adapter without this format reads its values."""
    row = FORMATS.get(format_id)
    return "/".join(row.wrapped_by[:2]) if row is not None and row.wrapped_by else ""
