"""The survey of an input as lines of text: the verdict, the counts, what is damaged, the remarks."""

from collections.abc import Iterator, Sequence
from typing import Final

from wireproof.cases.detect_stream import StreamFit
from wireproof.report import damage_lines, remark_lines
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.file_survey import FileSurvey

MAX_FITS: Final = 4
"""Number of formats that are named in addition to the best one."""


def summary_lines(found: FileSurvey) -> Iterator[str]:
    """Yield the lines of a summary."""
    yield verdict_line(found)
    if found.headers_only:
        yield "headers and checksums were checked; the records were not read"
    if found.begin:
        yield f"read from position {found.begin} on; the bytes before it were passed over and not checked"
    if found.message and found.format_id:
        yield escape_unsafe(f"wrong: {found.message}")
    yield from map(escape_unsafe, found.lines)
    for note, count in found.notes.items():
        yield f"{count} of them {note}"
    yield from damage_lines.damaged_place_lines(found)
    yield from damage_lines.size_lines((one.cls, one.path) for one in found.damages)
    if found.zeros:
        yield f"bytes {found.size - found.zeros} to {found.size} are allocated and not written yet"
    if found.remarks:
        yield "remarks: no damage, but places where the format leaves the answer open"
        yield from (remark_lines.remark_line(one.first, one.count) for one in found.remarks.values())


def verdict_line(found: FileSurvey) -> str:
    """Return the size, the format and the verdict in one line."""
    packed = f" (unpacked from {found.packed})" if found.packed else ""
    if not found.format_id:
        return escape_unsafe(found.message)
    damaged = found.damage_count or found.tail
    text = damage_lines.survey_verdict(found) if damaged else f"accepted, {found.sound} bytes"
    return f"{found.size} bytes{packed} as {found.format_id}: {text}"


def other_fit_lines(fits: Sequence[StreamFit]) -> Iterator[str]:
    """Yield the revisions of a stream that fit the beginning of an input as well as the best one."""
    if not fits:
        return
    best, *others = fits
    if same := [fit for fit in others if fit.survey.proven == best.survey.proven]:
        yield f"also fits: {', '.join(fit.row.format_id for fit in same[:MAX_FITS])}"
