"""What a scan did not read, and what it found damaged, in lines for a person, and the exit code of that.

Objects in which no entry stands are looked at again: they may be of another revision or system, or packed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from attrs import frozen

from wireproof.cases.looks import looks_like
from wireproof.spark.errors import SourceError
from wireproof.spark.places import Place, Skipped
from wireproof.spark.settings import Settings
from wireproof.spark.stored import Stored
from wireproof.trial.iggy_companions import HEAD, kafkas, row_of

MOST: Final = 100
"""Lines of one sort; the others are counted, and stand in the tables."""

SHOWN: Final = 3
"""Objects that are named of each reason to leave them out."""


@frozen
class Outcome:
    """Lines, and whether they say that something is wrong."""

    lines: tuple[str, ...]
    wrong: bool


def outcome(
    asked: Settings,
    places: Sequence[Place],
    skipped: Sequence[Skipped],
    files: list[dict[str, Any]],
    out: Path,
) -> Outcome:
    """Everything that is not sound, or was not read, in a scan whose tables are in `out`."""
    unread = list(_unread(asked, places, files))
    faults = [_fault(row) for row in files if row["fault"]]
    damaged = list(_damaged(out, sum(row["damaged"] for row in files)))
    large = list(_too_large(out))
    lines = [
        *_capped(unread),
        *_capped(faults),
        *damaged,
        *_capped(large),
        *_tails(files),
        *_left_out(skipped),
    ]
    return Outcome(tuple(lines), bool(unread or faults or damaged))


def _capped(lines: list[str]) -> list[str]:
    return lines[:MOST] + [f"… {len(lines) - MOST} more"] * (len(lines) > MOST)


def _fault(row: dict[str, Any]) -> str:
    why = (
        "it is cut or damaged" if row["fault"] == "decompress-failed" else "it is too large, see max_unpacked"
    )
    return f"not read to its end: {row['path']}: {row['fault']}, {row['read']:,} bytes were unpacked; {why}"


def _damaged(out: Path, count: int) -> Iterator[str]:
    rows = pq.read_table(out / "damage.parquet").to_pylist()
    for row in rows[:MOST]:
        end = row["position"] + row["length"]
        yield f"wrong: {row['path']}: bytes {row['position']} to {end}: {row['class']}"
    if (more := max(count, len(rows)) - MOST) > 0:
        yield f"… {more:,} more: the table damage, or frames where kind is garbage"


def _too_large(out: Path) -> Iterator[str]:
    """The entries that no adapter was asked about."""
    signatures = pq.read_table(out / "signatures.parquet", filters=[("class", "==", "too-large")]).to_pylist()
    for row in signatures:
        what = f"{row['count']:,} entries of {row['bytes']:,} bytes together"
        yield f"not run: {row['implementation']} was not asked about {what}: too large for an adapter"


def _tails(files: list[dict[str, Any]]) -> list[str]:
    """Objects that end within an entry, as those do that are being written."""
    torn = [row for row in files if row["tails"] and row["frames"]]
    named = ", ".join(f"{row['path']} ({row['tail_bytes']:,} bytes)" for row in torn[:SHOWN])
    more = ", …" if len(torn) > SHOWN else ""
    return [f"{len(torn)} objects end within an entry: {named}{more}"] if torn else []


def _left_out(skipped: Sequence[Skipped]) -> Iterator[str]:
    """One line of each reason."""
    by_why: dict[str, list[Skipped]] = {}
    for one in skipped:
        by_why.setdefault(one.why.partition(",")[0] if "read, " in one.why else one.why, []).append(one)
    for why, some in sorted(by_why.items()):
        named = ", ".join(one.shown for one in some[:SHOWN]) + (", …" if len(some) > SHOWN else "")
        yield f"not read: {len(some)} objects, {sum(one.size for one in some):,} bytes: {why}: {named}"


# --- objects in which no entry stands ---


def _unread(asked: Settings, places: Sequence[Place], files: list[dict[str, Any]]) -> Iterator[str]:
    empty = {row["path"] for row in files if not row["frames"] and row["read"]}
    for place in places:
        if place.shown in empty:
            nothing = f"no entry of {asked.framing.row.joined} is whole in it"
            yield f"not read: {place.shown}: {nothing}; {_other(place)}"


def _other(place: Place) -> str:
    """What it may be, and the command for that."""
    if place.compression:
        return "look at the unpacked file with wireproof explain"
    head = head_of(place)
    if (row := row_of(head)) is not None:
        return f"scan it with --source iggy_log --set revision={row.revision}"
    if kafkas(head):
        return "scan it with --source kafka_log"
    like = looks_like(head)
    return f"it looks like {like}" if like else "no format fits it"


def head_of(place: Place) -> bytes:
    """The first bytes of an object."""
    stored = Stored.of(place)
    try:
        return stored.read(0, min(HEAD, place.size))
    finally:
        stored.close()


def revision_of(places: Sequence[Place]) -> str | None:
    """The revision of the first Iggy segment among some objects that tells it; None if none does."""
    for place in places:
        if place.size and not place.compression:
            try:
                row = row_of(head_of(place))
            except SourceError:  # it is gone, which the scan reports
                continue
            if row is not None:
                return row.revision
    return None
