"""Hostile bytes: nothing but `Rejected` leaves a codec, and no byte costs more than its share."""

from collections.abc import Iterator
from re._constants import MAX_REPEAT, MIN_REPEAT
from re._parser import SubPattern
from re._parser import parse as parsed
from typing import Any

from wireproof.iggy.http import json_body


def test_no_token_of_json_is_matched_a_second_time() -> None:
    """A repetition that gives bytes back may try them again in as many ways as there are; one byte may."""
    assert not list(_given_back(parsed(json_body._TOKEN.pattern, json_body._TOKEN.flags)))
    assert list(_given_back(parsed(b"(?:a|b)*c")))


def _given_back(tree: Any) -> Iterator[object]:
    """The repetitions in the tree of a regular expression that are not possessive and may repeat."""
    if isinstance(tree, tuple) and tree and tree[0] in (MAX_REPEAT, MIN_REPEAT) and tree[1][1] > 1:
        yield tree
    for part in tree if isinstance(tree, tuple | list | SubPattern) else ():
        yield from _given_back(part)
