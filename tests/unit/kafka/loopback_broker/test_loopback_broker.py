"""The loopback broker answers what clients ask for in each version, and survives what no client sends."""

import socket
import struct
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from kafka.protocol import consumer as messages
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.producer import ProduceRequest

from tests.live.raw_client import RawClient
from wireproof.live.loopback_broker.cluster import LoopbackCluster, ServedTopic
from wireproof.live.loopback_broker.replies import APIS, versions_of
from wireproof.live.loopback_broker.served_log import ServedLog, Serving, end_batch
from wireproof.live.loopback_broker.server import LARGEST, running

TOPIC = "t"


@pytest.fixture
def cluster() -> LoopbackCluster:
    return LoopbackCluster(
        topics={TOPIC: ServedTopic(uuid4(), [ServedLog(Serving(end_batch(0)), lambda *_: None)])}
    )


@pytest.fixture
def address(cluster: LoopbackCluster) -> Iterator[str]:
    with running(cluster) as address:
        yield address


def span(request: type[Any]) -> range:
    least, newest, _ = APIS[request]
    return range(least, newest + 1)


def fetch(
    client: RawClient,
    topic: ServedTopic,
    version: int,
    session: tuple[int, int] = (0, -1),
    *,
    names: bool = True,
) -> Any:
    """Return the answer to a Fetch."""
    rows = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}]
    limits = {"max_wait_ms": 20, "min_bytes": 1, "max_bytes": 1 << 20}
    return client.ask(
        messages.FetchRequest,
        version,
        session_id=session[0],
        session_epoch=session[1],
        topics=[{"topic": TOPIC, "topic_id": topic.id, "partitions": rows}] if names else [],
        **limits,
    )


def fetched(client: RawClient, topic: ServedTopic, version: int) -> Any:
    """Return the answer of the one partition."""
    ((answer,),) = (one.partitions for one in fetch(client, topic, version).responses)
    return answer


@each("version", span(messages.FetchRequest))
def test_every_version_of_fetch_returns_the_bytes(
    version: int, cluster: LoopbackCluster, address: str
) -> None:
    with RawClient(address) as client:
        answer = fetched(client, cluster.topics[TOPIC], version)
    assert (answer.error_code, bytes(answer.records)) == (0, end_batch(0))


@pytest.mark.parametrize("version", [7, 11, 12, 13, 17])
def test_a_session_that_waits_goes_on(version: int, cluster: LoopbackCluster, address: str) -> None:
    log = cluster.topics[TOPIC].partitions[0]
    with RawClient(address) as client:
        first = fetch(client, cluster.topics[TOPIC], version, (0, 0))
        assert first.session_id > 0
        assert bytes(first.responses[0].partitions[0].records) == end_batch(0)
        log.read_from = lambda *_: b""  # type: ignore[method-assign] # nothing more comes
        for epoch in (1, 2):
            again = fetch(client, cluster.topics[TOPIC], version, (first.session_id, epoch), names=False)
            assert (again.error_code, again.session_id) == (0, first.session_id)
    assert isinstance(log, ServedLog)
    assert (log.fetches, log.repeated) == (3, 2)


@each("version", span(MetadataRequest))
def test_every_version_of_metadata_names_the_leader(
    version: int, cluster: LoopbackCluster, address: str
) -> None:
    with RawClient(address) as client:
        reply = client.ask(MetadataRequest, version, topics=[{"name": TOPIC}])
    assert [(one.host, one.port) for one in reply.brokers] == [("127.0.0.1", cluster.port)]
    ((partition,),) = (one.partitions for one in reply.topics)
    assert (reply.topics[0].error_code, partition.leader_id) == (0, 1)


@each("version", span(messages.JoinGroupRequest))
def test_the_only_member_of_a_group_leads_it(version: int, address: str) -> None:
    fields = {"group_id": "g", "session_timeout_ms": 1000, "member_id": "", "protocol_type": "consumer"}
    protocols = [{"name": "range", "metadata": b"m"}]
    with RawClient(address) as client:
        reply = client.ask(messages.JoinGroupRequest, version, **fields, protocols=protocols)
    assert (reply.error_code, reply.protocol_name, reply.leader) == (0, "range", reply.member_id)
    assert [(one.member_id, bytes(one.metadata)) for one in reply.members] == [(reply.member_id, b"m")]


@each("version", span(messages.OffsetFetchRequest))
def test_a_new_group_has_committed_nothing(version: int, address: str) -> None:
    asked: dict[str, Any] = {"group_id": "g", "topics": [{"name": TOPIC, "partition_indexes": [0]}]}
    fields = asked if version < 8 else {"groups": [asked]}
    with RawClient(address) as client:
        reply = client.ask(messages.OffsetFetchRequest, version, **fields)
    topics = reply.topics if version < 8 else reply.groups[0].topics
    ((partition,),) = (one.partitions for one in topics)
    assert (partition.error_code, partition.committed_offset) == (0, -1)


def test_a_version_that_is_not_announced_ends_the_connection() -> None:
    cluster = LoopbackCluster(newest={messages.FetchRequest.API_KEY: 11})
    cluster.topics[TOPIC] = ServedTopic(uuid4(), [ServedLog(Serving(b""), lambda *_: None)])
    with running(cluster) as address, RawClient(address) as client, pytest.raises(ConnectionResetError):
        fetch(client, cluster.topics[TOPIC], 12)


def test_a_broker_of_an_old_format_announces_and_takes_old_versions() -> None:
    """A client chooses the format by the versions: librdkafka writes v0 if Produce ends at 1."""
    cluster = LoopbackCluster(newest={ProduceRequest.API_KEY: 1}, oldest={ProduceRequest.API_KEY: 0})
    assert versions_of(cluster)[ProduceRequest] == (0, 1)
    assert versions_of(LoopbackCluster())[ProduceRequest][0] > 1
    with running(cluster) as address, RawClient(address) as client:
        assert client.ask(ProduceRequest, 0, acks=-1, timeout_ms=1, topic_data=[]).responses == []


def test_another_node_leads_after_a_move(cluster: LoopbackCluster) -> None:
    with running(cluster, nodes=2), RawClient(f"127.0.0.1:{cluster.ports[1]}") as first:
        cluster.topics[TOPIC].move_to(2)
        moved = fetched(first, cluster.topics[TOPIC], 11)
        with RawClient(f"127.0.0.1:{cluster.ports[2]}") as second:
            found = fetched(second, cluster.topics[TOPIC], 11)
    assert (moved.error_code, found.error_code, bytes(found.records)) == (6, 0, end_batch(0))


HOSTILE = {
    "a length that is too large": struct.pack(">i", LARGEST + 1),
    "a negative length": struct.pack(">i", -1),
    "a length that is too small": struct.pack(">i", 7) + bytes(7),
    "an unknown API": struct.pack(">ihhi", 10, 999, 0, 1) + b"\xff\xff",
    "no fields": struct.pack(">ihhi", 10, messages.FetchRequest.API_KEY, 4, 1) + b"\xff\xff",
    "an array that is too long": struct.pack(">ihhihi", 14, MetadataRequest.API_KEY, 1, 1, -1, 0x7FFFFFFF),
    "an array of negative length": struct.pack(">ihhihi", 14, MetadataRequest.API_KEY, 1, 1, -1, -5),
    "ApiVersions of the future": struct.pack(">ihhih", 10, ApiVersionsRequest.API_KEY, 99, 1, -1),
}


@each("data", HOSTILE.values())
def test_bytes_that_no_client_sends_end_one_connection_only(
    data: bytes, cluster: LoopbackCluster, address: str
) -> None:
    host, _, port = address.rpartition(":")
    with RawClient(address) as other, socket.create_connection((host, int(port)), 10) as hostile:
        hostile.sendall(data)
        hostile.shutdown(socket.SHUT_WR)
        while hostile.recv(4096):
            pass
        answer = fetched(other, cluster.topics[TOPIC], 11)
    assert answer.error_code == 0


def test_a_request_that_cannot_be_answered_ends_one_connection_only(
    cluster: LoopbackCluster, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> Any:
        raise AttributeError("no such field")

    cluster.apis = {messages.HeartbeatRequest: (0, 4, fail)}
    with RawClient(address) as other, RawClient(address) as client:
        with pytest.raises(ConnectionResetError):
            client.ask(messages.HeartbeatRequest, 0, group_id="g", generation_id=1, member_id="m")
        answer = fetched(other, cluster.topics[TOPIC], 11)
    assert answer.error_code == 0
    assert "loopback broker: API 12 in version 0: AttributeError('no such field')" in capsys.readouterr().err
