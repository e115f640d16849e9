"""One case on a live server: send its bytes to a stream of our own, and poll what is stored then."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import Accepted, BrokenRule, Crashed, Outcome, Refused, Stalled, Unsupported
from wireproof.live.iggy_server import requests
from wireproof.live.iggy_server.requests import U32, Topic
from wireproof.live.iggy_server.server import (
    TEXT,
    Connection,
    ConnectionEndedError,
    HttpConnection,
    HttpReply,
    OwnStreams,
    RefusedError,
    Reply,
    Server,
    json_bytes,
)
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.rejection import Rejected
from wireproof.wire.text import one_line

# --- the messages of a partition, polled and decoded, and what is wrong with them ---

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
        body = requests.poll(server.protocol, stream, topic.identifier, topic.partition, len(messages))
        data = server.ask("polling", requests.POLL_MESSAGES, body)
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


# --- the outcome of a send by what is answered and by what is stored: live-servers.md, "Iggy servers" ---

CLOSED: Final = "connection closed"
"""Stands for the error of a server that closes the connection."""

GONE: Final = "the server is gone or hangs, nothing answers at its address"

WAIT: Final = 0.5
"""The part of a case's time limit after which a server without an answer is asked again."""

PATIENCE: Final = 8
"""How many times as long the second attempt waits: a busy machine delays an answer, and ends no stall."""

PING_SECONDS: Final = 8.0
"""What a ping after a send may take: only a server that is out of step does not answer it."""


@frozen
class Sent:
    """The end of a send: the reply, or the text of a connection that ended, or neither for silence."""

    reply: Reply | HttpReply | None = None
    closed: str = ""
    out_of_step: str = ""


def gone(error: OSError) -> Crashed:
    """Return the outcome of a case after which nothing listens any more."""
    return Crashed(f"{GONE}: {line_of(error)}")


def asked_twice(
    server: Server, ask: Callable[[bool], Outcome], closed: Callable[[OSError], Outcome]
) -> Outcome:
    """Return the outcome of a case, which is asked again if a connection ends.

    Its end may have another reason than the case: the server may have been started again in the middle.

    Args:
        server: the server; a fault around a case is no verdict about it.
        ask: asks it on a stream of its own; True for the last time. Raises `OSError`, `RefusedError`.
        closed: the outcome if a connection ends in the last attempt, and the server listens.
    """
    outcome = _asked(server, partial(ask, False))  # noqa: FBT003 - the argument of `ask`
    if isinstance(outcome, OSError):
        if not server.returns():
            return gone(outcome)
        server.asked_again["cases whose connection the server closed"] += 1
        outcome = _asked(server, partial(ask, True))  # noqa: FBT003 - as above
    if isinstance(outcome, OSError):
        outcome = closed(outcome) if server.is_listening() else gone(outcome)
    if isinstance(outcome, Crashed):
        server.returns()  # the process that asks the next case does not wait for it
    return outcome


def _asked(server: Server, ask: Callable[[], Outcome]) -> Outcome | OSError:
    """Return the outcome, or the error of a connection that ended."""
    connected = False
    try:
        server.reconnect_if_lost()
        connected = True
        return ask()
    except RefusedError as error:
        return Unsupported(str(error))
    except TimeoutError as error:
        server.lose()
        if not connected:  # it hangs since the last case: every other case would wait for it too
            return gone(error)
        return Stalled(f"no answer: {line_of(error)}")
    except OSError as error:
        server.lose()
        return error


# --- send case ---


EARLIER: Final[Json] = {
    "id": "7",
    "origin_timestamp": "1745000000000000",
    "headers": [],
    "payload": b"earlier".hex(),
}
"""A message before each case, so that offset 0 is wrong for the case, and earlier data can be lost."""


class SendCases:
    """Runs the cases of `iggy.send`, one after another."""

    fields: ClassVar[Sequence[str]] = FIELDS
    """The fields of a message that a send has."""

    keeps: ClassVar[bool] = True
    """Whether a connection that is in step is used for the next case too."""

    def __init__(self, server: Server, names: str) -> None:
        """Use streams whose names begin with the prefix and `names`."""
        self._server = server
        self._protocol = server.protocol
        self._streams = OwnStreams(server, names)
        self.check = self._streams.check
        self._connection: Connection | HttpConnection | None = None

    def run(self, request: Request) -> Outcome:
        """Send the bytes of a request and return what the server answers and stores."""

        def around(error: OSError) -> Stalled:
            """Return the outcome of a case for which a request around the send is not answered."""
            return Stalled(f"around the send: {line_of(error)}")

        return asked_twice(self._server, partial(self._on_own_stream, request), around)

    def _on_own_stream(self, request: Request, last: bool) -> Outcome:
        """Return the outcome of a case; before the last attempt, raise an error if no answer comes."""
        if last and self._connection:  # what ended the first attempt may have ended this connection too
            self._connection.close()
            self._connection = None
        with self._streams.lend() as (name, stream):
            words, data, polled = self._begin(request.data, stream, name)
            earlier = polled()
            sent = self._send(words, data, request.limits.ms / 1000 * WAIT * (PATIENCE if last else 1))
            if sent.reply is None and not last:
                raise ConnectionEndedError(sent.closed or "no answer")
            if sent.closed and not self._server.is_listening():
                return Crashed(f"{GONE}: {sent.closed}")
            if sent.reply is None and not sent.closed:
                return Stalled("no answer: the server waits for more bytes than the request has")
            found = polled()
        grown = found.messages[len(earlier.messages) :]
        broken = list(broken_around(earlier, found))
        refused = self._refused(sent)
        if refused is not None:
            if grown:
                text = f"{refused.detail} is answered, and {len(grown)} messages are stored"
                broken.insert(0, BrokenRule("iggy.send.nothing", text))
            return evolve(refused, broken=tuple(broken))
        if sent.out_of_step:
            broken.append(BrokenRule("iggy.send.in-step", sent.out_of_step))
        return Accepted({"messages": self._shown(grown, request.data)}, broken=tuple(broken))

    def _shown(self, stored: Sequence[Any], data: bytes) -> list[Json]:
        """Return the fields of messages that the bytes of a case have; an id that the server set as sent."""
        ids, rows = self._ids(data, stored), list[Json]()
        for index, message in enumerate(stored):
            whole = to_json(message)
            assert isinstance(whole, dict)
            own = {"id": "0"} if index < len(ids) and ids[index] == 0 else {}
            rows.append({name: whole[name] for name in self.fields} | own)
        return rows

    def _begin(
        self, data: bytes, stream: int, name: str
    ) -> tuple[Sequence[Any], bytes, Callable[[], Stored]]:
        """Create the topic of a case with a message before it, in a stream with this number and name.

        Returns:
            the words of the request before the bytes; the bytes for this place; what polls the partition.

        Raises:
            RefusedError, OSError: a request around the send failed.
        """
        topic = self._server.create_topic(stream, requests.topic_of(self._protocol, data))
        place = {"kind": "partition_id", "value": requests.U32.pack(topic.partition).hex()}
        owner = requests.numeric(stream)
        value: Json = {
            "stream": owner,
            "topic": topic.identifier,
            "partitioning": place,
            "messages": [EARLIER],
        }
        first = formats.encode(self._protocol.send_format, value)
        self._server.ask("sending", requests.SEND_MESSAGES, first)
        data = requests.with_stream(
            self._protocol, requests.with_partition(self._protocol, data), stream, name
        )
        data = data if self._protocol.chosen else requests.with_topic(data, topic.number)
        return (requests.SEND_MESSAGES,), data, partial(poll_all, self._server, stream, topic)

    def _ids(self, data: bytes, _: Sequence[Any]) -> Sequence[int]:
        """Return the ids that the bytes of a case name, of which these messages are stored.

        Bytes that are refused name none.
        """
        try:
            value = formats.decode(self._protocol.send_format, data).value
        except Rejected:
            return ()
        return [message.id for message in value.messages]

    def _send(self, words: Sequence[Any], data: bytes, seconds: float) -> Sent:
        connection: Any = self._connection or self._server.connected()
        self._connection = None
        try:
            reply = connection.request(*words, data, seconds)
            out_of_step = self._step(connection)
        except TimeoutError:
            return Sent()
        except OSError as error:
            return Sent(closed=one_line(str(error), TEXT))
        finally:
            if connection is not self._connection:
                connection.close()
        return Sent(reply, out_of_step=out_of_step)

    def _step(self, connection: Connection | HttpConnection) -> str:
        """Keep a connection that answers a ping; return what is wrong with one that answers otherwise."""
        try:
            found = connection.ping(PING_SECONDS)
        except TimeoutError:
            return "no answer to a ping on the same connection"
        except OSError:
            return ""  # an end of the connection after an error is no fault
        if found:
            return f"a ping on the same connection is answered with {found}"
        self._connection = connection if self.keeps else None
        return ""

    def _refused(self, sent: Sent) -> Refused | None:
        if sent.reply is None:
            return Refused(detail=CLOSED, text=f"no answer: {sent.closed}", untyped=True)
        if sent.reply.success:
            return None
        error, text, untyped = self._server.error_in(sent.reply)
        text = "; ".join(filter(None, (text, sent.out_of_step)))
        return Refused(error.cls, detail=error.name, text=text, untyped=untyped or bool(sent.out_of_step))


# --- one case over HTTP: post its JSON to a topic of our own, and poll what is stored then, as JSON ---

TOPIC: Final = "topic"
HTTP_FIELDS: Final = ("id", "headers", "payload")
"""The fields of a message that a send over HTTP has."""


class HttpSendCases(SendCases):
    """Runs the cases of `iggy.json.send`."""

    fields = HTTP_FIELDS
    keeps = False

    def _begin(self, data: bytes, stream: int, _: str) -> tuple[Sequence[Any], bytes, Callable[[], Stored]]:
        """Create a topic with the partition that the body names."""
        first = self._protocol.first
        number = _partition(data)
        partition = number if first <= number <= self._protocol.most_partitions else first
        if number > self._protocol.most_partitions:  # no topic has it: the first one stands in its place
            there, ours = base64.b64encode(U32.pack(number)), base64.b64encode(U32.pack(first))
            data = data.replace(there, ours, 1)
        facts = {"name": TOPIC, "partitions_count": partition + 1 - first, "compression_algorithm": "none"}
        unlimited = {"message_expiry": 0, "max_topic_size": 0}
        place = f"/streams/{stream}/topics"
        self._server.ask("creating a topic", "POST", place, json_bytes(facts | unlimited))
        path = f"{place}/{TOPIC}/messages"
        where = {"kind": "partition_id", "value": base64.b64encode(U32.pack(partition)).decode()}
        body = {
            "partitioning": where,
            "messages": [{"id": 7, "payload": base64.b64encode(b"earlier").decode()}],
        }
        self._server.ask("sending", "POST", path, json_bytes(body))
        return ("POST", path), data, partial(self._polled, path, partition)

    def _polled(self, path: str, partition: int) -> Stored:
        """Poll the partition whole; raise `RefusedError`, `OSError`."""
        protocol = self._protocol
        query = {
            protocol.consumer: 1, "partition_id": partition, "kind": "offset", "value": 0,
            "count": requests.MOST_POLLED, "auto_commit": "false",
        }  # fmt: skip
        with self._server.connected() as connection:
            reply = connection.request("GET", f"{path}?{urlencode(query)}")
        if not reply.success:
            raise RefusedError(f"polling is refused with {self._server.error_in(reply)[0].name}")
        try:
            found = formats.decode(formats.get("iggy.json.poll", protocol.json_poll), reply.body).value
        except Rejected as error:
            return Stored((), 0, f"{error.cls}: {error}")
        return Stored(tuple(found.messages), found.current_offset)

    def _ids(self, data: bytes, stored: Sequence[Any]) -> Sequence[int]:
        """Return the ids in a body; of a refused one, 0 for those that the server took for 0."""
        row = formats.get("iggy.json.send", self._protocol.json_send)
        try:
            return [message.id for message in formats.decode(row, data).value.messages]
        except Rejected:
            pairs = zip_longest(_ids(data), (message.id for message in stored))
            return [named if named == own else 0 for named, own in pairs]


def _partition(data: bytes) -> int:
    """Return the number of the partition that a body names; -1 if it names none."""
    try:
        place = json.loads(data)["partitioning"]
        value = base64.b64decode(place["value"], validate=True)
        is_number = place["kind"] == "partition_id" and len(value) == U32.size
    except (ValueError, TypeError, KeyError, RecursionError):
        return -1
    return int(U32.unpack(value)[0]) if is_number else -1


def _ids(data: bytes) -> list[Any]:
    try:
        return [message.get("id") for message in json.loads(data)["messages"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
