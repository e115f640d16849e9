"""Parsers of untrusted JSON and TOML with limits for time and memory. Every error is a ValueError."""

import json
import tomllib
from collections.abc import Callable
from typing import Any, Final

MOST_VALUES: Final = 250_000
"""Limit for the values of a JSON text: a value of three characters takes two hundred bytes of memory."""

MOST_TOML: Final = 4 * 1024 * 1024
"""Limit for the characters of a TOML text."""

LONGEST_LINE: Final = 4096
"""Limit for the characters of a TOML line: `tomllib` reads a key of many parts in quadratic time."""

Pairs = Callable[[list[tuple[str, Any]]], Any]
"""A function that makes a JSON object from its keys and values."""


def json_of(text: str | bytes, *, most: int = MOST_VALUES, pairs: Pairs | None = None) -> Any:  # noqa: ANN401 - JSON
    """Parse a JSON text; `pairs` makes the objects from their keys and values.

    Raises:
        ValueError: the text is not JSON, not UTF-8, nested too deeply, or may have more than `most` values.
    """
    text = text.decode() if isinstance(text, bytes) else text
    if sum(map(text.count, ",[{")) > most:
        raise ValueError(f"it may hold more than {most:,} values")
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def toml_of(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        ValueError: the text is not TOML, nested too deeply, too large, or has a line that is too long.
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
