"""Servers with one fault each in their answers to polls, or in the offsets that they store for consumers."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from tests.live.mock_iggy.log import Log, Message, Poll, Who

GROUP: Final = "group"


class IgnoresCount(Log):
    """Returns all messages, however few are asked for."""

    def selected(self, asked: Poll) -> list[Message]:
        return super().selected(evolve(asked, count=len(self.messages) or 1))


class AfterOffset(Log):
    """Begins after the offset of a poll."""

    def from_offset(self, offset: int) -> list[Message]:
        return super().from_offset(offset + 1)


class KeepsNewest(Log):
    """Answers the newest offset of the first poll for ever."""

    newest: int | None = None

    @property
    def current(self) -> int:
        if self.newest is None and self.messages:
            self.newest = self.messages[-1].offset
        return self.newest or 0


class FirstForLast(Log):
    """Takes the last messages for the first ones."""

    def candidates(self, asked: Poll) -> list[Message]:
        return super().candidates(evolve(asked, strategy="first") if asked.strategy == "last" else asked)


class LastReversed(Log):
    """Returns the newest message first."""

    def candidates(self, asked: Poll) -> list[Message]:
        found = super().candidates(asked)
        return found[::-1] if asked.strategy == "last" else found


class AfterTimestamp(Log):
    """Leaves out the message with the time that is asked for."""

    def from_timestamp(self, timestamp: int) -> list[Message]:
        return super().from_timestamp(timestamp + 1)


class BeforeTimestamp(Log):
    """Begins with the message before the time that is asked for."""

    def from_timestamp(self, timestamp: int) -> list[Message]:
        found = super().from_timestamp(timestamp)
        exact = found and found[0].timestamp == timestamp
        return found if exact or not found else self.from_offset(max(0, found[0].offset - 1))


class UsesValueOfFirst(Log):
    """Takes the value of a poll of the first messages for an offset."""

    def candidates(self, asked: Poll) -> list[Message]:
        return self.from_offset(asked.value) if asked.strategy == "first" else super().candidates(asked)


class RepeatsStored(Log):
    """Returns the message of the stored offset again."""

    def after_stored(self, who: Who) -> list[Message]:
        offset = self.stored_offset(who)
        return list(self.messages) if offset is None else self.from_offset(offset)


class ZeroIsNone(Log):
    """Takes the stored offset 0 for none."""

    def after_stored(self, who: Who) -> list[Message]:
        return super().after_stored(who) if self.stored_offset(who) else list(self.messages)


class AlwaysCommits(Log):
    """Commits each poll."""

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        super().commit(evolve(asked, commit=True), found)


class NeverCommits(Log):
    """Commits no poll."""

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        super().commit(evolve(asked, commit=False), found)


class CommitsFollowing(Log):
    """Stores the offset after the last message of a poll."""

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        super().commit(asked, [evolve(message, offset=message.offset + 1) for message in found])


class CommitsNewest(Log):
    """Stores the newest offset, whatever was polled."""

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        super().commit(asked, self.messages if found else ())


class CommitsNothing(Log):
    """Stores offset 0 for a poll without messages."""

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        super().commit(asked, found or self.messages[:1])


class NeverGoesBack(Log):
    """Keeps the largest offset that a consumer ever committed."""

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        if found and found[-1].offset > (self.stored_offset(asked.who) or -1):
            super().commit(asked, found)


class OneForAll(Log):
    """Has one offset for all consumers with a number."""

    def key(self, who: Who) -> Who:
        kind, name = who
        return (kind, b"") if len(name) == 4 else who


class IgnoresNames(Log):
    """Has one offset for all consumers with a name."""

    def key(self, who: Who) -> Who:
        kind, name = who
        return (kind, b"") if len(name) > 4 else who


class ShortNumbers(Log):
    """Stores an offset under 16 bits of the number of a consumer."""

    def store(self, who: Who, offset: int) -> None:
        kind, name = who
        super().store((kind, name[:2] + bytes(len(name) - 2)), offset)


class GroupIsConsumer(Log):
    """Has one offset for a group and for a consumer of the same name."""

    def key(self, who: Who) -> Who:
        return ("", who[1])


class GroupHasNone(Log):
    """Looks for the stored offset of a group among those of consumers, as server 0.5.0 does."""

    def stored_offset(self, who: Who) -> int | None:
        return super().stored_offset(("consumer", who[1]))


class DeletesAll(Log):
    """Deletes the offsets of all consumers."""

    def delete(self, who: Who) -> None:
        super().delete(who)
        self.stored_offsets.clear()


class DeletesNone(Log):
    """Answers success to the deletion of an offset that is not stored."""

    def delete(self, who: Who) -> None:
        self.stored_offsets.pop(self.key(who), None)


POLLING_FAULTS: Final[Mapping[str, type[Log]]] = {
    "always-commits": AlwaysCommits,
    "begins-after-offset": AfterOffset,
    "begins-after-timestamp": AfterTimestamp,
    "begins-before-timestamp": BeforeTimestamp,
    "commits-following": CommitsFollowing,
    "commits-newest": CommitsNewest,
    "commits-nothing-as-0": CommitsNothing,
    "deletes-all-offsets": DeletesAll,
    "deletes-no-offset": DeletesNone,
    "first-for-last": FirstForLast,
    "group-has-no-offset": GroupHasNone,
    "group-is-consumer": GroupIsConsumer,
    "ignores-count": IgnoresCount,
    "ignores-names": IgnoresNames,
    "keeps-newest": KeepsNewest,
    "last-reversed": LastReversed,
    "never-commits": NeverCommits,
    "never-goes-back": NeverGoesBack,
    "one-offset-for-all": OneForAll,
    "repeats-stored": RepeatsStored,
    "short-consumer-numbers": ShortNumbers,
    "stored-0-is-none": ZeroIsNone,
    "uses-value-of-first": UsesValueOfFirst,
}
