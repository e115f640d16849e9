"""The messages of a partition, polled and decoded, and what is wrong with them."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from wireproof import formats
from wireproof.cases.outcome import BrokenRule
from wireproof.iggy.family.live_server import commands
from wireproof.iggy.family.live_server.destination import Topic
from wireproof.iggy.family.live_server.server import Server
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.rejection import Rejected

LOG: Final = "iggy.send.log"
CLOCK_TOLERANCE_US: Final = 60_000_000
"""Difference of the clocks of this machine and of the server that is no fault."""

FIELDS: Final = ("id", "origin_timestamp", "headers", "payload")
"""The fields of a message that no server changes, except an id of 0."""


@frozen
class Stored:
    """The messages of a partition, in the order of the answers.

    Attributes:
        messages: as the poll format of the revision has them.
        current: the offset of the last message, as the server answers it.
        unreadable: why a consumer refuses what was polled; empty if it does not.
    """

    messages: tuple[Any, ...]
    current: int
    unreadable: str = ""


def poll_all(server: Server, stream: int, topic: Topic) -> Stored:
    """Read the partition from the beginning to its end; raise `RefusedError`, `OSError`."""
    row = server.protocol.poll_format
    messages: list[Any] = []
    current = 0
    while True:
        body = commands.poll(server.protocol, stream, topic.identifier, topic.partition, len(messages))
        data = server.ask("polling", commands.POLL_MESSAGES, body)
        try:
            found = formats.decode(row, data).value
        except Rejected as error:
            return Stored(tuple(messages), current, f"{error.cls}: {error}")
        current = found.current_offset
        messages += found.messages
        if not found.messages or len(messages) > current:
            return Stored(tuple(messages), current)


def unreadable(text: str) -> BrokenRule:
    """Return the rule that a server breaks whose poll returns what a consumer refuses."""
    return BrokenRule("iggy.send.readable", f"a consumer refuses what is polled: {text}")


def broken_around(earlier: Stored, found: Stored) -> Iterator[BrokenRule]:
    """Yield the rules that are broken around the messages of a case, whatever it is about."""
    if found.unreadable:
        yield unreadable(found.unreadable)
        return
    count = len(earlier.messages)
    if found.messages[:count] != earlier.messages:
        yield BrokenRule(LOG, "the message before the send has changed or is gone")
    offsets = [message.offset for message in found.messages]
    if offsets != list(range(len(offsets))):
        yield BrokenRule(LOG, f"the offsets are {offsets[:5]}, not 0, 1, 2 and so on")
    if found.messages and found.current != len(offsets) - 1:
        text = f"the last offset is answered as {found.current}, not {len(offsets) - 1}"
        yield BrokenRule("iggy.polling.current", text)
    now = time.time_ns() // 1000
    if any(abs(message.timestamp - now) > CLOCK_TOLERANCE_US for message in found.messages[count:]):
        yield BrokenRule("iggy.send.time", "the time of the append is not that of this machine")


def shown_messages(stored: Sequence[Any], ids: Sequence[int], names: Sequence[str]) -> list[Json]:
    """Return these fields of the messages; an id that the server had to set is shown as it was sent."""
    shown: list[Json] = []
    for index, message in enumerate(stored):
        whole = to_json(message)
        assert isinstance(whole, dict)
        fields = {name: whole[name] for name in names}
        if index < len(ids) and ids[index] == 0:
            fields["id"] = "0"
        shown.append(fields)
    return shown
