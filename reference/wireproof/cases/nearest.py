"""The fixture nearest to some bytes, for `explain`: what it is, it may be a case that has a name."""

import os
from collections.abc import Iterable

from wireproof.cases.case import Case, Data, Reject
from wireproof.wire.classes import RejectClass


def likeness(one: bytes, other: bytes) -> float:
    """The share of bytes that two strings have in common at their ends, 0 to 1."""
    longest = max(len(one), len(other))
    if one == other:
        return 1.0
    head = len(os.path.commonprefix([one, other]))
    tail = len(os.path.commonprefix([one[head:][::-1], other[head:][::-1]]))
    return (head + tail) / longest


def nearest(data: bytes, joined: str, refused: RejectClass | None, cases: Iterable[Case]) -> Case | None:
    """The case of the format `joined` most like `data`; with a refusal, one of the same class first."""

    def score(case: Case) -> tuple[bool, float]:
        assert isinstance(case.input, Data)
        cls = case.expect.cls if isinstance(case.expect, Reject) else None
        return (cls == refused, likeness(data, case.input.data))

    pool = [case for case in cases if case.joined == joined and isinstance(case.input, Data)]
    return max(pool, key=score, default=None)
