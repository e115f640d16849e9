"""The answers of the reference codecs, as outcomes and as expectations.

Every module that needs an answer of the reference in one of these two forms uses this module, so that the
adapter `reference`, the judge, the derived families and `lint` cannot differ. The reference answers any
bytes, so the judge can decide on bytes for which nobody wrote a case.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import (
    Accept,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Generated,
    Level,
    Reject,
    Steps,
    Value,
)
from wireproof.cases.fixtures import cases_of_format
from wireproof.cases.made_case import made_input
from wireproof.cases.outcome import Accepted, Refused, refused_outcome
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import RejectClass, Rejected, Remark
from wireproof.wire.scan_items import Item


@frozen
class ReferenceAnswer:
    """An outcome, and the remarks made on the way to it."""

    outcome: Accepted | Refused
    remarks: tuple[Remark, ...] = ()


def reference_answer(case: Case) -> ReferenceAnswer:
    """Return the answer of the reference to `case`; raise `UnknownFormat`."""
    fmt = formats.get(case.format, case.revision)
    options = case.effective_options
    match case.input:
        case Data(data):
            return decode_answer(fmt, data, options)
        case Value(value):
            return encode_answer(fmt, value, options)
        case Chunks(chunks):
            return scan_answer(fmt, chunks, options)
        case Generated():
            return reference_answer(evolve(case, input=made_input(case)))
        case Steps():
            raise ValueError("the reference keeps no state: it answers no sequence")


def decode_answer(fmt: Format, data: bytes, options: Options) -> ReferenceAnswer:
    """Return the answer to a decode; a rejection has its remarks too."""
    reader = Reader(data, budget=Budget(options.max_output))
    try:
        decoded = formats.decode_with_reader(fmt, reader, options)
    except Rejected as rejected:
        return ReferenceAnswer(refused_outcome(rejected), tuple(reader.remarks))
    value = to_json(decoded.value, with_derived=True)
    return ReferenceAnswer(
        Accepted(value, decoded.consumed, remarks=_classes(decoded.remarks)), decoded.remarks
    )


def encode_answer(fmt: Format, value: Json, options: Options) -> ReferenceAnswer:
    try:
        return ReferenceAnswer(Accepted(data=formats.encode(fmt, value, options)))
    except Rejected as rejected:
        return ReferenceAnswer(refused_outcome(rejected))


def scan_answer(fmt: Format, chunks: Iterable[bytes], options: Options) -> ReferenceAnswer:
    """Return the answer to a scan; raise `UnknownFormat` if the format is not a stream."""
    try:
        items = tuple(formats.scan(fmt, chunks, options))
    except Rejected as rejected:
        return ReferenceAnswer(refused_outcome(rejected))
    remarks = (
        remark.with_prefix(f"items[{number}].value.")
        for number, item in enumerate(items)
        for remark in item.remarks
    )
    return ReferenceAnswer(scan_outcome(items, with_derived=True), tuple(remarks))


def scan_outcome(items: Sequence[Item], *, with_derived: bool = False) -> Accepted:
    remarks = _classes(remark for item in items for remark in item.remarks)
    return Accepted(
        formats.items_json(items, with_derived=with_derived),
        sum(item.length for item in items),
        remarks=remarks,
    )


def _classes(remarks: Iterable[Remark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark.cls for remark in remarks))


def open_to_refusal(case: Case, remarks: Iterable[Remark]) -> Remark | None:
    """Return the first remark by which a codec may refuse what the reference reads; None if it may not.

    It counts only where the answer of the reference is the expectation: a golden case says itself what is
    right.
    """
    if case.golden or case.op == "encode":
        return None
    return next((remark for remark in remarks if remark.rejectable), None)


def reference_expectation(case: Case) -> Expect:
    """Return the answer of the reference as an expectation, for bytes without a written one."""
    return expectation_of(reference_answer(case))


def expectation_of(answer: ReferenceAnswer) -> Expect:
    match answer.outcome:
        case Accepted(value, consumed, data, remarks):
            return Accept(value, consumed, remarks, (data,) if data is not None else ())
        case Refused(cls=cls, at=at, before=before):
            return Reject(cls, (), at, before)


def expectation_of_bytes(fmt: Format, data: bytes, options: Options) -> Expect:
    """Return the expectation for a decode of a derived case.

    It leaves open what is delivered before a rejection, and sorts the remarks: the relation of a family
    compares it with an expectation that has no order.
    """
    match decode_answer(fmt, data, options).outcome:
        case Accepted(value=value, consumed=consumed, remarks=remarks):
            return Accept(value, consumed, tuple(sorted(remarks)))
        case Refused(cls=cls, at=at):
            return Reject(cls, (), at, None)


# --- levels of refusals that nobody wrote down: architecture.md#verdicts ---

STRENGTH: Final[tuple[Level, ...]] = ("info", "may", "should", "must")
"""The levels, the weakest first."""

UNSEEN: Final[Level] = "should"
"""The level of a class that no golden case of the format is refused as: only the reference says so."""

Kind: TypeAlias = tuple[bool, RejectClass]
"""Whether the refused input is a value to encode, and the class."""

_INDEX: Final = re.compile(r"\[[0-9]+\]")


def with_refusal_level(case: Case, answer: ReferenceAnswer | None = None) -> Case:
    """Return the case at a level that its refusal allows; an accepted case is unchanged.

    `answer` is that of the reference, if it is known.

    That is the level of the golden cases that are refused as the same class in the same field. Where there is
    none, it is that of the class; of a value to encode `UNSEEN`, if the golden values of the class do not
    agree. A value whose bytes a reader may refuse is no 'must' for a writer either.
    """
    if isinstance(case.expect, Accept):
        row = FORMATS[case.format_id]
        written = case.expect.data if case.op == "encode" else ()
        answers = (decode_answer(row, data, case.effective_options) for data in written)
        refusable = any(remark.rejectable for answer in answers for remark in answer.remarks)
        return evolve(case, level=_weaker(case.level, UNSEEN)) if refusable else case
    if not isinstance(case.expect, Reject):
        return case
    kind = case.op == "encode", case.expect.cls
    levels = _levels(case.format_id).get(kind, frozenset({UNSEEN}))
    level = _weaker(case.level, max(levels, key=STRENGTH.index))
    if isinstance(case.input, Data | Value) and any(_weaker(known, level) != level for known in levels):
        # an entry of a stream has the paths of its own format behind others
        path, fields = _path(case, answer), _levels_of_fields(case.format_id, kind)
        found = (strongest for known, strongest in fields.items() if _ends_with(path, known))
        default = UNSEEN if case.op == "encode" else level
        level = _weaker(level, max(found, key=STRENGTH.index, default=default))
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
    entries = (row.format_id for row in FORMATS.values() if row.stream_id == format_id)
    for name in (format_id, *entries):
        yield from _refusable_cases_of(name)


@lru_cache(maxsize=256)
def _refusable_cases_of(format_id: str) -> tuple[Case, ...]:
    return tuple(case for case in cases_of_format(format_id) if isinstance(case.expect, Reject | Either))


def _weaker(level: Level, other: Level) -> Level:
    return min(level, other, key=STRENGTH.index)


def _path(case: Case, answer: ReferenceAnswer | None = None) -> str:
    """Return the path, without indices, of the field in which the reference refuses the bytes of a case."""
    outcome = (answer or reference_answer(case)).outcome
    return _INDEX.sub("[]", outcome.path) if isinstance(outcome, Refused) else ""


def _ends_with(path: str, known: str) -> bool:
    return path == known or path.endswith(f".{known}")
