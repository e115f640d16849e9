"""Records of Kafka logs as rows: what `reading` makes of the reference's entries, from the kernels' columns.

Entries that the kernels do not answer for stand between them as the reference's items, and `kafka_columns`
makes their rows; so a row says the same whichever way it came.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from attrs import frozen

from wireproof.columnar import clean_records
from wireproof.columnar.frames import Run
from wireproof.columnar.wave import Wave
from wireproof.kafka.arithmetic import CONTROL
from wireproof.spark import fast
from wireproof.spark.columns import TEXTS
from wireproof.spark.stored import Stored
from wireproof.wire.items import Item
from wireproof.wire.options import Options

BLOCK: Final = 4 * 1024 * 1024
"""Bytes of entries whose records are made together; what they unpack to is bounded by `columnar`."""

Numbers: TypeAlias = Any
"""An array of numpy, whose types mypy does not see here."""


@frozen
class Records:
    """The records of clean entries, one behind another.

    Attributes:
        at, length: where the first entry begins, and the bytes of all of them.
        first: the index of the first in the wave.
        wave: the entries, of which these are some.
        rows: the records, rows of `columnar.RECORDS`.
        which: the entry of each record, as its index in the wave.
    """

    at: int
    length: int
    first: int
    wave: Wave
    rows: pa.RecordBatch
    which: Numbers

    @property
    def position(self) -> Numbers:
        """Of each record's entry, in the object."""
        begins = self.wave.entries.position.astype(np.int64)
        return begins[self.which] - begins[self.first] + self.at

    @property
    def index(self) -> Numbers:
        """The number of each record in its entry."""
        numbers = np.arange(self.which.size)
        begun = np.flatnonzero(np.diff(self.which, prepend=-1))
        return numbers - np.repeat(begun, np.diff(begun, append=self.which.size))

    @property
    def control(self) -> Numbers:
        """Whether it is a record of a control batch: kafka.md §1.2."""
        wave = self.wave
        return ((wave.entries.magic == 2) & (wave.heads["attributes"] & CONTROL != 0))[self.which]


def parts(stored: Stored, start: int, end: int, options: Options) -> Iterator[Item | Records]:
    """What begins from `start` to `end`, both edges, in order and without gaps."""
    return fast.parts(stored, start, end, options, fast.Way("columns", BLOCK, _told))


def _told(run: Run) -> Iterator[Item | Records]:
    """The clean entries of a wave, and between them the items of the others."""
    wave = run.wave
    assert wave is not None, "of whole entries"
    rows, which = clean_records(wave), np.repeat(np.arange(wave.records.size), wave.records)
    first = 0
    for stop in sorted({*run.answers, wave.records.size}):
        if stop > first:
            yield _some(wave, rows, which, first, stop)
        if stop in run.answers:
            yield run.answers[stop]
        first = stop + 1


def _some(wave: Wave, rows: pa.RecordBatch, which: Numbers, first: int, stop: int) -> Records:
    low, high = map(int, np.searchsorted(which, (first, stop)))
    at, length = int(wave.entries.position[first]), int(wave.entries.length[first:stop].sum())
    return Records(at, length, first, wave, rows.slice(low, high - low), which[low:high])


# --- columns ---


def _always(text: str) -> Callable[[Records, Stored], Any]:
    return lambda found, _: _repeated(text, found)


def _repeated(text: str, found: Records) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(found.which.size, np.int8)))


def _revision(found: Records, _: Stored) -> pa.Array:
    return pa.array(["v0", "v1", "v2"]).take(pa.array(found.wave.entries.magic[found.which]))


_COLUMNS: Final[dict[str, Callable[[Records, Stored], Any]]] = {
    "path": lambda found, stored: _repeated(stored.shown, found),
    "position": lambda found, _: pa.array(found.position),
    "length": lambda found, _: pa.array(found.wave.entries.length.astype(np.int64)[found.which]),
    "kind": _always("frame"),
    "fault": lambda found, _: pa.nulls(found.which.size, pa.string()),
    "remarks": lambda found, _: pa.ListArray.from_arrays(
        np.zeros(found.which.size + 1, np.int32), pa.array([], pa.string()), type=TEXTS
    ),
    "revision": _revision,
    "control": lambda found, _: pa.array(found.control),
    "index": lambda found, _: pa.array(found.index.astype(np.int32)),
}
"""Those of `kafka_columns.RECORDS` that do not stand in `columnar.RECORDS`; of clean entries nothing is
remarked."""


def shown(found: Records, stored: Stored, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of `kafka_columns.RECORDS` that `schema` names."""
    arrays = (
        _COLUMNS[one.name](found, stored) if one.name in _COLUMNS else found.rows.column(one.name)
        for one in schema
    )
    return pa.RecordBatch.from_arrays(
        [array.cast(one.type) for array, one in zip(arrays, schema, strict=True)], schema=schema
    )
