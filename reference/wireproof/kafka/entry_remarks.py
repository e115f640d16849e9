"""Remarks of one entry, at most one of each class, at the first place where it applies.

An entry may contain millions of records, and a remark costs more time and memory than a record.
"""

from wireproof.wire.reader import Reader
from wireproof.wire.rejection import OtherAnswer, Rejected


class EntryRemarks:
    """Adds remarks on one entry, each class once."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        """Start with an entry that has no remarks."""
        self._seen: set[str] = set()

    def add(self, reader: Reader, cls: str, name: str, at: int, others: tuple[OtherAnswer, ...] = ()) -> None:
        """Add the remark `cls` on the field `name` at `at`, unless the entry already has one of its class."""
        if cls not in self._seen:
            self._seen.add(cls)
            reader.remark(cls, name, at=at, others=others)


def with_default_detail(rejected: Rejected, detail: str) -> Rejected:
    """Return the rejection with `detail` if it has none: then a primitive of the reader ran out of bytes."""
    if rejected.detail:
        return rejected
    parts = (rejected.cls, rejected.at, rejected.path, rejected.text)
    return Rejected(*parts, detail=detail, before=rejected.before)
