"""The subjects of all properties: the formats, and their values, written and read."""

from typing import Any

import pytest
from attrs import fields
from one_of_a_kind import each_format

from wireproof import formats
from wireproof.derive.examples import without_computed_fields
from wireproof.derive.mutate.encodings import written
from wireproof.formats import FORMATS, Decoded, Format
from wireproof.strategies import nearly_valid, values
from wireproof.wire.rejection import Rejected

__all__ = [
    "FORMATS",
    "LIFTED",
    "STREAMS",
    "each",
    "entries",
    "nearly",
    "read",
    "valued",
    "without_computed_fields",
    "written",
]

STREAMS = [row for row in FORMATS.values() if row.scan is not None]

LIFTED = [row for row in FORMATS.values() if row.wrapped_by is not None]


def each(rows: Any = None, **lanes: str) -> pytest.MarkDecorator:
    """Run a test for each row, under its format id; revisions between others run in the lane of sweeps."""
    chosen = FORMATS.values() if rows is None else rows
    return pytest.mark.parametrize("row", each_format(chosen, lambda row: row.format_id, **lanes))


def valued(row: Format) -> Any:
    return values(row.name, row.revision)


def nearly(row: Format) -> Any:
    return nearly_valid(row.name, row.revision).map(lambda drawn: drawn.data)


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
