"""Disagreements: clusters of the readings of one encoded message, the largest first. Pure.

Two readings agree if both reject, or if both accept with one value over the fields that both adapters show,
and with the same bytes consumed where both report them. A cluster is compared with its first member; a
passing reading stands for the reference.
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
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import FieldTree, common_tree, project

OUTSIDE: Final = frozenset({"unsupported", "not-run", "adapter-error", "suite-bug"})
"""Verdicts that are no reading of the bytes."""


@frozen
class Heard:
    """A reading and its adapter."""

    adapter: str
    read: Read


Cluster = tuple[Heard, ...]


@frozen
class Split:
    """An encoded message on which the readers disagree: the largest cluster, and the others."""

    parcel: Parcel
    clusters: tuple[Cluster, ...]

    @property
    def majority(self) -> Cluster:
        """Return the largest cluster; of two equal ones, that of the reference."""
        return self.clusters[0]

    @property
    def apart(self) -> tuple[Heard, ...]:
        """Return the readings outside the majority."""
        return tuple(heard for cluster in self.clusters[1:] for heard in cluster)

    def place(self, adapter: str) -> int:
        """Return the number of an adapter's cluster, from 1 on; 0 if it is in none."""
        numbered = enumerate(self.clusters, 1)
        return next((n for n, some in numbered if any(one.adapter == adapter for one in some)), 0)

    def said(self, heard: Heard) -> str:
        """Describe how a reading differs from the majority."""
        return departs(heard.read, self.majority[0].read)


@frozen
class Group:
    """Readings that differ in one way: of one format, with one reason.

    Attributes:
        reason: the verdict, and the field without indices or the reject class.
        members: the disagreements by minority adapter, the most frequent first.
    """

    joined: str
    reason: str
    members: Mapping[str, tuple[Split, ...]]

    @property
    def adapter(self) -> str:
        """Return the adapter to show."""
        return next(iter(self.members))

    @property
    def first(self) -> Split:
        """Return the smallest message of that adapter, to show."""
        return min(self.members[self.adapter], key=lambda split: len(split.parcel.data))

    @property
    def heard(self) -> Heard:
        """Return its reading of that message."""
        return next(heard for heard in self.first.apart if heard.adapter == self.adapter)

    @property
    def producers(self) -> tuple[str, ...]:
        """Return the writers of the bytes."""
        every = (split for some in self.members.values() for split in some)
        return tuple(dict.fromkeys(name for split in every for name in split.parcel.producers))

    @property
    def size(self) -> int:
        """Return the number of readings."""
        return sum(map(len, self.members.values()))


def groups(found: Iterable[Split]) -> tuple[Group, ...]:
    """Return the disagreements by kind of difference, the most frequent first in each format."""
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
    """Yield the encoded messages of an interop run on which the readers disagree."""
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
    """Return the readings in clusters that agree, the largest cluster first."""
    readings_kept = [heard for heard in readings if heard.read.verdict.name not in OUTSIDE]
    found: list[list[Heard]] = []
    for heard in sorted(readings_kept, key=lambda heard: heard.read.verdict.name != "pass"):
        cluster_found = next((cluster for cluster in found if alike(cluster[0].read, heard.read)), None)
        if cluster_found is None:
            found.append([heard])
        else:
            cluster_found.append(heard)
    return tuple(tuple(cluster) for cluster in sorted(found, key=len, reverse=True))


def alike(one: Read, other: Read) -> bool:
    """Return whether two readings of the same bytes agree."""
    match one.outcome, other.outcome:
        case Accepted() as left, Accepted() as right:
            if left is right:
                return True
            used = left.consumed, right.consumed
            return _value_differs(one, other) is None and (None in used or used[0] == used[1])
        case left, right:
            return type(left) is type(right)


def _value_differs(one: Read, other: Read) -> Difference | None:
    """Return the first difference of two accepted values, over the fields that both adapters show."""
    shared = common_tree(_as_stream(one)[1], _as_stream(other)[1])
    left, right = (project(_as_stream(read)[0], shared) for read in (one, other))
    return difference(left, right)


def _as_stream(read: Read) -> tuple[Json, FieldTree]:
    """Return value and fields as of a stream: an entry that was not wrapped becomes a list of one."""
    value = read.outcome.value if isinstance(read.outcome, Accepted) else None
    row = FORMATS[read.parcel.case.joined]
    if row.wrapped_by is None or read.asked.joined != row.joined:
        return value, read.wanted
    name = row.wrapped_by[2]
    return {name: [value]}, {name: {"[]": read.wanted}}


def departs(one: Read, other: Read) -> str:
    """Describe how a reading differs from another."""
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
    """Return the key that groups equal differences."""
    read, other = heard.read, split.majority[0].read
    label = "pass" if read.verdict.name == "pass" else read.verdict.label
    if isinstance(read.outcome, Accepted) and isinstance(other.outcome, Accepted):
        found = _value_differs(read, other)
        return f"{label} {without_indices(found.path) if found else 'consumed'}"
    if isinstance(read.outcome, Accepted):
        return f"{label} accepted"
    cls = read.outcome.cls if isinstance(read.outcome, Refused) else ""
    return f"{label} {cls}".strip()
