"""Logical messages that every revision of a format can encode.

In an exchange each revision gets the same ones.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from attrs import frozen

from wireproof.family import object_at
from wireproof.formats import FAMILIES, Format, family_of


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
    """

    format: str
    label: str
    revisions: tuple[str, ...]
    strategy: Callable[[], Any]
    encodings: Callable[[Any, str], tuple[tuple[Any, ...], ...]]
    uncompressed: Callable[[Any], Any]
    stream: Callable[[tuple[Any, ...]], Any]


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
