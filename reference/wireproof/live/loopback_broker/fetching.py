"""Fetch: what is asked in a session or without one, and the answer, as often as the broker looks for news."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from attrs import define

from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.live.loopback_broker.cluster import FetchSession, LoopbackCluster, Reply, Request
from wireproof.live.loopback_broker.partition import ServedPartition

READ_COMMITTED: Final = 1
RESPONSE_LIMIT: Final = 3
"""The version of Fetch from which on there is a limit for the whole response: KIP-74."""

NO_LIMIT: Final = 1 << 31

Part = tuple[Any, Request, Reply]
"""Key of a partition, the topic as it was asked for, and the answer."""


@define
class Fetching:
    """A Fetch that is being answered.

    Attributes:
        number, session: of the session; 0 and None without one.
        rows: topic and partition that are asked for, by their key.
    """

    cluster: LoopbackCluster
    request: Request
    number: int
    session: FetchSession | None
    rows: dict[Any, tuple[Request, Request]]

    @classmethod
    def begin(cls, cluster: LoopbackCluster, request: Request) -> "Fetching":
        """Take a Fetch, and note the offset of each partition; raises `AppendRefused` for its session."""
        asked = {
            (_topic_key(topic), one.partition): (topic, one)
            for topic in request.topics or ()
            for one in topic.partitions
        }
        number, session = 0, None
        if request.version >= 7:  # KIP-227
            forgotten = [
                (_topic_key(topic), index)
                for topic in request.forgotten_topics_data or ()
                for index in topic.partitions
            ]
            number, session = cluster.sessions.of(request.session_id, request.session_epoch, asked, forgotten)
        rows = dict(session.asked) if session is not None else asked
        fetching = cls(cluster, request, number, session, rows)
        for topic, one in rows.values():
            with suppress(AppendRefused):  # it is answered so
                partition = cluster.partition(topic.topic, topic.topic_id, one.partition)
                partition.note_fetch(one.fetch_offset, fetching._limit(one))
        return fetching

    def look(self) -> list[Part]:
        """Return the answer for each partition as it is now, in the order of the request."""
        parts, rest = list[Part](), self.response_limit()
        for key, (topic, one) in self.ordered():
            answer = self._fetched(topic, one)
            if self.is_too_much(len(answer["records"]), min(rest, self._limit(one)), parts):
                answer["records"] = b""
            rest -= len(answer["records"])
            parts.append((key, topic, answer))
        return parts

    def ordered(self) -> Sequence[tuple[Any, tuple[Request, Request]]]:
        """Return what is asked for, by its key, in the order in which partitions fill the response."""
        return list(self.rows.items())

    def response_limit(self) -> int:
        """Return the most bytes of the response."""
        limit: int = self.request.max_bytes if self.request.version >= RESPONSE_LIMIT else NO_LIMIT
        return limit

    def is_too_much(self, size: int, rest: int, before: Sequence[Part]) -> bool:
        """Report whether the records of a partition have no room: readFromLog.

        Those of the first partition with records have room in any case.
        """
        return size > rest and any(answer["records"] for _, _, answer in before)

    def is_ready(self, parts: Sequence[Part]) -> bool:
        """Report whether the answer can be sent: it has an error, or enough is there: DelayedFetch."""
        if any(answer["error_code"] for _, _, answer in parts):
            return True
        wanted = min(self.request.min_bytes, self.response_limit())
        found = sum(len(answer["records"]) for _, _, answer in parts)
        return bool(found >= wanted or self.available() >= wanted)

    def available(self) -> int:
        """Return the number of bytes that are there, whatever the limit of the response."""
        return sum(len(self._fetched(topic, one)["records"]) for topic, one in self.rows.values())

    def reply(self, parts: Sequence[Part]) -> Reply:
        """Return the reply; in a session, with the partitions that have news only."""
        topics: dict[Any, Reply] = {}
        for key, topic, answer in parts:
            if self.session is None or self.session.is_news(key, answer):
                first = {"topic": topic.topic, "topic_id": topic.topic_id, "partitions": []}
                topics.setdefault(_topic_key(topic), first)["partitions"].append(answer)
        return {"session_id": self.number, "responses": list(topics.values())}

    def _fetched(self, topic: Request, asked: Request) -> Reply:
        code, ends, data, aborted, offset = ErrorCode.NONE, (-1, -1, -1), b"", None, asked.fetch_offset
        committed = self.request.isolation_level == READ_COMMITTED
        try:
            partition = self.cluster.partition(topic.topic, topic.topic_id, asked.partition)
            ends = partition.end, partition.last_stable_offset(), partition.start
            partition.check_range(offset)
            data = self.read(partition, asked, ends[1] if committed else None)
        except AppendRefused as refused:
            code = refused.code
        else:
            rows = partition.aborted_for(offset, ends[1], committed=committed)
            aborted = [{"producer_id": row.producer, "first_offset": row.first} for row in rows]
        return {
            "partition_index": asked.partition,
            "error_code": code,
            "high_watermark": ends[0],
            "last_stable_offset": ends[1],
            "log_start_offset": ends[2],
            "aborted_transactions": aborted,
            "records": data,
        }

    def read(self, partition: ServedPartition, asked: Request, bound: int | None) -> bytes:
        """Return the bytes of a partition from an offset on; raises `AppendRefused`."""
        return partition.read_from(asked.fetch_offset, self._limit(asked), bound)

    def _limit(self, asked: Request) -> int:
        """Return the most bytes of a partition in the answer."""
        limit: int = asked.partition_max_bytes
        return min(limit, self.request.max_bytes) if self.request.version >= RESPONSE_LIMIT else limit


def _topic_key(topic: Request) -> Any:  # noqa: ANN401 - a name or an id
    return topic.topic or topic.topic_id
