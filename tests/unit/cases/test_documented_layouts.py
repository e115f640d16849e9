"""Layouts as documents print them: those of the suite are equal to them, and a difference is a problem."""

from attrs import evolve
from each import each
from goldens import load

from tests.fixture_tables.vectors import (
    check_documented_layouts,
    differences,
    documented_layouts,
    layout_of,
)
from wireproof.wire.layout import Number

DOCUMENTED = documented_layouts(load())

BATCH = next(one for one in DOCUMENTED if one.layout == "RecordBatch")


def test_the_layouts_of_the_suite_are_those_that_the_documents_print() -> None:
    assert {one.layout for one in DOCUMENTED} >= {"RecordBatch", "Record", "RecordHeader"}
    assert list(check_documented_layouts(load())) == []


@each("at", range(len(BATCH.fields)))
def test_a_field_of_another_name_or_type_is_a_difference(at: int) -> None:
    layout = layout_of(BATCH)
    assert layout is not None
    one = BATCH.fields[at]
    for wrong in (evolve(one, name="other"), evolve(one, type="int24")):
        fields = (*BATCH.fields[:at], wrong, *BATCH.fields[at + 1 :])
        assert len(list(differences(layout.parts, fields))) == 1
    assert list(differences((*layout.parts, Number("more", "int8")), BATCH.fields))


def test_a_layout_that_the_format_does_not_have_is_a_difference() -> None:
    assert layout_of(evolve(BATCH, layout="Other")) is None
    assert layout_of(evolve(BATCH, format="kafka.batch/v9")) is None
