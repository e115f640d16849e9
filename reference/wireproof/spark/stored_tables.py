"""Read the tables that a scan or a campaign wrote to a folder, and compare two scans, without Spark."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from wireproof.spark.errors import SourceError


def scans_of(out: Path) -> list[str]:
    """Return the ids of the complete scans in a folder, which have `run`, in the order of their times."""
    return sorted(folder.name.partition("=")[2] for folder in (out / "run").glob("scan_date=*/scan_id=*"))


def latest_table(out: Path, name: str, scan: str | None = None) -> Path:
    """Return the folder of a table: of a campaign, or of the newest complete scan or the one with an id.

    A scan that is not complete yet is the newest one if none is.
    """
    chosen = scan or next(reversed(scans_of(out)), None)
    found = sorted((out / name).glob(f"scan_date=*/scan_id={chosen or '*'}"))
    return found[-1] if found else out / name


def stored_rows(folder: Path, most: int | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table in the order in which they were written, at most `most` of them."""
    table = _table(folder, most)
    rows: list[dict[str, Any]] = [] if table is None else table.to_pylist()
    return rows


def _table(folder: Path, most: int | None = None) -> pa.Table | None:
    files = sorted(str(file) for file in folder.glob("*.parquet"))
    if not files:
        return None
    table = ds.dataset(files, format="parquet", partitioning=None)
    return table.to_table() if most is None else table.head(most)


# --- two scans ---

MAX_LINES: Final = 100
"""Changes of one kind that are listed; the others are counted."""

_KEYS: Final = {
    "damage": ("path", "position", "length", "class"),
    "failures": ("path", "position", "length", "implementation", "verdict", "class", "field"),
}
"""What makes a row of a table the same in two scans."""


def scan_changes(folders: Sequence[Path]) -> tuple[list[str], bool]:
    """Compare the newest scans of two folders, or the last two scans of one.

    Returns:
        lines for a person of what is in one of them only; and whether something is newly damaged, or read
        otherwise.

    Raises:
        SourceError: a folder holds no complete scan, or the one folder only one.
    """
    scans = [(folder, scan) for folder in folders for scan in scans_of(folder)[-3 + len(folders) :]]
    if missing := [folder for folder in folders if not scans_of(folder)]:
        raise SourceError(f"{missing[0]} holds no complete scan")
    if len(scans) != 2:
        raise SourceError(f"{folders[0]} holds one scan: name another folder, or scan again")
    lines, worse = list[str](), False
    for name, keys in _KEYS.items():
        before, after = (_table(latest_table(folder, name, scan)) for folder, scan in scans)
        for change, one, other in (("new", after, before), ("gone", before, after)):
            rows = _only_in(one, other, keys)
            worse = worse or bool(rows and change == "new")
            for row in rows[:MAX_LINES]:
                names = " · ".join(
                    filter(None, map(row.get, ("implementation", "verdict", "class", "field")))
                )
                end = row["position"] + row["length"]
                lines.append(f"{change}: {row['path']}: bytes {row['position']} to {end}: {names}")
            lines += [f"… {len(rows) - MAX_LINES:,} more {change} rows of the table {name}"] * (
                len(rows) > MAX_LINES
            )
    return lines, worse


def _only_in(one: pa.Table | None, other: pa.Table | None, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of one table that the other has not, in order of their places."""
    if one is None:
        return []
    mine = one.select(keys)
    rows = mine if other is None else mine.join(other.select(keys), list(keys), join_type="left anti")
    found: list[dict[str, Any]] = rows.sort_by([(name, "ascending") for name in keys[:2]]).to_pylist()
    return found
