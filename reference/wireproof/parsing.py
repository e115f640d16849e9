"""JSON and TOML of strangers, parsed within bounded time and memory; whatever is wrong is a ValueError."""

import json
import tomllib
from collections.abc import Callable
from typing import Any, Final

MOST_VALUES: Final = 250_000
"""Values of one JSON text: a small one takes three characters and two hundred bytes of memory."""

MOST_TOML: Final = 4 * 1024 * 1024
"""Characters of a TOML text."""

LONGEST_LINE: Final = 4096
"""Characters of a line of TOML: `tomllib` reads a key of many parts in quadratic time."""

Pairs = Callable[[list[tuple[str, Any]]], Any]


def json_of(text: str | bytes, *, most: int = MOST_VALUES, pairs: Pairs | None = None) -> Any:  # noqa: ANN401 - JSON
    """The value of a JSON text; `pairs` makes the objects from their keys and values.

    Raises:
        ValueError: no JSON, not UTF-8, nested too deeply, or possibly more than `most` values.
    """
    text = text.decode() if isinstance(text, bytes) else text
    if sum(map(text.count, ",[{")) > most:
        raise ValueError(f"it may hold more than {most:,} values")
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def toml_of(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises:
        ValueError: no TOML, nested too deeply, too large, or with a line that is too long.
    """
    if len(text) > MOST_TOML:
        raise ValueError(f"it is larger than {MOST_TOML:,} characters")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise ValueError(f"line {number} is longer than {LONGEST_LINE:,} characters")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
