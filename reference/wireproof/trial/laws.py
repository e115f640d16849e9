"""Cross-version checks: the same messages as v0, v1 and v2 are read alike; lost fields are counted.

For each adapter that writes more than one revision, and each reader: the messages that it reads in the
entries of an older revision are those that it reads in the batch of the newest, over the fields of both
revisions (`sending.CARRIED`). Losses are counted in the reference's readings.
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
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import project

NAME: Final = "kafka.batch"

TOPIC: Final = "laws"
"""Replaces the topic in the ids of these checks."""

Wrote = dict[int, tuple[tuple[Post, Parcel], ...]]
"""By number of the message set, its entries as one producer wrote them in one encoding."""


@frozen
class Held:
    """One message set in two revisions, as one adapter wrote and one read it.

    Attributes:
        reader: empty if the bytes differ already in the reference's readings.
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
    """The fields that one producer's bytes of older revisions lack; `written`: message sets by revision."""

    producer: str
    newer: str
    written: dict[str, int] = field(factory=dict)
    gone: dict[str, Counter[str]] = field(factory=dict)


def losses(exchanged: Exchanged) -> tuple[Loss, ...]:
    """Return the losses of the older revisions, for each adapter that wrote more than one revision."""
    found = []
    for producer, wrote in _producers(exchanged).items():
        newest = _newest(wrote)
        loss = Loss(producer, newest, {revision: len(pairs) for revision, pairs in wrote.items()})
        for older in (revision for revision in wrote if revision != newest):
            loss.gone[older] = sum(
                (
                    lost(_by_reference(wrote[newest][number])[0], _by_reference(pairs))
                    for number, pairs in _common(wrote, older)
                ),
                Counter(),
            )
        found.append(loss)
    return tuple(found)


def laws(exchanged: Exchanged) -> Iterator[Held]:
    """Yield a check of each reader, producer, older revision and message set that can be compared.

    A producer that wrote different messages is reported once, without its readers.
    """
    readings = {
        party.spec: {one.parcel.case.id: one for results in party.read.values() for one in results}
        for party in exchanged.parties
    }
    for producer, wrote in _producers(exchanged).items():
        newest = _newest(wrote)
        for older in (revision for revision in wrote if revision != newest):
            for number, pairs in _common(wrote, older):
                entries = wrote[newest][number], pairs
                parcels = tuple(parcel for _, parcel in pairs)
                held = Held(producer, "", older, newest, number, parcels, _compared(entries, newest, older))
                if not held.verdict.passing:
                    yield held
                    continue
                for reader, read in readings.items():
                    verdict = _judged(read, entries, (newest, older))
                    if verdict is not None:
                        yield evolve(held, reader=reader, verdict=verdict)


def _producers(exchanged: Exchanged) -> dict[str, dict[str, Wrote]]:
    """Return by producer and revision what it wrote, for those that wrote more than one revision."""
    parcels = {
        (name, post.case.id): parcel
        for parcels in exchanged.parcels.values()
        for parcel in parcels
        for name, post in parcel.senders
    }
    found = {}
    for party in exchanged.parties:
        by_revision = {revision: _wrote(party, revision, parcels) for revision in REVISIONS}
        if sum(map(bool, by_revision.values())) > 1:
            found[party.spec] = {revision: pairs for revision, pairs in by_revision.items() if pairs}
    return found


def _wrote(party: Party, revision: str, parcels: Mapping[tuple[str, str], Parcel]) -> Wrote:
    """Return the first complete encoding of each message set, as the reference reads it."""
    by_spelling: dict[tuple[int, int], list[tuple[Post, Parcel | None]]] = {}
    for one in party.written.get(f"{NAME}/{revision}", ()):
        place = one.post.number, one.post.spelling
        by_spelling.setdefault(place, []).append((one.post, parcels.get((party.spec, one.post.case.id))))
    found: Wrote = {}
    for (number, _), pairs in sorted(by_spelling.items(), key=lambda item: item[0]):
        whole = tuple(
            (post, parcel) for post, parcel in pairs if parcel is not None and _accepted_by_reference(parcel)
        )
        if len(whole) == len(pairs):
            found.setdefault(number, whole)
    return found


def _accepted_by_reference(parcel: Parcel) -> bool:
    return isinstance(parcel.case.expect, Accept)


def _newest(wrote: Mapping[str, Wrote]) -> str:
    return max(wrote, key=REVISIONS.index)


def _common(wrote: Mapping[str, Wrote], older: str) -> Iterator[tuple[int, tuple[tuple[Post, Parcel], ...]]]:
    newest = wrote[_newest(wrote)]
    return ((number, pairs) for number, pairs in wrote[older].items() if number in newest)


def _by_reference(pairs: tuple[tuple[Post, Parcel], ...]) -> list[Json]:
    """Return the entries as the reference reads them."""
    return [parcel.case.expect.value for _, parcel in pairs if isinstance(parcel.case.expect, Accept)]


Pair = tuple[tuple[tuple[Post, Parcel], ...], tuple[tuple[Post, Parcel], ...]]
"""The entries of one message set in the newest revision, and in an older one."""


def _compared(entries: Pair, newest: str, older: str) -> Verdict:
    """Return the verdict on one message set by the reference's readings."""
    one, other = (told(_by_reference(pairs)) or [] for pairs in entries)
    return _equal(one, other, (newest, older))


def _judged(read: Mapping[str, Read], entries: Pair, revisions: tuple[str, str]) -> Verdict | None:
    """Return the verdict on one message set for one reader; None if it does not read all of both."""
    one, other = (_messages(read, pairs) for pairs in entries)
    return None if one is None or other is None else _equal(one, other, revisions)


def _equal(one: list[dict[str, Json]], other: list[dict[str, Json]], revisions: tuple[str, str]) -> Verdict:
    found = difference(carried(one, *revisions), carried(other, *revisions), masked=True)
    if found is None:
        return Verdict("pass", "semantic")
    want, got = (text.removeprefix(".") for text in short_field(found))
    want = f"as {revisions[0]}: {want}"
    return Verdict("fail", "wrong-value", path=f"messages{found.path}", want=want, got=got)


def _messages(
    read: Mapping[str, Read], pairs: tuple[tuple[Post, Parcel], ...]
) -> list[dict[str, Json]] | None:
    """Return the messages that a reader reads in pairs entries; None if it does not read one of them."""
    entries: list[Json] = []
    for _, parcel in pairs:
        one = read.get(parcel.case.id)
        if one is None or not isinstance(one.outcome, Accepted):
            return None
        entries += _shown(one)
    return told(entries)


def _shown(read: Read) -> list[Json]:
    """Return the entries of a reading, with the fields that the adapter shows."""
    assert isinstance(read.outcome, Accepted)
    value = project(read.outcome.value, read.wanted)
    wrapped_by = FORMATS[read.parcel.case.joined].wrapped_by
    if wrapped_by is None or read.asked.joined == read.parcel.case.joined:
        return [value]
    inner = value.get(wrapped_by[2]) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else [None]
