"""A server that is logged in: its version, and the streams of our own on it. No other stream is touched."""

import re
import struct
from collections.abc import Mapping
from typing import Final

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.server_address import ServerAddress
from wireproof.iggy.family.live_server import commands
from wireproof.iggy.family.live_server.client_properties import IggyClientProperties
from wireproof.iggy.family.live_server.connection import Connection, Reply
from wireproof.iggy.family.live_server.error_codes import error_of
from wireproof.wire.safe_text import one_line

PREFIX: Final = "wireproof-"
"""The beginning of every name. Only streams with it, and with the token of a run, are ever deleted."""

REVISIONS: Final[Mapping[str, str]] = {"0.5": "0.7", "0.6": "0.8", "0.7": "0.9", "0.8": "0.9"}
"""The revision of a send by the first two numbers of a server's version: iggy.md, section 1."""

SPOKEN: Final = ("0.7",)
"""The revisions that this adapter was run with."""

_VERSION: Final = re.compile(r"(\d+\.\d+)\.\d+")


class RequestRefusedError(Exception):
    """The server refuses a request that is no case."""

    def __init__(self, doing: str, status: int) -> None:
        """Name what was asked, and the error code."""
        error = error_of(status)
        super().__init__(f"{doing} is refused with {error.name} ({status})")


class Server:
    """A server at an address, with one connection for everything but the cases.

    Raises:
        AdapterStartError: nothing answers there, it is no server of Iggy, or it refuses the user.
    """

    def __init__(self, address: ServerAddress, properties: IggyClientProperties) -> None:
        """Connect and log in."""
        self.address = address
        self.properties = properties
        try:
            self._connection = self.connected()
        except RequestRefusedError as error:
            raise AdapterStartError(f"{address}: {error}") from None
        except OSError as error:
            raise AdapterStartError(_no_server(address, error)) from None

    def connected(self) -> Connection:
        """Return another connection that is logged in; raise `OSError`, `RequestRefusedError`."""
        connection = Connection(self.address)
        try:
            body = commands.login(self.properties.user, self.properties.password)
            reply = connection.request(commands.LOGIN, body)
            _check(reply, f"the login of {self.properties.user}")
        except BaseException:
            connection.close()
            raise
        return connection

    def ask(self, doing: str, code: int, body: bytes = b"") -> bytes:
        """Return the body of an answer; raise `RequestRefusedError`, `OSError`."""
        reply = self._connection.request(code, body)
        _check(reply, doing)
        return reply.body

    def version(self) -> str:
        """Return the version that the server answers; empty if it answers none."""
        try:
            return commands.version_in(self.ask("reading the statistics", commands.GET_STATS))
        except RequestRefusedError:
            return ""

    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""
        try:
            with Connection(self.address) as connection:
                return connection.request(commands.PING, b"").status == 0
        except OSError:
            return False

    def reconnect(self) -> None:
        """Replace the connection after a fault on it; raise `OSError`, `RequestRefusedError`."""
        self._connection.close()
        self._connection = self.connected()

    def create_stream(self, name: str) -> int:
        """Create a stream and return its number."""
        body = self.ask(f"creating the stream {name}", commands.CREATE_STREAM, commands.create_stream(name))
        if len(body) >= 4:
            return commands.number_in(body)
        return next(number for number, found in self._streams() if found == name)

    def delete_streams(self, token: str) -> dict[str, str]:
        """Delete the streams of a run; return the names of those that are left, with the reason."""
        left: dict[str, str] = {}
        for number, name in self._streams():
            if name.startswith(f"{PREFIX}{token}-"):
                try:
                    self.delete_stream(number)
                except RequestRefusedError as error:
                    left[name] = str(error)
        return left

    def delete_stream(self, number: int) -> None:
        """Delete a stream of our own."""
        body = commands.identifier(commands.numeric(number))
        self.ask(f"deleting the stream {number}", commands.DELETE_STREAM, body)

    def _streams(self) -> list[tuple[int, str]]:
        try:
            return list(commands.streams_in(self.ask("listing the streams", commands.GET_STREAMS)))
        except (struct.error, IndexError):
            return []

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def revision_of(server: Server, version: str) -> str:
    """Return the revision of a send that the server takes; raise `AdapterStartError`."""
    wished = server.properties.revision
    found = _VERSION.match(version)
    revision = wished or (REVISIONS.get(found[1], "") if found else "")
    if revision in SPOKEN:
        return revision
    shown = f"server {one_line(version, 40)}" if version else "a server without a version"
    known = f"its revision is {revision}" if revision else "its revision is not known"
    raise AdapterStartError(
        f"{server.address} is {shown}: {known}, and iggy-server speaks {', '.join(SPOKEN)}"
    )


def _check(reply: Reply, doing: str) -> None:
    if reply.status:
        raise RequestRefusedError(doing, reply.status)


def _no_server(address: ServerAddress, error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return f"nothing answers at {address}: {error.strerror}"
    return f"{address} does not answer as an Iggy server up to 0.8.x does: {one_line(str(error), 200)}"
