"""Values in JSON, and their schemas: architecture.md#verdicts."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import pytest
from attrs import field, frozen
from each import each
from goldens import load
from jsonschema import Draft202012Validator

from wireproof.cases.case import Accept, Case, Either, Expect, Value
from wireproof.formats import FORMATS
from wireproof.wire.json_values import (
    Json,
    camel_case,
    derived,
    from_json,
    json_schema,
    to_json,
)
from wireproof.wire.rejection import Rejected


@camel_case
@frozen
class Part:
    """A part."""

    wide_number: int
    maybe: bytes | None = None


@frozen
class Whole:
    """A value of every kind."""

    kind: Literal["one", "two"]
    flag: bool
    parts: tuple[Part, ...]
    pair: tuple[bytes, bytes | None]
    computed: int = field(default=0)


VALUE = Whole("one", flag=True, parts=(Part(-(1 << 63), b""), Part(0)), pair=(b"\x00\xff", None), computed=7)
TREE: dict[str, Any] = {
    "kind": "one",
    "flag": True,
    "parts": [{"wideNumber": "-9223372036854775808", "maybe": ""}, {"wideNumber": "0", "maybe": None}],
    "pair": ["00ff", None],
    "computed": "7",
}


def expected(expect: Expect) -> Iterator[Json]:
    match expect:
        case Accept(value) if value is not None:
            yield value
        case Either(behaviours):
            for one in behaviours:
                yield from expected(one.expect)


def values(case: Case) -> Iterator[Json]:
    """The values of a case that must be whole: what a decode gives, and what a good encode starts from."""
    if case.op not in {"scan", "sequence"}:
        yield from expected(case.expect)
    if isinstance(case.input, Value) and isinstance(case.expect, Accept):
        yield case.input.value


@cache
def validator(format_id: str) -> Draft202012Validator:
    found = json_schema(FORMATS[format_id].value, format_id)
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


@each("format_id", FORMATS)
def test_every_value_of_every_fixture_follows_the_schema_of_its_format(format_id: str) -> None:
    check = validator(format_id)
    for case in load().cases:
        for value in values(case) if case.format_id == format_id else ():
            assert [error.message for error in check.iter_errors(value)] == [], case.id
            assert from_json(FORMATS[format_id].value, value) is not None


def test_integers_are_decimal_bytes_are_hex_and_null_is_not_empty() -> None:
    assert to_json(VALUE) == TREE
    assert from_json(Whole, TREE) == VALUE


def test_what_is_computed_may_be_left_out() -> None:
    short = {key: TREE[key] for key in TREE if key != "computed"}
    assert from_json(Whole, short).computed == 0
    assert Draft202012Validator(json_schema(Whole, "w")).is_valid(short)


BAD = (
    ({"flag": 1}, "flag"),
    ({"flag": "true"}, "flag"),
    ({"kind": "three"}, "kind"),
    ({"computed": 7}, "computed"),
    ({"computed": "07"}, "computed"),
    ({"computed": "+7"}, "computed"),
    ({"computed": "-"}, "computed"),
    ({"computed": " 7"}, "computed"),
    ({"computed": "٧"}, "computed"),
    ({"computed": "1" * 65}, "computed"),
    ({"computed": None}, "computed"),
    ({"pair": ["00FF", None]}, "pair"),
    ({"pair": ["0", None]}, "pair"),
    ({"pair": ["00 ff", None]}, "pair"),
    ({"pair": ["00"]}, "pair"),
    ({"pair": ["00", None, None]}, "pair"),
    ({"parts": [{"wide_number": "1"}]}, "parts[0]"),
    ({"parts": [{"wideNumber": "1", "more": "1"}]}, "parts[0]"),
    ({"parts": [{}]}, "parts[0]"),
    ({"other": "1"}, ""),
)


@each("change, path", BAD)
def test_what_is_no_value_is_refused_at_its_path_and_by_the_schema(change: dict[str, Any], path: str) -> None:
    tree = {**TREE, **change}
    with pytest.raises(Rejected) as refused:
        from_json(Whole, tree)
    assert refused.value.cls == "invalid-value"
    assert refused.value.path.startswith(path)
    assert not Draft202012Validator(json_schema(Whole, "w")).is_valid(tree)


def test_a_newline_at_the_end_is_no_digit() -> None:
    with pytest.raises(Rejected):  # the schema's dollar sign says so too, but to Python's regular expressions
        from_json(Whole, {**TREE, "computed": "7\n"})


@each("tree", [None, [], "x", 7, True, {"kind": []}, {"parts": {"0": None}}])
def test_any_json_at_all_is_a_value_or_refused(tree: Json) -> None:
    for row in (Whole, *(row.value for row in FORMATS.values())):
        with pytest.raises(Rejected):
            from_json(row, tree)


def test_nesting_without_end_is_refused() -> None:
    tree: Any = []
    for _ in range(100_000):
        tree = [tree]
    with pytest.raises(Rejected):
        from_json(Whole, {**TREE, "parts": tree})


@camel_case
@derived(next_one=int, who=Literal["a", "b"])
@frozen
class Counted:
    """A value with derived fields."""

    count: int

    def add_derived(self, tree: dict[str, Any]) -> None:
        """Add both."""
        tree |= {"nextOne": str(self.count + 1), "who": "a"}


def test_derived_fields_are_in_an_answer_only_and_may_be_in_the_input() -> None:
    value, whole = Counted(1), {"count": "1", "nextOne": "2", "who": "a"}
    assert to_json(value) == {"count": "1"}
    assert to_json((value,), with_derived=True) == [whole]
    assert from_json(Counted, whole) == from_json(Counted, {"count": "1"}) == value
    check = Draft202012Validator(json_schema(Counted, "c"))
    assert check.is_valid(whole)
    assert check.is_valid({"count": "1"})


@each("change", [{"nextOne": 2}, {"nextOne": "x"}, {"who": "c"}, {"next_one": "2"}])
def test_a_derived_field_of_another_type_is_refused(change: dict[str, Any]) -> None:
    tree = {"count": "1", **change}
    with pytest.raises(Rejected):
        from_json(Counted, tree)
    assert not Draft202012Validator(json_schema(Counted, "c")).is_valid(tree)
