"""The peers in Node on the bytes of kafka.md: what Kafka reads (kafka.md §6), and where each differs.

The departures are those that kafka.md §8.1 and §8.2 measured, and no others among these bytes.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from built_peers import prepared
from hostile_kafka_bytes import STAMP, batch
from kafka_notation import EXAMPLES, HEX, ask, decode, encode, reading, wanted

from wireproof.adapters.controller import Controller
from wireproof.cases.outcome import Accepted, Refused, Unsupported

pytestmark = pytest.mark.peers

LEGACY = ("E19", "E20", "E21", "E22", "E23", "E24", "E25", "E26", "E27", "E28", "E29")

KAFKAJS = {
    "E04": ["0/1700000000000/x6b/x76/h=x31,h=x32,n=null,e=x,=x78,"],
    "E24": ["10/1700000000000/x61/x31/", "11/1700000000001/x62/x32/"],
    "E29": ["0/-1/x61/x30/", "1/1700000000000/x62/x31/"],
}
"""W32: LogAppendTime of a wrapper is ignored; W39: it stops at the first entry of another format."""

PLATFORMATIC = {
    "E10": ["0/1700000000000/x61/x31/", "1/1700000000001/x62/x32/"],
    "E33": ["0/1700086395000/x6b/null/"],
}
"""W13: LogAppendTime is ignored."""


@pytest.fixture(scope="module")
def kafkajs() -> Iterator[Controller]:
    controller = prepared("kafkajs")
    yield controller
    controller.close()


@pytest.fixture(scope="module")
def platformatic() -> Iterator[Controller]:
    controller = prepared("platformatic-kafka")
    yield controller
    controller.close()


@pytest.mark.parametrize("example", EXAMPLES, ids=HEX)
def test_kafkajs_reads_what_kafka_reads_but_for_its_known_faults(
    kafkajs: Controller, example: dict[str, Any]
) -> None:
    outcome = ask(kafkajs, decode(bytes.fromhex(example["hex"])))
    if example["id"] == "E27":  # W37: the header checksum of KIP-57
        assert isinstance(outcome, Refused)
    else:
        assert reading(outcome) == KAFKAJS.get(example["id"], wanted(example))


@pytest.mark.parametrize(
    "example", [row for row in EXAMPLES if row["id"] not in LEGACY], ids=lambda row: row["id"]
)
def test_platformatic_reads_what_kafka_reads_but_for_its_known_faults(
    platformatic: Controller, example: dict[str, Any]
) -> None:
    outcome = ask(platformatic, decode(bytes.fromhex(example["hex"])))
    assert reading(outcome) == PLATFORMATIC.get(example["id"], wanted(example))


def test_both_write_the_example_and_say_what_they_have_no_argument_for(
    kafkajs: Controller, platformatic: Controller
) -> None:
    for controller in (kafkajs, platformatic):
        assert ask(controller, encode()) == Accepted(data=bytes.fromhex(HEX["E01"]))
        assert isinstance(ask(controller, encode(attributes="8")), Unsupported)


def test_neither_checks_a_checksum(kafkajs: Controller, platformatic: Controller) -> None:
    """kafka.md §8.1."""
    flipped = bytes.fromhex(HEX["E01"][:34] + "00000000" + HEX["E01"][42:])
    for controller in (kafkajs, platformatic):
        assert reading(ask(controller, decode(flipped))) == wanted(EXAMPLES[0])


def test_magic_3_is_silence_in_kafkajs_and_a_batch_in_platformatic(
    kafkajs: Controller, platformatic: Controller
) -> None:
    """kafka.md §8.2, I15."""
    data = batch(bytes.fromhex("10000000026b027600"), magic=3)
    assert reading(ask(kafkajs, decode(data))) == []
    assert reading(ask(platformatic, decode(data))) == [f"0/{STAMP}/x6b/x76/"]


def test_nothing_of_a_fetch_is_delivered_where_any_of_it_throws(
    kafkajs: Controller, platformatic: Controller
) -> None:
    torn = batch(b"", count=2)
    for controller in (kafkajs, platformatic):
        outcome = ask(controller, decode(bytes.fromhex(HEX["E01"]) + torn))
        assert isinstance(outcome, Refused)
        assert outcome.before == {"batches": []}


def test_a_fetch_offset_is_the_business_of_kafkajs_consumer_and_of_platformatics_stream(
    kafkajs: Controller, platformatic: Controller
) -> None:
    question = decode(bytes.fromhex(HEX["E11"]), fetch_offset=1)
    assert reading(ask(kafkajs, question)) == wanted(EXAMPLES[10])[1:]
    assert isinstance(ask(platformatic, question), Unsupported)


def test_a_timestamp_a_month_after_the_first_is_written_as_another_by_platformatic(
    kafkajs: Controller, platformatic: Controller
) -> None:
    """kafka.md §4: its 64-bit varints are made with a mask of 32 bits."""
    late = str(3_000_000_000)
    records = [
        {"attributes": "0", "timestampDelta": delta, "offsetDelta": str(at), "key": None, "value": "61"}
        for at, delta in enumerate(("0", late))
    ]
    fields = {"records": [{**record, "headers": []} for record in records], "lastOffsetDelta": "1"}
    question = encode(**fields, maxTimestamp=str(STAMP + int(late)))
    right, wrong = ask(kafkajs, question), ask(platformatic, question)
    assert isinstance(right, Accepted)
    assert isinstance(wrong, Accepted)
    assert right.data is not None
    assert wrong.data is not None
    assert bytes.fromhex("80f882ad16") in right.data
    assert bytes.fromhex("80f882ad16") not in wrong.data
