"""librdkafka as a client of the loopback broker, on the bytes of the format documents: kafka.md §6, §8.1."""

import sys
from collections.abc import Iterator
from struct import pack
from time import sleep
from typing import Any

import pytest
from kafka_notation import E01
from peer_adapters import python_adapter

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled, Unsupported
from wireproof.kafka.family.client_program.regroup_records import SeenRecord, assign_records, split_log
from wireproof.wire.options import Options

W01 = bytes.fromhex(
    "00000000000000000000003a0000000002e99b8dd80000000000000000018bcf"
    "e568000000018bcfe56800ffffffffffffffffffffffffffff00000001100000"
    "00026b027600"
)
"""kafka.md §6 E01: one record, k to v."""

T = 1_700_000_000_000


def record(offset: int, time: int, key: str, value: str) -> dict[str, Any]:
    fields = {"offset": str(offset), "timestamp": str(time), "timestampType": "create"}
    return {**fields, "key": key, "value": value, "headers": []}


KV = record(0, T, "6b", "76")


def log_of(*records: dict[str, Any], then: int | None) -> dict[str, Any]:
    """The value of a log whose entries have one record each, and where a consumer fetches `then`."""
    return {
        "batches": [{"records": [one]} for one in records],
        "nextOffset": None if then is None else str(then),
    }


def moved(batch: bytes, offset: int) -> bytes:
    """No checksum covers the base offset: kafka.md §1.1."""
    return pack(">q", offset) + batch[8:]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    adapter = python_adapter("librdkafka")
    yield adapter
    adapter.close()


def decoded(client: Any, data: bytes, options: Options | None = None) -> Outcome:
    return client.decode(Request("1", "decode", "kafka.log", "mixed", data, options=options or Options()))


class SlowConsumer:
    """A consumer whose events are taken late: its client fetches the end of the log meanwhile."""

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.consumer, name)

    def poll(self, seconds: float) -> Any:
        sleep(0.3)
        return self.consumer.poll(seconds)


def test_a_client_that_waits_at_the_end_while_its_records_are_taken_has_not_stalled(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[type(client).__module__], "MOST_FETCHES", 20)
    of_isolation = client._consumer
    monkeypatch.setattr(client, "_consumer", lambda isolation: SlowConsumer(of_isolation(isolation)))
    assert decoded(client, W01) == Accepted(value=log_of(KV, then=1))


def test_a_record_behind_all_that_a_batch_counts_is_of_the_next_one_that_spans_it() -> None:
    over = W01[:23] + pack(">i", 9) + W01[27:]  # lastOffsetDelta
    first, second = (SeenRecord(offset, T, b"k", b"v") for offset in (0, 1))
    log = split_log(over + moved(W01, 1))
    assert [entry.records for entry in assign_records(log, [first, second])] == [[first], [second]]


def test_records_beyond_what_a_batch_counts_stay_with_it_where_no_other_spans_them() -> None:
    records = [SeenRecord(offset, T, b"k", b"v") for offset in (0, 0)]
    assert assign_records(split_log(W01), records)[0].records == records


def test_a_wrong_checksum_is_a_refusal_behind_what_was_delivered_before(client: Any) -> None:
    broken = moved(W01, 1)[:-1] + b"\x01"
    outcome = decoded(client, W01 + broken)
    assert isinstance(outcome, Refused)
    assert (outcome.cls, outcome.untyped) == ("crc-mismatch", False)
    assert outcome.before == log_of(KV, then=None)


def test_a_size_that_no_entry_has_is_a_stall_and_no_skip(client: Any) -> None:
    """kafka.md §8.1: no error, and a fetch at the same offset again and again."""
    outcome = decoded(client, W01 + moved(W01, 1)[:8] + pack(">i", 13) + W01[12:])
    assert outcome == Stalled("1 records and no error; it asks for offset 1 again and again")


def test_a_client_that_doubles_its_limit_of_bytes_and_then_reports_an_error_has_not_stalled(
    client: Any,
) -> None:
    """At the eleventh Fetch: MSG_SIZE_TOO_LARGE."""
    outcome = decoded(client, W01 + bytes(12))
    assert isinstance(outcome, Refused)
    assert "message.max.bytes" in outcome.text
    assert outcome.before == log_of(KV, then=None)


def test_a_consumer_that_begins_behind_an_entry_is_shown_nothing_of_it(client: Any) -> None:
    outcome = decoded(client, W01 + moved(W01, 1), Options(fetch_offset=1))
    assert outcome == Accepted(value=log_of(KV | {"offset": "1"}, then=2))


def test_a_limit_of_bytes_that_grew_is_of_no_later_case(client: Any) -> None:
    """More cases than the topic has partitions: an entry that is cut is asked for with a greater limit."""
    for _ in range(300):
        assert decoded(client, W01[:15]) == Accepted(value=log_of(then=None))
    assert isinstance(decoded(client, bytes(12)), Refused)
    for _ in range(300):
        assert decoded(client, W01[:15]) == Accepted(value=log_of(then=None))


def test_one_case_leaves_nothing_for_the_next(client: Any) -> None:
    """More of them than the topic has partitions."""
    for number in range(300):
        outcome = decoded(client, moved(W01, number))
        assert outcome == Accepted(value=log_of(KV | {"offset": str(number)}, then=number + 1))


def encoded(client: Any, value: dict[str, Any], revision: str = "v2") -> Outcome:
    return client.encode(Request("1", "encode", "kafka.batch", revision, value=value))


def test_the_record_set_of_a_produce_request_is_what_was_encoded(client: Any) -> None:
    assert encoded(client, dict(E01)) == Accepted(data=W01)


def test_the_broker_says_who_an_idempotent_producer_is(client: Any) -> None:
    """kafka.md §1.1: producerId at 43, producerEpoch at 51, baseSequence at 53."""
    outcome = encoded(client, {**E01, "producerId": "1000", "producerEpoch": "3", "baseSequence": "0"})
    assert isinstance(outcome, Accepted)
    assert outcome.data is not None
    assert outcome.data[43:57] == pack(">qhi", 1000, 3, 0)


def test_a_producer_cannot_be_asked_for_what_it_has_no_say_over(client: Any) -> None:
    outcome = encoded(client, {**E01, "baseOffset": "7"})
    assert outcome == Unsupported("a producer has no say over baseOffset")


def test_the_record_after_the_log_is_served_where_the_client_goes_on(client: Any) -> None:
    served, events = client._consumed(Options(fetch_offset=3), moved(W01, 3), 5.0)
    assert (served.end_at, events.ended) == (4, True)
