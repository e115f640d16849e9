"""The bottom of all codecs: readers and writers, compression, values in JSON, texts made safe to show."""

import gzip
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, Literal

import lz4.block
import lz4.frame
import pytest
import snappy
import xxhash
import zstandard
from attrs import field, frozen
from each import each
from goldens import load
from jsonschema import Draft202012Validator

from wireproof import formats
from wireproof.cases.case import Accept, Case, Either, Expect, Value
from wireproof.formats import FORMATS
from wireproof.wire.compression import compress, decompress_prefix
from wireproof.wire.json_values import Json, camel_case, derived, from_json, json_schema, to_json
from wireproof.wire.protobuf import MAX_DEPTH, START_GROUP, read_fields
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.remark_classes import COMMON_REMARKS, REMARK_CLASSES, RemarkClass, register
from wireproof.wire.text import escape_unsafe, one_line
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


# --- compressed regions ---


def decompress(reader: Reader, name: str, codec: int, *, kip57: bool = False) -> Reader:
    """A reader of what a sound region unpacks to."""
    inner, torn = decompress_prefix(reader, name, codec, kip57=kip57)
    if torn is not None:
        raise torn
    return inner


GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4

TWO: Final = bytes.fromhex("100000000261023100100002020262023200")
"""The two records of E05 to E09."""


@each("codec", [-1, 0, 5, 6, 7])
def test_a_codec_that_is_none_is_refused_by_name(codec: int) -> None:
    with pytest.raises(Rejected) as caught:
        decompress(Reader(b"abc"), "records", codec)
    assert (caught.value.cls, caught.value.detail, caught.value.path) == (
        "unknown-codec",
        "UNKNOWN_CODEC",
        "records",
    )
    with pytest.raises(Rejected, match="invalid-value"):
        compress(codec, b"abc")


# --- limits ---

GIB: Final = 1 << 30
MIB: Final = 1 << 20


def gzip_bomb() -> bytes:
    engine, zeros = zlib.compressobj(wbits=-15), bytes(MIB)
    parts = [engine.compress(zeros) + engine.flush(zlib.Z_FULL_FLUSH) for _ in range(2)]
    return bytes.fromhex("1f8b08000000000000ff") + parts[0] + parts[1] * (GIB // MIB - 1)


def lz4_bomb(code: int) -> bytes:
    size = 1 << 8 + 2 * code
    block = lz4.block.compress(bytes(size), store_size=False)
    descriptor = bytes((0x60, code << 4))
    head = b"\x04\x22\x4d\x18" + descriptor + bytes((xxhash.xxh32_intdigest(descriptor) >> 8 & 0xFF,))
    return head + (struct.pack("<I", len(block)) + block) * (GIB // size)


def zstd_bomb(head: str) -> bytes:
    run = (131072 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return bytes.fromhex("28b52ffd" + head) + run * (GIB // 131072)


def xerial_bomb() -> bytes:
    block = snappy.compress(bytes(MIB))
    return b"\x82SNAPPY\0\0\0\0\1\0\0\0\1" + (struct.pack(">i", len(block)) + block) * 100


@each(
    "codec, make",
    [
        (GZIP, gzip_bomb),
        (SNAPPY, xerial_bomb),
        (SNAPPY, lambda: b"\x80\x80\x80\x80\x04" + bytes(100)),
        (LZ4, lambda: lz4_bomb(4)),
        (LZ4, lambda: lz4_bomb(7)),
        (ZSTD, lambda: zstd_bomb("0058")),
        (ZSTD, lambda: zstd_bomb("0088")),
        (ZSTD, lambda: zstd_bomb("8058" + "00000040")),
    ],
)
def test_a_bomb_costs_no_more_than_its_budget(codec: int, make: Callable[[], bytes]) -> None:
    data, budget = make(), Budget(3 * MIB)
    reader = Reader(data, budget=budget)
    tracemalloc.start()
    try:
        inner, torn = decompress_prefix(reader, "records", codec)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (torn.cls, torn.detail) == ("limit-exceeded", "RESOURCE_LIMIT")
    assert len(inner.data) + budget.left == 3 * MIB
    assert not any(inner.data)
    # Twice the budget (the buffer and the bytes made of it) and one block of the largest size.
    assert peak < 2 * 3 * MIB + 4 * MIB + MIB


def test_a_snappy_block_that_cannot_hold_what_it_claims_costs_nothing() -> None:
    claims = b"\x80\x80\x80\x10" + bytes(100_000)  # 32 MiB
    tracemalloc.start()
    try:
        with pytest.raises(Rejected, match="cannot decompress to 33554432"):
            decompress(Reader(claims), "records", SNAPPY)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def test_a_budget_is_shared_by_all_the_regions_of_one_decode() -> None:
    budget = Budget(40)
    for left in (22, 4):
        decompress(Reader(compress(ZSTD, TWO), budget=budget), "records", ZSTD)
        assert budget.left == left
    with pytest.raises(Rejected, match="limit-exceeded"):
        decompress(Reader(compress(ZSTD, TWO), budget=budget), "records", ZSTD)


# --- writing ---

LONG: Final = bytes(range(256)) * 1000


def xerial(data: bytes) -> bytes:
    """A reader of xerial streams for the test: section 3."""
    assert data[:16] == bytes.fromhex("82534e41505059000000000100000001")
    data, out = data[16:], []
    while data:
        length = int.from_bytes(data[:4], "big")
        out.append(snappy.decompress(data[4 : 4 + length]))
        assert len(out[-1]) <= 32768
        data = data[4 + length :]
    return b"".join(out)


@pytest.mark.parametrize("plain", [b"", b"a", TWO, LONG, snappy.compress(LONG)])
@pytest.mark.parametrize(
    ("codec", "theirs"),
    [
        (GZIP, gzip.decompress),
        (SNAPPY, xerial),
        (LZ4, lz4.frame.decompress),
        (ZSTD, lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
    ],
)
def test_others_read_what_is_written_and_so_do_we(
    codec: int, theirs: Callable[[bytes], bytes], plain: bytes
) -> None:
    written = compress(codec, plain)
    assert theirs(written) == plain
    reader = Reader(written)
    assert decompress(reader, "records", codec).data == plain
    assert reader.remarks == []


# --- frames around compressed blocks, where no golden case has them ---


def block(data: bytes, *, last: bool = True, kind: int = 0) -> bytes:
    return (len(data) << 3 | kind << 1 | last).to_bytes(3, "little") + data


def zstd(*blocks: bytes, head: str = "2012") -> bytes:
    return bytes.fromhex("28b52ffd" + head) + b"".join(blocks)


@each(
    "codec, data, wanted, said",
    [
        (GZIP, gzip.compress(TWO) + b"\x1f\x8b\x08\x08" + b"n" * 30, TWO, ["gzip-trailing-garbage"]),
        (ZSTD, zstd(block(b"", kind=2), head="0058"), b"", ["zstd-empty-packed-block"]),
        (SNAPPY, b"", b"", ("snappy", 0)),
        (ZSTD, zstd(block(TWO, kind=3)), b"", ("zstd[0].blocks[0].header", 6)),
        (ZSTD, zstd(block(TWO[:9], last=False), block(b"")), b"", ("zstd[0].contentSize", 5)),
    ],
)
def test_a_frame_is_taken_with_its_remark_or_refused_at_its_field(
    codec: int, data: bytes, wanted: bytes, said: Any
) -> None:
    reader = Reader(data)
    inner, torn = decompress_prefix(reader, "records", codec)
    found = (torn.path.removeprefix("records."), torn.at) if torn else [one.cls for one in reader.remarks]
    assert (bytes(inner.data), found) == (wanted, said)


# --- values in JSON ---


@camel_case
@frozen
class Part:
    """A part."""

    wide_number: int
    maybe: bytes | None = None


@frozen
class Whole:
    """A value of every kind."""

    kind: Literal["one", "two"]
    flag: bool
    parts: tuple[Part, ...]
    pair: tuple[bytes, bytes | None]
    computed: int = field(default=0)


VALUE = Whole("one", flag=True, parts=(Part(-(1 << 63), b""), Part(0)), pair=(b"\x00\xff", None), computed=7)
TREE: dict[str, Any] = {
    "kind": "one",
    "flag": True,
    "parts": [{"wideNumber": "-9223372036854775808", "maybe": ""}, {"wideNumber": "0", "maybe": None}],
    "pair": ["00ff", None],
    "computed": "7",
}


def expected(expect: Expect) -> Iterator[Json]:
    match expect:
        case Accept(value) if value is not None:
            yield value
        case Either(behaviours):
            for one in behaviours:
                yield from expected(one.expect)


def values(case: Case) -> Iterator[Json]:
    """The values of a case that must be whole: what a decode gives, and what a good encode starts from."""
    if case.op not in {"scan", "sequence"}:
        yield from expected(case.expect)
    if isinstance(case.input, Value) and isinstance(case.expect, Accept):
        yield case.input.value


@cache
def validator(format_id: str) -> Draft202012Validator:
    found = json_schema(FORMATS[format_id].value, format_id)
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


@each("format_id", FORMATS)
def test_every_value_of_every_fixture_follows_the_schema_of_its_format(format_id: str) -> None:
    check = validator(format_id)
    for case in load().cases:
        for value in values(case) if case.format_id == format_id else ():
            assert [error.message for error in check.iter_errors(value)] == [], case.id
            assert from_json(FORMATS[format_id].value, value) is not None


def test_integers_are_decimal_bytes_are_hex_and_null_is_not_empty() -> None:
    assert to_json(VALUE) == TREE
    assert from_json(Whole, TREE) == VALUE


def test_what_is_computed_may_be_left_out() -> None:
    short = {key: TREE[key] for key in TREE if key != "computed"}
    assert from_json(Whole, short).computed == 0
    assert Draft202012Validator(json_schema(Whole, "w")).is_valid(short)


BAD = (
    ({"flag": 1}, "flag"),
    ({"flag": "true"}, "flag"),
    ({"kind": "three"}, "kind"),
    ({"computed": 7}, "computed"),
    ({"computed": "07"}, "computed"),
    ({"computed": "+7"}, "computed"),
    ({"computed": "-"}, "computed"),
    ({"computed": " 7"}, "computed"),
    ({"computed": "٧"}, "computed"),
    ({"computed": "1" * 65}, "computed"),
    ({"computed": None}, "computed"),
    ({"pair": ["00FF", None]}, "pair"),
    ({"pair": ["0", None]}, "pair"),
    ({"pair": ["00 ff", None]}, "pair"),
    ({"pair": ["00"]}, "pair"),
    ({"pair": ["00", None, None]}, "pair"),
    ({"parts": [{"wide_number": "1"}]}, "parts[0]"),
    ({"parts": [{"wideNumber": "1", "more": "1"}]}, "parts[0]"),
    ({"parts": [{}]}, "parts[0]"),
    ({"other": "1"}, ""),
)


@each("change, path", BAD)
def test_what_is_no_value_is_refused_at_its_path_and_by_the_schema(change: dict[str, Any], path: str) -> None:
    tree = {**TREE, **change}
    with pytest.raises(Rejected) as refused:
        from_json(Whole, tree)
    assert refused.value.cls == "invalid-value"
    assert refused.value.path.startswith(path)
    assert not Draft202012Validator(json_schema(Whole, "w")).is_valid(tree)


def test_a_newline_at_the_end_is_no_digit() -> None:
    with pytest.raises(Rejected):  # the schema's dollar sign says so too, but to Python's regular expressions
        from_json(Whole, {**TREE, "computed": "7\n"})


@each("tree", [None, [], "x", 7, True, {"kind": []}, {"parts": {"0": None}}])
def test_any_json_at_all_is_a_value_or_refused(tree: Json) -> None:
    for row in (Whole, *(row.value for row in FORMATS.values())):
        with pytest.raises(Rejected):
            from_json(row, tree)


def test_nesting_without_end_is_refused() -> None:
    tree: Any = []
    for _ in range(100_000):
        tree = [tree]
    with pytest.raises(Rejected):
        from_json(Whole, {**TREE, "parts": tree})


@camel_case
@derived(next_one=int, who=Literal["a", "b"])
@frozen
class Counted:
    """A value with derived fields."""

    count: int

    def add_derived(self, tree: dict[str, Any]) -> None:
        """Add both."""
        tree |= {"nextOne": str(self.count + 1), "who": "a"}


def test_derived_fields_are_in_an_answer_only_and_may_be_in_the_input() -> None:
    value, whole = Counted(1), {"count": "1", "nextOne": "2", "who": "a"}
    assert to_json(value) == {"count": "1"}
    assert to_json((value,), with_derived=True) == [whole]
    assert from_json(Counted, whole) == from_json(Counted, {"count": "1"}) == value
    check = Draft202012Validator(json_schema(Counted, "c"))
    assert check.is_valid(whole)
    assert check.is_valid({"count": "1"})


@each("change", [{"nextOne": 2}, {"nextOne": "x"}, {"who": "c"}, {"next_one": "2"}])
def test_a_derived_field_of_another_type_is_refused(change: dict[str, Any]) -> None:
    tree = {"count": "1", **change}
    with pytest.raises(Rejected):
        from_json(Counted, tree)
    assert not Draft202012Validator(json_schema(Counted, "c")).is_valid(tree)


# --- the protobuf wire layer ---


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


# --- classes of remarks ---


ONE = RemarkClass("document, section 1", "a byte is unusual", rejectable=True)


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.wire.remark_classes.REMARK_CLASSES", dict(REMARK_CLASSES))


def test_two_packages_cannot_use_one_name_for_different_classes() -> None:
    for _ in range(2):
        register({"spam": ONE})
    with pytest.raises(ValueError, match="there is another class of remarks spam already"):
        register({"spam": RemarkClass("document, section 1", "a byte is unusual", rejectable=False)})


def test_the_classes_are_the_common_ones_and_those_of_the_families() -> None:
    assert formats.remark_classes() == REMARK_CLASSES
    assert list(formats.remark_classes())[: len(COMMON_REMARKS)] == list(COMMON_REMARKS)
    assert sum(len(family.remarks) for family in formats.FAMILIES.values()) == len(REMARK_CLASSES) - len(
        COMMON_REMARKS
    )


# --- texts of strangers ---


STEERS = [
    ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
    ("\x9b2J\x85", r"\x9b2J"),
    ("a\u202egnp.exe", r"a\x202egnp.exe"),
    ("one\ntwo\r\nthree\tfour", "one two three four"),
    ("a\u2028b", "a b"),
    ("\u200bzero width", r"\x200bzero width"),
    ("::error file=x::y", r"\x3a:error file=x::y"),
    ("ok ::set-output name=a::b", r"ok \x3a:set-output name=a::b"),
    ("##[command]", r"\x23#[command]"),
    ("##vso[task]", r"\x23#vso[task]"),
]


@each("text, shown", STEERS)
def test_what_steers_a_terminal_or_a_build_is_spelled_out(text: str, shown: str) -> None:
    assert one_line(text, 100) == shown


@each("text", ["", "plain", "std::vector<int>", "été 日本", "iggy::errors::x ## title"])
def test_honest_texts_stay_as_they_are(text: str) -> None:
    assert one_line(text, 100) == escape_unsafe(text) == text


@each("text", ["x" * 1000, "\x1b" * 1000, "a b " * 1000, " " * 1000 + "x"])
def test_a_long_text_is_cut_and_says_so(text: str) -> None:
    shown = one_line(text, 50)
    assert len(shown) <= 50
    assert shown.endswith("…")


def test_a_report_of_a_stranger_s_stream_commands_nothing() -> None:
    assert escape_unsafe("a\x1b[2J\n  ::error::pwned\u202e") == "a\\x1b[2J\n  \\x3a:error::pwned\\x202e"
