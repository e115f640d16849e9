"""The requests around an append: a batch before it, a fetch from inside its batch, and its retry."""

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from tests.authoring.kafka.entry_bytes import batch, message, record
from wireproof import formats
from wireproof.cases.outcome import BrokenRule
from wireproof.kafka.values import Log, RecordBatch
from wireproof.live.kafka_broker import append_case, requests
from wireproof.live.kafka_broker.requests import FetchAnswer, ProduceAnswer, is_idempotent
from wireproof.live.kafka_broker.topics import Partition, TopicError

TWO = batch(record(b"a", b"1") + record(b"b", b"2", off=1), 2)
IDEMPOTENT = batch(record(b"k", b"v"), 1, pid=7, pepoch=0, seq=0)


class Broker:
    """The next answers to Produce and to Fetch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.produced = ProduceAnswer(0, "", 0, -1)
        self.fetched = FetchAnswer(0, 2, TWO)
        self.sent: list[bytes] = []
        self.offsets: list[int] = []
        monkeypatch.setattr(requests, "produce", self._produce)
        monkeypatch.setattr(requests, "fetch", self._fetch)

    def _produce(self, _: object, __: object, data: bytes, ___: int) -> ProduceAnswer:
        self.sent.append(data)
        return self.produced

    def _fetch(self, _: object, __: object, offset: int, ___: int) -> FetchAnswer:
        self.offsets.append(offset)
        return self.fetched

    def prepare(self, partition: Partition) -> None:
        append_case.append_earlier(None, partition)  # type: ignore[arg-type] # not asked

    def inside(self, entry: bytes) -> list[BrokenRule]:
        place = (5, entry)
        return list(append_case.inside_faults(None, Partition("t", None, 0, 1, 0), place, 7))  # type: ignore[arg-type]

    def retry(self) -> list[BrokenRule]:
        where = Partition("t", None, 0, 1, 0)
        return list(append_case.retry_faults(None, where, IDEMPOTENT, 4, 5))  # type: ignore[arg-type]


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    return Broker(monkeypatch)


def test_a_new_partition_gets_a_batch_once(broker: Broker) -> None:
    partition = Partition("t", None, 0, 1, 0)
    broker.prepare(partition)
    broker.prepare(partition)
    assert len(broker.sent) == 1
    assert (partition.end, partition.last) == (2, (0, TWO))


def test_a_topic_that_refuses_the_batch_before_stays_empty(broker: Broker) -> None:
    broker.produced, broker.fetched = ProduceAnswer(10, "", -1, -1), FetchAnswer(0, 0, b"")
    partition = Partition("t", None, 0, 1, 0)
    broker.prepare(partition)
    assert (partition.end, partition.last) == (0, None)


@pytest.mark.parametrize(
    ("produced", "fetched", "text"), [(29, 0, "writing to the topic t"), (0, 29, "reading from the topic t")]
)
def test_a_missing_permission_is_named(broker: Broker, produced: int, fetched: int, text: str) -> None:
    broker.produced, broker.fetched = ProduceAnswer(produced, "", 0, -1), FetchAnswer(fetched, 2, TWO)
    with pytest.raises(TopicError, match=f"{text} is not permitted"):
        broker.prepare(Partition("t", None, 0, 1, 0))


def test_a_fetch_from_the_second_offset_must_return_the_batch(broker: Broker) -> None:
    stored = batch(record(b"a", b"1") + record(b"b", b"2", off=1), 2, base=5)
    broker.fetched = FetchAnswer(0, 7, stored)
    where = "a fetch from the second offset"
    assert broker.inside(stored) == []
    assert broker.offsets == [6]
    broker.fetched = FetchAnswer(0, 7, b"")
    assert broker.inside(stored) == [
        BrokenRule("kafka.fetch.whole-batch", f"{where} does not return the batch")
    ]
    broker.fetched = FetchAnswer(0, 7, stored * 2)
    assert broker.inside(stored) == [
        BrokenRule("kafka.fetch.whole-batch", f"{where} does not return the batch alone")
    ]
    broker.fetched = FetchAnswer(1, -1, b"")
    assert broker.inside(stored) == [BrokenRule("kafka.fetch.readable", f"{where} fails with error 1")]
    broker.fetched = FetchAnswer(0, 7, stored[:-1] + b"!")
    (broken,) = broker.inside(stored)
    assert (broken.rule, broken.text.partition(" at ")[0]) == ("kafka.append.crc", f"{where}: crc-mismatch")


def test_a_batch_of_one_record_and_a_message_have_no_inside(broker: Broker) -> None:
    broker.fetched = FetchAnswer(1, -1, b"")
    assert broker.inside(IDEMPOTENT) == broker.inside(message(1, b"k", b"v" * 90)) == []
    assert broker.offsets == []


@pytest.mark.parametrize(
    ("answer", "end", "text"),
    [
        (ProduceAnswer(0, "", 4, -1), 5, None),
        (ProduceAnswer(46, "", -1, -1), 5, None),
        (ProduceAnswer(0, "", 5, -1), 6, "is stored again: the log has grown by 1"),
        (ProduceAnswer(0, "", 5, -1), 5, "is answered with an offset that differs by 1"),
        (ProduceAnswer(45, "", -1, -1), 5, "is refused with OUT_OF_ORDER_SEQUENCE_NUMBER"),
    ],
)
def test_a_retry_is_answered_as_before_and_stored_once(
    broker: Broker, answer: ProduceAnswer, end: int, text: str | None
) -> None:
    broker.produced, broker.fetched = answer, FetchAnswer(0, end, b"again" if end > 5 else b"")
    wanted = [] if text is None else [BrokenRule("kafka.state.duplicate", f"the same batch {text}")]
    assert broker.retry() == wanted
    assert broker.sent == [IDEMPOTENT]


def test_only_a_batch_with_producer_epoch_and_sequence_is_sent_twice() -> None:
    assert is_idempotent(IDEMPOTENT)
    assert not is_idempotent(batch(record(b"k", b"v"), 1, pid=7, pepoch=0, seq=-1))
    assert not is_idempotent(batch(record(b"k", b"v"), 1))
    assert not is_idempotent(message(1, b"k", b"v" * 90))


def test_compaction_leaves_both_records_of_the_batch_before_an_append() -> None:
    log = formats.decode(formats.get("kafka.log", "mixed"), append_case.BATCH_BEFORE).value
    assert isinstance(log, Log)
    (found,) = log.batches
    assert isinstance(found, RecordBatch)
    assert [one.key for one in found.records] == [b"\0", b"\1"]
