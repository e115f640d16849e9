"""One case on a live server: send its bytes to a stream of our own, and poll what is stored then."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, Refused
from wireproof.iggy.family.live_server import commands
from wireproof.iggy.family.live_server.connection import Connection, Reply
from wireproof.iggy.family.live_server.destination import (
    Topic,
    topic_of,
    with_partition,
    with_stream,
    with_topic,
)
from wireproof.iggy.family.live_server.error_codes import error_of
from wireproof.iggy.family.live_server.outcome import (
    CLOSED,
    TEXT,
    WAIT,
    Sent,
    answered,
    around_send,
    asked_twice,
    outcome_of,
)
from wireproof.iggy.family.live_server.own_streams import OwnStreams
from wireproof.iggy.family.live_server.server import Server
from wireproof.iggy.family.live_server.stored import FIELDS, poll_all
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected
from wireproof.wire.safe_text import one_line

EARLIER: Final[Json] = {
    "id": "7",
    "origin_timestamp": "1745000000000000",
    "headers": [],
    "payload": b"earlier".hex(),
}
"""A message before each case, so that offset 0 is wrong for the case, and earlier data can be lost."""


class SendCases:
    """Runs the cases of `iggy.send`, one after another."""

    def __init__(self, server: Server, names: str) -> None:
        """Use streams whose names begin with the prefix and `names`."""
        self._server = server
        self._protocol = server.protocol
        self._streams = OwnStreams(server, names)
        self.check = self._streams.check
        self._connection: Connection | None = None

    def decode(self, request: Request) -> Outcome:
        """Send the bytes of a request and return what the server answers and stores."""
        return asked_twice(self._server, partial(self._on_own_stream, request), around_send)

    def _on_own_stream(self, request: Request, last: bool) -> Outcome:
        if last and self._connection:  # what ended the first attempt may have ended this connection too
            self._connection.close()
            self._connection = None
        with self._streams.lend() as (name, stream):
            data = with_stream(self._protocol, with_partition(self._protocol, request.data), stream, name)
            topic = self._server.create_topic(stream, topic_of(self._protocol, request.data))
            return self._stored(request, data, stream, topic, last=last)

    def _stored(self, request: Request, data: bytes, stream: int, topic: Topic, *, last: bool) -> Outcome:
        data = data if self._protocol.chosen else with_topic(data, topic.number)
        self._server.ask("sending", commands.SEND_MESSAGES, self._earlier(stream, topic))
        earlier = poll_all(self._server, stream, topic)
        sent = answered(partial(self._send, data), request.limits.ms / 1000 * WAIT, self._server, last=last)
        if not isinstance(sent, Sent):
            return sent
        found = poll_all(self._server, stream, topic)
        ids = self._sent_ids(request)
        return outcome_of(_refused(sent), sent.out_of_step, earlier, found, ids, FIELDS)

    def _earlier(self, stream: int, topic: Topic) -> bytes:
        place = commands.U32.pack(topic.partition).hex()
        value: Json = {
            "stream": commands.numeric(stream),
            "topic": topic.identifier,
            "partitioning": {"kind": "partition_id", "value": place},
            "messages": [EARLIER],
        }
        return formats.encode(self._protocol.send_format, value)

    def _sent_ids(self, request: Request) -> Sequence[int]:
        """Return the ids in a request; none if its bytes are refused."""
        try:
            value = formats.decode(self._protocol.send_format, request.data).value
        except Rejected:
            return ()
        return [message.id for message in value.messages]

    def _send(self, data: bytes, seconds: float) -> Sent[Reply]:
        connection = self._connection or self._server.connected()
        self._connection = None
        try:
            reply = connection.request(commands.SEND_MESSAGES, data, seconds)
        except TimeoutError:
            connection.close()
            return Sent()
        except OSError as error:
            connection.close()
            return Sent(closed=one_line(str(error), TEXT))
        return Sent(reply, out_of_step=self._step(connection, seconds))

    def _step(self, connection: Connection, seconds: float) -> str:
        """Keep a connection that answers a ping; return what is wrong with one that answers otherwise."""
        try:
            reply = connection.request(commands.PING, b"", seconds)
        except TimeoutError:
            text = "no answer to a ping on the same connection"
        except OSError:
            text = ""  # an end of the connection after an error is no fault
        else:
            if reply == Reply(0, b""):
                self._connection = connection
                return ""
            text = f"a ping on the same connection is answered with status {reply.status}"
        connection.close()
        return text


def _refused(sent: Sent[Reply]) -> Refused | None:
    if sent.reply is not None and not sent.reply.status:
        return None
    if sent.reply is None:
        text = f"no answer: {sent.closed}"
        return Refused(detail=CLOSED, text=text, untyped=True)
    error = error_of(sent.reply.status)
    text = "; ".join(filter(None, (f"error {sent.reply.status}", sent.out_of_step)))
    return Refused(error.cls, detail=error.name, text=text, untyped=bool(sent.out_of_step))
