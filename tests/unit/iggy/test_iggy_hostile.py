"""Hostile bytes: nothing but `Rejected` leaves a codec, and no byte costs more than its share."""

from collections.abc import Callable, Iterator
from re._constants import MAX_REPEAT, MIN_REPEAT
from re._parser import SubPattern
from re._parser import parse as parsed
from typing import Any

from each import each
from iggy_bytes import decode, refusal, u32
from work_counter import growth

from wireproof.iggy import json_parser

TEXTS: dict[str, Callable[[int], bytes]] = {
    "brackets": lambda n: b"[" * n,
    "braces": lambda n: b'{"a":' * n,
    "digits": lambda n: b"1" * n,
    "digits in an id": lambda n: b'{"messages":[{"id":' + b"9" * n + b"}]}",
    "an exponent": lambda n: b'{"messages":[{"id":1e' + b"9" * n + b"}]}",
    "quotes, escaped, without an end": lambda n: b'"' + b'\\"' * n,
    "backslashes": lambda n: b'"' + b"\\" * n,
    "blanks": lambda n: b" " * n,
    "blanks between": lambda n: b"[" + b" ," * n,
    "commas": lambda n: b"[" + b"0," * n,
    "names": lambda n: b"{" + b'"a":0,' * n + b'"b":0}',
    "zeros of a fraction": lambda n: b"0." + b"0" * n + b"x",
    "surrogates": lambda n: b'"' + b"\\ud83d" * n + b'"',
}
"""By name: a hostile text of any length."""


@each("name", TEXTS)
def test_the_work_for_hostile_json_grows_with_its_length_and_no_faster(name: str) -> None:
    def refusing(size: int) -> Callable[[], object]:
        data = TEXTS[name](size)
        return lambda: refusal("iggy.json.send/0.0.30", data)

    assert refusal("iggy.json.send/0.0.30", TEXTS[name](1000)) is not None
    assert growth(refusing, 1000) < 1.1


def test_no_token_of_json_is_matched_a_second_time() -> None:
    """A repetition that gives bytes back may try them again in as many ways as there are; one byte may."""
    assert not list(_given_back(parsed(json_parser._TOKEN.pattern, json_parser._TOKEN.flags)))
    assert list(_given_back(parsed(b"(?:a|b)*c")))


def _given_back(tree: Any) -> Iterator[object]:
    """The repetitions in the tree of a regular expression that are not possessive and may repeat."""
    if isinstance(tree, tuple) and tree and tree[0] in (MAX_REPEAT, MIN_REPEAT) and tree[1][1] > 1:
        yield tree
    for part in tree if isinstance(tree, tuple | list | SubPattern) else ():
        yield from _given_back(part)


def test_the_work_for_a_header_block_of_one_key_grows_with_its_entries_and_no_faster() -> None:
    def reading(count: int) -> Callable[[], object]:
        block = (u32(1) + b"k" + b"\x01" + u32(1) + b"v") * count
        return lambda: decode("iggy.headers/0.0.30", block)

    found: Any = reading(500)()
    assert [remark.cls for remark in found.remarks] == ["iggy-duplicate-header"]
    assert growth(reading, 500) < 1.1
