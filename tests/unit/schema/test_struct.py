"""Structures and rules that contradict themselves, and what may not be written: schema/struct.py."""

import pickle
from typing import Any

import pytest
from attrs import evolve
from each import each

from wireproof.formats import FORMATS, own_format
from wireproof.schema.layout import (
    Count,
    Length,
    Number,
    Octets,
)
from wireproof.schema.struct import DescriptionError, Struct, choice, many, since, until

REVISIONS = ("1", "2", "3")


def struct(*parts: Any, **more: Any) -> Struct:
    return Struct("Row", *parts, revisions=REVISIONS, cites="here", **more)


def no_fault(*needs: str) -> Any:
    """Return a rule that looks at some fields and finds nothing wrong."""
    names: dict[str, Any] = {}
    exec(f"def rule({', '.join(needs)}): return None", names)
    return names["rule"]


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


def test_what_a_revision_cannot_read_is_an_error_when_its_layout_is_made() -> None:
    made = struct(Number("age", "uint8"), since("2", Number("more", "uint8")))
    made.rule("", "toy.x")(no_fault("more"))
    with pytest.raises(DescriptionError, match=r"Row: rule toy\.x needs more, not in 1"):
        made.at("1")
    made.at("2")
    chosen = struct(Number("kind", "uint8"), choice("one", "kind", {1: struct(Number("age", "uint8"))}))
    with pytest.raises(DescriptionError, match=r"Row\.one: no rule refuses another kind"):
        chosen.at("1")
    with pytest.raises(DescriptionError, match=r"Row\.rows: elements of no bytes have no end"):
        struct(many("rows", struct())).at("1")
    with pytest.raises(DescriptionError, match=r"Row: rule toy\.x has no revision 9"):
        struct(Number("age", "uint8")).rule("age", "toy.x", since="9")(no_fault("age"))


def test_a_format_is_the_same_one_in_another_process_and_a_changed_one_has_no_name() -> None:
    for fmt in FORMATS.values():
        assert pickle.loads(pickle.dumps(fmt)) is fmt
    assert own_format("iggy.log/0.11") is FORMATS["iggy.log/0.11"]
    assert own_format("iggy.log/of-nobody") is None
    changed = evolve(FORMATS["iggy.frame/0.0.30"], decode=max, encode=max, layout=None, value=int)
    assert pickle.loads(pickle.dumps(changed)) == changed
