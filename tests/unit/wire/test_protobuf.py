"""The protobuf wire layer on the bytes of heka.md, section 4, and on messages of Google's own library."""

from typing import Any

import pytest
from each import each
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from wireproof.wire.protobuf import (
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    MAX_DEPTH,
    START_GROUP,
    VARINT,
    as_int32,
    as_int64,
    read_fields,
    read_packed_fixed64,
    read_packed_varints,
    write_bytes,
    write_varint,
)
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


def walk(text: str) -> list[tuple[int, ...]]:
    reader = Reader(bytes.fromhex(text))
    return [(f.number, f.wire, f.at, f.start, f.end, f.value) for f in read_fields(reader)]


def refusal(text: str) -> tuple[str, object, str]:
    with pytest.raises(Rejected) as caught:
        walk(text)
    return caught.value.cls, caught.value.at, caught.value.detail


@each(
    "text, expected",
    [
        ("", []),
        (
            "0a10101112131415161718191a1b1c1d2e2f1001",
            [(1, LENGTH_DELIMITED, 0, 2, 18, 0), (2, VARINT, 18, 19, 20, 1)],
        ),
        ("108100", [(2, VARINT, 0, 1, 3, 1)]),  # M12
        ("1081808080808080808000", [(2, VARINT, 0, 1, 11, 1)]),  # M13
        ("10ffffffffffffffffff01", [(2, VARINT, 0, 1, 11, 2**64 - 1)]),  # M09
        ("800101", [(16, VARINT, 0, 2, 3, 1)]),  # M21
        ("5b58015c", [(11, START_GROUP, 0, 1, 4, 0)]),  # M23
        ("5d01020304", [(11, FIXED32, 0, 1, 5, 0x04030201)]),  # M24
        ("39000000000000f03f", [(7, FIXED64, 0, 1, 9, 0x3FF0000000000000)]),
        ("5200", [(10, LENGTH_DELIMITED, 0, 2, 2, 0)]),  # M48: nothing is looked at beyond it
    ],
)
def test_fields_stand_where_the_rule_book_has_them(text: str, expected: Any) -> None:
    assert walk(text) == expected


@each(
    "text, expected",
    [
        ("10ffffffffffffffffff7f", ("bad-varint", 1, "varint_overflow")),  # M10
        ("10ffffffffffffffffffff01", ("bad-varint", 1, "varint_too_long")),  # M11
        ("0001", ("bad-kind", 0, "field_number_zero")),  # M29
        ("10011e", ("bad-kind", 2, "bad_wiretype")),  # M30
        ("10011f", ("bad-kind", 2, "bad_wiretype")),  # M31
        ("8a800010", ("bad-varint", 0, "key_nonminimal")),  # M40
        ("d8800001", ("bad-varint", 0, "key_nonminimal")),  # M41
        ("1a", ("truncated", 1, "")),  # M42
        ("320561", ("truncated", 2, "")),  # M43
        ("32ffffffffffffffffff01", ("length-past-end", 1, "length_overflow")),  # M44
        ("3280808080808080808001", ("length-past-end", 1, "length_overflow")),  # M45
        ("32818080801061", ("truncated", 6, "")),  # M46: 2^32 + 1 is not 1
        ("527f0a0161", ("truncated", 2, "")),  # M47
        ("10015c", ("bad-kind", 2, "bad_wiretype")),  # M96
        ("5b58015d", ("truncated", 4, "")),
        ("5b580164", ("bad-nesting", 3, "")),
        ("5b", ("truncated", 1, "")),
        ("2d010000", ("truncated", 1, "")),
    ],
)
def test_refusals_are_those_of_the_strict_column(text: str, expected: Any) -> None:
    assert refusal(text) == expected


def test_groups_nest_to_the_limit_and_no_deeper() -> None:
    inside = lambda depth: (b"\x5b" * depth + b"\x5c" * depth).hex()  # noqa: E731 - two uses, one line
    assert walk(inside(MAX_DEPTH)) == [(11, START_GROUP, 0, 1, 2 * MAX_DEPTH, 0)]
    assert refusal(inside(MAX_DEPTH + 1)) == ("bad-nesting", MAX_DEPTH, "")
    assert refusal(inside(300_000))[0] == "bad-nesting"


def test_an_overlong_payload_varint_is_remarked_and_a_minimal_one_is_not() -> None:
    reader = Reader(bytes.fromhex("10810028800128ff01"))
    assert [f.value for f in read_fields(reader)] == [1, 128, 255]
    assert [(r.cls, r.at, r.path) for r in reader.remarks] == [("varint-nonminimal", 1, "#2")]


def test_integers_take_the_signed_forms_of_both_widths() -> None:
    assert [as_int64(v) for v in (0, 1, 2**63 - 1, 2**63, 2**64 - 1)] == [0, 1, 2**63 - 1, -(2**63), -1]
    # M15, M14, M17, M19
    assert [as_int32(v) for v in (0xFFFFFFFF, 2**64 - 1, 2**32 + 5, 2**31)] == [-1, -1, 5, -(2**31)]


def test_a_caller_reads_a_payload_in_place_or_leaves_it() -> None:
    reader = Reader(bytes.fromhex("520209052201622a0163"))
    seen = []
    for f in read_fields(reader):
        if f.number == 10:
            seen.append(reader.window("fields", f.length).rest("all"))
        elif f.number == 5:
            seen.append(reader.take("five", f.length))
    assert seen == [b"\x09\x05", b"c"]
    assert reader.left == 0


def test_packed_chunks_end_with_their_window() -> None:
    chunk = lambda text: Reader(bytes.fromhex(text), short="length-past-end")  # noqa: E731 - as above
    assert list(read_packed_varints(chunk("0506"), "v")) == [5, 6]  # M63
    assert list(read_packed_varints(chunk(""), "v")) == []  # M66
    with pytest.raises(Rejected, match="length-past-end at 1"):  # M68
        list(read_packed_varints(chunk("0580"), "v"))
    assert list(read_packed_fixed64(chunk("000000000000f03f0000000000000040"), "v")) == [
        bytes.fromhex("000000000000f03f"),
        bytes.fromhex("0000000000000040"),
    ]  # M70
    for torn in ("000000000000f0", "000000000000f03f00000000"):  # M71, M72
        with pytest.raises(Rejected) as caught:
            list(read_packed_fixed64(chunk(torn), "v"))
        assert (caught.value.cls, caught.value.detail) == ("bad-length", "packed_double_size")


def test_the_trace_leaves_no_byte_out() -> None:
    data = bytes.fromhex("0a10101112131415161718191a1b1c1d2e2f10015b58015c5d0102030439000000000000f03f220162")
    reader = TracingReader(data)
    for f in read_fields(reader):
        if f.number == 4:
            reader.take("#4", f.length)
    spans = sorted((s.start, s.end) for s in reader.spans)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(data)
    length = next(s for s in reader.spans if s.path == "#1.length")
    assert (length.value, length.cover.start, length.cover.end) == (16, 2, 18)


def test_what_is_written_is_what_googles_library_writes() -> None:
    theirs = FieldDescriptorProto(name="n", number=-2, type_name="t")
    ours = Writer()
    write_bytes(ours, "name", 1, b"n")
    write_varint(ours, "number", 3, -2)
    write_bytes(ours, "type_name", 6, b"t")
    assert bytes(ours.data) == theirs.SerializeToString(deterministic=True)
