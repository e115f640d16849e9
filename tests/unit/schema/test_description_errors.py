"""Descriptions of lists, lengths and classes that cannot be; what may be, the formats themselves show."""

from typing import Any

import pytest
from attrs import evolve, frozen

from wireproof.schema.layout import REST, Count, Layout, Length, Number, Packed, Repeated
from wireproof.schema.rules import Fault
from wireproof.schema.struct import DescriptionError, Struct, many
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


def struct(*parts: Any, **more: Any) -> Struct:
    return Struct("Row", *parts, revisions=("1",), cites="here", **more)


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
        made.at("1").codec.write(Writer(), made.at("1").type(at=1))


@frozen
class Entry:
    codec: int
    steps: tuple[int, ...]


def test_the_class_of_a_structure_has_its_fields() -> None:
    made = struct(Number("absent", "int8"), value=Entry)
    with pytest.raises(DescriptionError, match="Row: Entry has no attribute absent"):
        made.at("1")


def test_a_structure_without_a_writer_of_what_is_packed_is_only_read() -> None:
    steps = Repeated("steps", of=Layout("Step", (Number("step", "int8"),)))
    packed = Packed("steps", codec_of="codec", of=steps, read=lambda _: ())
    layout = struct(Number("codec", "int8"), packed, value=Entry).at("1")
    only_read = evolve(layout, parts=(layout.parts[0], evolve(packed, write=None)))
    with pytest.raises(TypeError, match="only read"):
        only_read.codec.write(Writer(), Entry(0, ()))
