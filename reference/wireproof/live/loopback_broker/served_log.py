"""A partition that serves the bytes of a case, and observes where the client fetches.

After the last entry it serves one more record, the `END` of the log: a client that delivers it has delivered
everything before it. So no time must pass until an answer is known.
"""

import time
from collections.abc import Callable
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, Literal

from attrs import frozen

from wireproof.kafka import log
from wireproof.kafka.append import TopicSettings
from wireproof.kafka.attribute_bits import CONTROL
from wireproof.kafka.control_types import ABORT
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode, finished, form_of
from wireproof.live.loopback_broker.partition import Aborted, ServedPartition
from wireproof.live.loopback_broker.regroup_records import RegroupedLog, split_log
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

if TYPE_CHECKING:
    from wireproof.live.loopback_broker.cluster import ServedTopic

Manner = Literal["pieces", "whole", "cut", "error", "leader"]
"""How a log is served. An answer begins at the entry that holds the offset, as Kafka's does, but in `whole`.

pieces: the first entry alone, as where it fills the limit or is the last one stored; then all the others. A
    client that does not get past an entry shows in the first answer, one that reads only the first entry of
    an answer in the second.
whole: all bytes in the first answer, also entries before the offset, which no broker returns; then as Kafka.
cut: one entry and the first half of the next in each answer, as a limit of bytes cuts them; a client that
    asks for the same offset with a greater limit gets the rest whole.
error: as `pieces`, after an answer with an error.
leader: as `pieces`; after the first of them another node leads the partition.

A log whose offsets do not grow is served whole: it has no entry that holds an offset alone.
"""

END: Final = b"wireproof: the end of the log"
"""The value of the record after the log."""

KEY: Final = b"wireproof"
"""Its key: a client that loses what has none must deliver this record."""

LARGEST: Final = (1 << 63) - 2
"""The last offset that a record after the log may have."""

TIMESTAMP: Final = 1_700_000_000_000
OTHER_NODE: Final = 2


@frozen
class Serving:
    """What is served, and how.

    Attributes:
        data: the bytes of a log.
        start: the offset from which the client is told to fetch.
        aborted: (producerId, firstOffset) of aborted transactions, which every answer names.
        manner: how it is served.
    """

    data: bytes
    start: int = 0
    aborted: tuple[tuple[int, int], ...] = ()
    manner: Manner = "pieces"

    @cached_property
    def log(self) -> RegroupedLog:
        """Return the entries of `data`."""
        return split_log(self.data)

    @cached_property
    def first(self) -> int:
        """Return the number of the entry that holds `start`."""
        entries = self.log.entries
        return next((place for place, one in enumerate(entries) if one.last >= self.start), len(entries))

    @cached_property
    def begins_before(self) -> bool:
        """Return True if the first answer has all bytes, also of entries before the offset."""
        if self.manner == "whole":
            return True
        lasts = [entry.last for entry in self.log.entries]
        steps = (pairwise(lasts), pairwise(offsets_of(self.data)))
        return any(one >= after for one, after in chain.from_iterable(steps))

    @cached_property
    def aborted_rows(self) -> tuple[Aborted, ...]:
        """Return the aborted transactions, with the offsets of their markers."""
        if not self.aborted:
            return ()
        markers = [(entry.last, abort_of(entry.data)) for entry in self.log.entries]
        return tuple(
            Aborted(
                producer,
                first,
                next((at for at, aborting in markers if aborting == producer and at >= first), LARGEST),
            )
            for producer, first in self.aborted
        )

    def from_offset(self, offset: int, *, all_of_them: bool = False) -> bytes:
        """Return the bytes from the entry with an offset on, as much of them as an answer has."""
        at = 0
        for index, entry in enumerate(self.log.entries):
            after = at + len(entry.data)
            if entry.last >= offset:
                return self.data[at : None if all_of_them else self._end_of_answer(index, after)]
            at = after
        return self.data[at:]

    def _end_of_answer(self, index: int, after: int) -> int:
        """Return where the answer ends that begins with the entry of this index, which ends at `after`."""
        entries = self.log.entries
        if index + 1 == len(entries) or (self.manner != "cut" and (self.begins_before or index > self.first)):
            return len(self.data)
        return after + (len(entries[index + 1].data) // 2 if self.manner == "cut" else 0)


class ServedLog(ServedPartition):
    """A partition that serves the log of a case.

    Attributes:
        serving: what it serves.
        topic: its topic, whose leader may change.
        fetches: how many offsets were asked for.
        offset: the last of them.
        limit: the most bytes that were asked for at it.
        repeated: how often the last one was asked for again since the limit of bytes grew last, one after
            the other; not while it waits for records after the last one.
        since: when it was asked for first, in seconds.
        has_served: whether the client got bytes of the log.
        end_at: the offset of the record after the log; None before it was served.
    """

    def __init__(self, serving: Serving, on_fetch: Callable[[int, bool], None]) -> None:
        """Serve a log; `on_fetch` is called for each Fetch: `repeated`, and if offset or limit is new."""
        super().__init__(TopicSettings())
        self.serving = serving
        self.topic: ServedTopic | None = None
        self.fetches = 0
        self.offset = -1
        self.repeated = 0
        self.since = 0.0
        self.has_served = False
        self.end_at: int | None = None
        self.start = max(serving.start, 0)
        last = max((entry.last for entry in serving.log.entries), default=-1)
        self.end = min(max(last + 1, self.start), LARGEST) + 1
        self._on_fetch = on_fetch
        self._answer = b""
        self._error = ErrorCode.NONE
        self.limit = 0
        self._limits: dict[int, int] = {}

    def note_fetch(self, offset: int, limit: int) -> None:
        """Choose the answer for an offset."""
        moved = self.fetches == 0 or offset != self.offset
        again = not moved and limit <= self.limit
        self.since = time.monotonic() if moved else self.since
        self.fetches += 1
        self.offset, self.limit = offset, limit if moved else max(limit, self.limit)
        self.repeated = self.repeated + 1 if again and not self.waits else 0
        self._error, self._answer = self._next(offset)
        self._on_fetch(self.repeated, not again)

    @property
    def waits(self) -> bool:
        """Return True if the last Fetch waits for records after the last one; it may do so often."""
        return self.end_at is not None and self.offset > self.end_at

    def _next(self, offset: int) -> tuple[ErrorCode, bytes]:
        serving = self.serving
        if serving.manner == "error" and self.fetches == 1:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER, b""
        if serving.manner == "leader" and self.has_served and self.topic and self.topic.leader != OTHER_NODE:
            self.topic.move_to(OTHER_NODE)
            return ErrorCode.NOT_LEADER_OR_FOLLOWER, b""
        if not self.has_served and serving.data:
            self.has_served = True
            whole = serving.begins_before or self._is_past(offset)
            return ErrorCode.NONE, serving.data if whole else serving.from_offset(offset)
        if not self._is_past(offset):
            return ErrorCode.NONE, serving.from_offset(offset)
        if (self.end_at is not None and offset > self.end_at) or offset > LARGEST:
            return ErrorCode.NONE, b""
        self.end_at = offset
        self.end = max(self.end, offset + 1)
        return ErrorCode.NONE, end_batch(offset)

    def _is_past(self, offset: int) -> bool:
        return self.serving.log.is_read(offset)

    @property
    def refuses(self) -> bool:
        """Return True if the last answer was an error of the test."""
        return self._error != ErrorCode.NONE

    def check_range(self, _: int) -> None:
        """Raise `AppendRefused` if the answer is an error; every offset may be asked for."""
        if self._error:
            raise AppendRefused(self._error, "as the test wants it")

    def read_from(self, offset: int, max_bytes: int, _: int | None = None) -> bytes:
        """Return the answer to the last Fetch, whatever its limit: only a greater one than before matters."""
        raised = self._limits.setdefault(offset, max_bytes) < max_bytes
        if raised and self.serving.manner == "cut" and not self._is_past(offset):
            self._answer = self.serving.from_offset(offset, all_of_them=True)
        return self._answer

    def aborted_for(self, _: int, __: int, *, committed: bool) -> list[Aborted]:  # noqa: ARG002 - as its base
        """Return the aborted transactions of the answer, for read_uncommitted too, as Redpanda does."""
        if self.end_at is not None:
            return []
        if len(self._answer) == len(self.serving.data):
            return list(self.serving.aborted_rows)
        last = max((entry.last for entry in split_log(self._answer).entries), default=-1)
        return [row for row in self.serving.aborted_rows if row.last >= self.offset and row.first <= last]


def offsets_of(data: bytes) -> list[int]:
    """Return the offsets of the records of a log; none of a damaged one."""
    try:
        entries = log.decode(Reader(data), DEFAULT_OPTIONS).batches
    except (Rejected, ValueError):
        return []
    return [
        one.offset
        for entry in entries
        for one in (entry.records if isinstance(entry, RecordBatch) else entry.messages or [entry])
    ]


def abort_of(entry: bytes) -> int | None:
    """Return the producer whose transaction ends by an ABORT marker; None for any other entry."""
    try:
        (batch,) = log.decode(Reader(entry), DEFAULT_OPTIONS).batches
    except (Rejected, ValueError):  # a damaged entry, or none
        return None
    if not isinstance(batch, RecordBatch) or not batch.attributes & CONTROL or not batch.records:
        return None
    typed = batch.records[0].control
    return batch.producer_id if typed is not None and typed.type == ABORT else None


def end_batch(offset: int) -> bytes:
    """Return the batch with the record after a log."""
    records = (Record(0, 0, 0, KEY, END, ()),)
    batch = RecordBatch(offset, 0, 2, 0, 0, TIMESTAMP, TIMESTAMP, -1, -1, -1, records)
    return finished(form_of(batch))
