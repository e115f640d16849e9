"""Producer ids of a case: the broker's own is on the wire, with a right checksum, the other in answers."""

from tests.authoring.kafka.entry_bytes import batch, record
from wireproof import formats
from wireproof.kafka.values import Log, RecordBatch
from wireproof.live.kafka_broker.requests import ProducerIds
from wireproof.wire.options import DEFAULT_OPTIONS

LOG = formats.get("kafka.log", "mixed")
OWN, OF_BROKER = 7001, 21


def idempotent(*values: str, sequence: int, producer: int = 1000, epoch: int = 0) -> bytes:
    """A batch of an idempotent producer."""
    records = b"".join(record(b"k", value.encode(), off=number) for number, value in enumerate(values))
    return batch(records, len(values), pid=producer, pepoch=epoch, seq=sequence)


def ids() -> ProducerIds:
    found = ProducerIds()
    found.learn(OWN, OF_BROKER)
    return found


def batches(data: bytes) -> list[RecordBatch]:
    log = formats.decode(LOG, data, DEFAULT_OPTIONS).value
    assert isinstance(log, Log)
    return [entry for entry in log.batches if isinstance(entry, RecordBatch)]


def test_the_id_of_the_broker_is_on_the_wire_and_nothing_else_changes() -> None:
    data = idempotent("a", "b", sequence=3, producer=OWN, epoch=2)
    (before,), (after,) = batches(data), batches(ids().in_bytes(data))
    assert after.producer_id == OF_BROKER
    assert (after.producer_epoch, after.base_sequence, after.records) == (2, 3, before.records)


def test_an_id_that_the_broker_did_not_give_is_sent_as_it_is() -> None:
    data = idempotent("a", sequence=0, producer=1000)
    assert ids().in_bytes(data) == data


def test_a_wrong_checksum_stays_wrong() -> None:
    data = bytearray(idempotent("a", sequence=0, producer=OWN))
    data[17] ^= 1
    sent = bytearray(ids().in_bytes(bytes(data)))
    sent[17] ^= 1
    assert batches(bytes(sent))[0].producer_id == OF_BROKER


def test_bytes_that_are_no_whole_batch_are_sent_as_they_are() -> None:
    data = idempotent("a", sequence=0, producer=OWN)
    assert ids().in_bytes(data[:-1]) == data[:-1]
    assert ids().in_bytes(b"") == b""


def test_the_ids_in_some_bytes_are_those_of_its_whole_batches() -> None:
    one, other = idempotent("a", sequence=0, producer=OWN), idempotent("b", sequence=0)
    assert ProducerIds.named_in(one + other) == {OWN, 1000}
    assert ProducerIds.named_in(one[:-1]) == frozenset()


def test_answers_have_the_id_of_the_case() -> None:
    assert (ids().in_case(OF_BROKER), ids().in_case(5), ids().on_wire(OWN), ids().on_wire(5)) == (
        OWN,
        5,
        OF_BROKER,
        5,
    )
