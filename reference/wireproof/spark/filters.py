"""Filters that Spark leaves to a source: applied to objects, to spans and to the remaining rows.

As in SQL, a test gives true, false or null; null drops the row, also if the test is negated.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from attrs import frozen

Value = str | int | bool | bytes | Decimal | tuple[Any, ...] | None


@frozen
class ColumnTest:
    """A test of one column.

    Attributes:
        column: its name.
        op: one of `OPS`.
        value: the value to compare with; a tuple for `In`, None for the tests for null.
        negated: whether the opposite is tested.
    """

    column: str
    op: str
    value: Value = None
    negated: bool = False


def _in(column: pa.Array, values: tuple[Any, ...]) -> pa.Array:
    found = pc.is_in(column, value_set=pa.array(values, type=column.type))
    return pc.if_else(pc.is_null(column), pa.scalar(None, pa.bool_()), found)


def _same(column: pa.Array, value: pa.Scalar) -> pa.Array:
    return pc.fill_null(pc.equal(column, value), fill_value=False)


def _text(read: Callable[..., pa.Array]) -> Callable[[pa.Array, pa.Scalar], pa.Array]:
    return lambda column, value: read(column, pattern=value.as_py())


OPS: Final[dict[str, Callable[[pa.Array, Any], pa.Array]]] = {
    "EqualTo": pc.equal,
    "EqualNullSafe": _same,
    "GreaterThan": pc.greater,
    "GreaterThanOrEqual": pc.greater_equal,
    "LessThan": pc.less,
    "LessThanOrEqual": pc.less_equal,
    "In": _in,
    "IsNull": lambda column, _: pc.is_null(column),
    "IsNotNull": lambda column, _: pc.is_valid(column),
    "StringStartsWith": _text(pc.starts_with),
    "StringEndsWith": _text(pc.ends_with),
    "StringContains": _text(pc.match_substring),
}
"""The tests, by the name that Spark gives them."""

NULLARY: Final = frozenset({"IsNull", "IsNotNull"})


def can_test(test: ColumnTest, kind: pa.DataType) -> bool:
    """Return whether the test can be made on a column of this type; Spark makes the other tests."""
    if pa.types.is_nested(kind) or test.op not in OPS:
        return False
    if test.op in NULLARY:
        return True
    values = test.value if isinstance(test.value, tuple) else (test.value,)
    try:
        return all(pa.scalar(value, type=kind).as_py() == value is not None for value in values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False


def test_column(test: ColumnTest, column: pa.Array) -> pa.Array:
    """Return the result of the test for each value."""
    value = test.value
    if not isinstance(value, tuple) and test.op not in NULLARY:
        value = pa.scalar(value, type=column.type)
    found = OPS[test.op](column, value)
    return pc.invert(found) if test.negated else found


def apply_tests(batch: pa.RecordBatch, tests: Iterable[ColumnTest]) -> pa.RecordBatch:
    """Return the rows that pass all tests."""
    for test in tests:
        batch = batch.filter(test_column(test, batch.column(test.column)))
    return batch


def may_keep_path(path: str, tests: Iterable[ColumnTest]) -> bool:
    """Return whether rows of this object can pass."""
    column = pa.array([path])
    return all(test_column(test, column)[0].as_py() is True for test in tests if test.column == "path")


def may_keep_range(first: int, last: int, tests: Iterable[ColumnTest]) -> bool:
    """Return whether a row with a position from `first` to `last` can pass.

    A test of a range passes at one of the two ends, or nowhere between them.
    """
    return all(_reaches(test, first, last) for test in tests if test.column == "position")


def _reaches(test: ColumnTest, first: int, last: int) -> bool:
    match test.op, test.negated, test.value:
        case (("EqualTo" | "EqualNullSafe"), False, int() as value):
            return first <= value <= last
        case "In", False, tuple() as values:
            return any(first <= value <= last for value in values)
        case (("GreaterThan" | "GreaterThanOrEqual" | "LessThan" | "LessThanOrEqual"), _, _):
            ends = test_column(test, pa.array([first, last]))
            return any(end.as_py() for end in ends)
        case "IsNull", False, _:
            return False
        case _:
            return True
