"""The strict converter changes no type, and names the first fault in one line."""

from collections.abc import Mapping
from typing import Any, Literal

import pytest
from attrs import field, frozen

from wireproof.strict_converter import JSON_NAME, FieldError, strict_converter, structure


@frozen
class Inner:
    ms: int = 3


@frozen
class Outer:
    cls: Literal["a", "b"] = field(metadata={JSON_NAME: "class"})
    number: int | None = None
    texts: tuple[str, ...] = ()
    inner: Inner = field(default=Inner())
    by_name: Mapping[str, str] = field(factory=dict)
    list_of: tuple[Inner, ...] = ()
    data: bytes = b""
    at: int | str | None = None


CONVERTER = strict_converter(omit_defaults=True)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        ([], "row must be an object, got []"),
        ({}, "class is missing"),
        ({"clas": "a"}, "row has no field 'clas'"),
        ({"class": "c"}, "class must be one of a, b, got 'c'"),
        ({"class": "a", "number": True}, "number must be a whole number, got True"),
        ({"class": "a", "number": "1"}, "number must be a whole number, got '1'"),
        ({"class": "a", "texts": "x"}, "texts must be a list, got 'x'"),
        ({"class": "a", "texts": ["x", 1]}, "texts[1] must be a string, got 1"),
        ({"class": "a", "inner": {"ms": None}}, "inner.ms must be a whole number, got None"),
        ({"class": "a", "inner": {"s": 1}}, "inner has no field 's'"),
        ({"class": "a", "by_name": []}, "by_name must be an object"),
        ({"class": "a", "by_name": {"A": 1}}, "by_name['A'] must be a string, got 1"),
        ({"class": "a", "list_of": [{}, {"ms": 1.0}]}, "list_of[1].ms must be a whole number, got 1.0"),
        ({"class": "a", "data": "AB"}, "data must be bytes in lower-case hex, got 'AB'"),
        ({"class": "a", "at": "17"}, "at must be a position such as 17 or 61>3, got '17'"),
    ],
)
def test_a_fault_is_one_line_that_names_the_field(tree: Any, text: str) -> None:
    with pytest.raises(FieldError) as caught:
        structure(CONVERTER, tree, Outer, "row")
    assert str(caught.value) == text


def test_what_it_reads_it_writes_without_the_defaults() -> None:
    tree = {"class": "a", "number": 4, "list_of": [{"ms": 4}], "at": "61>3"}
    read = structure(CONVERTER, tree, Outer, "row")
    assert read == Outer("a", 4, list_of=(Inner(4),), at="61>3")
    written = CONVERTER.unstructure(read)
    assert structure(CONVERTER, {**written, "list_of": list(written["list_of"])}, Outer, "row") == read
    assert set(written) == set(tree)
