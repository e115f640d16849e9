"""The faults below the level of a run: they do not fail it, and its end names them by their rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wireproof.report.failure_groups import sets_exit_code
from wireproof.runner.baseline import Overlay
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent

MAX_RULES: Final = 12
"""Number of rules that have a line; the others are counted."""

FAULTS: Final = frozenset(
    {"fail", "lenient", "undocumented", "blocked", "crash", "timeout", "resource", "stalled"}
)


def below_level_lines(stream: EventStream, overlays: Mapping[str, Overlay] | None = None) -> Iterator[str]:
    """Yield `below the level: 6 of kafka.append.max-timestamp` for each rule, the most frequent first."""
    counts = below_level_counts(stream.cases, stream, overlays or {})
    for name, count in counts.most_common(MAX_RULES):
        yield f"below the level: {count:,} of {name}"
    rest = len(counts) - MAX_RULES
    if rest > 0:
        number = counts.total() - sum(count for _, count in counts.most_common(MAX_RULES))
        yield f"below the level: {number:,} of {rest} further rule{'s' * (rest > 1)}"


def below_level_counts(
    events: Iterable[CaseEvent], stream: EventStream, overlays: Mapping[str, Overlay]
) -> Counter[str]:
    """Count the faults that do not fail a run and that no baseline expects, by their first rule."""
    return Counter(
        next(iter(event.deciding_rules), event.suite)
        for event in events
        if event.verdict in FAULTS
        and not sets_exit_code(event, stream)
        and overlays.get(event.id) != "expected"
    )
