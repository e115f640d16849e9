"""Partitions for the cases: of a topic with the configuration of the case, one case at a time each."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Condition
from typing import Final, TypeAlias

from wireproof.kafka.family.live_broker.topics import OwnTopics, Partition

SIZE: Final = 16
"""Partitions of the topic with the neutral settings."""

SMALL: Final = 4
"""Partitions of a topic with settings of a case."""

Key: TypeAlias = tuple[int, tuple[tuple[str, str], ...]]
"""The magic of the entries, and the configuration of the topic."""


class Partitions:
    """Lends partitions and creates topics where there are too few. Threads may share it."""

    def __init__(self, topics: OwnTopics) -> None:
        """Begin without a topic."""
        self._topics = topics
        self._free: dict[Key, list[Partition]] = {}
        self._creating: set[Key] = set()
        self._changed = Condition()

    @contextmanager
    def lent(self, config: Mapping[str, str], magic: int, producer: int) -> Iterator[Partition]:
        """Lend a partition that has not seen this producer id, which is -1 for none; raise `TopicError`.

        Entries of each magic have partitions of their own, because they are fetched in another form.
        A partition whose case failed in the middle, or found a fault in it, is not lent again: nobody knows
        what it contains.
        """
        key = magic, tuple(sorted(config.items()))
        partition = self._taken(key, producer)
        yield partition
        if producer >= 0:
            partition.producers.add(producer)
        if not partition.retired:
            self._add(key, [partition])

    def forget(self, moment: float) -> None:
        """Lend no partition any more that was created before a time: a broker without a disk lost them."""
        with self._changed:
            for key, rows in self._free.items():
                self._free[key] = [one for one in rows if one.created > moment]

    def _taken(self, key: Key, producer: int) -> Partition:
        with self._changed:
            while True:
                free = self._free.setdefault(key, [])
                for place, partition in enumerate(free):
                    if producer not in partition.producers:
                        return free.pop(place)
                if key not in self._creating:
                    self._creating.add(key)
                    break
                self._changed.wait()
        return self._created(key)

    def _created(self, key: Key) -> Partition:
        rows: list[Partition] = []
        try:
            rows = self._topics.create(dict(key[1]), SMALL if key[1] else SIZE)
        finally:
            self._creating.discard(key)
            self._add(key, rows[1:])
        return rows[0]

    def _add(self, key: Key, rows: list[Partition]) -> None:
        with self._changed:
            self._free[key] += rows
            self._changed.notify_all()
