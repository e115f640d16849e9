"""Levels of refusals that nobody wrote down: those of derived, drawn and fuzzed cases.

Where the reference refuses bytes that no golden case has, its class says for which kind of fault, and its
path in which field; the golden cases of the format say how sure that is. A protobuf reader that keeps an
unknown field fails no `must` case, golden or derived. See architecture.md#verdicts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from attrs import evolve

from wireproof.cases.case import Accept, Case, Data, Either, Level, Reject, Value
from wireproof.cases.fixtures import cases_of_format
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import decode_answer, reference_answer
from wireproof.formats import FORMATS
from wireproof.wire.reject_classes import RejectClass

STRENGTH: Final[tuple[Level, ...]] = ("info", "may", "should", "must")
"""The levels, the weakest first."""

UNSEEN: Final[Level] = "should"
"""The level of a class that no golden case of the format is refused as: only the reference says so."""

Kind: TypeAlias = tuple[bool, RejectClass]
"""Whether the refused input is a value to encode, and the class."""

_INDEX: Final = re.compile(r"\[[0-9]+\]")


def with_refusal_level(case: Case) -> Case:
    """Return the case at a level that its refusal allows; an accepted case is unchanged.

    That is the level of the golden cases that are refused as the same class in the same field; where there is
    none, of those that are refused as the same class in any field. A value whose bytes a reader may refuse is
    no 'must' for a writer either.
    """
    if isinstance(case.expect, Accept):
        return evolve(case, level=_weaker(case.level, UNSEEN)) if _refusable_bytes(case) else case
    if not isinstance(case.expect, Reject):
        return case
    kind = case.op == "encode", case.expect.cls
    levels = _levels(case.format_id).get(kind, frozenset({UNSEEN}))
    level = _weaker(case.level, max(levels, key=STRENGTH.index))
    if isinstance(case.input, Data | Value) and any(_weaker(one, level) != level for one in levels):
        level = _weaker(level, _level_of_field(case, kind, level))
    if level == case.level:
        return case
    # such a refusal is no policy against attackers, whatever the golden case is about
    return evolve(case, level=level, flags=tuple(flag for flag in case.flags if flag != "security"))


def is_left_open(case: Case) -> bool:
    """Return whether golden cases leave open if inputs are refused as this class in this field.

    Which of the values of the field they mean, the class and the field do not say.
    """
    if not isinstance(case.expect, Reject):
        return False
    fields = _open_fields(case.format_id).get((case.op == "encode", case.expect.cls), frozenset())
    return bool(fields) and any(_ends_with(_path(case), known) for known in fields)


def load_levels(format_id: str) -> None:
    """Read the golden cases of a format now, so that no later case has the time and coverage of that."""
    for kind in _levels(format_id):
        _levels_of_fields(format_id, kind)


@lru_cache(maxsize=256)
def _levels(format_id: str) -> dict[Kind, frozenset[Level]]:
    """Return the levels of the golden cases that are refused as each class."""
    found: dict[Kind, frozenset[Level]] = {}
    for kind, case in _refused_cases(format_id):
        found[kind] = found.get(kind, frozenset()) | {case.level}
    return found


def _level_of_field(case: Case, kind: Kind, default: Level) -> Level:
    """Return the level of the field in which a case is refused.

    An entry of a stream has the paths of its own format behind others.
    """
    path, fields = _path(case), _levels_of_fields(case.format_id, kind)
    found = (level for known, level in fields.items() if _ends_with(path, known))
    return max(found, key=STRENGTH.index, default=default)


@lru_cache(maxsize=1024)
def _levels_of_fields(format_id: str, kind: Kind) -> dict[str, Level]:
    """Return the strongest level of each field in which golden cases are refused as a class."""
    fields: dict[str, Level] = {}
    for known, case in _refused_cases(format_id):
        if known == kind and isinstance(case.input, Data | Value):
            path = _path(case)
            fields[path] = max(fields.get(path, case.level), case.level, key=STRENGTH.index)
    return fields


@lru_cache(maxsize=256)
def _open_fields(format_id: str) -> dict[Kind, frozenset[str]]:
    """Return the fields in which the reference refuses what golden cases leave open."""
    found: dict[Kind, set[str]] = {}
    for case in _refusable_cases(format_id):
        if isinstance(case.expect, Either) and isinstance(case.input, Data | Value):
            outcome = reference_answer(case).outcome
            if isinstance(outcome, Refused):
                found.setdefault((case.op == "encode", outcome.cls), set()).add(_path(case))
    return {kind: frozenset(paths) for kind, paths in found.items()}


def _refused_cases(format_id: str) -> Iterator[tuple[Kind, Case]]:
    for case in _refusable_cases(format_id):
        if isinstance(case.expect, Reject):
            yield (case.op == "encode", case.expect.cls), case


def _refusable_cases(format_id: str) -> Iterator[Case]:
    """Yield the golden cases of a format that say what is refused; the entries of a stream have theirs."""
    for name in (format_id, *_entry_formats(format_id)):
        yield from _refusable_cases_of(name)


@lru_cache(maxsize=256)
def _refusable_cases_of(format_id: str) -> tuple[Case, ...]:
    return tuple(case for case in cases_of_format(format_id) if isinstance(case.expect, Reject | Either))


def _weaker(level: Level, other: Level) -> Level:
    return min(level, other, key=STRENGTH.index)


def _refusable_bytes(case: Case) -> bool:
    """Return True for a value to encode of whose bytes the sources let a reader refuse some."""
    if case.op != "encode" or not isinstance(case.expect, Accept):
        return False
    row = FORMATS[case.format_id]
    answers = (decode_answer(row, data, case.effective_options) for data in case.expect.data)
    return any(remark.rejectable for answer in answers for remark in answer.remarks)


def _path(case: Case) -> str:
    """Return the path, without indices, of the field in which the reference refuses the bytes of a case."""
    outcome = reference_answer(case).outcome
    return _INDEX.sub("[]", outcome.path) if isinstance(outcome, Refused) else ""


def _ends_with(path: str, known: str) -> bool:
    return path == known or path.endswith(f".{known}")


def _entry_formats(format_id: str) -> list[str]:
    """Return the ids of the formats whose values are the entries of a stream."""
    return [
        row.format_id
        for row in FORMATS.values()
        if row.wrapped_by is not None and "/".join(row.wrapped_by[:2]) == format_id
    ]
