"""Parameters of tests that run for each format: revisions that differ little from others run in a lane.

Eleven revisions of a format of Iggy differ in a field or two. The first and the newest of each run
everywhere, and of the JSON formats the newest; those between have the marker `sweeps`, and where each
takes seconds `revisions`.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, Final

import pytest

from wireproof.formats import FORMATS

SWEPT: Final = frozenset(
    format_id
    for name, rows in groupby(FORMATS.values(), key=lambda row: row.name)
    if name.startswith("iggy.")
    for ids in [[row.format_id for row in rows]]
    for format_id in (ids[:-1] if name.startswith("iggy.json.") else ids[1:-1])
)
"""The ids of formats that differ little from others."""


def each_format(
    values: Iterable[Any],
    id_of: Callable[[Any], str] = str,
    *,
    swept: str = "sweeps",
    others: str = "",
) -> list[Any]:
    """Return parameters for `pytest.mark.parametrize`: `SWEPT` ones have a marker, others another."""
    named = [(value, id_of(value), swept if id_of(value) in SWEPT else others) for value in values]
    return [
        pytest.param(value, id=name, marks=[getattr(pytest.mark, lane)] if lane else [])
        for value, name, lane in named
    ]
