"""The producers and transactional ids that the loopback broker forgets: kafka.md §1.13, §1.14."""

from typing import Final

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from tests.live.mock_broker.variants import (
    ID_AGE,
    PRODUCER_AGE,
    ForgettingCoordinator,
    ForgettingPartition,
    forget_idle,
)
from wireproof.kafka.append import TopicSettings
from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker.append_rules import (
    AppendRefused,
    ErrorCode,
    Form,
    finished,
    written_records,
)
from wireproof.live.loopback_broker.coordinator import NOBODY
from wireproof.live.loopback_broker.replies import LoopbackCluster

NOW: Final = 1_700_000_000_000
AGE: Final = 1_000
PRODUCE: Final = 11

RECORD = Record(0, 0, 0, b"k", b"v", ())


def sent(time: int, attributes: int = 0) -> bytes:
    value = RecordBatch(0, -1, 2, attributes, 0, time, time, 7, 0, 0, (RECORD,))
    return finished(Form(value, written_records(value)))


def offsets_of_both(
    partition: ForgettingPartition, data: bytes, later: int, name: str | None = None
) -> list[int]:
    """Return the offsets of a batch that is sent twice, with a look at the ages between."""
    first = partition.append(data, PRODUCE, name, NOW).base_offset
    partition.forget_idle(NOW + later, AGE)
    return [first, partition.append(data, PRODUCE, name, NOW + later).base_offset]


@pytest.mark.parametrize(("later", "offsets"), [(AGE - 1, [0, 0]), (AGE, [0, 1])])
def test_a_producer_is_forgotten_at_its_age(later: int, offsets: list[int]) -> None:
    assert offsets_of_both(ForgettingPartition(TopicSettings()), sent(NOW), later) == offsets


def test_the_age_counts_from_the_timestamp_of_the_batch() -> None:
    assert offsets_of_both(ForgettingPartition(TopicSettings(after_ms=AGE)), sent(NOW + AGE), AGE) == [0, 0]


def test_an_open_transaction_keeps_its_producer() -> None:
    partition = ForgettingPartition(TopicSettings())
    assert offsets_of_both(partition, sent(NOW, TRANSACTIONAL), 9 * AGE, "t") == [0, 0]
    partition.write_marker(7, 0, commit=True, now=NOW)
    assert offsets_of_both(partition, sent(NOW), AGE) == [0, 2]


def test_a_transactional_id_is_forgotten_at_its_age_and_not_while_a_transaction_is_open() -> None:
    coordinator, partition = ForgettingCoordinator(), ForgettingPartition(TopicSettings())
    producer = coordinator.init("t", NOBODY, NOW)
    coordinator.add("t", producer, {("topic", 0): partition})
    coordinator.forget_idle(NOW + AGE, AGE)
    coordinator.end("t", producer, NOW + AGE, commit=True, raises=False)
    coordinator.forget_idle(NOW + 2 * AGE - 1, AGE)
    coordinator.add("t", producer, {})
    coordinator.end("t", producer, NOW + AGE, commit=True, raises=False)
    coordinator.forget_idle(NOW + 2 * AGE, AGE)
    with pytest.raises(AppendRefused) as refused:
        coordinator.add("t", producer, {})
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert coordinator.init("t", producer, NOW) == (producer[0] + 1, 0)


@pytest.mark.parametrize(("settings", "known"), [({}, True), ({PRODUCER_AGE: AGE, ID_AGE: AGE}, False)])
def test_a_broker_without_settings_forgets_nothing(settings: dict[str, int], *, known: bool) -> None:
    cluster = LoopbackCluster(coordinator=ForgettingCoordinator())
    first = cluster.coordinator.init("t", NOBODY, NOW)
    forget_idle(cluster, settings, NOW + AGE)
    assert (cluster.coordinator.init("t", NOBODY, NOW)[0] == first[0]) is known
