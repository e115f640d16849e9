"""The meaning of remarks, for a person who looks at bytes: a sentence for each class.

A remark says that the format leaves the answer open. It is no fault: the bytes may be correct.
"""

from collections.abc import Iterator, Sequence

from wireproof.wire.rejection import Remark
from wireproof.wire.remark_classes import REMARK_CLASSES


def remark_text_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark class that occurs: its meaning, its count, and its first position."""
    by_class: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_class.setdefault(remark.cls, []).append(remark)
    for found in by_class.values():
        yield remark_line(found[0], len(found))


def remark_line(first: Remark, count: int) -> str:
    """Return the line of a class of remarks: its first one, and how many there are."""
    often = f"{count} times, first at" if count > 1 else "at"
    meaning = REMARK_CLASSES[first.cls].meaning
    return f"remark {first.cls}, {often} {first.at} ({first.path}): {meaning}; {_allowed(first)}"


def misfit_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark on damaged bytes, however readers may treat them."""
    for one in remarks:
        yield f"wrong: {one.cls} at {one.at} ({one.path}): {REMARK_CLASSES[one.cls].meaning}"


def _allowed(remark: Remark) -> str:
    """Return the other answers that a reader may give."""
    others = [f"another value ({other.name}: {other.value})" for other in remark.others]
    also = [*["a refusal"] * remark.rejectable, *others]
    return f"allowed, and so is {' or '.join(also)}" if also else "allowed"
