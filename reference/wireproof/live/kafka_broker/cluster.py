"""The connections to one cluster.

Each thread has connections of its own, so that a lost one, or a slow answer, concerns one case only.
"""

import contextlib
import re
import shlex
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import Condition
from types import MappingProxyType
from typing import Any, Final, Self

from kafka import errors
from kafka.protocol.api_key import ApiKey
from kafka.protocol.broker_version_data import BrokerVersionData
from kafka.protocol.metadata import MetadataRequest

from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.registry.live_servers import ServerAddress
from wireproof.live.kafka_broker.connection import (
    CONNECT_SECONDS,
    ENDED,
    PLAIN_API_VERSIONS,
    Connection,
    FrameError,
    message,
    said_by,
)
from wireproof.wire.text import one_line

REQUEST_SECONDS: Final = 20.0
"""Time limit of a request that changes or asks the cluster."""

RETURN_SECONDS: Final = 30.0
"""Time in which a broker that is started again answers: Apache Kafka takes one that was killed when its old
session has ended, after nine seconds by default (`broker.session.timeout.ms`)."""

SAID_BY: Final[dict[type[Exception], str]] = {
    errors.SaslAuthenticationFailedError: "refuses the credentials",
    errors.UnsupportedSaslMechanismError: "does not know this sasl.mechanism",
    errors.IllegalSaslStateError: "has no SASL on this listener",
}
"""What a broker says by an error while it is connected."""

CERTIFICATE_ALERT: Final = re.compile("ALERT_[A-Z_]*(CERTIFICATE|UNKNOWN_CA)")
"""The alerts of TLS about a certificate: RFC 8446, §6.2."""

NOT_KAFKA: Final = "does not answer as Kafka does"


def tries(seconds: float) -> Iterator[None]:
    """Yield at once, and again after pauses that grow, until some time is over."""
    deadline, pause = time.monotonic() + seconds, 0.03
    while True:
        yield
        if time.monotonic() > deadline:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.5)


class HangsError(errors.KafkaError):  # type: ignore[misc] # the library has no types
    """The broker accepts a connection and answers nothing on it: every case would wait for it."""


class _OfThread(threading.local):
    """The connections of a thread, by their addresses, and the number of its exchanges that were answered."""

    def __init__(self) -> None:
        self.own: dict[tuple[str, int], Connection] = {}
        self.answered = 0


class Cluster:
    """A connected cluster; threads may share it.

    Attributes:
        address: the address that the user gave.
        release: the release of Kafka that has what the broker offers, as a lower bound; empty if unknown.
        versions: for each key of an API, the least and the newest version that the broker accepts.
        wished: the version of a request that the user chose, by the key of its API.
        fetch_wait_ms: how long a fetch lets the broker wait for records.
        asked_again: why cases were asked again, and how often.
    """

    def __init__(
        self,
        address: ServerAddress,
        settings: dict[str, Any],
        wished: Mapping[int, int] = MappingProxyType({}),
        fetch_wait_ms: int = 0,
    ) -> None:
        """Connect; raise `AdapterStartError` with the reason if that fails."""
        self.address = address
        self.wished = wished
        self.fetch_wait_ms = fetch_wait_ms
        self.asked_again: Counter[str] = Counter()
        self._settings = settings
        self._nodes: dict[int, tuple[str, int]] = {}
        self._of_thread = _OfThread()
        self._open: set[Connection] = set()
        self._newest: int | None = None
        self.versions: dict[int, tuple[int, int]] = {}
        _look(address, settings.get("ssl_context"))
        self._begin()
        release = BrokerVersionData(api_versions=self.versions).broker_version_str
        self.release = f"at least {release}"
        for api, version in wished.items():
            least, newest = self.versions.get(api, (0, -1))
            if not least <= version <= newest:
                self.close()
                name = ApiKey(api).name
                raise AdapterStartError(
                    f"the broker at {address} has versions {least} to {newest} of {name}, not {version}"
                )

    def _begin(self) -> None:
        """Learn the versions and the nodes of the cluster, and which ApiVersions the broker reads."""
        try:
            try:
                self._connection(None)
            except (errors.KafkaProtocolError, errors.KafkaConnectionError):
                self._newest = PLAIN_API_VERSIONS
                self._connection(None)
            self.versions.update(self._connection(None).versions)
            self.learn_node(self.metadata())
        except errors.KafkaError as error:
            self.close()
            reason = said_by(error)
            plain = self._settings.get("security_protocol", "PLAINTEXT") == "PLAINTEXT"
            said = next((text for kind, text in SAID_BY.items() if isinstance(error, kind)), NOT_KAFKA)
            if CERTIFICATE_ALERT.search(reason):
                said = "refuses the certificate of this client, or wants one by ssl.keystore"
            hint = "if it expects TLS or SASL, set security.protocol in a properties file"
            rest = f"; {hint}" if said == NOT_KAFKA and plain else ""
            raise AdapterStartError(f"the broker at {self.address} {said}: {reason}{rest}") from None
        except KeyError:
            raise AdapterStartError(f"the broker at {self.address} {NOT_KAFKA}: it has no Metadata") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(
        self,
        request: Any,  # noqa: ANN401 - of many APIs
        version: int,
        node: int | None = None,
        seconds: float = REQUEST_SECONDS,
    ) -> Any:  # noqa: ANN401 - as above
        """Send a request to a node, or to any, and return its response; raise an error of kafka-python."""
        (answer,) = self.call_all([(request, version)], node, seconds)
        return answer

    def call_all(
        self, rows: Sequence[tuple[Any, int]], node: int | None, seconds: float = REQUEST_SECONDS
    ) -> list[Any]:
        """Send requests on one connection, none of them after an answer; return their responses in order."""
        connection = self._connection(node)
        try:
            answers = connection.exchange(rows, seconds)
        except BaseException:
            self._drop(node)
            raise
        self._of_thread.answered += 1
        return answers

    def answered(self) -> int:
        """Return how often this thread got an answer."""
        return self._of_thread.answered

    def _connection(self, node: int | None) -> Connection:
        """Return the connection of this thread to a node, a new one if the broker has closed it.

        Raises:
            FrameError: something came on it since the last answer.
            KafkaError: there is no connection to the node.
        """
        own, place = self._of_thread.own, self._place(node)
        if place in own and (came := own[place].idle_end()):
            self._drop(node)
            if came != ENDED:
                raise FrameError(f"{came} after the last answer on this connection")
            self.asked_again["connections that the broker had closed"] += 1
        if place not in own:
            try:
                own[place] = Connection(*place, self._settings, self._newest)
            except errors.RequestTimedOutError as error:
                raise HangsError(said_by(error)) from None
            self._open.add(own[place])
        return own[place]

    def _place(self, node: int | None) -> tuple[str, int]:
        first = self.address.host, self.address.port
        return first if node is None else self._nodes.get(node, first)

    def _drop(self, node: int | None) -> None:
        connection = self._of_thread.own.pop(self._place(node))
        connection.close()
        self._open.discard(connection)

    def newest(self, request: Any, most: int | None = None) -> int:  # noqa: ANN401 - a class of requests
        """Return the newest version that both sides know, `most` at most; `KeyError` for an unknown API."""
        _, newest = self.versions[request.API_KEY]
        known: int = request.max_version if most is None else min(most, request.max_version)
        return min(newest, known)

    def learn_node(self, response: Any) -> None:  # noqa: ANN401 - a metadata response
        """Note the addresses of the brokers in a metadata response."""
        self._nodes |= {one.node_id: (one.host, one.port) for one in response.brokers}

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
        return sorted({str(ServerAddress(*place)) for place in self._nodes.values()})

    def returns(self) -> bool:
        """Wait for a broker that is started again; return False if it does not answer in time."""
        deadline = time.monotonic() + RETURN_SECONDS
        while time.monotonic() < deadline:
            if self.is_alive():
                with contextlib.suppress(errors.KafkaError, AdapterStartError):
                    self.metadata()
                    return True
            time.sleep(0.1)
        return self.is_alive()

    def is_alive(self) -> bool:
        """Return True if the broker accepts connections."""
        try:
            socket.create_connection((self.address.host, self.address.port), CONNECT_SECONDS).close()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the connections; count those on which something came after the last answer."""
        while self._open:
            if self._open.pop().close():
                self.asked_again["connections with an answer that nobody asked for at the end"] += 1


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


# --- restarts in the middle of a case, by a command of the operator, while no other case is asked ---

GATHER_SECONDS: Final = 2
"""Time in which further cases may come that wait for the same restart, which takes much longer."""


class RestartError(AdapterError):
    """The command of a restart failed, or the broker did not come back; the text is one line."""


class Restarts:
    """Lets cases run at the same time, and starts the broker again between them. Threads share it.

    One restart serves all cases that wait for one. Cases without a restart begin before or after it.
    """

    def __init__(self, cluster: Cluster, command: str, restarted: Callable[[float], None]) -> None:
        """Use a command, empty for none; `restarted` gets the time of each restart."""
        self._cluster = cluster
        self._command = command
        self._restarted = restarted
        self._changed = Condition()
        self._running = self._waiting = self._begun = self._done = 0

    @contextlib.contextmanager
    def case(self, *, restarts: bool) -> Iterator[None]:
        """Run a case, after the restart that others wait for unless it has one itself."""
        with self._changed:
            self._changed.wait_for(lambda: restarts or not self._waiting)
            self._begun += 1
            self._running += 1
        try:
            yield
        finally:
            self._count(running=-1)

    def restart(self) -> None:
        """Start the broker again when every other case has ended, or waits too; raise `RestartError`."""

        def came(begun: int) -> bool:
            """Report whether a restart was made since, or a case has begun."""
            return self._done != before or self._begun != begun or self._running > 0

        with self._changed:
            before = self._done
            self._count(running=-1, waiting=1)
            try:
                while self._done == before:
                    self._changed.wait_for(lambda: self._done != before or not self._running)
                    if not self._changed.wait_for(partial(came, self._begun), GATHER_SECONDS):
                        self._run()
                        self._done += 1
            finally:
                self._count(running=1, waiting=-1)

    def _count(self, running: int, waiting: int = 0) -> None:
        with self._changed:
            self._running += running
            self._waiting += waiting
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            subprocess.run(  # noqa: S603 - the command of the properties file
                shlex.split(self._command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, timeout=120, check=True,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            said = one_line(str(getattr(error, "stderr", None) or error), 200)
            raise RestartError(f"the command that starts the broker again failed: {said}") from None
        if not self._cluster.returns():
            raise RestartError(
                f"nothing answers at {self._cluster.address} after the broker was started again"
            )
        self._restarted(time.monotonic())
