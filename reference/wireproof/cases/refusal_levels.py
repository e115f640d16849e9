"""Levels of refusals that nobody wrote down: those of derived, drawn and fuzzed cases.

Where the reference refuses bytes that no golden case has, its class says for which kind of fault, and the
golden cases of the format say how sure that is. A protobuf reader that keeps an unknown field fails no `must`
case, golden or derived. See architecture.md#verdicts.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from attrs import evolve

from wireproof.cases.case import Case, Level, Reject
from wireproof.cases.fixtures import cases_of_format
from wireproof.formats import FORMATS
from wireproof.wire.reject_classes import RejectClass

STRENGTH: Final[tuple[Level, ...]] = ("info", "may", "should", "must")
"""The levels, the weakest first."""

UNSEEN: Final[Level] = "should"
"""The level of a class that no golden case of the format is refused as: only the reference says so."""


def with_refusal_level(case: Case) -> Case:
    """Return the case at a level that its refusal allows; an accepted case is unchanged."""
    if not isinstance(case.expect, Reject):
        return case
    strongest = _levels(case.format_id).get((case.op == "encode", case.expect.cls), UNSEEN)
    level = min(case.level, strongest, key=STRENGTH.index)
    if level == case.level:
        return case
    # such a refusal is no policy against attackers, whatever the golden case is about
    return evolve(case, level=level, flags=tuple(flag for flag in case.flags if flag != "security"))


@lru_cache(maxsize=256)
def _levels(format_id: str) -> Mapping[tuple[bool, RejectClass], Level]:
    """Return the strongest level of a format's refused golden cases, by encode or not, and by class.

    The cases of a stream are those of its entries too.
    """
    found: dict[tuple[bool, RejectClass], Level] = {}
    for name in (format_id, *_entry_formats(format_id)):
        for case in cases_of_format(name):
            if isinstance(case.expect, Reject):
                key = case.op == "encode", case.expect.cls
                found[key] = max(found.get(key, case.level), case.level, key=STRENGTH.index)
    return found


def _entry_formats(format_id: str) -> list[str]:
    """Return the ids of the formats whose values are the entries of a stream."""
    return [
        row.format_id
        for row in FORMATS.values()
        if row.wrapped_by is not None and "/".join(row.wrapped_by[:2]) == format_id
    ]
