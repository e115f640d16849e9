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
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled
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


def encoded(client: Any, value: dict[str, Any], revision: str = "v2") -> Outcome:
    return client.encode(Request("1", "encode", "kafka.batch", revision, value=value))


def test_the_broker_says_who_an_idempotent_producer_is(client: Any) -> None:
    """kafka.md §1.1: producerId at 43, producerEpoch at 51, baseSequence at 53."""
    outcome = encoded(client, {**E01, "producerId": "1000", "producerEpoch": "3", "baseSequence": "0"})
    assert isinstance(outcome, Accepted)
    assert outcome.data is not None
    assert outcome.data[43:57] == pack(">qhi", 1000, 3, 0)
