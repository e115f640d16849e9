"""Rules: one normative sentence each, with its source."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

from wireproof.cases.sources import BASES
from wireproof.files import read_limited_text
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure

ID_COMPONENT: Final = r"[a-z0-9][a-z0-9.+-]*"
"""One component of an id, which is also the name of a page or a file."""

RULE_KINDS: Final = ("refusing", "value", "resource", "encode")
"""The effect of a rule: a rejection, a value, a limit of time or memory, an encoding."""


@frozen
class Rule:
    """A rule of a format.

    Attributes:
        id: unique across the formats of all systems.
        kind: one of `RULE_KINDS`; it decides which cases the rule must have.
        text: the sentence.
        document, section: the place of the sentence.
        practice: how the system's own reader differs, if it does.
        exclusion: the reason why it has no case, or only one.
        cites: the places that it is taken from, as `resolve` of `sources` reads them.
        sentences: the ids of the sentences of format documents that it tests.
        basis: one of `BASES`: the kind of document that decides, or the suite itself.
        reason: why the basis is what it is, where the documents differ or leave the answer open.
        level: of a rule that an answer must keep in every case: the level at which breaking it fails a run.
    """

    id: str
    kind: str
    text: str
    document: str
    section: str
    practice: str = ""
    exclusion: str = ""
    cites: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    basis: str = ""
    reason: str = ""
    level: Literal["", "must", "should"] = ""


def lacks_cases(kind: str, accepted: int, refused: int) -> bool:
    """Return whether a rule of a kind has too few cases.

    A refused case names its twin, which is accepted and one edit away: a refusing rule needs no other
    accepted case.
    """
    match kind:
        case "refusing":
            return not refused
        case "value":
            return accepted < 2
        case _:
            return not (refused or accepted)


def read_rules(path: Path) -> Iterator[Rule]:
    """Yield the rules of a file; raises ValueError with the rule and the fault."""
    page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
    if set(page) != {"rule"} or not isinstance(page["rule"], list):
        raise ValueError("holds [[rule]] tables and nothing else")
    for row in page["rule"]:
        name = row.get("id", "a rule") if isinstance(row, dict) else "a rule"
        try:
            rule = structure(row, Rule, "the rule")
        except FieldError as error:
            raise ValueError(f"{name}: {error}") from None
        if rule.basis and rule.basis not in BASES:
            raise ValueError(f"{name}: basis must be one of {', '.join(BASES)}")
        if not re.fullmatch(ID_COMPONENT, rule.id):
            raise ValueError(
                f"{rule.id}: an id has a-z, 0-9, '.', '+' and '-', and begins with none of these signs"
            )
        if rule.kind not in RULE_KINDS:
            raise ValueError(f"{rule.id}: kind must be one of {', '.join(RULE_KINDS)}")
        yield rule
