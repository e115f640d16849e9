"""The loopback broker with one node, and with one fault or none."""

from contextlib import AbstractContextManager
from typing import Final

from attrs import frozen
from kafka.protocol.consumer import FetchRequest

from tests.live.mock_broker.faults import partition_class
from wireproof.kafka.family.loopback_broker import server
from wireproof.kafka.family.loopback_broker.broker_settings import ID_AGE, PRODUCER_AGE
from wireproof.kafka.family.loopback_broker.coordinator import Coordinator
from wireproof.kafka.family.loopback_broker.replies import LoopbackCluster

EXPIRING: Final = {
    PRODUCER_AGE: 2_000,
    "producer.id.expiration.check.interval.ms": 1,
    ID_AGE: 3_000,
    "transaction.remove.expired.transaction.cleanup.interval.ms": 1,
}


@frozen
class Kind:
    """What a mock broker can be asked.

    Attributes:
        expiring: it forgets idle producers soon.
        converting: it takes Fetch 0 to 3, and returns messages for them.
    """

    expiring: bool = False
    converting: bool = False


PLAIN: Final = Kind()


def running(fault: str | None = None, port: int = 0, kind: Kind = PLAIN) -> AbstractContextManager[str]:
    """Run a mock broker in a thread until the block ends; it gives the address."""
    chosen = partition_class(fault)
    cluster = LoopbackCluster(
        chosen,
        coordinator=getattr(chosen, "coordinator_class", Coordinator)(),
        settings=EXPIRING if kind.expiring else {},
        oldest={FetchRequest.API_KEY: 0} if kind.converting else {},
    )
    return server.running(cluster, port=port)
