"""The peers in Python on the bytes of the format documents.

Expected values are the readings that kafka.md §6 measured on Kafka's record classes; where a library
reads something else, the difference stands here under the finding of kafka.md §8.1 or peers.md that
names it. The baseline of each peer has its answers to all cases: `conformance/test_peers.py`.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import evolve
from each import each
from hostile_kafka_bytes import STAMP, batch, message, wrapper
from kafka_notation import E01, EXAMPLES, HEX, LOG, V2, ask, lines
from machine import needs
from peer_adapters import python_adapter

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Broken, Controller
from wireproof.adapters.registry import open_adapter
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.wire.options import Options

KAFKA_PYTHON, AIOKAFKA, KIO = map(python_adapter, ("kafka-python", "aiokafka", "kio"))


def request(
    data: bytes = b"", *, of: tuple[str, str] = LOG, op: str = "decode", value: Any = None
) -> Request:
    return Request("1", op, *of, data=data, value=value)


def reading(entries: list[dict[str, Any]]) -> list[str]:
    """Records as in kafka.md §6: offset/timestamp/key/value/headers; a control batch is CTL@offset."""
    found: list[str] = []
    for entry in entries:
        if int(entry.get("attributes", "0")) & 0x20:
            if not entry["records"]:
                continue
            found.append(f"CTL@{entry['baseOffset']}")
            continue
        found += lines(entry)
    return found


@contextmanager
def opened(name: str) -> Iterator[Controller]:
    controller = open_adapter(name)
    try:
        yield controller
    finally:
        controller.close()


# --- kafka-python and aiokafka ---


@each("example", EXAMPLES)
def test_kafka_python_reads_what_kafka_reads(example: dict[str, Any]) -> None:
    outcome = KAFKA_PYTHON.decode(request(bytes.fromhex(example["hex"])))
    assert isinstance(outcome, Accepted)
    assert reading(outcome.value["batches"]) == example["reads"]
    assert outcome.consumed == len(example["hex"]) // 2


CYTHON_DIFFERS = {"E27": "unknown-codec", "E29": "other"}
"""kafka.md §8.1: no LZ4 in v0 (W37); the magic of the first entry is taken for all (W39)."""

PURE_DIFFERS = {"E27": "unknown-codec"}


def as_aiokafka_shows(example: dict[str, Any], outcome: Accepted) -> tuple[list[str], list[str]]:
    """It does not return attributes, so a control batch is known by what Kafka reads."""
    got = reading(outcome.value["batches"])
    want = [line for line in example["reads"] if not line.startswith("CTL")]
    hidden = [line for line in got if "/x0000000" in line]
    assert len(hidden) == len(example["reads"]) - len(want)
    return [line for line in got if line not in hidden], want


@each("example", EXAMPLES)
def test_aiokafka_in_cython_reads_what_kafka_reads_but_for_two_faults(example: dict[str, Any]) -> None:
    outcome = AIOKAFKA.decode(request(bytes.fromhex(example["hex"])))
    if example["id"] in CYTHON_DIFFERS:
        assert isinstance(outcome, Refused)
        assert outcome.cls == CYTHON_DIFFERS[example["id"]]
        return
    assert isinstance(outcome, Accepted)
    got, want = as_aiokafka_shows(example, outcome)
    assert got == want


def test_aiokafka_in_python_reads_a_mixed_log_that_its_cython_does_not() -> None:
    with opened("aiokafka-pure") as pure:
        assert pure.hello.name == "aiokafka-pure"
        for example in EXAMPLES:
            outcome = ask(pure, request(bytes.fromhex(example["hex"])))
            if example["id"] in PURE_DIFFERS:
                assert isinstance(outcome, Refused)
                assert outcome.cls == PURE_DIFFERS[example["id"]]
                continue
            assert isinstance(outcome, Accepted), example["id"]
            got, want = as_aiokafka_shows(example, outcome)
            assert got == want


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_a_refusal_bears_its_class_and_what_was_delivered_before(library: Any) -> None:
    broken = bytearray.fromhex(HEX["E01"])
    broken[-1] ^= 1
    outcome = library.decode(request(bytes.fromhex(HEX["E05"]) + bytes(broken)))
    assert isinstance(outcome, Refused)
    assert (outcome.cls, outcome.untyped) == ("crc-mismatch", False)
    assert reading(outcome.before["batches"]) == ["0/1700000000000/x61/x31/", "1/1700000000001/x62/x32/"]


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_records_before_a_premature_end_are_delivered(library: Any) -> None:
    """kafka.md §5: N04 yields two records before the error."""
    two = bytes.fromhex("100000000261023100" + "100002020262023200")
    outcome = library.decode(request(batch(two, count=3, last=1)))
    assert isinstance(outcome, Refused)
    assert len(outcome.before["batches"][0]["records"]) == 2


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_a_torn_tail_is_left_alone(library: Any) -> None:
    outcome = library.decode(request(bytes.fromhex(HEX["E01"])[:-1]))
    assert isinstance(outcome, Accepted)
    assert outcome.value == {"batches": []}
    assert outcome.consumed in (0, None)


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_record_attributes_are_read_as_a_varint(library: Any) -> None:
    """kafka.md §8.1, R09: every later field shifts, so that the offset comes out as 1 and the key as null."""
    record = bytes.fromhex("10ff0000026b027600")
    outcome = library.decode(request(batch(record)))
    assert isinstance(outcome, Accepted)
    (shifted,) = outcome.value["batches"][0]["records"]
    assert (shifted["offset"], shifted["key"]) == ("1", None)


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_magic_3_is_read_as_a_v2_batch(library: Any) -> None:
    """kafka.md §8.1, I15; Kafka refuses it."""
    outcome = library.decode(request(batch(bytes.fromhex("10000000026b027600"), magic=3)))
    assert isinstance(outcome, Accepted)
    assert reading(outcome.value["batches"]) == [f"0/{STAMP}/x6b/x76/"]


def test_kafka_python_refuses_a_magic_below_0_where_its_fetcher_takes_the_size() -> None:
    entry = bytearray(message(b"v", magic=0))
    entry[16] = 0xFF
    entry[12:16] = zlib.crc32(entry[16:]).to_bytes(4, "big")
    outcome = KAFKA_PYTHON.decode(request(bytes(entry)))
    assert isinstance(outcome, Refused)
    assert "Not supported magic" in outcome.text


@pytest.mark.parametrize("name", ["kafka-python", "aiokafka-pure", "aiokafka"])
def test_a_hostile_inner_size_never_ends_and_eats_memory_or_time(name: str) -> None:
    """peers.md §2: an inner message of size -12 is read again and again; no answer comes in a second."""
    inner = message(b"v" * 16, size=-12)
    with opened(name) as adapter:
        adapter.send([request(wrapper(inner))])
        try:
            answers = adapter.receive(1.0)
        except Broken:
            return  # its memory limit came first
        assert not answers or "Exhausted" in repr(answers)


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_what_a_fetcher_leaves_out_is_unsupported(library: Any) -> None:
    question = evolve(request(bytes.fromhex(HEX["E01"])), options=Options(fetch_offset=1))
    assert isinstance(library.decode(question), Unsupported)


# --- writing ---


def message_value(magic: str, timestamp: str, key: str | None, value: str) -> dict[str, Any]:
    fixed = {"offset": "0", "attributes": "0", "messages": None}
    return fixed | {"magic": magic, "timestamp": timestamp, "key": key, "value": value}


WRITERS = [KAFKA_PYTHON, AIOKAFKA, KIO]
WRITER_NAMES = ["kafka-python", "aiokafka", "kio"]


@pytest.mark.parametrize("library", WRITERS, ids=WRITER_NAMES)
def test_a_v2_batch_is_written_byte_for_byte_as_in_e01(library: Any) -> None:
    outcome = library.encode(request(of=V2, op="encode", value=dict(E01)))
    assert isinstance(outcome, Accepted)
    assert outcome.data
    assert without_leader_epoch(outcome.data) == without_leader_epoch(bytes.fromhex(HEX["E01"]))


def without_leader_epoch(data: bytes) -> bytes:
    """A producer may put anything there (kafka.md §1.1): aiokafka puts -1, the others 0."""
    return data[:12] + data[16:]


@pytest.mark.parametrize("library", WRITERS[:2], ids=WRITER_NAMES[:2])
@pytest.mark.parametrize(
    ("revision", "value", "example"),
    [
        ("v0", message_value("0", "-1", None, "313233"), "E19"),
        ("v1", message_value("1", str(STAMP), "6b", "76"), "E20"),
    ],
)
def test_a_message_is_written_byte_for_byte(library: Any, revision: str, value: Any, example: str) -> None:
    outcome = library.encode(request(of=("kafka.batch", revision), op="encode", value=value))
    assert isinstance(outcome, Accepted)
    assert outcome.data == bytes.fromhex(HEX[example])


@pytest.mark.parametrize("library", WRITERS, ids=WRITER_NAMES)
def test_a_builder_cannot_be_asked_for_a_field_that_it_sets_by_itself(library: Any) -> None:
    outcome = library.encode(request(of=V2, op="encode", value={**E01, "maxTimestamp": "5"}))
    assert isinstance(outcome, Unsupported)
    assert " maxTimestamp" in outcome.text


@pytest.mark.parametrize("library", WRITERS[:2], ids=WRITER_NAMES[:2])
def test_a_producers_builder_cannot_be_asked_for_a_base_offset(library: Any) -> None:
    outcome = library.encode(request(of=V2, op="encode", value={**E01, "baseOffset": "7"}))
    assert outcome == Unsupported("the builder has no say over baseOffset")


# --- Apache Kafka's own classes ---


@pytest.fixture(scope="module")
def kafka_clients() -> Iterator[Controller]:
    """Built once with Maven into the user's cache; later runs start at once."""
    with opened("kafka-clients") as controller:
        yield controller


@pytest.mark.peers
@needs("java", "mvn")
def test_kafka_clients_read_every_example(kafka_clients: Controller) -> None:
    for example in EXAMPLES:
        outcome = ask(kafka_clients, request(bytes.fromhex(example["hex"])))
        assert isinstance(outcome, Accepted), example["id"]
        assert reading(outcome.value["batches"]) == example["reads"]
        assert outcome.consumed == len(example["hex"]) // 2
