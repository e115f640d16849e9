"""The peers in Python: what the baselines of `conformance/test_peers.py` cannot say of them."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import evolve
from hostile_kafka_bytes import message, wrapper
from kafka_notation import E01, HEX, LOG, V2
from peer_adapters import python_adapter

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Broken, Controller
from wireproof.adapters.registry.registry import open_adapter
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.wire.options import Options

KAFKA_PYTHON, AIOKAFKA, KIO = map(python_adapter, ("kafka-python", "aiokafka", "kio"))


def request(
    data: bytes = b"", *, of: tuple[str, str] = LOG, op: str = "decode", value: Any = None
) -> Request:
    return Request("1", op, *of, data=data, value=value)


@contextmanager
def opened(name: str) -> Iterator[Controller]:
    controller = open_adapter(name)
    try:
        yield controller
    finally:
        controller.close()


# --- kafka-python and aiokafka ---


@pytest.mark.parametrize("library", [KAFKA_PYTHON, AIOKAFKA], ids=["kafka-python", "aiokafka"])
def test_a_refusal_bears_its_class_and_what_was_delivered_before(library: Any) -> None:
    broken = bytearray.fromhex(HEX["E01"])
    broken[-1] ^= 1
    outcome = library.decode(request(bytes.fromhex(HEX["E05"]) + bytes(broken)))
    assert isinstance(outcome, Refused)
    assert (outcome.cls, outcome.untyped) == ("crc-mismatch", False)
    (entry,) = outcome.before["batches"]
    assert [(row["offset"], row["key"], row["value"]) for row in entry["records"]] == [
        ("0", "61", "31"),
        ("1", "62", "32"),
    ]


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
