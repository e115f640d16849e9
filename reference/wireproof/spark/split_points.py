"""Find the split points of a stream: positions where it may be cut into parts that are scanned separately.

The items of the parts are the items of the whole. They are defined by the reference's scan. If the header of
an entry is valid, the length follows from the header alone, whatever the checksum is, so the index pass steps
over the entry without reading its contents. Anywhere else the reference itself scans from that position until
headers can be followed again. No position is ever guessed.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Protocol

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.formats import Format, steps_of
from wireproof.spark.objects import ObjectReader, PieceReader
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

if TYPE_CHECKING:
    from wireproof.spark.columns import EntryColumns
    from wireproof.spark.item_cases import ItemCase

Stride = Callable[[ObjectReader, int, Options], int]
"""Returns the bytes of the item at a position if its header proves that it is complete; else 0."""

FREE_REREAD: Final = 256 * 1024 * 1024
REREAD_FACTOR: Final = 4
"""The index pass may read `FREE_REREAD` bytes again, and `REREAD_FACTOR` for each byte passed.

Beyond that the reference continues alone, so damage that looks like a long entry every few bytes costs no
more.
"""


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


class ItemScan(Protocol):
    """Yields the items of the scan that begin in a range."""

    def __call__(
        self, framing: "StreamFraming", stored: ObjectReader, start: int, end: int, options: Options, /
    ) -> Iterator[Item]:
        """Yield the items; the range begins at a split point."""


def find_split_points(
    framing: "StreamFraming", stored: ObjectReader, options: Options, start: int = 0, step: int = 1
) -> Iterator[SplitPoint]:
    """Yield the split points after `start`, which is itself one; the last is the end of the object.

    Where headers can be followed, split points less than `step` bytes after the last one are left out.
    """
    at, settled, reread, counted = start, True, 0, start
    while at < stored.size:
        reached = _follow_headers(framing.stride, stored, at, counted + step, options)
        if reached > at:
            at, counted = reached, _count_from(reached, counted, step)
            yield SplitPoint(at, settled)
            continue
        pieces = stored.pieces(at)
        for point in framing.recover(framing.fmt, pieces, options):
            at, settled = point.at, settled and point.settled
            counted = _count_from(at, counted, step)
            yield SplitPoint(at, settled, point.garbage)
            if reread + pieces.position - at <= FREE_REREAD + REREAD_FACTOR * (at - start):
                reread += pieces.position - at
                break


def _count_from(at: int, counted: int, step: int) -> int:
    """Return the position from which the next step counts."""
    return at if at - counted >= step else counted


def _follow_headers(stride: Stride, stored: ObjectReader, at: int, goal: int, options: Options) -> int:
    """Return the first position from `goal` on that headers lead to, or the last one that they lead to."""
    while at < goal and (size := stride(stored, at, options)):
        at += size
    return at


# --- the reference continues from a position ---


def recover_by_item(fmt: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield split points for scans that carry nothing but the position from one item to the next."""
    start = pieces.position
    for item in formats.scan(fmt, pieces, options):
        checked = recheck_item(fmt, pieces, evolve(item, at=start + item.at), options)
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


def recheck_item(
    fmt: Format, pieces: PieceReader, item: Item, options: Options, end: int | None = None
) -> Item:
    """Return the item, or garbage in its place if valid entries follow inside the bytes that it claims.

    If an entry seems to be cut, its size may be damaged: see `Steps.damaged_length`.

    Args:
        fmt: the format of the scan.
        pieces: the bytes of the object, which the scan read.
        item: from the scan, at its position in the object.
        options: of the codec.
        end: a split point; an entry that claims bytes after it has a damaged size.
    """
    over = end is not None and item.at + item.length > end
    if item.kind == "frame" or not (over or item.kind == "tail"):
        return item
    search = steps_of(fmt).damaged_length
    if search is None:
        return item
    length = end - item.at if over and end is not None else item.length
    stop = search(pieces.read(item.at, length), length, options, None) if length <= MAX_TAIL_BYTES else 0
    if not stop and (not over or end == pieces.stored.size):
        return item
    return Item("garbage", item.at, stop or length, cls="bad-length")


MAX_TAIL_BYTES: Final = 64 * 1024 * 1024 + 12
"""The greatest tail that is searched for entries, in bytes."""


def scan_items(
    framing: "StreamFraming", stored: ObjectReader, start: int, end: int, options: Options
) -> Iterator[Item]:
    """Yield the items of a range.

    The scan reads past `end` as far as it must to judge the items that begin before it.
    """
    at, reread = start, 0
    while at < end:
        pieces = stored.pieces(at)
        for item in formats.scan(framing.fmt, pieces, options):
            moved = evolve(item, at=start + item.at)
            if moved.at >= end:
                return
            if reread <= FREE_REREAD + REREAD_FACTOR * (moved.at - start):
                moved = recheck_item(framing.fmt, pieces, moved, options, end)
            at = moved.at + moved.length
            pieces.forget(at)
            yield moved
            if moved.length != item.length:
                reread += item.length
                break
        start = at


def scan_record_by_record(
    framing: "StreamFraming", stored: ObjectReader, start: int, end: int, options: Options
) -> Iterator[Item]:
    """Yield the items of a range, record by record.

    A record with an unlimited length is not read to its end, because the bytes of the tail are not needed.
    """
    at, reread = start, 0
    while at < end:
        size = framing.stride(stored, at, options)
        if not size:
            tail = Item("tail", at, stored.size - at)
            rest = (
                recheck_item(framing.fmt, stored.pieces(at), tail, options)
                if reread <= FREE_REREAD + REREAD_FACTOR * (at - start)
                else tail
            )
            yield rest
            at, reread = at + rest.length, reread + tail.length
            continue
        yield from (
            evolve(item, at=at) for item in formats.scan(framing.fmt, [stored.read(at, size)], options)
        )
        at += size


def stride_of_records(fmt: Format) -> Stride:
    """Return the stride of a stream of records, whose lengths give the size of each."""

    def stride(stored: ObjectReader, position: int, _: Options) -> int:
        assert fmt.records is not None, "it is a stream of records"
        size, known = 1, False
        while not known and position + size <= stored.size:
            data, at = stored.at(position, size)
            size, known = fmt.records.extent(data, at)
        return size if known and position + size <= stored.size else 0

    return stride


def framing_of_records(fmt: Format) -> "StreamFraming":
    """Return the rules for splitting a stream of records."""
    return StreamFraming(fmt, stride_of_records(fmt), items=scan_record_by_record)


@frozen
class FastScan:
    """The fast decoder of a stream.

    Attributes:
        columns: yields the entries of a range as columns, with those whose order is checked if the last
            argument is true; and other bytes as items.
        formats: the ids of the formats of entries, by the number in the column `magic`.
        entry_format: returns the id of the format of an entry; None if the bytes do not show it.
        order_of: returns first offset, last offset and leader epoch of an entry, which rise in a segment;
            None for an entry without them.
    """

    columns: "Callable[[ObjectReader, int, int, Options, bool], Iterator[EntryColumns | Item]]"
    formats: tuple[str, ...]
    entry_format: Callable[[bytes], str | None]
    order_of: Callable[[bytes], tuple[int, int, int] | None]


@frozen
class StreamFraming:
    """The rules for splitting a stream of one format.

    Attributes:
        fmt: the format, which has a scan.
        stride: follows headers.
        recover: yields the split points that the reference finds from a position on; the last is the end.
        items: scans a range.
        item_case: makes a case of an item; None for a case of the stream itself.
        fast: the fast decoder; None if only the reference decodes the stream.
    """

    fmt: Format
    stride: Stride
    recover: Callable[[Format, PieceReader, Options], Iterator[SplitPoint]] = recover_by_item
    items: ItemScan = scan_items
    item_case: "Callable[[Item, bytes, Options], ItemCase] | None" = None
    fast: FastScan | None = None
