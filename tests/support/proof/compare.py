"""Compare two records: what changed, what is gone, what is new, and what was not measured."""

import gzip
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from tests.support.proof.record import NOT_DONE

SHOWN: Final = 10
"""The differences of a part that are printed, of each kind."""

FIGURES: Final = "figures"
"""The part whose values may differ: they are printed beside each other."""


@frozen
class Difference:
    """The differences of one part between two records.

    `new` is no fault: a case that was added has no row before. What one of the records could not measure is
    `unproven` and a fault, also if neither of them could.
    """

    part: str
    same: int
    changed: tuple[tuple[str, str, str], ...]
    gone: tuple[tuple[str, str], ...]
    new: tuple[tuple[str, str], ...]
    unproven: tuple[tuple[str, str, str], ...] = ()

    @property
    def is_fault(self) -> bool:
        """Say whether something that was there is lost, or is another, or whether that is not known."""
        return bool(self.changed or self.gone or self.unproven) and self.part != FIGURES

    def lines(self, shown: int = SHOWN) -> Iterator[str]:
        """Yield the counts, and the first differences of each kind."""
        counts = f"{self.same:,} same, {len(self.changed):,} changed"
        unproven = f", {len(self.unproven):,} not measured" if self.unproven else ""
        yield f"{self.part}: {counts}, {len(self.gone):,} gone, {len(self.new):,} new{unproven}"
        if self.part == FIGURES:
            yield from (f"  {key}: {before} -> {now}" for key, before, now in self.changed)
            return
        for name, rows in (("changed", self.changed), ("unproven", self.unproven)):
            for key, before, now in rows[:shown]:
                yield f"  {name:<8} {key}"
                yield f"    before {before}"
                yield f"    now    {now}"
        for name, others in (("gone", self.gone), ("new", self.new)):
            yield from (f"  {name:<8} {key}  {value}" for key, value in others[:shown])


def read(path: Path) -> dict[str, str]:
    """Return the rows of a part of a record."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8", "surrogateescape")
    return dict(line.split("\t", 1) for line in text.split("\n") if line)


def compare_part(part: str, before: dict[str, str], now: dict[str, str]) -> Difference:
    """Compare the rows of one part."""
    both = sorted(before.keys() & now.keys())
    unproven = {key for key in both if NOT_DONE in (before[key][: len(NOT_DONE)], now[key][: len(NOT_DONE)])}
    changed = [key for key in both if before[key] != now[key] and key not in unproven]
    return Difference(
        part,
        len(both) - len(changed) - len(unproven),
        tuple((key, before[key], now[key]) for key in changed),
        tuple((key, before[key]) for key in sorted(before.keys() - now.keys())),
        tuple((key, now[key]) for key in sorted(now.keys() - before.keys())),
        tuple((key, before[key], now[key]) for key in sorted(unproven)),
    )


def compare(before: Path, now: Path, parts: Collection[str]) -> Iterator[Difference]:
    """Yield the differences of each of these parts that both records have."""
    for part in parts:
        paths = [folder / f"{part}.tsv.gz" for folder in (before, now)]
        if all(path.exists() for path in paths):
            yield compare_part(part, *map(read, paths))


def missing(before: Path, now: Path, parts: Collection[str]) -> Iterator[str]:
    """Yield a line for each of these parts that a record lacks: it is not proven."""
    for part in parts:
        names = [
            name
            for name, folder in (("before", before), ("now", now))
            if not (folder / f"{part}.tsv.gz").exists()
        ]
        if names:
            yield f"{part}: not compared: there is no record of it {' and '.join(names)}"
