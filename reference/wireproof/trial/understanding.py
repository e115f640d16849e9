"""Who understands some bytes alike: clusters of the readings of one parcel, the largest first. Pure.

Two readings are alike if they refuse both, or if they accept with one value over the fields that both
adapters show, and as many bytes where both say so. A cluster is held together by its first member; whoever
passes stands for the reference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.outcome import Accepted, Refused
from wireproof.formats import FORMATS
from wireproof.trial.compare import Difference, difference
from wireproof.trial.exchange import Exchanged, Parcel, Read
from wireproof.trial.show import short_field
from wireproof.trial.signature import without_indices
from wireproof.wire.observe import Wanted, both, project
from wireproof.wire.values import Json

OUTSIDE: Final = frozenset({"unsupported", "not-run", "adapter-error", "suite-bug"})
"""Verdicts that say nothing of what was understood."""


@frozen
class Heard:
    """A reading and whose it is."""

    adapter: str
    read: Read


Cluster = tuple[Heard, ...]


@frozen
class Split:
    """A parcel that is not understood alike by all: the largest cluster, and those apart from it."""

    parcel: Parcel
    clusters: tuple[Cluster, ...]

    @property
    def majority(self) -> Cluster:
        """The largest; of two as large, the one that reads as the reference does."""
        return self.clusters[0]

    @property
    def apart(self) -> tuple[Heard, ...]:
        """Everybody else."""
        return tuple(heard for cluster in self.clusters[1:] for heard in cluster)

    def place(self, adapter: str) -> int:
        """The number of an adapter's cluster, from 1 on; 0 for one that is in none."""
        numbered = enumerate(self.clusters, 1)
        return next((n for n, some in numbered if any(one.adapter == adapter for one in some)), 0)

    def said(self, heard: Heard) -> str:
        """How one of those apart departs from the majority, in some words."""
        return departs(heard.read, self.majority[0].read)


@frozen
class Group:
    """Splits with the same members apart, each for the same reason.

    Attributes:
        reasons: of each adapter that is apart: the label of its verdict and the field, without indices.
    """

    joined: str
    splits: tuple[Split, ...]
    reasons: Mapping[str, str]

    @property
    def first(self) -> Split:
        """The smallest parcel of them, the one to show."""
        return min(self.splits, key=lambda split: len(split.parcel.data))

    @property
    def producers(self) -> tuple[str, ...]:
        """Whose bytes they are."""
        return tuple(dict.fromkeys(name for split in self.splits for name in split.parcel.producers))


def groups(found: Iterable[Split]) -> tuple[Group, ...]:
    """Splits by who stands apart and why, the most frequent first in each row."""
    keyed: dict[tuple[str, tuple[tuple[str, str], ...]], list[Split]] = {}
    for split in found:
        reasons = tuple((heard.adapter, _reason(heard, split)) for heard in split.apart)
        keyed.setdefault((split.parcel.case.joined, reasons), []).append(split)
    rows = list(dict.fromkeys(joined for joined, _ in keyed))
    made = [Group(joined, tuple(some), dict(reasons)) for (joined, reasons), some in keyed.items()]
    return tuple(sorted(made, key=lambda group: (rows.index(group.joined), -len(group.splits))))


def splits(exchanged: Exchanged) -> Iterator[Split]:
    """Every parcel of an exchange that is not understood alike by all who read it."""
    for joined, parcels in exchanged.parcels.items():
        heard: dict[str, list[Heard]] = {parcel.case.id: [] for parcel in parcels}
        for party in exchanged.parties:
            for read in party.read.get(joined, ()):
                heard[read.parcel.case.id].append(Heard(party.spec, read))
        for parcel in parcels:
            made = clusters(heard[parcel.case.id])
            if len(made) > 1:
                yield Split(parcel, made)


def clusters(readings: Sequence[Heard]) -> tuple[Cluster, ...]:
    """The readings that say something, by what they understand, the largest cluster first."""
    some = [heard for heard in readings if heard.read.verdict.name not in OUTSIDE]
    found: list[list[Heard]] = []
    for heard in sorted(some, key=lambda heard: heard.read.verdict.name != "pass"):
        home = next((cluster for cluster in found if alike(cluster[0].read, heard.read)), None)
        if home is None:
            found.append([heard])
        else:
            home.append(heard)
    return tuple(tuple(cluster) for cluster in sorted(found, key=len, reverse=True))


def alike(one: Read, other: Read) -> bool:
    """Whether two readings of the same bytes understand them alike."""
    match one.outcome, other.outcome:
        case Accepted() as left, Accepted() as right:
            if left is right:
                return True
            used = left.consumed, right.consumed
            return _value_differs(one, other) is None and (None in used or used[0] == used[1])
        case left, right:
            return type(left) is type(right)


def _value_differs(one: Read, other: Read) -> Difference | None:
    """The first difference of two accepted values, over the fields that both adapters show."""
    shared = both(_listed(one)[1], _listed(other)[1])
    left, right = (project(_listed(read)[0], shared) for read in (one, other))
    return difference(left, right)


def _listed(read: Read) -> tuple[Json, Wanted]:
    """Value and fields as of a stream: an entry that was not lifted stands alone in its list."""
    value = read.outcome.value if isinstance(read.outcome, Accepted) else None
    row = FORMATS[read.parcel.case.joined]
    if row.lifts_to is None or read.asked.joined != row.joined:
        return value, read.wanted
    name = row.lifts_to[2]
    return {name: [value]}, {name: {"[]": read.wanted}}


def departs(one: Read, other: Read) -> str:
    """How a reading departs from another one, in some words."""
    match one.outcome, other.outcome:
        case Accepted() as left, Accepted() as right:
            found = _value_differs(one, other)
            if found is not None:
                mine, theirs = short_field(found)
                return f"{mine}; the others {theirs.partition(' = ')[2]}"
            return f"{left.consumed} bytes consumed; the others {right.consumed}"
        case Accepted(), _:
            return "accepts; the others do not"
        case Refused(cls, at, path, _, text), _:
            where = "" if at is None else f" at {at}"
            return f"refuses: {' '.join(part for part in (cls + where, path, text) if part)}"
        case outcome, _:
            return f"{one.verdict.label}: {one.verdict.text or outcome}"


def _reason(heard: Heard, split: Split) -> str:
    """What makes two departures one."""
    read, other = heard.read, split.majority[0].read
    if isinstance(read.outcome, Accepted) and isinstance(other.outcome, Accepted):
        found = _value_differs(read, other)
        return f"{read.verdict.label} {without_indices(found.path) if found else 'consumed'}"
    cls = read.outcome.cls if isinstance(read.outcome, Refused) else ""
    return f"{read.verdict.label} {cls}".strip()
