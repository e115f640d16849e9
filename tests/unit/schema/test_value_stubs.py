"""The stubs of the value classes are those of the descriptions, and each class has its attributes."""

import pytest

from tests.support.value_stubs import FAMILIES_OF_STRUCTURES, stub_of, stub_path
from wireproof.formats import FAMILIES


@pytest.mark.parametrize("name", FAMILIES_OF_STRUCTURES)
def test_a_stub_is_as_the_descriptions_make_it(name: str) -> None:
    again = "write it again with: python -m tests.support.value_stubs"
    assert stub_path(name).read_text(encoding="utf-8") == stub_of(FAMILIES[name]), again
