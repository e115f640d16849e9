"""The name of a live broker."""

import pytest
from each import each

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry.registry import resolve


@each("rest", ["", "host", "host:0", "host:65536", ":1", "http://host:9092"])
def test_another_form_is_an_error_that_shows_the_form(rest: str) -> None:
    with pytest.raises(UnknownAdapter, match=r"kafka-broker:HOST:PORT"):
        resolve(f"kafka-broker:{rest}")


def test_each_run_has_a_token_of_its_own_which_the_cleanup_gets_too() -> None:
    one, other = resolve("kafka-broker:localhost:9092"), resolve("kafka-broker:localhost:9092")
    assert one.command[-1] == one.cleanup[-2] != other.command[-1]
