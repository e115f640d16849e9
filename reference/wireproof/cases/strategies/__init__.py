"""Hypothesis strategies for the values of all formats, and for bytes that are nearly valid.

Each family names a table of its strategies by format id, and one of strategies for the options by the name of
the format. Hypothesis is an optional dependency.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    from wireproof.install_hint import install_command

    raise ImportError(f"strategies need Hypothesis: {install_command('property')}") from None

from wireproof import formats
from wireproof.cases.strategies.from_layout import values_by_layout
from wireproof.cases.strategies.nearly_valid_bytes import nearly_valid_encodings
from wireproof.family import object_at
from wireproof.formats import FAMILIES, Format, family_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options

STRATEGIES: Final[Mapping[str, Callable[[], SearchStrategy[Any]]]] = {
    format_id: strategy
    for family in FAMILIES.values()
    if family.strategies
    for format_id, strategy in object_at(family.strategies).items()
}
"""Format id to the strategy for its values."""


def values(format: str, revision: str) -> SearchStrategy[Any]:  # noqa: A002 - the public name of a format
    """Return a strategy for the values of a format, as instances of its value class.

    All values can be encoded. A decode of the bytes may return other computed fields than the drawn value
    has. `wire.values.to_json` returns the JSON form of a value.

    Raises:
        UnknownFormat: there is no such format, and the message has similar names.
    """
    fmt = formats.get(format, revision)
    strategy = STRATEGIES.get(fmt.format_id)
    return values_by_layout(fmt) if strategy is None else strategy()


def option_strategy(fmt: Format, value: Any) -> SearchStrategy[Options]:  # noqa: ANN401 - a value of any format
    """Return a strategy for options that fit a value; the default options if the family has none for it."""
    place = family_of(fmt).option_strategies
    strategy = object_at(place).get(fmt.name) if place else None
    return strategy(value) if strategy is not None else st.just(DEFAULT_OPTIONS)


def nearly_valid(format: str, revision: str) -> SearchStrategy[bytes]:  # noqa: A002 - as above
    """Return a strategy for encoded values with one or two edits of fields, list elements or streams.

    The lengths and checksums may be fixed up afterwards. Some of the results are still valid, for example if
    no rule constrains the changed field.

    Raises:
        UnknownFormat: there is no such format; the message has similar names.
    """
    return nearly_valid_encodings(formats.get(format, revision), values(format, revision))
