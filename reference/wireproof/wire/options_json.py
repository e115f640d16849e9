"""The JSON form of `Options`, for the adapter contract, the fixtures and the tokens.

The attributes of `Options` are the table of the names, types and defaults. `profile` and `max_output` are not
in the object: a request has them among its own fields and its limits, a case has its profile. In fixtures and
tokens the numbers of `aborted` are decimal texts, as in values; in requests they are JSON numbers.
"""

from collections.abc import Mapping
from typing import Any, Final

import cattrs
from cattrs.gen import make_dict_unstructure_fn, override

from wireproof.strict_converter import (
    Hook,
    count,
    decimal,
    exactly,
    object_hook,
    strict_converter,
    wrong,
)
from wireproof.wire.options import Options


def options_to_json(options: Options) -> dict[str, Any]:
    """Return the JSON for a fixture or a token, without the options that have their default."""
    tree: dict[str, Any] = _IN_CASES.unstructure(options)
    return tree


def options_to_request(options: Options) -> dict[str, Any]:
    """Return the JSON for a request, without the options that have their default."""
    tree: dict[str, Any] = _IN_REQUESTS.unstructure(options)
    return tree


def _converter(number: Hook, kind: type) -> cattrs.Converter:
    """Return the converter of options; `number` reads a number of `aborted`, and `kind` makes its JSON."""

    def aborted(pairs: object, _: object) -> tuple[tuple[int, int], ...]:
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise wrong("a list of [producerId, firstOffset]", pairs)
        return tuple((number(producer, int), number(first, int)) for producer, first in pairs)

    converter = strict_converter()
    read = object_hook(
        Options,
        converter,
        profile=None,
        max_output=None,
        max_message=count,
        keys=converter.get_structure_hook(Mapping[str, bytes]),
        fetch_offset=count,
        aborted=aborted,
        topic=converter.get_structure_hook(Mapping[str, str]),
    )
    write = make_dict_unstructure_fn(
        Options,
        converter,
        _cattrs_omit_if_default=True,
        profile=override(omit=True),
        max_output=override(omit=True),
        keys=override(unstruct_hook=lambda keys: {name: key.hex() for name, key in keys.items()}),
        topic=override(unstruct_hook=dict),
        aborted=override(unstruct_hook=lambda pairs: [[kind(part) for part in pair] for pair in pairs]),
    )
    converter.register_structure_hook(Options, read)
    converter.register_unstructure_hook(Options, write)
    return converter


_IN_CASES: Final = _converter(decimal, str)
OPTIONS_IN_CASES: Final[Hook] = _IN_CASES.get_structure_hook(Options)
"""The hook that reads the options of a fixture or a token."""

_IN_REQUESTS: Final = _converter(exactly(int, "a whole number"), int)

OPTIONS_IN_REQUESTS: Final[Hook] = _IN_REQUESTS.get_structure_hook(Options)
"""The hook that reads the options of a request."""
