"""Find the split points of a stream: positions where it may be cut into parts that are scanned separately.

The items of the parts are the items of the whole. They are defined by the reference's scan. If the header of
an entry is valid, the length follows from the header alone, whatever the checksum is, so the index pass steps
over the entry without reading its contents. Anywhere else the reference itself scans from that position until
headers can be followed again. No position is ever guessed.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from struct import Struct
from typing import Final, Protocol

from attrs import evolve, frozen

from wireproof import formats
from wireproof.formats import Format
from wireproof.heka.frame import FRAME_OVERHEAD, RECORD_SEPARATOR
from wireproof.heka.resync_modes import RESYNC_MODES, AcceptedHeader
from wireproof.heka.scan import Scanner
from wireproof.iggy import log as iggy_log
from wireproof.iggy import resync as iggy_resync
from wireproof.kafka import resync as kafka_resync
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
)
from wireproof.spark.object_reader import ObjectReader, PieceReader
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

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
    """

    at: int
    settled: bool


class ItemScan(Protocol):
    """Yields the items of the scan that begin in a range."""

    def __call__(
        self, framing: "StreamFraming", stored: ObjectReader, start: int, end: int, options: Options, /
    ) -> Iterator[Item]:
        """Yield the items; the range begins at a split point."""


@frozen
class StreamFraming:
    """The rules for splitting a stream of one format.

    Attributes:
        fmt: the format, which has a scan.
        stride: follows headers.
        recover: yields the split points that the reference finds from a position on; the last is the end.
        items: scans a range.
    """

    fmt: Format
    stride: Stride
    recover: Callable[[Format, PieceReader, Options], Iterator[SplitPoint]]
    items: ItemScan


def find_split_points(
    framing: StreamFraming, stored: ObjectReader, options: Options, start: int = 0, step: int = 1
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
            yield SplitPoint(at, settled)
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


def _recover_by_item(fmt: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield split points for scans that carry nothing but the position from one item to the next.

    These are kafka/scan.py and iggy/log.py.
    """
    start = pieces.position
    for item in formats.scan(fmt, pieces, options):
        checked = recheck_item(fmt, pieces, evolve(item, at=start + item.at), options)
        settled = not pieces.ended or checked.kind != item.kind or _is_certain(fmt, pieces, checked, options)
        pieces.forget(checked.at + checked.length)
        yield SplitPoint(checked.at + checked.length, settled)
        if checked.kind != item.kind:
            return


def _is_certain(fmt: Format, pieces: PieceReader, garbage: Item, options: Options) -> bool:
    """Return whether garbage certainly ends here, although bytes in it look like a cut entry."""
    end = garbage.at + garbage.length
    if fmt.name != "kafka.log" or garbage.kind != "garbage" or end >= pieces.stored.size:
        return False
    return kafka_resync.two_entries_begin_at(pieces.read, end, options)


def recheck_item(
    fmt: Format, pieces: PieceReader, item: Item, options: Options, end: int | None = None
) -> Item:
    """Return the item, or garbage in its place if valid entries follow inside the bytes that it claims.

    If an entry seems to be cut, its size may be damaged: see `kafka.resync` and `iggy.resync`.

    Args:
        fmt: the format of the scan.
        pieces: the bytes of the object, which the scan read.
        item: from the scan, at its position in the object.
        options: of the codec.
        end: a split point; an entry that claims bytes after it has a damaged size.
    """
    over = fmt.name == "kafka.log" and end is not None and item.at + item.length > end
    if item.kind == "frame" or not (over or item.kind == "tail") or fmt.name not in RESUME_SEARCHES:
        return item
    length = end - item.at if over and end is not None else item.length
    stop = (
        RESUME_SEARCHES[fmt.name](fmt, pieces.read(item.at, length), options)
        if length <= MAX_TAIL_BYTES
        else 0
    )
    if not stop and (not over or end == pieces.stored.size):
        return item
    return Item("garbage", item.at, stop or length, cls="bad-length")


def _kafka_resumed(_: Format, data: bytes, options: Options) -> int:
    return kafka_resync.damaged_length(data, len(data), options)


def _iggy_resumed(fmt: Format, data: bytes, _: Options) -> int:
    return iggy_resync.damaged_length(iggy_log.REVISIONS[fmt.revision], data, len(data), None)


RESUME_SEARCHES: Final[dict[str, Callable[[Format, bytes, Options], int]]] = {
    "kafka.log": _kafka_resumed,
    "iggy.log": _iggy_resumed,
}

MAX_TAIL_BYTES: Final = MAX_ENTRY + LOG_OVERHEAD
"""The greatest tail that is searched for entries, in bytes."""


def _recover_by_scanner(_: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield split points for Heka.

    Its scan carries more than the position, but nothing more after most frames: heka/scan.py.
    """
    scanner = Scanner(options)
    scanner.base = pieces.position
    for piece in pieces:
        for _item in scanner.feed(piece):
            if scanner.clean:
                yield SplitPoint(scanner.here, settled=True)
    yield SplitPoint(pieces.position, settled=False)


def _scan_items(
    framing: StreamFraming, stored: ObjectReader, start: int, end: int, options: Options
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


def _scan_record_by_record(
    framing: StreamFraming, stored: ObjectReader, start: int, end: int, options: Options
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


# --- strides ---

_SIZE_MAGIC: Final = Struct(f">{SIZE_AT}xi{MAGIC_AT - LOG_OVERHEAD}xB")


def _kafka_stride(stored: ObjectReader, position: int, options: Options) -> int:
    """Follow a header: size and magic (kafka.md §1.4), with the limits of kafka/scan.py."""
    data, at = stored.at(position, HEADER_SIZE_UP_TO_MAGIC)
    if len(data) - at < HEADER_SIZE_UP_TO_MAGIC:
        return 0
    size, magic = _SIZE_MAGIC.unpack_from(data, at)
    most = MAX_ENTRY if options.max_message is None else options.max_message
    if magic > 2 or not MIN_SIZE_BY_MAGIC[magic] <= size <= most:
        return 0
    total: int = size + LOG_OVERHEAD
    return total if position + total <= stored.size else 0


def _iggy_stride(layout: iggy_log.LogRevision) -> Stride:
    """Return the stride of a revision, whose records have two lengths: iggy.md §7."""

    def stride(stored: ObjectReader, position: int, _: Options) -> int:
        size, known = 1, False
        while not known and position + size <= stored.size:
            data, at = stored.at(position, size)
            size, known = layout.record.extent(data, at)
        return size if known and position + size <= stored.size else 0

    return stride


def _heka_stride(stored: ObjectReader, position: int, options: Options) -> int:
    """Follow a frame: a valid header, all of the message, and a separator after it. heka.md §2.1.

    An error inside such a frame does not move its end. If something else than a separator follows, the scan
    may look for frames inside it; if the bytes end, the scan must know what will follow. With Go's framing a
    complete frame always counts, with C's framing an invalid one never does.
    """
    data, at = stored.at(position, FRAME_OVERHEAD + 256)
    if len(data) - at < 2 or data[at] != RECORD_SEPARATOR:
        return 0
    through = FRAME_OVERHEAD + data[at + 1]
    if len(data) - at < through:
        return 0
    total = _heka_frame_size(data[at : at + through], options.resync, options.max_message)
    end = position + total
    if not total or end > stored.size:
        return 0
    return total if options.resync == "go" or _separator(stored, end) else 0


def _separator(stored: ObjectReader, position: int) -> bool:
    data, at = stored.at(position, 1)
    return data[at : at + 1] == bytes([RECORD_SEPARATOR])


@lru_cache(maxsize=1 << 16)
def _heka_frame_size(header: bytes, resync: str, most: int | None) -> int:
    """Return the bytes of the frame that begins with `header`; 0 if its contents decide that.

    Unsigned headers hold only a length, so few of them differ and the cache nearly always hits.
    """
    framing = RESYNC_MODES[resync]
    found = framing.head(header, Options(max_message=most))
    if framing.on_rejection == "within" or not isinstance(found, AcceptedHeader):
        return 0
    return len(header) + found.header.message_length


KAFKA: Final = StreamFraming(formats.get("kafka.log", "mixed"), _kafka_stride, _recover_by_item, _scan_items)

HEKA: Final = StreamFraming(
    formats.get("heka.stream", "0.10"), _heka_stride, _recover_by_scanner, _scan_items
)

IGGY: Final = {
    revision: StreamFraming(
        formats.get("iggy.log", revision), _iggy_stride(layout), _recover_by_item, _scan_record_by_record
    )
    for revision, layout in iggy_log.REVISIONS.items()
}
"""The rules by revision."""
