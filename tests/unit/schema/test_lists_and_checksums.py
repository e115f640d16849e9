"""Parts of structures that are about other bytes: blocks, checksums, windows, lists of lists, padding."""

from typing import Any
from zlib import crc32

import pytest
from each import each

from wireproof.schema.block import Block
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import DescriptionError, Struct, many, optional
from wireproof.wire.layout import (
    REST,
    WHOLE,
    Checksum,
    ChecksumAlgorithm,
    Count,
    Length,
    Number,
    Octets,
    Zero,
)
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Cover
from wireproof.wire.writer import Writer

CRC = ChecksumAlgorithm("crc32", crc32)


def struct(*parts: Any, **more: Any) -> Struct:
    return Struct("Row", *parts, revisions=("1",), cites="here", **more)


def read(made: Struct, data: bytes, reader: type[Reader] = Reader) -> tuple[Any, Reader]:
    source = reader(data)
    return made.at("1").codec.read(source), source


def written(made: Struct, value: Any) -> bytes:
    writer = Writer()
    made.at("1").codec.write(writer, value)
    return bytes(writer.data)


def covers(reader: Reader) -> dict[str, Cover]:
    assert isinstance(reader, TracingReader)
    return {span.path: span.cover for span in reader.spans if span.cover is not None}


def _words(window: Reader) -> tuple[int, ...]:
    found = []
    while window.left:
        found.append(window.uint8("word"))
    return tuple(found)


def _write_words(writer: Writer, words: tuple[int, ...]) -> None:
    for word in words:
        writer.uint8("word", word)


WORDS = Block("words", type=tuple[int, ...], read=_words, write=_write_words, measure=len)


def message(*, refused: bool) -> Struct:
    """Return a message with a checksum of the rest; its lengths stand apart from their bytes."""
    made = struct(
        Checksum("sum", "uint32", algorithm=CRC, shown=True),
        Length("words_length", "uint8", of="words"),
        Length("body_length", "uint8", of="body"),
        Octets("body"),
        WORDS,
    )

    @made.rule("sum", "toy.sum")
    def wrong(sum: int, computed: int) -> Fault | None:  # noqa: A002 - the name of the field
        if sum == computed:
            return None
        return Fault("crc-mismatch", f"{sum}") if refused else remarked("iggy-message-checksum")

    return made


def test_a_block_is_read_in_a_window_of_its_length_and_a_checksum_is_computed() -> None:
    made = message(refused=True)
    value = made.at("1").type(body=b"hi", words=(1, 2, 3))
    data = written(made, value)
    assert data == crc32(data[4:]).to_bytes(4, "big") + b"\3\2hi\1\2\3"
    again, reader = read(made, data, TracingReader)
    assert (again.body, again.words, again.sum) == (b"hi", (1, 2, 3), crc32(data[4:]))
    assert covers(reader) == {
        "sum": Cover("crc32", 4, 11),
        "body_length": Cover("length", 6, 8),
        "words_length": Cover("length", 8, 11),
    }


def test_a_wrong_checksum_is_refused_at_its_place_or_remarked_and_then_not_covered() -> None:
    data = b"\0\0\0\0\0\1x"
    with pytest.raises(Rejected, match="crc-mismatch at 0, sum"):
        read(message(refused=True), data)
    value, reader = read(message(refused=False), data, TracingReader)
    assert value.body == b"x"
    assert [(one.cls, one.path, one.at) for one in reader.remarks] == [("iggy-message-checksum", "sum", 0)]
    assert "sum" not in covers(reader)


def test_a_checksum_may_be_over_one_part() -> None:
    made = struct(
        Checksum("sum", "uint32", algorithm=CRC, over="body", shown=True),
        Length("length", "uint8", of="body"),
        Octets("body"),
    )

    @made.rule("sum", "toy.sum")
    def wrong(sum: int, computed: int) -> Fault | None:  # noqa: A002 - the name of the field
        return Fault("crc-mismatch") if sum != computed else None

    value = made.at("1").type(body=b"abc")
    data = written(made, value)
    assert data[:4] == crc32(b"abc").to_bytes(4, "big")
    assert read(made, data)[0].body == b"abc"
    with pytest.raises(Rejected, match="crc-mismatch at 0"):
        read(made, data[:-1] + b"d")


def test_the_length_of_the_rest_is_a_window_if_several_parts_have_no_size() -> None:
    entry = struct(
        Length("length", "uint8", of=REST), Length("words_length", "uint8", of="words"), WORDS, Octets("body")
    )
    made = struct(Length("size", "uint16", of="entries"), many("entries", entry))
    kind, inner = made.at("1").type, entry.at("1").type
    value = kind(entries=(inner(words=(7,), body=b"ab"), inner(words=(), body=b"")))
    data = written(made, value)
    assert data == bytes.fromhex("0007 04 01 07 6162 01 00")
    assert read(made, data)[0] == read(made, data, TracingReader)[0] == value
    with pytest.raises(Rejected, match=r"length-past-end at 4, entries\[0\].words"):
        read(made, bytes.fromhex("0003 02 03 07"))


def test_more_elements_than_an_advisory_count_are_trailing_data_if_they_are_cut() -> None:
    one = struct(Number("at", "uint16"))
    made = struct(Count("count", "uint8", of="ones", advisory=True), many("ones", one))
    assert len(read(made, b"\1\0\1\0\2")[0].ones) == 2
    with pytest.raises(Rejected, match=r"trailing-data at 3, ones\[1\].at"):
        read(made, b"\1\0\1\0")
    with pytest.raises(Rejected, match=r"truncated at 3, ones\[1\].at"):
        read(made, b"\2\0\1\0")


# --- lists of lists ---


def _with_place(base: int, element: Any) -> Any:
    return type(element)(delta=element.delta + base)


def groups() -> Struct:
    """Return groups whose elements are one list beside them; a group may have an owner and has padding."""
    element = struct(Number("delta", "uint8"))
    owner = struct(Number("id", "uint8"))
    group = struct(
        Length("size", "uint8", of=WHOLE),
        Number("base", "uint8"),
        Count("amount", "uint8", of="elements", advisory=True),
        Number("flags", "uint8"),
        optional("owner", "flags", owner),
        Zero("padding", until=6),
        many("elements", element, joined=True, derive=_with_place),
    )

    @element.rule("delta", "toy.delta")
    def other(delta: int, index: int) -> Fault | None:
        return remarked("iggy-offset-delta") if delta != index else None

    @group.rule("", "toy.amount")
    def wrong(amount: int, elements: Any) -> Fault | None:
        return Fault("count-mismatch", f"{amount}", path="amount") if amount != len(elements) else None

    made = struct(many("groups", group))
    made.rule("groups", "toy.sum", unread=True)(
        lambda groups, elements: (
            None if sum(one.amount for one in groups) == len(elements) else Fault("invalid-value", "not all")
        )
    )
    return made


GROUPS = bytes.fromhex("08 0a 02 00 0000 00 01  07 14 01 01 09 00 02  06 00 00 00 0000")


def test_elements_of_all_groups_are_one_list_completed_by_their_groups() -> None:
    value, reader = read(groups(), GROUPS, TracingReader)
    assert [one.delta for one in value.elements] == [10, 11, 22]
    assert [(one.base, one.amount, one.owner and one.owner.id) for one in value.groups] == [
        (10, 2, None),
        (20, 1, 9),
        (0, 0, None),
    ]
    assert read(groups(), GROUPS)[0].elements[2].delta == 22
    assert isinstance(reader, TracingReader)
    paths = [span.path for span in reader.spans if span.path.startswith("elements")]
    assert paths == ["elements[0].delta", "elements[1].delta", "elements[2].delta"]


def test_joined_elements_are_written_back_to_their_groups_and_their_counts_must_add_up() -> None:
    made = groups()
    kind = made.at("1")
    value, _ = read(made, GROUPS)
    plain = tuple(type(one)(delta=delta) for one, delta in zip(value.elements, (0, 1, 2), strict=True))
    data = written(made, kind.type(groups=value.groups, elements=plain))
    assert data == GROUPS
    with pytest.raises(Rejected, match="invalid-value at -1, groups: not all"):
        written(made, kind.type(groups=value.groups[:1], elements=plain))


@each(
    "data, text",
    [
        ("07 0a 02 00 0000 00", r"count-mismatch at 2, groups\[0\].amount"),
        ("09 0a 02 00 0000 00 01", r"truncated at 6, elements"),
        ("06 0a 00 00 00", r"truncated at 4, groups\[0\].padding"),
    ],
)
def test_a_group_is_refused_by_its_own_path_and_its_elements_by_that_of_the_list(
    data: str, text: str
) -> None:
    with pytest.raises(Rejected, match=text):
        read(groups(), bytes.fromhex(data))


def test_the_list_of_lists_must_be_there() -> None:
    one = struct(Number("at", "uint8"))
    with pytest.raises(DescriptionError, match=r"Row.count: no field elements behind it"):
        struct(Count("count", "uint8", of="elements"), many("ones", one))


def test_a_field_with_the_name_of_a_parameter_is_an_error_if_a_rule_needs_it() -> None:
    made = struct(Number("index", "uint8"), Number("at", "uint8"))
    with pytest.raises(DescriptionError, match=r"Row: rule toy.at needs index, which is a field too"):
        made.rule("at", "toy.at")(lambda at, index: None)  # noqa: ARG005 - a rule has the names of its fields
    with pytest.raises(DescriptionError, match=r"Row: rule toy.at needs the number of no field"):
        made.rule("", "toy.at")(lambda number: None)  # noqa: ARG005 - as above


def test_a_joined_list_without_its_count_is_an_error_when_its_layout_is_made() -> None:
    made = struct(many("ones", struct(Number("at", "uint8")), joined=True))
    with pytest.raises(DescriptionError, match=r"Row\.ones: a joined list needs its count"):
        made.at("1")


def test_a_rule_of_a_length_of_numbers_alone_names_the_length_to_writers() -> None:
    made = struct(Length("size", "uint8", of=REST), Number("at", "uint8"))
    made.rule("size", "toy.size")(lambda size: Fault("bad-length", "one") if size == 1 else None)
    with pytest.raises(Rejected, match="invalid-value at -1, size: one"):
        written(made, made.at("1").type(at=1))
