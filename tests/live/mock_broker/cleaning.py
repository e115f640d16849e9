"""Faults in the cleaning of a compacted topic. Each class overrides one step of it."""

from typing import Any

from wireproof.kafka.values import Record
from wireproof.live.loopback_broker.partition import (
    Aborted,
    CleaningPartition,
    StoredEntry,
    batch_in,
    data_in,
    records_in,
)


class CleansMarkers(CleaningPartition):
    """Takes markers for records, whose keys are equal: of each kind the last one is left."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Leave the last marker of each key."""
        last = {records_in(one)[0].key: one.base_offset for one in entries if one.is_marker}
        return [
            one for one in super().cleaned(entries) if not one.is_marker or one.base_offset in last.values()
        ]


class CleansMarkersOfOthers(CleaningPartition):
    """Leaves the markers of the producer that ended a transaction last."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Leave those of one producer."""
        producers = [batch_in(one).producer_id for one in entries if one.is_marker]
        return [
            one
            for one in super().cleaned(entries)
            if not one.is_marker or batch_in(one).producer_id == producers[-1]
        ]


class CleansNewerRecords(CleaningPartition):
    """Leaves the first record of each key."""

    def kept(self, entries: list[StoredEntry]) -> set[int]:
        """Begin at the end."""
        rows = [record for _, batch in data_in(entries) for record in batch.records]
        return set({record.key: record.offset for record in reversed(rows)}.values())


class CleaningCountsAborted(CleaningPartition):
    """Takes aborted records for the state of their keys."""

    def is_aborted(self, *_: Any, **__: Any) -> bool:
        """Know no aborted batch."""
        return False


class CleaningForgetsAborted(CleaningPartition):
    """Names no aborted transaction any more after it has cleaned."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Forget them."""
        left = super().cleaned(entries)
        self.aborted = list[Aborted]()
        return left


class CleaningKeepsTimes(CleaningPartition):
    """Answers the times of records that were cleaned away."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Keep what was there."""
        self._before = [record for _, batch in data_in(entries) for record in batch.records]
        return super().cleaned(entries)

    def first_after(self, timestamp: int) -> Record | None:
        """Look there first."""
        found = (one for one in getattr(self, "_before", ()) if one.timestamp >= timestamp)
        return next(found, None) or super().first_after(timestamp)
