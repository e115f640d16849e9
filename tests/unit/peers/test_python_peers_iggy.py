"""iggy-py as a client of the fake server, on the bytes of the format documents: iggy.md §3, §13."""

import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from peer_adapters import python_adapter

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof_peers.fake_iggy_tcp import FakeIggyTcp
from wireproof_peers.iggy_sdk import SdkClient
from wireproof_peers.iggy_vsr import VsrClient


def asked(data: bytes = b"", *, of: tuple[str, str], op: str = "decode", value: Any = None) -> Request:
    return Request("1", op, *of, data=data, value=value)


W14 = (
    "01000000010000000000000002000000"
    "0000000000000000010060f09e340306000100000000000000000000000000000086a61036000000000500000068656c6c6f"
    "0100000000000000010160f09e34030600020000000000000000000000000000004311773a"
    "15000000050000006b65792d31020700000056616c7565203105000000776f726c64"
)
"""iggy.md §13, W14: a poll response of 0.0.60."""

POLL = ("iggy.poll", "0.0.60")


def message_60(offset: str, identity: str, checksum: str, payload: str) -> dict[str, str]:
    timestamp = str(1_692_374_400_000_000 + int(offset))
    fields = {"offset": offset, "state": "available", "timestamp": timestamp, "id": identity}
    return fields | {"checksum": checksum, "payload": payload}


HELLO = message_60("0", "1", str(0x3610A686), b"hello".hex())
WORLD = message_60("1", "2", str(0x3A771143), b"world".hex())


@pytest.fixture
def iggy() -> Iterator[SdkClient]:
    adapter: SdkClient = python_adapter("iggy-py")
    yield adapter
    adapter.close()


def test_a_panic_in_a_future_of_iggy_py_is_an_undocumented_refusal_and_the_next_request_is_answered(
    iggy: SdkClient,
) -> None:
    """A future's panic comes as an `Exception`, which a caller can catch; any other ends the caller."""
    cut = iggy.decode(asked(bytes.fromhex(W14)[:10], of=POLL))
    assert isinstance(cut, Refused)
    assert cut.untyped
    assert iggy.decode(asked(bytes.fromhex(W14), of=POLL)) == Accepted(value={"messages": [HELLO, WORLD]})


def test_the_loopback_server_hangs_up_on_a_length_that_is_none() -> None:
    with FakeIggyTcp({}) as server:
        host, port = server.address.split(":")
        with socket.create_connection((host, int(port)), timeout=5) as client:
            client.sendall(b"\xff\xff\xff\xff" + b"d\x00\x00\x00")
            assert client.recv(1) == b""
    assert server.sent(100) == []


@pytest.mark.parametrize("kind", ["first", "last", "next"])
def test_a_strategy_without_a_value_is_not_asked_to_send_one(kind: str) -> None:
    """`PollingStrategy.First()` takes no argument, so a value beside it is no fault of the library."""
    client = VsrClient(SimpleNamespace(), "apache-iggy-0.9", "0.9.0")
    value = {"partition_id": "1", "strategy": {"kind": kind, "value": "1"}}
    outcome = client.encode(asked(of=("iggy.poll-request", "0.10"), op="encode", value=value))
    assert outcome == Unsupported(f"PollingStrategy.{kind.capitalize()} takes no strategy.value")
