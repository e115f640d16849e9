"""Report what a scan did not read and what it found damaged, in lines for a person.

Objects without a single valid entry are looked at again, because they may be of another revision or system,
or compressed.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from wireproof.inspect.data_directory import check_index_files
from wireproof.inspect.detect_format import looks_like
from wireproof.inspect.entry_list import listing_of, read_by_other_options
from wireproof.segment_files import CheckedIndex
from wireproof.spark.logs.objects import ObjectPlace, SkippedObject, read_if_there
from wireproof.spark.logs.sources import SourceKind, SourceSettings, source_kind, source_names
from wireproof.spark.stored_tables import latest_table, stored_rows
from wireproof.wire.text import counted

MAX_LINES: Final = 100
"""Lines of one kind; the others are counted, and are in the tables."""

MAX_NAMES: Final = 3
"""Objects that are named of a group."""

HEAD_BYTES: Final = 1 << 20
"""The first bytes of an object, from which its format is found."""

MAX_TRIED: Final = 10
"""Damaged places that are read again with other options."""

TOO_LONG: Final = (
    "limit-exceeded: if entries may be as large as that, scan again to another folder "
    "with --max-message BYTES, or --max-output BYTES for what they decompress to"
)


def report_scan(
    source: SourceSettings,
    places: Sequence[ObjectPlace],
    skipped: Sequence[SkippedObject],
    files: Sequence[Mapping[str, Any]],
    out: Path,
) -> tuple[list[str], bool]:
    """Return lines for everything that is damaged or was not read, and whether one reports an error.

    The tables of the scan are in `out`.
    """
    places_of_damage = stored_rows(latest_table(out, "damage"), MAX_LINES)
    limited = {row["path"] for row in places_of_damage if row["class"] == "limit-exceeded"}
    unread = list(_unread(source, [place for place in places if place.display_name not in limited], files))
    faults = [
        f"not read to its end: {row['path']}: {row['fault']}, {row['bytes_read']:,} bytes were decompressed; "
        + (
            "it is cut or damaged"
            if row["fault"] == "decompress-failed"
            else "it is too large, see the option max_unpacked"
        )
        for row in files
        if row["fault"]
    ]
    damaged = [
        f"wrong: {row['path']}: bytes {row['position']} to {row['position'] + row['length']}: {row['class']}"
        for row in places_of_damage
    ]
    if (more := sum(row["damaged_places"] for row in files) - MAX_LINES) > 0:
        damaged.append(f"… {more:,} more: see the table damage, or frames with kind = 'garbage'")
    large = [
        f"not run: {row['implementation']} was not asked about {counted(row['count'], 'entry', 'entries')} "
        f"of {counted(row['bytes'], 'byte')} together: too large for an adapter"
        for row in stored_rows(latest_table(out, "signatures"))
        if row["class"] == "too-large"
    ]
    # Objects that are being written end so.
    cut = [f"{row['path']} ({row['tail_bytes']:,} bytes)" for row in files if row["tails"] and row["frames"]]
    ends = "object ends", "objects end"
    lines = [
        *_capped(unread),
        *_capped(faults),
        *damaged,
        *[TOO_LONG] * bool(limited),
        *_other_options(source, places, places_of_damage),
        *_capped(large),
        *[f"{counted(len(cut), *ends)} within an entry: {first_names(cut)}"] * bool(cut),
        *_skipped(skipped),
    ]
    wrong = unread or faults or damaged or any(each.is_error for each in skipped)
    return lines, bool(wrong)


def _capped(lines: list[str]) -> list[str]:
    return lines[:MAX_LINES] + [f"… {len(lines) - MAX_LINES} more"] * (len(lines) > MAX_LINES)


def _other_options(
    source: SourceSettings, places: Sequence[ObjectPlace], rows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a line if a damaged place is an entry under other options, as in a stream of snappy messages."""
    plain = {place.display_name: place for place in places if not place.compression}
    listing = listing_of(source.framing.fmt)
    for row in rows[:MAX_TRIED]:
        size = row["length"]
        if listing is None or row["path"] not in plain or size > HEAD_BYTES:
            continue
        data = read_if_there(plain[row["path"]], row["position"], size) or b""
        if found := read_by_other_options(source.framing.fmt, listing, data, source.options):
            words = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in found.changes.items())
            yield (
                f"{row['path']}: bytes {row['position']} to {row['position'] + size} are {found.note}: "
                f"if all entries are, scan again to another folder with {words}"
            )
            return


def first_names(names: Sequence[str]) -> str:
    """Return the first few of some names."""
    return ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")


def _skipped(skipped: Sequence[SkippedObject]) -> Iterator[str]:
    """Yield one line for each reason."""
    by_reason: dict[str, list[SkippedObject]] = {}
    for each in skipped:
        reason = each.reason.partition(",")[0] if "read, " in each.reason else each.reason
        by_reason.setdefault(reason, []).append(each)
    for reason, objects in sorted(by_reason.items()):
        names = first_names([each.display_name for each in objects])
        size = sum(each.size for each in objects)
        yield f"not read: {counted(len(objects), 'object')}, {counted(size, 'byte')}: {reason}: {names}"


# --- objects without a valid entry ---


def _unread(
    source: SourceSettings, places: Sequence[ObjectPlace], files: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    empty = {row["path"] for row in files if not row["frames"] and row["bytes_read"]}
    for place in places:
        if place.display_name in empty:
            reason = f"it contains no complete entry of {source.framing.fmt.format_id}"
            yield f"not read: {place.display_name}: {reason}; {_suggestion(place)}"


def _suggestion(place: ObjectPlace) -> str:
    """Return what the object may be instead, with the command to read it."""
    if place.compression:
        return "decompress it and run wireproof explain on the file"
    head = read_if_there(place, 0, HEAD_BYTES) or b""
    for kind in map(source_kind, source_names()):
        if (revision := kind.revision_of(head)) is not None:
            of = f" --revision {revision}" if len(kind.framings) > 1 else ""
            return f"scan it with --source {kind.short_name}{of}"
    guess = looks_like(head)
    return f"it looks like {guess}" if guess else "no known format matches"


def find_revision(kind: SourceKind, places: Sequence[ObjectPlace]) -> str | None:
    """Return the revision of the first object that shows one to a source; None if none does."""
    for place in places:
        if place.size and not place.compression:
            head = read_if_there(place, 0, HEAD_BYTES)  # the scan reports an object that is gone
            if head is not None and (revision := kind.revision_of(head)) is not None:
                return revision
    return None


# --- index files ---
#
# Only logs on the local file system are checked, because an index file has megabytes and is read whole.


def check_local_logs(places: Sequence[ObjectPlace]) -> tuple[CheckedIndex, ...]:
    """Check the index files of the local logs.

    Raises:
        IndexFileError: a file is too large to be an index file.
    """
    local = (Path(place.path) for place in places if not place.store)
    return tuple(checked for path in local for checked in check_index_files(path))


def index_rows(results: Sequence[CheckedIndex]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `index_files`."""
    for checked in results:
        for finding in checked.findings:
            yield {
                "path": str(checked.name.path),
                "position": finding.at,
                "is_error": finding.is_error,
                "message": finding.message,
                "next_step": finding.next_step,
            }
