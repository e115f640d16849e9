"""The name of a live server: `KIND:HOST:PORT[:FILE]`, with a scheme where its family has one."""

import pytest
from each import each

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry.live_servers import ServerAddress


@each(
    "rest, address, text",
    [
        ("h:8090", ServerAddress("h", 8090), "h:8090"),
        ("localhost:1", ServerAddress("localhost", 1), "localhost:1"),
        ("[::1]:8090", ServerAddress("::1", 8090), "[::1]:8090"),
        ("h:8090:a/b:c", ServerAddress("h", 8090, "a/b:c"), "h:8090"),
        ("h:1:a b/client.properties", ServerAddress("h", 1, "a b/client.properties"), "h:1"),
        ("http://h:3000", ServerAddress("h", 3000, scheme="http"), "h:3000"),
        ("http://[::1]:3000:f", ServerAddress("::1", 3000, "f", "http"), "[::1]:3000"),
    ],
)
def test_a_name_has_a_host_a_port_and_what_else_there_is(
    rest: str, address: ServerAddress, text: str
) -> None:
    found = ServerAddress.of(f"kind:{rest}", ("http",))
    assert found == address
    assert str(found) == text


@each("rest", ["", "h", "h:", "h:0", "h:65536", "h:x", "::1:8090", "h:80:", "http://h:80"])
def test_another_form_is_an_error_that_shows_the_form(rest: str) -> None:
    with pytest.raises(UnknownAdapter, match=r"is written kind:HOST:PORT or kind:HOST:PORT:FILE$"):
        ServerAddress.of(f"kind:{rest}")
