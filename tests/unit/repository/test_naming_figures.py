"""Names and words that every reader understands: the figures that must not grow again."""

import pytest
from citations import unresolved
from naming_figures import repeated_class_names, without_verb


@pytest.mark.sweeps
def test_the_docstring_of_a_function_begins_with_a_verb() -> None:
    assert without_verb() == []


def test_a_class_name_has_one_meaning_in_the_package() -> None:
    assert repeated_class_names() == {}


@pytest.mark.sweeps
def test_no_citation_leads_nowhere() -> None:
    assert unresolved() == []
