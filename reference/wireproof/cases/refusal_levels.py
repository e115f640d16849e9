"""Levels of refusals that nobody wrote down: those of derived, drawn and fuzzed cases.

Where the reference refuses bytes that no golden case has, its class says for which kind of fault, and its
path in which field; the golden cases of the format say how sure that is. A protobuf reader that keeps an
unknown field fails no `must` case, golden or derived. See architecture.md#verdicts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from attrs import evolve, field, frozen

from wireproof.cases.case import Accept, Case, Data, Either, Expect, Level, Reject, Value
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


@frozen
class RefusalLevels:
    """The strongest levels of the refused golden cases of a format.

    Attributes:
        by_class: by encode or not, and by class.
        by_field: the same, and by path without indices.
    """

    by_class: dict[Kind, Level] = field(factory=dict)
    by_field: dict[Kind, dict[str, Level]] = field(factory=dict)

    def differs(self, kind: Kind, level: Level) -> bool:
        """Return True if some field refused as this class has a level below `level`."""
        found = self.by_field.get(kind, {}).values()
        return any(STRENGTH.index(one) < STRENGTH.index(level) for one in found)

    def of_field(self, kind: Kind, path: str) -> Level | None:
        """Return the level of a field; an entry of a stream has the paths of its own format behind others."""
        found = [level for known, level in self.by_field.get(kind, {}).items() if _ends_with(path, known)]
        return max(found, key=STRENGTH.index, default=None)


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
    levels, kind = _levels(case.format_id), (case.op == "encode", case.expect.cls)
    level = _weaker(case.level, levels.by_class.get(kind, UNSEEN))
    if isinstance(case.input, Data | Value) and levels.differs(kind, level):
        level = _weaker(level, levels.of_field(kind, _path(case)) or level)
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


@lru_cache(maxsize=256)
def _open_fields(format_id: str) -> dict[Kind, frozenset[str]]:
    """Return the fields in which the reference refuses what golden cases leave open."""
    found: dict[Kind, set[str]] = {}
    for case in _cases_with(format_id, Either):
        if isinstance(case.input, Data | Value):
            outcome = reference_answer(case).outcome
            if isinstance(outcome, Refused):
                found.setdefault((case.op == "encode", outcome.cls), set()).add(_path(case))
    return {kind: frozenset(paths) for kind, paths in found.items()}


def load_levels(format_id: str) -> None:
    """Read the golden cases of a format now, so that no later case has the time and coverage of that."""
    _levels(format_id)


@lru_cache(maxsize=256)
def _levels(format_id: str) -> RefusalLevels:
    """Return the levels of a format's golden cases; those of the entries of a stream are its own too."""
    found = RefusalLevels()
    for case in _cases_with(format_id, Reject):
        assert isinstance(case.expect, Reject)
        key = case.op == "encode", case.expect.cls
        found.by_class[key] = _stronger(found.by_class.get(key), case.level)
        if isinstance(case.input, Data | Value):
            fields = found.by_field.setdefault(key, {})
            path = _path(case)
            fields[path] = _stronger(fields.get(path), case.level)
    return found


def _cases_with(format_id: str, expect: type[Expect]) -> Iterator[Case]:
    for name in (format_id, *_entry_formats(format_id)):
        yield from (case for case in cases_of_format(name) if isinstance(case.expect, expect))


def _stronger(known: Level | None, level: Level) -> Level:
    return level if known is None else max(known, level, key=STRENGTH.index)


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
