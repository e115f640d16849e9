"""Bytes with names: the limits of the primitives. Varints: kafka.md, section 4."""

import pytest

from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


@pytest.mark.parametrize(("kind", "most"), [("varint", 5), ("varlong", 10), ("uvarint", 10)])
def test_a_varint_ends_in_time(kind: str, most: int) -> None:
    for size in range(most):
        with pytest.raises(Rejected) as cut:
            getattr(Reader(b"\x80" * size), kind)("n")
        assert (cut.value.cls, cut.value.at) == ("truncated", 0)
    with pytest.raises(Rejected) as long:
        getattr(Reader(b"\x80" * 1000), kind)("n")
    assert (long.value.cls, long.value.at, long.value.path) == ("bad-varint", 0, "n")


def test_an_unsigned_varint_of_a_negative_value_is_its_twos_complement() -> None:
    writer = Writer()
    writer.uvarint("n", -1)
    assert bytes(writer.data) == b"\xff" * 9 + b"\x01"
    for value in (1 << 64, -(1 << 63) - 1):
        with pytest.raises(Rejected, match="does not fit 64 bits"):
            Writer().uvarint("n", value)


@pytest.mark.parametrize("read", ["take", "skip", "window"])
def test_a_length_is_checked_before_anything_is_taken(read: str) -> None:
    for length, cls in ((3, "truncated"), (1 << 62, "truncated"), (-1, "negative-length")):
        with pytest.raises(Rejected) as refused:
            getattr(Reader(b"ab"), read)("f", length)
        assert (refused.value.cls, refused.value.at, refused.value.path) == (cls, 0, "f")


def test_a_window_ends_where_it_was_cut_and_what_runs_past_it_has_its_own_class() -> None:
    reader = Reader(b"abcdef", pos=1)
    inner = reader.window("body", 3)
    assert (reader.pos, inner.pos, inner.end, inner.left) == (4, 1, 4, 3)
    assert inner.take("x", 2) == b"bc"
    with pytest.raises(Rejected) as past:
        inner.take("y", 2)
    assert (past.value.cls, past.value.at) == ("length-past-end", 3)
    assert inner.rest("y") == b"d"


def test_what_was_unpacked_is_a_space_of_its_own_and_shares_remarks_and_budget() -> None:
    outer = Reader(b"\0" * 64)
    inner = outer.inner_reader(b"xyz", 61).inner_reader(b"pq", 12)
    inner.skip("f", 1)
    assert inner.at(inner.pos) == "61>12>1"
    assert inner.reject("other", "f").at == "61>12>1"
    assert inner.remarks is outer.remarks
    assert inner.budget is outer.budget
