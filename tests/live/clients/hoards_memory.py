"""A consumer that makes room for as many records as a batch announces, as kafka-go does."""

import sys
import time
from typing import Final

from tests.live.clients.plain_client import SECONDS, PlainConsumer
from wireproof.live.loopback_broker.regroup_records import split_log

ROOM: Final = 8
"""Bytes for each record."""

PIECE: Final = 1 << 20
MOST: Final = 512 * PIECE
"""Where it stops, so that nobody's machine suffers if no limit ends it."""


class HoardsMemory(PlainConsumer):
    """Takes the memory in pieces, and keeps it."""

    def take(self, data: bytes, aborted: tuple[tuple[int, int], ...]) -> None:
        announced = max((entry.count or 0 for entry in split_log(data).entries), default=0) * ROOM
        room = [b"\x01" * PIECE for _ in range(min(announced, MOST) // PIECE)]
        if room:
            time.sleep(SECONDS)
        super().take(data, aborted)


if __name__ == "__main__":
    HoardsMemory(*sys.argv[2:]).run()
