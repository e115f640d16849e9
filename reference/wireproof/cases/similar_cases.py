"""The fixture most similar to some bytes, for `explain`: it may be a case that is already known."""

from collections.abc import Iterable

from wireproof.cases.case import Case, Data, Reject
from wireproof.wire.reject_classes import RejectClass


def similarity(one: bytes, other: bytes) -> float:
    """Return the share of bytes that two strings have in common at their ends, 0 to 1."""
    longest = max(len(one), len(other))
    if one == other:
        return 1.0
    head = _alike(one, other)
    return (head + _alike(one[head:][::-1], other[head:][::-1])) / longest


def _alike(one: bytes, other: bytes) -> int:
    """Return the number of bytes that two strings share at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def most_similar(
    data: bytes, format_id: str, refused: RejectClass | None, cases: Iterable[Case]
) -> Case | None:
    """Return the case of a format most similar to `data`; with a rejection, one of the same class first."""

    def score(case: Case) -> tuple[bool, float]:
        assert isinstance(case.input, Data)
        cls = case.expect.cls if isinstance(case.expect, Reject) else None
        return (cls == refused, similarity(data, case.input.data))

    pool = [case for case in cases if case.format_id == format_id and isinstance(case.input, Data)]
    return max(pool, key=score, default=None)
