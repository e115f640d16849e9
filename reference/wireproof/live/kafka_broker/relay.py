"""A broker as the path between producers and consumers: each entry is produced raw and fetched raw."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

from kafka import errors

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import line_of
from wireproof.adapters.registry.live_servers import TOKEN_BYTES, ServerAddress, clean_up
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.live.kafka_broker import entry_of_broker, error_codes, requests
from wireproof.live.kafka_broker.claims import MESSAGE_FIELDS, V2_FIELDS, WINDOW, legacy_magics
from wireproof.live.kafka_broker.client_properties import read_properties
from wireproof.live.kafka_broker.cluster import Cluster
from wireproof.live.kafka_broker.topics import OwnTopics, Partitions, TopicError


class BrokerRelay:
    """Carries entries over partitions of topics of our own.

    Attributes:
        name, version: of the broker.
        assigned: the field of a message that the broker gives it.
        kept: by revision that it takes, the fields that no broker changes.
    """

    def __init__(self, cluster: Cluster, partitions: Partitions, name: str, version: str) -> None:
        """Find out which revisions the broker takes; raise `TopicError`."""
        self._cluster, self._partitions = cluster, partitions
        self.name, self.version = name, version
        self.assigned = ("offset",)
        magics = {f"v{magic}": MESSAGE_FIELDS for magic in legacy_magics(cluster, partitions)}
        rows = {**magics, "v2": V2_FIELDS}
        self.kept: Mapping[str, tuple[str, ...]] = {f"kafka.batch/{row}": rows[row] for row in rows}

    def carry(self, format_id: str, messages: Iterable[bytes]) -> Iterator[Accepted | Refused | Unsupported]:
        """Yield for each entry what was fetched, in the order of the entries."""
        magic = requests.MAGICS[format_id.partition("/")[2]]
        with ThreadPoolExecutor(WINDOW) as threads:
            yield from threads.map(partial(self._carried, magic), messages)

    def _carried(self, magic: int, data: bytes) -> Accepted | Refused | Unsupported:
        try:
            with self._partitions.lent({}, magic, requests.producer_of(data)) as partition:
                answer = requests.produce(self._cluster, partition, data, magic)
                if answer.code:
                    named = error_codes.error_of(answer.code)
                    if answer.code not in error_codes.PRODUCER_STATE:
                        return Refused(named.cls, detail=named.name, text=answer.message)
                    about = "about the producer, not about the bytes"
                    return Unsupported(f"the broker answers {named.name}: {about}")
                found = requests.read_log(
                    self._cluster, partition, answer.base_offset, magic, answer.base_offset
                )
                entries = list(requests.entries_of(found.data))
                partition.end = max(
                    (requests.next_offset(*entry) for entry in entries), default=partition.end
                )
        except (TopicError, errors.KafkaError) as error:
            return Unsupported(line_of(error))
        stored = {requests.magic_of(entry, "") for _, entry in entries}
        if not entries:
            return Accepted(data=b"")
        if len(entries) != 1 or stored != {magic}:
            shown = ", ".join(f"v{one}" for one in sorted(stored))
            return Unsupported(f"the broker returns one entry as {len(entries)} of {shown}")
        return Accepted(data=entries[0][1])


@contextmanager
def connected(spec: str) -> Iterator[BrokerRelay]:
    """Connect to the broker that `spec` names; at the end, remove our topics or name them on stderr.

    Raises:
        AdapterStartError: it does not answer, or forbids the topics.
    """
    address = ServerAddress.of(spec)
    properties = read_properties(address.properties)
    entry = entry_of_broker(spec)
    token = entry.command[-1]
    assert len(token) == 2 * TOKEN_BYTES, "the last argument of the command is the token of the topics"
    with Cluster(address, properties.settings, fetch_wait_ms=properties.fetch_wait_ms) as cluster:
        try:
            partitions = Partitions(OwnTopics(cluster, token))
            version = properties.version or cluster.release
            yield BrokerRelay(cluster, partitions, properties.name, version)
        except TopicError as error:
            raise AdapterStartError(f"{spec}: {error}") from None
        finally:
            clean_up(entry)
