"""How much of some bytes is a log of a format, as evidence for the format: what its checksums prove.

Nothing is said of what is wrong with them: that is what the walk is for (`wireproof.wire.walk`).
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from attrs import field, frozen

from wireproof import formats
from wireproof.formats import Format, steps_of
from wireproof.wire.byte_source import BytesSource
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import items


@frozen
class LogSurvey:
    """The whole entries of a log.

    Attributes:
        size: bytes of the log.
        entries: the number of whole accepted entries.
        proven: bytes of those with a checksum over at least one message.
        tail: bytes at the end that begin an entry.
        whole: whether every byte belongs to a whole accepted entry.
        remarks: those of the entries.
    """

    size: int
    entries: int = 0
    proven: int = 0
    tail: int = 0
    whole: bool = True
    remarks: Counter[str] = field(factory=Counter)


def survey_log(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, doubting the sizes of damaged entries."""
    return _survey(data, items(steps_of(fmt), BytesSource(data), options))


def quick_survey(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, trusting every size."""
    return _survey(data, formats.scan(fmt, [data], options))


def _survey(data: bytes, found: Iterable[Item]) -> LogSurvey:
    entries = proven = tail = 0
    whole, remarks = True, Counter[str]()
    for item in found:
        whole = whole and item.kind == "frame"
        tail = item.length if item.kind == "tail" else 0
        if item.kind == "frame":
            entries += 1
            proven += item.length * _proven(item.value)
            remarks.update(remark.cls for remark in item.remarks)
    return LogSurvey(len(data), entries, proven, tail, whole, remarks)


def _proven(value: Any) -> bool:  # noqa: ANN401 - any entry's class
    """Return whether an entry has content: a checksum of nothing is right even in zeros."""
    parts = getattr(value, "messages", None)
    if parts is None:
        return bool(getattr(value, "payload", True))
    return bool(parts) and all(_proven(part) for part in parts)


@cache
def mismatch_remarks() -> frozenset[str]:
    """Return the remarks on a wrong checksum or count: a reader may ignore it, but the bytes are damaged."""
    return frozenset(name for name, one in formats.remark_classes().items() if one.mismatch)
