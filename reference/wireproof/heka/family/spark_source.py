"""The source `heka_stream` for Spark: split points, and the cases of frames."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from wireproof import formats
from wireproof.formats import Format
from wireproof.heka.family import spark_columns
from wireproof.heka.frame import FRAME_OVERHEAD, RECORD_SEPARATOR
from wireproof.heka.resync_modes import RESYNC_MODES, AcceptedHeader
from wireproof.heka.scan import Scanner
from wireproof.spark.item_cases import ItemCase, case_of_bytes
from wireproof.spark.objects import ObjectReader, PieceReader
from wireproof.spark.sources import SourceKind
from wireproof.spark.split_points import SplitPoint, StreamFraming
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item


def _recover_by_scanner(_: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield split points.

    The scan carries more than the position, but nothing more after most frames: heka/scan.py.
    """
    scanner = Scanner(options)
    scanner.base = pieces.position
    for piece in pieces:
        for _item in scanner.feed(piece):
            if scanner.clean:
                yield SplitPoint(scanner.here, settled=True)
    yield SplitPoint(pieces.position, settled=False)


def _stride(stored: ObjectReader, position: int, options: Options) -> int:
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
    total = _frame_size(data[at : at + through], options.resync, options.max_message)
    end = position + total
    if not total or end > stored.size:
        return 0
    return total if options.resync == "go" or _separator(stored, end) else 0


def _separator(stored: ObjectReader, position: int) -> bool:
    data, at = stored.at(position, 1)
    return data[at : at + 1] == bytes([RECORD_SEPARATOR])


@lru_cache(maxsize=1 << 16)
def _frame_size(header: bytes, resync: str, most: int | None) -> int:
    """Return the bytes of the frame that begins with `header`; 0 if its contents decide that.

    Unsigned headers hold only a length, so few of them differ and the cache nearly always hits.
    """
    framing = RESYNC_MODES[resync]
    found = framing.head(header, Options(max_message=most))
    if framing.on_rejection == "within" or not isinstance(found, AcceptedHeader):
        return 0
    return len(header) + found.header.message_length


def _item_case(item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of the message of a whole frame, because peers read messages and not frames."""
    if len(data) < 2 or data[0] != RECORD_SEPARATOR or len(data) <= FRAME_OVERHEAD + data[1]:
        return ItemCase(item, data, None)
    if item.kind == "garbage" and item.cls in {"bad-separator", "truncated", None}:
        return ItemCase(item, data, None)
    message = data[FRAME_OVERHEAD + data[1] :]
    return ItemCase(item, data, case_of_bytes(formats.get("heka.message", "0.10"), message, None, options))


HEKA: Final = StreamFraming(
    formats.get("heka.stream", "0.10"), _stride, _recover_by_scanner, item_case=_item_case
)

STREAM: Final = SourceKind(
    "wireproof.heka_stream",
    {HEKA.fmt.revision: HEKA},
    spark_columns.FRAMES,
    spark_columns.RECORDS,
)
