"""Partitions that are lent to cases."""

import time

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from wireproof.live.kafka_broker.topics import SIZE, SMALL, Partition, Partitions, TopicError


class Topics:
    """Counts the topics that are created."""

    def __init__(self) -> None:
        self.created: list[tuple[dict[str, str], int]] = []

    def create(self, config: dict[str, str], number: int) -> list[Partition]:
        self.created.append((config, number))
        return [Partition(f"t{len(self.created)}", None, index, 1, 0) for index in range(number)]


def test_cases_of_one_configuration_share_a_topic() -> None:
    topics = Topics()
    lender = Partitions(topics)  # type: ignore[arg-type] # a double
    for _ in range(3):
        with lender.lent({"a": "1"}, 2, -1), lender.lent({}, 2, -1):
            pass
    assert topics.created == [({"a": "1"}, SMALL), ({}, SIZE)]


def test_a_producer_id_finds_each_partition_once() -> None:
    topics = Topics()
    lender = Partitions(topics)  # type: ignore[arg-type] # a double
    seen = set()
    for _ in range(SIZE + 1):
        with lender.lent({}, 2, 7) as partition:
            seen.add((partition.topic, partition.index))
    assert len(seen) == SIZE + 1
    assert len(topics.created) == 2


def test_a_partition_whose_case_failed_is_not_lent_again() -> None:
    lender = Partitions(Topics())  # type: ignore[arg-type] # a double
    with pytest.raises(ZeroDivisionError), lender.lent({}, 2, -1) as lost:
        raise ZeroDivisionError
    for _ in range(SIZE):
        with lender.lent({}, 2, -1) as partition:
            assert partition is not lost


def test_a_topic_that_cannot_be_created_is_tried_again_by_the_next_case() -> None:
    class Forbidden(Topics):
        def create(self, config: dict[str, str], number: int) -> list[Partition]:
            if not self.created:
                self.created.append((config, number))
                raise TopicError("no")
            return super().create(config, number)

    lender = Partitions(Forbidden())  # type: ignore[arg-type] # a double
    with pytest.raises(TopicError), lender.lent({}, 2, -1):
        pass
    with lender.lent({}, 2, -1) as partition:
        assert partition.topic == "t2"


def test_no_partition_from_before_a_restart_is_lent() -> None:
    lender = Partitions(Topics())  # type: ignore[arg-type] # a double
    with lender.lent({}, 2, -1) as old:
        pass
    lender.forget(time.monotonic())
    for _ in range(SIZE):
        with lender.lent({}, 2, -1) as partition:
            assert partition.topic != old.topic
