"""Wrap the case of one entry as a stream, for an adapter that knows only streams of such entries.

An adapter that reads record sets declares `kafka.log` only; each `kafka.batch` case is wrapped for it. The
value becomes an element of the list of entries, and a truncation becomes a prefix and a tail. One entry
ignores the bytes after it, a stream does not; so bytes after `consumed` are cut off if the case states it.
"""

from collections.abc import Set as AbstractSet

from attrs import evolve

from wireproof.cases.case import (
    ORIGIN_REFERENCE,
    Accept,
    Behaviour,
    Case,
    Data,
    Either,
    Expect,
    Generated,
    Reject,
)
from wireproof.cases.reference_answers import expectation_of_bytes
from wireproof.cases.stream_prefix import stream_value
from wireproof.formats import FORMATS, Format

TRUNCATED = "truncated"
"""The class without meaning for a stream, where a truncation is a tail."""


def wrap_case(case: Case, row: Format, unknown: AbstractSet[str] = frozenset()) -> Case:
    """Return the decode `case` of format `row` as a case of the stream `row.lifts_to`.

    It keeps its id. A case that cannot be wrapped, because it is no decode or `row` has no stream, is
    returned unchanged. If only the reference gives the expectation, the reference decodes the stream again;
    so it does for an entry rejected as one of another revision, because in a stream each entry has its own
    magic. But a reader that does not know that revision, one of the format ids in `unknown`, rejects it in a
    stream too.
    """
    if row.wrapped_by is None or case.op != "decode" or not isinstance(case.input, Data | Generated):
        return case
    name, revision, entries = row.wrapped_by
    if isinstance(case.input, Generated):
        return evolve(case, format=name, revision=revision, input=evolve(case.input, list_name=entries))
    if case.source.origin == ORIGIN_REFERENCE or _foreign(case, row, unknown):
        open_answer = expectation_of_bytes(FORMATS[f"{name}/{revision}"], case.input.data, case.options)
        return evolve(case, format=name, revision=revision, expect=open_answer)
    return evolve(
        case,
        format=name,
        revision=revision,
        input=Data(
            case.input.data[: case.expect.consumed] if isinstance(case.expect, Accept) else case.input.data
        ),
        expect=_wrapped_expectation(case.expect, name, entries),
    )


def _foreign(case: Case, row: Format, unknown: AbstractSet[str]) -> bool:
    """Return whether a case is rejected by its magic, and another known revision of the format reads it."""
    if not isinstance(case.expect, Reject) or case.expect.cls != "bad-magic":
        return False
    assert isinstance(case.input, Data)
    others = (
        fmt
        for fmt in FORMATS.values()
        if fmt.name == row.name and fmt != row and fmt.format_id not in unknown
    )
    answers = (expectation_of_bytes(other, case.input.data, case.options) for other in others)
    return any(isinstance(answer, Accept) for answer in answers)


def _wrapped_expectation(expect: Expect, stream: str, entries: str) -> Expect:
    match expect:
        case Accept(value=value):
            return evolve(expect, value=stream_value(stream, entries, [value]))
        case Reject():
            # Turn a truncation into a tail; if another rejection is right too, both answers are. A case
            # whose first class is another one is no tail: all its bytes are there.
            frames = [] if expect.before is None else [expect.before]
            delivered = stream_value(stream, entries, frames, ended=False)
            tail = Accept(delivered, 0)
            others = tuple(cls for cls in (expect.cls, *expect.also) if cls != TRUNCATED)
            if not others:
                return tail
            refusal = evolve(expect, cls=others[0], also=others[1:], before=delivered if frames else None)
            if expect.cls != TRUNCATED:
                return refusal
            return Either((Behaviour("tail", tail), Behaviour("refused", refusal)))
        case Either(behaviours):
            flat: list[Behaviour] = []
            for behaviour in behaviours:  # a rejection that becomes two answers keeps its name in both
                wrapped = _wrapped_expectation(behaviour.expect, stream, entries)
                if isinstance(wrapped, Either):
                    flat += (
                        Behaviour(f"{behaviour.id}-{part.id}", part.expect) for part in wrapped.behaviours
                    )
                else:
                    flat.append(Behaviour(behaviour.id, wrapped))
            return Either(tuple(flat))
