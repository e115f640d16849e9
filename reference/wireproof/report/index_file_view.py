"""Show an index file of a segment to a person: its entries as a table, its errors, a verdict."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import fields

from wireproof.report.sanitize import escape_unsafe
from wireproof.segment_files import CheckedIndex
from wireproof.wire.readable import instant

MAX_ENTRIES: Final = 40
"""Number of entries that are shown; of a longer file, the first and the last ones."""


def entry_lines(one: CheckedIndex) -> Iterator[str]:
    """Yield the lines that `explain` prints for an index file."""
    log = one.log
    beside = f"; its log has {len(log.heads)} entries in {log.size} bytes" if log is not None else ""
    system = f"{one.system}'s " if one.revision else ""
    yield f"{one.size} bytes as {system}{one.name.kind} of the segment at offset {one.name.base}{beside}"
    yield from _table(one.index.entries, one.ticks)
    yield from verdict_lines([one])


def entry_json(one: CheckedIndex) -> Iterator[str]:
    """Yield the lines that `explain --json` prints for an index file: its entries, and the summary last."""
    for entry in one.index.entries:
        cells = {name: getattr(entry, name) for name in _columns(entry)}
        yield _json({"type": "index-entry", **cells})
    found = [
        {"at": each.at, "message": each.message, "is_error": each.is_error, "next_step": each.next_step}
        for each in one.findings
    ]
    yield _json(
        {
            "type": "summary", "format": one.name.kind, "system": one.system, "bytes": one.size,
            "ok": not one.errors, "entries": len(one.index.raw.rows), "notWritten": one.index.raw.tail,
            "hasLog": one.log is not None, "findings": found,
        }
    )  # fmt: skip


def _json(tree: dict[str, Any]) -> str:
    return json.dumps(tree, separators=(",", ":"))


def _columns(entry: Any) -> list[str]:  # noqa: ANN401 - the entry of any index
    return [field.name for field in fields(type(entry))]


def verdict_lines(found: Sequence[CheckedIndex]) -> Iterator[str]:
    """Yield the findings and the verdict of each index file, and once at the end what to do next."""
    for one in found:
        yield from map(escape_unsafe, (*one.lines(), one.verdict()))
    yield from _advice(found)


def finding_lines(found: Sequence[CheckedIndex]) -> Iterator[str]:
    """Yield the findings of index files, and once at the end what to do next."""
    for one in found:
        yield from map(escape_unsafe, one.lines())
    yield from _advice(found)


def _advice(found: Sequence[CheckedIndex]) -> Iterator[str]:
    for advice in dict.fromkeys(line for one in found for line in one.advice):
        yield f"what to do: {advice}"


def _table(entries: Sequence[Any], ticks: int) -> Iterator[str]:
    """Yield a row for each entry, with a column for each field, and a timestamp as a date too."""
    if not entries:
        return
    names = _columns(entries[0])
    half = MAX_ENTRIES // 2
    shown = entries if len(entries) <= MAX_ENTRIES else [*entries[:half], None, *entries[-half:]]
    rows = [_cells(one, names, ticks) if one else [] for one in shown]
    heading = [*names, "time"] if "timestamp" in names else names
    widths = [max(len(name), *(len(row[n]) for row in rows if row)) for n, name in enumerate(heading)]
    for row in (heading, *rows):
        cells = (f"{word:>{width}}" for word, width in zip(row, widths, strict=True)) if row else ()
        yield "  " + "  ".join(cells) if row else f"  … {len(entries) - MAX_ENTRIES} more"


def _cells(entry: Any, names: Sequence[str], ticks: int) -> list[str]:  # noqa: ANN401 - the entry of any index
    cells = [str(getattr(entry, name)) for name in names]
    if "timestamp" in names:
        cells.append(instant(entry.timestamp, ticks, 3 if ticks == 1000 else 6))
    return cells
