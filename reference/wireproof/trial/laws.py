"""The same messages as v0, v1 and v2: what all of them carry is read alike; what is lost is counted.

For each adapter that writes more than one revision, and each one that reads them: the messages that it reads
in the entries of an older revision are those that it reads in the batch of the newest, over the fields that
both revisions have a place for (`sending.CARRIED`). The losses are counted in the reference's readings.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.cases.case import Accept
from wireproof.cases.outcome import Accepted
from wireproof.cases.sending import REVISIONS, carried, lost, told
from wireproof.formats import FORMATS
from wireproof.trial.compare import difference
from wireproof.trial.exchange import Exchanged, Parcel, Party, Post, Read
from wireproof.trial.show import short_field
from wireproof.trial.verdicts import Verdict
from wireproof.wire.observe import project
from wireproof.wire.values import Json

NAME: Final = "kafka.batch"

TOPIC: Final = "laws"
"""Stands in the ids of what holds or not, in the place of a topic."""

Wrote = dict[int, tuple[tuple[Post, Parcel], ...]]
"""By the number of a sending, its entries as one producer wrote them in one spelling."""


@frozen
class Held:
    """One sending in two revisions, as one adapter wrote and one read it.

    Attributes:
        reader: empty where the bytes already say different things, whoever reads them.
        parcels: the older revision's entries.
    """

    producer: str
    reader: str
    older: str
    newer: str
    number: int
    parcels: tuple[Parcel, ...]
    verdict: Verdict


@define
class Loss:
    """What one producer's bytes of an older revision lack, and how many sendings it wrote of each."""

    producer: str
    newer: str
    written: dict[str, int] = field(factory=dict)
    gone: dict[str, Counter[str]] = field(factory=dict)


def losses(exchanged: Exchanged) -> tuple[Loss, ...]:
    """Of each adapter that wrote more than one revision, what the older ones lose."""
    found = []
    for producer, wrote in _producers(exchanged).items():
        newest = _newest(wrote)
        loss = Loss(producer, newest, {revision: len(some) for revision, some in wrote.items()})
        for older in (revision for revision in wrote if revision != newest):
            loss.gone[older] = sum(
                (
                    lost(_ours(wrote[newest][number])[0], _ours(some))
                    for number, some in _common(wrote, older)
                ),
                Counter(),
            )
        found.append(loss)
    return tuple(found)


def laws(exchanged: Exchanged) -> Iterator[Held]:
    """Whether the law holds, of each reader, producer, older revision and sending that it can be asked of.

    A producer that wrote different messages is told once, and its readers are not asked about them.
    """
    readings = {
        party.spec: {one.parcel.case.id: one for some in party.read.values() for one in some}
        for party in exchanged.parties
    }
    for producer, wrote in _producers(exchanged).items():
        newest = _newest(wrote)
        for older in (revision for revision in wrote if revision != newest):
            for number, some in _common(wrote, older):
                entries = wrote[newest][number], some
                parcels = tuple(parcel for _, parcel in some)
                held = Held(producer, "", older, newest, number, parcels, _compared(entries, newest, older))
                if not held.verdict.passing:
                    yield held
                    continue
                for reader, read in readings.items():
                    verdict = _judged(read, entries, (newest, older))
                    if verdict is not None:
                        yield evolve(held, reader=reader, verdict=verdict)


def _producers(exchanged: Exchanged) -> dict[str, dict[str, Wrote]]:
    """By producer and revision what it wrote; those that wrote more than one revision."""
    parcels = {
        (name, post.case.id): parcel
        for some in exchanged.parcels.values()
        for parcel in some
        for name, post in parcel.senders
    }
    found = {}
    for party in exchanged.parties:
        by_revision = {revision: _wrote(party, revision, parcels) for revision in REVISIONS}
        if sum(map(bool, by_revision.values())) > 1:
            found[party.spec] = {revision: some for revision, some in by_revision.items() if some}
    return found


def _wrote(party: Party, revision: str, parcels: Mapping[tuple[str, str], Parcel]) -> Wrote:
    """The first spelling of each sending that it wrote whole, as the reference reads it."""
    by_spelling: dict[tuple[int, int], list[tuple[Post, Parcel | None]]] = {}
    for one in party.written.get(f"{NAME}/{revision}", ()):
        place = one.post.number, one.post.spelling
        by_spelling.setdefault(place, []).append((one.post, parcels.get((party.spec, one.post.case.id))))
    found: Wrote = {}
    for (number, _), some in sorted(by_spelling.items(), key=lambda item: item[0]):
        whole = tuple((post, parcel) for post, parcel in some if parcel is not None and _read_by_us(parcel))
        if len(whole) == len(some):
            found.setdefault(number, whole)
    return found


def _read_by_us(parcel: Parcel) -> bool:
    return isinstance(parcel.case.expect, Accept)


def _newest(wrote: Mapping[str, Wrote]) -> str:
    return max(wrote, key=REVISIONS.index)


def _common(wrote: Mapping[str, Wrote], older: str) -> Iterator[tuple[int, tuple[tuple[Post, Parcel], ...]]]:
    newest = wrote[_newest(wrote)]
    return ((number, some) for number, some in wrote[older].items() if number in newest)


def _ours(some: tuple[tuple[Post, Parcel], ...]) -> list[Json]:
    """The entries as the reference reads them."""
    return [parcel.case.expect.value for _, parcel in some if isinstance(parcel.case.expect, Accept)]


Pair = tuple[tuple[tuple[Post, Parcel], ...], tuple[tuple[Post, Parcel], ...]]
"""The entries of one sending in the newest revision, and in an older one."""


def _compared(entries: Pair, newest: str, older: str) -> Verdict:
    """The verdict on one sending by the reference's readings."""
    one, other = (told(_ours(some)) or [] for some in entries)
    return _equal(one, other, (newest, older))


def _judged(read: Mapping[str, Read], entries: Pair, revisions: tuple[str, str]) -> Verdict | None:
    """The verdict on one sending at one reader; None where it does not read all of both."""
    one, other = (_messages(read, some) for some in entries)
    return None if one is None or other is None else _equal(one, other, revisions)


def _equal(one: list[dict[str, Json]], other: list[dict[str, Json]], revisions: tuple[str, str]) -> Verdict:
    found = difference(carried(one, *revisions), carried(other, *revisions), masked=True)
    if found is None:
        return Verdict("pass", "semantic")
    want, got = (text.removeprefix(".") for text in short_field(found))
    want = f"as {revisions[0]}: {want}"
    return Verdict("fail", "wrong-value", path=f"messages{found.path}", want=want, got=got)


def _messages(
    read: Mapping[str, Read], some: tuple[tuple[Post, Parcel], ...]
) -> list[dict[str, Json]] | None:
    """The messages that a reader reads in some entries; None where it reads one of them not at all."""
    entries: list[Json] = []
    for _, parcel in some:
        one = read.get(parcel.case.id)
        if one is None or not isinstance(one.outcome, Accepted):
            return None
        entries += _shown(one)
    return told(entries)


def _shown(read: Read) -> list[Json]:
    """The entries of a reading, with the fields that the adapter shows."""
    assert isinstance(read.outcome, Accepted)
    value = project(read.outcome.value, read.wanted)
    lifts_to = FORMATS[read.parcel.case.joined].lifts_to
    if lifts_to is None or read.asked.joined == read.parcel.case.joined:
        return [value]
    inner = value.get(lifts_to[2]) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else [None]
