"""The name of a client program: options, then the command."""

import attrs
import pytest
from each import each

from wireproof.adapters.errors import UnknownAdapter
from wireproof.adapters.registry import resolve
from wireproof.kafka.family.client_program.program import ClientOptions, listed_options, parse_spec


def test_a_command_alone_has_the_newest_fetch_and_whole_logs() -> None:
    options, words = parse_spec("kafka-client:node client.js 'a b'")
    assert words == ("node", "client.js", "a b")
    assert options == ClientOptions(fetch=17, serve="pieces", start="consume", side="both", lost="nothing")


def test_options_are_words_before_the_command() -> None:
    options, words = parse_spec("kafka-client:fetch=11 serve=pieces side=consume ./client x=1")
    assert words == ("./client", "x=1")
    assert options == ClientOptions(fetch=11, serve="pieces", side="consume")


def test_the_worker_gets_the_options_back() -> None:
    options = ClientOptions(name="x", fetch=4, serve="leader", start="subscribe", lost="answers")
    assert ClientOptions.of_json(options.json()) == options


def test_every_option_but_the_name_is_listed() -> None:
    assert {one.name for one in listed_options()} == {*attrs.fields_dict(ClientOptions)} - {"name"}
    assert resolve("kafka-client:./client").options == listed_options()


@each(
    "spec, text",
    [
        ("kafka-client:", "a command is missing"),
        ("kafka-client:fetch=11", "a command is missing"),
        ("kafka-client:fetch=3 x", "fetch: must be from 4 to 17, not 3"),
        ("kafka-client:fetch=newest x", "fetch: must be a number, not newest"),
        ("kafka-client:serve=slow x", "serve: must be one of pieces, whole, cut, error, leader, not slow"),
        ("kafka-client:speed=9 x", "no option speed: there are name, fetch, serve, start, side, lost"),
        ("kafka-client:'x", "No closing quotation"),
    ],
)
def test_another_form_is_an_error_that_says_what_there_is(spec: str, text: str) -> None:
    with pytest.raises(UnknownAdapter) as error:
        resolve(spec)
    assert text in str(error.value)
