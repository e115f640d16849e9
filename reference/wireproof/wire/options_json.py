"""The JSON form of `Options`, for the adapter contract, the fixtures and the tokens.

The attributes of `Options` are the table of the names, types and defaults. `profile` and `max_output` are not
in the object: a request has them among its own fields and its limits, a case has its profile. In fixtures and
tokens the numbers of `aborted` are decimal texts, as in values; in requests they are JSON numbers.
"""

from collections.abc import Mapping
from typing import Any, Final

from wireproof.strict_parsing import Hook, count, decimal, to_tree, whole_number, wrong
from wireproof.wire.options import Options

_ELSEWHERE: Final = frozenset({"profile", "max_output"})


def options_to_json(options: Options) -> dict[str, Any]:
    """Return the JSON for a fixture or a token, without the options that have their default."""
    tree = options_to_request(options)
    if options.aborted:
        tree["aborted"] = [[str(number) for number in pair] for pair in options.aborted]
    return tree


def options_to_request(options: Options) -> dict[str, Any]:
    """Return the JSON for a request, without the options that have their default."""
    tree: dict[str, Any] = to_tree(options, without_defaults=True)
    return {name: part for name, part in tree.items() if name not in _ELSEWHERE}


def _fields(number: Hook) -> Mapping[object, object]:
    """Return the fields of options for a `Reader`; `number` reads a number of `aborted`."""

    def aborted(pairs: object) -> tuple[tuple[int, int], ...]:
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise wrong("a list of [producerId, firstOffset]", pairs)
        return tuple((number(producer), number(first)) for producer, first in pairs)

    special = {
        **dict.fromkeys(_ELSEWHERE),
        "max_message": count,
        "keys": Mapping[str, bytes],
        "fetch_offset": count,
        "aborted": aborted,
        "topic": Mapping[str, str],
    }
    return {(Options, name): how for name, how in special.items()}


OPTIONS_IN_CASES: Final = _fields(decimal)
"""How the options of a fixture or a token are read."""

OPTIONS_IN_REQUESTS: Final = _fields(whole_number)
"""How the options of a request are read."""
