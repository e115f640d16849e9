"""The settings of the loopback broker itself: how long it remembers what is idle, and their description."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kafka.protocol.admin import DescribeConfigsRequest, DescribeConfigsResponse

from wireproof.kafka.family.loopback_broker.replies import LoopbackCluster, Reply, Request

PRODUCER_AGE: Final = "producer.id.expiration.ms"
ID_AGE: Final = "transactional.id.expiration.ms"

BROKER: Final = 4
"""The type of the resource: protocol guide, DescribeConfigs."""

STATIC: Final = 4
"""The source of a setting that is in the file of the broker."""


def forget_idle(cluster: LoopbackCluster, now: int) -> None:
    """Forget producers and transactional ids whose time is over; without these settings none."""
    if (age := cluster.settings.get(PRODUCER_AGE)) is not None:
        for topic in cluster.topics.values():
            for partition in topic.partitions:
                partition.forget_idle(now, age)
    if (age := cluster.settings.get(ID_AGE)) is not None:
        cluster.coordinator.forget_idle(now, age)


def describe_configs(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the settings of the broker that were asked for; other resources have none."""
    result = DescribeConfigsResponse.DescribeConfigsResult
    rows = [
        result(
            error_code=0,
            error_message=None,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
            configs=list(_described(cluster, asked, request.version)),
            version=request.version,
        )
        for asked in request.resources
    ]
    return DescribeConfigsResponse[request.version](throttle_time_ms=0, results=rows)


def _described(cluster: LoopbackCluster, asked: Request, version: int) -> Iterator[Reply]:
    row = DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult
    wanted = asked.configuration_keys
    for name, value in cluster.settings.items() if asked.resource_type == BROKER else ():
        if wanted is None or name in wanted:
            yield row(
                name=name,
                value=str(value),
                read_only=True,
                config_source=STATIC,
                is_sensitive=False,
                synonyms=[],
                version=version,
            )


ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    DescribeConfigsRequest.API_KEY: describe_configs,
}
"""The function that answers the API, by its key."""
