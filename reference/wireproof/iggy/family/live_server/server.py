"""A server that is logged in: its version, and the streams of our own on it. No other stream is touched."""

import re
import struct
from typing import Final

from attrs import evolve

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.server_address import ServerAddress
from wireproof.iggy.family.live_server import commands
from wireproof.iggy.family.live_server.client_properties import IggyClientProperties
from wireproof.iggy.family.live_server.connection import Connection, Reply
from wireproof.iggy.family.live_server.destination import Topic
from wireproof.iggy.family.live_server.error_codes import error_of
from wireproof.iggy.family.live_server.own_streams import RefusedError, StreamServer
from wireproof.iggy.family.live_server.protocol import BY_REVISION, BY_VERSION, Protocol
from wireproof.wire.safe_text import one_line

_VERSION: Final = re.compile(r"(\d+\.\d+)\.\d+")


class Server(StreamServer):
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
            self._connection = self.connected()
        except RefusedError as error:
            raise AdapterStartError(f"{address}: {error}") from None
        except OSError as error:
            raise AdapterStartError(_no_server(address, error)) from None
        self.version = self._version()
        self.protocol = protocol_of(properties.revision, self.version, address)

    def connected(self) -> Connection:
        """Return another connection that is logged in; raise `OSError`, `RefusedError`."""
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
        """Return the body of an answer; raise `RefusedError`, `OSError`."""
        reply = self._connection.request(code, body)
        _check(reply, doing)
        return reply.body

    def _version(self) -> str:
        """Return the version that the server answers; empty if it answers none."""
        try:
            return commands.version_in(self.ask("reading the statistics", commands.GET_STATS))
        except RefusedError:
            return ""

    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""
        try:
            with Connection(self.address) as connection:
                return connection.request(commands.PING, b"").status == 0
        except OSError:
            return False

    def reconnect_if_lost(self) -> None:
        """Replace the connection if there was a fault on it; raise `OSError`, `RefusedError`."""
        if self._lost:
            self._connection = self.connected()
            self._lost = False

    def lose(self) -> None:
        """Close the connection after a fault on it."""
        self._connection.close()
        self._lost = True

    def create_stream(self, name: str) -> int:
        """Create a stream and return its number."""
        body = self.ask(
            f"creating the stream {name}", commands.CREATE_STREAM, commands.create_stream(self.protocol, name)
        )
        if len(body) >= 4:
            return commands.number_in(body)
        return next(number for number, found in self.streams() if found == name)

    def create_topic(self, stream: int, topic: Topic) -> Topic:
        """Create a topic and return it as it is; from 0.6 on the server gives it a number."""
        body = commands.create_topic(self.protocol, stream, topic.number, topic.name, topic.partitions)
        answer = self.ask("creating a topic", commands.CREATE_TOPIC, body)
        if self.protocol.chosen:
            return topic
        number = commands.number_in(answer)
        shown = commands.numeric(number) if topic.by_number else topic.identifier
        return evolve(topic, number=number, identifier=shown)

    def delete_stream(self, number: int) -> None:
        """Delete a stream of our own."""
        body = commands.identifier(self.protocol, commands.numeric(number))
        self.ask(f"deleting the stream {number}", commands.DELETE_STREAM, body)

    def streams(self) -> list[tuple[int, str]]:
        """Return the number and the name of each stream; raise `OSError`, `RefusedError`."""
        try:
            return list(commands.streams_in(self.ask("listing the streams", commands.GET_STREAMS)))
        except (struct.error, IndexError):
            return []

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


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


def _no_server(address: ServerAddress, error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return f"nothing answers at {address}: {error.strerror}"
    return f"{address} does not answer as an Iggy server up to 0.8.x does: {one_line(str(error), 200)}"
