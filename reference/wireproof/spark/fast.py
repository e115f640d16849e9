"""Entries of Kafka logs as rows, a block of the file at a time: what `reading` does item by item, faster.

`columnar` answers for whole entries and asks the reference about each that is not clean. Where bytes are no
entry at all, how far that goes depends on everything behind them, and the reference looks at the file itself.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.columnar import TAIL, Frames, heads
from wireproof.columnar import scan as fast_scan
from wireproof.columnar.frames import Run, runs
from wireproof.columnar.heads import EVERY, ITEM
from wireproof.columnar.trees import trees
from wireproof.columnar.wave import Keep
from wireproof.kafka.arithmetic import CONTROL, TRANSACTIONAL
from wireproof.spark.framing import FREE, KAFKA, WORK, doubted
from wireproof.spark.stored import Stored
from wireproof.wire.items import Item
from wireproof.wire.options import Options

ASKED_BLOCK: Final = 1024 * 1024
"""Bytes whose values are made together: an object a record, where adapters are asked."""

BLOCKS: Final = (2 * 1024 * 1024, 8 * 1024 * 1024)
"""The first block and the longest; behind bytes that are no entry the first length is taken again."""

HELD: Final = 1 << 16
"""Rows that are made together, where that needs no look at the bytes: a batch of few costs as much."""

Rows: TypeAlias = "pa.RecordBatch | Item"
"""Entries as rows of `columnar.HEADS`, at the positions of the object; or one item that is none."""


def rows(
    stored: Stored, start: int, end: int, options: Options, names: Sequence[str] = EVERY
) -> Iterator[Rows]:
    """What begins from `start` to `end`, both edges, in order and without gaps; `names`: columns wanted."""
    at, size, again = start, BLOCKS[0], 0
    told = _Told(names)
    while at < end:
        if again > FREE + WORK * (at - start):
            yield from told.rest()
            yield from KAFKA.items(KAFKA, stored, at, end, options)
            return
        block = stored.block(at, min(size, end - at))
        whole, found, odd = _entries(block, options, last=at + len(block) >= end)
        if whole:
            yield from told.rows(block, at, found)
        at += whole
        again += len(block) - whole if odd else 0
        if odd and at < end:
            yield from told.rest()
            item = _one(stored, at, options, end)
            at += item.length
            size = BLOCKS[0]
            yield item
        else:
            size = min(2 * max(size, len(block)), BLOCKS[1] if whole else stored.size)
    yield from told.rest()


@define
class _Told:
    """The rows of blocks: of each by itself where columns are read from its bytes, else of many together."""

    names: Sequence[str]
    held: list[tuple[int, Frames]] = field(factory=list)
    count: int = 0

    def rows(self, block: memoryview, at: int, found: Frames) -> Iterator[pa.RecordBatch]:
        """The entries of a block that lies `at` this place of the object."""
        if not ITEM.issuperset(self.names):
            yield _moved(heads(block, found, self.names), at)
            return
        self.held.append((at, found))
        self.count += len(found)
        if self.count >= HELD:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is held."""
        if self.held:
            yield heads(b"", Frames.joined(self.held), self.names)
        self.held, self.count = [], 0


def items(
    stored: Stored, start: int, end: int, options: Options, told: Callable[[Run], Iterator[Item]] = trees
) -> Iterator[Item]:
    """What `KAFKA.items` gives; the value of an entry that the kernels answer for is its JSON.

    `told`: makes the items of a run, if another value is wanted.
    """
    return parts(stored, start, end, options, Way("slots", ASKED_BLOCK, told))


Part = TypeVar("Part")


@frozen
class Way(Generic[Part]):
    """What is wanted of whole entries.

    Attributes:
        keep: of their records, as `columnar.frames.runs` takes it.
        block: bytes that are read at a time.
        told: makes items, or the like, of a run: with `at` of the block, and `length`.
    """

    keep: Keep
    block: int
    told: Callable[[Run], Iterator[Part]]


def parts(stored: Stored, start: int, end: int, options: Options, way: Way[Any]) -> Iterator[Any]:
    """What `way` tells of whole entries, at the positions of the object, and the items of all else."""
    at, again, size = start, 0, BLOCKS[0]
    while at < end:
        if again > FREE + WORK * (at - start):
            yield from KAFKA.items(KAFKA, stored, at, end, options)
            return
        block = stored.read(at, min(size, end - at))  # of its own: who takes a part reads its bytes
        begun, base, odd = at, at, False
        for run in runs(block, options, keep=way.keep):
            if run.wave is None:
                odd = run.answers[0].kind != "tail" or base + len(block) >= end
                break
            for part in way.told(run):
                yield evolve(part, at=base + part.at)
                at = base + part.at + part.length
        again += base + len(block) - at if odd else 0
        if odd and at < end:
            item = _one(stored, at, options, end)
            at += item.length
            yield item
        size = way.block if at > begun else 4 * size


def _entries(block: memoryview, options: Options, *, last: bool) -> tuple[int, Frames, bool]:
    """The bytes of the whole entries at the beginning of a block, their rows, and whether no entry follows.

    `last`: nothing is read behind the block, so that what it cuts is no entry.
    """
    found = fast_scan(block, options)
    stop = _first_odd(found)
    length = int(found.length[:stop].sum())
    if stop == len(found):
        return length, found, False
    return length, found.until(stop), bool(found.kind[stop] != TAIL or last)


def _first_odd(found: Frames) -> int:
    """The first row that is no whole entry."""
    odd = np.flatnonzero(found.magic < 0)
    return int(odd[0]) if odd.size else len(found)


def _one(stored: Stored, at: int, options: Options, end: int) -> Item:
    pieces = stored.pieces(at)
    item = next(iter(formats.scan(KAFKA.row, pieces, options)))
    one = Item(item.kind, at, item.length, item.value, item.cls, item.remarks)
    return doubted(KAFKA.row, pieces, one, options, end)


def _moved(entries: pa.RecordBatch, base: int) -> pa.RecordBatch:
    return entries.set_column(0, "position", pc.add(entries.column("position"), base))


# --- columns ---

_HEADS_OF: Final = {"base_offset": "offset"}
"""Where a column of `kafka_columns.FRAMES` is called otherwise there."""

Derived = Callable[[pa.RecordBatch, Stored], Any]


def _flag(bit: int) -> Derived:
    def flag(entries: pa.RecordBatch, _: Stored) -> Any:  # noqa: ANN401 - pyarrow has no types
        attributes = entries.column("attributes").fill_null(0).to_numpy(zero_copy_only=False)
        batch = pc.equal(entries.column("magic"), 2)
        return pc.and_(batch, pa.array((attributes & bit) != 0))

    return flag


def _revision(entries: pa.RecordBatch, _: Stored) -> Any:  # noqa: ANN401 - as above
    return pc.binary_join_element_wise("v", entries.column("magic").cast(pa.string()), "")


def _records(entries: pa.RecordBatch, _: Stored) -> Any:  # noqa: ANN401 - as above
    frame = pc.equal(entries.column("kind"), "frame")
    return pc.if_else(frame, entries.column("records"), pa.scalar(None, pa.int64()))


def _raw(entries: pa.RecordBatch, stored: Stored) -> Any:  # noqa: ANN401 - as above
    """Entries lie one behind another: their bytes are one run, and the column only says where each begins."""
    ends = np.zeros(entries.num_rows + 1, np.int32)
    np.cumsum(entries.column("length").to_numpy(), out=ends[1:])
    data = stored.read(entries.column("position")[0].as_py(), int(ends[-1]))
    return pa.Array.from_buffers(
        pa.binary(), entries.num_rows, [None, pa.py_buffer(ends), pa.py_buffer(data)]
    )


_DERIVED: Final[dict[str, Derived]] = {
    "path": lambda entries, stored: pa.array([stored.shown]).take(
        pa.array(np.zeros(entries.num_rows, np.int8))
    ),
    "revision": _revision,
    "transactional": _flag(TRANSACTIONAL),
    "control": _flag(CONTROL),
    "records": _records,
    "raw": _raw,
}


def shown(entries: pa.RecordBatch, stored: Stored, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of `kafka_columns.FRAMES` that `schema` names, of rows of `columnar.HEADS`."""
    arrays = [
        _DERIVED[one.name](entries, stored)
        if one.name in _DERIVED
        else entries.column(_HEADS_OF.get(one.name, one.name))
        for one in schema
    ]
    return pa.RecordBatch.from_arrays(
        [array.cast(one.type) for array, one in zip(arrays, schema, strict=True)], schema=schema
    )
