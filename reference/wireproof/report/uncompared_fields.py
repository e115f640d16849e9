"""The fields that a run did not compare because the adapter does not show them."""

from collections.abc import Iterator
from typing import Final

from wireproof.formats import FORMATS
from wireproof.runner.events import Run

MAX_FIELDS: Final = 12
"""Number of fields that a line names; the others are counted."""


def uncompared_lines(run: Run) -> Iterator[str]:
    """Yield `kafka.log/mixed: not compared: batches[].baseOffset, …` for each format with such fields."""
    for format_id, names in run.not_compared.items():
        more = f" and {len(names) - MAX_FIELDS} more" if len(names) > MAX_FIELDS else ""
        shown = ", ".join(names[:MAX_FIELDS])
        yield f"{format_id}: not compared, the adapter does not show them: {shown}{more}"


def uncompared_in_format(run: Run, format_id: str) -> tuple[str, ...]:
    """Return the patterns of the fields that were not compared in cases of a format, or of its stream."""
    row = FORMATS.get(format_id)
    stream = "/".join(row.wrapped_by[:2]) if row is not None and row.wrapped_by else ""
    return tuple(run.not_compared.get(format_id) or run.not_compared.get(stream, ()))
