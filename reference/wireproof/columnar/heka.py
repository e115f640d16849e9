"""A buffer of Heka's frames accounted for: every byte of a frame, of garbage or of the tail. heka.md §2.

The items are those of the reference's scan (`wireproof.heka.scan`), byte for byte and class for class. The
kernels judge frames, messages and all; what they are not sure of goes through the reference's scanner, from
the first such frame to the next place where nothing is pending.
"""

from collections.abc import Iterator
from typing import Final

from attrs import evolve, frozen

from wireproof.columnar.extra import np
from wireproof.columnar.frames import FRAME, KINDS, Buffer
from wireproof.columnar.heka_kernels import walk_frames
from wireproof.columnar.kernels import Array
from wireproof.heka import header
from wireproof.heka.scan import WORK, Scanner
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options

ROOM: Final = 1 << 14
"""Frames found by one call of the kernel."""
PIECE: Final = 512
"""Bytes that the reference is given at a time, at first; more each time that they are not enough."""


@frozen
class HekaRun:
    """What comes next: clean frames as arrays, or items of the reference.

    Attributes:
        position, message, length: where each clean frame and its message begin, and the frame's bytes.
        items: what the reference says of the bytes behind them, with the values.
    """

    position: Array
    message: Array
    length: Array
    items: tuple[Item, ...] = ()


def heka_runs(buffer: Buffer, options: Options = DEFAULT) -> Iterator[HekaRun]:
    """The runs of a buffer, in order and without gaps."""
    view = memoryview(buffer).cast("B")
    wire = np.frombuffer(view, np.uint8)
    scanner, at = Scanner(options), 0
    plain = options.compression == "none" and options.resync == "strict"
    while at < view.nbytes:
        room = np.empty((3, ROOM if plain else 0), np.uint64)
        found, stop = walk_frames(wire, np.uint64(at), header.limit(options), room[0], room[1], room[2])
        # as if it had passed over them itself
        scanner.credit = min(scanner.credit + WORK * (int(stop) - at), scanner.most)
        at = int(stop)
        if found:
            yield HekaRun(room[0, :found], room[1, :found], room[2, :found])
        if at < view.nbytes and (found < ROOM or not plain):
            items = tuple(_asked(scanner, view, at))
            at = scanner.here
            yield HekaRun(room[0, :0], room[1, :0], room[2, :0], items)


def _asked(scanner: Scanner, view: memoryview, at: int) -> Iterator[Item]:
    """The items from `at` on, up to a place where the scanner has nothing pending, or the end."""
    scanner.base, fed, piece = at, at, PIECE
    while fed < view.nbytes:
        yield from scanner.feed(bytes(view[fed : fed + piece]))
        fed, piece = fed + piece, piece * 2
        if scanner.here > at and scanner.run is None and scanner.content is None:
            scanner.buffer.clear()
            scanner._forget()  # noqa: SLF001 - what it knew of the bytes that are dropped here
            return
    yield from scanner.finish()
    scanner.base, scanner.pos = view.nbytes, 0


@frozen
class HekaFrames:
    """Every byte of a buffer, one row an item, in order and without gaps.

    Attributes:
        position, length: int64, bytes.
        kind: uint8, as in `Frames`.
        message: int64: where the message of a frame begins that the kernels answered for, else -1.
        handed: bool: the reference answered.
        answers: what it said, by row, without the values.
    """

    position: Array
    length: Array
    kind: Array
    message: Array
    handed: Array
    answers: dict[int, Item]

    def __len__(self) -> int:
        """How many items there are."""
        return int(self.kind.size)

    @property
    def share(self) -> float:
        """The part of the frames that was handed to the reference, 0 to 1."""
        frame = self.kind == FRAME
        return float((self.handed & frame).sum() / max(frame.sum(), 1))

    def fault(self, row: int) -> str | None:
        """The class of the garbage at `row`; None for others."""
        return self.answers[row].cls if row in self.answers else None


def scan_heka(buffer: Buffer, options: Options = DEFAULT) -> HekaFrames:
    """Account for every byte of a `heka.stream`; `Options.keys` and `max_message` as the reference's scan."""
    answers: dict[int, Item] = {}
    parts: list[tuple[Array, ...]] = [_of_items(())]
    rows = 0
    for run in heka_runs(buffer, options):
        answers |= {rows + at: evolve(item, value=None) for at, item in enumerate(run.items)}
        parts.append(_of_items(run.items) if run.items else _of_frames(run))
        rows += parts[-1][0].size
    position, length, kind, message, handed = map(np.concatenate, zip(*parts, strict=True))
    return HekaFrames(position, length, kind, message, handed, answers)


def _of_frames(run: HekaRun) -> tuple[Array, ...]:
    columns = (run.position, run.length, run.message)
    position, length, message = (column.astype(np.int64) for column in columns)
    return position, length, np.zeros(length.size, np.uint8), message, np.zeros(length.size, np.bool_)


def _of_items(items: tuple[Item, ...]) -> tuple[Array, ...]:
    size = len(items)
    return (
        np.fromiter((item.at for item in items), np.int64, size),
        np.fromiter((item.length for item in items), np.int64, size),
        np.fromiter((KINDS.index(item.kind) for item in items), np.uint8, size),
        np.full(size, -1, np.int64),
        np.ones(size, np.bool_),
    )
