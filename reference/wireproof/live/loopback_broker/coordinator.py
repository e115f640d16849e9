"""The coordinator of transactions, after Kafka's TransactionCoordinator and TransactionMetadata.

A transaction ends at once: its markers are written before the answer, so no state is in between.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from attrs import Factory, define

from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.live.loopback_broker.partition import ServedPartition

State = Literal["empty", "ongoing", "committed", "aborted"]

NOBODY: Final = (-1, -1)
NO_EPOCH: Final = -1
Place = tuple[str, int]
"""Topic and number of a partition."""


@define
class Transactional:
    """What is known of a transactional id.

    Attributes:
        producer, epoch: of the latest producer.
        last_epoch: the epoch that this producer raised itself; -1 if it is another instance.
        changed: the time of its last change.
        raised: True if the last end raised the epoch: transactions v2.
        partitions: of the open transaction.
    """

    producer: int
    epoch: int = 0
    last_epoch: int = NO_EPOCH
    state: State = "empty"
    changed: int = 0
    raised: bool = False
    partitions: dict[Place, ServedPartition] = Factory(dict)


@define
class Coordinator:
    """The transactional ids of a broker.

    Attributes:
        given: the last producer id that was given.
        first_epoch: of a new producer.
        reserved: producer id and epoch for the first producer of a transactional id.
    """

    given: int = 0
    first_epoch: int = 0
    reserved: Mapping[str | None, tuple[int, int]] = Factory(dict)
    _ids: dict[str, Transactional] = Factory(dict)

    def init(self, name: str | None, known: tuple[int, int], now: int) -> tuple[int, int]:
        """Return the id and the epoch of a new producer: handleInitProducerId; raises `AppendRefused`."""
        if name is None or name not in self._ids:
            found = self.reserved.get(name)
            if found is None:
                self.given += 1
                found = self.given, self.first_epoch
            if name is not None:
                self._ids[name] = Transactional(*found, changed=now)
            return found
        one = self._ids[name]
        if known != NOBODY and (known[0] != one.producer or known[1] not in (one.epoch, one.last_epoch)):
            raise AppendRefused(ErrorCode.PRODUCER_FENCED, f"epoch {known[1]}, but {one.epoch} is the latest")
        if known != NOBODY and known[1] == one.last_epoch:
            return one.producer, one.epoch
        if one.state == "ongoing":
            one.epoch += 1
            self._finish(one, commit=False, now=now)
        one.last_epoch = NO_EPOCH if known == NOBODY else one.epoch
        one.epoch, one.state, one.changed = one.epoch + 1, "empty", now
        return one.producer, one.epoch

    def _checked(self, name: str, producer: tuple[int, int]) -> Transactional:
        one = self._ids.get(name)
        if one is None or one.producer != producer[0]:
            raise AppendRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "another producer id")
        return one

    def add(self, name: str, producer: tuple[int, int], places: dict[Place, ServedPartition]) -> None:
        """Add partitions to a transaction: handleAddPartitionsToTransaction; raises `AppendRefused`."""
        one = self._checked(name, producer)
        if one.epoch != producer[1]:
            raise AppendRefused(ErrorCode.PRODUCER_FENCED, f"epoch {producer[1]}, not {one.epoch}")
        one.state = "ongoing"
        one.partitions |= places

    def verify(self, name: str, producer: tuple[int, int], place: Place) -> None:
        """Check that a partition is part of a transaction: handleVerifyPartitionsInTransaction."""
        one = self._checked(name, producer)
        if one.epoch != producer[1]:
            raise AppendRefused(ErrorCode.PRODUCER_FENCED, f"epoch {producer[1]}, not {one.epoch}")
        if place not in one.partitions:
            raise AppendRefused(ErrorCode.TRANSACTION_ABORTABLE, f"{place} was not added")

    def end(
        self, name: str, producer: tuple[int, int], now: int, *, commit: bool, raises: bool
    ) -> tuple[int, int]:
        """End a transaction; return the id and the epoch after it: endTransaction; raises `AppendRefused`.

        With `raises`, which is transactions v2, the epoch after it is the next one.
        """
        one = self._checked(name, producer)
        again = one.raised and one.state != "ongoing" and one.epoch == producer[1] + 1
        if not again and one.epoch != producer[1]:
            raise AppendRefused(ErrorCode.PRODUCER_FENCED, f"epoch {producer[1]}, not {one.epoch}")
        if one.state == "ongoing":
            one.epoch, one.raised = one.epoch + int(raises), raises
            self._finish(one, commit=commit, now=now)
        elif one.state != ("committed" if commit else "aborted") or one.raised != again:
            raise AppendRefused(ErrorCode.INVALID_TXN_STATE, f"the transaction is {one.state}")
        return one.producer, one.epoch

    def _finish(self, one: Transactional, *, commit: bool, now: int) -> None:
        for partition in one.partitions.values():
            partition.write_marker(one.producer, one.epoch, commit=commit, now=now)
        one.partitions = {}
        one.state, one.changed = "committed" if commit else "aborted", now


# --- groups ---
#
# Groups of consumers with one member each: the client that is judged. After Kafka's GroupCoordinator.


MOST: Final = 1000
"""Groups that are remembered; the oldest is forgotten for a new one."""


@define
class Group:
    """A group: how often somebody joined, the member, and the offsets that it committed."""

    generation: int = 0
    member: str = ""
    committed: dict[tuple[str, int], int] = Factory(dict)


@define
class Groups:
    """The groups of a cluster by name."""

    _groups: dict[str, Group] = Factory(dict)

    def of(self, name: str) -> Group:
        """Return a group, which is new if nobody has asked for it."""
        if name not in self._groups and len(self._groups) >= MOST:
            del self._groups[next(iter(self._groups))]
        return self._groups.setdefault(name, Group())

    def join(self, name: str, member: str) -> Group:
        """Make a member the only one of its group, and give it a name if it has none."""
        group = self.of(name)
        group.generation += 1
        group.member = member or f"member-{group.generation}"
        return group


# --- fetch sessions ---
#
# Fetch sessions, after Kafka's FetchSession (KIP-227): the partitions that a consumer knows.


SESSIONLESS: Final = -1
NEW: Final = 0

MAX_SESSIONS: Final = 1000
"""Sessions; the oldest is forgotten for a new one, as by Kafka's FetchSessionCache."""
Key = tuple[Any, int]
"""Name or id of a topic, and the number of a partition."""

Known = tuple[int, int]
"""High watermark and log start of a partition, as the consumer knows them."""


@define
class FetchSession:
    """A session: the epoch of its next request, what is asked of each partition, and what was answered."""

    epoch: int = 1
    asked: dict[Key, Any] = Factory(dict)
    known: dict[Key, Known] = Factory(dict)


@define
class Sessions:
    """The sessions of a broker, by their ids."""

    _sessions: dict[int, FetchSession] = Factory(dict)
    _given: int = 0

    def of(
        self, number: int, epoch: int, asked: dict[Key, Any], forgotten: list[Key]
    ) -> tuple[int, FetchSession | None]:
        """Return the session of a request and its id; None and 0 for one without; raises `AppendRefused`."""
        if epoch in (NEW, SESSIONLESS):
            self._sessions.pop(number, None)
            if epoch == SESSIONLESS:
                return 0, None
            self._given += 1
            if len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[self._given] = FetchSession(asked=asked)
            return self._given, self._sessions[self._given]
        session = self._sessions.get(number)
        if session is None:
            raise AppendRefused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"no session {number}")
        if session.epoch != epoch:
            raise AppendRefused(ErrorCode.INVALID_FETCH_SESSION_EPOCH, f"epoch {epoch}, not {session.epoch}")
        session.epoch += 1
        session.asked |= asked
        for key in forgotten:
            session.asked.pop(key, None)
            session.known.pop(key, None)
        return number, session


def is_news(session: FetchSession, key: Key, reply: Mapping[str, Any]) -> bool:
    """Return True if a response has a partition: maybeUpdateResponseData."""
    found = reply["high_watermark"], reply["log_start_offset"]
    news = bool(reply["records"] or reply["error_code"]) or session.known.get(key) != found
    session.known[key] = found
    return news
