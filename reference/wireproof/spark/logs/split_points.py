"""Find the split points of a stream: positions where it may be cut into parts that are scanned separately.

The items of the parts are the items of the whole. They are defined by the reference's scan. If the header of
an entry is valid, the length follows from the header alone, whatever the checksum is, so the index pass steps
over the entry without reading its contents. Anywhere else the reference itself scans from that position until
headers can be followed again. No position is ever guessed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.formats import Format, steps_of
from wireproof.spark.logs.objects import ObjectReader, PieceReader
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import Budget, Steps, follow_sizes, part_items, whole_size, within_part

if TYPE_CHECKING:
    from wireproof.spark.item_cases import ItemCase
    from wireproof.spark.logs.columns import EntryColumns

Stride = Callable[[ObjectReader, int, Options], int]
"""Returns the bytes of the item at a position if its header proves that it is complete; else 0."""


@frozen
class SplitPoint:
    """A position where an item ends and a scan may begin.

    Attributes:
        at: the position.
        settled: whether bytes that are appended later cannot change the items before it.
        garbage: the garbage that ends here; None if another item does, or nobody looked.
    """

    at: int
    settled: bool
    garbage: Item | None = field(default=None, eq=False)


def find_split_points(
    framing: "StreamFraming", stored: ObjectReader, options: Options, start: int = 0, step: int = 1
) -> Iterator[SplitPoint]:
    """Yield the split points after `start`, which is itself one; the last is the end of the object.

    Where headers can be followed, split points less than `step` bytes after the last one are left out. Beyond
    what a walk may read again the reference continues alone.
    """
    at, settled, counted, budget = start, True, start, Budget(start)

    def size_at(here: int) -> int:
        return framing.stride(stored, here, options)

    while at < stored.size:
        reached = follow_sizes(size_at, at, counted + step)
        if reached > at:
            at, counted = reached, _count_from(reached, counted, step)
            yield SplitPoint(at, settled)
            continue
        pieces = stored.pieces(at)
        for point in framing.recover(framing.fmt, pieces, options):
            at, settled = point.at, settled and point.settled
            counted = _count_from(at, counted, step)
            yield SplitPoint(at, settled, point.garbage)
            budget.spent += pieces.position - at
            if budget.allows(at):
                break
            budget.spent -= pieces.position - at


def _count_from(at: int, counted: int, step: int) -> int:
    """Return the position from which the next step counts."""
    return at if at - counted >= step else counted


# --- the reference continues from a position ---


def recover_by_item(fmt: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield split points for scans that carry nothing but the position from one item to the next."""
    start, steps = pieces.position, steps_of(fmt)
    for item in formats.scan(fmt, pieces, options):
        checked = within_part(steps, pieces, evolve(item, at=start + item.at), options)
        settled = not pieces.ended or checked.kind != item.kind or is_certain(fmt, pieces, checked, options)
        pieces.forget(checked.at + checked.length)
        yield SplitPoint(checked.at + checked.length, settled)
        if checked.kind != item.kind:
            return


def is_certain(fmt: Format, pieces: PieceReader, garbage: Item, options: Options) -> bool:
    """Return whether garbage certainly ends here, although bytes in it look like a cut entry."""
    end = garbage.at + garbage.length
    proves = steps_of(fmt).entries_begin_at
    if proves is None or garbage.kind != "garbage" or end >= pieces.stored.size:
        return False
    return proves(pieces.read, end, options)


def scan_items(
    framing: "StreamFraming", stored: ObjectReader, start: int, end: int, options: Options
) -> Iterator[Item]:
    """Yield the items of a range.

    The scan reads past `end` as far as it must to judge the items that begin before it.
    """
    return part_items(steps_of(framing.fmt), stored, options, start, end)


@cache
def _steps(fmt: Format) -> Steps:  # a function of this module, since Spark's pickling looks it up by its name
    return steps_of(fmt)


def framing_of_records(fmt: Format) -> "StreamFraming":
    """Return the rules for splitting a stream of records, whose lengths give the size of each."""

    def stride(stored: ObjectReader, position: int, _: Options) -> int:
        def read(at: int, length: int) -> bytes:
            data, index = stored.at(at, length)
            return data[index : index + length]

        return whole_size(_steps(fmt), read, position, stored.size)

    return StreamFraming(fmt, stride)


@frozen
class FastScan:
    """The fast decoder of a stream.

    Attributes:
        columns: yields the entries of a range as columns with the names in the last argument, and other bytes
            as items.
        facts: the names of the columns from which the facts of an entry are made.
        formats: the ids of the formats of entries, by the number in the column `magic`.
        entry_format: returns the id of the format of an entry; None if the bytes do not show it.
    """

    columns: "Callable[[ObjectReader, int, int, Options, Sequence[str]], Iterator[EntryColumns | Item]]"
    facts: tuple[str, ...]
    formats: tuple[str, ...]
    entry_format: Callable[[bytes], str | None]


@frozen
class StreamFraming:
    """The rules for splitting a stream of one format.

    Attributes:
        fmt: the format, which has a scan.
        stride: follows headers.
        recover: yields the split points that the reference finds from a position on; the last is the end.
        item_case: makes a case of an item; None for a case of the stream itself.
        fast: the fast decoder; None if only the reference decodes the stream.
    """

    fmt: Format
    stride: Stride
    recover: Callable[[Format, PieceReader, Options], Iterator[SplitPoint]] = recover_by_item
    item_case: "Callable[[Item, bytes, Options], ItemCase] | None" = None
    fast: FastScan | None = None
