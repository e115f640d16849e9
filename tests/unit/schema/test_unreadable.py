"""A description that no function could read is one error, with the names of the structure and the field."""

from typing import Any

import pytest
from each import each

from wireproof.family import formats_of_struct
from wireproof.installed_families import FamilyTable, Provider
from wireproof.schema.layout import (
    REST,
    Checksum,
    ChecksumAlgorithm,
    Length,
    Nested,
    Number,
    Octets,
    Packed,
    When,
    tagged_fields,
)
from wireproof.schema.rules import Fault
from wireproof.schema.struct import ByRevision, DescriptionError, Struct, choice, inner, many, optional
from wireproof.wire.checksums import crc32

CRC32 = ChecksumAlgorithm("crc32", crc32)
BYTE = Number("a", "uint8")


def struct(*parts: Any, name: str = "Row") -> Struct:
    return Struct(name, *parts, revisions=("1",), cites="toy")


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
