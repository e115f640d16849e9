"""The connections to one cluster: kafka-python's manager of connections, its loop in a thread of its own.

Each thread has connections of its own, so that a lost one, or a slow answer, concerns one case only.
"""

import contextlib
import logging
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Self

from kafka import errors
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.api_key import ApiKey
from kafka.protocol.metadata import MetadataRequest

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.live_servers import ServerAddress
from wireproof.kafka.family.protocol_messages import message
from wireproof.wire.safe_text import one_line

CONNECT_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 20.0
"""Time limit of a request that changes or asks the cluster."""

RETURN_SECONDS: Final = 30.0
"""Time in which a broker that is started again answers: Apache Kafka takes one that was killed when its old
session has ended, after nine seconds by default (`broker.session.timeout.ms`)."""

LONGEST_BACKOFF_MS: Final = 1_000
"""Between two attempts to connect to a broker that is started again; kafka-python's default is 30 seconds."""

PAUSE: Final = 0.1
LARGEST_ANSWER: Final = 128 * 1024 * 1024
FIRST: Final = "bootstrap-0"
"""kafka-python's name of the first address."""

NO_WISH: Final[Mapping[int, int]] = MappingProxyType({})

PLAINTEXT: Final = "PLAINTEXT"

SAID_BY: Final[dict[type[Exception], str]] = {
    errors.SaslAuthenticationFailedError: "refuses the credentials",
    errors.UnsupportedSaslMechanismError: "does not know this sasl.mechanism",
    errors.IllegalSaslStateError: "has no SASL on this listener",
}
"""What a broker says by an error while it is connected."""

CERTIFICATE_ALERT: Final = re.compile("ALERT_[A-Z_]*(CERTIFICATE|UNKNOWN_CA)")
"""The alerts of TLS about a certificate: RFC 8446, §6.2."""

MOST_OF_REASON: Final = 200
NOT_KAFKA: Final = "does not answer as Kafka does"
HINT: Final = "; if it expects TLS or SASL, set security.protocol in a properties file"


PLAIN_API_VERSIONS: Final = 2
"""The newest ApiVersions without tagged fields. A broker that does not know the version of a request answers
in the form of version 0 (KIP-511), but librdkafka's mock cluster in a form that no version has."""


class Connections(KafkaConnectionManager):  # type: ignore[misc] # the library has no types
    """The library's connections, of which none loses an answer that comes right before the end.

    A broker that refuses a login answers and closes. kafka-python 3.0 drops what it reads with the end.

    Attributes:
        plain: True to begin a connection with an ApiVersions that every broker knows.
    """

    plain = False

    def get_connection(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - of the library
        """Return the connection to a node, a new one if there is none."""
        connection = super().get_connection(*arguments, **options)
        if not isinstance(connection.data_received, Received):
            connection.data_received = Received(connection.data_received)
        if self.plain and connection.initializing:
            first = min(connection._api_versions_idx, PLAIN_API_VERSIONS)  # noqa: SLF001 - it has no public one
            connection._api_versions_idx = first  # noqa: SLF001 - as above
        return connection

    async def _build_transport(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - of the library
        transport = await super()._build_transport(*arguments, **options)
        transport._sock_recv = partial(_data_before_end, transport._sock_recv)  # noqa: SLF001 - it has no public one
        return transport


SIZE: Final = 4
"""Bytes of the size before an answer."""

OTHERS: Final = {b"HTTP": "HTTP", b"\x15\x03": "TLS", b"\x16\x03": "TLS"}
"""The protocols by the first bytes of their answers; as a size, each is larger than what is read."""


class Received:
    """Passes on what a connection receives, and counts the bytes of each answer, to name a broken one."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        """Store what takes the bytes."""
        self._receive = receive
        self._size = b""
        self._count = 0

    def __call__(self, data: bytes) -> None:
        """Pass on data; an unreadable answer ends the connection, whatever error the library raises.

        kafka-python 3.0 stops reading after errors of other kinds, and the request waits for its time limit.
        """
        self._note(data)
        try:
            self._receive(data)
        except errors.KafkaError:
            raise
        except Exception as error:
            raise errors.KafkaProtocolError(f"Unable to decode response: {error!r}") from error

    def _note(self, data: bytes) -> None:
        """Count the bytes of the current answer; raise `KafkaProtocolError` for one of another protocol."""
        while data:
            more = SIZE - len(self._size)
            self._size, data = self._size + data[:more], data[more:]
            for start, name in OTHERS.items():
                if self._size.startswith(start):
                    raise errors.KafkaProtocolError(f"an answer of {name}, not of Kafka: {self._size.hex()}")
            if len(self._size) < SIZE:
                return
            missing = int.from_bytes(self._size) - self._count
            self._count, data = self._count + min(missing, len(data)), data[missing:]
            if self._count == int.from_bytes(self._size):
                self._size, self._count = b"", 0

    @property
    def progress(self) -> str:
        """Return how much has come of an answer that is not whole; empty if nothing has."""
        if not self._size:
            return ""
        whole = str(int.from_bytes(self._size)) if len(self._size) == SIZE else "an unknown number of"
        return f"{self._count} of {whole} bytes of the answer came, then nothing"


def _data_before_end(receive: Callable[[], tuple[bytes, Exception | None]]) -> tuple[bytes, Exception | None]:
    """Return data without the end that came with it: the next call finds that again."""
    data, end = receive()
    return data, None if data else end


class Cluster:
    """A connected cluster.

    Attributes:
        address: the address that the user gave.
        release: the release of Kafka that has what the broker offers, as a lower bound; empty if unknown.
        versions: for each key of an API, the least and the newest version that the broker accepts.
        wished: the version of a request that the user chose, by the key of its API.
        fetch_wait_ms: how long a fetch lets the broker wait for records.
    """

    def __init__(
        self,
        address: ServerAddress,
        settings: dict[str, Any],
        wished: Mapping[int, int] = NO_WISH,
        fetch_wait_ms: int = 0,
    ) -> None:
        """Connect; raise `AdapterStartError` with the reason if that fails."""
        logging.getLogger("kafka").setLevel(logging.CRITICAL)  # its errors come as exceptions too
        self.address = address
        self.wished = wished
        self.fetch_wait_ms = fetch_wait_ms
        context = settings.get("ssl_context")
        _look(address, context)
        self._settings = settings
        self._net = NetworkSelector()
        self._net.start()
        self._of_thread = threading.local()
        self._plain = False
        self._managers: list[KafkaConnectionManager] = []
        try:
            offered = self._manager.broker_version_data
        except BaseException:
            self.close()
            raise
        self.versions: dict[int, tuple[int, int]] = dict(offered.api_versions)
        release = ".".join(map(str, offered.broker_version or ()))
        self.release = f"at least {release}" if release else ""
        self._check_wishes()

    def _check_wishes(self) -> None:
        for api, wished in self.wished.items():
            least, newest = self.versions.get(api, (0, -1))
            if not least <= wished <= newest:
                self.close()
                name = ApiKey(api).name
                raise AdapterStartError(
                    f"the broker at {self.address} has versions {least} to {newest} of {name}, not {wished}"
                )

    def __enter__(self) -> Self:
        """Return the connected cluster."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    @property
    def _manager(self) -> Any:  # noqa: ANN401 - the library has no types
        """Return the connections of this thread; open the first one if it has none."""
        if not hasattr(self._of_thread, "manager"):
            manager = Connections(
                self._net,
                bootstrap_servers=str(self.address),
                client_id="wireproof",
                receive_message_max_bytes=LARGEST_ANSWER,
                socket_connection_setup_timeout_ms=int(CONNECT_SECONDS * 1000),
                reconnect_backoff_max_ms=LONGEST_BACKOFF_MS,
                **self._settings,
            )
            self._managers.append(manager)
            self._bootstrap(manager, self._settings.get("security_protocol", PLAINTEXT))
            self._of_thread.manager = manager
        return self._of_thread.manager

    def _bootstrap(self, manager: Any, protocol: str) -> None:  # noqa: ANN401 - as above
        where = f"the broker at {self.address}"
        try:
            manager.plain = self._plain
            try:
                self._net.run(self._first_connection, manager)
            except errors.KafkaProtocolError:
                if self._plain:
                    raise
                self._plain = manager.plain = True
                self._net.run(self._first_connection, manager)
            self._net.run(manager.bootstrap_async, int(2 * CONNECT_SECONDS * 1000))
        except errors.KafkaError as error:
            reason = one_line(str(error), MOST_OF_REASON)
            hint = HINT if (said := _said(error)) == NOT_KAFKA and protocol == PLAINTEXT else ""
            raise AdapterStartError(f"{where} {said}: {reason}{hint}") from None

    async def _first_connection(self, manager: Any) -> None:  # noqa: ANN401 - as above
        connection = manager.get_connection(FIRST, pop_on_close=False, refresh_metadata_on_err=False)
        try:
            await connection
        finally:
            manager._conns.pop(FIRST, connection).close()  # noqa: SLF001 - the manager's bootstrap does the same

    def call(
        self,
        request: Any,  # noqa: ANN401 - of many APIs
        version: int,
        node: int | None = None,
        seconds: float = REQUEST_SECONDS,
    ) -> Any:  # noqa: ANN401 - as above
        """Send a request to a node, or to any, and return its response; raise an error of kafka-python."""
        request.API_VERSION = version
        try:
            return self._net.run(self._call, self._manager, request, node, seconds)
        except errors.KafkaProtocolError as error:
            reason = one_line(" ".join(map(str, error.args)), MOST_OF_REASON)
            raise type(error)(f"{ApiKey(request.API_KEY).name} {version}: {reason}") from error

    async def _call(self, manager: Any, request: Any, node: int | None, seconds: float) -> Any:  # noqa: ANN401 - as above
        connection = await self._connection(manager, node)
        while connection.paused:  # its buffer is full, or the broker throttles
            await self._net.sleep(0.01)
        try:
            return await connection.send_request(request, request_timeout_ms=int(seconds * 1000))
        except errors.RequestTimedOutError as error:
            if not (said := connection.data_received.progress):
                raise
            name = ApiKey(request.API_KEY).name
            raise errors.RequestTimedOutError(f"{name} {request.API_VERSION}: {said}") from error

    def call_all(self, rows: Sequence[tuple[Any, int]], node: int | None) -> list[Any]:
        """Send requests on one connection, none of them after an answer; return their responses in order."""
        for request, version in rows:
            request.API_VERSION = version
        return list(self._net.run(self._call_all, self._manager, [request for request, _ in rows], node))

    async def _call_all(self, manager: Any, rows: Sequence[Any], node: int | None) -> list[Any]:  # noqa: ANN401 - as above
        connection = await self._connection(manager, node)
        while connection.paused:
            await self._net.sleep(0.01)
        timeout = int(REQUEST_SECONDS * 1000)
        sent = [connection.send_request(one, request_timeout_ms=timeout) for one in rows]
        return [await one for one in sent]

    async def _connection(self, manager: Any, node: int | None) -> Any:  # noqa: ANN401 - of the library
        """Return an open connection; wait while the library holds a lost one back."""
        deadline = time.monotonic() + CONNECT_SECONDS
        while True:
            chosen = manager.least_loaded_node() if node is None else node
            try:
                return await manager.get_connection(chosen)
            except errors.NodeNotReadyError:
                if time.monotonic() > deadline:
                    raise
            await self._net.sleep(0.05)

    def newest(self, request: Any, most: int | None = None) -> int:  # noqa: ANN401 - a class of requests
        """Return the newest version that both sides know, `most` at most; `KeyError` for an unknown API."""
        _, newest = self.versions[request.API_KEY]
        known: int = request.max_version if most is None else min(most, request.max_version)
        return min(newest, known)

    def learn_node(self, response: Any) -> None:  # noqa: ANN401 - a metadata response
        """Note the addresses of the brokers in a metadata response."""
        self._net.run(self._manager.cluster.update_metadata, response)

    def metadata(self, *topics: str, create: bool = False) -> Any:  # noqa: ANN401 - a metadata response
        """Return the metadata of some topics; create one only if that is asked for."""
        rows = [{"name": topic} for topic in topics]
        request = message(MetadataRequest, topics=rows, allow_auto_topic_creation=create)
        return self.call(request, self.newest(MetadataRequest))

    def all_topics(self) -> list[str]:
        """Return the names of all topics that we may see."""
        version = self.newest(MetadataRequest)
        response = self.call(MetadataRequest(topics=[] if version == 0 else None), version)
        self.learn_node(response)
        return [topic.name for topic in response.topics if topic.name]

    def brokers(self) -> list[str]:
        """Return the addresses of the brokers that metadata named."""
        return sorted(f"{one.host}:{one.port}" for one in self._manager.cluster.brokers())

    def returns(self) -> bool:
        """Wait for a broker that is started again; return False if it does not answer in time."""
        deadline = time.monotonic() + RETURN_SECONDS
        while time.monotonic() < deadline:
            if self.is_alive():
                with contextlib.suppress(errors.KafkaError, AdapterStartError):
                    self.metadata()
                    return True
            time.sleep(PAUSE)
        return self.is_alive()

    def is_alive(self) -> bool:
        """Return True if the broker accepts connections."""
        try:
            socket.create_connection((self.address.host, self.address.port), CONNECT_SECONDS).close()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the connections and end the thread."""
        for manager in self._managers:
            with contextlib.suppress(Exception):
                manager.close()
        with contextlib.suppress(Exception):
            self._net.stop(timeout_ms=1000)


def _said(error: errors.KafkaError) -> str:
    """Return what the broker says by an error while it is connected."""
    if CERTIFICATE_ALERT.search(str(error)):
        return "refuses the certificate of this client, or wants one by ssl.keystore"
    return next((text for kind, text in SAID_BY.items() if isinstance(error, kind)), NOT_KAFKA)


def _look(address: ServerAddress, context: ssl.SSLContext | None) -> None:
    """Connect once without Kafka's protocol: a missing listener or TLS has a plain reason then."""
    try:
        plain = socket.create_connection((address.host, address.port), CONNECT_SECONDS)
    except OSError as error:
        raise AdapterStartError(f"nothing answers at {address}: {error}") from None
    with plain:
        if context is None:
            return
        try:
            context.wrap_socket(plain, server_hostname=address.host).close()
        except ssl.SSLCertVerificationError as error:
            raise AdapterStartError(
                f"the certificate of {address} is not trusted: {error.verify_message or error}"
            ) from None
        except OSError as error:
            raise AdapterStartError(f"no TLS at {address}: {error}") from None
