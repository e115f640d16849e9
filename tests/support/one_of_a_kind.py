"""Parameters of tests that run for each format: revisions that differ little from others run in a lane.

Eleven revisions of a format of Iggy differ in a field or two. The first and the newest of each run
everywhere, and of the JSON formats the newest; those between have the marker `sweeps`, and where each
takes seconds `revisions`.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

from wireproof.formats import FORMATS


def _revisions() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for format_id in FORMATS:
        found.setdefault(format_id.rpartition("/")[0], []).append(format_id)
    return found


SWEPT: Final = frozenset(
    format_id
    for name, ids in _revisions().items()
    if name.startswith("iggy.")
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
    return [
        pytest.param(value, id=id_of(value), marks=_marks(swept if id_of(value) in SWEPT else others))
        for value in values
    ]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [getattr(pytest.mark, name)] if name else []
