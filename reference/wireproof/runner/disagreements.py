"""Disagreements: clusters of the readings of one encoded message, the largest first. Pure.

Two readings agree if both reject, or if both accept with one value over the fields that both adapters show,
and with the same bytes consumed where both report them. A cluster is compared with its first member; a
passing reading represents the reference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.outcome import Accepted, Refused
from wireproof.formats import FORMATS
from wireproof.runner.interop import DecodeResult, EncodedMessage, InteropRun
from wireproof.runner.signature import without_indices
from wireproof.runner.summaries import short_field
from wireproof.runner.value_diff import ValueDifference, first_difference
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import FieldTree, common_tree, project

NO_READING: Final = frozenset({"unsupported", "not-run", "adapter-error", "suite-bug"})
"""Verdicts that are no reading of the bytes."""


@frozen
class Reading:
    """A reading and its adapter."""

    adapter: str
    read: DecodeResult


Cluster = tuple[Reading, ...]


@frozen
class Disagreement:
    """An encoded message on which the readers disagree: the largest cluster, and the others."""

    encoded_message: EncodedMessage
    clusters: tuple[Cluster, ...]

    @property
    def majority(self) -> Cluster:
        """Return the largest cluster; of two equal ones, that of the reference."""
        return self.clusters[0]

    @property
    def apart(self) -> tuple[Reading, ...]:
        """Return the readings outside the majority."""
        return tuple(heard for cluster in self.clusters[1:] for heard in cluster)

    def place(self, adapter: str) -> int:
        """Return the number of an adapter's cluster, from 1 on; 0 if it is in none."""
        numbered = enumerate(self.clusters, 1)
        return next((n for n, some in numbered if any(one.adapter == adapter for one in some)), 0)

    def difference(self, heard: Reading) -> str:
        """Describe how a reading differs from the majority."""
        return describe_difference(heard.read, self.majority[0].read)


@frozen
class DisagreementGroup:
    """Readings that differ in one way: of one format, with one reason.

    Attributes:
        reason: the verdict, and the field without indices or the reject class.
        members: the disagreements by minority adapter, the most frequent first.
    """

    format_id: str
    reason: str
    members: Mapping[str, tuple[Disagreement, ...]]

    @property
    def adapter(self) -> str:
        """Return the adapter to show."""
        return next(iter(self.members))

    @property
    def first(self) -> Disagreement:
        """Return the smallest message of that adapter, to show."""
        return min(self.members[self.adapter], key=lambda split: len(split.encoded_message.data))

    @property
    def heard(self) -> Reading:
        """Return its reading of that message."""
        return next(heard for heard in self.first.apart if heard.adapter == self.adapter)

    @property
    def producers(self) -> tuple[str, ...]:
        """Return the writers of the bytes."""
        every = (split for some in self.members.values() for split in some)
        return tuple(dict.fromkeys(name for split in every for name in split.encoded_message.producers))

    @property
    def size(self) -> int:
        """Return the number of readings."""
        return sum(map(len, self.members.values()))


def group_disagreements(found: Iterable[Disagreement]) -> tuple[DisagreementGroup, ...]:
    """Return the disagreements by kind of difference, the most frequent first in each format."""
    keyed: dict[tuple[str, str], dict[str, list[Disagreement]]] = {}
    for split in found:
        for heard in split.apart:
            key = split.encoded_message.case.format_id, _reason(heard, split)
            keyed.setdefault(key, {}).setdefault(heard.adapter, []).append(split)
    rows = list(dict.fromkeys(format_id for format_id, _ in keyed))
    made = [
        DisagreementGroup(format_id, reason, _most_first(some)) for (format_id, reason), some in keyed.items()
    ]
    return tuple(sorted(made, key=lambda group: (rows.index(group.format_id), -group.size)))


def _most_first(some: Mapping[str, list[Disagreement]]) -> dict[str, tuple[Disagreement, ...]]:
    return {name: tuple(some[name]) for name in sorted(some, key=lambda name: -len(some[name]))}


def find_disagreements(exchanged: InteropRun) -> Iterator[Disagreement]:
    """Yield the encoded messages of an interop run on which the readers disagree."""
    for format_id, encoded_messages in exchanged.encoded_messages.items():
        heard: dict[str, list[Reading]] = {
            encoded_message.case.id: [] for encoded_message in encoded_messages
        }
        for participant in exchanged.participants:
            for read in participant.read.get(format_id, ()):
                heard[read.encoded_message.case.id].append(Reading(participant.spec, read))
        for encoded_message in encoded_messages:
            made = clusters(heard[encoded_message.case.id])
            if len(made) > 1:
                yield Disagreement(encoded_message, made)


def clusters(readings: Sequence[Reading]) -> tuple[Cluster, ...]:
    """Return the readings in clusters that agree, the largest cluster first."""
    readings_kept = [heard for heard in readings if heard.read.verdict.name not in NO_READING]
    found: list[list[Reading]] = []
    for heard in sorted(readings_kept, key=lambda heard: heard.read.verdict.name != "pass"):
        cluster_found = next(
            (cluster for cluster in found if readings_agree(cluster[0].read, heard.read)), None
        )
        if cluster_found is None:
            found.append([heard])
        else:
            cluster_found.append(heard)
    return tuple(tuple(cluster) for cluster in sorted(found, key=len, reverse=True))


def readings_agree(one: DecodeResult, other: DecodeResult) -> bool:
    """Return whether two readings of the same bytes agree."""
    match one.outcome, other.outcome:
        case Accepted() as left, Accepted() as right:
            if left is right:
                return True
            used = left.consumed, right.consumed
            return _value_differs(one, other) is None and (None in used or used[0] == used[1])
        case left, right:
            return type(left) is type(right)


def _value_differs(one: DecodeResult, other: DecodeResult) -> ValueDifference | None:
    """Return the first difference of two accepted values, over the fields that both adapters show."""
    shared = common_tree(_as_stream(one)[1], _as_stream(other)[1])
    left, right = (project(_as_stream(read)[0], shared) for read in (one, other))
    return first_difference(left, right)


def _as_stream(read: DecodeResult) -> tuple[Json, FieldTree]:
    """Return value and fields as of a stream: an entry that was not wrapped becomes a list of one."""
    value = read.outcome.value if isinstance(read.outcome, Accepted) else None
    row = FORMATS[read.encoded_message.case.format_id]
    if row.wrapped_by is None or read.asked.format_id != row.format_id:
        return value, read.wanted
    name = row.wrapped_by[2]
    return {name: [value]}, {name: {"[]": read.wanted}}


def describe_difference(one: DecodeResult, other: DecodeResult) -> str:
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


def _reason(heard: Reading, split: Disagreement) -> str:
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
