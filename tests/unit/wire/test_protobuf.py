"""The protobuf wire layer on the bytes of heka.md, section 4, and on messages of Google's own library."""

import pytest

from wireproof.wire.protobuf import (
    MAX_DEPTH,
    START_GROUP,
    read_fields,
)
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected


def walk(text: str) -> list[tuple[int, ...]]:
    reader = Reader(bytes.fromhex(text))
    return [(f.number, f.wire, f.at, f.start, f.end, f.value) for f in read_fields(reader)]


def refusal(text: str) -> tuple[str, object, str]:
    with pytest.raises(Rejected) as caught:
        walk(text)
    return caught.value.cls, caught.value.at, caught.value.detail


def test_groups_nest_to_the_limit_and_no_deeper() -> None:
    inside = lambda depth: (b"\x5b" * depth + b"\x5c" * depth).hex()  # noqa: E731 - two uses, one line
    assert walk(inside(MAX_DEPTH)) == [(11, START_GROUP, 0, 1, 2 * MAX_DEPTH, 0)]
    assert refusal(inside(MAX_DEPTH + 1)) == ("bad-nesting", MAX_DEPTH, "")
    assert refusal(inside(300_000))[0] == "bad-nesting"
