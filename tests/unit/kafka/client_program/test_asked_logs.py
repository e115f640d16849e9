"""Which logs a client program is asked for: those that a broker can return."""

import pytest
from goldens import load

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Faulty, Unsupported
from wireproof.kafka.family.client_program.claims import batch_value
from wireproof.kafka.family.client_program.client_options import ClientOptions
from wireproof.kafka.family.client_program.consume_case import Consumers

BATCH = formats.encode(formats.get("kafka.batch", "v2"), batch_value())


def asked(data: bytes) -> object:
    """Return the outcome of a command that does not exist, if it is asked at all."""
    request = Request("1", "decode", "kafka.log", "mixed", data=data)
    return Consumers(ClientOptions(), ("no-such-program-x",)).decode(request)


def test_the_first_part_of_a_batch_alone_is_not_asked_because_no_broker_returns_it() -> None:
    outcome = asked(BATCH[:40])
    assert isinstance(outcome, Unsupported)
    assert "KIP-74" in outcome.text


@pytest.mark.parametrize(
    "data", [b"", BATCH, BATCH + BATCH[:40]], ids=["nothing", "whole", "whole, then cut"]
)
def test_what_a_broker_returns_is_asked(data: bytes) -> None:
    assert isinstance(asked(data), Faulty)


ENTRIES = "kafka.log/mixed/entries"


@pytest.mark.parametrize("name", ["offsets-decreasing", "overlap-by-one", "wrapper-overlaps-first"])
def test_records_below_those_before_them_are_not_asked_because_no_broker_stores_them(name: str) -> None:
    """Kafka's own consumer drops a record below the offset that it expects."""
    outcome = asked(log_of(name))
    assert isinstance(outcome, Unsupported)
    assert "below" in outcome.text


@pytest.mark.parametrize(
    "name", ["three", "v0-v1-v2", "wrapper-follows-first", "data-empty-empty-data", "gap-at-the-end"]
)
def test_offsets_that_grow_are_asked_and_so_are_batches_without_records(name: str) -> None:
    assert isinstance(asked(log_of(name)), Faulty)


def log_of(name: str) -> bytes:
    """Return the bytes of a case."""
    (data,) = (one.input.data for one in load().cases if one.id == f"{ENTRIES}/{name}")
    assert isinstance(data, bytes)
    return data
