"""The peers in Go on the bytes of kafka.md: what Kafka reads (kafka.md §6), and where each differs.

The departures are those that kafka.md §8.1 and §8.2 measured, and no others among these bytes. Drivers that
are not built are left out: `wireproof adapters prepare sarama franz-go kafka-go`.
"""

from collections.abc import Iterator

import pytest
from built_peers import prepared
from hostile_kafka_bytes import batch
from kafka_notation import EXAMPLES, HEX, ask, decode, encode, reading, wanted

from wireproof.adapters.controller import Controller
from wireproof.cases.outcome import Accepted, Crashed, Refused, Unsupported

pytestmark = pytest.mark.peers

PEERS = ("sarama", "franz-go", "kafka-go", "kafka-go-reader")

PLAIN_APPEND = ["0/1700000000000/x61/x31/", "1/1700000000001/x62/x32/"]
WRAPPER_APPEND = ["10/1700000000000/x61/x31/", "11/1700000000001/x62/x32/"]
TWICE = ["20/-1/x61/x31/", "21/-1/x62/x32/"]
HORIZON = ["0/1700086395000/x6b/null/"]
DEPARTURES: dict[str, dict[str, list[str]]] = {
    "sarama": {"E24": WRAPPER_APPEND},
    "franz-go": {"E24": WRAPPER_APPEND},
    "kafka-go": {
        "E10": PLAIN_APPEND,
        "E22": TWICE,
        "E24": WRAPPER_APPEND,
        "E25": ["12/1700000000000/x61/x31/", "15/1700000000000/x62/x32/"],
        "E26": TWICE,
        "E33": HORIZON,
    },
    "kafka-go-reader": {
        "E02": ["0/1700000000000/null/null/"],
        "E04": ["0/1700000000000/x6b/x76/h=x31,h=x32,n=null,e=null,=x78,"],
        "E10": PLAIN_APPEND,
        "E24": WRAPPER_APPEND,
        "E33": HORIZON,
    },
}
"""E10, E33 (W13): LogAppendTime of a batch is ignored; E24 (W32): of a wrapper; E22, E25, E26 (W30, W33): the
offsets of a set are counted twice; E02, E04: empty is null."""

KIP_57 = "E27"
"""W37: the header checksum of LZ4 in v0 is refused by all of them."""


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> Iterator[Controller]:
    controller = prepared(request.param)
    try:
        yield controller
    finally:
        controller.close()


def test_each_example_is_read_as_kafka_reads_it_but_for_what_was_measured(peer: Controller) -> None:
    departures = DEPARTURES[peer.hello.name]
    for example in EXAMPLES:
        if example["id"] == KIP_57:
            continue
        want = departures.get(example["id"], wanted(example))
        assert reading(ask(peer, decode(bytes.fromhex(example["hex"])))) == want, example["id"]


def test_kip_57_is_refused(peer: Controller) -> None:
    outcome = ask(peer, decode(bytes.fromhex(HEX[KIP_57])))
    assert isinstance(outcome, Refused)
    assert outcome.cls == "decompress-failed"
    assert not outcome.untyped


def test_a_magic_that_is_not_known_is_refused_but_by_sarama(peer: Controller) -> None:
    outcome = ask(peer, decode(batch(bytes.fromhex("10000000026b027600"), magic=3)))
    if peer.hello.name == "sarama":
        assert reading(outcome) == ["0/1700000000000/x6b/x76/"]
    else:
        assert isinstance(outcome, Refused)
        assert outcome.cls == "bad-magic"


def test_a_wrong_checksum_is_refused_but_by_the_reader_of_kafka_go(peer: Controller) -> None:
    outcome = ask(peer, decode(bytes.fromhex(HEX["E01"][:-2] + "01")))
    if peer.hello.name == "kafka-go-reader":
        assert isinstance(outcome, Accepted)
    else:
        assert isinstance(outcome, Refused)
        assert outcome.cls == "crc-mismatch"


def test_a_panic_is_a_crash_though_the_driver_lives_on() -> None:
    """I12, N01: kafka-go's record sets make a slice of -1 records."""
    controller = prepared("kafka-go")
    try:
        outcome = ask(controller, decode(batch(bytes.fromhex("10000000026b027600"), count=-1)))
        assert isinstance(outcome, Crashed)
        assert outcome.text.startswith("panic: ")
        assert isinstance(ask(controller, decode(bytes.fromhex(HEX["E01"]))), Accepted)
    finally:
        controller.close()


def test_what_is_written_reads_back(peer: Controller) -> None:
    outcome = ask(peer, encode(partitionLeaderEpoch="-1"))
    assert isinstance(outcome, Accepted)
    assert outcome.data is not None
    assert reading(ask(peer, decode(outcome.data))) == ["0/1700000000000/x6b/x76/"]


def test_a_field_that_a_writer_sets_by_itself_is_not_asked_of_it(peer: Controller) -> None:
    outcome = ask(peer, encode(partitionLeaderEpoch="-1", baseOffset="7"))
    if peer.hello.name == "sarama":
        assert isinstance(outcome, Accepted)
    else:
        assert outcome == Unsupported("the writer has no say over baseOffset")


def test_offsets_and_aborted_transactions_are_filtered_by_the_two_that_do_so() -> None:
    """X02: two transactions, of which the first is aborted and the second committed."""
    for name in ("sarama", "franz-go"):
        controller = prepared(name)
        try:
            committed = {"isolation": "read_committed", "aborted": ((1000, 0),), "fetch_offset": 1}
            question = decode(bytes.fromhex(HEX["E32"]), **committed)
            assert reading(ask(controller, question)) == ["3/1700000000000/x63/x33/"]
        finally:
            controller.close()
