"""The name of a live server of Iggy: `iggy-server:[http://]HOST:PORT[:FILE]`."""

import pytest
from each import each

from wireproof.adapters.errors import AdapterStartError, UnknownAdapter
from wireproof.adapters.registry import open_adapter, resolve


@each("rest", ["", "h", "h:0", "::1:8090", "quic://h:80"])
def test_another_name_is_refused_with_the_forms(rest: str) -> None:
    form = r"is written iggy-server:HOST:PORT, .* or iggy-server:http://HOST:PORT$"
    with pytest.raises(UnknownAdapter, match=form):
        resolve(f"iggy-server:{rest}")


@pytest.mark.parametrize("scheme", ["", "http://"])
def test_a_port_without_a_listener_is_one_line(scheme: str) -> None:
    with pytest.raises(AdapterStartError, match=r"^nothing answers at 127\.0\.0\.1:1: "):
        open_adapter(f"iggy-server:{scheme}127.0.0.1:1")


def test_each_run_has_names_of_its_own() -> None:
    tokens = {resolve("iggy-server:h:1").command[-1] for _ in range(3)}
    assert len(tokens) == 3
