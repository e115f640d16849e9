"""Servers of Iggy with one fault each: `FAULTS`, by name, with the case that kills each, and its verdict.

The right server passes the case. A fault replaces steps of a send or of a poll.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import evolve

from tests.live.mock_iggy.log import INVALID_COMMAND, Log, Message, Poll, Refused, Who
from wireproof.live.loopback_broker.faults import Step, patched

CHECKSUM_AT: Final = 16
"""The place of the first checksum in a poll: after partition, last offset and count."""


class Silence(Exception):  # noqa: N818 - an order to the server
    """The request gets no answer."""


class Die(Exception):  # noqa: N818 - an order to the server
    """The server must close everything."""


class AnswersTwice(Refused):
    """The request gets its error code twice."""


def send(case: str, verdict: str = "fail", **steps: Step) -> tuple[str, str, type[Log]]:
    """Return the case that kills a server, its verdict, and the partitions of the server."""
    return f"iggy.send/0.7/{case}", verdict, patched(Log, **steps)


def poll(case: str, **steps: Step) -> tuple[str, str, type[Log]]:
    return f"iggy.poll/0.7/polling/{case}", "fail", patched(Log, **steps)


# --- sends ---


def stored(fields: Callable[[Message], Mapping[str, Any]]) -> Step:
    """Store other fields of a message."""
    return lambda _, stored, *words: evolve(found := stored(*words), **fields(found))


def refusing(step: Callable[[Log], Any]) -> Step:
    """Do something where bytes are refused; what it returns is stored."""

    def read(log: Log, read: Step, body: bytes) -> Any:
        try:
            return read(body)
        except Refused:
            return step(log)

    return read


def ordering(order: type[Exception], *words: int) -> Callable[[Log], Any]:
    def step(_: Log) -> None:
        raise order(*words) from None

    return step


def _stored_first(log: Log) -> None:
    log.append(log.messages[:1])
    raise Refused(INVALID_COMMAND)


def _large(_: Log, read: Step, body: bytes) -> Any:
    """Refuse sends whose size is no 16-bit number."""
    if len(body) >= 1 << 16:
        raise Refused(INVALID_COMMAND)
    return read(body)


def _checksum(log: Log, answer: Step, *words: Any) -> bytes:
    body = bytearray(answer(*words))
    if len(body) > CHECKSUM_AT and len(log.messages) > 1:
        body[CHECKSUM_AT] ^= 1
    return bytes(body)


def _alone(log: Log, append: Step, sent: Sequence[Message]) -> None:
    log.messages.clear()
    append(sent)


# --- polls, and the offsets that are stored for consumers ---


class KeepsNewest(Log):
    """Answers the newest offset of the first poll for ever."""

    newest: int | None = None

    @property
    def current(self) -> int:
        if self.newest is None and self.messages:
            self.newest = self.messages[-1].offset
        return self.newest or 0


def asking(fields: Callable[[Log, Poll], Mapping[str, Any]]) -> Step:
    """Take a poll for one with other fields."""
    return lambda log, step, asked, *words: step(evolve(asked, **fields(log, asked)), *words)


def key(name: Callable[[str, bytes], Who]) -> Step:
    """Store the offset of a consumer under another name."""
    return lambda _, __, who: name(*who)


def _before(log: Log, after: Step, timestamp: int) -> Any:
    """Begin with the message before the time that is asked for."""
    found = after(timestamp)
    exact = found and found[0].timestamp == timestamp
    return found if exact or not found else log.from_offset(max(0, found[0].offset - 1))


def _repeated(log: Log, _: Step, who: Who) -> list[Message]:
    """Return the message of the stored offset again."""
    offset = log.stored_offset(who)
    return list(log.messages) if offset is None else log.from_offset(offset)


def _following(_: Log, commit: Step, asked: Poll, found: Sequence[Message]) -> None:
    commit(asked, [evolve(message, offset=message.offset + 1) for message in found])


def _forwards(log: Log, commit: Step, asked: Poll, found: Sequence[Message]) -> None:
    """Keep the largest offset that a consumer ever committed."""
    if found and found[-1].offset > (log.stored_offset(asked.who) or -1):
        commit(asked, found)


def _all(log: Log, delete: Step, who: Who) -> None:
    delete(who)
    log.stored_offsets.clear()


def _none_stored(log: Log, _: Step, who: Who) -> None:
    log.stored_offsets.pop(log.key(who), None)


FAULTS: Final[Mapping[str, tuple[str, str, type[Log]]]] = {
    "always-commits": poll("next-nothing-stored", commit=asking(lambda *_: {"commit": True})),
    "begins-after-offset": poll("offset", from_offset=lambda _, found, offset: found(offset + 1)),
    "begins-after-timestamp": poll("timestamp", from_timestamp=lambda _, found, time: found(time + 1)),
    "begins-before-timestamp": poll("timestamp-between", from_timestamp=_before),
    "commits-following": poll("auto-commit-stores", commit=_following),
    "commits-newest": poll(
        "auto-commit-by-offset",
        commit=lambda log, commit, asked, found: commit(asked, log.messages if found else ()),
    ),
    "commits-nothing-as-0": poll(
        "auto-commit-nothing",
        commit=lambda log, commit, asked, found: commit(asked, found or log.messages[:1]),
    ),
    "deletes-all-offsets": poll("delete-of-others", delete=_all),
    "deletes-no-offset": poll("delete-nothing", delete=_none_stored),  # and answers success
    "first-for-last": poll(
        "last",
        candidates=asking(lambda _, asked: {"strategy": "first"} if asked.strategy == "last" else {}),
    ),
    # It looks for the offset of a group among those of consumers, as server 0.5.0 does.
    "group-has-no-offset": poll(
        "group-stored", stored_offset=lambda _, found, who: found(("consumer", who[1]))
    ),
    "group-is-consumer": poll("group-and-consumer", key=key(lambda _, name: ("", name))),
    "ignores-count": poll("count", selected=asking(lambda log, _: {"count": len(log.messages) or 1})),
    "ignores-names": poll(
        "consumers-by-name", key=key(lambda kind, name: (kind, b"" if len(name) > 4 else name))
    ),
    "keeps-newest": ("iggy.poll/0.7/polling/after-more", "fail", KeepsNewest),
    "last-reversed": poll(
        "last-several",
        candidates=lambda _, found, asked: found(asked)[:: -1 if asked.strategy == "last" else 1],
    ),
    "never-commits": poll("auto-commit", commit=asking(lambda *_: {"commit": False})),
    "never-goes-back": poll("auto-commit-back", commit=_forwards),
    "one-offset-for-all": poll(
        "consumers", key=key(lambda kind, name: (kind, b"" if len(name) == 4 else name))
    ),
    "repeats-stored": poll("next", after_stored=_repeated),
    # It stores an offset under 16 bits of the number of a consumer.
    "short-consumer-numbers": poll(
        "consumer-largest",
        store=lambda _, store, who, *words: store((who[0], who[1][:2].ljust(len(who[1]), b"\0")), *words),
    ),
    "stored-0-is-none": poll(
        "next-of-0",
        after_stored=lambda log, after, who: after(who) if log.stored_offset(who) else list(log.messages),
    ),
    "uses-value-of-first": poll(
        "first",
        candidates=lambda log, found, asked: (
            log.from_offset(asked.value) if asked.strategy == "first" else found(asked)
        ),
    ),
    # It takes bytes that it should refuse for a message again.
    "accepts-refused": send("index/last-one-more", "lenient", read=refusing(lambda log: log.messages[:1])),
    "dies-of-cut-packet": send("torn/payload-missing", "crash", read=refusing(ordering(Die))),
    "drops-headers": send("headers/each", stored=stored(lambda _: {"headers": b""})),
    "leaves-gap": send("messages/one", stored=lambda _, stored, message, at: stored(message, 2 * at)),
    "loses-earlier": send("messages/two", append=_alone),
    # The next request gets the second answer.
    "out-of-step": send(
        "torn/one-byte-more", "undocumented", read=refusing(ordering(AnswersTwice, INVALID_COMMAND))
    ),
    "overwrites-origin-timestamp": send(
        "messages/origin-timestamp", stored=stored(lambda found: {"origin": found.timestamp})
    ),
    "refuses-large-sends": send("limits/headers-100000", read=_large),
    "reorders-messages": send("index/three", append=lambda _, append, sent: append(sent[::-1])),
    "shortens-ids": send(
        "messages/id-max",
        stored=lambda _, stored, one, at: evolve(stored(one, at), id=one.id[:8] + bytes(8)),
    ),
    # It answers success to every send but the first.
    "stores-nothing": send(
        "messages/id-bytes", append=lambda log, append, sent: None if log.messages else append(sent)
    ),
    "stores-other-payload": send(
        "text/payloads", stored=stored(lambda found: {"payload": found.payload + b"!"})
    ),
    "stores-refused": send("index/zero", read=refusing(_stored_first)),
    "waits-for-more": send("torn/in-the-index", "stalled", read=refusing(ordering(Silence))),
    "wrong-checksum": send("place/messages-key", answer=_checksum),
}
