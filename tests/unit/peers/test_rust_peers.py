"""The peers in Rust on the bytes of kafka.md: what Kafka reads (kafka.md §6), and where each differs.

Both read record batches only. Cargo builds each driver into the user's cache, once for each version of its
source.
"""

from collections.abc import Iterator

import pytest
from hostile_kafka_bytes import STAMP, batch
from kafka_notation import EXAMPLES, ask, decode, encode, reading, wanted
from machine import needs

from wireproof.adapters.controller import Controller
from wireproof.adapters.registry import open_adapter
from wireproof.cases.outcome import Accepted, Outcome, Refused, Unsupported

pytestmark = needs("cargo")

PEERS = [
    pytest.param("kafka-protocol", marks=pytest.mark.peers),
    pytest.param("rskafka", marks=pytest.mark.builds),
]

MAGIC_AT = 16
PLAIN_APPEND = ["0/1700000000000/x61/x31/", "1/1700000000001/x62/x32/"]
HORIZON = ["0/1700086395000/x6b/null/"]
DEPARTURES: dict[str, dict[str, list[str] | str]] = {
    "kafka-protocol": {
        "E04": ["0/1700000000000/x6b/x76/h=x32,n=null,e=x,=x78,"],
        "E10": PLAIN_APPEND,
        "E33": HORIZON,
    },
    "rskafka": {
        "E04": "other",
        "E10": PLAIN_APPEND,
        **dict.fromkeys(("E12", "E13", "E15", "E30", "E31", "E32"), "bad-control"),
        "E33": HORIZON,
    },
}
"""E10, E33 (W13): LogAppendTime is ignored; E04 (W05): two headers of one key are one, or a null value is
refused; the others hold control batches, which are read without the record around the marker."""


def answered(outcome: Outcome) -> list[str] | str:
    """The records that were delivered, or the class of the refusal."""
    return outcome.cls if isinstance(outcome, Refused) else reading(outcome)


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> Iterator[Controller]:
    controller = open_adapter(request.param)
    try:
        yield controller
    finally:
        controller.close()


def test_each_example_is_read_as_kafka_reads_it_but_for_what_was_read_of_the_source(peer: Controller) -> None:
    departures = DEPARTURES[peer.hello.name]
    for example in EXAMPLES:
        data = bytes.fromhex(example["hex"])
        want = departures.get(example["id"], wanted(example)) if data[MAGIC_AT] == 2 else "bad-magic"
        assert answered(ask(peer, decode(data))) == want, example["id"]


def test_a_value_past_its_record_is_refused_by_one_and_dropped_by_the_other(peer: Controller) -> None:
    outcome = ask(peer, decode(batch(bytes.fromhex("10000000026b7e7600"))))
    assert answered(outcome) == ("other" if peer.hello.name == "kafka-protocol" else [])


def test_a_tail_that_is_cut_off_is_refused_by_one_and_left_by_the_other(peer: Controller) -> None:
    whole = batch(bytes.fromhex("10000000026b027600"))
    outcome = ask(peer, decode(whole + whole[:-1]))
    if peer.hello.name == "kafka-protocol":
        assert isinstance(outcome, Refused)
        assert len(dict(outcome.before)["batches"]) == 1  # type: ignore[call-overload] # a JSON object
    else:
        assert reading(outcome) == [f"0/{STAMP}/x6b/x76/"]


def test_what_a_consumer_leaves_out_is_not_asked_of_a_codec(peer: Controller) -> None:
    assert isinstance(ask(peer, decode(batch(b""), fetch_offset=5)), Unsupported)


def test_a_written_batch_is_read_again(peer: Controller) -> None:
    record = {"attributes": "0", "timestampDelta": "0", "offsetDelta": "0", "key": None, "value": "76"}
    records = [record | {"headers": [["68", "31"]]}]
    for codec in "01234":
        written = ask(peer, encode(records=records, attributes=codec))
        assert isinstance(written, Accepted)
        assert written.data is not None
        assert reading(ask(peer, decode(written.data))) == [f"0/{STAMP}/null/x76/h=x31,"]
