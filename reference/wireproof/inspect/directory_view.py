"""Show a data directory to a person or a program: a line for each file, each partition, and the totals."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from attrs import asdict

from wireproof.data_files import CheckedFile, FileFinding
from wireproof.inspect.data_directory import (
    UNKNOWN,
    CrossFinding,
    DirectoryEvent,
    DirectoryTotals,
    FolderReport,
    kind_of,
)
from wireproof.inspect.entry_output import as_json
from wireproof.segment_files import CheckedIndex
from wireproof.wire.text import counted, escape_unsafe, instant

MAX_FINDINGS: Final = 10
"""Findings that are listed below a file; the others are counted."""

MAX_INDEXES: Final = 20
"""Index files that have a line at the end of a scan; the others are counted."""

MAX_UNKNOWN: Final = 20
"""Files that nobody knows, which are listed at the end; the others are counted."""


def wrong_lines(event: DirectoryEvent) -> Iterator[str]:
    """Yield the lines about what is wrong in a folder, or between files; an index file has one line."""
    match event:
        case FolderReport(files=files, partition=partition):
            for one in files:
                if one.report.errors or one.report.lost:
                    yield from _wrong_file(one)
            if partition is not None and (errors := _errors(partition.findings)):
                yield escape_unsafe(f"partition {partition.name}:")
                yield from _finding_lines(errors)
        case CrossFinding(name=name, finding=finding) if finding.is_error:
            yield escape_unsafe(f"wrong: {name}: {finding.message}")


def _wrong_file(one: CheckedFile) -> Iterator[str]:
    errors = _errors(one.report.findings)
    if kind_of(one.file.path):
        yield escape_unsafe(f"{one.file.name}: {_in_one_line(errors)}")
        return
    yield escape_unsafe(f"{one.file.name}:")
    yield from _finding_lines(errors)
    *losses, total = one.report.lost or ("",)
    yield from (f"    {line}" for line in losses[:MAX_FINDINGS])
    if len(losses) > MAX_FINDINGS:
        yield f"    … {len(losses) - MAX_FINDINGS} more"
    if total:
        yield f"    {total}"


def _in_one_line(findings: Sequence[FileFinding]) -> str:
    """Return the first finding of each cause: an index may have one for each of its entries."""
    first = {one.words: one for one in reversed(findings)}
    counts = Counter(one.words for one in findings)
    return "; ".join(
        _words(one) + f" (and {counts[words] - 1} more like it)" * (counts[words] > 1)
        for words, one in reversed(first.items())
    )


def event_lines(event: DirectoryEvent) -> Iterator[str]:
    """Yield the lines of a folder, or of a note on files together; `wrong_lines` has what is wrong."""
    match event:
        case FolderReport(name=name, files=files, partition=partition):
            if files or not name:
                yield escape_unsafe(f"{name or '.'}/")
            for one in files:
                notes = _notes(one.report.findings)
                is_index = bool(notes and kind_of(one.file.path))
                what = one.kind.what if one.kind else UNKNOWN
                summary = f": {one.report.summary}" if one.report.summary else ""
                wrong = f"; {one.report.errors} wrong" if one.report.errors else ""
                more = f"; {_in_one_line(notes)}" if is_index else ""
                place = f"  {one.file.name.rpartition('/')[2]:<38} {one.file.size:>13}"
                yield escape_unsafe(f"{place}  {what}{summary}{wrong}{more}")
                yield from () if is_index else _finding_lines(notes)
            if partition is not None:
                yield escape_unsafe(f"  partition {partition.name}: {partition.summary}")
                yield from _finding_lines(_notes(partition.findings))
        case CrossFinding(name=name, finding=finding) if not finding.is_error:
            yield escape_unsafe(f"note: {name}: {finding.message}")


def _errors(findings: Iterable[FileFinding]) -> list[FileFinding]:
    return [one for one in findings if one.is_error]


def _notes(findings: Iterable[FileFinding]) -> list[FileFinding]:
    return [one for one in findings if not one.is_error]


def small_file_lines(one: CheckedFile) -> Iterator[str]:
    """Yield what is in a file that its report shows whole: a summary, a line for each part, its findings."""
    what = one.kind.what if one.kind else UNKNOWN
    yield escape_unsafe(f"{one.file.size} bytes as {what} of {one.system}: {one.report.summary}")
    for name, value in one.report.facts.items():
        if isinstance(value, list):
            for part in value:
                words = [f"{field} {one}" for field, one in part.items()] if isinstance(part, dict) else []
                text = ", ".join(words) or (" ".join(map(str, part)) if isinstance(part, list) else str(part))
                yield escape_unsafe(f"  {name}: {text}")
    yield from _finding_lines(one.report.findings)


def total_lines(totals: DirectoryTotals) -> Iterator[str]:
    share = f"{100 * totals.named / totals.size:.4g}" if totals.size else "100"
    counts = ((totals.files, "file"), (totals.folders, "folder"), (totals.partitions, "partition"))
    files, folders, partitions = (counted(number, what, grouped=False) for number, what in counts)
    yield (
        f"{files} in {folders}, {partitions}, {totals.size} bytes: "
        f"{totals.named} bytes named ({share} %), {totals.unsound} damaged"
    )
    if totals.errors:
        where = counted(totals.wrong, "file or partition", "files and partitions", grouped=False)
        yield f"{counted(totals.errors, 'cause', grouped=False)} of what misleads a reader, in {where}"
    for name, size in totals.unknown[:MAX_UNKNOWN]:
        yield escape_unsafe(f"{UNKNOWN}: {name}: {size} bytes")
    if len(totals.unknown) > MAX_UNKNOWN:
        yield f"… {len(totals.unknown) - MAX_UNKNOWN} more files are {UNKNOWN}"


def small_file_json(one: CheckedFile) -> str:
    return as_json(
        {
            "type": "file",
            "name": one.file.name,
            "system": one.system or None,
            "kind": one.kind.what if one.kind else None,
            "bytes": one.file.size,
            "unsound": one.report.unsound,
            "unknown": one.report.unknown,
            "facts": dict(one.report.facts),
            "findings": _findings(one.report.findings),
        }
    )


def event_json(event: DirectoryEvent) -> Iterator[str]:
    """Yield a line of JSON for each file and partition, and for each problem between them."""
    match event:
        case FolderReport(files=files, partition=partition):
            yield from map(small_file_json, files)
            if partition is not None:
                tree = {
                    "type": "partition",
                    "name": partition.name,
                    "folder": partition.folder,
                    "facts": dict(partition.facts),
                    "findings": _findings(partition.findings),
                }
                yield as_json(tree)
        case CrossFinding(name=name, finding=finding):
            yield as_json({"type": "between", "name": name, "findings": _findings([finding])})


def total_json(totals: DirectoryTotals) -> str:
    names = ("folders", "files", "partitions", "size", "named", "unsound", "errors")
    unknown = [{"file": name, "bytes": size} for name, size in totals.unknown]
    return as_json({"type": "totals", **{name: getattr(totals, name) for name in names}, "unknown": unknown})


def _finding_lines(findings: Iterable[FileFinding]) -> Iterator[str]:
    """Yield the first findings, errors before notes, then each next step once."""
    ordered = sorted(findings, key=lambda one: not one.is_error)
    for one in ordered[:MAX_FINDINGS]:
        yield escape_unsafe(f"    {_words(one)}")
    if len(ordered) > MAX_FINDINGS:
        yield f"    … {len(ordered) - MAX_FINDINGS} more"
    for step in dict.fromkeys(one.next_step for one in ordered if one.next_step):
        yield escape_unsafe(f"    what to do: {step}")


def _words(finding: FileFinding) -> str:
    """Return a finding as text; a damaged place has its position in the message."""
    at = "" if finding.at is None or finding.places else f"at {finding.at}: "
    return f"{'wrong' if finding.is_error else 'note'}: {at}{finding.message}"


def _findings(found: Iterable[FileFinding]) -> list[dict[str, Any]]:
    return [
        {"at": one.at, "message": one.message, "next_step": one.next_step, "is_error": one.is_error}
        for one in found
    ]


# --- an index file of a segment: its entries as a table, its errors, a verdict ---


def entry_lines(one: CheckedIndex) -> Iterator[str]:
    """Yield the lines that `explain` prints for an index file."""
    log = one.log
    beside = f"; its log has {len(log.heads)} entries in {log.size} bytes" if log is not None else ""
    system = f"{one.system}'s " if one.revision else ""
    yield f"{one.size} bytes as {system}{one.name.kind} of the segment at offset {one.name.base}{beside}"
    yield from _table(one.index.entries, one.ticks)
    yield from map(escape_unsafe, (*one.lines(), one.verdict()))
    yield from _advice([one])


def entry_json(one: CheckedIndex) -> Iterator[str]:
    """Yield the lines that `explain --json` prints for an index file: its entries, and the summary last."""
    for entry in one.index.entries:
        yield as_json({"type": "index-entry", **asdict(entry, recurse=False)})
    tree = {
        "type": "summary", "format": one.name.kind, "system": one.system, "bytes": one.size,
        "ok": not one.errors, "entries": len(one.index.raw.rows), "notWritten": one.index.raw.tail,
        "hasLog": one.log is not None, "findings": _findings(one.findings),
    }  # fmt: skip
    yield as_json(tree)


def neighbour_lines(found: Sequence[CheckedIndex]) -> Iterator[str]:
    """Yield a line for each index file of a log, and once at the end what to do next."""
    for one in found:
        more = f"; {_in_one_line(one.findings)}" if one.findings else ""
        yield escape_unsafe(one.verdict() + more)
    yield from _advice(found)


def finding_lines(found: Sequence[CheckedIndex]) -> Iterator[str]:
    """Yield a line for each index file, those that are wrong first, and once at the end what to do next."""
    ordered = sorted(found, key=lambda one: not one.errors)
    for one in ordered[:MAX_INDEXES]:
        others = len(one.findings) - 1
        more = f"; {counted(others, 'more finding')} in this file" if others else ""
        yield escape_unsafe(f"{next(one.lines())}{more}")
    if len(ordered) > MAX_INDEXES:
        yield f"… {counted(len(ordered) - MAX_INDEXES, 'more index file')} with findings"
    yield from _advice(found)


def _advice(found: Sequence[CheckedIndex]) -> Iterator[str]:
    for advice in dict.fromkeys(line for one in found for line in one.advice):
        yield f"what to do: {advice}"


def _table(entries: Sequence[Any], ticks: int) -> Iterator[str]:
    """Yield a row for each entry, with a column for each field, and a timestamp as a date too."""
    if not entries:
        return
    half = 20  # of a long file, the first and the last ones are shown
    cut = len(entries) > 2 * half
    rows = [asdict(one) for one in ([*entries[:half], *entries[-half:]] if cut else entries)]
    for row in rows:
        if "timestamp" in row:
            row["time"] = instant(row["timestamp"], ticks, 3 if ticks == 1000 else 6)
    widths = [max(len(name), *(len(str(row[name])) for row in rows)) for name in rows[0]]
    for number, words in enumerate((rows[0], *(row.values() for row in rows))):
        if cut and number == half + 1:
            yield f"  … {len(entries) - 2 * half} more"
        yield "  " + "  ".join(f"{word:>{width}}" for word, width in zip(words, widths, strict=True))
