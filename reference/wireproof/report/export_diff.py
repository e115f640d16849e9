"""The comparison of two exports: added, renamed and removed cases, and the changes of the others.

It reads the lines of `cases.ndjson` as they are, so that an export of any earlier version can be compared.
Ids and inputs are frozen: a removed case, or one with another input, is an error.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.files import read_limited_text
from wireproof.report.export import CASES
from wireproof.strict_parsing import parse_json
from wireproof.wire.json_values import canonical_json

MAX_SIZE: Final = 256 << 20
"""Maximum bytes of `cases.ndjson`: thirty times those of today."""

MAX_SHOWN: Final = 70
"""Characters that are shown of an expectation or of options."""

Row = Mapping[str, Any]


class ExportDiffError(ValueError):
    """A folder is no export, or a line of it is no case; the message is one line."""


@frozen
class CaseDifference:
    """A part of a case that differs; each side is a short text.

    Attributes:
        id: of the case in the newer export.
        part: `input`, `level`, `expectation`, or another name of `PARTS`.
    """

    id: str
    part: str
    before: str
    now: str

    def __str__(self) -> str:
        """Return the difference as one line."""
        return f"{self.id}: {self.part}: {self.before} → {self.now}"


@frozen
class ExportDiff:
    """The differences of two exports.

    Attributes:
        added, removed: ids, sorted.
        renamed: former and present ids.
        changed: what differs in cases that both have.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[CaseDifference, ...] = ()

    @property
    def broken(self) -> bool:
        """Return True if a case is gone or has another input, which no version may do."""
        return bool(self.removed) or any(one.part == INPUT for one in self.changed)

    def lines(self) -> Iterator[str]:
        """Yield the differences as lines of text, errors first."""
        errors = [one for one in self.changed if one.part == INPUT]
        others = [one for one in self.changed if one.part != INPUT]
        yield from (f"removed  {name}" for name in self.removed)
        yield from (f"input    {one}" for one in errors)
        yield from (f"changed  {one}" for one in others)
        yield from (f"renamed  {old} → {new}" for old, new in self.renamed)
        yield from (f"added    {name}" for name in self.added)


# --- the parts of a case ---


def _input(row: Row) -> str:
    """Return what identifies an input: the digest of its bytes, or the value or the steps as JSON."""
    given = row.get("input", {})
    made = given.get("sha256") if "generate" in given else row.get("sha256")
    chunks = [len(one) for one in given.get("chunks", ())]
    if made:
        return f"sha256 {made}{f' in chunks {chunks}' if chunks else ''}"
    steps = [{key: part for key, part in step.items() if key != "expect"} for step in row.get("steps", ())]
    return _json(given or steps)


def _expectation(row: Row) -> str:
    return _json(row.get("expect") or [step.get("expect") for step in row.get("steps", ())])


def _json(tree: Any) -> str:  # noqa: ANN401 - JSON
    return canonical_json(tree).decode()


def _text(name: str) -> Callable[[Row], str]:
    """Return the function that reads a part with a default that no line of an export writes."""
    return lambda row: _json(row[name]) if name in row else "(none)"


INPUT: Final = "input"

PARTS: Final[Mapping[str, Callable[[Row], str]]] = {
    INPUT: _input,
    "level": lambda row: str(row.get("level", "")),
    "expectation": _expectation,
    "op": lambda row: str(row.get("op", "")),
    "profile": lambda row: str(row.get("profile", "reader")),
    "options": _text("options"),
    "needs": _text("needs"),
    "flags": _text("flags"),
    "limits": _text("limits"),
    "twin": _text("twin"),
}
"""The parts of a case that a verdict, or the choice of a case, depends on."""


# --- two exports ---


def read_export(folder: Path) -> dict[str, Row]:
    """Return the cases of an export by their ids; raises `ExportDiffError`."""
    path = folder / CASES
    try:
        lines = read_limited_text(path, MAX_SIZE).splitlines()
    except (OSError, ValueError) as error:
        raise ExportDiffError(f"{path}: {error}: name a folder that `wireproof export` wrote") from None
    rows = [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]
    return {row["id"]: row for row in rows}


def _row(line: str, where: str) -> Row:
    try:
        row = parse_json(line)
    except ValueError as error:
        raise ExportDiffError(f"{where}: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise ExportDiffError(f"{where}: a line must be an object with an id")
    return row


def export_diff(before: Mapping[str, Row], now: Mapping[str, Row]) -> ExportDiff:
    """Compare the cases of two exports."""
    renamed = {alias: name for name, row in now.items() for alias in row.get("aliases", ())}
    present = {name: name if name in now else renamed.get(name) for name in before}
    changed = [
        difference
        for name, new in sorted(present.items())
        if new is not None
        for difference in _differences(new, before[name], now[new])
    ]
    return ExportDiff(
        tuple(sorted(now.keys() - set(present.values()))),
        tuple(sorted(name for name, new in present.items() if new is None)),
        tuple(sorted((name, new) for name, new in present.items() if new not in (None, name))),
        tuple(changed),
    )


def _differences(name: str, before: Row, now: Row) -> Iterator[CaseDifference]:
    for part, read in PARTS.items():
        was, is_now = read(before), read(now)
        if was != is_now:
            yield CaseDifference(name, part, *_shortened(was, is_now))


def _shortened(before: str, now: str) -> tuple[str, str]:
    """Return both texts from a little before the first difference on."""
    pairs = zip(before, now, strict=False)
    same = next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(before), len(now)))
    start = max(0, same - 20) if max(len(before), len(now)) > MAX_SHOWN else 0
    return _cut(before, start), _cut(now, start)


def _cut(text: str, start: int) -> str:
    head = "…" if start else ""
    return head + text[start : start + MAX_SHOWN] + ("…" if len(text) > start + MAX_SHOWN else "")


# --- the changelog of cases ---


def changelog(found: ExportDiff) -> str:
    """Return the differences as Markdown, for the notes of a release."""
    parts = ["## Cases", "", _counts(found), ""]
    for title, rows in (
        ("Added", _topics(found.added)),
        ("Renamed", _renames(found)),
        ("Removed", _topics(found.removed)),
    ):
        parts += [f"### {title}", "", *rows, ""] if rows else []
    if found.changed:
        parts += ["### Changed", "", "| case | part | before | now |", "|---|---|---|---|"]
        parts += [
            f"| `{one.id}` | {one.part} | {_code(one.before)} | {_code(one.now)} |" for one in found.changed
        ]
        parts += [""]
    return "\n".join(parts)


def _counts(found: ExportDiff) -> str:
    cases = len({one.id for one in found.changed})
    counts = {
        "added": len(found.added),
        "changed": cases,
        "renamed": len(found.renamed),
        "removed": len(found.removed),
    }
    return ", ".join(f"{number} {name}" for name, number in counts.items()) + "."


def _topics(names: tuple[str, ...]) -> list[str]:
    """Return a line for each topic, with the names of its cases."""
    topics: dict[str, list[str]] = {}
    for name in names:
        topic, _, last = name.rpartition("/")
        topics.setdefault(topic, []).append(last)
    return [f"- `{topic}/`: {', '.join(f'`{one}`' for one in lasts)}" for topic, lasts in topics.items()]


def _renames(found: ExportDiff) -> list[str]:
    return [f"- `{old}` is `{new}`" for old, new in found.renamed]


def _code(text: str) -> str:
    """Return text as code in a cell of a table."""
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"
