"""Hypothesis strategies for the values of all formats, and for bytes that are nearly valid.

Each system has its strategies in a module of this package, in a table `VALUES` by format id. Hypothesis is an
optional dependency.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

try:
    from hypothesis.strategies import SearchStrategy
except ImportError:
    from wireproof.install_hint import install_command

    raise ImportError(f"strategies need Hypothesis: {install_command('property')}") from None

from wireproof import formats
from wireproof.cases.strategies import heka, iggy, kafka
from wireproof.cases.strategies.nearly_valid_bytes import nearly_valid_encodings

STRATEGIES: Final[Mapping[str, Callable[[], SearchStrategy[Any]]]] = {
    **kafka.VALUES,
    **iggy.VALUES,
    **heka.VALUES,
}
"""Format id to the strategy for its values. Every format has one."""


def values(format: str, revision: str) -> SearchStrategy[Any]:  # noqa: A002 - the public name of a format
    """Return a strategy for the values of a format, as instances of its value class.

    All values can be encoded. A decode of the bytes may return other computed fields than the drawn value
    has. `wire.values.to_json` returns the JSON form of a value.

    Raises:
        UnknownFormat: there is no such format; the message has similar names.
    """
    return STRATEGIES[formats.get(format, revision).format_id]()


def nearly_valid(format: str, revision: str) -> SearchStrategy[bytes]:  # noqa: A002 - as above
    """Return a strategy for encoded values with one or two edits of fields, list elements or streams.

    The lengths and checksums may be fixed up afterwards. Some of the results are still valid, for example if
    no rule constrains the changed field.

    Raises:
        UnknownFormat: there is no such format; the message has similar names.
    """
    return nearly_valid_encodings(formats.get(format, revision), values(format, revision))
