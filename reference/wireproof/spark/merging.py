"""What a campaign gathers: groups of cases by signature. Pure.

To merge is associative and commutative, and a group of nothing changes nothing: so the groups of any
spans, in any order and in any bunches, are the groups of the whole.
"""

from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field, frozen

from wireproof.trial.signature import Signature


@frozen(order=True)
class Shown:
    """A case that shows a signature; the smallest come first.

    Attributes:
        size: bytes of its input.
        seal: of its question, so that equal ones are kept once.
        number: of the case.
    """

    size: int
    seal: str
    number: int


@frozen
class Group:
    """The cases of one signature: how many, the first one's number, the smallest."""

    count: int
    first: int
    smallest: tuple[Shown, ...]

    def merged(self, other: "Group", most: int) -> "Group":
        """Both together, with at most `most` of the smallest; of equal questions the first one is kept."""
        smallest = _least((*self.smallest, *other.smallest), most)
        return Group(self.count + other.count, min(self.first, other.first), smallest)


def _least(shown: Iterable[Shown], most: int) -> tuple[Shown, ...]:
    by_question: dict[tuple[int, str], Shown] = {}
    for one in sorted(shown):
        by_question.setdefault((one.size, one.seal), one)
    return tuple(by_question.values())[:most]


@define
class Gathered:
    """The groups of some cases.

    Attributes:
        most: of the smallest cases of a group that are kept.
        groups: by signature.
    """

    most: int
    groups: dict[Signature, Group] = field(factory=dict)

    def add(self, signature: Signature, shown: Shown, *, sample: bool) -> None:
        """Count a case; `sample`: it is worth showing."""
        self._merge(signature, Group(1, shown.number, (shown,) if sample and self.most else ()))

    def merge(self, other: "Gathered") -> None:
        """Take in what another one gathered."""
        for signature, group in other.groups.items():
            self._merge(signature, group)

    def _merge(self, signature: Signature, group: Group) -> None:
        before = self.groups.get(signature)
        self.groups[signature] = group if before is None else before.merged(group, self.most)

    def dump(self) -> list[list[Any]]:
        """As JSON, in order."""
        return [
            [*(getattr(signature, name) for name in PARTS), group.count, group.first,
             [[one.size, one.seal, one.number] for one in group.smallest]]
            for signature, group in sorted(self.groups.items(), key=lambda pair: pair[0])
        ]  # fmt: skip


PARTS: Final = ("implementation", "format", "op", "kind", "cls", "path")


def gathered(rows: Iterable[list[Any]], most: int) -> Gathered:
    """What `dump` gave."""
    found = Gathered(most)
    for *parts, count, first, smallest in rows:
        shown = tuple(Shown(*one) for one in smallest)
        found.groups[Signature(*parts)] = Group(count, first, shown)
    return found
