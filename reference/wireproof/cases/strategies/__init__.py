"""Hypothesis strategies of values, and of bytes that are nearly valid: design, section 2, floor 4.

Each system has its strategies in a module of this package, `VALUES` by joined name. Hypothesis is an extra.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

try:
    from hypothesis.strategies import SearchStrategy
except ImportError:
    raise ImportError("strategies need Hypothesis: pip install 'wireproof[test]'") from None

from wireproof import formats
from wireproof.cases.strategies import heka, iggy, kafka
from wireproof.cases.strategies.damaged import damaged_of

STRATEGIES: Final[Mapping[str, Callable[[], SearchStrategy[Any]]]] = {
    **kafka.VALUES,
    **iggy.VALUES,
    **heka.VALUES,
}
"""Joined name to the strategy of its values; every row of the table of formats has one."""


def values(format: str, revision: str) -> SearchStrategy[Any]:  # noqa: A002 - the design's word for it
    """Values of a format, in its value class; `wire.values.to_json` gives their JSON form.

    Every one of them can be encoded; what a decode computes may differ from what is drawn.

    Raises:
        UnknownFormat: there is no such row; the message names the nearest.
    """
    return STRATEGIES[formats.get(format, revision).joined]()


def nearly_valid(format: str, revision: str) -> SearchStrategy[bytes]:  # noqa: A002 - as above
    """Encodings of `values` with one named field of their layout replaced, resealed or not.

    Some of them are valid still: no field of theirs is held to anything, or it is resealed.

    Raises:
        UnknownFormat: there is no such row; the message names the nearest.
    """
    return damaged_of(formats.get(format, revision), values(format, revision))
