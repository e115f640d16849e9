"""The subjects of all properties: the formats, and their values, written and read."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import fields
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from one_of_a_kind import each_format

from wireproof import formats
from wireproof.derive.examples import without_computed_fields
from wireproof.derive.mutate.encodings import written
from wireproof.formats import FORMATS, Decoded, Format
from wireproof.strategies import nearly_valid, values
from wireproof.wire.rejection import Rejected

__all__ = [
    "FORMATS",
    "FRAMES",
    "LIFTED",
    "STREAMS",
    "each",
    "each_drawn",
    "entries",
    "nearly",
    "nearly_a_stream",
    "read",
    "valued",
    "without_computed_fields",
    "written",
]

STREAMS = [row for row in FORMATS.values() if row.scan is not None]

FRAMES = [row for row in FORMATS.values() if row.delimited]

LIFTED = [row for row in FORMATS.values() if row.wrapped_by is not None]


def each(rows: Any = None, **lanes: str) -> pytest.MarkDecorator:
    """Run a test for each row, under its format id; revisions between others run in the lane of sweeps."""
    chosen = FORMATS.values() if rows is None else rows
    return pytest.mark.parametrize("row", each_format(chosen, lambda row: row.format_id, **lanes))


def each_drawn(
    draws: Callable[[Format], Sequence[SearchStrategy[Any]]], rows: Any = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a property for each row, as `each` does, with what is drawn from the strategies for the row."""

    def of(holds: Callable[..., None]) -> Callable[..., None]:
        @each(rows)
        def test(row: Format) -> None:
            given(st.tuples(*draws(row)))(lambda drawn: holds(row, *drawn))()

        test.__doc__ = holds.__doc__
        return test

    return of


def valued(row: Format) -> Any:
    return values(row.name, row.revision)


def nearly(row: Format) -> Any:
    return nearly_valid(row.name, row.revision).map(lambda drawn: drawn.data)


def nearly_a_stream(row: Format) -> Any:
    return st.lists(st.one_of(nearly(row), st.binary(max_size=70)), max_size=3).map(b"".join)


def read(row: Format, data: bytes) -> Decoded | Rejected:
    """Return the answer of the reference to bytes; other exceptions than `Rejected` fail the test."""
    try:
        return formats.decode(row, data)
    except Rejected as rejected:
        return rejected


def entries(row: Format, value: Any) -> list[Any]:
    """The frames of a stream's value: its one field that is a list."""
    lists = [part for a in fields(row.value) if isinstance(part := getattr(value, a.name), tuple)]
    assert len(lists) == 1
    return list(lists[0])
