"""The name of a live broker."""

import pytest

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry import resolve
from wireproof.kafka.family.live_broker.address import BrokerAddress


@pytest.mark.parametrize(
    ("spec", "host", "port", "file"),
    [
        ("kafka-broker:localhost:9092", "localhost", 9092, ""),
        ("kafka-broker:[::1]:9092", "::1", 9092, ""),
        ("kafka-broker:broker.example:1:a b/client.properties", "broker.example", 1, "a b/client.properties"),
    ],
)
def test_it_has_host_port_and_a_file_if_there_is_one(spec: str, host: str, port: int, file: str) -> None:
    assert BrokerAddress.of(spec) == BrokerAddress(host, port, file)


@pytest.mark.parametrize(
    "spec",
    [
        "kafka-broker:",
        "kafka-broker:host",
        "kafka-broker:host:0",
        "kafka-broker:host:65536",
        "kafka-broker::1",
    ],
)
def test_another_form_is_an_error_that_shows_the_form(spec: str) -> None:
    with pytest.raises(UnknownAdapter, match=r"kafka-broker:HOST:PORT"):
        resolve(spec)


def test_its_text_is_an_address_that_a_client_accepts() -> None:
    assert str(BrokerAddress("::1", 9092)) == "[::1]:9092"


def test_each_run_has_a_token_of_its_own_which_the_cleanup_gets_too() -> None:
    one, other = resolve("kafka-broker:localhost:9092"), resolve("kafka-broker:localhost:9092")
    assert one.command[-1] == one.cleanup[-1] != other.command[-1]
