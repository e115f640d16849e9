"""A case of one entry, asked of an adapter that knows only the stream that such entries form.

Design, section 3, "decode and scan": an adapter over a record-set reader declares `kafka.log` only; each
`kafka.batch` case is lifted to it. The value stands inside the list of entries, and a truncation is the
prefix and a tail. One entry ignores what follows it, a stream does not; so bytes after `consumed` are
cut off where the case knows `consumed`.
"""

from collections.abc import Set as AbstractSet

from attrs import evolve

from wireproof.cases.case import Accept, Behaviour, Case, Data, Either, Expect, Reject
from wireproof.cases.derived import OPEN, reference
from wireproof.formats import FORMATS, Format
from wireproof.wire.values import Json

TORN = "truncated"
"""The class that a stream does not know: what it means there is a tail."""


def lift(case: Case, row: Format, unknown: AbstractSet[str] = frozenset()) -> Case:
    """The decode `case` of `row`, as a case of the stream that `row.lifts_to` names.

    It keeps its id. A case that cannot be lifted, because it is no decode or `row` lifts to nothing,
    comes back as it is. What only the reference answers is asked of the stream's reference again, and so is
    an entry that is refused for being of another revision: in a stream the magic is each entry's own. But to
    a reader that does not know that revision, one of the joined names in `unknown`, it is as foreign there.
    """
    if row.lifts_to is None or case.op != "decode" or not isinstance(case.input, Data):
        return case
    name, revision, entries = row.lifts_to
    if case.source.origin == OPEN or _foreign(case, row, unknown):
        open_answer = reference(FORMATS[f"{name}/{revision}"], case.input.data, case.options)
        return evolve(case, format=name, revision=revision, expect=open_answer)
    return evolve(
        case,
        format=name,
        revision=revision,
        input=Data(_cut(case.input.data, case.expect)),
        expect=_lifted(case.expect, entries),
    )


def _foreign(case: Case, row: Format, unknown: AbstractSet[str]) -> bool:
    """Whether a case is refused by its magic, and a further known row of the same format reads it."""
    if not isinstance(case.expect, Reject) or case.expect.cls != "bad-magic":
        return False
    assert isinstance(case.input, Data)
    others = (
        one for one in FORMATS.values() if one.name == row.name and one != row and one.joined not in unknown
    )
    answers = (reference(other, case.input.data, case.options) for other in others)
    return any(isinstance(answer, Accept) for answer in answers)


def _cut(data: bytes, expect: Expect) -> bytes:
    return data[: expect.consumed] if isinstance(expect, Accept) else data


def _lifted(expect: Expect, entries: str) -> Expect:
    match expect:
        case Accept(value=value):
            return evolve(expect, value={entries: [value]})
        case Reject():
            return _lifted_reject(expect, entries)
        case Either(behaviours):
            return Either(_flat(behaviours, entries))


def _lifted_reject(reject: Reject, entries: str) -> Expect:
    """A truncation becomes a tail; if it may be refused for another reason too, both answers are right.

    A case that is refused for another reason in the first place is no tail: all its bytes are there.
    """
    tail = Accept({entries: _before(reject)}, 0)
    others = tuple(cls for cls in (reject.cls, *reject.also) if cls != TORN)
    if not others:
        return tail
    before: Json = None if reject.before is None else {entries: [reject.before]}
    refusal = evolve(reject, cls=others[0], also=others[1:], before=before)
    if reject.cls != TORN:
        return refusal
    return Either((Behaviour("tail", tail), Behaviour("refused", refusal)))


def _before(reject: Reject) -> list[Json]:
    return [] if reject.before is None else [reject.before]


def _flat(behaviours: tuple[Behaviour, ...], entries: str) -> tuple[Behaviour, ...]:
    """Lifted one by one; a refusal that became two answers keeps its name in both."""
    flat: list[Behaviour] = []
    for one in behaviours:
        match _lifted(one.expect, entries):
            case Either(inner):
                flat.extend(Behaviour(f"{one.id}-{part.id}", part.expect) for part in inner)
            case Accept() | Reject() as expect:
                flat.append(Behaviour(one.id, expect))
    return tuple(flat)
