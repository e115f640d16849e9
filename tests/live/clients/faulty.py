"""Client programs with one fault each: `python -m tests.live.clients.faulty FAULT consume …`.

The faults are those that clients had, or that one careless line makes.
"""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from inspect import getmembers, isclass
from types import ModuleType
from typing import Any, Final, TypeVar

from attrs import evolve

from tests.live.clients.plain_client import SECONDS, PlainConsumer, Row, put, row_of
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.live.loopback_broker.faults import with_right_crc
from wireproof.live.loopback_broker.regroup_records import split_log
from wireproof.live.loopback_broker.served_log import END
from wireproof.wire.json_values import json_of
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

T = TypeVar("T")

Aborted = tuple[tuple[int, int], ...]

# --- where the next fetch begins ---


class StopsAtEmptyBatch(PlainConsumer):
    """Asks again for a batch without records, as Sarama did: IBM/sarama#3221."""

    def following(self, found: Log, data: bytes) -> int:
        entries = split_log(data).entries
        empty = entries and entries[-1].count == 0
        return entries[-1].first or 0 if empty else super().following(found, data)


class AdvancesByCount(PlainConsumer):
    """Goes on after the last record that is left, as kafkajs did: tulios/kafkajs#577."""

    def following(self, found: Log, _: bytes) -> int:
        rows = list(self.rows(found))
        return int(rows[-1]["offset"]) + 1 if rows else self.position


class SpinsWhenNothingIsDelivered(PlainConsumer):
    """Asks again, without a pause, for what it does not deliver."""

    def following(self, found: Log, data: bytes) -> int:
        return super().following(found, data) if any(self.rows(found)) else self.position


class JumpsOverNextBatch(PlainConsumer):
    """Goes on one offset too far."""

    def following(self, found: Log, data: bytes) -> int:
        return super().following(found, data) + 1


class RepeatsBatch(PlainConsumer):
    """Fetches the first answer twice, and delivers it twice."""

    repeated = False

    def following(self, found: Log, data: bytes) -> int:
        again, self.repeated = not self.repeated, True
        return self.position if again else super().following(found, data)


class ReadsFirstBatchOnly(PlainConsumer):
    """Reads the first batch of an answer and passes over the others: tulios/kafkajs#179."""

    def rows(self, found: Log) -> Iterator[Row]:
        yield from super().rows(evolve(found, batches=found.batches[:1]))


# --- what is delivered ---


class DeliversMarkers(PlainConsumer):
    """Delivers control records: tulios/kafkajs#208."""

    def options(self, _: Aborted) -> Options:
        return Options()

    def rows_of(self, entry: RecordBatch | Message) -> Iterator[Row]:
        if isinstance(entry, RecordBatch):
            tree: Any = json_of(entry, with_derived=True)
            yield from map(row_of, tree["records"])
        else:
            yield from super().rows_of(entry)


class DeliversAborted(PlainConsumer):
    """Delivers the records of aborted transactions."""

    def options(self, aborted: Aborted) -> Options:
        return evolve(super().options(aborted), aborted=())


class KeepsAbortedProducer(PlainConsumer):
    """Hides a producer that aborted once for ever, whatever it commits later."""

    def rows(self, found: Log) -> Iterator[Row]:
        hidden = {producer for producer, _ in self.aborted}
        for entry in found.batches:
            if not isinstance(entry, RecordBatch) or entry.producer_id not in hidden:
                yield from self.rows_of(entry)

    def options(self, aborted: Aborted) -> Options:
        options = super().options(aborted)
        self.aborted = options.aborted
        return options


class HidesAbortedFromUncommitted(PlainConsumer):
    """Hides aborted records under read_uncommitted too: twmb/franz-go#758."""

    def options(self, aborted: Aborted) -> Options:
        return evolve(super().options(aborted), isolation="read_committed", aborted=aborted)


class DropsAfterGap(PlainConsumer):
    """Drops a record whose offset does not follow the last one."""

    def rows(self, found: Log) -> Iterator[Row]:
        before: int | None = None
        for row in super().rows(found):
            offset = int(row["offset"])
            if before is None or offset == before + 1:
                yield row
            before = offset


class DeliversBelowOffset(PlainConsumer):
    """Delivers the records before the offset that was asked for."""

    def options(self, aborted: Aborted) -> Options:
        return evolve(super().options(aborted), fetch_offset=None)


class LosesHeaders(PlainConsumer):
    """Delivers no headers."""

    def show(self, row: Row) -> None:
        super().show(row | {"headers": []} if row["value"] != END.hex() else row)


def without_null(row: Row, name: str) -> Row:
    """Return a row with an empty text in place of null."""
    return row | {name: ""} if row[name] is None else row


class EmptyForNullKey(PlainConsumer):
    """Delivers an empty key for none."""

    def show(self, row: Row) -> None:
        super().show(without_null(row, "key"))


class EmptyForNullValue(PlainConsumer):
    """Delivers an empty value for none."""

    def show(self, row: Row) -> None:
        super().show(without_null(row, "value"))


class DropsNullKeys(PlainConsumer):
    """Passes over the records without a key."""

    def show(self, row: Row) -> None:
        if row["key"] is not None:
            super().show(row)


class DropsNullValues(PlainConsumer):
    """Passes over the records without a value: those that delete a key."""

    def show(self, row: Row) -> None:
        if row["value"] is not None:
            super().show(row)


class EmptyForNullHeader(PlainConsumer):
    """Delivers an empty header for one without a value."""

    def show(self, row: Row) -> None:
        super().show(row | {"headers": [[name, value or ""] for name, value in row["headers"]]})


class DropsNullHeaders(PlainConsumer):
    """Passes over the headers without a value."""

    def show(self, row: Row) -> None:
        super().show(row | {"headers": [one for one in row["headers"] if one[1] is not None]})


class LosesSecondOfEqualHeaders(PlainConsumer):
    """Delivers one header of a name: tulios/kafkajs#1132."""

    def show(self, row: Row) -> None:
        super().show(row | {"headers": [list(one) for one in dict(row["headers"]).items()]})


class AlwaysCreateTime(PlainConsumer):
    """Calls the time of the broker one of the producer: confluentinc/librdkafka#2368."""

    def show(self, row: Row) -> None:
        super().show(row | {"timestampType": row["timestampType"] and "CreateTime"})


class NullsOfOldMessages(PlainConsumer):
    """Delivers null for keys and values of v0 and v1, as librdkafka did: confluentinc/librdkafka#5549."""

    def rows_of(self, entry: RecordBatch | Message) -> Iterator[Row]:
        old = {"key": None, "value": None} if isinstance(entry, Message) else {}
        yield from (row | old for row in super().rows_of(entry))


class HoldsLastRecord(PlainConsumer):
    """Delivers a record when the next one comes."""

    held: Row | None = None

    def show(self, row: Row) -> None:
        if self.held is not None:
            super().show(self.held)
        self.held = row


# --- damage ---


class StopsSilently(PlainConsumer):
    """Does nothing more after damage, and reports nothing."""

    def refuse(self, data: bytes, _: Rejected) -> None:
        for row in self.rows(self.before(data)):
            self.show(row)
        time.sleep(SECONDS)


class SkipsDamage(PlainConsumer):
    """Goes on after a damaged answer as if nothing had been there."""

    def refuse(self, data: bytes, _: Rejected) -> None:
        self.position = max((entry.last for entry in split_log(data).entries), default=self.position) + 1


class FetchesDamageForEver(PlainConsumer):
    """Drops a damaged answer, and asks for it again, as librdkafka does."""

    def refuse(self, _: bytes, __: Rejected) -> None:
        """Do nothing."""


class DeliversDamage(PlainConsumer):
    """Checks no CRC."""

    def decode(self, data: bytes, options: Options) -> Log:
        whole = b"".join(
            with_right_crc(entry.data) if entry.magic == 2 else entry.data
            for entry in split_log(data).entries
        )
        return super().decode(whole + data[len(whole) :], options)


class EndsAtCutTail(PlainConsumer):
    """Ends where an answer ends in the middle of a batch."""

    def take(self, data: bytes, aborted: Aborted) -> None:
        super().take(data, aborted)
        if sum(len(entry.data) for entry in split_log(data).entries) < len(data):
            sys.exit()


class RefusesCutTail(PlainConsumer):
    """Reports an answer that ends in the middle of a batch: IBM/sarama#998."""

    def take(self, data: bytes, aborted: Aborted) -> None:
        super().take(data, aborted)
        if sum(len(entry.data) for entry in split_log(data).entries) < len(data):
            put({"error": "the answer is cut"})


class PanicsAtDamage(PlainConsumer):
    """Ends by a signal at damage."""

    def refuse(self, _: bytes, __: Rejected) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


def named(module: ModuleType, base: type[T]) -> Mapping[str, type[T]]:
    """Return the classes of a module that have a fault, by name."""
    found = [
        (name, one) for name, one in getmembers(module, isclass) if issubclass(one, base) and one is not base
    ]
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(): one for name, one in found}


FAULTS: Final = named(sys.modules[__name__], PlainConsumer)
"""The faulty consumers by name, such as `delivers-markers`."""

NO_FAULT: Final = "none"

if __name__ == "__main__":
    fault, _, *arguments = sys.argv[1:]
    (PlainConsumer if fault == NO_FAULT else FAULTS[fault])(*arguments).run()
