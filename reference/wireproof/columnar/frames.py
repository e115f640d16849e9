"""A buffer of Kafka entries accounted for: every byte of a frame, of garbage or of the tail.

The items are those of the reference's scan (`wireproof.kafka.scan`), byte for byte and class for class.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve, frozen

from wireproof.columnar import kernels
from wireproof.columnar.entries import Entries
from wireproof.columnar.extra import np
from wireproof.columnar.kernels import BROKEN, CUT, WHOLE, Array
from wireproof.columnar.wave import WIRE_BYTES, Keep, Wave, judge
from wireproof.kafka.scan import ENTRY_MOST
from wireproof.kafka.scan import scan as reference_scan
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options

Buffer = bytes | bytearray | memoryview
"""What is scanned; a `mmap.mmap` is wrapped in a memoryview."""

FRAME, GARBAGE, TAIL = 0, 1, 2
KINDS: Final = ("frame", "garbage", "tail")
ROOM: Final = 1 << 16
"""Entries found by one call of the kernel."""
PIECE: Final = 1 << 16
"""Bytes that the reference is given at a time while it looks for the next entry."""


@frozen
class Run:
    """What comes next in a buffer: entries that were judged, or one item that is no whole entry.

    Attributes:
        wave: the entries, or None.
        answers: what the reference says of each entry of the wave that is not clean, by its index in the
            wave; without a wave the one item, under 0. Positions are those of the buffer.
    """

    wave: Wave | None
    answers: dict[int, Item]


def runs(buffer: Buffer, options: Options = DEFAULT, *, keep: Keep, most: int = ENTRY_MOST) -> Iterator[Run]:
    """The runs of a buffer, in order and without gaps.

    Args:
        buffer: any bytes.
        options: as `scan` takes them.
        keep: what is wanted of the records, as in `judge`.
        most: the largest size of an entry, where `options.max_message` does not say.
    """
    view = memoryview(buffer).cast("B")
    wire = np.frombuffer(view, np.uint8)
    most = most if options.max_message is None else options.max_message
    at, why = 0, kernels.FULL if view.nbytes else WHOLE
    while why != WHOLE:
        entries, at, why = _entries(Entries(wire, view, *_room()), at, most)
        yield from _judged(entries, options, keep=keep)
        if why == CUT:
            yield Run(None, {0: Item("tail", at, view.nbytes - at)})
            return
        if why == BROKEN:
            item = evolve(next(reference_scan(_pieces(view, at), options)), at=at)
            yield Run(None, {0: item})
            at += item.length


def _room() -> tuple[Array, Array, Array]:
    return np.empty(ROOM, np.uint64), np.empty(ROOM, np.uint64), np.empty(ROOM, np.uint8)


def _entries(room: Entries, at: int, most: int) -> tuple[Entries, int, int]:
    """The next entries from `at` on, where they end, and why."""
    found, stop, why = kernels.walk(room.wire, np.uint64(at), most, room.position, room.length, room.magic)
    return room.part(0, found), int(stop), why


def _pieces(view: memoryview, at: int) -> Iterator[bytes]:
    for start in range(at, view.nbytes, PIECE):
        yield bytes(view[start : start + PIECE])


def _judged(entries: Entries, options: Options, *, keep: Keep) -> Iterator[Run]:
    """Waves over all the entries, each as long as its bounds allow."""
    first, ends = 0, np.cumsum(entries.length)
    while first < entries.magic.size:
        before = int(ends[first - 1]) if first else 0
        stop = max(int(np.searchsorted(ends, before + WIRE_BYTES, side="right")), first + 1)
        for judged in judge(entries.part(first, stop), options.max_output, keep=keep):
            wave = judged if options.profile == "reader" else _unanswered(judged)  # §1.7 is the reference's
            yield Run(wave, {index: _asked(wave.entries, index, options) for index in _handed(wave)})
        first = stop


def _unanswered(wave: Wave) -> Wave:
    none = np.zeros_like(wave.clean)
    return evolve(wave, clean=none, records=np.zeros_like(wave.records), slots=wave.slots[:0], shelf=None)


def _handed(wave: Wave) -> list[int]:
    handed: list[int] = np.flatnonzero(~wave.clean).tolist()
    return handed


def _asked(entries: Entries, index: int, options: Options) -> Item:
    """What the reference says of one whole entry."""
    at, length = int(entries.position[index]), int(entries.length[index])
    (item,) = reference_scan([bytes(entries.view[at : at + length])], options)
    return evolve(item, at=at)


@frozen
class Frames:
    """Every byte of a buffer, one row an item, in order and without gaps.

    Attributes:
        position, length: int64, bytes.
        kind: uint8: `FRAME` (the entry decodes), `GARBAGE`, `TAIL`.
        magic: int8: 0 to 2, -1 where no whole entry stands.
        records: int64: records or messages that a frame holds; 0 for the others.
        handed: bool: the reference was asked, whole entry or not; the kernels answer for the others.
        answers: what it said, by row, without the values: `cls` of garbage, `remarks` of frames.
        unpacked: bytes that compressed regions gave, all together, as far as the kernels saw them.
    """

    position: Array
    length: Array
    kind: Array
    magic: Array
    records: Array
    handed: Array
    answers: dict[int, Item]
    unpacked: int

    def __len__(self) -> int:
        """How many items there are."""
        return int(self.kind.size)

    @property
    def share(self) -> float:
        """The part of the whole entries that was handed to the reference, 0 to 1."""
        whole = self.magic >= 0
        return float((self.handed & whole).sum() / max(whole.sum(), 1))

    @property
    def columns(self) -> tuple[Array, ...]:
        """The arrays, in the order of their names above."""
        return self.position, self.length, self.kind, self.magic, self.records, self.handed

    def until(self, stop: int) -> "Frames":
        """The rows before `stop`."""
        position, length, kind, magic, records, handed = (column[:stop] for column in self.columns)
        answers = {row: item for row, item in self.answers.items() if row < stop}
        return Frames(position, length, kind, magic, records, handed, answers, self.unpacked)

    @classmethod
    def joined(cls, parts: "Sequence[tuple[int, Frames]]") -> "Frames":
        """The rows of buffers, one or more, that lie one behind another: each with its place."""
        columns = zip(*(part.columns for _, part in parts), strict=True)
        position, length, kind, magic, records, handed = map(np.concatenate, columns)
        sizes = [len(part) for _, part in parts]
        before = np.cumsum([0, *sizes]).tolist()
        answers = {
            row + first: evolve(item, at=item.at + base)
            for first, (base, part) in zip(before, parts, strict=False)
            for row, item in part.answers.items()
        }
        position = position + np.repeat([base for base, _ in parts], sizes)
        unpacked = sum(part.unpacked for _, part in parts)
        return cls(position, length, kind, magic, records, handed, answers, unpacked)

    def fault(self, row: int) -> str | None:
        """The class of the garbage at `row`; None for a frame, a tail, and garbage that began as nothing."""
        return self.answers[row].cls if row in self.answers else None


def scan(buffer: Buffer, options: Options = DEFAULT) -> Frames:
    """Account for every byte of `buffer`; see `Frames`. The values are not kept."""
    parts: list[tuple[Array, ...]] = []
    answers: dict[int, Item] = {}
    rows = unpacked = 0
    for run in runs(buffer, options, keep=None):
        parts.append(_columns(run))
        answers |= {rows + index: evolve(item, value=None) for index, item in run.answers.items()}
        unpacked += 0 if run.wave is None else int(run.wave.unpacked.sum())
        rows += parts[-1][0].size
    parts = parts or [_columns_of_nothing()]
    position, length, kind, magic, records, handed = map(np.concatenate, zip(*parts, strict=True))
    return Frames(position, length, kind, magic, records, handed, answers, unpacked)


def _columns_of_nothing() -> tuple[Array, ...]:
    kinds = (np.int64, np.int64, np.uint8, np.int8, np.int64, np.bool_)
    return tuple(np.empty(0, kind) for kind in kinds)


def _columns(run: Run) -> tuple[Array, ...]:
    """The rows of a run, in the order of `Frames`' arrays."""
    if run.wave is None:
        item = run.answers[0]
        row = ((item.at, np.int64), (item.length, np.int64), (KINDS.index(item.kind), np.uint8))
        asked = item.kind != "tail"
        return tuple(np.array([v], t) for v, t in (*row, (-1, np.int8), (0, np.int64), (asked, np.bool_)))
    entries, records = run.wave.entries, run.wave.records.copy()
    kind = np.zeros(records.size, np.uint8)
    for index, item in run.answers.items():
        kind[index] = KINDS.index(item.kind)
        records[index] = count(item)
    return (
        entries.position.astype(np.int64),
        entries.length.astype(np.int64),
        kind,
        entries.magic.astype(np.int8),
        records,
        ~run.wave.clean,
    )


def count(item: Item) -> int:
    """Records of a batch, messages of a wrapper; a message is one."""
    if item.value is None:
        return 0
    inner = getattr(item.value, "records", None)
    if inner is None:
        inner = item.value.messages
    return 1 if inner is None else len(inner)
