"""What a stream has lost: the bytes without a sound entry, and the records that were there.

An entry is sound if it is whole and valid and its offsets fit between those of its neighbours: no checksum of
Kafka covers an offset. All bytes between two sound entries are one loss. The offsets of the two show how many
records it had at most; a log without gaps had exactly as many, and headers that are still there count them.
"""

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from attrs import define, evolve, field, frozen

from wireproof.family import EntryListing
from wireproof.formats import Format, steps_of
from wireproof.inspect.detect_format import mismatch_remarks
from wireproof.wire.byte_source import ByteSource
from wireproof.wire.text import instant
from wireproof.wire.walk import DamagedRange, Entry, EntryHeads, EntryRows

MAX_CAUSES: Final = 8
"""Damaged ranges that a loss lists; the others are counted."""

NAME: Final = re.compile(r"(?P<base>\d{20})(?:-[A-Za-z0-9_-]{22})?\.log(?:\.(?:deleted|cleaned|swap))?")
"""The name of a segment: its base offset, the id of a remote one, the state: kafka.md §14.1, iggy.md §7.1."""


@frozen
class LostRecords:
    """The number of lost records: at least, at most (None if that is unknown), and what shows it."""

    least: int
    most: int | None
    basis: Literal["offsets", "headers", "bounds"]

    def __add__(self, other: "LostRecords") -> "LostRecords":
        most = None if self.most is None or other.most is None else self.most + other.most
        return LostRecords(self.least + other.least, most, other.basis)

    def __str__(self) -> str:
        if self.most is None:
            least = f"at least {self.least}" if self.least else "an unknown number of"
            return f"{least} record{'s' * (self.least != 1)}"
        if self.least == self.most:
            return f"{self.least or 'no'} record{'s' * (self.least > 1)}"
        return f"{self.least} to {self.most} records"


NOTHING_LOST: Final = LostRecords(0, 0, "offsets")


@frozen
class Loss:
    """Bytes without a sound entry, between two sound ones or the ends of a file.

    Attributes:
        at, end: the bytes.
        causes: what is wrong with them, the first ones.
        cause_count: the number of all causes.
        first, last: the lost offsets; None if unknown. `last` is below `first` if none is lost.
        counted: the records by the headers in the bytes; None if they do not show it.
        is_certain: whether `counted` comes from entries with a right checksum.
        before, after: the last time before the loss and the first one after it; None if unknown.
    """

    at: int
    end: int
    causes: tuple[DamagedRange, ...] = ()
    cause_count: int = 0
    first: int | None = None
    last: int | None = None
    counted: int | None = 0
    is_certain: bool = True
    before: int | None = None
    after: int | None = None

    @property
    def offsets(self) -> int | None:
        """Return the number of lost offsets; None if it is unknown."""
        return None if self.first is None or self.last is None else self.last - self.first + 1

    def records(self, *, gapless: bool) -> LostRecords:
        """Return the number of lost records; `gapless` if the sound part has a record at every offset."""
        offsets, counted = self.offsets, self.counted
        if counted is not None and (self.is_certain or counted == offsets):
            return LostRecords(counted, counted, "headers")
        if offsets is not None and (gapless or not offsets):
            return LostRecords(offsets, offsets, "offsets")
        if offsets is None and counted is not None:
            return LostRecords(counted, None, "headers")
        return LostRecords(0, offsets, "bounds")


@define
class LossFinder:
    """Divides the parts of a stream into sound entries and losses, in order; bytes are in exactly one.

    An entry waits for the one after it: if that has a lower offset, one of the two is out of place.

    Attributes:
        base, until: the base offset of the file and of the file after it, which bound what its ends lost.
        rising: whether every entry must have a higher offset than the one before it. Otherwise a log may
            begin again: its first entry with a lower offset is lost, and no further one.
        entries: the number of sound entries.
        gapless: whether they have a record at every offset.
    """

    fmt: Format
    listing: EntryListing
    source: ByteSource
    base: int | None = None
    until: int | None = None
    rising: bool = False
    entries: int = 0
    gapless: bool = True
    _next: int | None = None
    _time: int | None = None
    _held: Entry | None = None
    _low: int | None = None
    _open: Loss | None = field(default=None, init=False)
    _later: Loss | None = field(default=None, init=False)

    def checked(self, one: Entry) -> Entry:
        """Return a part as it is, or zeros as garbage if they are in the place of entries.

        Zeros at the end of the last file may be allocated in advance; other files end where the next begins.
        """
        last = self._offsets(self._held)[1] if self._held is not None else (self._expected() or 0) - 1
        if one.kind != "zeros" or self.until is None or last + 1 >= self.until:
            return one
        text = "zeros; the next file begins after the last offset here"
        damage = DamagedRange(one.at, one.end, one.number, "bad-length", one.at, "", text)
        return evolve(one, kind="garbage", damages=(damage,))

    def add(self, one: Entry) -> Iterator[Entry | Loss]:
        """Add the next part of the stream; yield what is certain now."""
        if one.kind == "zeros":
            return
        if one.kind != "frame" or any(damage.cls in mismatch_remarks() for damage in one.damages):
            if self._held is None:
                self._open = _joined(self._open, self._loss_of(one))
            else:
                self._later = _joined(self._later, self._loss_of(one))
        elif self.listing.offsets is None:
            yield from self._confirm(one)
        else:
            yield from self._place(one)

    def find(self, one: Entry | EntryRows) -> Iterator[Entry | Loss]:
        """Add the next entry or rows; yield what is certain now, but for sound rows that pass together."""
        if isinstance(one, Entry):
            yield from self.add(one)
        elif one.damages or not self.pass_rows(one):
            for entry in one:
                yield from self.add(entry)

    def pass_rows(self, rows: EntryRows) -> bool:
        """Pass entries whose offsets rise, and keep the last one; return False if one needs a look."""
        offsets, records, held = self.listing.offsets, self.listing.row_records, self._held
        if offsets is None or self._open or self._later or held is None:
            return False
        first, last = self._offsets(held)
        gapless = self.gapless and self._next in (None, first) and self._is_dense(held)
        for cells in rows.cells:
            first, end = offsets(cells) or (-1, -1)
            if first <= last:
                return False
            gapless = gapless and first == last + 1 and records(cells) in (None, end - first + 1)
            last = end
        before = held if len(rows) == 1 else rows.row(len(rows) - 2)
        self._held, self.gapless = rows.row(len(rows) - 1), gapless
        self.entries += len(rows)
        self._next = self._offsets(before)[1] + 1
        _, self._time = self.listing.times(before.cells) or (None, None)
        return True

    def end(self) -> Iterator[Entry | Loss]:
        """Yield the rest at the end of the file."""
        held, loss = self._held, self._later
        self._held = self._later = None
        if held is not None and self.until is not None:
            first, last = self._offsets(held)
            # It has the offsets of the next file, and none that follow the others.
            if last >= self.until and first > (self._expected() or 0):
                self._open = _joined(_joined(self._open, self._loss_of(held)), loss)
                held = None
        if held is not None:
            yield from self._confirm(held)
        else:
            loss = self._open
        if loss is not None:
            until = None if self.until is None else self.until - 1
            yield evolve(loss, first=self._expected(), last=until, before=self._time)

    # --- the order of entries ---

    def _place(self, one: Entry) -> Iterator[Entry | Loss]:
        """Take an entry as the next one, or call it or the one that waits out of place."""
        held = self._held
        if held is None:
            self._held = one
            return
        first, last = self._offsets(one)
        held_first, held_last = self._offsets(held)
        expected = self._expected() or 0
        if first > held_last:
            yield from self._confirm(held)
        elif held_first > expected and first >= expected:
            self._open = _joined(_joined(self._open, self._loss_of(held)), self._later)
            self._later = None
        elif self._low is not None and first > self._low and not self.rising:
            yield from self._confirm(held)
            self._next = self.base = None
        else:
            self._low = last
            self._later = _joined(self._later, self._loss_of(one))
            return
        self._held = one
        self._open, self._later = self._open or self._later, None

    def _confirm(self, one: Entry) -> Iterator[Entry | Loss]:
        """Yield the loss before a sound entry, and the entry."""
        first, last = self._offsets(one) if self.listing.offsets is not None else (None, None)
        low, high = self.listing.times(one.cells) or (None, None)
        if (loss := self._open) is not None:
            self._open = None
            wanted = self._expected()
            if first is not None and wanted is not None and wanted > first:
                wanted = None  # a log that begins again
            until = None if first is None else first - 1
            yield evolve(loss, first=wanted, last=until, before=self._time, after=low)
        elif first is not None and self._next is not None and first != self._next:
            self.gapless = False
        if first is not None and last is not None:
            self.gapless = self.gapless and self._is_dense(one)
            self._next = last + 1
        self._time, self._low = high if high is not None else self._time, None
        self.entries += 1
        yield one

    def _expected(self) -> int | None:
        return self.base if self._next is None else self._next

    def _offsets(self, one: Entry) -> tuple[int, int]:
        assert self.listing.offsets is not None, "asked before"
        return self.listing.offsets(one.cells) or (-1, -1)

    def _is_dense(self, one: Entry) -> bool:
        """Return whether an entry has a record at every offset; one whose records were not read may have."""
        first, last = self._offsets(one)
        return self.listing.row_records(one.cells) in (None, last - first + 1)

    # --- damaged bytes ---

    def _loss_of(self, one: Entry) -> Loss:
        """Return the loss of one part of the stream."""
        cls, text = "out-of-place", "its offset does not fit between those of its neighbours"
        if one.kind == "tail":
            cls, text = "cut", "the file ends within this entry"
        causes = one.damages or (DamagedRange(one.at, one.end, one.number, cls, one.at, "", text),)
        is_entry = one.kind == "frame"
        counted = self.listing.row_records(one.cells) if is_entry else self._counted(one)
        return Loss(one.at, one.end, causes[:MAX_CAUSES], len(causes), counted=counted, is_certain=is_entry)

    def _counted(self, one: Entry) -> int | None:
        """Return the records of damaged entries by their headers, if these follow each other."""
        heads, end, total = EntryHeads(steps_of(self.fmt), self.source), one.at, 0
        for at, size in heads.sizes(one.at, one.end):
            count = self.listing.head_records(heads.at(at))
            if not size or count is None or count < 0:
                return None
            end, total = at + size, total + count
        return total if end == one.end or one.kind == "tail" else None


def _joined(one: Loss | None, other: Loss | None) -> Loss | None:
    """Return two neighbouring losses as one."""
    if one is None or other is None:
        return one or other
    counted = None if one.counted is None or other.counted is None else one.counted + other.counted
    return evolve(
        one,
        end=other.end,
        causes=(*one.causes, *other.causes)[:MAX_CAUSES],
        cause_count=one.cause_count + other.cause_count,
        counted=counted,
        is_certain=one.is_certain and other.is_certain,
    )


# --- the losses of a file ---


@define
class FileLosses:
    """The losses of a file.

    Attributes:
        most_kept: how many are kept.
        gapless: whether the sound entries have a record at every offset, which is known at the end.
        ticks: the units of times in a second.
        kept: the first ones.
        count: the number of all of them.
    """

    most_kept: int = 0
    gapless: bool = True
    ticks: int = 1000
    kept: list[Loss] = field(factory=list)
    count: int = 0
    _sums: dict[bool, LostRecords] = field(factory=lambda: dict.fromkeys((False, True), NOTHING_LOST))

    def add(self, found: Iterable[Entry | Loss]) -> None:
        """Add the losses among some parts."""
        for one in found:
            if isinstance(one, Loss):
                self.kept += [one] if len(self.kept) < self.most_kept else []
                self.count += 1
                for gapless, total in self._sums.items():
                    self._sums[gapless] = total + one.records(gapless=gapless)

    def end(self, finder: LossFinder) -> "FileLosses":
        """Take what a finder knows that has divided the file to its end."""
        self.gapless, self.ticks = finder.gapless, finder.listing.ticks
        return self

    @property
    def records(self) -> LostRecords:
        """Return the number of records of all of them."""
        return self._sums[self.gapless]

    def lines(self) -> Iterator[str]:
        """Yield a line for each loss, and the sum of several."""
        for loss in self.kept:
            yield f"lost: {loss_text(loss, gapless=self.gapless, ticks=self.ticks)}"
        if self.count > len(self.kept):
            yield f"… {self.count - len(self.kept)} more losses"
        if self.count > 1:
            yield f"lost in all: {self.records} at {self.count} places"


def loss_text(loss: Loss, *, gapless: bool, ticks: int) -> str:
    """Return the bytes, offsets, number of records and time span of a loss."""
    parts = [f"bytes {loss.at} to {loss.end}"]
    if loss.first is not None and loss.last is not None:
        some = f"offsets {loss.first} to {loss.last}" if loss.last > loss.first else f"offset {loss.first}"
        parts += [some] if loss.last >= loss.first else []
    elif loss.first is not None:
        parts.append(f"offsets from {loss.first} on")
    elif loss.last is not None:
        parts.append(f"offsets up to {loss.last}")
    parts.append(str(loss.records(gapless=gapless)))
    times = [time for time in (loss.before, loss.after) if time is not None]
    shown = [instant(time, ticks, len(str(ticks)) - 1) for time in sorted(times)]
    if len(shown) > 1:
        parts.append(f"written between {shown[0]} and {shown[1]}")
    elif shown:
        parts.append(f"written {'after' if loss.after is None else 'before'} {shown[0]}")
    return ", ".join(parts)


# --- the offsets between which a file is ---


def bounds_of(path: Path) -> tuple[int | None, int | None]:
    """Return the base offset of a segment and that of the segment after it in its folder; None if unknown."""
    name = NAME.fullmatch(path.name)
    if name is None:
        return None, None
    base = int(name["base"])
    folder = path.absolute().parent
    try:
        bases = _bases(folder, folder.stat().st_mtime_ns)
    except OSError:  # a folder that may not be listed
        return base, None
    later = bisect_right(bases, base)
    return base, bases[later] if later < len(bases) else None


@lru_cache(maxsize=1)
def _bases(folder: Path, _: int) -> tuple[int, ...]:
    """Return the base offsets of the segments in a folder, in order: it may have a hundred thousand."""
    names = (NAME.fullmatch(one.name) for one in os.scandir(folder))
    return tuple(sorted(int(name["base"]) for name in names if name is not None))
