"""Structures whose size is known before: checksums at once, what is packed, null, and rules of one side."""

from typing import Any

import pytest
from attrs import evolve, frozen

from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import DescriptionError, Struct
from wireproof.wire.layout import (
    REST,
    Checksum,
    ChecksumAlgorithm,
    Count,
    Layout,
    Length,
    Number,
    Octets,
    Packed,
    Repeated,
)
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

SUM = ChecksumAlgorithm("sum", lambda data: sum(data) & 0xFF)


@frozen
class Entry:
    base: int
    key: bytes | None
    steps: tuple[int, ...]
    late: bool = False


def read_steps(
    reader: Reader, *, start: int, base: int, steps_count: int, missing: int = 7
) -> tuple[int, ...]:
    assert (reader.data[start + 2], missing) == (base, 7)
    found: list[int] = []
    while len(found) < steps_count:
        try:
            found.append(base + reader.int8("step"))
        except Rejected as rejected:
            raise rejected.with_before(tuple(found)) from None
    return tuple(found)


def write_steps(writer: Writer, steps: tuple[int, ...], base: int) -> None:
    for step in steps:
        writer.int8("step", step - base)


def build(**fields: Any) -> Entry:
    return Entry(late=True, **fields)


ENTRY = Struct(
    "Entry",
    Length("size", "uint8", of=REST),
    Checksum("sum", "uint8", algorithm=SUM),
    Number("base", "int8"),
    Length("keyLength", "int8", of="key", null=-1),
    Octets("key"),
    Count("stepsCount", "int8", of="steps"),
    Packed(
        "steps",
        codec_of="base",
        of=Repeated("steps", of=Layout("Step", (Number("step", "int8"),))),
        read=read_steps,
        write=write_steps,
    ),
    revisions=("1",),
    value=Entry,
    framed=True,
    build=build,
    cites="toy.md",
)


@ENTRY.rule("sum", "toy.sum")
def _sum(sum: int, computed: int) -> Fault | None:  # noqa: A002 - the name of the field
    return Fault("crc-mismatch") if sum != computed else None


@ENTRY.rule("base", "toy.base", unwritten=True)
def _base(base: int) -> Fault | None:
    return Fault("invalid-value", "base", path="key") if base == 9 else None


@ENTRY.rule("base", "toy.written", unread=True)
def _written(base: int) -> Fault | None:
    return Fault("invalid-value", "base") if base == 8 else None


@ENTRY.rule("keyLength", "toy.key")
def _null(number: int) -> Fault | None:
    return remarked("length-below-minus1") if number < -1 else None


CODEC = ENTRY.at("1").codec


def sealed(body: bytes) -> bytes:
    return bytes((len(body) + 1, SUM.of(body))) + body


@pytest.mark.parametrize("make", [Reader, TracingReader])
@pytest.mark.parametrize("key", [None, b"", b"k"])
def test_null_and_what_is_packed_are_read_and_written(make: type[Reader], key: bytes | None) -> None:
    entry = Entry(3, key, (4, 2), late=True)
    writer = Writer()
    CODEC.write(writer, entry)
    length = bytes((255 if key is None else len(key),))
    assert bytes(writer.data) == sealed(b"\3" + length + (key or b"") + b"\2\1\xff")
    assert CODEC.read(make(bytes(writer.data))) == entry


@pytest.mark.parametrize("make", [Reader, TracingReader])
def test_a_checksum_of_the_rest_is_compared_before_the_rest_is_read(make: type[Reader]) -> None:
    reader = make(b"\x63\0\x09\x7f")  # neither the size nor the key would be possible
    with pytest.raises(Rejected) as caught:
        CODEC.read(reader)
    assert (caught.value.cls, caught.value.path, caught.value.at) == ("crc-mismatch", "sum", 1)


def test_the_elements_before_a_fault_are_in_the_value_before_it() -> None:
    with pytest.raises(Rejected) as caught:
        CODEC.read(Reader(sealed(b"\3\xff\5\1\2")))
    assert caught.value.before == Entry(3, None, (4, 5), late=True)
    with pytest.raises(Rejected) as caught:
        CODEC.read(Reader(sealed(b"\3\xff\5")))
    assert caught.value.before is None


def test_a_rule_of_readers_is_none_of_writers_and_the_other_way_round() -> None:
    CODEC.write(Writer(), Entry(9, None, ()))
    with pytest.raises(Rejected) as caught:
        CODEC.read(Reader(sealed(b"\x09\xff\0")))
    assert (caught.value.path, caught.value.at) == ("key", 2), "the path is the fault's, the place the rule's"
    assert CODEC.read(Reader(sealed(b"\x08\xff\0"))).base == 8
    with pytest.raises(Rejected):
        CODEC.write(Writer(), Entry(8, None, ()))


def test_a_remark_is_noted_once_where_one_is_enough() -> None:
    data = sealed(b"\3\xfe\0")
    for noted, wanted in ((None, 2), (set[str](), 1)):
        reader = Reader(data + data)
        reader.noted = noted
        for _ in range(2):
            CODEC.read(reader.window("entry", len(data)))
        assert len(reader.remarks) == wanted


def test_the_class_of_a_structure_has_its_fields() -> None:
    other = Struct("Other", Number("absent", "int8"), revisions=("1",), value=Entry, cites="toy.md")
    with pytest.raises(DescriptionError, match="Other: Entry has no attribute absent"):
        other.at("1")


def test_a_structure_without_a_writer_of_what_is_packed_is_only_read() -> None:
    layout = ENTRY.at("1")
    packed = layout.parts[-1]
    assert isinstance(packed, Packed)
    only_read = evolve(layout, parts=(*layout.parts[:-1], evolve(packed, write=None)))
    with pytest.raises(TypeError, match="only read"):
        only_read.codec.write(Writer(), Entry(3, None, ()))
