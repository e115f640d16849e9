"""The log of a partition up to its high watermark, in as many fetches as the broker needs."""

import time
from typing import Final

from attrs import evolve

from wireproof.kafka.family.live_broker import requests
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.entry_bytes import entries_of, next_offset
from wireproof.kafka.family.live_broker.requests import FetchAnswer
from wireproof.kafka.family.live_broker.topics import Partition

BOUND_MS: Final = 1_000
"""Most milliseconds to wait for a high watermark that includes an acknowledged append."""

PAUSE: Final = 0.02


def read_log(cluster: Cluster, partition: Partition, since: int, magic: int, beyond: int) -> FetchAnswer:
    """Fetch the log from `since` up to a high watermark that is more than `beyond`.

    A response may end before its high watermark: the broker reads one after the other.
    """
    deadline = time.monotonic() + BOUND_MS / 1000
    entries: list[tuple[int, bytes]] = []
    while True:
        following = max(since, *(next_offset(*entry) for entry in entries)) if entries else since
        found = requests.fetch(cluster, partition, following, magic)
        known = entries[-1][0] if entries else -1
        entries += [entry for entry in entries_of(found.data) if entry[0] > known]
        reached = max((next_offset(*entry) for entry in entries), default=since)
        whole = reached >= found.high_watermark > beyond
        if whole or found.code or time.monotonic() > deadline:
            rest = found.data[sum(len(data) for _, data in entries_of(found.data)) :]
            return evolve(found, data=b"".join(data for _, data in entries) + rest)
        time.sleep(PAUSE)
