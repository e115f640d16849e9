"""Parts of messages about an unknown name or pattern, such as a known name that is close to it."""

import difflib
from collections.abc import Iterable
from typing import Final

FEW: Final = 10
"""Up to so many known names are listed if none is close."""


def bracket_error(pattern: str) -> str:
    """Return an error for a pattern with `[` or `]`, which wireproof does not support; else empty."""
    return f"{pattern}: brackets are not supported in patterns, only * and **" if {*pattern} & {*"[]"} else ""


def closest(word: str, names: Iterable[str]) -> str:
    """Return the known name that is close to `word`, so that one may be a misspelling; empty if none is."""
    begin = word[:256]  # difflib takes quadratic time
    return next(iter(difflib.get_close_matches(begin, list(names), n=1, cutoff=0.75)), "")


def suggestion(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return `did you mean NAME?`; without a close name `otherwise`, or the known names if they are few."""
    known = list(names)
    if near := closest(word, known):
        return f"did you mean {near}?"
    if otherwise or not known:
        return otherwise or "there is none"
    more = f" and {len(known) - FEW} more" if len(known) > FEW else ""
    return f"known names: {', '.join(known[:FEW])}{more}"
