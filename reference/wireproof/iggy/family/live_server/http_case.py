"""One case over HTTP: post its JSON to a topic of our own, and poll what is stored then, as JSON."""

import base64
import json
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Final
from urllib.parse import urlencode

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, Refused
from wireproof.iggy.family.live_server.commands import MOST_POLLED, U32
from wireproof.iggy.family.live_server.http_connection import HttpConnection, HttpReply
from wireproof.iggy.family.live_server.http_server import PONG, HttpServer, error_in
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
from wireproof.iggy.family.live_server.own_streams import OwnStreams, RefusedError
from wireproof.iggy.family.live_server.stored import Stored
from wireproof.wire.rejection import Rejected
from wireproof.wire.safe_text import one_line

TOPIC: Final = "topic"
FIELDS: Final = ("id", "headers", "payload")
"""The fields of a message that a send over HTTP has."""

EARLIER: Final = {"id": 7, "payload": base64.b64encode(b"earlier").decode()}
"""A message before each case, so that offset 0 is wrong for the case, and earlier data can be lost."""


class HttpSendCases:
    """Runs the cases of `iggy.json.send`, one after another."""

    def __init__(self, server: HttpServer, names: str) -> None:
        """Use streams whose names begin with the prefix and `names`."""
        self._server = server
        self._protocol = server.protocol
        self._streams = OwnStreams(server, names)
        self.check = self._streams.check

    def run(self, request: Request) -> Outcome:
        """Post the bytes of a request and return what the server answers and stores."""
        return asked_twice(self._server, partial(self._on_own_stream, request), around_send)

    def _on_own_stream(self, request: Request, last: bool) -> Outcome:
        with self._streams.lend() as (_, stream):
            return self._stored(request, stream, last=last)

    def _stored(self, request: Request, stream: int, *, last: bool) -> Outcome:
        first = self._protocol.first
        number, data = _partition(request.data), request.data
        partition = number if first <= number <= self._protocol.most_partitions else first
        if number > self._protocol.most_partitions:  # no topic has it: the first one stands in its place
            there, ours = base64.b64encode(U32.pack(number)), base64.b64encode(U32.pack(first))
            data = data.replace(there, ours, 1)
        self._server.create_topic(stream, TOPIC, partition + 1 - first)
        path = f"/streams/{stream}/topics/{TOPIC}/messages"
        place = {"kind": "partition_id", "value": base64.b64encode(U32.pack(partition)).decode()}
        self._server.ask("sending", "POST", path, {"partitioning": place, "messages": [EARLIER]})
        earlier = self._polled(path, partition)
        send = partial(self._post, path, data)
        posted = answered(send, request.limits.ms / 1000 * WAIT, self._server, last=last)
        if not isinstance(posted, Sent):
            return posted
        found = self._polled(path, partition)
        ids = self._sent_ids(request.data, found.messages[len(earlier.messages) :])
        refused = self._refused(posted)
        return outcome_of(refused, posted.out_of_step, earlier, found, ids, FIELDS)

    def _polled(self, path: str, partition: int) -> Stored:
        """Poll the partition whole; raise `RefusedError`, `OSError`."""
        protocol = self._protocol
        query = {
            protocol.consumer: 1, "partition_id": partition, "kind": "offset", "value": 0,
            "count": MOST_POLLED, "auto_commit": "false",
        }  # fmt: skip
        connection = self._server.connected()
        with connection:
            reply = connection.request("GET", f"{path}?{urlencode(query)}")
        if not reply.success:
            raise RefusedError(f"polling is refused with {error_in(reply, protocol.json_error)[0].name}")
        try:
            found = formats.decode(formats.get("iggy.json.poll", protocol.json_poll), reply.body).value
        except Rejected as error:
            return Stored((), 0, f"{error.cls}: {error}")
        return Stored(tuple(found.messages), found.current_offset)

    def _sent_ids(self, data: bytes, stored: Sequence[Any]) -> Sequence[int]:
        """Return the ids that a send names; of refused bytes, 0 for those that the server took for 0."""
        row = formats.get("iggy.json.send", self._protocol.json_send)
        try:
            return [message.id for message in formats.decode(row, data).value.messages]
        except Rejected:
            pairs = zip_longest(_ids(data), (message.id for message in stored))
            return [named if named == own else 0 for named, own in pairs]

    def _post(self, path: str, data: bytes, seconds: float) -> Sent[HttpReply]:
        with self._server.connected() as connection:
            try:
                reply = connection.request("POST", path, data, seconds)
            except TimeoutError:
                return Sent()
            except OSError as error:
                return Sent(closed=one_line(str(error), TEXT))
            return Sent(reply, out_of_step=_step(connection, seconds))

    def _refused(self, posted: Sent[HttpReply]) -> Refused | None:
        if posted.reply is None:
            return Refused(detail=CLOSED, text=f"no answer: {posted.closed}", untyped=True)
        if posted.reply.success:
            return None
        error, text = error_in(posted.reply, self._protocol.json_error)
        untyped = bool(posted.out_of_step) or posted.reply.status >= 500
        return Refused(error.cls, detail=error.name, text=text, untyped=untyped)


def _step(connection: HttpConnection, seconds: float) -> str:
    """Return what is wrong with the answer to a ping after a post; an end of the connection is no fault."""
    try:
        reply = connection.request("GET", "/ping", seconds=seconds)
    except TimeoutError:
        return "no answer to a ping on the same connection"
    except OSError:
        return ""
    return "" if reply.body == PONG else f"a ping on the same connection is answered with HTTP {reply.status}"


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
