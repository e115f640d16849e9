"""Structures, their rules and their compiled codecs: schema/."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, fields, frozen
from each import each

from tests.support.value_stubs import FAMILIES_OF_STRUCTURES, stub_of, stub_path
from wireproof.family import formats_of_struct
from wireproof.formats import FAMILIES, FORMATS, own_format
from wireproof.installed_families import FamilyTable, Provider
from wireproof.schema.layout import (
    REST,
    WHOLE,
    Checksum,
    ChecksumAlgorithm,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    Packed,
    Repeated,
    When,
    Zero,
    tagged_fields,
)
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import (
    ByRevision,
    DescriptionError,
    Struct,
    choice,
    inner,
    many,
    optional,
    since,
    until,
)
from wireproof.wire.checksums import crc32
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

REVISIONS = ("1", "2", "3")


def struct(*parts: Any, name: str = "Row", **more: Any) -> Struct:
    return Struct(name, *parts, revisions=REVISIONS, cites="here", **more)


def no_fault(*needs: str) -> Any:
    """Return a rule that looks at some fields and finds nothing wrong."""
    names: dict[str, Any] = {}
    exec(f"def rule({', '.join(needs)}): return None", names)
    return names["rule"]


def toy() -> Struct:
    """Return a structure with every kind of field; the second revision has an owner, the third no gap."""
    owner = struct(Number("kind", "uint8", codes={1: "person", 2: "group"}, error="NoOwner"))
    tag = struct(Number("at", "uint16le"), Number("weight", "int8"))
    made = struct(
        Number("id", "uint128le"),
        until("3", Zero("gap", size=2)),
        since("2", inner("owner", owner)),
        Number("flag", "uint8", codes={0: "no", 1: "yes"}, truth="one", presence_of="limit"),
        Number("limit", "uint32"),
        Number("loud", "uint8", truth="any"),
        Length("length", "uint8", of="text"),
        Octets("text"),
        Count("count", "uint8", of="tags"),
        many("tags", tag),
        whole="toy.end",
    )

    @made.rule("limit", "toy.limit")
    def unused(flag: bool, number: int) -> Fault | None:
        return remarked("iggy-unset-field") if number and not flag else None

    @made.rule("length", "toy.length")
    def long(length: int) -> Fault | None:
        return Fault("bad-length", f"{length} bytes") if length > 5 else None

    @made.rule("", "toy.weights")
    def heavy(tags: tuple[Any, ...]) -> Fault | None:
        for index, one in enumerate(tags):
            if one.weight < 0:
                return Fault("invalid-value", f"{one.weight}", path=f"tags[{index}].weight")
        return None

    return made


BYTES = {
    "1": "07000000000000000000000000000000 0000 01 00000009 01 02 6869 01 0500 03",
    "2": "07000000000000000000000000000000 0000 01 01 00000009 01 02 6869 01 0500 03",
    "3": "07000000000000000000000000000000 02 00 00000000 00 00 00",
}


def decoded(revision: str, data: bytes, reader: type[Reader] = Reader) -> tuple[Any, Reader]:
    made = reader(data)
    return toy().at(revision).codec.read(made), made


@each("revision", REVISIONS)
def test_a_value_comes_back_as_its_bytes_in_each_revision(revision: str) -> None:
    data = bytes.fromhex(BYTES[revision])
    layout, writer = toy().at(revision), Writer()
    value = layout.codec.read(Reader(data))
    layout.codec.write(writer, value)
    assert bytes(writer.data) == data
    assert [one.name for one in fields(layout.type)] == [
        "id", *(["owner"] if revision != "1" else []), "limit", "loud", "text", "tags",
    ]  # fmt: skip


def test_the_fields_of_a_value_are_those_of_the_wire() -> None:
    value, reader = decoded("2", bytes.fromhex(BYTES["2"]))
    assert (value.id, value.owner.kind, value.limit, value.loud, value.text) == (7, "person", 9, True, b"hi")
    assert [(tag.at, tag.weight) for tag in value.tags] == [(5, 3)]
    assert reader.left == 0
    assert decoded("3", bytes.fromhex(BYTES["3"]))[0].limit is None


def test_revisions_with_the_same_fields_have_one_class() -> None:
    plain = struct(Number("id", "uint8"), since("3", Number("more", "uint8")))
    assert plain.at("1").type is plain.at("2").type is not plain.at("3").type


@each("cut", range(32))
def test_a_trace_changes_nothing_and_a_cut_is_named_by_its_field(cut: int) -> None:
    data = bytes.fromhex(BYTES["2"])[:cut]
    outcomes = []
    for reader in (Reader, TracingReader):
        with pytest.raises(Rejected) as caught:
            decoded("2", data, reader)
        outcomes.append((caught.value.cls, caught.value.at, caught.value.path))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == "truncated"


def edited(revision: str, at: int, byte: int) -> bytes:
    data = bytearray.fromhex(BYTES[revision])
    data[at] = byte
    return bytes(data)


@each(
    "data, wanted",
    [
        (edited("2", 18, 9), ("bad-kind", 18, "owner.kind", "NoOwner")),
        (edited("2", 25, 6), ("bad-length", 25, "length", "")),
        (edited("2", 31, 0x80), ("invalid-value", 31, "tags[0].weight", "")),
        (bytes.fromhex(BYTES["2"]) + b"x", ("trailing-data", 32, "tags", "")),
        # The rule of the length comes before the end of the bytes, and the end before the whole structure.
        (edited("2", 25, 6)[:26], ("bad-length", 25, "length", "")),
        (edited("2", 31, 0x80) + b"x", ("trailing-data", 32, "tags", "")),
    ],
)
def test_a_rule_refuses_at_its_field_in_the_order_of_the_description(data: bytes, wanted: Any) -> None:
    for reader in (Reader, TracingReader):
        with pytest.raises(Rejected) as caught:
            decoded("2", data, reader)
        assert (caught.value.cls, caught.value.at, caught.value.path, caught.value.detail) == wanted


def test_every_number_but_0_is_true_of_such_a_flag() -> None:
    assert decoded("2", edited("2", 24, 2))[0].loud is True


def test_a_remark_is_no_refusal_of_readers_and_writers() -> None:
    value, reader = decoded("2", edited("2", 19, 0))
    assert [(one.cls, one.at, one.path) for one in reader.remarks] == [("iggy-unset-field", 20, "limit")]
    assert value.limit is None
    toy().at("2").codec.write(Writer(), value)


def test_what_readers_remark_and_nobody_may_write_is_refused_in_a_value() -> None:
    made = struct(Number("age", "uint8"))
    made.rule("age", "toy.odd")(
        lambda age: remarked("iggy-flag", text="odd", written=False) if age % 2 else None
    )
    codec = made.at("1").codec
    reader = Reader(b"\1")
    value = codec.read(reader)
    assert [one.cls for one in reader.remarks] == ["iggy-flag"]
    with pytest.raises(Rejected, match="odd"):
        codec.write(Writer(), value)


@each(
    "change, path",
    [
        (lambda value, cls: cls(**{**value, "text": b"longer"}), "text"),
        (lambda value, cls: cls(**{**value, "limit": 1 << 32}), "limit"),
        (lambda value, cls: cls(**{**value, "id": 1 << 128}), "id"),
        (lambda value, cls: cls(**{**value, "id": -1}), "id"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_field(change: Callable[..., Any], path: str) -> None:
    layout = toy().at("3")
    row = {"id": 1, "owner": toy().at("3").part("owner").of.type("group"), "limit": 1, "loud": False}
    with pytest.raises(Rejected) as caught:
        layout.codec.write(Writer(), change({**row, "text": b"", "tags": ()}, layout.type))
    assert (caught.value.cls, caught.value.path) == ("invalid-value", path)


def test_a_rule_for_a_format_alone_does_not_hold_inside_of_another() -> None:
    part = struct(Number("age", "uint8"))
    part.rule("", "toy.alone", alone=True)(lambda room: Fault("bad-length") if room < 2 else None)
    whole = struct(inner("part", part))
    assert whole.at("1").codec.read(Reader(b"\1")).part.age == 1
    with pytest.raises(Rejected):
        part.at("1").codec.read(Reader(b"\1"))


def test_the_rules_look_at_fields_that_come_from_elsewhere() -> None:
    layout = toy().at("1")
    assert [fault.cls for fault in layout.faults(length=6)] == ["bad-length"]
    assert list(layout.faults(length=5)) == []


def test_an_extension_has_the_fields_and_the_rules_of_what_it_extends() -> None:
    base = struct(Number("age", "uint8"))
    longer = struct(Number("more", "uint8"), extends=base)
    base.rule("age", "toy.id")(lambda age: None if age else Fault("invalid-value"))
    assert longer.at("1").codec.read(Reader(b"\1\2")).more == 2
    with pytest.raises(Rejected):
        longer.at("1").codec.read(Reader(b"\0\2"))


@each(
    "parts, text",
    [
        ((Number("age", "uint8"), Number("age", "uint8")), "Row.age: two fields of this name in 1"),
        ((Octets("body"), Length("length", "uint8", of="body")), "Row.length: no field body behind it in 1"),
        ((Length("length", "uint8", of="body"),), "Row.length: no field body behind it in 1"),
        ((since("2", Octets("body")), Count("n", "uint8", of="body")), "Row.n: no field body behind it"),
        ((since("4", Number("age", "uint8")),), "Row.age: no revision 4"),
        ((since("2", until("2", Number("age", "uint8"))),), "Row.age: it ends before it begins"),
        ((until("1", since("2", Number("age", "uint8"))),), "Row.age: it ends before it begins"),
        ((Number("age", "uint9"),), "Row.age: no integer is called uint9"),
        ((Number("age", "uint8", presence_of="other"),), "Row.age: no field other behind it in 1"),
        (
            (Count("count", "uint8", of="elements"), many("ones", struct(Number("at", "uint8")))),
            "Row.count: no field elements behind it",
        ),
    ],
)
def test_a_contradiction_is_an_error_when_the_structure_is_defined(parts: Any, text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        struct(*parts)
    assert str(caught.value).startswith(text)


@each(
    "guards, check, text",
    [
        ("no", no_fault("age"), "Row.no: rule toy.x guards no field"),
        ("age", no_fault("other"), "Row: rule toy.x needs other, which is no field"),
        ("age", no_fault("late"), "Row.age: rule toy.x needs late, which comes behind it"),
    ],
)
def test_a_rule_of_no_field_is_an_error_when_it_is_defined(guards: str, check: Any, text: str) -> None:
    made = struct(Number("age", "uint8"), Number("late", "uint8"))
    with pytest.raises(DescriptionError) as caught:
        made.rule(guards, "toy.x")(check)
    assert str(caught.value) == text


def test_a_rule_behind_the_first_use_and_an_unknown_revision_are_errors() -> None:
    made = struct(Number("age", "uint8"))
    with pytest.raises(DescriptionError, match="Row: no revision 9"):
        made.at("9")
    made.at("1")
    with pytest.raises(DescriptionError, match="comes behind the first use"):
        made.rule("age", "toy.x")(no_fault("age"))


@each("of, size", [(REST, 5), (WHOLE, 7)])
def test_a_length_of_the_rest_or_of_the_whole_ends_the_bytes_without_a_length(of: str, size: int) -> None:
    made = struct(Length("size", "uint16", of=of), Number("id", "uint8"), Octets("body"))
    codec, data = made.at("1").codec, bytes((0, size)) + b"\7body"
    reader, writer = TracingReader(data + b"next"), Writer()
    value = codec.read(reader)
    codec.write(writer, value)
    assert (value.id, value.body, bytes(writer.data), reader.left) == (7, b"body", data, 4)
    cover = reader.spans[0].cover
    assert (cover.end - cover.start, cover.end) == (size, 7)
    with pytest.raises(Rejected) as caught:
        codec.read(Reader(bytes((0, size)) + b"\7bod"))
    assert (caught.value.cls, caught.value.path) == ("truncated", "body")


def test_a_number_chooses_the_structure_and_the_class_of_the_value_the_number() -> None:
    first, second = struct(Number("a", "uint8")), struct(Number("b", "uint16"), Number("c", "uint8"))
    made = struct(Number("kind", "uint8"), choice("one", "kind", {1: first, 2: second}))
    made.rule("kind", "toy.kind")(lambda kind: None if kind in (1, 2) else Fault("bad-kind", f"{kind}"))
    layout = made.at("1")
    assert [one.name for one in fields(layout.type)] == ["one"]
    for data in (b"\1\7", b"\2\0\7\7"):
        writer = Writer()
        layout.codec.write(writer, layout.codec.read(Reader(data)))
        assert bytes(writer.data) == data
    with pytest.raises(Rejected) as caught:
        layout.codec.read(Reader(b"\3\0"))
    assert (caught.value.cls, caught.value.at) == ("bad-kind", 0)


def test_a_value_is_completed_before_it_is_written_and_no_bytes_may_be_one() -> None:
    algorithm = ChecksumAlgorithm("crc32", len)
    made = struct(
        Checksum("sum", "uint8", algorithm=algorithm, over="body", shown=True),
        Length("length", "uint8", of="body"),
        Octets("body"),
        complete=lambda value: evolve(value, sum=len(value.body)),
    )
    layout, writer = made.at("1"), Writer()
    layout.codec.write(writer, layout.type(body=b"abc"))
    assert bytes(writer.data) == b"\3\3abc"
    listed = struct(
        Count("count", "uint8", of="rows"), many("rows", struct(Number("a", "uint8"))), empty=True
    )
    assert listed.at("1").codec.read(Reader(b"")).rows == ()


def test_a_number_that_is_not_known_is_refused_by_readers_and_writers() -> None:
    layout = struct(Number("op", "uint8", known=frozenset((1, 2)))).at("1")
    with pytest.raises(Rejected) as caught:
        layout.codec.read(Reader(b"\3"))
    assert (caught.value.cls, caught.value.at, caught.value.path) == ("bad-kind", 0, "op")
    with pytest.raises(Rejected) as caught:
        layout.codec.write(Writer(), layout.type(op=3))
    assert (caught.value.cls, caught.value.path) == ("invalid-value", "op")


def test_what_a_revision_cannot_read_is_an_error_when_its_layout_is_made() -> None:
    made = struct(Number("age", "uint8"), since("2", Number("more", "uint8")))
    made.rule("", "toy.x")(no_fault("more"))
    with pytest.raises(DescriptionError, match=r"Row: rule toy\.x needs more, not in 1"):
        made.at("1")
    made.at("2")
    with pytest.raises(DescriptionError, match=r"Row: rule toy\.x has no revision 9"):
        struct(Number("age", "uint8")).rule("age", "toy.x", since="9")(no_fault("age"))


def test_hostile_counts_and_lengths_read_nothing_ahead() -> None:
    data = edited("2", 28, 0xFF)
    with pytest.raises(Rejected) as caught:
        decoded("2", data)
    assert (caught.value.cls, caught.value.path) == ("truncated", "tags[1].at")


def test_a_format_is_the_same_one_in_another_process_and_a_changed_one_has_no_name() -> None:
    for fmt in FORMATS.values():
        assert pickle.loads(pickle.dumps(fmt)) is fmt
    assert own_format("iggy.log/0.11") is FORMATS["iggy.log/0.11"]
    assert own_format("iggy.log/of-nobody") is None
    changed = evolve(FORMATS["iggy.frame/0.0.30"], decode=max, encode=max, layout=None, value=int)
    assert pickle.loads(pickle.dumps(changed)) == changed


# --- lists, lengths and classes that cannot be ---


def test_a_field_with_the_name_of_a_parameter_is_an_error_if_a_rule_needs_it() -> None:
    made = struct(Number("index", "uint8"), Number("at", "uint8"))
    with pytest.raises(DescriptionError, match=r"Row: rule toy.at needs index, which is a field too"):
        made.rule("at", "toy.at")(lambda at, index: None)  # noqa: ARG005 - a rule has the names of its fields
    with pytest.raises(DescriptionError, match=r"Row: rule toy.at needs the number of no field"):
        made.rule("", "toy.at")(lambda number: None)  # noqa: ARG005 - as above


@frozen
class Entry:
    codec: int
    steps: tuple[int, ...]


@each(
    "made, text",
    [
        (
            struct(many("ones", struct(Number("at", "uint8")), joined=True)),
            "Row.ones: a joined list needs its count",
        ),
        (struct(Number("absent", "int8"), value=Entry), "Row: Entry has no attribute absent"),
        (struct(many("rows", struct())), "Row.rows: elements of no bytes have no end"),
        (
            struct(Number("kind", "uint8"), choice("one", "kind", {1: struct(Number("age", "uint8"))})),
            "Row.one: no rule refuses another kind",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_when_its_layout_is_made(made: Struct, text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        made.at("1")
    assert str(caught.value).startswith(text)


def test_a_rule_of_a_length_of_numbers_alone_names_the_length_to_writers() -> None:
    made = struct(Length("size", "uint8", of=REST), Number("at", "uint8"))
    made.rule("size", "toy.size")(lambda size: Fault("bad-length", "one") if size == 1 else None)
    with pytest.raises(Rejected, match="invalid-value at -1, size: one"):
        made.at("1").codec.write(Writer(), made.at("1").type(at=1))


def test_a_structure_without_a_writer_of_what_is_packed_is_only_read() -> None:
    steps = Repeated("steps", of=Layout("Step", (Number("step", "int8"),)))
    packed = Packed("steps", codec_of="codec", of=steps, read=lambda _: ())
    layout = struct(Number("codec", "int8"), packed, value=Entry).at("1")
    only_read = evolve(layout, parts=(layout.parts[0], evolve(packed, write=None)))
    with pytest.raises(TypeError, match="only read"):
        only_read.codec.write(Writer(), Entry(0, ()))


# --- a description that no function could read ---


CRC32 = ChecksumAlgorithm("crc32", crc32)
BYTE = Number("a", "uint8")


@each(
    "parts, text",
    [
        ((), "Row: it has no field"),
        ((Number("class", "uint8"),), "Row.class: a function has no variable of this name; choose another"),
        ((Number("a-b", "uint8"),), "Row.a-b: a function has no variable"),
        ((Number("reader", "uint8"),), "Row.reader: a function has no variable"),
        ((Number("aB", "uint8"), Number("a_b", "uint8")), "Row.a_b: aB has the same attribute, a_b"),
        ((Octets("body"), BYTE), "Row.body: without a length or a count before it, it takes the bytes of a"),
        ((many("rows", struct(BYTE)), BYTE), "Row.rows: without a length or a count before it"),
        ((Number("magic", "uint8", const=7),), "Row.magic: no rule refuses another number than 7"),
        ((BYTE, Checksum("crc", "uint32", algorithm=CRC32, over="a")), "Row.crc: there are no bytes a"),
        ((Length("l", "varint", of=REST), Octets("body")), "Row.l: a length of the rest has a fixed width"),
        ((optional("x", "kind", struct(BYTE)),), "Row.x: no field kind before it"),
        (
            (BYTE, Packed("p", codec_of="a", of=Octets("p"))),
            "Row.p: it needs functions that read and write it",
        ),
        (tagged_fields(), "Row.tags: a structure has no Tagged; write functions"),
        ((BYTE, When(Octets("o", size=2), number="a", values=(0,))), "Row.o: a structure has no When"),
        ((inner("x", struct(Number("a-b", "uint8"), name="In")),), "In.a-b: a function has no variable"),
        ((inner("x", struct(Octets("b"), BYTE, name="In")),), "In.b: without a length or a count before it"),
    ],
)
def test_what_no_function_could_read_is_an_error_of_the_description(parts: Any, text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        [*formats_of_struct("toy.row", struct(*parts), ("1",))]
    assert str(caught.value).startswith(text)


def test_a_structure_that_contains_itself_is_an_error_of_the_description() -> None:
    made = struct(BYTE, ByRevision("next", lambda revision: Nested("next", of=made.at(revision))))
    with pytest.raises(DescriptionError) as caught:
        [*formats_of_struct("toy.row", made, ("1",))]
    assert str(caught.value) == "Row: it contains itself"


def test_a_constant_with_a_rule_and_a_choice_by_an_earlier_number_are_read() -> None:
    made = struct(Number("magic", "uint8", const=7), choice("one", "magic", {7: struct(BYTE)}))
    made.rule("magic", "toy.magic")(lambda magic: None if magic == 7 else Fault("bad-magic"))
    (fmt,) = formats_of_struct("toy.row", made, ("1",))
    assert fmt.layout is not None


def test_a_family_with_such_a_description_is_one_line_and_the_others_work() -> None:
    def load() -> Any:
        return [*formats_of_struct("toy.row", struct(Octets("body"), BYTE), ("1",))]

    table = FamilyTable((), lambda: (Provider("toy-package", "toy", load),))
    (fault,) = table.faults
    assert str(fault) == (
        "toy-package: the family toy cannot be loaded: DescriptionError: "
        "Row.body: without a length or a count before it, it takes the bytes of a"
    )


@pytest.mark.parametrize("name", FAMILIES_OF_STRUCTURES)
def test_a_stub_is_as_the_descriptions_make_it(name: str) -> None:
    again = "write it again with: python -m tests.support.value_stubs"
    assert stub_path(name).read_text(encoding="utf-8") == stub_of(FAMILIES[name]), again
