"""The time after which a broker has forgotten what is idle, by its own settings."""

from collections.abc import Mapping
from types import SimpleNamespace as Part
from typing import Any

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from kafka.errors import KafkaConnectionError

from wireproof.live.kafka_broker.step_requests import (
    SETTINGS,
    NotAskedError,
    can_be_awaited,
    waiting_ms,
)

AGE, INTERVAL = SETTINGS["producer"]


class Brokers:
    """A cluster whose brokers describe these settings, answer an error code, or fail."""

    def __init__(self, *settings: Mapping[str, str | None] | int | Exception) -> None:
        self.settings = settings

    def metadata(self) -> Any:
        return Part(brokers=[Part(node_id=number) for number in range(len(self.settings))])

    def learn_node(self, _: Any) -> None:
        """Know every node."""

    def newest(self, _: Any) -> int:
        return 4

    def call(self, request: Any, _: int, node: int) -> Any:
        (asked,) = request.resources
        assert (asked.resource_type, asked.resource_name) == (4, str(node))
        found = self.settings[node]
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            return Part(results=[Part(error_code=found, configs=[])])
        rows = [Part(name=name, value=found.get(name)) for name in asked.configuration_keys]
        return Part(results=[Part(error_code=0, configs=rows)])


def named(age: int, interval: int) -> Mapping[str, str | None]:
    return {AGE: str(age), INTERVAL: str(interval)}


def test_the_slowest_broker_decides() -> None:
    cluster: Any = Brokers(named(2000, 100), named(3000, 200))
    assert waiting_ms(cluster, "producer") == 3000 + 2 * 200 + 1000
    assert can_be_awaited(cluster, "producer")


@each(
    "settings, reason",
    [
        (
            named(86_400_000, 600_000),
            f"{AGE}=86400000 and {INTERVAL}=600000 of broker 0 are too short or too long",
        ),
        (named(999, 1), "too short or too long"),
        ({AGE: "3000", INTERVAL: "often"}, f"broker 0 does not name its setting {INTERVAL}"),
        ({AGE: "3000", INTERVAL: None}, f"broker 0 does not name its setting {INTERVAL}"),
        (29, "describing the settings of broker 0 is not permitted"),
        (35, "describing the settings of broker 0 fails with error 35"),
    ],
)
def test_a_broker_that_cannot_be_asked_has_a_reason(
    settings: Mapping[str, str | None] | int, reason: str
) -> None:
    cluster: Any = Brokers(settings)
    with pytest.raises(NotAskedError, match=reason):
        waiting_ms(cluster, "producer")
    assert not can_be_awaited(cluster, "producer")


@pytest.mark.parametrize("failure", [KafkaConnectionError("closed"), KeyError("DescribeConfigs")])
def test_a_broker_that_fails_is_not_asked(failure: Exception) -> None:
    cluster: Any = Brokers(failure)
    assert not can_be_awaited(cluster, "producer")


def test_a_cluster_that_names_no_broker_is_not_asked() -> None:
    cluster: Any = Brokers()
    assert not can_be_awaited(cluster, "producer")
