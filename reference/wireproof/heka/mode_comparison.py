"""A scan of a stream in several resync modes at once, with byte counts and differences. heka.md, section 2.4.

Memory is bounded: a scanner stores at most one frame, and an item is stored only until the other mode has
reached it.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.heka.scan import Scanner
from wireproof.wire.options import DEFAULT_OPTIONS, Options, ResyncMode
from wireproof.wire.scan_items import Item

MAX_ITEMS_SHOWN: Final = 4
"""Number of items that a difference stores for each side; further ones are only counted."""

KindAndClass = tuple[str, str | None]
"""Kind and reject class of items."""


@define
class ModeCounts:
    """The numbers of items and of bytes that one mode found, by kind and reject class."""

    items: Counter[KindAndClass] = field(factory=Counter)
    bytes: Counter[KindAndClass] = field(factory=Counter)

    def add(self, item: Item) -> None:
        """Add an item to the counts."""
        self.items[item.kind, item.cls] += 1
        self.bytes[item.kind, item.cls] += item.length

    @property
    def total(self) -> int:
        """Return the size of the stream in bytes: every byte belongs to exactly one item."""
        return self.bytes.total()


@define
class DifferenceSide:
    """The items of one mode within a difference.

    Attributes:
        end: position after the last item.
        first: the first items, at most `MAX_ITEMS_SHOWN`.
        more: the number of further items.
    """

    end: int
    first: list[Item] = field(factory=list)
    more: int = 0

    def take(self, item: Item) -> None:
        """Add the next item."""
        self.end = item.at + item.length
        if len(self.first) < MAX_ITEMS_SHOWN:
            self.first.append(item)
        else:
            self.more += 1

    def __str__(self) -> str:
        """Return the items as text, such as `frame 25 (bad-length), garbage 3`."""
        parts = [f"{item.kind} {item.length}" + (f" ({item.cls})" if item.cls else "") for item in self.first]
        return ", ".join(parts) + (f" and {self.more} more" if self.more else "")


@frozen
class ModeDifference:
    """The bytes from `at` to `end`, which two modes divide or classify differently."""

    at: int
    end: int
    left: DifferenceSide
    right: DifferenceSide


class ItemComparison:
    """Finds the differences between two sequences of items that cover the same bytes."""

    def __init__(self) -> None:
        """Start at byte 0."""
        self._queues: tuple[deque[Item], deque[Item]] = (deque(), deque())
        self._sides: tuple[DifferenceSide, DifferenceSide] | None = None
        self._at = 0

    def feed(self, left: Iterable[Item], right: Iterable[Item]) -> Iterator[ModeDifference]:
        """Take the next items of both sequences, and yield the differences that end with them."""
        for queue, items in zip(self._queues, (left, right), strict=True):
            queue.extend(evolve(item, value=None, remarks=()) for item in items)
        while self._step():
            if self._sides is not None and self._sides[0].end == self._sides[1].end:
                yield ModeDifference(self._at, self._sides[0].end, *self._sides)
                self._sides = None

    def _step(self) -> bool:
        """Take one item, or one from each queue; return False if a needed queue is empty."""
        left, right = self._queues
        if self._sides is not None:
            shorter = 0 if self._sides[0].end < self._sides[1].end else 1
            return self._take(shorter)
        if not (left and right):
            return False
        if left[0] == right[0]:
            left.popleft()
            right.popleft()
            return True
        self._at = left[0].at
        self._sides = (DifferenceSide(self._at), DifferenceSide(self._at))
        return self._take(0) and self._take(1)

    def _take(self, which: int) -> bool:
        assert self._sides is not None, "only within a difference"
        if not self._queues[which]:
            return False
        self._sides[which].take(self._queues[which].popleft())
        return True


def compare_modes(
    chunks: Iterable[bytes],
    modes: Sequence[ResyncMode],
    accounts: Sequence[ModeCounts],
    options: Options = DEFAULT_OPTIONS,
) -> Iterator[ModeDifference]:
    """Scan a stream in each mode, and yield the differences between the last two modes.

    Args:
        chunks: the stream, divided in any way.
        modes: names of modes, as in `Options.resync`.
        accounts: one object for each mode, to which the items are added.
        options: `keys`, `max_message` and `compression`, as for a scan.
    """
    scanners = [Scanner(evolve(options, resync=mode)) for mode in modes]
    comparison = ItemComparison()
    feeds: Iterator[list[list[Item]]] = (
        [list(scanner.feed(chunk)) for scanner in scanners] for chunk in chunks
    )
    for items in feeds:
        yield from _count(items, accounts, comparison)
    yield from _count([list(scanner.finish()) for scanner in scanners], accounts, comparison)


def _count(
    items: Sequence[list[Item]], accounts: Sequence[ModeCounts], comparison: ItemComparison
) -> Iterator[ModeDifference]:
    for items_of_mode, counts in zip(items, accounts, strict=True):
        for item in items_of_mode:
            counts.add(item)
    if len(items) > 1:
        yield from comparison.feed(items[-2], items[-1])
