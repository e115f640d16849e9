"""Fetch sessions, after Kafka's FetchSession (KIP-227): the partitions that a consumer knows."""

from typing import Any, Final

from attrs import Factory, define

from wireproof.kafka.family.loopback_broker.append_rules import AppendRefused, ErrorCode

SESSIONLESS: Final = -1
NEW: Final = 0

MOST: Final = 1000
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
        """Return the session of a request and its id; None and 0 for one without; raises `Refused`."""
        if epoch in (NEW, SESSIONLESS):
            self._sessions.pop(number, None)
            if epoch == SESSIONLESS:
                return 0, None
            self._given += 1
            if len(self._sessions) >= MOST:
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


def is_news(session: FetchSession, key: Key, reply: Any) -> bool:  # noqa: ANN401 - a message of kafka-python
    """Return True if a response has a partition: maybeUpdateResponseData."""
    found = reply.high_watermark, reply.log_start_offset
    news = bool(reply.records or reply.error_code) or session.known.get(key) != found
    session.known[key] = found
    return news
