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
    """Readings that depart in one way: those of one row with one reason.

    Attributes:
        reason: the verdict, and the field without indices or the class of the refusal.
        members: the splits in which an adapter stands apart so, by adapter; most first.
    """

    joined: str
    reason: str
    members: Mapping[str, tuple[Split, ...]]

    @property
    def adapter(self) -> str:
        """The one to show."""
        return next(iter(self.members))

    @property
    def first(self) -> Split:
        """The smallest parcel of that adapter's, the one to show."""
        return min(self.members[self.adapter], key=lambda split: len(split.parcel.data))

    @property
    def heard(self) -> Heard:
        """Its reading of that parcel."""
        return next(heard for heard in self.first.apart if heard.adapter == self.adapter)

    @property
    def producers(self) -> tuple[str, ...]:
        """Whose bytes they are."""
        every = (split for some in self.members.values() for split in some)
        return tuple(dict.fromkeys(name for split in every for name in split.parcel.producers))

    @property
    def size(self) -> int:
        """Readings."""
        return sum(map(len, self.members.values()))


def groups(found: Iterable[Split]) -> tuple[Group, ...]:
    """Splits by the way in which somebody departs, the most frequent first in each row."""
    keyed: dict[tuple[str, str], dict[str, list[Split]]] = {}
    for split in found:
        for heard in split.apart:
            key = split.parcel.case.joined, _reason(heard, split)
            keyed.setdefault(key, {}).setdefault(heard.adapter, []).append(split)
    rows = list(dict.fromkeys(joined for joined, _ in keyed))
    made = [Group(joined, reason, _most_first(some)) for (joined, reason), some in keyed.items()]
    return tuple(sorted(made, key=lambda group: (rows.index(group.joined), -group.size)))


def _most_first(some: Mapping[str, list[Split]]) -> dict[str, tuple[Split, ...]]:
    return {name: tuple(some[name]) for name in sorted(some, key=lambda name: -len(some[name]))}


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
    label = "pass" if read.verdict.name == "pass" else read.verdict.label
    if isinstance(read.outcome, Accepted) and isinstance(other.outcome, Accepted):
        found = _value_differs(read, other)
        return f"{label} {without_indices(found.path) if found else 'consumed'}"
    if isinstance(read.outcome, Accepted):
        return f"{label} accepted"
    cls = read.outcome.cls if isinstance(read.outcome, Refused) else ""
    return f"{label} {cls}".strip()
