"""The answer to a case, from what a broker answers and what its log has then."""

from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from attrs import evolve

from tests.authoring.kafka.entry_bytes import T, batch, message, record
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Refused
from wireproof.kafka.append import APPEND_TIME
from wireproof.live.kafka_broker import append_case, requests
from wireproof.live.kafka_broker.append_case import BrokerCases
from wireproof.live.kafka_broker.requests import FetchAnswer, ProduceAnswer
from wireproof.live.kafka_broker.topics import Partition, Partitions
from wireproof.wire.options import Options

NOW = 1_790_000_000_000


def stored(base: int, **fields: Any) -> bytes:
    return batch(record(b"k", b"v"), 1, base=base, **{"epoch": 3, **fields})


class Broker:
    """A log in memory, and the answer to the next Produce."""

    def __init__(self) -> None:
        self.log: list[bytes] = []
        self.end = 0
        self.answer = ProduceAnswer(0, "", 0, -1)
        self.appends: list[bytes] = []

    def produce(self, *_: object) -> ProduceAnswer:
        self.log += self.appends
        self.end += len(self.appends)
        return self.answer

    def fetch(self, _: object, __: object, offset: int, ___: int) -> FetchAnswer:
        found = [entry for entry in self.log if int.from_bytes(entry[:8]) >= offset]
        return FetchAnswer(0, self.end, b"".join(found))


class Topics:
    """One partition, of leader epoch 3."""

    def __init__(self) -> None:
        self.created = 0

    def create(self, _: object, __: int) -> list[Partition]:
        self.created += 1
        return [Partition("wireproof-x-1", None, 0, 1, 3, used=True)]


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(append_case.requests, "produce", made.produce)
    monkeypatch.setattr(append_case.requests, "fetch", made.fetch)
    monkeypatch.setattr(append_case, "_now", lambda: NOW)
    monkeypatch.setattr(requests, "BOUND_MS", 50)
    return made


@pytest.fixture
def cases() -> BrokerCases:
    return BrokerCases(Mock(), Partitions(Topics()), ())  # type: ignore[arg-type] # neither is asked


def request(format_: str = "kafka.log", **options: Any) -> Request:
    revision = "mixed" if format_ == "kafka.log" else "v2"
    sent = batch(record(b"k", b"v"), 1, epoch=-1)
    return Request(
        "1", "decode", format_, revision, sent, options=Options(profile="produce", topic={}, **options)
    )


def broken_by(cases: BrokerCases, asked: Request) -> dict[str, str]:
    outcome = cases.decode(asked)
    assert isinstance(outcome, Accepted | Refused)
    return {one.rule: one.text for one in outcome.broken}


def value_of(cases: BrokerCases, asked: Request) -> Any:
    outcome = cases.decode(asked)
    assert isinstance(outcome, Accepted)
    return outcome.value


def test_an_acknowledged_append_is_the_stored_log_from_offset_0_on(
    broker: Broker, cases: BrokerCases
) -> None:
    for base in (0, 1, 2):
        broker.appends, broker.answer = [stored(base)], ProduceAnswer(0, "", base, -1)
        found = value_of(cases, request())
        assert found.keys() == {"batches", "nextOffset"}
        assert found["nextOffset"] == "1"
        (entry,) = found["batches"]
        assert (entry["baseOffset"], entry["partitionLeaderEpoch"], entry["records"][0]["offset"]) == (
            "0",
            "0",
            "0",
        )


@pytest.mark.parametrize(
    ("appended", "beyond", "created"),
    [
        pytest.param(stored(0), 0, 1, id="one batch"),
        pytest.param(stored(0) + stored(0), 0, 2, id="a second batch that begins where the first one does"),
        pytest.param(stored(0) + stored(0)[:20], 0, 2, id="bytes after the batch"),
        pytest.param(stored(0), 4, 2, id="a high watermark beyond the batch"),
    ],
)
def test_a_log_that_no_append_continues_is_not_used_by_another_case(
    broker: Broker, appended: bytes, beyond: int, created: int
) -> None:
    topics = Topics()
    cases = BrokerCases(Mock(), Partitions(topics), ())  # type: ignore[arg-type] # neither is asked
    broker.appends, broker.end = [appended], beyond
    cases.decode(request())
    broker.appends = []
    cases.decode(request())
    assert topics.created == created


def test_a_refusal_has_the_class_and_the_name_of_its_code(broker: Broker, cases: BrokerCases) -> None:
    broker.answer = ProduceAnswer(87, "no key", -1, -1)
    outcome = cases.decode(request())
    assert outcome == Refused(
        "not-permitted",
        detail="INVALID_RECORD",
        text="error 87: no key",
        before={"batches": [], "nextOffset": None},
    )


def test_the_code_that_says_only_that_the_broker_failed_is_no_documented_refusal(
    broker: Broker, cases: BrokerCases
) -> None:
    broker.answer = ProduceAnswer(-1, "", -1, -1)
    outcome = cases.decode(request())
    assert isinstance(outcome, Refused)
    assert outcome.untyped


@pytest.mark.parametrize("format_", ["kafka.log", "kafka.batch"])
def test_a_refusal_that_stored_something_breaks_a_rule(
    broker: Broker, cases: BrokerCases, format_: str
) -> None:
    broker.answer, broker.appends = ProduceAnswer(2, "", -1, -1), [stored(0)]
    assert broken_by(cases, request(format_)) == {
        "kafka.append.nothing": "CORRUPT_MESSAGE is answered, and the log has changed"
    }


def test_a_refusal_that_removed_something_breaks_two(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0)]
    cases.decode(request())
    broker.answer, broker.appends, broker.log, broker.end = ProduceAnswer(2, "", -1, -1), [], [], 0
    assert broken_by(cases, request()).keys() == {"kafka.append.nothing", "kafka.append.earlier"}


def test_damage_in_the_fetch_after_a_refusal_is_no_changed_log(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0)]
    cases.decode(request())
    broker.answer, broker.appends, broker.log = ProduceAnswer(2, "", -1, -1), [], [stored(0, crc=1)]
    assert broken_by(cases, request()).keys() == {"kafka.append.crc"}


def test_success_without_data_is_an_empty_log_and_a_lost_record(broker: Broker, cases: BrokerCases) -> None:
    broker.answer, broker.appends = ProduceAnswer(0, "", 0, -1), []
    found = value_of(cases, request())
    assert (found["batches"], found["nextOffset"]) == ([], "0")
    assert broken_by(cases, request()) == {"kafka.append.records": "0 of 1 records are in the log"}


def test_a_stored_batch_that_a_consumer_refuses_breaks_a_rule(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0, crc=1)]
    assert value_of(cases, request())["unreadable"].startswith("crc-mismatch at 17")
    broker.log, broker.end = [], 0
    broken = broken_by(cases, request("kafka.batch"))
    assert broken.keys() == {"kafka.append.crc"}
    assert broken["kafka.append.crc"].startswith("crc-mismatch at 17")


def test_a_batch_that_is_stored_as_it_was_sent_is_what_its_case_is_about(
    broker: Broker, cases: BrokerCases
) -> None:
    damaged = stored(0, crc=1)
    broker.appends = [damaged]
    assert broken_by(cases, evolve(request(), data=damaged)) == {}


@pytest.mark.parametrize(
    ("appended", "rule"),
    [
        (stored(4), "kafka.append.offsets"),
        (stored(0, epoch=4), "kafka.append.leader-epoch"),
        (batch(record(b"k", b"w"), 1, epoch=3), "kafka.append.records"),
        (batch(record(b"k", b"v") + record(b"k", b"v", off=1), 2, epoch=3), "kafka.append.records"),
    ],
    ids=["offset", "epoch", "value", "count"],
)
def test_what_no_broker_may_change_is_a_rule_of_its_own(
    broker: Broker, cases: BrokerCases, appended: bytes, rule: str
) -> None:
    broker.appends = [appended]
    assert next(iter(broken_by(cases, request()))) == rule


def test_an_answer_with_another_offset_than_that_of_the_log_breaks_a_rule(
    broker: Broker, cases: BrokerCases
) -> None:
    broker.answer, broker.appends = ProduceAnswer(0, "", 5, -1), [stored(0)]
    assert broken_by(cases, request()) == {
        "kafka.append.offsets": "the answer has an offset that is 5 from the end of the log"
    }


def test_the_batch_before_must_stay_as_it_was_stored(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0)]
    cases.decode(request())
    broker.log = [stored(0, epoch=4)]
    broker.answer, broker.appends = ProduceAnswer(0, "", 1, -1), [stored(1)]
    assert broken_by(cases, request()).keys() == {"kafka.append.earlier"}


def test_damage_of_the_batch_before_is_one_of_its_checksum(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0)]
    cases.decode(request())
    broker.log = [stored(0, crc=1)]
    broker.answer, broker.appends = ProduceAnswer(0, "", 1, -1), [stored(1)]
    assert next(iter(broken_by(cases, request()))) == "kafka.append.crc"


def test_the_time_of_the_append_is_the_one_of_expected_values(broker: Broker, cases: BrokerCases) -> None:
    broker.answer, broker.appends = ProduceAnswer(0, "", 0, NOW), [stored(0, attributes=8, max_ts=NOW)]
    (entry,) = value_of(cases, request())["batches"]
    assert entry["maxTimestamp"] == entry["records"][0]["timestamp"] == str(APPEND_TIME)


@pytest.mark.parametrize(("answered", "in_batch"), [(NOW, NOW + 1), (NOW - 86_400_000, NOW - 86_400_000)])
def test_another_time_stays_visible(broker: Broker, cases: BrokerCases, answered: int, in_batch: int) -> None:
    broker.answer = ProduceAnswer(0, "", 0, answered)
    broker.appends = [stored(0, attributes=8, max_ts=in_batch)]
    (entry,) = value_of(cases, request())["batches"]
    assert entry["maxTimestamp"] == str(in_batch)


def test_a_time_in_the_answer_without_the_bit_in_the_batch_breaks_a_rule(
    broker: Broker, cases: BrokerCases
) -> None:
    broker.answer, broker.appends = ProduceAnswer(0, "", 0, NOW), [stored(0)]
    assert broken_by(cases, request()) == {
        "kafka.append.append-time": f"{NOW} is answered, and the batch has none"
    }


def test_the_fields_of_an_entry_are_shown_for_a_case_of_one_entry(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0)]
    assert value_of(cases, request("kafka.batch"))["records"][0]["value"] == "76"


def test_bytes_after_an_entry_are_not_part_of_a_case_of_one_entry() -> None:
    entry = stored(0)
    assert requests.first_entry(entry + b"rest") == entry
    assert requests.first_entry(entry[:-1]) == entry[:-1]


def test_the_first_entry_decides_the_version_of_the_request_and_the_producer() -> None:
    assert requests.magic_of(message(1, b"k", b"v"), "mixed") == 1
    assert requests.magic_of(message(1, b"k", b"v"), "v0") == 0
    assert requests.producer_of(batch(b"", 0, pid=77)) == 77
    assert requests.producer_of(message(1, b"k", b"v" * 80)) == -1


def test_a_partition_with_a_fault_is_not_used_again(broker: Broker, cases: BrokerCases) -> None:
    broker.appends = [stored(0, crc=1)]
    cases.decode(request())
    broker.log, broker.end, broker.appends = [], 0, [stored(0)]
    assert broken_by(cases, request()) == {}


def test_the_last_offset_of_a_batch_is_that_of_its_header() -> None:
    assert requests.next_offset(5, stored(5, last=3, max_ts=T)) == 9
    assert requests.next_offset(5, message(1, b"k", b"v")) == 6
    assert evolve(Partition("t", None, 0, 1, 0), end=4).end == 4
