"""The peers in Go on the rule book's own bytes: what Kafka reads (kafka.md §6), and where each departs.

The departures are those that kafka.md §8.1 and §8.2 measured, and no others among these bytes. Drivers that
are not built are left out: `wireproof adapters prepare sarama franz-go kafka-go`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_kafka import STAMP, batch
from prepared import prepared

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller
from wireproof.cases.outcome import Accepted, Outcome, Refused, Unsupported
from wireproof.wire.options import Options

pytestmark = pytest.mark.slow

EXAMPLES = json.loads((Path(__file__).parent / "examples" / "kafka.json").read_text())
HEX = {example["id"]: example["hex"] for example in EXAMPLES}
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


def line(record: dict[str, Any]) -> str:
    headers = (f"{bytes.fromhex(key).decode()}={blob(part)}," for key, part in record.get("headers", []))
    parts = (record["offset"], record["timestamp"], blob(record["key"]), blob(record["value"]))
    return "/".join([*parts, "".join(headers)])


def blob(text: str | None) -> str:
    return "null" if text is None else f"x{text}"


def reading(outcome: Outcome) -> list[str]:
    """Records as in kafka.md §6, without control records, which are known by their keys."""
    assert isinstance(outcome, Accepted), outcome
    assert isinstance(outcome.value, dict)
    found: list[str] = []
    for entry in outcome.value["batches"]:
        plain = [] if "records" in entry else [entry]
        found += map(line, entry.get("records") or entry.get("messages") or plain)
    return [text for text in found if "/x0000000" not in text]


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> Iterator[Controller]:
    controller = prepared(request.param)
    try:
        yield controller
    finally:
        controller.close()


def ask(controller: Controller, data: bytes = b"", **more: Any) -> Outcome:
    question = Request(
        "1", more.pop("op", "decode"), *more.pop("of", ("kafka.log", "mixed")), data=data, **more
    )
    controller.send([question])
    ((_, outcome),) = controller.receive(10.0)
    return outcome


def test_each_example_is_read_as_kafka_reads_it_but_for_what_was_measured(peer: Controller) -> None:
    departures = DEPARTURES[peer.hello.name]
    for example in EXAMPLES:
        if example["id"] == KIP_57:
            continue
        want = departures.get(example["id"], [text for text in example["reads"] if text[:3] != "CTL"])
        assert reading(ask(peer, bytes.fromhex(example["hex"]))) == want, example["id"]


def test_kip_57_is_refused(peer: Controller) -> None:
    outcome = ask(peer, bytes.fromhex(HEX[KIP_57]))
    assert isinstance(outcome, Refused)
    assert outcome.cls == "decompress-failed"
    assert not outcome.untyped


def test_a_magic_that_is_not_known_is_refused_but_by_sarama(peer: Controller) -> None:
    outcome = ask(peer, batch(bytes.fromhex("10000000026b027600"), magic=3))
    if peer.hello.name == "sarama":
        assert reading(outcome) == ["0/1700000000000/x6b/x76/"]
    else:
        assert isinstance(outcome, Refused)
        assert outcome.cls == "bad-magic"


def test_a_wrong_checksum_is_refused_but_by_the_reader_of_kafka_go(peer: Controller) -> None:
    outcome = ask(peer, bytes.fromhex(HEX["E01"][:-2] + "01"))
    if peer.hello.name == "kafka-go-reader":
        assert isinstance(outcome, Accepted)
    else:
        assert isinstance(outcome, Refused)
        assert outcome.cls == "crc-mismatch"


def test_a_panic_is_a_refusal_that_the_library_does_not_document() -> None:
    """I12, N01: kafka-go's record sets make a slice of -1 records."""
    controller = prepared("kafka-go")
    try:
        outcome = ask(controller, batch(bytes.fromhex("10000000026b027600"), count=-1))
        assert isinstance(outcome, Refused)
        assert outcome.untyped
        assert isinstance(ask(controller, bytes.fromhex(HEX["E01"])), Accepted)
    finally:
        controller.close()


def value(**fields: str) -> dict[str, Any]:
    """E01 as a value, with `fields` changed."""
    record = {"attributes": "0", "timestampDelta": "0", "offsetDelta": "0", "key": "6b", "value": "76"}
    batch_of_one = {"baseOffset": "0", "partitionLeaderEpoch": "-1", "magic": "2", "attributes": "0"}
    stamps = {"lastOffsetDelta": "0", "baseTimestamp": str(STAMP), "maxTimestamp": str(STAMP)}
    producer = {"producerId": "-1", "producerEpoch": "-1", "baseSequence": "-1"}
    return {**batch_of_one, **stamps, **producer, "records": [{**record, "headers": []}], **fields}


def test_what_is_written_reads_back(peer: Controller) -> None:
    outcome = ask(peer, of=("kafka.batch", "v2"), op="encode", value=value())
    assert isinstance(outcome, Accepted)
    assert outcome.data is not None
    assert reading(ask(peer, outcome.data)) == ["0/1700000000000/x6b/x76/"]


def test_a_field_that_a_writer_sets_by_itself_is_not_asked_of_it(peer: Controller) -> None:
    outcome = ask(peer, of=("kafka.batch", "v2"), op="encode", value=value(baseOffset="7"))
    if peer.hello.name == "sarama":
        assert isinstance(outcome, Accepted)
    else:
        assert outcome == Unsupported("the writer has no say over baseOffset")


def test_offsets_and_aborted_transactions_are_filtered_by_the_two_that_do_so() -> None:
    """X02: two transactions, of which the first is aborted and the second committed."""
    for name in ("sarama", "franz-go"):
        controller = prepared(name)
        try:
            options = Options(isolation="read_committed", aborted=((1000, 0),), fetch_offset=1)
            outcome = ask(controller, bytes.fromhex(HEX["E32"]), options=options)
            assert reading(outcome) == ["3/1700000000000/x63/x33/"]
        finally:
            controller.close()
