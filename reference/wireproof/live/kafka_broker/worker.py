"""The process of the adapter: `wireproof.live.worker`. Each case in flight is a call in a thread."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from attrs import evolve
from kafka import errors

from wireproof.adapters.contract import Request
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry.live_servers import PREFIX, ServerAddress, left_by_others
from wireproof.cases.outcome import Outcome
from wireproof.cases.steps import SEQUENCE
from wireproof.live.kafka_broker import topics
from wireproof.live.kafka_broker.append_case import BrokerCases, append_earlier
from wireproof.live.kafka_broker.claims import WINDOW, hello_of_broker, legacy_magics
from wireproof.live.kafka_broker.client_properties import ClientProperties, read_properties
from wireproof.live.kafka_broker.cluster import Cluster, Restarts
from wireproof.live.kafka_broker.connection import said_by
from wireproof.live.kafka_broker.requests import NO_PRODUCER, V2
from wireproof.live.kafka_broker.sequence_case import RESTART, SequenceCases
from wireproof.live.kafka_broker.topics import OwnTopics, Partitions, TopicError
from wireproof.live.worker import LiveServer, Service, main, note_of


@contextmanager
def connected(spec: str) -> Iterator[tuple[Cluster, ClientProperties]]:
    """Connect to the broker that `spec` names; raise `AdapterError`."""
    address = ServerAddress.of(spec)
    properties = read_properties(address.properties)
    with Cluster(address, properties.settings, properties.api_versions, properties.fetch_wait_ms) as cluster:
        try:
            yield cluster, properties
        except errors.KafkaError as error:
            raise AdapterStartError(said_by(error)) from None


@contextmanager
def opened(spec: str, token: str) -> Iterator[Service]:
    """Connect, and find out what the broker takes; raise `AdapterError`."""
    with connected(spec) as (cluster, properties):
        own = OwnTopics(cluster, token)
        partitions = Partitions(own)
        try:
            others = own.check_names()
            with partitions.lent(
                {}, V2, NO_PRODUCER
            ) as first:  # without the permissions for it, there is no run
                append_earlier(cluster, first)
            legacy = legacy_magics(cluster, partitions)
        except TopicError as error:
            left = topics.delete(cluster, own.created)
            raise AdapterStartError(
                "".join((str(error), *(f"; left: {name}: {reason}" for name, reason in left.items())))
            ) from None
        except errors.KafkaError as error:
            stayed = topics.delete(cluster, own.created) if cluster.is_alive() else own.created
            rest = f"; topics named {PREFIX}{token}-… may be left" if stayed else ""
            raise AdapterStartError(f"{_lost_at_start(cluster, error)}{rest}") from None
        hello = hello_of_broker(cluster, properties, legacy, f"{PREFIX}{token}")
        hello = evolve(hello, notes=(*hello.notes, *left_by_others(spec, others, "topics")))
        restarts = Restarts(cluster, properties.restart, partitions.forget)
        runs = {
            "decode": partial(_beside, restarts, BrokerCases(cluster, partitions, legacy).decode),
            SEQUENCE: partial(_beside, restarts, SequenceCases(cluster, own, token, restarts).run),
        }
        yield Service(
            hello, lambda request: runs[request.op](request), WINDOW, note=partial(_at_end, cluster)
        )


def _at_end(cluster: Cluster) -> str:
    cluster.close()
    return note_of(cluster.asked_again)


def _beside(restarts: Restarts, run: Callable[[Request], Outcome], request: Request) -> Outcome:
    """Run a case while the broker is not started again by another one."""
    with restarts.case(restarts=any(step["op"] == RESTART for step in request.steps)):
        return run(request)


def _lost_at_start(cluster: Cluster, error: errors.KafkaError) -> str:
    """Return why a broker that was connected cannot be asked: often it names itself by another address."""
    text = said_by(error)
    others = [one for one in cluster.brokers() if one != str(cluster.address)]
    if not others:
        return f"the broker at {cluster.address} is lost at the start: {text}"
    named = ", ".join(others)
    return f"the broker at {cluster.address} names itself {named} (advertised.listeners), and {text}"


if __name__ == "__main__":
    own = LiveServer(
        "topics",
        opened,
        connected,
        lambda found, prefix: topics.own_topics(found[0], prefix),
        lambda found, prefix: topics.delete(found[0], topics.own_topics(found[0], prefix)),
    )
    sys.exit(main(own, sys.argv[1:]))
