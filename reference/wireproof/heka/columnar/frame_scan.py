"""Scan a buffer of Heka frames: every byte belongs to a frame, to garbage or to the tail. heka.md §2.

The items are the same as those of the reference (`wireproof.heka.scan`): same bytes, same classes. The
kernels judge frames with their messages. From a frame that is not clean, the reference's scanner takes over
until it has nothing pending.
"""

from collections.abc import Iterator
from typing import Final

from attrs import evolve, frozen

from wireproof.columnar.array_types import FRAME, KINDS, Buffer
from wireproof.columnar.basic_kernels import Array
from wireproof.columnar.optional_deps import np
from wireproof.heka import header
from wireproof.heka.columnar.frame_kernels import walk_frames
from wireproof.heka.scan import REREAD_BYTES_PER_BYTE, Scanner
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

FRAMES_PER_CALL: Final = 1 << 14
"""Frames found by one call of the kernel."""
REFERENCE_PIECE: Final = 512
"""Bytes that the reference gets at first; twice as many each time that they are not enough."""


@frozen
class HekaScanStep:
    """The next part of a buffer: clean frames as arrays, or items of the reference.

    Attributes:
        position, message, length: start of each clean frame, start of its message, bytes of the frame.
        items: the items of the reference, with values.
    """

    position: Array
    message: Array
    length: Array
    items: tuple[Item, ...] = ()


def heka_scan_steps(buffer: Buffer, options: Options = DEFAULT_OPTIONS) -> Iterator[HekaScanStep]:
    """Yield the steps of a scan, in order and without gaps."""
    view = memoryview(buffer).cast("B")
    wire = np.frombuffer(view, np.uint8)
    scanner, at = Scanner(options), 0
    plain = (options.compression, options.resync, options.content) == ("none", "strict", "message")
    while at < view.nbytes:
        room = np.empty((3, FRAMES_PER_CALL if plain else 0), np.uint64)
        found, stop = walk_frames(
            wire, np.uint64(at), header.max_message_size(options), room[0], room[1], room[2]
        )
        # as if the scanner had read these frames itself
        scanner.credit = min(scanner.credit + REREAD_BYTES_PER_BYTE * (int(stop) - at), scanner.most)
        at = int(stop)
        if found:
            yield HekaScanStep(room[0, :found], room[1, :found], room[2, :found])
        if at < view.nbytes and (found < FRAMES_PER_CALL or not plain):
            items = tuple(_reference_items(scanner, view, at))
            at = scanner.here
            yield HekaScanStep(room[0, :0], room[1, :0], room[2, :0], items)


def _reference_items(scanner: Scanner, view: memoryview, at: int) -> Iterator[Item]:
    """Yield the items from `at` on, to a position where the scanner has nothing pending, or to the end."""
    scanner.base, read, piece = at, at, REFERENCE_PIECE
    while read < view.nbytes:
        yield from scanner.feed(bytes(view[read : read + piece]))
        read, piece = read + piece, piece * 2
        if scanner.here > at and scanner.run is None and scanner.content is None:
            scanner.buffer.clear()
            scanner._forget()  # noqa: SLF001 - drop what it knows about the bytes dropped here
            return
    yield from scanner.finish()
    scanner.base, scanner.pos = view.nbytes, 0


@frozen
class HekaFrames:
    """The items of a buffer: every byte of it, one row for each item, in order and without gaps.

    Attributes:
        position, length: int64, in bytes.
        kind: uint8, as in `KafkaFrames`.
        message: int64: the start of the message of a clean frame; -1 for other items.
        by_reference: bool: the reference made this item, and not the kernels.
        answers: the items of the reference by row, without values.
    """

    position: Array
    length: Array
    kind: Array
    message: Array
    by_reference: Array
    answers: dict[int, Item]

    def __len__(self) -> int:
        """Return the number of items."""
        return int(self.kind.size)

    @property
    def reference_share(self) -> float:
        """Return the share of the frames that the reference had to decode, 0 to 1."""
        frame = self.kind == FRAME
        return float((self.by_reference & frame).sum() / max(frame.sum(), 1))

    def fault(self, row: int) -> str | None:
        """Return the class of the garbage at `row`; None for other items."""
        return self.answers[row].cls if row in self.answers else None


def scan_heka(buffer: Buffer, options: Options = DEFAULT_OPTIONS) -> HekaFrames:
    """Scan a `heka.stream`; `Options.keys` and `max_message` mean the same as for the reference."""
    answers: dict[int, Item] = {}
    parts: list[tuple[Array, ...]] = [_rows_of_items(())]
    rows = 0
    for step in heka_scan_steps(buffer, options):
        answers |= {rows + at: evolve(item, value=None) for at, item in enumerate(step.items)}
        parts.append(_rows_of_items(step.items) if step.items else _rows_of_frames(step))
        rows += parts[-1][0].size
    position, length, kind, message, by_reference = map(np.concatenate, zip(*parts, strict=True))
    return HekaFrames(position, length, kind, message, by_reference, answers)


def _rows_of_frames(step: HekaScanStep) -> tuple[Array, ...]:
    columns = (step.position, step.length, step.message)
    position, length, message = (column.astype(np.int64) for column in columns)
    return position, length, np.zeros(length.size, np.uint8), message, np.zeros(length.size, np.bool_)


def _rows_of_items(items: tuple[Item, ...]) -> tuple[Array, ...]:
    size = len(items)
    return (
        np.fromiter((item.at for item in items), np.int64, size),
        np.fromiter((item.length for item in items), np.int64, size),
        np.fromiter((KINDS.index(item.kind) for item in items), np.uint8, size),
        np.full(size, -1, np.int64),
        np.ones(size, np.bool_),
    )
