"""The cases of a requirement set whose expectation was corrected after the set was pinned."""

from collections.abc import Iterator
from typing import Final

from wireproof.runner.events import Run

MAX_NAMES: Final = 12
"""Number of cases that the line names; the others are counted."""


def corrected_lines(run: Run) -> Iterator[str]:
    """Yield a line that names them, for a run against a set with such cases."""
    asked = run.requirements
    if asked is None or not asked.corrected:
        return
    more = f" and {len(asked.corrected) - MAX_NAMES} more" if len(asked.corrected) > MAX_NAMES else ""
    shown = ", ".join(asked.corrected[:MAX_NAMES])
    yield f"corrected since {asked.id}, with the reason in case-changes.md: {shown}{more}"
