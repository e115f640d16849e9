"""Logical messages that every revision of a format can encode.

In an exchange each revision gets the same ones.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from wireproof.family import object_at
from wireproof.formats import FAMILIES, Format, family_of
from wireproof.wire.json_values import Json

Messages = list[dict[str, Json]]
"""Decoded messages, each with the fields that a reader shows."""


@frozen
class MessageSets:
    """The logical messages of a family.

    Attributes:
        format: the name of the format that encodes them.
        label: names them in the random draws: another word would change the messages of every seed.
        revisions: the revisions of the format, the oldest first.
        strategy: returns a Hypothesis strategy for a message set.
        encodings: returns each encoding of a message set in a revision, as its entries.
        uncompressed: returns a message set without its compression; None if it has none.
        stream: makes a value of the stream of the format from entries.
        messages: returns the messages of decoded entries; None for other values.
        shared_fields: returns the fields of messages that two revisions have.
        losses: counts the fields that entries of an older revision lack.
    """

    format: str
    label: str
    revisions: tuple[str, ...]
    strategy: Callable[[], Any]
    encodings: Callable[[Any, str], tuple[tuple[Any, ...], ...]]
    uncompressed: Callable[[Any], Any]
    stream: Callable[[tuple[Any, ...]], Any]
    messages: Callable[[Sequence[Json]], Messages | None]
    shared_fields: Callable[[Messages, str, str], list[Json]]
    losses: Callable[[Any, Sequence[Json]], Counter[str]]


@cache
def _message_sets_at(place: str) -> MessageSets:
    found: MessageSets = object_at(place)
    return found


def all_message_sets() -> tuple[MessageSets, ...]:
    """Return the message sets of all families."""
    places = (family.message_sets for family in FAMILIES.values())
    return tuple(_message_sets_at(place) for place in places if place)


def message_sets_of(fmt: Format) -> MessageSets | None:
    """Return the message sets that a format encodes; None if its values have nothing in common."""
    place = family_of(fmt).message_sets
    found = _message_sets_at(place) if place else None
    return found if found is not None and found.format == fmt.name else None
