"""A server that is logged in: its version, and the streams of our own on it. No other stream is touched."""

import configparser
import contextlib
import http.client
import json
import re
import socket
import struct
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
# A connection in the classic framing: iggy.md, section 2.1. The sockets are those of Python: the clients of
# Iggy write every body themselves, and send no bytes of others.


SECONDS: Final = 10.0
"""Time limit of a connection and of an answer to a request that is no case."""

LARGEST: Final = 256 * 1024**2
"""Bytes of the largest answer that is read."""

_REQUEST: Final = Struct("<II")
_REPLY: Final = Struct("<II")


class ConnectionEndedError(OSError):
    """The server closes the connection, or answers with something that is no reply."""


@frozen
class Reply:
    """An answer: status 0 is success, other numbers are error codes."""

    status: int
    body: bytes


class Connection:
    """One TCP connection. Every method raises `OSError`; an answer that does not come is a `TimeoutError`."""

    def __init__(self, address: ServerAddress) -> None:
        """Connect."""
        self._socket = socket.create_connection((address.host, address.port), timeout=SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = FrameStream(
            self._socket, prefix=_REPLY.size, size=lambda head: _REPLY.unpack(head)[1], most=LARGEST
        )

    def request(self, code: int, body: bytes, seconds: float = SECONDS) -> Reply:
        """Send a request whole, and return its answer."""
        self._socket.settimeout(seconds)
        self._socket.sendall(_REQUEST.pack(4 + len(body), code) + body)
        head, content = self._replies.take(time.monotonic() + seconds)
        return Reply(_REPLY.unpack(head)[0], content)

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()


# --- http connection ---
#
# A connection to an Iggy server over HTTP: iggy.md, section 8. The client is that of Python's library.


JSON: Final = "application/json"


@frozen
class HttpReply:
    """An answer: the HTTP status, the body, and the type of the body."""

    status: int
    body: bytes
    kind: str = ""

    @property
    def success(self) -> bool:
        """Return True for a status from 200 to 299."""
        return 200 <= self.status < 300

    @property
    def is_json(self) -> bool:
        """Return True if the body is announced as JSON."""
        return self.kind.startswith(JSON)

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON value of the body; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class HttpConnection:
    """One connection, kept for several requests. Every method raises `OSError`."""

    def __init__(self, address: ServerAddress, token: str = "") -> None:
        """Connect; `token` is that of a login."""
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

    def close(self) -> None:
        """Close it."""
        self._client.close()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()


# --- own streams ---
#
# The streams of our own on a server: one for each case, deleted after it. No other stream is touched.


RETURN_SECONDS: Final = 10.0
"""Time in which a server that is started again answers."""

PAUSE: Final = 0.1


class RefusedError(Exception):
    """The server refuses a request that is no case."""


class StreamServer(ABC):
    """A server that is logged in, with one connection for everything but the cases.

    Every method raises `OSError`, and `RefusedError` if the server refuses.

    Attributes:
        asked_again: why cases were asked again, and how often.
    """

    speaks: ClassVar[str]
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

    @abstractmethod
    def logged_in(self) -> Any:  # noqa: ANN401 - a connection of its kind
        """Log in, and return a connection."""

    @abstractmethod
    def _version(self) -> str:
        """Return the version that the server answers; empty if it answers none."""

    @abstractmethod
    def create_stream(self, name: str) -> int:
        """Create a stream and return its number."""

    @abstractmethod
    def delete_stream(self, number: int) -> None:
        """Delete a stream of our own."""

    @abstractmethod
    def streams(self) -> Sequence[tuple[int, str]]:
        """Return the number and the name of each stream."""

    @abstractmethod
    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""

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
        deadline = time.monotonic() + RETURN_SECONDS
        while not (found := self.is_listening()) and time.monotonic() < deadline:
            time.sleep(PAUSE)
        return found

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

    def __init__(self, server: StreamServer, names: str) -> None:
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


# --- client properties ---
#
# The properties file of a client of an Iggy server: its user, and facts that no request asks for.


USER_KEY: Final = "username"
PASSWORD_KEY: Final = "password"  # noqa: S105 - the name of a key
NAME_KEY: Final = "wireproof.server.name"
REVISION_KEY: Final = "wireproof.server.revision"
KEYS: Final = (USER_KEY, PASSWORD_KEY, NAME_KEY, REVISION_KEY)

LONGEST: Final = 255
"""Bytes of a user and of a password: their length is one byte."""

_SECTION: Final = "properties"


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
    try:
        found = _parsed(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        text = str(error).partition("\n")[0]
        raise AdapterStartError(f"the properties file {path} cannot be read: {text}") from None
    if unknown := found.keys() - set(KEYS):
        raise AdapterStartError(f"{path}: {min(unknown)} is no key; the keys are {', '.join(KEYS)}")
    if long := [key for key in (USER_KEY, PASSWORD_KEY) if len(found.get(key, "").encode()) > LONGEST]:
        raise AdapterStartError(f"{path}: {long[0]} has more than {LONGEST} bytes")
    default = IggyClientProperties()
    return IggyClientProperties(
        found.get(USER_KEY, default.user),
        found.get(PASSWORD_KEY, default.password),
        found.get(NAME_KEY, default.name),
        found.get(REVISION_KEY, default.revision),
    )


def _parsed(text: str) -> dict[str, str]:
    """Return the properties of a text: `#` and `!` begin comments."""
    parser = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#", "!"), interpolation=None, default_section=""
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign] # keys keep their case
    parser.read_string(f"[{_SECTION}]\n{text}")
    return dict(parser[_SECTION])


# --- server ---


_VERSION: Final = re.compile(r"(\d+\.\d+)\.\d+")


class Server(StreamServer):
    """A server over TCP."""

    speaks = "an Iggy server up to 0.8.x"
    _connection: Connection

    def logged_in(self) -> Connection:
        """Log in, and return the connection."""
        return self.connected()

    def connected(self) -> Connection:
        """Return another connection that is logged in; raise `OSError`, `RefusedError`."""
        connection = Connection(self.address)
        try:
            body = requests.login(self.properties.user, self.properties.password)
            reply = connection.request(requests.LOGIN, body)
            _check(reply, f"the login of {self.properties.user}")
        except BaseException:
            connection.close()
            raise
        return connection

    def ask(self, doing: str, code: int, body: bytes = b"") -> bytes:
        """Return the body of an answer; raise `RefusedError`, `OSError`."""
        reply = self._connection.request(code, body)
        _check(reply, doing)
        return reply.body

    def _version(self) -> str:
        try:
            return requests.version_in(self.ask("reading the statistics", requests.GET_STATS))
        except RefusedError:
            return ""

    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""
        try:
            with Connection(self.address) as connection:
                return connection.request(requests.PING, b"").status == 0
        except OSError:
            return False

    def create_stream(self, name: str) -> int:
        """Create a stream and return its number."""
        body = self.ask(
            f"creating the stream {name}", requests.CREATE_STREAM, requests.create_stream(self.protocol, name)
        )
        if len(body) >= 4:
            return requests.number_in(body)
        return next(number for number, found in self.streams() if found == name)

    def create_topic(self, stream: int, topic: Topic) -> Topic:
        """Create a topic and return it as it is; from 0.6 on the server gives it a number."""
        body = requests.create_topic(self.protocol, stream, topic.number, topic.name, topic.partitions)
        answer = self.ask("creating a topic", requests.CREATE_TOPIC, body)
        if self.protocol.chosen:
            return topic
        number = requests.number_in(answer)
        shown = requests.numeric(number) if topic.by_number else topic.identifier
        return evolve(topic, number=number, identifier=shown)

    def delete_stream(self, number: int) -> None:
        """Delete a stream of our own."""
        body = requests.identifier(self.protocol, requests.numeric(number))
        self.ask(f"deleting the stream {number}", requests.DELETE_STREAM, body)

    def streams(self) -> list[tuple[int, str]]:
        """Return the number and the name of each stream; raise `OSError`, `RefusedError`."""
        try:
            return list(requests.streams_in(self.ask("listing the streams", requests.GET_STREAMS)))
        except (struct.error, IndexError):
            return []


def protocol_of(wished: str, version: str, address: ServerAddress) -> Protocol:
    """Return the protocol of a server by its properties, or by its version; raise `AdapterStartError`."""
    found = _VERSION.match(version)
    protocol = BY_VERSION.get(found[1]) if found else None
    if wished and (protocol is None or protocol.send != wished):
        protocol = BY_REVISION.get(wished)
    if protocol is not None:
        return protocol
    shown = f"server {one_line(version, 40)}" if version else "a server without a version"
    known = f"its revision is {wished}" if wished else "its revision is not known"
    raise AdapterStartError(f"{address} is {shown}: {known}, and iggy-server speaks {', '.join(BY_REVISION)}")


def _check(reply: Reply, doing: str) -> None:
    if reply.status:
        raise RefusedError(f"{doing} is refused with {error_of(reply.status).name} ({reply.status})")


# --- http server ---
#
# A server over HTTP that is logged in: its version, and the streams of our own on it.


PONG: Final = b"pong"
TEXT: Final = 200
"""Characters of the text of an error that are kept."""

HTTP_ERRORS: Final[Mapping[int, ServerError]] = {413: ServerError("HTTP 413", "limit-exceeded")}
"""The errors of the HTTP layer that have a class: a body may be larger than a server is configured for."""


class HttpServer(StreamServer):
    """A server over HTTP."""

    speaks = "an Iggy server over HTTP"
    _connection: HttpConnection

    def logged_in(self) -> HttpConnection:
        """Take another token, and return a connection with it."""
        self._token = self._login()
        return self.connected()

    def _login(self) -> str:
        user = {"username": self.properties.user, "password": self.properties.password}
        with HttpConnection(self.address) as connection:
            reply = connection.request("POST", "/users/login", json.dumps(user).encode())
        found = _checked(reply, f"the login of {self.properties.user}")
        try:
            return str(found["access_token"]["token"])
        except (TypeError, KeyError):
            raise RefusedError("the answer to the login has no access token") from None

    def connected(self) -> HttpConnection:
        """Return another connection that is logged in; raise `OSError`."""
        return HttpConnection(self.address, self._token)

    def ask(self, doing: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON value of an answer; raise `RefusedError`, `OSError`."""
        data = None if body is None else json.dumps(body).encode()
        return _checked(self._connection.request(method, path, data), doing)

    def _version(self) -> str:
        found = self.ask("reading the statistics", "GET", "/stats")
        return str(found.get("iggy_server_version", "")) if isinstance(found, dict) else ""

    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""
        try:
            with HttpConnection(self.address) as connection:
                return connection.request("GET", "/ping").body == PONG
        except OSError:
            return False

    def create_stream(self, name: str) -> int:
        """Create a stream and return its number."""
        found = self.ask(f"creating the stream {name}", "POST", "/streams", {"name": name})
        try:
            return int(found["id"])
        except (TypeError, KeyError, ValueError):
            raise RefusedError(f"the answer to the stream {name} has no number") from None

    def create_topic(self, stream: int, name: str, partitions: int) -> None:
        """Create a topic whose messages do not expire."""
        facts = {"name": name, "partitions_count": partitions, "compression_algorithm": "none"}
        unlimited = {"message_expiry": 0, "max_topic_size": 0}
        self.ask("creating a topic", "POST", f"/streams/{stream}/topics", facts | unlimited)

    def streams(self) -> list[tuple[int, str]]:
        """Return the number and the name of each stream; raise `OSError`, `RefusedError`."""
        found = self.ask("listing the streams", "GET", "/streams")
        return [(int(row["id"]), str(row["name"])) for row in found or ()]

    def delete_stream(self, number: int) -> None:
        """Delete a stream of our own."""
        self.ask(f"deleting the stream {number}", "DELETE", f"/streams/{number}")


def error_in(reply: HttpReply, revision: str) -> tuple[ServerError, str]:
    """Return the error in an answer, and its text.

    Errors of the HTTP layer itself are texts, or have the HTTP status as their code: iggy.md, section 8.3.
    """
    text = one_line(reply.body.decode("utf-8", "replace"), TEXT)
    of_layer = HTTP_ERRORS.get(reply.status) or ServerError(f"HTTP {reply.status}")
    if not reply.is_json:
        return of_layer, text
    try:
        number = int(formats.decode(formats.get("iggy.json.error", revision), reply.body).value.id)
    except Rejected as error:
        return of_layer, f"its body is refused, {error.cls}: {text}"
    return (of_layer if number == reply.status else error_of(number)), text


def _checked(reply: HttpReply, doing: str) -> Any:  # noqa: ANN401 - any JSON
    if reply.success:
        return reply.value()
    found = reply.value()
    named = isinstance(found, dict) and {"id", "code"} <= found.keys()
    shown = f"{one_line(str(found['code']), TEXT)} ({found['id']})" if named else f"HTTP {reply.status}"
    raise RefusedError(f"{doing} is refused with {shown}")
