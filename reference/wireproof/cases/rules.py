"""Rules: one normative sentence each, with its source. Design, section 1, "rule"."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

KINDS: Final = ("refusing", "value", "resource", "encode")
"""What a rule asks for: a refusal, a value, a bound on time or memory, bytes."""


@frozen
class Rule:
    """A rule of a format.

    Attributes:
        id: unique across the formats of all systems.
        kind: one of `KINDS`; it decides which cases the rule must have.
        text: the sentence.
        document, section: where it is written.
        practice: what the system's own reader does, where that differs.
        exclusion: why it has no case, or but one.
    """

    id: str
    kind: str
    text: str
    document: str
    section: str
    practice: str = ""
    exclusion: str = ""


def lacks(kind: str, accepted: int, refused: int) -> bool:
    """Whether a rule of a kind has too few cases: design, section 3, `rules[]`."""
    match kind:
        case "refusing":
            return not (refused and accepted)
        case "value":
            return accepted < 2
        case _:
            return not (refused or accepted)


def read_rules(path: Path) -> Iterator[Rule]:
    """The rules of a file; raises ValueError with the rule and what is wrong."""
    page = tomllib.loads(path.read_text(encoding="utf-8"))
    if set(page) != {"rule"}:
        raise ValueError("holds [[rule]] tables and nothing else")
    for row in page["rule"]:
        try:
            rule = Rule(**row)
        except TypeError as error:
            raise ValueError(f"{row.get('id', 'a rule')}: {error}") from None
        if rule.kind not in KINDS:
            raise ValueError(f"{rule.id}: kind wants one of {', '.join(KINDS)}")
        yield rule
