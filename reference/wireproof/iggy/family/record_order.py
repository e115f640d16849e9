"""The offsets and timestamps of the batches of servers 0.2.5 to 0.4.x, which no checksum covers: iggy.md §7.

The header of a batch repeats those of its last message, and a server finds messages by this header. Its base
offset is that of the first message in the first batch of a segment; server 0.4.300 writes 0 in the others.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from wireproof.family import EntryRow, EntryRows, OrderFault
from wireproof.iggy.message import PolledMessage40
from wireproof.iggy.retained_batch import LAYOUT, RetainedBatch
from wireproof.wire.scan_items import Item

NOT_RISING: Final = "offsets-not-monotonic"
NOT_REPEATED: Final = "iggy-batch-header"


class RecordOrder:
    """Checks that the header of a batch agrees with its messages, and that offsets rise."""

    def __init__(self) -> None:
        """Begin with no batch."""
        self.last: int | None = None

    def after(self, item: Item, number: int) -> Iterator[OrderFault]:
        """Yield the faults of the next batch."""
        match item.value:
            case RetainedBatch(messages=messages) as batch if messages:
                yield from self._follow(batch, item.at, f"batches[{number}]")

    def after_row(self, row: EntryRow, number: int) -> Iterable[OrderFault]:
        """Return no faults: no fast decoder reads these segments."""
        del row, number
        return ()

    def after_rows(self, rows: EntryRows, first: int) -> int:
        """Return the end of the rows: as for a single row."""
        del first
        return len(rows)

    def _follow(self, batch: RetainedBatch, at: int, path: str) -> Iterator[OrderFault]:
        last = batch.messages[-1]
        ends = batch.base_offset + batch.last_offset_delta
        repeated = (
            ("base_offset", batch.base_offset, (0, batch.messages[0].offset), "offset of its first message"),
            ("last_offset_delta", ends, (last.offset,), "offset of its last message"),
            ("max_timestamp", batch.max_timestamp, (last.timestamp,), "timestamp of its last message"),
        )
        for name, header, messages, what in repeated:
            if header not in messages:
                text = f"{header} in the header of the batch, but the {what} is {messages[-1]}"
                yield OrderFault(NOT_REPEATED, at + LAYOUT.offset(name), f"{path}.{name}", text)
        yield from self._rise(batch.messages, at, path)
        self.last = last.offset

    def _rise(self, messages: tuple[PolledMessage40, ...], at: int, path: str) -> Iterator[OrderFault]:
        offsets = [one.offset for one in messages]
        before = [] if self.last is None else [self.last]
        for earlier, later in pairwise([*before, *offsets]):
            if later <= earlier:
                text = f"offset {later} after {earlier}: one of the two is damaged"
                yield OrderFault(NOT_RISING, at, f"{path}.messages", text)
                return
