"""Untrusted JSON and TOML end in an error of one line, whatever they contain."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from wireproof.safe_parsing import MAX_JSON_VALUES, MAX_TOML_LINE, MAX_TOML_SIZE, parse_json, parse_toml


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (parse_json, "[" * 200_000, "nested too deeply"),
        (parse_json, "[" + "[]," * MAX_JSON_VALUES, "more than 250,000 values"),
        (parse_json, b"\xff\xfe1\0", "can't decode"),
        (parse_json, "{", "Expecting"),
        (parse_toml, "a = " + "[" * 1900 + "]" * 1900, "nested too deeply"),
        (parse_toml, "a = [\n" + "[\n" * 5000 + "]\n" * 5000 + "]", "nested too deeply"),
        (parse_toml, "a" * (MAX_TOML_LINE + 1) + " = 1", "line 1 is longer than 4,096"),
        (parse_toml, "#\n" * MAX_TOML_SIZE, "larger than 4,194,304"),
        (parse_toml, "a = ", "Invalid value"),
    ],
    ids=lambda part: part[:20] if isinstance(part, str | bytes) else "",
)
def test_what_is_wrong_is_a_value_error_of_one_line(
    parse: Callable[[Any], Any], text: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said) as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_the_memory_of_json_is_bounded_by_its_values_and_its_length() -> None:
    text = "[" + "[]," * 20_000_000
    tracemalloc.start()
    with pytest.raises(ValueError, match="values"):
        parse_json(text)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_json_of_usual_size_is_read_with_the_same_pairs_as_ever() -> None:
    rows = [{"a": number, "b": [None, "é\ud800"]} for number in range(10_000)]
    assert parse_json(json.dumps(rows)) == rows
    assert parse_json('{"a": 1, "a": 2}', pairs=list) == [("a", 1), ("a", 2)]


def test_the_costliest_toml_that_is_read_at_all_is_read() -> None:
    key = "a." * (MAX_TOML_LINE // 2 - 4) + "a"
    assert parse_toml(f"{key} = 1\n")
