"""Group the cases of a campaign by signature. No I/O happens here.

Merging is associative and commutative, and an empty group changes nothing. So the groups of any spans, merged
in any order, are the groups of the whole.
"""

from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field, frozen

from wireproof.runner.signature import Signature


@frozen(order=True)
class SampleKey:
    """A case that has a signature; the smallest come first.

    Attributes:
        size: bytes of its input.
        question: a digest of its question, so that equal questions are stored once.
        number: of the case.
    """

    size: int
    question: str
    number: int


@frozen
class SignatureGroup:
    """The cases of one signature: how many, the number of the first, and the smallest."""

    count: int
    first: int
    smallest: tuple[SampleKey, ...]

    def merged(self, other: "SignatureGroup", most: int) -> "SignatureGroup":
        """Return both together, with at most `most` smallest cases; of equal questions the first is kept."""
        smallest = _smallest((*self.smallest, *other.smallest), most)
        return SignatureGroup(self.count + other.count, min(self.first, other.first), smallest)


def _smallest(samples: Iterable[SampleKey], most: int) -> tuple[SampleKey, ...]:
    by_question: dict[tuple[int, str], SampleKey] = {}
    for sample in sorted(samples):
        by_question.setdefault((sample.size, sample.question), sample)
    return tuple(by_question.values())[:most]


@define
class SignatureGroups:
    """Groups of cases.

    Attributes:
        most: the number of smallest cases that are stored for a group.
        groups: by signature.
    """

    most: int
    groups: dict[Signature, SignatureGroup] = field(factory=dict)

    def add(self, signature: Signature, case: SampleKey, *, sample: bool) -> None:
        """Count a case; `sample` means that it is stored if it is small."""
        self._merge(signature, SignatureGroup(1, case.number, (case,) if sample and self.most else ()))

    def merge(self, other: "SignatureGroups") -> None:
        """Add the groups of another object."""
        for signature, group in other.groups.items():
            self._merge(signature, group)

    def _merge(self, signature: Signature, group: SignatureGroup) -> None:
        before = self.groups.get(signature)
        self.groups[signature] = group if before is None else before.merged(group, self.most)

    def dump(self) -> list[list[Any]]:
        """Return the JSON form, sorted."""
        return [
            [*(getattr(signature, name) for name in SIGNATURE_PARTS), group.count, group.first,
             [[case.size, case.question, case.number] for case in group.smallest]]
            for signature, group in sorted(self.groups.items(), key=lambda pair: pair[0])
        ]  # fmt: skip


SIGNATURE_PARTS: Final = ("implementation", "format", "op", "kind", "cls", "path")


def load_groups(rows: Iterable[list[Any]], most: int) -> SignatureGroups:
    """Return the object that `dump` was called on."""
    groups = SignatureGroups(most)
    for *parts, count, first, smallest in rows:
        smallest_cases = tuple(SampleKey(*parts_of_case) for parts_of_case in smallest)
        groups.groups[Signature(*parts)] = SignatureGroup(count, first, smallest_cases)
    return groups
