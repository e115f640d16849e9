"""Cross-version checks: the same messages in all revisions are read alike; lost fields are counted.

For each adapter that writes more than one revision, and each reader: the messages that it reads in the
entries of an older revision are those that it reads in the batch of the newest, over the fields of both
revisions (`MessageSets.shared_fields`). Losses are counted in the reference's readings.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.cases.case import Accept
from wireproof.cases.message_sets import Messages, MessageSets, all_message_sets
from wireproof.cases.outcome import Accepted
from wireproof.formats import FORMATS
from wireproof.runner.interop import DecodeResult, EncodeCase, EncodedMessage, InteropRun, Participant
from wireproof.runner.summaries import short_field
from wireproof.runner.value_diff import first_difference
from wireproof.runner.verdicts import Verdict
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import project

TOPIC: Final = "laws"
"""Replaces the topic in the ids of these checks."""

WrittenMessages = dict[int, tuple[tuple[EncodeCase, EncodedMessage], ...]]
"""By number of the message set, its entries as one producer wrote them in one encoding."""


@frozen
class CrossVersionCheck:
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
    encoded_messages: tuple[EncodedMessage, ...]
    verdict: Verdict


@define
class FieldLoss:
    """The fields that one producer's bytes of older revisions lack; `written`: message sets by revision."""

    producer: str
    newer: str
    written: dict[str, int] = field(factory=dict)
    gone: dict[str, Counter[str]] = field(factory=dict)


def field_losses(exchanged: InteropRun) -> tuple[FieldLoss, ...]:
    """Return the losses of the older revisions, for each adapter that wrote more than one revision."""
    return tuple(loss for sets in all_message_sets() for loss in _losses(sets, exchanged))


def _losses(sets: MessageSets, exchanged: InteropRun) -> Iterator[FieldLoss]:
    for producer, wrote in _producers(sets, exchanged).items():
        newest = _newest(sets, wrote)
        loss = FieldLoss(producer, newest, {revision: len(pairs) for revision, pairs in wrote.items()})
        for older in (revision for revision in wrote if revision != newest):
            loss.gone[older] = sum(
                (
                    sets.losses(_by_reference(wrote[newest][number])[0], _by_reference(pairs))
                    for number, pairs in _common(sets, wrote, older)
                ),
                Counter(),
            )
        yield loss


def check_versions(exchanged: InteropRun) -> Iterator[CrossVersionCheck]:
    """Yield a check of each reader, producer, older revision and message set that can be compared.

    A producer that wrote different messages is reported once, without its readers.
    """
    readings = {
        participant.spec: {
            one.encoded_message.case.id: one for results in participant.read.values() for one in results
        }
        for participant in exchanged.participants
    }
    for sets in all_message_sets():
        yield from _checks(sets, exchanged, readings)


def _checks(
    sets: MessageSets, exchanged: InteropRun, readings: Mapping[str, Mapping[str, DecodeResult]]
) -> Iterator[CrossVersionCheck]:
    for producer, wrote in _producers(sets, exchanged).items():
        newest = _newest(sets, wrote)
        for older in (revision for revision in wrote if revision != newest):
            for number, pairs in _common(sets, wrote, older):
                entries = wrote[newest][number], pairs
                encoded_messages = tuple(encoded_message for _, encoded_message in pairs)
                held = CrossVersionCheck(
                    producer,
                    "",
                    older,
                    newest,
                    number,
                    encoded_messages,
                    _compared(sets, entries, (newest, older), exchanged.ask.assigned),
                )
                if not held.verdict.passing:
                    yield held
                    continue
                for reader, read in readings.items():
                    verdict = _judged(sets, read, entries, (newest, older), exchanged.ask.assigned)
                    if verdict is not None:
                        yield evolve(held, reader=reader, verdict=verdict)


def _producers(sets: MessageSets, exchanged: InteropRun) -> dict[str, dict[str, WrittenMessages]]:
    """Return by producer and revision what it wrote, for those that wrote more than one revision."""
    encoded_messages = {
        (name, post.case.id): encoded_message
        for encoded_messages in exchanged.encoded_messages.values()
        for encoded_message in encoded_messages
        for name, post in encoded_message.writers
    }
    found = {}
    for participant in exchanged.participants:
        by_revision = {
            revision: _wrote(participant, f"{sets.format}/{revision}", encoded_messages)
            for revision in sets.revisions
        }
        if sum(map(bool, by_revision.values())) > 1:
            found[participant.spec] = {revision: pairs for revision, pairs in by_revision.items() if pairs}
    return found


def _wrote(
    participant: Participant, format_id: str, encoded_messages: Mapping[tuple[str, str], EncodedMessage]
) -> WrittenMessages:
    """Return the first complete encoding of each message set, as the reference reads it."""
    by_spelling: dict[tuple[int, int], list[tuple[EncodeCase, EncodedMessage | None]]] = {}
    for one in participant.written.get(format_id, ()):
        place = one.post.number, one.post.spelling
        by_spelling.setdefault(place, []).append(
            (one.post, encoded_messages.get((participant.spec, one.post.case.id)))
        )
    found: WrittenMessages = {}
    for (number, _), pairs in sorted(by_spelling.items(), key=lambda item: item[0]):
        whole = tuple(
            (post, encoded_message)
            for post, encoded_message in pairs
            if encoded_message is not None and _accepted_by_reference(encoded_message)
        )
        if len(whole) == len(pairs):
            found.setdefault(number, whole)
    return found


def _accepted_by_reference(encoded_message: EncodedMessage) -> bool:
    return isinstance(encoded_message.case.expect, Accept)


def _newest(sets: MessageSets, wrote: Mapping[str, WrittenMessages]) -> str:
    return max(wrote, key=sets.revisions.index)


def _common(
    sets: MessageSets, wrote: Mapping[str, WrittenMessages], older: str
) -> Iterator[tuple[int, tuple[tuple[EncodeCase, EncodedMessage], ...]]]:
    newest = wrote[_newest(sets, wrote)]
    return ((number, pairs) for number, pairs in wrote[older].items() if number in newest)


def _by_reference(pairs: tuple[tuple[EncodeCase, EncodedMessage], ...]) -> list[Json]:
    """Return the entries as the reference reads them."""
    return [
        encoded_message.case.expect.value
        for _, encoded_message in pairs
        if isinstance(encoded_message.case.expect, Accept)
    ]


RevisionPair = tuple[
    tuple[tuple[EncodeCase, EncodedMessage], ...], tuple[tuple[EncodeCase, EncodedMessage], ...]
]
"""The entries of one message set in the newest revision, and in an older one."""


def _compared(
    sets: MessageSets, entries: RevisionPair, revisions: tuple[str, str], assigned: Sequence[str]
) -> Verdict:
    """Return the verdict on one message set by the reference's readings."""
    one, other = (sets.messages(_by_reference(pairs)) or [] for pairs in entries)
    return _equal(sets, one, other, revisions, assigned)


def _judged(
    sets: MessageSets,
    read: Mapping[str, DecodeResult],
    entries: RevisionPair,
    revisions: tuple[str, str],
    assigned: Sequence[str],
) -> Verdict | None:
    """Return the verdict on one message set for one reader; None if it does not read all of both."""
    one, other = (_messages(sets, read, pairs) for pairs in entries)
    return None if one is None or other is None else _equal(sets, one, other, revisions, assigned)


def _equal(
    sets: MessageSets,
    one: Messages,
    other: Messages,
    revisions: tuple[str, str],
    assigned: Sequence[str],
) -> Verdict:
    left, right = (
        sets.shared_fields([_without(message, assigned) for message in some], *revisions)
        for some in (one, other)
    )
    found = first_difference(left, right, masked=True)
    if found is None:
        return Verdict("pass", "semantic")
    want, got = (text.removeprefix(".") for text in short_field(found))
    want = f"as {revisions[0]}: {want}"
    return Verdict("fail", "wrong-value", path=f"messages{found.path}", want=want, got=got)


def _messages(
    sets: MessageSets, read: Mapping[str, DecodeResult], pairs: tuple[tuple[EncodeCase, EncodedMessage], ...]
) -> Messages | None:
    """Return the messages that a reader reads in pairs entries; None if it does not read one of them."""
    entries: list[Json] = []
    for _, encoded_message in pairs:
        one = read.get(encoded_message.case.id)
        if one is None or not isinstance(one.outcome, Accepted):
            return None
        entries += _shown(one)
    return sets.messages(entries)


def _shown(read: DecodeResult) -> list[Json]:
    """Return the entries of a reading, with the fields that the adapter shows."""
    assert isinstance(read.outcome, Accepted)
    value = project(read.outcome.value, read.wanted)
    wrapped_by = FORMATS[read.encoded_message.case.format_id].wrapped_by
    if wrapped_by is None or read.asked.format_id == read.encoded_message.case.format_id:
        return [value]
    inner = value.get(wrapped_by[2]) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else [None]


def _without(message: dict[str, Json], assigned: Sequence[str]) -> dict[str, Json]:
    """Return a message without the fields that a server assigned."""
    return {name: part for name, part in message.items() if name not in assigned}
