"""The connections to one cluster: kafka-python's manager of connections, with its loop in a thread of its own.

Any thread may call; a call blocks its thread only, so that many requests are in flight.
"""

import contextlib
import logging
import socket
import ssl
from typing import Any, Final, Self

import kafka.errors as errors
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import MetadataRequest

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.kafka_broker.address import BrokerAddress
from wireproof.adapters.python_object import line_of

CONNECT_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 15.0
LARGEST_ANSWER: Final = 128 * 1024 * 1024
IN_FLIGHT: Final = 4096
"""Requests in flight on a connection: the window of the adapter is smaller."""

FIRST: Final = "bootstrap-0"
"""kafka-python's name of the first address."""

UNREACHABLE: Final = (errors.KafkaConnectionError, errors.NodeNotReadyError, errors.KafkaTimeoutError)


class Cluster:
    """A connected cluster.

    Attributes:
        address: the address that the user gave.
        versions: for each key of an API, the least and the newest version that the broker accepts.
    """

    def __init__(self, address: BrokerAddress, settings: dict[str, Any]) -> None:
        """Connect; raise `AdapterStartError` with the reason if that fails."""
        logging.getLogger("kafka").setLevel(logging.CRITICAL)  # its errors come as exceptions too
        self.address = address
        context = settings.get("ssl_context")
        _look(address, context)
        self._net = NetworkSelector()
        self._manager = KafkaConnectionManager(
            self._net,
            bootstrap_servers=str(address),
            client_id="wireproof",
            max_in_flight_requests_per_connection=IN_FLIGHT,
            receive_message_max_bytes=LARGEST_ANSWER,
            request_timeout_ms=int(REQUEST_SECONDS * 1000),
            socket_connection_setup_timeout_ms=int(CONNECT_SECONDS * 1000),
            **settings,
        )
        self._net.start()
        try:
            self._bootstrap(tls=context is not None)
        except BaseException:
            self.close()
            raise
        self.versions: dict[int, tuple[int, int]] = dict(self._manager.broker_version_data.api_versions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def release(self) -> str:
        """Return the release of Kafka whose versions the broker offers, such as `4.0`."""
        return ".".join(map(str, self._manager.broker_version or ()))

    def _bootstrap(self, *, tls: bool) -> None:
        where = f"the broker at {self.address}"
        try:
            self._net.run(self._first_connection)
            self._net.run(self._manager.bootstrap_async, int(2 * CONNECT_SECONDS * 1000))
        except errors.SaslAuthenticationFailedError as error:
            raise AdapterStartError(f"{where} refuses the credentials: {line_of(error)}") from None
        except errors.UnsupportedSaslMechanismError as error:
            raise AdapterStartError(f"{where} does not know this sasl.mechanism: {line_of(error)}") from None
        except errors.KafkaError as error:
            hint = "" if tls else "; if it expects TLS or SASL, set security.protocol in a properties file"
            raise AdapterStartError(f"{where} does not answer as Kafka does: {line_of(error)}{hint}") from None

    async def _first_connection(self) -> None:
        connection = self._manager.get_connection(FIRST, pop_on_close=False, refresh_metadata_on_err=False)
        await connection
        self._manager._conns.pop(FIRST, connection).close()  # noqa: SLF001 - the manager's bootstrap does the same

    def call(self, request: Any, version: int, node: int | None = None) -> Any:  # noqa: ANN401 - of many APIs
        """Send a request to a node, or to any, and return its response; raise an error of kafka-python."""
        request.API_VERSION = version
        return self._net.run(self._call, request, node)

    async def _call(self, request: Any, node: int | None) -> Any:  # noqa: ANN401 - as above
        chosen = self._manager.least_loaded_node() if node is None else node
        connection = await self._manager.get_connection(chosen)
        while connection.paused:  # its buffer is full, or the broker throttles
            await self._net.sleep(0.01)
        return await connection.send_request(request)

    def newest(self, request: Any, most: int | None = None) -> int:  # noqa: ANN401 - a class of requests
        """Return the newest version that both sides know, `most` at most; raise `KeyError` if there is none."""
        _, newest = self.versions[request.API_KEY]
        known = request.max_version if most is None else min(most, request.max_version)
        return min(newest, known)

    def learn_node(self, response: Any) -> None:  # noqa: ANN401 - a metadata response
        """Note the addresses of the brokers in a metadata response."""
        self._net.run(self._manager.cluster.update_metadata, response)

    def metadata(self, *topics: str) -> Any:  # noqa: ANN401 - a metadata response
        """Return the metadata of some topics; never create one."""
        kind = MetadataRequest.MetadataRequestTopic
        request = MetadataRequest(
            topics=[kind(name=topic) for topic in topics], allow_auto_topic_creation=False
        )
        return self.call(request, self.newest(MetadataRequest))

    def all_topics(self) -> list[str]:
        """Return the names of all topics that we may see."""
        version = self.newest(MetadataRequest)
        response = self.call(MetadataRequest(topics=[] if version == 0 else None), version)
        self.learn_node(response)
        return [topic.name for topic in response.topics if topic.name]

    def is_alive(self) -> bool:
        """Return True if the broker accepts connections."""
        try:
            socket.create_connection((self.address.host, self.address.port), CONNECT_SECONDS).close()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the connections and end the thread."""
        with contextlib.suppress(Exception):
            self._manager.close()
        with contextlib.suppress(Exception):
            self._net.stop(timeout_ms=1000)


def _look(address: BrokerAddress, context: ssl.SSLContext | None) -> None:
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
