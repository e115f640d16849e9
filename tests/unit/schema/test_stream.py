"""Streams of records: what is a record, what is garbage, and where reading continues after damage."""

from typing import Any

import pytest
from each import each

from wireproof.family import Family, Format, format_of_stream
from wireproof.schema.layout import Checksum, ChecksumAlgorithm, Count, Length, Number, Octets
from wireproof.schema.rules import Fault
from wireproof.schema.stream import FREE_READ, MAX_SEARCHED, RecordStream
from wireproof.schema.struct import DescriptionError, Struct, inner, many
from wireproof.wire.checksums import crc32
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import SEARCH_FACTOR
from wireproof.wire.writer import Writer

ID = Number("id", "uint32")
CRC32 = ChecksumAlgorithm("crc32", crc32)


def toy(name: str, *parts: Any) -> Struct:
    return Struct(name, *parts, revisions=("1",), cites="toy")


def stream(*, sealed: bool = True) -> RecordStream:
    place = toy("Place", Number("shelf", "uint8"))
    row = toy(
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
    return RecordStream(toy("File", many("rows", row)).at("1"))


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
        ((many("rows", toy("Row", ID, Octets("body"))),), "Row.body: a record of a stream needs a length"),
        (
            (many("rows", toy("Row", Length("size", "varint", of="body"), Octets("body"))),),
            "Row.size: a record of a stream needs a length of a fixed width before it",
        ),
        (
            (many("rows", toy("Row", Count("n", "uint8", of="ids"), many("ids", toy("Id", ID)))),),
            "Row.ids: a record of a stream needs a length",
        ),
    ],
)
def test_what_shows_no_size_is_no_record_of_a_stream(parts: Any, text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        RecordStream(toy("File", *parts).at("1"))
    assert str(caught.value).startswith(text)


def test_a_negative_length_is_no_step_back() -> None:
    row = toy("Row", ID, Length("size", "int32", of="body"), Octets("body"))
    rows = RecordStream(toy("File", many("rows", row)).at("1"))
    assert kinds(b"\0\0\0\1" + b"\xff" * 4 + b"\0" * 8, 5, rows) == [
        ("garbage", 0, 8, "negative-length"),
        ("frame", 8, 8, None),
    ]


def formats() -> list[Format]:
    return [format_of_stream("toy.file", "1", stream())]


def test_a_family_with_such_a_stream_and_no_source_has_one_with_a_column_for_each_field() -> None:
    pa = pytest.importorskip("pyarrow")
    from wireproof.spark.logs.columns import RowData  # noqa: PLC0415 - of an extra
    from wireproof.spark.logs.sources import sources_of  # noqa: PLC0415 - likewise

    family = Family("toy", tuple(formats()))
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
