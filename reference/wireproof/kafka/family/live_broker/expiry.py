"""How long a broker remembers idle producers and transactional ids, by its own settings."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kafka.errors import KafkaError
from kafka.protocol.admin import DescribeConfigsRequest

from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.error_codes import DENIED

SETTINGS: Final[Mapping[str, tuple[str, str]]] = {
    "producer": ("producer.id.expiration.ms", "producer.id.expiration.check.interval.ms"),
    "transactional-id": (
        "transactional.id.expiration.ms",
        "transaction.remove.expired.transaction.cleanup.interval.ms",
    ),
}
"""What expires, with two settings of a broker: the age at which it does, and how often the broker looks."""

BROKER: Final = 4
"""The type of the resource: protocol guide, DescribeConfigs."""

CHECKS: Final = 2
"""A check may have begun when the age is reached: the next one finds what is expired."""

MARGIN_MS: Final = 1_000
LONGEST_MS: Final = 20_000
"""The longest time that a case waits."""

SHORTEST_MS: Final = 1_000
"""The shortest age: a case must be able to send a few requests before it."""


NUMBER: Final = re.compile("[0-9]{1,18}")


class NotAskedError(Exception):
    """A case cannot be asked of this broker; the text is one line with the reason."""


def waiting_ms(cluster: Cluster, what: str) -> int:
    """Return the milliseconds after which every broker has forgotten what is idle; raise `NotAskedError`."""
    found = cluster.metadata()
    cluster.learn_node(found)
    return max((_of_broker(cluster, broker.node_id, what) for broker in found.brokers), default=0)


def can_be_awaited(cluster: Cluster, what: str) -> bool:
    """Return True if the brokers name settings after which something is forgotten soon.

    A `KeyError` is a broker without DescribeConfigs.
    """
    try:
        return waiting_ms(cluster, what) > 0
    except (NotAskedError, KeyError, KafkaError):
        return False


def _of_broker(cluster: Cluster, node: int, what: str) -> int:
    names = SETTINGS[what]
    settings = dict(_described(cluster, node, names))
    if missing := [name for name in names if name not in settings]:
        raise NotAskedError(f"broker {node} does not name its setting {missing[0]}, which is long by default")
    age, interval = (settings[name] for name in names)
    waited = age + CHECKS * interval + MARGIN_MS
    if age < SHORTEST_MS or waited > LONGEST_MS:
        named = " and ".join(f"{name}={settings[name]}" for name in names)
        raise NotAskedError(f"{named} of broker {node} are too short or too long to be tested")
    return waited


def _described(cluster: Cluster, node: int, names: tuple[str, str]) -> Iterator[tuple[str, int]]:
    """Yield the settings of a broker that it describes."""
    kind = DescribeConfigsRequest.DescribeConfigsResource
    asked = kind(resource_type=BROKER, resource_name=str(node), configuration_keys=list(names))
    request = DescribeConfigsRequest(resources=[asked], include_synonyms=False, include_documentation=False)
    for answer in cluster.call(request, cluster.newest(DescribeConfigsRequest), node).results:
        if code := answer.error_code:
            reason = "is not permitted" if code in DENIED else f"fails with error {code}"
            raise NotAskedError(f"describing the settings of broker {node} {reason}")
        yield from ((row.name, int(row.value)) for row in answer.configs if NUMBER.fullmatch(row.value or ""))
