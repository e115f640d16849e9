"""The report of a log of a data directory, from the survey that `explain` uses for one file."""

from collections.abc import Iterator, Mapping, Sequence

from wireproof.cases.log_survey import DamagedRange
from wireproof.data_files import DataFile, FileFinding, FileReport
from wireproof.runner.file_survey import FileSurvey
from wireproof.wire.json_values import Json


def log_report(
    file: DataFile, found: FileSurvey, more: Sequence[FileFinding], facts: Mapping[str, Json]
) -> FileReport:
    """Return the report of a log: its damage, its totals, and what else was found in it."""
    text = f"{found.zeros} bytes are allocated and not written yet"
    note = [FileFinding(file.size - found.zeros, text, is_error=False)] if found.zeros else []
    message = [FileFinding(None, found.message)] if found.message else []
    findings = (*message, *_damage(found), *more, *note)
    unsound = file.size - found.sound - found.zeros
    totals = {"entries": found.entries, **found.totals, **facts}
    return FileReport(_summary(found, totals), findings, totals, unsound=max(0, unsound))


def _summary(found: FileSurvey, facts: Mapping[str, Json]) -> str:
    entries = f"{found.entries} {'entry' if found.entries == 1 else 'entries'}"
    first, after = facts.get("firstOffset"), facts.get("nextOffset")
    if not isinstance(first, int) or not isinstance(after, int):
        return entries
    return f"{entries}, offsets {first} to {after - 1}"


def _damage(found: FileSurvey) -> Iterator[FileFinding]:
    """Yield a finding for each listed place, one for the others, and one for a cut entry at the end."""
    yield from map(_place, found.damages)
    if found.damage_count > len(found.damages):
        yield FileFinding(None, f"{found.damage_count - len(found.damages)} more damaged places")
    if found.tail:
        whole = f" of {found.wanted}" if found.wanted else ""
        text = f"the file ends within an entry, {found.tail}{whole} bytes of it"
        yield FileFinding(found.size - found.tail, text)


def _place(one: DamagedRange) -> FileFinding:
    text = f": {one.text}" if one.text else ""
    path = f" ({one.path})" if one.path else ""
    return FileFinding(one.at, f"bytes {one.at} to {one.end}: {one.cls} at {one.where}{path}{text}")
