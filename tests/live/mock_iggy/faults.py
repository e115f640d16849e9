"""Servers of Iggy with one fault each: `FAULTS`, by name. Each class overrides one step of a send."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from tests.live.mock_iggy.log import INVALID_COMMAND, Log, Message, Refused
from tests.live.mock_iggy.polling_faults import POLLING_FAULTS

CHECKSUM_AT: Final = 16
"""The place of the first checksum in a poll: after partition, last offset and count."""


class Silence(Exception):  # noqa: N818 - an order to the server
    """The request gets no answer."""


class Die(Exception):  # noqa: N818 - an order to the server
    """The server must close everything."""


class AnswersTwice(Refused):
    """The request gets its error code twice."""


class OtherPayload(Log):
    """Stores another payload."""

    def stored(self, message: Message, offset: int) -> Message:
        return evolve(super().stored(message, offset), payload=message.payload + b"!")


class DropsHeaders(Log):
    """Stores messages without their headers."""

    def stored(self, message: Message, offset: int) -> Message:
        return evolve(super().stored(message, offset), headers=b"")


class ShortIds(Log):
    """Keeps 64 bits of an id."""

    def stored(self, message: Message, offset: int) -> Message:
        return evolve(super().stored(message, offset), id=message.id[:8] + bytes(8))


class OwnOrigin(Log):
    """Overwrites the origin timestamp by its own clock."""

    def stored(self, message: Message, offset: int) -> Message:
        found = super().stored(message, offset)
        return evolve(found, origin=found.timestamp)


class LeavesGap(Log):
    """Leaves an offset out after each message."""

    def stored(self, message: Message, offset: int) -> Message:
        return super().stored(message, 2 * offset)


class Reorders(Log):
    """Stores the messages of a send in reverse."""

    def append(self, sent: Sequence[Message]) -> None:
        super().append(sent[::-1])


class StoresNothing(Log):
    """Answers success to every send but the first, and stores nothing."""

    def append(self, sent: Sequence[Message]) -> None:
        if not self.messages:
            super().append(sent)


class LosesEarlier(Log):
    """Forgets the messages before a send."""

    def append(self, sent: Sequence[Message]) -> None:
        self.messages.clear()
        super().append(sent)


class AcceptsRefused(Log):
    """Takes bytes that it should refuse for a message again."""

    def read(self, body: bytes) -> list[Message]:
        try:
            return super().read(body)
        except Refused:
            return self.messages[:1]


class StoresRefused(Log):
    """Refuses bytes, and stores a message again."""

    def read(self, body: bytes) -> list[Message]:
        try:
            return super().read(body)
        except Refused:
            self.append(self.messages[:1])
            raise


class RefusesLarge(Log):
    """Refuses sends whose size is no 16-bit number."""

    def read(self, body: bytes) -> list[Message]:
        if len(body) >= 1 << 16:
            raise Refused(INVALID_COMMAND)
        return super().read(body)


class WrongChecksum(Log):
    """Answers polls with a wrong checksum."""

    def answer(self, partition: int, found: Sequence[Message]) -> bytes:
        body = bytearray(super().answer(partition, found))
        if len(body) > CHECKSUM_AT and len(self.messages) > 1:
            body[CHECKSUM_AT] ^= 1
        return bytes(body)


class DiesOfCutPacket(Log):
    """Ends at bytes that it cannot read."""

    def read(self, body: bytes) -> list[Message]:
        try:
            return super().read(body)
        except Refused:
            raise Die from None


class WaitsForMore(Log):
    """Waits for the bytes that a cut packet lacks."""

    def read(self, body: bytes) -> list[Message]:
        try:
            return super().read(body)
        except Refused:
            raise Silence from None


class OutOfStep(Log):
    """Answers bytes that it cannot read twice, so that the next request gets the second answer."""

    def read(self, body: bytes) -> list[Message]:
        try:
            return super().read(body)
        except Refused:
            raise AnswersTwice(INVALID_COMMAND) from None


FAULTS: Final[Mapping[str, type[Log]]] = {
    **POLLING_FAULTS,
    "accepts-refused": AcceptsRefused,
    "dies-of-cut-packet": DiesOfCutPacket,
    "drops-headers": DropsHeaders,
    "leaves-gap": LeavesGap,
    "loses-earlier": LosesEarlier,
    "out-of-step": OutOfStep,
    "overwrites-origin-timestamp": OwnOrigin,
    "refuses-large-sends": RefusesLarge,
    "reorders-messages": Reorders,
    "shortens-ids": ShortIds,
    "stores-nothing": StoresNothing,
    "stores-other-payload": OtherPayload,
    "stores-refused": StoresRefused,
    "waits-for-more": WaitsForMore,
    "wrong-checksum": WrongChecksum,
}
