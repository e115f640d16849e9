"""The loopback broker with one node, and with one fault or none."""

from contextlib import AbstractContextManager

from tests.live.mock_broker.faults import partition_class
from wireproof.kafka.family.loopback_broker import server
from wireproof.kafka.family.loopback_broker.replies import LoopbackCluster


def running(fault: str | None = None, port: int = 0) -> AbstractContextManager[str]:
    """Run a mock broker in a thread until the block ends; it gives the address."""
    return server.running(LoopbackCluster(partition_class(fault)), port=port)
