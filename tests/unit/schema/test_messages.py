"""Protobuf messages and streams of records that are described with their rules."""

from collections.abc import Sequence
from typing import Any

import pytest
from each import each
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from wireproof.family import Family, format_of_stream
from wireproof.schema.layout import (
    Checksum,
    ChecksumAlgorithm,
    Count,
    Length,
    Number,
    Octets,
    OtherFields,
    ProtoField,
)
from wireproof.schema.protobuf import rule_of_fields
from wireproof.schema.rules import KEY, Fault, remarked
from wireproof.schema.stream import FREE_READ, MAX_SEARCHED, RecordStream
from wireproof.schema.struct import DescriptionError, Struct, inner, many
from wireproof.wire.checksums import crc32
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import SEARCH_FACTOR
from wireproof.wire.writer import Writer


def described(name: str, *parts: Any) -> Struct:
    return Struct(name, *parts, revisions=("1",), cites="here")


def toy() -> Any:
    """Return a message with every type of field that a description may have."""
    inner = described("Inner", ProtoField("name", 1, "string", required=True), OtherFields())
    made = described(
        "Toy",
        ProtoField("id", 1, "bytes", required=True),
        ProtoField("kind", 2, "enum", codes={0: "none", 3: "some"}),
        ProtoField("old", 3, "uint32", deprecated=True),
        ProtoField("small", 4, "int32"),
        ProtoField("zigzag", 5, "sint64"),
        ProtoField("words", 6, "string", repeated=True),
        ProtoField("inner", 7, inner.at("1"), repeated=True),
        ProtoField("numbers_", 8, "sint32", repeated=True),
        ProtoField("doubles", 9, "double", repeated=True),
        ProtoField("flags", 10, "bool", repeated=True),
        OtherFields(),
    )

    @made.rule("id", "toy.id")
    def short(number: int) -> Fault | None:
        return Fault("bad-length", f"{number} bytes") if number < 2 else None

    @made.rule("#", "toy.other")
    def other() -> Fault | None:
        return remarked("header-unknown-field", at=KEY)

    @made.rule("", "toy.required")
    def absent(id: bytes | None) -> Fault | None:  # noqa: A002 - the name of the field
        return Fault("missing-field", "required", path="id") if id is None else None

    @made.rule("", "toy.order")
    def late(order: Sequence[str]) -> Fault | None:
        return None if order[0] == "id" else remarked("header-order", path="id", at=KEY)

    @made.rule("", "toy.kind")
    def unknown(kind: str | int | None, options: Options) -> Fault | None:
        known = not isinstance(kind, int) or options.content == "opaque"
        return None if known else remarked("header-unknown-function", path="kind")

    def twice(again: bool) -> Fault | None:
        return remarked("duplicate-scalar", at=KEY) if again else None

    rule_of_fields(made, "toy.twice", twice, lambda part: not part.repeated)
    return made.at("1")


TOY = toy()


def read(text: str, options: Options = DEFAULT_OPTIONS) -> tuple[Any, list[tuple[str, Any, str]]]:
    reader = Reader(bytes.fromhex(text))
    value = TOY.codec.read(reader, options)
    return value, [(one.cls, one.at, one.path) for one in reader.remarks]


def written(value: Any) -> str:
    writer = Writer()
    TOY.codec.write(writer, value, DEFAULT_OPTIONS)
    return writer.data.hex()


WHOLE = "0a020102 1003 2007 2805 320161 320162 3a030a0178 3a020a00 420301027f 4a08000000000000f03f 52020100"


def test_a_value_comes_back_in_the_order_of_the_numbers() -> None:
    value, remarks = read(WHOLE)
    assert (value.id, value.kind, value.small, value.zigzag) == (b"\1\2", "some", 7, -3)
    assert (value.words, [one.name for one in value.inner]) == ((b"a", b"b"), [b"x", b""])
    assert (value.numbers_, value.flags) == ((-1, 1, -64), (True, False))
    assert value.doubles == (bytes.fromhex("3ff0000000000000"),)
    assert (written(value), remarks) == (WHOLE.replace(" ", ""), [])
    assert not hasattr(value, "old")
    shuffled, remarks = read("2007 1003 0a020102")
    assert (shuffled.small, shuffled.kind, remarks) == (7, "some", [("header-order", 4, "id")])
    assert written(shuffled) == "0a02010210032007"


def test_numbers_are_read_packed_or_not() -> None:
    value, _ = read("0a020102 4001 42020203 4004 49000000000000f03f 5001")
    assert (value.numbers_, value.doubles) == ((-1, 1, -2, 2), (bytes.fromhex("3ff0000000000000"),))
    assert value.flags == (True,)


@each(
    "text, remarks",
    [
        ("0a020102 0a020304", [("duplicate-scalar", 4, "id")]),
        ("0a020102 1801 1802", [("duplicate-scalar", 6, "old")]),
        ("0a020102 5801", [("header-unknown-field", 4, "#11")]),
        ("0a020102 1001", [("header-unknown-function", 5, "kind")]),
        ("0a020102 1001 1005", [("duplicate-scalar", 6, "kind"), ("header-unknown-function", 7, "kind")]),
    ],
)
def test_a_remark_is_at_the_payload_or_at_the_key(text: str, remarks: list[tuple[str, Any, str]]) -> None:
    value, found = read(text)
    assert found == remarks
    assert value.kind is None


def test_a_rule_knows_the_options() -> None:
    assert read("0a020102 1001", Options(content="opaque"))[1] == []


@each(
    "text, refusal",
    [
        ("0a0101", ("bad-length", 2, "id")),
        ("", ("missing-field", 0, "id")),
        ("2007", ("missing-field", 2, "id")),
        ("0a020102 1201", ("truncated", 6, "kind")),
        ("0a020102 120100", ("type-mismatch", 4, "kind")),
        ("0a020102 3005", ("type-mismatch", 4, "words")),
        ("0a020102 4201 80", ("length-past-end", 6, "numbers_")),
        ("0a020102 4a07 00000000000000", ("bad-length", 6, "doubles")),
        ("0a020102 3a02 0a05", ("length-past-end", 8, "inner[0].name")),
    ],
)
def test_a_refusal_names_its_field_and_position(text: str, refusal: tuple[str, Any, str]) -> None:
    with pytest.raises(Rejected) as caught:
        read(text)
    assert (caught.value.cls, caught.value.at, caught.value.path) == refusal


@each(
    "changes, path",
    [
        ({"id": b"1"}, "id"),
        ({"small": 1 << 31}, "small"),
        ({"zigzag": 1 << 63}, "zigzag"),
        ({"numbers_": (0, -(1 << 31) - 1)}, "numbers_[1]"),
        ({"doubles": (bytes(8), bytes(7))}, "doubles[1]"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_path(changes: dict[str, Any], path: str) -> None:
    value, _ = read(WHOLE)
    fields = {name: getattr(value, name) for name in TOY.attributes}
    with pytest.raises(Rejected) as caught:
        written(TOY.type(**{**fields, **changes}))
    assert (caught.value.cls, caught.value.path) == ("invalid-value", path)


def test_a_trace_names_every_byte() -> None:
    data = bytes.fromhex(WHOLE)
    reader = TracingReader(data)
    TOY.codec.read(reader, DEFAULT_OPTIONS)
    at = 0
    for start, end in sorted((span.start, span.end) for span in reader.spans):
        assert start <= at
        at = max(at, end)
    assert at == len(data)
    assert {"words[1]", "inner[0].name", "doubles.key"} <= {span.path for span in reader.spans}


def test_a_message_of_googles_library_is_read_and_written_as_there() -> None:
    made = described(
        "FieldDescriptorProto",
        ProtoField("name", 1, "string"),
        ProtoField("tag", 3, "int32"),
        ProtoField("label", 4, "enum", codes={1: "optional", 3: "repeated"}),
        ProtoField("type_name", 6, "string"),
    )
    theirs = FieldDescriptorProto(name="n", number=-2, label=3, type_name="t").SerializeToString()
    codec, writer = made.at("1").codec, Writer()
    value = codec.read(Reader(theirs), DEFAULT_OPTIONS)
    assert (value.name, value.tag, value.label, value.type_name) == (b"n", -2, "repeated", b"t")
    codec.write(writer, value, DEFAULT_OPTIONS)
    assert bytes(writer.data) == theirs


@each(
    "field, text",
    [
        (ProtoField("id", 2, "bytes"), "Toy.id: two fields of this name"),
        (ProtoField("other", 1, "bytes"), "Toy.other: two fields of number 1"),
        (ProtoField("order", 2, "bytes"), "Toy.order: rules know something else by this name"),
        (ProtoField("other", 2, "float"), "Toy.other: no type is called float"),
        (ProtoField("other", 2, "double"), "Toy.other: there is no codec for one double"),
        (Number("other", "uint8"), "Toy.other: a message has only fields of protobuf"),
    ],
)
def test_a_mistake_in_a_description_is_an_error_when_it_is_defined(field: Any, text: str) -> None:
    with pytest.raises(DescriptionError, match=text):
        described("Toy", ProtoField("id", 1, "bytes"), field)


def test_a_rule_of_no_field_is_an_error() -> None:
    with pytest.raises(DescriptionError, match="guards no field"):
        described("Toy", ProtoField("id", 1, "bytes")).rule("name", "toy.name")(lambda: None)


def test_the_source_is_what_runs() -> None:
    source = TOY.codec.source
    compile(source, "shown", "exec")
    assert "# toy.order\n" in source


# --- streams ---


ID = Number("id", "uint32")
CRC32 = ChecksumAlgorithm("crc32", crc32)


def stream(*, sealed: bool = True) -> RecordStream:
    place = described("Place", Number("shelf", "uint8"))
    row = described(
        "Row",
        Checksum("crc", "uint32", algorithm=CRC32),
        inner("place", place),
        Number("kind", "uint8", codes={1: "one", 2: "two"}),
        Number("is_new", "uint8", truth="any"),
        Number("count", "uint64"),
        Number("id", "uint128le"),
        Length("size", "uint16", of="body"),
        Octets("body"),
    )
    if sealed:
        row.rule("crc", "toy.crc")(lambda crc, computed: None if crc == computed else Fault("crc-mismatch"))
    return RecordStream(described("File", many("rows", row)).at("1"))


def row(body: bytes, size: int | None = None) -> bytes:
    rest = b"\7\2\1" + (9).to_bytes(8, "big") + (5).to_bytes(16, "little")
    rest += len(body if size is None else bytes(size)).to_bytes(2, "big") + body
    return crc32(rest).to_bytes(4, "big") + rest


ONE, TWO = row(b"one"), row(b"two!")
HEAD = len(row(b""))


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]


def kinds(data: bytes, step: int, rows: RecordStream) -> list[tuple[str, int, int, str | None]]:
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    return [(one.kind, one.at, one.length, one.cls) for one in rows.scan(pieces, DEFAULT_OPTIONS)]


@each("step", [1, 7, 1000])
def test_records_are_divided_by_their_lengths_however_the_bytes_come(step: int) -> None:
    data = ONE + flipped(TWO, HEAD) + ONE + TWO[:-1]
    end = 2 * len(ONE) + len(TWO)
    assert kinds(data, step, stream()) == [
        ("frame", 0, len(ONE), None),
        ("garbage", len(ONE), len(TWO), "crc-mismatch"),
        ("frame", len(ONE) + len(TWO), len(ONE), None),
        ("tail", end, len(TWO) - 1, None),
    ]


def test_a_refused_record_has_those_before_it_and_a_value_comes_back_as_its_bytes() -> None:
    rows, writer = stream(), Writer()
    reader = Reader(ONE + TWO + ONE[:5])
    value = rows.decode(reader, DEFAULT_OPTIONS)
    rows.encode(writer, value, DEFAULT_OPTIONS)
    assert (bytes(writer.data), reader.pos) == (ONE + TWO, len(ONE + TWO))
    with pytest.raises(Rejected) as caught:
        rows.decode(Reader(ONE + flipped(TWO, HEAD)), DEFAULT_OPTIONS)
    assert (caught.value.cls, caught.value.path, caught.value.at) == ("crc-mismatch", "rows[1].crc", len(ONE))
    assert caught.value.before.rows == value.rows[:1]


@each(
    "data, length, damaged",
    [
        (flipped(ONE, HEAD) + TWO, len(ONE), 0),  # the lengths are right: another record follows
        (row(b"one", 200) + TWO + ONE, len(ONE + TWO + ONE), len(ONE)),  # the length is too large
        (row(b"one", 2) + TWO, len(ONE) - 1, 0),  # it is too small: nothing begins inside
        (
            row(ONE) + TWO[:-1],
            len(row(ONE)),
            HEAD,
        ),  # a record inside another one, which nothing sound follows
        (bytes(300), 300, 0),
    ],
)
def test_reading_continues_at_the_next_record_with_a_right_checksum(
    data: bytes, length: int, damaged: int
) -> None:
    assert stream().damaged_length(data, length) == damaged


def test_without_a_checksum_nothing_is_searched() -> None:
    rows = stream(sealed=False)
    assert (rows.is_sealed, stream().is_sealed) == (False, True)
    assert rows.damaged_length(row(b"one", 200) + TWO + ONE, len(ONE + TWO + ONE)) == 0


def test_a_search_in_hostile_bytes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each position claims a record up to the end, so that all of them together would be the square."""
    rows, read = stream(), list[int]()
    data = b"\0\xff" * 40_000
    monkeypatch.setattr(
        RecordStream, "_sound", lambda _, data, at: read.append(rows.extent(data, at)[0]) or False
    )
    assert rows.damaged_length(data, len(data)) == 0
    assert sum(read) <= FREE_READ + (1 + SEARCH_FACTOR) * len(data)
    assert MAX_SEARCHED < 1 << 24


@each(
    "parts, text",
    [
        ((Number("a", "uint8"),), "File: a stream is one list of structures"),
        (
            (many("rows", described("Row", ID, Octets("body"))),),
            "Row.body: a record of a stream needs a length",
        ),
        (
            (many("rows", described("Row", Length("size", "varint", of="body"), Octets("body"))),),
            "Row.size: a record of a stream needs a length of a fixed width before it",
        ),
        (
            (
                many(
                    "rows",
                    described("Row", Count("n", "uint8", of="ids"), many("ids", described("Id", ID))),
                ),
            ),
            "Row.ids: a record of a stream needs a length",
        ),
    ],
)
def test_what_shows_no_size_is_no_record_of_a_stream(parts: Any, text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        RecordStream(described("File", *parts).at("1"))
    assert str(caught.value).startswith(text)


def test_a_negative_length_is_no_step_back() -> None:
    row = described("Row", ID, Length("size", "int32", of="body"), Octets("body"))
    rows = RecordStream(described("File", many("rows", row)).at("1"))
    assert kinds(b"\0\0\0\1" + b"\xff" * 4 + b"\0" * 8, 5, rows) == [
        ("garbage", 0, 8, "negative-length"),
        ("frame", 8, 8, None),
    ]


def test_a_family_with_such_a_stream_and_no_source_has_one_with_a_column_for_each_field() -> None:
    pa = pytest.importorskip("pyarrow")
    from wireproof.spark.logs.columns import RowData  # noqa: PLC0415 - of an extra
    from wireproof.spark.logs.sources import sources_of  # noqa: PLC0415 - likewise

    family = Family("toy", (format_of_stream("toy.file", "1", stream()),))
    assert family.source_names == ("toy_file",)
    (source,) = sources_of(family)
    assert source.short_name == "toy_file"
    columns = [one for one in source.records.columns if one.name not in ("path", "remarks")][4:]
    (item,) = stream().scan([ONE], DEFAULT_OPTIONS)
    line: Any = RowData(None, item, b"")  # type: ignore[arg-type]
    found = {one.name: (str(one.type), one.read(line)) for one in columns}
    assert found == {
        "place": ("string", '{"shelf":"7"}'),
        "record_kind": ("string", "two"),
        "is_new": ("bool", True),
        "count": ("decimal128(20, 0)", 9),
        "id": ("string", '"5"'),
        "body": ("binary", b"one"),
    }
    pa.schema([(one.name, one.type) for one in source.frames.columns])
