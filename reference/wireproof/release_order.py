"""The order of releases by their version numbers, which every layer may need."""

import re
from typing import Final

Age = tuple[tuple[int, int, str], ...]

_FINAL: Final = re.compile(r"v?\d+(\.\d+)*(\.post\d+|\.Final)?")
"""The form of a version that is no pre-release, in the registries of all languages."""

_WORDS: Final = {"final": 0, "post": 1}
"""The words in the version of a release, by their place; every other word makes a pre-release."""


def age(version: str) -> Age:
    """Return the sort key of a version: numbers by value; `1.0rc1` comes before `1.0`."""
    parts = re.findall(r"\d+|[a-z]+", version.removeprefix("v").lower())
    keys = ((1, int(part), "") if part.isdecimal() else (_WORDS.get(part, -1), 0, part) for part in parts)
    return (*keys, (0, 0, ""))


def is_final(version: str) -> bool:
    """Return True for a release that is no pre-release and no snapshot."""
    return _FINAL.fullmatch(version) is not None
