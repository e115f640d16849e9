"""Where a stream may be cut so that its parts, scanned each for itself, give what the whole gives.

The reference's scan defines the items. Where an entry's header is right its length follows from the header
alone, whatever its checksum says, and the index pass steps over it without looking inside. Anywhere else the
reference itself scans on, from that place, until headers can be followed again. No place is ever guessed.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from struct import Struct
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.formats import Format
from wireproof.heka.frame import AROUND, RECORD_SEPARATOR
from wireproof.heka.framing import FRAMINGS, Head
from wireproof.heka.scan import Scanner
from wireproof.iggy import log as iggy_log
from wireproof.iggy import resync as iggy_resync
from wireproof.kafka import resync as kafka_resync
from wireproof.kafka.frame import LEAST, OVERHEAD, THROUGH_MAGIC
from wireproof.kafka.scan import ENTRY_MOST
from wireproof.spark.stored import Pieces, Stored
from wireproof.wire.items import Item
from wireproof.wire.options import Options

Stride = Callable[[Stored, int, Options], int]
"""The bytes of the item that begins at a position, if headers alone tell that all of it is there; else 0."""

FREE: Final = 256 * 1024 * 1024
WORK: Final = 4
"""Bytes that the index pass may read again, in all, and for each byte it has passed: beyond that the
reference goes on alone. Damage that looks like long entries at every few bytes costs no more."""


@frozen
class Edge:
    """A place where an item ends and a scan may begin.

    Attributes:
        at: its position.
        settled: whether bytes that are appended later cannot change what lies before it.
    """

    at: int
    settled: bool


@frozen
class Framing:
    """How a format is cut.

    Attributes:
        row: of the table of formats; has a scan.
        stride: follows headers.
        recover: the edges that the reference finds from a position on; the last is the end.
        items: the items of the scan that begin in a range, which begins at an edge.
    """

    row: Format
    stride: Stride
    recover: Callable[[Format, Pieces, Options], Iterator[Edge]]
    items: Callable[["Framing", Stored, int, int, Options], Iterator[Item]]


def edges(
    framing: Framing, stored: Stored, options: Options, start: int = 0, step: int = 1
) -> Iterator[Edge]:
    """The places behind `start`, itself an edge, where the object may be cut; the last is its end.

    `step`: where headers can be followed, places that are no such step behind the last one are left out.
    """
    at, settled, again, told = start, True, 0, start
    while at < stored.size:
        passed = _passed(framing.stride, stored, at, told + step, options)
        if passed > at:
            at, told = passed, _counted(passed, told, step)
            yield Edge(at, settled)
            continue
        pieces = stored.pieces(at)
        for edge in framing.recover(framing.row, pieces, options):
            at, settled = edge.at, settled and edge.settled
            told = _counted(at, told, step)
            yield Edge(at, settled)
            if again + pieces.position - at <= FREE + WORK * (at - start):
                again += pieces.position - at
                break


def _counted(at: int, told: int, step: int) -> int:
    """The place from which the next step counts."""
    return at if at - told >= step else told


def _passed(stride: Stride, stored: Stored, at: int, goal: int, options: Options) -> int:
    """Where `goal` is reached, or the last place that headers lead to."""
    while at < goal and (size := stride(stored, at, options)):
        at += size
    return at


# --- the reference, from a position on ---


def _by_item(row: Format, pieces: Pieces, options: Options) -> Iterator[Edge]:
    """Nothing but the position is carried from one item to the next: kafka/scan.py, iggy/log.py."""
    start = pieces.position
    for item in formats.scan(row, pieces, options):
        one = doubted(row, pieces, evolve(item, at=start + item.at), options)
        settled = not pieces.ended or one.kind != item.kind or _certain(row, pieces, one, options)
        pieces.forget(one.at + one.length)
        yield Edge(one.at + one.length, settled)
        if one.kind != item.kind:
            return


def _certain(row: Format, pieces: Pieces, one: Item, options: Options) -> bool:
    """Whether garbage ends where it does, although something in it looks like an entry that is cut."""
    end = one.at + one.length
    if row.name != "kafka.log" or one.kind != "garbage" or end >= pieces.stored.size:
        return False
    return kafka_resync.certain(pieces.read, end, options)


def doubted(row: Format, pieces: Pieces, item: Item, options: Options, end: int | None = None) -> Item:
    """A tail, or the damaged entry that it begins with, if sound entries follow in what it claims.

    The size of an entry that seems to be cut may be what is damaged: `kafka.resync`, `iggy.resync`.

    Args:
        row: of the scan.
        pieces: of the object, which the scan read.
        item: of the scan, at its place in the object.
        options: of the codec.
        end: an edge; what claims to reach over it has a damaged size.
    """
    over = row.name == "kafka.log" and end is not None and item.at + item.length > end
    if item.kind == "frame" or not (over or item.kind == "tail") or row.name not in RESUMED:
        return item
    length = end - item.at if over and end is not None else item.length
    stop = RESUMED[row.name](row, pieces.read(item.at, length), options) if length <= TAIL_MOST else 0
    if not stop and (not over or end == pieces.stored.size):
        return item
    return Item("garbage", item.at, stop or length, cls="bad-length")


def _kafka_resumed(_: Format, data: bytes, options: Options) -> int:
    return kafka_resync.resumed(data, len(data), options)


def _iggy_resumed(row: Format, data: bytes, _: Options) -> int:
    return iggy_resync.resumed(iggy_log.EDITIONS[row.revision], data, len(data), None)


RESUMED: Final[dict[str, Callable[[Format, bytes, Options], int]]] = {
    "kafka.log": _kafka_resumed,
    "iggy.log": _iggy_resumed,
}

TAIL_MOST: Final = ENTRY_MOST + OVERHEAD
"""Bytes of a tail that is looked into."""


def _by_scanner(_: Format, pieces: Pieces, options: Options) -> Iterator[Edge]:
    """Heka's scan carries more; it is clean behind most frames: heka/scan.py."""
    scanner = Scanner(options)
    scanner.base = pieces.position
    for piece in pieces:
        for _item in scanner.feed(piece):
            if scanner.clean:
                yield Edge(scanner.here, settled=True)
    yield Edge(pieces.position, settled=False)


def _scanned(framing: Framing, stored: Stored, start: int, end: int, options: Options) -> Iterator[Item]:
    """The scan reads on behind `end` as far as it must to judge what begins before it."""
    at, again = start, 0
    while at < end:
        pieces = stored.pieces(at)
        for item in formats.scan(framing.row, pieces, options):
            one = evolve(item, at=start + item.at)
            if one.at >= end:
                return
            if again <= FREE + WORK * (one.at - start):
                one = doubted(framing.row, pieces, one, options, end)
            at = one.at + one.length
            pieces.forget(at)
            yield one
            if one.length != item.length:
                again += item.length
                break
        start = at


def _strode(framing: Framing, stored: Stored, start: int, end: int, options: Options) -> Iterator[Item]:
    """Record by record: a length without bound is not waited for, as no byte of the tail is wanted."""
    at, again = start, 0
    while at < end:
        size = framing.stride(stored, at, options)
        if not size:
            tail = Item("tail", at, stored.size - at)
            one = (
                doubted(framing.row, stored.pieces(at), tail, options)
                if again <= FREE + WORK * (at - start)
                else tail
            )
            yield one
            at, again = at + one.length, again + tail.length
            continue
        yield from (
            evolve(item, at=at) for item in formats.scan(framing.row, [stored.read(at, size)], options)
        )
        at += size


# --- strides ---

_SIZE_MAGIC: Final = Struct(">8xi4xB")


def _kafka(stored: Stored, position: int, options: Options) -> int:
    """kafka.md §1.4: size at 8, magic at 16; the limits of kafka/scan.py."""
    data, at = stored.at(position, THROUGH_MAGIC)
    if len(data) - at < THROUGH_MAGIC:
        return 0
    size, magic = _SIZE_MAGIC.unpack_from(data, at)
    most = ENTRY_MOST if options.max_message is None else options.max_message
    if magic > 2 or not LEAST[magic] <= size <= most:
        return 0
    total: int = size + OVERHEAD
    return total if position + total <= stored.size else 0


def _iggy(edition: iggy_log.Edition) -> Stride:
    """iggy.md §7: two lengths, the second behind the headers."""

    def stride(stored: Stored, position: int, _: Options) -> int:
        size, known = 1, False
        while not known and position + size <= stored.size:
            data, at = stored.at(position, size)
            size, known = edition.record.extent(data, at)
        return size if known and position + size <= stored.size else 0

    return stride


def _heka(stored: Stored, position: int, options: Options) -> int:
    """heka.md §2.1: a right header, all of the message, and behind it another separator.

    What is refused inside such a frame does not move its end. Where something else follows, the scan may look
    for frames inside it; where the bytes end, it must know what will follow.
    In Go's framing a whole frame always stands, in C's a refused one never does.
    """
    data, at = stored.at(position, AROUND + 256)
    if len(data) - at < 2 or data[at] != RECORD_SEPARATOR:
        return 0
    through = AROUND + data[at + 1]
    if len(data) - at < through:
        return 0
    total = _frame(data[at : at + through], options.resync, options.max_message)
    end = position + total
    if not total or end > stored.size:
        return 0
    return total if options.resync == "go" or _separator(stored, end) else 0


def _separator(stored: Stored, position: int) -> bool:
    data, at = stored.at(position, 1)
    return data[at : at + 1] == bytes([RECORD_SEPARATOR])


@lru_cache(maxsize=1 << 16)
def _frame(head: bytes, resync: str, most: int | None) -> int:
    """The bytes of the frame that `head` begins; 0 where no such frame stands whatever is in it.

    Unsigned headers hold a length and nothing else, so that few are seen twice for the first time.
    """
    framing = FRAMINGS[resync]
    found = framing.head(head, Options(max_message=most))
    if framing.on_rejection == "within" or not isinstance(found, Head):
        return 0
    return len(head) + found.header.message_length


KAFKA: Final = Framing(formats.get("kafka.log", "mixed"), _kafka, _by_item, _scanned)

HEKA: Final = Framing(formats.get("heka.stream", "0.10"), _heka, _by_scanner, _scanned)

IGGY: Final = {
    revision: Framing(formats.get("iggy.log", revision), _iggy(edition), _by_item, _strode)
    for revision, edition in iggy_log.EDITIONS.items()
}
"""By revision."""
