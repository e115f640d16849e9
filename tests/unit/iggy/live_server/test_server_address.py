"""The name of a live server of Iggy: `iggy-server:HOST:PORT[:FILE]`."""

import pytest

from wireproof.adapters.errors import AdapterStartError, UnknownAdapter
from wireproof.adapters.registry import open_adapter, resolve
from wireproof.iggy.family.live_server.address import ServerAddress


@pytest.mark.parametrize(
    ("spec", "address", "text"),
    [
        ("iggy-server:h:8090", ServerAddress("h", 8090), "h:8090"),
        ("iggy-server:[::1]:8090", ServerAddress("::1", 8090), "[::1]:8090"),
        ("iggy-server:h:8090:a/b:c", ServerAddress("h", 8090, "a/b:c"), "h:8090"),
    ],
)
def test_a_name_has_a_host_a_port_and_a_file(spec: str, address: ServerAddress, text: str) -> None:
    assert ServerAddress.of(spec) == address
    assert str(address) == text


@pytest.mark.parametrize("rest", ["", "h", "h:", "h:0", "h:65536", "h:x", "::1:8090", "h:80:"])
def test_another_name_is_refused_with_the_form(rest: str) -> None:
    with pytest.raises(UnknownAdapter, match="is written iggy-server:HOST:PORT"):
        resolve(f"iggy-server:{rest}")


def test_a_port_without_a_listener_is_one_line() -> None:
    with pytest.raises(AdapterStartError, match=r"^nothing answers at 127\.0\.0\.1:1: "):
        open_adapter("iggy-server:127.0.0.1:1")


def test_each_run_has_names_of_its_own() -> None:
    tokens = {resolve("iggy-server:h:1").command[-1] for _ in range(3)}
    assert len(tokens) == 3
