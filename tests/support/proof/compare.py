"""Compare two records: what changed, what is gone, what is new."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

SHOWN: Final = 10
"""The differences of a part that are printed, of each kind."""

FIGURES: Final = "figures"
"""The part whose values may differ: they are printed beside each other."""


@frozen
class Difference:
    """The differences of one part between two records.

    `new` is no fault: a case that was added has no row before.
    """

    part: str
    same: int
    changed: tuple[tuple[str, str, str], ...]
    gone: tuple[tuple[str, str], ...]
    new: tuple[tuple[str, str], ...]

    @property
    def is_fault(self) -> bool:
        """Say whether something that was there is lost, or is another."""
        return bool(self.changed or self.gone) and self.part != FIGURES

    def lines(self, shown: int = SHOWN) -> Iterator[str]:
        """Yield the counts, and the first differences of each kind."""
        counts = f"{self.same:,} same, {len(self.changed):,} changed"
        yield f"{self.part}: {counts}, {len(self.gone):,} gone, {len(self.new):,} new"
        if self.part == FIGURES:
            yield from (f"  {key}: {before} -> {now}" for key, before, now in self.changed)
            return
        for key, before, now in self.changed[:shown]:
            yield f"  changed  {key}"
            yield f"    before {before}"
            yield f"    now    {now}"
        for name, rows in (("gone", self.gone), ("new", self.new)):
            yield from (f"  {name:<8} {key}  {value}" for key, value in rows[:shown])


def read(path: Path) -> dict[str, str]:
    """Return the rows of a part of a record."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8", "surrogateescape")
    return dict(line.split("\t", 1) for line in text.split("\n") if line)


def compare_part(part: str, before: dict[str, str], now: dict[str, str]) -> Difference:
    """Compare the rows of one part."""
    both = before.keys() & now.keys()
    changed = tuple((key, before[key], now[key]) for key in sorted(both) if before[key] != now[key])
    return Difference(
        part,
        len(both) - len(changed),
        changed,
        tuple((key, before[key]) for key in sorted(before.keys() - both)),
        tuple((key, now[key]) for key in sorted(now.keys() - both)),
    )


def compare(before: Path, now: Path) -> Iterator[Difference]:
    """Yield the differences of each part that both records have."""
    for path in sorted(before.glob("*.tsv.gz")):
        if (other := now / path.name).exists():
            yield compare_part(path.name.partition(".")[0], read(path), read(other))


def missing(before: Path, now: Path) -> list[str]:
    """Return the parts that one record alone has."""
    names = [{path.name.partition(".")[0] for path in folder.glob("*.tsv.gz")} for folder in (before, now)]
    return sorted(names[0] ^ names[1])
