"""Selection by id: `*` stands for one component, `**` for any number of them. Design, section 6."""

import difflib
import re
from collections.abc import Sequence

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite


class PatternError(LookupError):
    """A pattern that nothing matches; the message names the nearest ids."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern; within a component `*` is any text of it."""
    parts = [
        ".*" if part == "**" else "[^/]*".join(re.escape(piece) for piece in part.split("*"))
        for part in pattern.split("/")
    ]
    text = "/".join(parts)
    return re.compile(text.replace("/.*", "(?:/.*)?").replace(".*/", "(?:.*/)?"))


def select(suite: Suite, patterns: Sequence[str]) -> tuple[Case, ...]:
    """The cases that any pattern matches, in order; each pattern must match one, aliases count."""
    found: set[str] = set()
    for pattern in patterns:
        expression = compiled(pattern)
        hits = {case.id for case in suite.cases if expression.fullmatch(case.id)}
        hits |= {name for alias, name in suite.aliases.items() if expression.fullmatch(alias)}
        if not hits:
            raise PatternError(f"no case matches {pattern}; nearest: {', '.join(_near(suite, pattern))}")
        found |= hits
    return tuple(case for case in suite.cases if case.id in found)


def _near(suite: Suite, pattern: str) -> list[str]:
    near = difflib.get_close_matches(pattern, [*suite.by_id, *suite.aliases], n=3, cutoff=0.3)
    return near or [case.id for case in suite.cases[:3]] or ["none: there are no fixtures"]
