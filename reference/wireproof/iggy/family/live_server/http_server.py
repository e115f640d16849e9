"""A server over HTTP that is logged in: its version, and the streams of our own on it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from wireproof import formats
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.server_address import ServerAddress
from wireproof.iggy.family.live_server.client_properties import IggyClientProperties
from wireproof.iggy.family.live_server.error_codes import ServerError, error_of
from wireproof.iggy.family.live_server.http_connection import HttpConnection, HttpReply
from wireproof.iggy.family.live_server.own_streams import RefusedError, StreamServer
from wireproof.iggy.family.live_server.server import protocol_of
from wireproof.wire.rejection import Rejected
from wireproof.wire.safe_text import one_line

PONG: Final = b"pong"
TEXT: Final = 200
"""Characters of the text of an error that are kept."""

HTTP_ERRORS: Final[Mapping[int, ServerError]] = {413: ServerError("HTTP 413", "limit-exceeded")}
"""The errors of the HTTP layer that have a class: a body may be larger than a server is configured for."""


class HttpServer(StreamServer):
    """A server at an address, with one connection for everything but the cases.

    Raises:
        AdapterStartError: nothing answers there, it is no server of Iggy, or it refuses the user.
    """

    def __init__(self, address: ServerAddress, properties: IggyClientProperties) -> None:
        """Connect and log in."""
        self.address = address
        self.properties = properties
        self._lost = False
        try:
            self._token = self._login()
            self._connection = self.connected()
            self.version = self._version()
        except (RefusedError, OSError) as error:
            raise AdapterStartError(_no_server(address, error)) from None
        self.protocol = protocol_of(properties.revision, self.version, address)

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

    def reconnect_if_lost(self) -> None:
        """Log in again if there was a fault on the connection; raise `OSError`, `RefusedError`."""
        if self._lost:
            self._token = self._login()
            self._connection = self.connected()
            self._lost = False

    def lose(self) -> None:
        """Close the connection after a fault on it."""
        self._connection.close()
        self._lost = True

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

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


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


def _no_server(address: ServerAddress, error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return f"nothing answers at {address}: {error.strerror}"
    if isinstance(error, RefusedError):
        return f"{address}: {error}"
    return f"{address} does not answer as an Iggy server over HTTP does: {one_line(str(error), TEXT)}"
