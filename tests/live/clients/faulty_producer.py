"""Producers with one fault each: `python -m tests.live.clients.faulty_producer FAULT produce …`."""

import sys
from typing import Any, Final

from tests.live.clients.faulty import NO_FAULT, named
from tests.live.clients.plain_client import Row
from tests.live.clients.plain_producer import PlainProducer


class ForgetsMaxTimestamp(PlainProducer):
    """Writes the first time as maxTimestamp: IBM/sarama#3108."""

    def value(self, records: list[Row]) -> Any:
        return super().value(records) | {"maxTimestamp": records[0]["timestamp"]}


class SendsEachRecordAlone(PlainProducer):
    """Sends a batch for each record."""

    def batches(self) -> list[list[Row]]:
        return [[one] for one in self.records]


class WritesNoLastOffsetDelta(PlainProducer):
    """Writes 0 as lastOffsetDelta: IBM/sarama#1026."""

    def value(self, records: list[Row]) -> Any:
        return super().value(records) | {"lastOffsetDelta": "0"}


class WritesNoCodec(PlainProducer):
    """Compresses nothing."""

    def value(self, records: list[Row]) -> Any:
        value = super().value(records)
        return value | {"attributes": str(int(value["attributes"]) & ~7)}


class WritesNoTransactionalBit(PlainProducer):
    """Leaves the bit of a transaction out: tulios/kafkajs#199."""

    def value(self, records: list[Row]) -> Any:
        value = super().value(records)
        return value | {"attributes": str(int(value["attributes"]) & 7)}


class WritesEmptyForNull(PlainProducer):
    """Writes an empty value for null: tulios/kafkajs#185."""

    def record(self, one: Row, delta: int, base: int) -> Row:
        return super().record(one, delta, base) | {"value": one["value"] or ""}


class WritesOneHeader(PlainProducer):
    """Writes the last header only."""

    def record(self, one: Row, delta: int, base: int) -> Row:
        return super().record(one | {"headers": one["headers"][-1:]}, delta, base)


class RetriesWithNextSequence(PlainProducer):
    """Sends a batch again with a new sequence, so that it is stored twice."""

    def again(self, records: list[Row]) -> bytes:
        self.sequence += len(records)
        return super().again(records)


class RetriesWithOtherRecords(PlainProducer):
    """Sends a batch again with other records under its sequence, which are lost."""

    def again(self, records: list[Row]) -> bytes:
        return super().again([one | {"value": "00"} for one in records])


class WritesNextEpoch(PlainProducer):
    """Writes the epoch after the one that the broker gave."""

    def value(self, records: list[Row]) -> Any:
        value = super().value(records)
        return value | {"producerEpoch": str(int(value["producerEpoch"]) + 1)}


class BeginsAtSequenceOne(PlainProducer):
    """Writes 1 as its first sequence."""

    def value(self, records: list[Row]) -> Any:
        value = super().value(records)
        return value | {"baseSequence": str(int(value["baseSequence"]) + 1)}


class ReportsNextOffset(PlainProducer):
    """Reports the offset after that of the record."""

    def produce(self, data: bytes) -> int:
        return super().produce(data) + 1


FAULTS: Final = named(sys.modules[__name__], PlainProducer)
"""The faulty producers by name, such as `sends-each-record-alone`."""

if __name__ == "__main__":
    fault, _, *arguments = sys.argv[1:]
    (PlainProducer if fault == NO_FAULT else FAULTS[fault])(*arguments).run()
