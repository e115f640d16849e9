"""Adjacent fields of fixed width, read and written at once: wire/layout_codec.py."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen
from each import each

from wireproof.wire.layout import Count, Layout, Length, Number, Octets, Repeated, Zero
from wireproof.wire.layout_codec import FixedRun, packing, runs, segments
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import TracingWriter, Writer


@frozen
class Row:
    id: int
    kind: str
    number: int


ROW = Layout(
    "Row",
    (
        Number("id", "uint128le"),
        Zero("gap", size=3, nonzero="reject"),
        Number("kind", "uint8", codes={1: "one", 2: "two"}),
        Number("number", "uint16le", most=1000),
        Length("length", "uint32le", of="body"),
        Octets("body"),
    ),
    value=Row,
)
DATA = (7 << 100).to_bytes(16, "little") + bytes(3) + b"\2" + (1000).to_bytes(2, "little") + b"\5\0\0\0"


def check(reader: Reader, part: Any, number: Any, at: int) -> Any:
    match part:
        case Zero():
            valid, value = not any(number), number
        case Number(codes=dict() as codes):
            valid, value = number in codes, codes.get(number)
        case _:
            valid, value = number <= part.most, number
    if not valid:
        raise reader.reject("invalid-value", part.name, at=at)
    return value


RUN = FixedRun(ROW, ROW.parts[:-1], check, alone=False)


class SameReader(Reader):
    """A reader that a caller made, whose primitives may do something else."""

    __slots__ = ("seen",)

    def uint16le(self, name: str) -> int:
        self.seen = name
        return int.from_bytes(self.take(name, 2), "little")


@pytest.mark.parametrize("make", [Reader, TracingReader, SameReader])
def test_all_readers_read_the_same_fields(make: Callable[[bytes], Reader]) -> None:
    reader = make(DATA)
    assert RUN.read_fields(reader) == {"id": 7 << 100, "kind": "two", "number": 1000, "length": 5}
    assert reader.pos == len(DATA)


def test_a_reader_of_another_class_uses_its_own_primitives() -> None:
    reader = SameReader(DATA)
    RUN.read(reader)
    assert reader.seen == "number"


@pytest.mark.parametrize("make", [Reader, TracingReader])
@pytest.mark.parametrize(("at", "path"), [(16, "gap"), (19, "kind"), (21, "number")])
def test_the_first_field_that_is_not_valid_is_refused_even_in_cut_bytes(
    make: Callable[[bytes], Reader], at: int, path: str
) -> None:
    data = DATA[:at] + b"\xff" + DATA[at + 1 :]
    start = RUN.offsets[path]
    for end in (len(data), len(data) - 1):
        with pytest.raises(Rejected) as caught:
            RUN.read(make(data[:end]))
        assert (caught.value.cls, caught.value.path, caught.value.at) == ("invalid-value", path, start)


@each("size", range(len(DATA)))
def test_cut_bytes_are_refused_at_the_field_that_they_cut(size: int) -> None:
    cut = next(name for name, at in reversed(RUN.offsets.items()) if at <= size)
    with pytest.raises(Rejected) as caught:
        RUN.read(Reader(DATA[:size]))
    assert (caught.value.cls, caught.value.path) == ("truncated", cut)


@pytest.mark.parametrize("make", [Writer, TracingWriter])
def test_all_writers_write_the_same_bytes(make: Callable[[], Writer]) -> None:
    writer = make()
    RUN.write_fields(writer, Row(7 << 100, "two", 1000), length=5)
    assert bytes(writer.data) == DATA
    assert writer.pos == len(DATA)


@pytest.mark.parametrize("make", [Writer, TracingWriter])
@pytest.mark.parametrize(
    ("row", "path"),
    [
        (Row(1 << 128, "one", 0), "id"),
        (Row(-1, "one", 0), "id"),
        (Row(0, "one", 1001), "number"),
        (Row(0, "one", -1), "number"),
    ],
)
def test_a_number_that_does_not_fit_is_named(make: Callable[[], Writer], row: Row, path: str) -> None:
    with pytest.raises(Rejected) as caught:
        RUN.write_fields(make(), row)
    assert (caught.value.cls, caught.value.path) == ("invalid-value", path)


def test_a_layout_is_cut_into_runs_and_the_parts_between_them() -> None:
    body = Octets("body")
    layout = Layout("Two", (Number("a", "uint8"), Number("b", "uint8"), body, Number("c", "uint8")))
    first, second, between, last = segments(layout, "a")
    assert isinstance(first, FixedRun)
    assert isinstance(second, FixedRun)
    assert isinstance(last, FixedRun)
    assert [run.parts[0].name for run in (first, second, last)] == ["a", "b", "c"]
    assert between is body
    assert [run.parts for run in runs(layout)] == [layout.parts[:2]]
    assert segments(Layout("None", (Repeated("rows", of=ROW),)))[0] == Repeated("rows", of=ROW)


def test_fields_of_two_byte_orders_or_without_a_size_are_no_run() -> None:
    with pytest.raises(ValueError, match="byte orders"):
        packing((Number("a", "uint32"), Number("b", "uint32le")))
    with pytest.raises(ValueError, match="no packing"):
        packing((Count("a", "varint", of="rows"),))
    with pytest.raises(ValueError, match="no fixed size"):
        packing((Octets("body"),))
