"""Remarks of one entry, each class once: the first place where it holds tells enough.

An entry may hold millions of records, and a remark costs more than the record that it speaks of.
"""

from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Other, Rejected


class Notes:
    """What was remarked of the entry at hand."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        """Nothing yet."""
        self._seen: set[str] = set()

    def once(self, reader: Reader, cls: str, name: str, at: int, others: tuple[Other, ...] = ()) -> None:
        """Leave the remark `cls` on the field `name` at `at`, unless it was left on this entry before."""
        if cls not in self._seen:
            self._seen.add(cls)
            reader.remark(cls, name, at=at, others=others)


def named(refused: Rejected, detail: str) -> Rejected:
    """The refusal under the rule book's name `detail`, unless it bears one: bytes ran out in a primitive."""
    if refused.detail:
        return refused
    parts = (refused.cls, refused.at, refused.path, refused.text)
    return Rejected(*parts, detail=detail, before=refused.before)
