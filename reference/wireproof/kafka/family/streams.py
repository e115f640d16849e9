"""The rules of Kafka's logs that their scan does not give."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from wireproof.family import EntryRow, EntryRows, Format, OrderFault, StreamRules
from wireproof.kafka import resync
from wireproof.kafka.family.entry_cells import (
    BASE_OFFSET,
    LAST_OFFSET,
    LEADER_EPOCH,
    MAGIC,
    offsets_and_epoch,
)
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.kafka.values import Message, RecordBatch
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item


class EntryOrder:
    """Checks the rising offsets and leader epochs of a log: kafka.md §1.5; no checksum covers them."""

    def __init__(self) -> None:
        """Begin with no entry."""
        self.last: int | None = None
        self.epoch = -1

    def after(self, item: Item, number: int) -> Iterator[OrderFault]:
        """Yield the faults in the order of the next entry."""
        match item.value:
            case RecordBatch(base_offset=first, last_offset_delta=delta, partition_leader_epoch=epoch):
                yield from self._follow(first, first + delta, epoch, item.at, number)
            case Message(offset=last, messages=inner):
                yield from self._follow(inner[0].offset if inner else last, last, None, item.at, number)

    def after_row(self, row: EntryRow, number: int) -> Iterable[OrderFault]:
        """Return the faults of an entry that the fast decoder returned."""
        first, last, epoch = offsets_and_epoch(row.cells)
        return self._follow(first, last, epoch, row.at, number)

    def after_rows(self, rows: EntryRows, first: int) -> int:
        """Return the first entry whose offset does not rise, or with another epoch; nearly none is one."""
        last, epoch = self.last, self.epoch
        if last is None or epoch < -1:
            return first
        for index in range(first, len(rows)):
            cells = rows.cells[index]
            base = cells[BASE_OFFSET]
            if (cells[LAST_OFFSET] if base is None else base) <= last:
                break
            if cells[LEADER_EPOCH] != epoch and cells[MAGIC] > 1:
                break
            last = cells[LAST_OFFSET]
        else:
            index = len(rows)
        self.last = last
        return index

    def _follow(self, first: int, last: int, epoch: int | None, at: int, number: int) -> Iterator[OrderFault]:
        if epoch is not None:
            if epoch < self.epoch or epoch < -1:
                text = f"epoch {epoch} after {self.epoch}: one of the two is damaged"
                path = f"batches[{number}].partitionLeaderEpoch"
                yield OrderFault("leader-epoch-order", at + BATCH.offset("partitionLeaderEpoch"), path, text)
            self.epoch = epoch
        if self.last is not None and first <= self.last:
            text = f"offset {first} after {self.last}: one of the two is damaged"
            yield OrderFault("offsets-not-monotonic", at, f"batches[{number}].baseOffset", text)
        self.last = last


def _damaged_length(
    _: Format, data: bytes, length: int, options: Options, before: tuple[Any, ...] | None
) -> int:
    del before  # an entry has its own checksum, so the one before it is not needed
    return resync.damaged_length(data, length, options)


def _bytes_needed(_: Format, tail: bytes) -> int:
    """Return size and overhead of an entry: kafka.md §1.1."""
    return int.from_bytes(tail[8:12], "big", signed=True) + 12 if len(tail) > MAGIC_AT else 0


def _next_offset(entries: Sequence[Json]) -> dict[str, Json]:
    """Return the next offset of a log: that of its last entry."""
    last = entries[-1] if entries else None
    return {"nextOffset": last.get("nextOffset") if isinstance(last, dict) else None}


STREAMS: Final = {
    "kafka.log": StreamRules(
        _next_offset,
        _damaged_length,
        resync.LOOKAHEAD,
        _bytes_needed,
        EntryOrder,
        resync.two_entries_begin_at,
    )
}
