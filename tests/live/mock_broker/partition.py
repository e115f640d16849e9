"""A partition: its batches, its producers, and the steps of an append. A fault overrides one of the steps."""

from collections import deque
from typing import Final

from attrs import Factory, define, evolve, frozen

from tests.live.mock_broker import append_rules, stored_form
from tests.live.mock_broker.append_rules import Arrival, ErrorCode, Refused
from tests.live.mock_broker.stored_form import Form
from tests.live.mock_broker.topic_settings import TopicSettings
from wireproof.kafka.values import RecordBatch

KNOWN_BATCHES: Final = 5
"""How many of a producer's last batches are known as duplicates: ProducerStateEntry."""

SEQUENCES: Final = 1 << 31
"""After the sequence 2³¹ − 1 comes 0: kafka.md §1.7."""


NO_EPOCH: Final = -1


@frozen
class Appended:
    """The answer to an append that succeeded; the time is -1 unless the topic has append time."""

    base_offset: int
    append_time: int = -1


@frozen
class Stored:
    """A batch in the log, from its first offset to its last one."""

    base_offset: int
    last_offset: int
    max_timestamp: int
    data: bytes


@define
class Producer:
    """What is known of a producer: its epoch, and (first, last sequence, answer) of its last batches.

    The answer to a duplicate has the batch's maxTimestamp as append time, also under CreateTime:
    `duplicate.timestamp` in UnifiedLog.
    """

    epoch: int
    batches: deque[tuple[int, int, Appended]] = Factory(lambda: deque(maxlen=KNOWN_BATCHES))


class Partition:
    """The log of a partition.

    Attributes:
        settings: of its topic.
        stored: the batches, in order.
        end: the offset of the next record, which is the high watermark too: there are no followers.
    """

    def __init__(self, settings: TopicSettings) -> None:
        """Begin with an empty log."""
        self.settings = settings
        self.stored: list[Stored] = []
        self.end = 0
        self._producers: dict[int, Producer] = {}

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Append the record set of a Produce request of this version at the time `now`.

        Raises:
            Refused: nothing was appended.
        """
        append_rules.check_transaction(data, transactional_id)
        arrival = self.read(data, version)
        self.check(arrival, now)
        known = self.known_producer(arrival.batch)
        if isinstance(known, Appended):
            return known
        form = self.form(arrival, now)
        finished = self.finish(form, arrival)
        append_rules.check_size(len(finished), self.settings)
        answer = self.answer(form, now)
        self.keep(form, finished)
        if known is not None:
            first = arrival.batch.base_sequence
            last = (first + arrival.batch.last_offset_delta) % SEQUENCES
            again = evolve(answer, append_time=form.header.max_timestamp)
            known.batches.append((first, last, again))
        return answer

    # --- the steps of an append ---

    def read(self, data: bytes, version: int) -> Arrival:
        """Return the batch of a record set; raises `Refused`."""
        batch = append_rules.one_batch(data, version)
        append_rules.check_size(len(batch), self.settings)
        return append_rules.read_batch(batch)

    def check(self, arrival: Arrival, now: int) -> None:
        """Check the records against the settings of the topic; raises `Refused`."""
        append_rules.check_records(arrival, self.settings, now)

    def form(self, arrival: Arrival, now: int) -> Form:
        """Return the form in which a batch is stored."""
        return stored_form.stored_form(arrival, self.settings, self.end, now)

    def finish(self, form: Form, _: Arrival) -> bytes:
        """Return the bytes that are stored."""
        return stored_form.finished(form)

    def answer(self, form: Form, now: int) -> Appended:
        """Return the answer to the producer."""
        return Appended(form.header.base_offset, now if self.settings.append_time else -1)

    def keep(self, form: Form, data: bytes) -> None:
        """Add the bytes to the log."""
        last = self.end + form.header.last_offset_delta
        self.stored.append(Stored(self.end, last, form.header.max_timestamp, data))
        self.end = last + 1

    # --- producers ---

    def known_producer(self, batch: RecordBatch) -> Producer | Appended | None:
        """Return the state of the batch's producer, the answer to a duplicate, or None without a producer.

        Raises:
            Refused: the epoch is old, or the sequence is not the next one: ProducerAppendInfo.
        """
        if batch.producer_id < 0:
            return None
        known = self._producers.get(batch.producer_id)
        if known is None:
            known = self._producers[batch.producer_id] = Producer(batch.producer_epoch)
        if batch.producer_epoch < known.epoch:
            raise Refused(
                ErrorCode.INVALID_PRODUCER_EPOCH, f"epoch {batch.producer_epoch} after {known.epoch}"
            )
        first = batch.base_sequence
        if batch.producer_epoch > known.epoch:
            if first and known.epoch != NO_EPOCH:
                raise _out_of_order(first, 0)
            known.epoch = batch.producer_epoch
            known.batches.clear()
        last = (first + batch.last_offset_delta) % SEQUENCES
        for begin, end, answer in known.batches:
            if (begin, end) == (first, last):
                return answer
        if known.epoch != NO_EPOCH and known.batches:
            expected = (known.batches[-1][1] + 1) % SEQUENCES
            if first != expected:
                raise _out_of_order(first, expected)
        return known

    # --- reading ---

    def read_from(self, offset: int, max_bytes: int) -> bytes:
        """Return whole batches from the one with `offset` on: at least one, and no more than `max_bytes`."""
        found = b""
        for stored in self.stored:
            if stored.last_offset < offset:
                continue
            if found and len(found) + len(stored.data) > max_bytes:
                break
            found += stored.data
        return found

    def first_after(self, timestamp: int) -> Stored | None:
        """Return the first batch with a record of this time or a later one."""
        return next((stored for stored in self.stored if stored.max_timestamp >= timestamp), None)


def _out_of_order(found: int, expected: int) -> Refused:
    return Refused(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"sequence {found}, expected {expected}")
