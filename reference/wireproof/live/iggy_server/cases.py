"""The server at an address, over TCP or HTTP, and the cases that it is asked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import define, field

from wireproof import formats
from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.cases.steps import ERROR, SEQUENCE
from wireproof.formats import FORMATS
from wireproof.live.iggy_server import requests, send_case
from wireproof.live.iggy_server.requests import DEFAULT_TOPIC, Topic, error_of, topic_of, with_stream
from wireproof.live.iggy_server.send_case import SendCases, asked_twice, unreadable
from wireproof.live.iggy_server.server import Connection, HttpServer, OwnStreams, Server
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected

# --- cases with steps: a stream of its own, its requests in order, and the answer to each ---

Fields: TypeAlias = Mapping[str, Any]

UNREADABLE: Final = "unreadable"
"""The field of the answer to a poll that a consumer refuses."""


class NotSuccessfulError(Exception):
    """A step is answered with an error code."""


@define
class PollSession:
    """The state of one case: its stream, its topic, and a connection, which is a client of its own."""

    server: Server
    connection: Connection
    name: str
    stream: int
    topic: Topic
    groups: set[str] = field(factory=set)

    def ask(self, code: int, body: bytes) -> bytes:
        """Return the body of an answer; raise `NotSuccessfulError`."""
        reply = self.connection.request(code, body)
        if reply.status:
            raise NotSuccessfulError(error_of(reply.status).name)
        return reply.body

    def place(self) -> bytes:
        """Return the identifiers of the stream and of the topic."""
        stream = requests.identifier(self.server.protocol, requests.numeric(self.stream))
        return stream + requests.identifier(self.server.protocol, self.topic.identifier)

    def about(self, fields: Fields) -> bytes:
        """Return the beginning of a request about the offset of a consumer."""
        protocol = self.server.protocol
        who = bytes((2 if fields.get("group") else 1,)) + requests.identifier(protocol, consumer(fields))
        partition = fields.get("partition")
        number = requests.U32.pack(int(partition or 0))
        flag = bytes((partition is not None,)) if protocol.optional else b""
        return who + self.place() + flag + number


class PollSequences:
    """Runs cases with steps, one after another."""

    def __init__(self, server: Server, names: str) -> None:
        self._server = server
        self._streams = OwnStreams(server, f"{names}-s")

    def run(self, request: Request) -> Outcome:
        """Send the steps of a request and return the answers."""

        def closed(error: OSError) -> Refused:
            text = f"the server closes the connection without an answer: {line_of(error)}"
            return Refused(text=text, untyped=True)

        def ask(_: bool) -> Outcome:
            # the topic is that of the sends of the case, with as many partitions as they need
            sent = (bytes.fromhex(str(step["hex"])) for step in request.steps if "hex" in step)
            named = (topic_of(self._server.protocol, data) for data in sent)
            wanted = max(named, key=lambda topic: topic.partitions, default=DEFAULT_TOPIC)
            with self._streams.lend() as (name, stream):
                topic = self._server.create_topic(stream, wanted)
                with self._server.connected() as connection:
                    return _answers(PollSession(self._server, connection, name, stream, topic), request)

        return asked_twice(self._server, ask, closed)


def _answers(session: PollSession, request: Request) -> Accepted:
    """Take the steps of a request, one after another."""
    answers: list[Json] = []
    texts: list[str] = []
    for step in request.steps:
        try:
            answer = _OPS[str(step["op"])](session, step)
        except NotSuccessfulError as error:
            answer = {ERROR: str(error)}
        texts += [str(answer[UNREADABLE])] if UNREADABLE in answer else []
        answers.append(answer)
    return Accepted({"steps": answers}, broken=tuple(map(unreadable, texts)))


def consumer(fields: Fields) -> Json:
    """Return the identifier of the consumer of a step: a number, or a name."""
    name = str(fields.get("consumer", "1"))
    if name.isdecimal():
        return requests.numeric(int(name))
    return {"kind": "string", "value": name.encode().hex()}


# --- the ops ---


def _send(session: PollSession, fields: Fields) -> dict[str, Json]:
    data = with_stream(session.server.protocol, bytes.fromhex(fields["hex"]), session.stream, session.name)
    session.ask(requests.SEND_MESSAGES, data)
    return {"sent": True}


def _poll(session: PollSession, fields: Fields) -> dict[str, Json]:
    value = int(fields.get("value", 0))
    if "timestampOf" in fields:
        named = {"strategy": "offset", "partition": fields.get("partition"), "count": "1"}
        (message,) = _polled(session, named, int(fields["timestampOf"])).messages
        value = message.timestamp + int(fields.get("later", 0))
    try:
        found = _polled(session, fields, value)
    except Rejected as error:
        return {UNREADABLE: f"{error.cls}: {error}"}
    messages: dict[str, Json] = {str(one.offset): one.payload.hex() for one in found.messages}
    order = [int(offset) for offset in messages]
    sorted_too: dict[str, Json] = {} if order == sorted(order) else {"order": [str(one) for one in order]}
    head: dict[str, Json] = {"partition": str(found.partition_id), "currentOffset": str(found.current_offset)}
    return {**head, "messages": messages, **sorted_too}


def _polled(session: PollSession, fields: Fields, value: int) -> Any:  # noqa: ANN401 - of the revision
    """Return the decoded answer to a poll; raise `Rejected`, `NotSuccessfulError`."""
    protocol = session.server.protocol
    number, commit = int(fields.get("count", 100)), bytes((bool(fields.get("autoCommit")),))
    strategy = bytes((_STRATEGIES[str(fields["strategy"])],)) + requests.U64.pack(value)
    body = session.about(fields) + strategy + requests.U32.pack(number) + commit
    return formats.decode(protocol.poll_format, session.ask(requests.POLL_MESSAGES, body)).value


def _store_offset(session: PollSession, fields: Fields) -> dict[str, Json]:
    body = session.about(fields) + requests.U64.pack(int(fields["offset"]))
    session.ask(requests.STORE_CONSUMER_OFFSET, body)
    return {"stored": True}


def _get_offset(session: PollSession, fields: Fields) -> dict[str, Json]:
    body = session.ask(requests.GET_CONSUMER_OFFSET, session.about(fields))
    if not body:
        return {"offset": None}
    partition, current, stored = requests.STORED_OFFSET.unpack(body)
    return {"partition": str(partition), "currentOffset": str(current), "offset": str(stored)}


def _delete_offset(session: PollSession, fields: Fields) -> dict[str, Json]:
    session.ask(requests.DELETE_CONSUMER_OFFSET, session.about(fields))
    return {"deleted": True}


def _join_group(session: PollSession, fields: Fields) -> dict[str, Json]:
    """Join a group, which the first step that names it creates."""
    name = str(fields["consumer"])
    if name not in session.groups:
        session.groups.add(name)
        protocol = session.server.protocol
        session.ask(requests.CREATE_CONSUMER_GROUP, session.place() + requests.group(protocol, name))
    session.ask(
        requests.JOIN_CONSUMER_GROUP,
        session.place() + requests.identifier(session.server.protocol, consumer(fields)),
    )
    return {"joined": True}


_STRATEGIES: Final = {"offset": 1, "timestamp": 2, "first": 3, "last": 4, "next": 5}

_OPS: Final[Mapping[str, Callable[[PollSession, Fields], dict[str, Json]]]] = {
    "send": _send,
    "poll": _poll,
    "store-offset": _store_offset,
    "get-offset": _get_offset,
    "delete-offset": _delete_offset,
    "join-group": _join_group,
}
"""The function of each op."""

# --- claims ---


def hello_of(server: Server) -> Hello:
    """Return the claims about a server: it takes sends of its revision, and a poll shows their fields."""
    shown: Sequence[str]
    if isinstance(server, HttpServer):
        format_id, shown = f"iggy.json.send/{server.protocol.json_send}", send_case.HTTP_FIELDS
        sequences = {}
    else:
        format_id, shown = f"iggy.send/{server.protocol.send}", send_case.FIELDS
        # a server writes polls, and reads none: only cases with steps are about them
        sequences = {format_id.replace("send", "poll"): Claim((SEQUENCE,), ("none",), ("reader", "produce"))}
    observed = tuple(f"messages[].{name}" for name in shown)
    features = tuple(
        atom.partition(":")[2] for atom in FORMATS[format_id].capabilities if atom.startswith("feature:")
    )
    claim = Claim(("decode",), ("none",), ("reader", "produce"), observed, features)
    revisions = {format_id: claim, **sequences}
    return Hello(server.properties.name, server.version, revisions, errors="coarse", cost="slow")


class TcpCases:
    """Runs the cases of a server over TCP."""

    def __init__(self, server: Server, names: str) -> None:
        """Use streams whose names begin with the prefix and `names`."""
        self._sends = SendCases(server, names)
        self._sequences = PollSequences(server, names)
        self.check = self._sends.check

    def run(self, request: Request) -> Outcome:
        """Return what the server does with a request."""
        return self._sequences.run(request) if request.op == SEQUENCE else self._sends.run(request)
