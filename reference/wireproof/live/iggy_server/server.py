"""A server that is logged in: its version, and the streams of our own on it. No other stream is touched."""

import configparser
import contextlib
import http.client
import json
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from struct import Struct
from typing import Any, ClassVar, Final, Self

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry.live_servers import PREFIX, ServerAddress
from wireproof.live.frames import FrameStream
from wireproof.live.iggy_server import requests
from wireproof.live.iggy_server.requests import (
    BY_REVISION,
    BY_VERSION,
    Protocol,
    ServerError,
    Topic,
    error_of,
)
from wireproof.wire.rejection import Rejected
from wireproof.wire.text import one_line

# --- connections ---
#
# The sockets are those of Python: the clients of Iggy write every body themselves, and send no others.

SECONDS: Final = 10.0
"""Time limit of a connection and of an answer to a request that is no case."""

LARGEST: Final = 256 * 1024**2
"""Bytes of the largest answer that is read."""

_HEAD: Final = Struct("<II")
"""Size and code of a request, status and size of an answer: the classic framing, iggy.md, section 2.1."""


class ConnectionEndedError(OSError):
    """The server closes the connection, or answers with something that is no reply."""


class OneConnection:
    """A connection, which a block closes. Its methods raise `OSError`; without an answer, `TimeoutError`."""

    _client: socket.socket | http.client.HTTPConnection

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@frozen
class Reply:
    """An answer: status 0 is success, other numbers are error codes."""

    status: int
    body: bytes

    @property
    def success(self) -> bool:
        return self.status == 0

    def value(self) -> bytes:
        return self.body

    def refusal(self) -> str:
        """Return the error for a sentence."""
        return f"{error_of(self.status).name} ({self.status})"


class Connection(OneConnection):
    """One TCP connection."""

    _client: socket.socket

    def __init__(self, address: ServerAddress) -> None:
        self._client = socket.create_connection((address.host, address.port), timeout=SECONDS)
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = FrameStream(
            self._client, prefix=_HEAD.size, size=lambda head: _HEAD.unpack(head)[1], most=LARGEST
        )

    def request(self, code: int, body: bytes, seconds: float = SECONDS) -> Reply:
        """Send a request whole, and return its answer."""
        self._client.settimeout(seconds)
        self._client.sendall(_HEAD.pack(4 + len(body), code) + body)
        head, content = self._replies.take(time.monotonic() + seconds)
        return Reply(_HEAD.unpack(head)[0], content)

    def ping(self, seconds: float = SECONDS) -> str:
        """Return what a ping is answered with; empty for what is right."""
        reply = self.request(requests.PING, b"", seconds)
        return "" if reply == Reply(0, b"") else f"status {reply.status}"


# --- over HTTP: iggy.md, section 8 ---

JSON: Final = "application/json"
TEXT: Final = 200
"""Characters of the text of an error that are kept."""


@frozen
class HttpReply:
    """An answer: the HTTP status, the body, and the type of the body."""

    status: int
    body: bytes
    kind: str = ""

    @property
    def success(self) -> bool:
        return 200 <= self.status < 300

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON value of the body; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def refusal(self) -> str:
        """Return the error for a sentence."""
        found = self.value()
        named = isinstance(found, dict) and {"id", "code"} <= found.keys()
        return f"{one_line(str(found['code']), TEXT)} ({found['id']})" if named else f"HTTP {self.status}"


class HttpConnection(OneConnection):
    """One connection over HTTP, kept for several requests."""

    _client: http.client.HTTPConnection

    def __init__(self, address: ServerAddress, token: str = "") -> None:
        self._client = http.client.HTTPConnection(address.host, address.port, timeout=SECONDS)
        self._client.auto_open = 0  # a connection that ended stays ended
        self._client.connect()
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(
        self, method: str, path: str, body: bytes | None = None, seconds: float = SECONDS
    ) -> HttpReply:
        """Send a request whole, and return its answer; a body is sent as JSON."""
        headers = self._headers | ({} if body is None else {"Content-Type": JSON})
        try:
            if self._client.sock is None:
                raise ConnectionEndedError("the server closes the connection")
            self._client.sock.settimeout(seconds)
            self._client.request(method, path, body, headers)
            reply = self._client.getresponse()
            data = reply.read(LARGEST + 1)
        except http.client.HTTPException as error:
            raise ConnectionEndedError(f"no answer of HTTP: {type(error).__name__} {error}") from None
        if len(data) > LARGEST:
            raise ConnectionEndedError(f"a reply of more than {LARGEST} bytes")
        return HttpReply(reply.status, data, reply.headers.get("Content-Type", ""))

    def ping(self, seconds: float = SECONDS) -> str:
        """Return what a ping is answered with; empty for what is right."""
        reply = self.request("GET", "/ping", seconds=seconds)
        return "" if reply.body == b"pong" else f"HTTP {reply.status}"


# --- a server, and the streams of our own on it: one for each case, deleted after it ---


class RefusedError(Exception):
    """The server refuses a request that is no case."""


class Server:
    """A server over TCP that is logged in, with one connection for everything but the cases.

    Every method raises `OSError`, and `RefusedError` if the server refuses.

    Attributes:
        asked_again: why cases were asked again, and how often.
    """

    speaks: ClassVar[str] = "an Iggy server up to 0.8.x"
    """How a server of this kind answers, for messages."""

    _connection: Any

    def __init__(self, address: ServerAddress, properties: "IggyClientProperties") -> None:
        """Connect and log in.

        Raises:
            AdapterStartError: nothing answers there, it is no server of Iggy, or it refuses the user.
        """
        self.address, self.properties, self._lost = address, properties, False
        self.asked_again: Counter[str] = Counter()
        try:
            self._connection = self.logged_in()
            self.version = self._version()
        except RefusedError as error:
            raise AdapterStartError(f"{address}: {error}") from None
        except ConnectionRefusedError as error:
            raise AdapterStartError(f"nothing answers at {address}: {error.strerror}") from None
        except OSError as error:
            said = one_line(str(error), TEXT)
            raise AdapterStartError(f"{address} does not answer as {self.speaks} does: {said}") from None
        self.protocol = protocol_of(properties.revision, self.version, address)

    def stranger(self) -> Any:  # noqa: ANN401 - a connection of its kind
        """Return a connection that is not logged in."""
        return Connection(self.address)

    def logged_in(self) -> Any:  # noqa: ANN401 - the same
        """Log in, and return a connection."""
        return self.connected()

    def connected(self) -> Any:  # noqa: ANN401 - the same
        """Return another connection that is logged in."""
        connection = self.stranger()
        try:
            body = requests.login(self.properties.user, self.properties.password)
            said(connection.request(requests.LOGIN, body), f"the login of {self.properties.user}")
        except BaseException:
            connection.close()
            raise
        return connection

    def ask(self, doing: str, *words: Any) -> Any:  # noqa: ANN401 - as the connection has them
        """Return what an answer says: the bytes of its body, or JSON."""
        return said(self._connection.request(*words), doing)

    def error_in(self, reply: Any) -> tuple[ServerError, str, bool]:  # noqa: ANN401 - an answer of its kind
        """Return the error in an answer, its text, and whether the server says only that it failed."""
        return error_of(reply.status), f"error {reply.status}", False

    def _version(self) -> str:
        """Return the version that the server answers; empty if it answers none."""
        try:
            return requests.version_in(self.ask("reading the statistics", requests.GET_STATS, b""))
        except RefusedError:
            return ""

    def create_stream(self, name: str) -> int:
        body = requests.create_stream(self.protocol, name)
        answer = self.ask(f"creating the stream {name}", requests.CREATE_STREAM, body)
        if len(answer) >= 4:
            return int(requests.U32.unpack_from(answer)[0])
        return next(number for number, found in self.streams() if found == name)

    def create_topic(self, stream: int, topic: Topic) -> Topic:
        """Create a topic and return it as it is; from 0.6 on the server gives it a number."""
        body = requests.create_topic(self.protocol, stream, topic.number, topic.name, topic.partitions)
        answer = self.ask("creating a topic", requests.CREATE_TOPIC, body)
        if self.protocol.chosen:
            return topic
        number = int(requests.U32.unpack_from(answer)[0])
        shown = requests.numeric(number) if topic.by_number else topic.identifier
        return evolve(topic, number=number, identifier=shown)

    def delete_stream(self, number: int) -> None:
        body = requests.identifier(self.protocol, requests.numeric(number))
        self.ask(f"deleting the stream {number}", requests.DELETE_STREAM, body)

    def streams(self) -> list[tuple[int, str]]:
        """Return the number and the name of each stream."""
        try:
            return list(requests.streams_in(self.ask("listing the streams", requests.GET_STREAMS, b"")))
        except (struct.error, IndexError):
            return []

    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""
        try:
            with self.stranger() as connection:
                return not connection.ping()
        except OSError:
            return False

    def reconnect_if_lost(self) -> None:
        """Replace the connection if there was a fault on it."""
        if self._lost:
            self._connection = self.logged_in()
            self._lost = False

    def lose(self) -> None:
        """Close the connection after a fault on it: the next case gets another one."""
        self._connection.close()
        self._lost = True

    def returns(self) -> bool:
        """Wait for a server that is started again; return False if it does not answer in time."""
        deadline = time.monotonic() + 10.0
        while not (found := self.is_listening()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def names(self, prefix: str = "") -> list[str]:
        return [name for _, name in self.streams() if name.startswith(prefix)]

    def delete_streams(self, prefix: str) -> dict[str, str]:
        """Delete the streams with a prefix; return the names of those that are left, with the reason."""
        left: dict[str, str] = {}
        for number, name in self.streams():
            if name.startswith(prefix):
                try:
                    self.delete_stream(number)
                except RefusedError as error:
                    left[name] = str(error)
        return left


class OwnStreams:
    """Lends streams to cases, one after another."""

    def __init__(self, server: Server, names: str) -> None:
        """Use names that begin with the prefix and `names`."""
        self._server = server
        self._names = (f"{PREFIX}{names}-{number}" for number in count(1))

    @contextlib.contextmanager
    def lend(self) -> Iterator[tuple[str, int]]:
        """Create a stream, give its name and number, and delete it; raise `RefusedError`, `OSError`."""
        name = next(self._names)
        stream = self._server.create_stream(name)
        try:
            yield name, stream
        finally:
            with contextlib.suppress(RefusedError, OSError):  # the cleanup deletes what is left
                self._server.delete_stream(stream)

    def check(self) -> None:
        """Create and delete a stream: without the permission for it, there is no run."""
        self._server.delete_stream(self._server.create_stream(next(self._names)))


# --- the properties file of a client: its user, and facts that no request asks for ---

KEYS: Final = {
    "username": "user",
    "password": "password",
    "wireproof.server.name": "name",
    "wireproof.server.revision": "revision",
}
"""The attributes of `IggyClientProperties` by their keys."""

LONGEST: Final = 255
"""Bytes of a user and of a password: their length is one byte."""


@frozen
class IggyClientProperties:
    """The content of a properties file.

    Attributes:
        user, password: of a user that may create, delete and use streams; a new server has the default.
        name: of the server, for reports and known failures.
        revision: of the bytes of a send; empty: found out by the version that the server answers.
    """

    user: str = "iggy"
    password: str = "iggy"  # noqa: S105 - the password of every new server, in its documentation
    name: str = "iggy-server"
    revision: str = ""


def read_properties(path: str) -> IggyClientProperties:
    """Return the content of a properties file, or the default without one; raise `AdapterStartError`."""
    if not path:
        return IggyClientProperties()
    parser = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#", "!"), interpolation=None, default_section=""
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign] # keys keep their case
    try:
        parser.read_string(f"[all]\n{Path(path).read_text(encoding='utf-8')}")
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        text = str(error).partition("\n")[0]
        raise AdapterStartError(f"the properties file {path} cannot be read: {text}") from None
    found = dict(parser["all"])
    if unknown := found.keys() - set(KEYS):
        raise AdapterStartError(f"{path}: {min(unknown)} is no key; the keys are {', '.join(KEYS)}")
    if long := [key for key in ("username", "password") if len(found.get(key, "").encode()) > LONGEST]:
        raise AdapterStartError(f"{path}: {long[0]} has more than {LONGEST} bytes")
    return IggyClientProperties(**{KEYS[key]: value for key, value in found.items()})


def protocol_of(wished: str, version: str, address: ServerAddress) -> Protocol:
    """Return the protocol of a server by its properties, or by its version; raise `AdapterStartError`."""
    found = re.match(r"(\d+\.\d+)\.\d+", version)
    protocol = BY_VERSION.get(found[1]) if found else None
    if wished and (protocol is None or protocol.send != wished):
        protocol = BY_REVISION.get(wished)
    if protocol is not None:
        return protocol
    shown = f"server {one_line(version, 40)}" if version else "a server without a version"
    known = f"its revision is {wished}" if wished else "its revision is not known"
    raise AdapterStartError(f"{address} is {shown}: {known}, and iggy-server speaks {', '.join(BY_REVISION)}")


def said(reply: Reply | HttpReply, doing: str) -> Any:  # noqa: ANN401 - bytes, or any JSON
    """Return what an answer says; raise `RefusedError` for an error."""
    if reply.success:
        return reply.value()
    raise RefusedError(f"{doing} is refused with {reply.refusal()}")


class HttpServer(Server):
    """A server over HTTP."""

    speaks = "an Iggy server over HTTP"

    def stranger(self) -> HttpConnection:
        return HttpConnection(self.address)

    def logged_in(self) -> HttpConnection:
        """Take another token, and return a connection with it."""
        user = {"username": self.properties.user, "password": self.properties.password}
        with self.stranger() as connection:
            reply = connection.request("POST", "/users/login", json_bytes(user))
        found = said(reply, f"the login of {self.properties.user}")
        try:
            self._token = str(found["access_token"]["token"])
        except (TypeError, KeyError):
            raise RefusedError("the answer to the login has no access token") from None
        return self.connected()

    def connected(self) -> HttpConnection:
        return HttpConnection(self.address, self._token)

    def error_in(self, reply: HttpReply) -> tuple[ServerError, str, bool]:
        """Return the error in an answer.

        Errors of the HTTP layer itself are texts, or have the HTTP status as code: iggy.md, section 8.3.
        """
        text = one_line(reply.body.decode("utf-8", "replace"), TEXT)
        # a body may be larger than a server is configured for
        error = ServerError(f"HTTP {reply.status}", "limit-exceeded" if reply.status == 413 else "other")
        if reply.kind.startswith(JSON):
            row = formats.get("iggy.json.error", self.protocol.json_error)
            try:
                number = int(formats.decode(row, reply.body).value.id)
                error = error if number == reply.status else error_of(number)
            except Rejected as rejected:
                text = f"its body is refused, {rejected.cls}: {text}"
        return error, text, reply.status >= 500

    def _version(self) -> str:
        found = self.ask("reading the statistics", "GET", "/stats")
        return str(found.get("iggy_server_version", "")) if isinstance(found, dict) else ""

    def create_stream(self, name: str) -> int:
        found = self.ask(f"creating the stream {name}", "POST", "/streams", json_bytes({"name": name}))
        try:
            return int(found["id"])
        except (TypeError, KeyError, ValueError):
            raise RefusedError(f"the answer to the stream {name} has no number") from None

    def streams(self) -> list[tuple[int, str]]:
        found = self.ask("listing the streams", "GET", "/streams")
        return [(int(row["id"]), str(row["name"])) for row in found or ()]

    def delete_stream(self, number: int) -> None:
        self.ask(f"deleting the stream {number}", "DELETE", f"/streams/{number}")


def json_bytes(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode()
