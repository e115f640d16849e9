"""The peers in Rust on the rule book's own bytes: what Kafka reads (kafka.md §6), and where each departs.

Both read record batches only. Each driver is built with Cargo into the user's cache, once for each edition.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_kafka import STAMP, batch

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Controller
from wireproof.adapters.registry import open_adapter
from wireproof.cases.outcome import Accepted, Outcome, Refused, Unsupported
from wireproof.wire.options import Options

pytestmark = pytest.mark.slow

EXAMPLES = json.loads((Path(__file__).parent / "examples" / "kafka.json").read_text())
PEERS = ("kafka-protocol", "rskafka")

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


def line(record: dict[str, Any]) -> str:
    headers = (f"{bytes.fromhex(key).decode()}={blob(part)}," for key, part in record["headers"])
    parts = (record["offset"], record["timestamp"], blob(record["key"]), blob(record["value"]))
    return "/".join([*parts, "".join(headers)])


def blob(text: str | None) -> str:
    return "null" if text is None else f"x{text}"


def reading(outcome: Outcome) -> list[str] | str:
    """Records as in kafka.md §6, without control records, which are known by their keys; else the class."""
    if isinstance(outcome, Refused):
        return outcome.cls
    assert isinstance(outcome, Accepted), outcome
    assert isinstance(outcome.value, dict)
    found = [line(record) for entry in outcome.value["batches"] for record in entry["records"]]
    return [text for text in found if "/x0000000" not in text]


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> Iterator[Controller]:
    controller = open_adapter(request.param)
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


def test_each_example_is_read_as_kafka_reads_it_but_for_what_was_read_of_the_source(peer: Controller) -> None:
    departures = DEPARTURES[peer.hello.name]
    for example in EXAMPLES:
        data = bytes.fromhex(example["hex"])
        read = [text for text in example["reads"] if text[:3] != "CTL"]
        want = departures.get(example["id"], read) if data[MAGIC_AT] == 2 else "bad-magic"
        assert reading(ask(peer, data)) == want, example["id"]


def test_a_value_past_its_record_is_refused_by_one_and_dropped_by_the_other(peer: Controller) -> None:
    outcome = ask(peer, batch(bytes.fromhex("10000000026b7e7600")))
    assert reading(outcome) == ("other" if peer.hello.name == "kafka-protocol" else [])


def test_a_tail_that_is_cut_off_is_refused_by_one_and_left_by_the_other(peer: Controller) -> None:
    whole = batch(bytes.fromhex("10000000026b027600"))
    outcome = ask(peer, whole + whole[:-1])
    if peer.hello.name == "kafka-protocol":
        assert isinstance(outcome, Refused)
        assert len(dict(outcome.before)["batches"]) == 1  # type: ignore[call-overload] # a JSON object
    else:
        assert reading(outcome) == [f"0/{STAMP}/x6b/x76/"]


def test_what_a_consumer_leaves_out_is_not_asked_of_a_codec(peer: Controller) -> None:
    assert isinstance(ask(peer, batch(b""), options=Options(fetch_offset=5)), Unsupported)


def test_a_written_batch_is_read_again(peer: Controller) -> None:
    record = {"attributes": "0", "timestampDelta": "0", "offsetDelta": "0", "key": None, "value": "76"}
    value: dict[str, Any] = dict.fromkeys(("producerId", "producerEpoch", "baseSequence"), "-1")
    value |= dict.fromkeys(("baseTimestamp", "maxTimestamp"), str(STAMP))
    value |= dict.fromkeys(("baseOffset", "partitionLeaderEpoch", "lastOffsetDelta"), "0")
    value |= {"magic": "2", "records": [record | {"headers": [["68", "31"]]}]}
    for codec in "01234":
        written = ask(peer, op="encode", of=("kafka.batch", "v2"), value=value | {"attributes": codec})
        assert isinstance(written, Accepted)
        assert written.data is not None
        assert reading(ask(peer, written.data)) == [f"0/{STAMP}/null/x76/h=x31,"]
