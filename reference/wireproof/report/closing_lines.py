"""The lines at the end of a run: what is provisional, corrected, not compared, or below the level."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wireproof.formats import FORMATS
from wireproof.report.failure_groups import sets_exit_code
from wireproof.runner.baseline import Overlay
from wireproof.runner.conclusion import counted
from wireproof.runner.events import CaseEvent, EventStream, Run
from wireproof.runner.verdicts import FLAKY

# --- provisional ---
#
# The notes of a report on provisional revisions.


PROVISIONAL_NOTE: Final = "provisional, a revision of a pre-release whose format may still change"
"""The words that mark a revision in reports and lists."""


def provisional_lines(stream: EventStream) -> Iterator[str]:
    """Yield a line for each provisional revision of which a run has cases."""
    for format_id in dict.fromkeys(event.format_id for event in stream.cases):
        row = FORMATS.get(format_id)
        if row is not None and row.provisional:
            yield f"{format_id}: {PROVISIONAL_NOTE}"


# --- corrected cases ---
#
# The cases of a requirement set whose expectation was corrected after the set was pinned.


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


# --- uncompared fields ---
#
# The fields that a run did not compare because the adapter does not show them.


MAX_REASONS: Final = 3
"""Number of reasons that the line of cases that were not judged names."""

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


# --- not judged ---
#
# The cases of a run without a verdict on the codec, and the fields that were not compared.


def not_judged_lines(stream: EventStream) -> Iterator[str]:
    """Yield a line that counts the cases with their most frequent reasons, and one for the fields."""
    reasons = Counter(event.text for event in stream.cases if event.verdict in ("unsupported", "not-run"))
    if reasons:
        shown = ", ".join(f"{count:,} ({text})" for text, count in reasons.most_common(MAX_REASONS))
        rest = reasons.total() - sum(count for _, count in reasons.most_common(MAX_REASONS))
        yield f"not judged: {shown}" + (f", {rest:,} for other reasons" if rest else "")
    fields = list(uncompared_lines(stream))
    if fields:
        yield (
            fields[0] if len(fields) == 1 else f"{fields[0]}; and fields of {len(fields) - 1} further formats"
        )


# --- flaky ---
#
# The failures of a run that passed when they were asked again.


def flaky_lines(stream: EventStream, overlays: Mapping[str, Overlay] | None = None) -> Iterator[str]:
    """Yield a line that counts the ones that no baseline expects, with what to do about them."""
    known = overlays or {}
    flaky = sum(
        event.kind == FLAKY and sets_exit_code(event, stream.run) and known.get(event.id) != "expected"
        for event in stream.cases
    )
    if flaky:
        yield (
            f"flaky: {counted(flaky, 'failure')} {'passes' if flaky == 1 else 'pass'} when asked again; "
            f"repair that, or accept it: baseline add FILE RUN fail:{FLAKY}"
        )


# --- below level ---
#
# The faults below the level of a run: they do not fail it, and its end names them by their rules.


MAX_RULES: Final = 12
"""Number of rules that have a line; the others are counted."""

FAULTS: Final = frozenset(
    {"fail", "lenient", "undocumented", "blocked", "crash", "timeout", "resource", "stalled"}
)


def below_level_lines(
    stream: EventStream, overlays: Mapping[str, Overlay] | None = None, most: int = MAX_RULES
) -> Iterator[str]:
    """Yield `below the level: 6 of kafka.append.max-timestamp` for each rule, the most frequent first."""
    counts = below_level_counts(stream.cases, stream, overlays or {})
    for name, count in counts.most_common(most):
        yield f"below the level: {count:,} of {name}"
    rest = len(counts) - most
    if rest > 0:
        number = counts.total() - sum(count for _, count in counts.most_common(most))
        yield f"below the level: {number:,} of {rest} further rule{'s' * (rest > 1)}"


def below_level_counts(
    events: Iterable[CaseEvent], stream: EventStream, overlays: Mapping[str, Overlay]
) -> Counter[str]:
    """Count the faults that do not fail a run and that no baseline expects, by their first rule."""
    return Counter(
        next(iter(event.deciding_rules), event.suite)
        for event in events
        if event.verdict in FAULTS
        and not sets_exit_code(event, stream.run)
        and overlays.get(event.id) != "expected"
    )
