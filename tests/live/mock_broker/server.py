"""The loopback broker with one node, and with one fault or none."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import frozen
from kafka.protocol.consumer import FetchRequest

from tests.live.judging import command_of
from tests.live.mock_broker import variants
from tests.live.mock_broker.faults import partition_class
from tests.live.mock_broker.variants import ConvertingPartition
from wireproof.live.loopback_broker import replies, server
from wireproof.live.loopback_broker.cluster import Answer, Coordinator, LoopbackCluster


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
    return server.running(cluster_of(fault, kind), port=port)


@contextmanager
def restartable(folder: Path, fault: str | None = None) -> Iterator[str]:
    """Run a mock broker; give its address, and a properties file with the command that starts it again."""
    cluster = cluster_of(fault, PLAIN)

    def restart() -> None:
        partitions = [one for topic in cluster.topics.values() for one in topic.partitions]
        for one in (*partitions, cluster.coordinator):
            getattr(one, "restarted", lambda: None)()

    with server.running(cluster) as address, command_of(restart) as command:
        file = folder / f"{fault or 'right'}.properties"
        file.write_text(f"wireproof.broker.restart={command}\n", encoding="utf-8")
        yield f"{address}:{file}"


def answering(patch: pytest.MonkeyPatch, kind: type[Any], other: Callable[[Answer], Answer]) -> None:
    """Answer a request of every broker otherwise; `other` gets what answers it now."""
    least, newest, answer = replies.APIS[kind]
    patch.setitem(replies.APIS, kind, (least, newest, other(answer)))


def cluster_of(fault: str | None = None, kind: Kind = PLAIN) -> LoopbackCluster:
    """Return the cluster of a mock broker."""
    chosen = partition_class(fault)
    if kind.converting and not fault:
        chosen = ConvertingPartition
    if kind.expiring and not fault:
        chosen = variants.ForgettingPartition
    usual = variants.ForgettingCoordinator if kind.expiring else Coordinator
    return LoopbackCluster(
        chosen,
        coordinator=getattr(chosen, "coordinator_class", usual)(),
        oldest={FetchRequest.API_KEY: 0} if kind.converting else {},
        fetching_class=getattr(chosen, "fetching_class", None),
        apis=variants.apis(variants.EXPIRING) if kind.expiring else {},
    )
