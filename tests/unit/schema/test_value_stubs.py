"""The stubs of the value classes are those of the descriptions, and each class has its attributes."""

import ast

import pytest
from attrs import fields

from tests.support.value_stubs import FAMILIES_OF_STRUCTURES, stub_of, stub_path, value_classes
from wireproof.formats import FAMILIES


@pytest.mark.parametrize("name", FAMILIES_OF_STRUCTURES)
def test_a_stub_is_as_the_descriptions_make_it(name: str) -> None:
    again = "write it again with: python -m tests.support.value_stubs"
    assert stub_path(name).read_text(encoding="utf-8") == stub_of(FAMILIES[name]), again


@pytest.mark.parametrize("name", FAMILIES_OF_STRUCTURES)
def test_a_class_of_a_stub_has_the_attributes_that_all_its_revisions_have(name: str) -> None:
    body = ast.parse(stub_path(name).read_text(encoding="utf-8")).body
    shown = {
        one.name: {row.target.id for row in one.body if isinstance(row, ast.AnnAssign)}  # type: ignore[union-attr]
        for one in body
        if isinstance(one, ast.ClassDef)
    }
    for struct, classes in value_classes(FAMILIES[name]).items():
        assert shown[struct] == set.intersection(*({one.name for one in fields(cls)} for cls in classes))
