"""The loopback broker as the codec of a client that lives in the process of its adapter.

One topic has many partitions. Each case has one of them, so that nothing of it remains for the next one.
"""

from contextlib import ExitStack
from typing import Final
from uuid import uuid4

from kafka.protocol.consumer import FetchRequest
from kafka.protocol.producer import ProduceRequest

from wireproof.kafka.append import TopicSettings
from wireproof.live.loopback_broker.cluster import Coordinator, LoopbackCluster, ServedTopic
from wireproof.live.loopback_broker.partition import Appended, ServedPartition
from wireproof.live.loopback_broker.server import running

TOPIC: Final = "t"
PARTITIONS: Final = 256

NEWEST_PRODUCE: Final = {"v0": 1, "v1": 2}
"""The newest version of Produce of a broker whose newest format is v0 or v1: kafka.md §2."""

OLDEST: Final = {ProduceRequest.API_KEY: 0, FetchRequest.API_KEY: 0}
"""What such a broker announces; a client chooses the format by both."""


class Forgotten(ServedPartition):
    """A partition without records, of which every offset may be asked for: a late Fetch is no error."""

    def __init__(self) -> None:
        super().__init__(TopicSettings())

    def check_range(self, _: int) -> None:
        """Allow every offset."""


class KeptAsSent(ServedPartition):
    """A partition that keeps the record sets of Produce requests as they arrive, and refuses none.

    Attributes:
        produced: these record sets.
    """

    def __init__(self) -> None:
        super().__init__(TopicSettings())
        self.produced: list[bytes] = []

    def append(self, data: bytes, _: int, __: str | None, ___: int) -> Appended:
        self.produced.append(data)
        return Appended(0)


class ClientBroker:
    """A broker on a free port of 127.0.0.1.

    Attributes:
        address: its host and port, such as `127.0.0.1:4711`.
    """

    def __init__(self, revision: str = "v2") -> None:
        """Listen, as a broker whose newest format is `revision`; raises `OSError` if no port is free."""
        old = revision in NEWEST_PRODUCE
        newest = {ProduceRequest.API_KEY: NEWEST_PRODUCE[revision]} if old else {}
        self._topic = ServedTopic(uuid4(), [Forgotten() for _ in range(PARTITIONS)])
        self._cluster = LoopbackCluster(
            newest=newest, oldest=OLDEST if old else {}, topics={TOPIC: self._topic}
        )
        self._running = ExitStack()
        self.address = self._running.enter_context(running(self._cluster))

    def put(self, index: int, partition: ServedPartition) -> None:
        """Make `partition` the one with this number."""
        self._topic.partitions[index] = partition

    def forget(self, index: int) -> None:
        self.put(index, Forgotten())

    def identify(self, producer: int, epoch: int) -> None:
        """Give the next producer this id and this epoch."""
        self._cluster.coordinator = Coordinator(given=producer - 1, first_epoch=epoch)

    def close(self) -> None:
        self._running.close()
