"""Bytes with names: the primitives, their limits and their trace. Varints: kafka.md, section 4."""

import struct
from typing import Any

import pytest
from each import each

from wireproof.wire.reader import FIXED_WIDTH, Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Cover, FieldSpan
from wireproof.wire.writer import TracingWriter, Writer

VARINTS = (
    (0, "00"), (-1, "01"), (1, "02"), (-2, "03"), (63, "7e"), (-64, "7f"), (64, "80 01"), (-65, "81 01"),
    (8191, "fe 7f"), (-8192, "ff 7f"), (8192, "80 80 01"), (-8193, "81 80 01"), (1048575, "fe ff 7f"),
    (-1048576, "ff ff 7f"), (1048576, "80 80 80 01"), (134217727, "fe ff ff 7f"),
    (134217728, "80 80 80 80 01"), (2147483647, "fe ff ff ff 0f"), (-2147483648, "ff ff ff ff 0f"),
)  # fmt: skip
"""The table of values of kafka.md, section 4, without those of 64 bits."""

VARLONGS = (
    (3000000000, "80 f8 82 ad 16"),
    ((1 << 63) - 1, "fe ff ff ff ff ff ff ff ff 01"),
    (-(1 << 63), "ff ff ff ff ff ff ff ff ff 01"),
)


@each("value, text", VARINTS)
def test_a_varint_is_read_and_written_as_the_table_has_it(value: int, text: str) -> None:
    data = bytes.fromhex(text)
    for kind in ("varint", "varlong"):
        reader, writer = Reader(data + b"\xff"), Writer()
        assert getattr(reader, kind)("n") == value
        assert (reader.pos, reader.remarks) == (len(data), [])
        getattr(writer, kind)("n", value)
        assert bytes(writer.data) == data


@pytest.mark.parametrize(("value", "text"), VARLONGS)
def test_a_varlong_is_read_and_written_as_the_table_has_it(value: int, text: str) -> None:
    data, writer = bytes.fromhex(text), Writer()
    assert Reader(data).varlong("n") == value
    writer.varlong("n", value)
    assert bytes(writer.data) == data
    with pytest.raises(Rejected, match="does not fit 32 bits"):
        Writer().varint("n", value)


@each(
    "kind, text, value, remark",
    [
        ("varint", "80 00", 0, "varint-overlong"),  # T01, T02
        ("varint", "80 80 80 80 00", 0, "varint-overlong"),
        ("varint", "80 80 80 80 10", 0, "varint-dropped-bits"),  # T04
        ("varint", "ff ff ff ff 7f", -2147483648, "varint-dropped-bits"),  # T05
        ("varlong", "80 80 80 80 80 80 80 80 80 00", 0, "varint-overlong"),
        ("varlong", "80 80 80 80 80 80 80 80 80 02", 0, "varint-dropped-bits"),
        ("uvarint", "ff ff ff ff ff ff ff ff ff 01", (1 << 64) - 1, None),
        ("uvarint", "ff ff ff ff ff ff ff ff ff 03", (1 << 64) - 1, "varint-dropped-bits"),
        ("uvarint", "81 00", 1, "varint-overlong"),
    ],
)
def test_what_is_overlong_or_too_wide_is_remarked(
    kind: str, text: str, value: int, remark: str | None
) -> None:
    reader = Reader(b"\x00" + bytes.fromhex(text), pos=1)
    assert getattr(reader, kind)("n") == value
    assert [(one.cls, one.at, one.path) for one in reader.remarks] == ([(remark, 1, "n")] if remark else [])


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


@each("kind", FIXED_WIDTH)
def test_a_fixed_integer_holds_its_bounds_and_nothing_beyond(kind: str) -> None:
    order = "little" if kind.endswith("le") else "big"
    bits = int("".join(sign for sign in kind if sign.isdigit()))
    low, high = (0, (1 << bits) - 1) if kind.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    for value in (low, 0, 1, high):
        data, writer = value.to_bytes(bits // 8, order, signed=low < 0), Writer()  # type: ignore[arg-type]
        assert getattr(Reader(data), kind)("n") == value
        getattr(writer, kind)("n", value)
        assert bytes(writer.data) == data
        with pytest.raises(Rejected) as short:
            getattr(Reader(data[:-1]), kind)("n")
        assert short.value.cls == "truncated"
    for value in (low - 1, high + 1):
        with pytest.raises(Rejected) as wide:
            getattr(Writer(), kind)("n", value)
        assert wide.value.cls == "invalid-value"


def test_128_bits_are_little_endian() -> None:
    data, writer = bytes(range(16)), Writer()
    value = Reader(data).uint128le("n")
    assert value == struct.unpack("<Q", data[:8])[0] | struct.unpack("<Q", data[8:])[0] << 64
    writer.uint128le("n", value)
    assert bytes(writer.data) == data
    with pytest.raises(Rejected):
        Writer().uint128le("n", 1 << 128)


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


def test_a_path_names_each_scope_and_index() -> None:
    reader = Reader(b"")
    reader.enter("records", 2)
    reader.enter("headers", 0)
    with pytest.raises(Rejected) as refused:
        reader.int8("key")
    assert refused.value.path == "records[2].headers[0].key"
    reader.leave()
    reader.leave()
    reader.leave()
    assert reader.path("x") == "x"


def exercise(target: Any, *values: Any) -> None:
    """The same fields read, or written with `values`."""
    given = iter(values)
    rest = (lambda: [next(given)]) if values else list
    target.int32("length", *rest())
    target.enter("records", 0)
    target.varint("delta", *rest())
    target.leave()
    target.cover("length", "length", 4, 5, 1)


def test_the_trace_of_a_reader_and_of_a_writer_is_the_same() -> None:
    reader, writer = TracingReader(b"\0\0\0\x02\x0e"), TracingWriter()
    exercise(reader)
    exercise(writer, 2, 7)
    assert bytes(writer.data) == reader.data
    assert reader.spans == writer.spans
    assert reader.spans == [
        FieldSpan("length", "", 0, 4, "int32", 2, Cover("length", 4, 5, 1)),
        FieldSpan("records[0].delta", "", 4, 5, "varint", 7),
    ]


def test_a_patch_changes_the_bytes_and_the_trace() -> None:
    writer = TracingWriter()
    writer.uint8("before", 1)
    writer.uint32("crc", 0)
    writer.patch("crc", "uint32", 1, 0xAABBCCDD)
    assert bytes(writer.data) == b"\x01\xaa\xbb\xcc\xdd"
    assert [(span.path, span.value) for span in writer.spans] == [("before", 1), ("crc", 0xAABBCCDD)]
    with pytest.raises(Rejected, match="does not fit uint32"):
        writer.patch("crc", "uint32", 1, -1)


def test_a_number_that_is_written_later_is_not_the_value_of_an_empty_text_before_it() -> None:
    writer = TracingWriter()
    writer.put("text", b"")
    writer.uint32("length", 0)
    writer.patch("length", "uint32", 0, 7)
    assert [(span.path, span.value) for span in writer.spans] == [("text", b""), ("length", 7)]


def test_readers_of_windows_and_spaces_share_one_trace() -> None:
    reader = TracingReader(b"ab")
    reader.window("body", 2).uint8("x")
    reader.inner_reader(b"z", 1).uint8("y")
    assert [(span.path, span.at) for span in reader.spans] == [("x", 0), ("y", "1>0")]


def test_the_length_of_bytes_is_the_field_that_the_layout_declares() -> None:
    def covers(lengths: dict[str, set[str]]) -> list[Cover | None]:
        reader = TracingReader(b"\x02ab\x04abc")
        reader.lengths = lengths
        for count in (2, 3):
            reader.uint8("keyLength")
            reader.take("key", count)
        return [span.cover for span in reader.spans]

    assert covers({"key": {"keyLength"}}) == [Cover("length", 1, 3), None, None, None]
    assert covers({"value": {"keyLength"}}) == [None] * 4
    assert covers({"key": {"valueLength"}}) == [None] * 4
    assert covers({}) == [None] * 4


def test_a_trace_changes_nothing_that_is_read() -> None:
    data = bytes.fromhex("80 80 80 80 10 00 ff")
    for kind in (Reader, TracingReader):
        reader = kind(data)
        assert [reader.varint("a"), reader.int8("b"), reader.uint8("c")] == [0, 0, 255]
        assert [remark.cls for remark in reader.remarks] == ["varint-dropped-bits"]
