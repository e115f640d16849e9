"""The survey of an input as lines of text: the verdict, the counts, what is damaged, the remarks."""

from collections.abc import Iterator

from wireproof.report import damage_lines, remark_lines
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.file_survey import FileSurvey


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
