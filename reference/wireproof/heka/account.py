"""The byte account of a stream in several framings at once, and where two of them part. heka.md, section 2.4.

Bounded memory: a scanner holds one frame at most, and of the items only those are kept which another framing
has not reached yet.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.heka.scan import Scanner
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options, Resync

SHOWN: Final = 4
"""Items of one side of a difference that are kept; the others are counted."""

Row = tuple[str, str | None]
"""Kind and class of items."""


@define
class Account:
    """What one framing makes of all bytes: items and bytes by kind and class."""

    items: Counter[Row] = field(factory=Counter)
    bytes: Counter[Row] = field(factory=Counter)

    def add(self, item: Item) -> None:
        """Count an item."""
        self.items[item.kind, item.cls] += 1
        self.bytes[item.kind, item.cls] += item.length

    @property
    def total(self) -> int:
        """All bytes: the size of the stream, for every byte lies in one item."""
        return self.bytes.total()


@define
class Side:
    """The items of one framing within a difference."""

    end: int
    first: list[Item] = field(factory=list)
    more: int = 0

    def take(self, item: Item) -> None:
        """Add the next item."""
        self.end = item.at + item.length
        if len(self.first) < SHOWN:
            self.first.append(item)
        else:
            self.more += 1

    def __str__(self) -> str:
        """`frame 25 (bad-length), garbage 3`."""
        parts = [f"{one.kind} {one.length}" + (f" ({one.cls})" if one.cls else "") for one in self.first]
        return ", ".join(parts) + (f" and {self.more} more" if self.more else "")


@frozen
class Difference:
    """Bytes `at` to `end` that two framings divide, or name, differently."""

    at: int
    end: int
    left: Side
    right: Side


class Parting:
    """Finds where two sequences of items that cover the same bytes part and meet again."""

    def __init__(self) -> None:
        """Start at byte 0."""
        self._waiting: tuple[deque[Item], deque[Item]] = (deque(), deque())
        self._sides: tuple[Side, Side] | None = None
        self._at = 0

    def feed(self, left: Iterable[Item], right: Iterable[Item]) -> Iterator[Difference]:
        """Take the next items of both; gives the differences that they end."""
        for waiting, items in zip(self._waiting, (left, right), strict=True):
            waiting.extend(evolve(item, value=None, remarks=()) for item in items)
        while self._step():
            if self._sides is not None and self._sides[0].end == self._sides[1].end:
                yield Difference(self._at, self._sides[0].end, *self._sides)
                self._sides = None

    def _step(self) -> bool:
        """Take one item, or one of each; False where they have not come yet."""
        left, right = self._waiting
        if self._sides is not None:
            behind = 0 if self._sides[0].end < self._sides[1].end else 1
            return self._take(behind)
        if not (left and right):
            return False
        if left[0] == right[0]:
            left.popleft()
            right.popleft()
            return True
        self._at = left[0].at
        self._sides = (Side(self._at), Side(self._at))
        return self._take(0) and self._take(1)

    def _take(self, which: int) -> bool:
        assert self._sides is not None, "only within a difference"
        if not self._waiting[which]:
            return False
        self._sides[which].take(self._waiting[which].popleft())
        return True


def account(
    chunks: Iterable[bytes], modes: Sequence[Resync], accounts: Sequence[Account], options: Options = DEFAULT
) -> Iterator[Difference]:
    """Count a stream in each of `modes`; gives where the last two of them part.

    Args:
        chunks: the stream, in any pieces.
        modes: framings, by their names in `Options.resync`.
        accounts: one for each of them, added to.
        options: `keys`, `max_message` and `compression`, as for a scan.
    """
    scanners = [Scanner(evolve(options, resync=mode)) for mode in modes]
    parting = Parting()
    feeds: Iterator[list[list[Item]]] = (
        [list(scanner.feed(chunk)) for scanner in scanners] for chunk in chunks
    )
    for items in feeds:
        yield from _counted(items, accounts, parting)
    yield from _counted([list(scanner.finish()) for scanner in scanners], accounts, parting)


def _counted(
    items: Sequence[list[Item]], accounts: Sequence[Account], parting: Parting
) -> Iterator[Difference]:
    for one, counted in zip(items, accounts, strict=True):
        for item in one:
            counted.add(item)
    if len(items) > 1:
        yield from parting.feed(items[-2], items[-1])
