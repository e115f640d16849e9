"""Parsers of untrusted JSON and TOML with limits for time and memory. Every error is a ValueError."""

import json
import tomllib
from collections.abc import Callable
from typing import Any, Final

MAX_JSON_VALUES: Final = 250_000
"""Limit for the values of a JSON text: a value of three characters takes two hundred bytes of memory."""

MAX_TOML_SIZE: Final = 4 * 1024 * 1024
"""Limit for the characters of a TOML text."""

MAX_TOML_LINE: Final = 4096
"""Limit for the characters of a TOML line: `tomllib` reads a key of many parts in quadratic time."""

ObjectHook = Callable[[list[tuple[str, Any]]], Any]
"""A function that makes a JSON object from its keys and values."""


def parse_json(text: str | bytes, *, most: int = MAX_JSON_VALUES, pairs: ObjectHook | None = None) -> Any:  # noqa: ANN401 - JSON
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


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        ValueError: the text is not TOML, nested too deeply, too large, or has a line that is too long.
    """
    if len(text) > MAX_TOML_SIZE:
        raise ValueError(f"it is larger than {MAX_TOML_SIZE:,} characters")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_TOML_LINE:
            raise ValueError(f"line {number} is longer than {MAX_TOML_LINE:,} characters")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
