"""What a cluster knows: its topics, the transactions and groups that it coordinates, and fetch sessions."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, Self, TypeAlias
from uuid import UUID

from attrs import Factory, define, evolve

from wireproof.live.loopback_broker.append_rules import LEADER_EPOCH, AppendRefused, ErrorCode
from wireproof.live.loopback_broker.partition import NO_EPOCH, ServedPartition

NODE: Final = 1
MOST: Final = 1000
"""Groups and fetch sessions that are remembered; the oldest is forgotten for a new one."""

Request: TypeAlias = Any
"""A message of kafka-python, whose fields come from a schema at run time."""

Reply: TypeAlias = dict[str, Any]
"""The fields of a response, or of a part of it: `messages`."""

# --- transactions: TransactionCoordinator and TransactionMetadata ---

NOBODY: Final = (-1, -1)
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
    state: Literal["empty", "ongoing", "committed", "aborted"] = "empty"
    changed: int = 0
    raised: bool = False
    partitions: dict[Place, ServedPartition] = Factory(dict)


@define
class Coordinator:
    """The transactional ids of a broker; its methods raise `AppendRefused`.

    A transaction ends at once: its markers are written before the answer, so no state is in between.

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
        """Return the id and the epoch of a new producer: handleInitProducerId."""
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

    def _checked(self, name: str, producer: tuple[int, int], *, ends: bool = False) -> Transactional:
        """Return what is known of an id; the end of transactions v2 may come again with the epoch before."""
        one = self._ids.get(name)
        if one is None or one.producer != producer[0]:
            raise AppendRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "another producer id")
        again = ends and one.raised and one.state != "ongoing" and one.epoch == producer[1] + 1
        if one.epoch != producer[1] and not again:
            raise AppendRefused(ErrorCode.PRODUCER_FENCED, f"epoch {producer[1]}, not {one.epoch}")
        return one

    def add(self, name: str, producer: tuple[int, int], places: dict[Place, ServedPartition]) -> None:
        """Add partitions to a transaction: handleAddPartitionsToTransaction."""
        one = self._checked(name, producer)
        one.state = "ongoing"
        one.partitions |= places

    def verify(self, name: str, producer: tuple[int, int], place: Place) -> None:
        """Check that a partition is part of a transaction: handleVerifyPartitionsInTransaction."""
        if place not in self._checked(name, producer).partitions:
            raise AppendRefused(ErrorCode.TRANSACTION_ABORTABLE, f"{place} was not added")

    def end(
        self, name: str, producer: tuple[int, int], now: int, *, commit: bool, raises: bool
    ) -> tuple[int, int]:
        """End a transaction; return the id and the epoch after it: endTransaction.

        With `raises`, which is transactions v2, the epoch after it is the next one.
        """
        one = self._checked(name, producer, ends=True)
        if one.state == "ongoing":
            one.epoch, one.raised = one.epoch + int(raises), raises
            self._finish(one, commit=commit, now=now)
        elif one.state != ("committed" if commit else "aborted") or one.raised != (one.epoch != producer[1]):
            raise AppendRefused(ErrorCode.INVALID_TXN_STATE, f"the transaction is {one.state}")
        return one.producer, one.epoch

    def _finish(self, one: Transactional, *, commit: bool, now: int) -> None:
        for partition in one.partitions.values():
            partition.write_marker(one.producer, one.epoch, commit=commit, now=now)
        one.partitions = {}
        one.state, one.changed = "committed" if commit else "aborted", now


# --- groups: GroupCoordinator ---


@define
class Group:
    """A group of one member, the client that is judged: how often it joined, and the committed offsets."""

    generation: int = 0
    member: str = ""
    committed: dict[tuple[str, int], int] = Factory(dict)


# --- fetch sessions: FetchSession, KIP-227 ---

Key = tuple[Any, int]
"""Name or id of a topic, and the number of a partition."""


@define
class FetchSession:
    """The partitions that a consumer knows.

    Attributes:
        epoch: of its next request.
        asked: what is asked of each partition.
        known: high watermark and log start of each, as they were answered.
    """

    epoch: int = 1
    asked: dict[Key, Any] = Factory(dict)
    known: dict[Key, tuple[int, int]] = Factory(dict)

    def is_news(self, key: Key, reply: Mapping[str, Any]) -> bool:
        """Return True if a response has a partition: maybeUpdateResponseData."""
        found = reply["high_watermark"], reply["log_start_offset"]
        news = bool(reply["records"] or reply["error_code"]) or self.known.get(key) != found
        self.known[key] = found
        return news


@define
class Sessions:
    """The sessions of a broker, by their ids."""

    _sessions: dict[int, FetchSession] = Factory(dict)
    _given: int = 0

    def of(
        self, number: int, epoch: int, asked: dict[Key, Any], forgotten: list[Key]
    ) -> tuple[int, FetchSession | None]:
        """Return the session of a request and its id; None and 0 for one without; raise `AppendRefused`."""
        if epoch <= 0:  # 0 begins a session, -1 is a request without one
            self._sessions.pop(number, None)
            if epoch:
                return 0, None
            self._given += 1
            _make_room(self._sessions)
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


def _make_room(known: dict[Any, Any]) -> None:
    if len(known) >= MOST:
        del known[next(iter(known))]


# --- the cluster ---


@define
class ServedTopic:
    """A topic: its id, its partitions, and the node that leads them since `leader_epoch`."""

    id: UUID
    partitions: list[ServedPartition]
    leader: int = NODE
    leader_epoch: int = LEADER_EPOCH

    def move_to(self, node: int) -> None:
        self.leader, self.leader_epoch = node, self.leader_epoch + 1


@define
class LoopbackCluster:
    """A cluster, as one of its nodes sees it; the nodes share all but their number and their sessions.

    Attributes:
        partition_class: of each partition that a client creates; a fault is a class of its own.
        newest, oldest: the newest and the oldest version that is announced of an API, by its key; else those
            of `replies.APIS`.
        node: the number of this node.
        ports: where each node listens.
        topics: by name.
        coordinator: of transactions.
        groups: of consumers, by name.
        sessions: of consumers.
        fetching_class: of the answers to a Fetch, a class of its own for a fault; None for the right one.
        software: name and version of the last client that said them: KIP-511.
        apis: the APIs that are not those of every broker, as `replies.APIS` has them.
    """

    partition_class: type[ServedPartition] = ServedPartition
    newest: Mapping[int, int] = Factory(dict)
    oldest: Mapping[int, int] = Factory(dict)
    node: int = NODE
    ports: dict[int, int] = Factory(dict)
    topics: dict[str, ServedTopic] = Factory(dict)
    coordinator: Coordinator = Factory(Coordinator)
    groups: dict[str, Group] = Factory(dict)
    sessions: Sessions = Factory(Sessions)
    fetching_class: type[Any] | None = None
    software: list[str] = Factory(list)
    apis: Mapping[type[Any], "Api"] = Factory(dict)

    def other_node(self, node: int) -> Self:
        """Return the same cluster as another node sees it."""
        return evolve(self, node=node, sessions=Sessions())

    @property
    def port(self) -> int:
        return self.ports[self.node]

    def group(self, name: str) -> Group:
        """Return a group, which is new if nobody has asked for it."""
        if name not in self.groups:
            _make_room(self.groups)
        return self.groups.setdefault(name, Group())

    def topic(self, name: str | None, number: UUID | None) -> tuple[str, ServedTopic | None]:
        """Return name and topic by its name or its id."""
        if name:
            return name, self.topics.get(name)
        return next(
            ((known, topic) for known, topic in self.topics.items() if topic.id == number), ("", None)
        )

    def partition(self, name: str | None, number: UUID | None, index: int) -> ServedPartition:
        """Return a partition by the name or the id of its topic.

        Raises:
            AppendRefused: there is none.
        """
        _, topic = self.topic(name, number)
        if topic is None and not name:
            raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_ID, "no topic with this id")
        if topic is None or not 0 <= index < len(topic.partitions):
            raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no such partition")
        if topic.leader != self.node:
            raise AppendRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"node {topic.leader} leads")
        return topic.partitions[index]


Answer: TypeAlias = Callable[[LoopbackCluster, Request], Reply | Awaitable[Reply]]
Api: TypeAlias = tuple[int, int, Answer]
"""The least and the newest version of a request that is taken, and what answers it."""
