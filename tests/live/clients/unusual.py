"""Client programs that do what few do, or harm: `clients.unusual NAME [NUMBER…] START …`.

A harm is done with the two records of one case.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.live.clients import subscriber
from tests.live.clients.plain_client import SECONDS, Aborted, PlainConsumer, PlainProducer, put
from wireproof.live.loopback_broker.regroup_records import split_log
from wireproof.wire.rejection import Rejected

PIECE: Final = 1 << 20

ROOM: Final = 8
"""Bytes for each record that a batch announces."""

MOST: Final = 512
"""Pieces of memory after which a program stops, so that no machine suffers if no limit ends it."""


class AsksForTwoIds(PlainProducer):
    """Asks for an id without a transactional id first, and uses the second one."""

    def identify(self) -> tuple[int, int]:
        if self.transactional_id is not None:
            self.ask_for_id(None)
        return super().identify()


class HoardsMemory(PlainConsumer):
    """Makes room for as many records as a batch announces, as kafka-go does, and keeps it."""

    def take(self, data: bytes, aborted: Aborted) -> None:
        announced = max((entry.count or 0 for entry in split_log(data).entries), default=0) * ROOM
        room = [b"\x01" * PIECE for _ in range(min(announced // PIECE, MOST))]
        if room:
            time.sleep(SECONDS)
        super().take(data, aborted)


class LateError(PlainConsumer):
    """Reports damage at its Fetch number `count`; each Fetch before it asks for `factor` times as much.

    librdkafka asks eleven times, each time for twice as much.
    """

    count, factor, limit = 1, 1, 1

    def refuse(self, data: bytes, rejected: Rejected) -> None:
        self.count -= 1
        self.limit *= self.factor
        if self.count <= 0:
            super().refuse(data, rejected)


def late_error(count: str, factor: str, _: str, *words: str) -> None:
    LateError.count, LateError.factor = int(count), int(factor)
    LateError(*words).run()


def uncommitted(start: str, address: str, topic: str, isolation: str, offset: str) -> None:
    """Have read_uncommitted alone, as kafka-python before 2.1."""
    if isolation != "read_uncommitted":
        put({"error": "read_uncommitted only"})
    else:
        subscriber.main(start, address, topic, isolation, offset)


def without_ids(_: str, address: str, topic: str, codec: str, mode: str) -> None:
    """Have no producer ids, as kafka-python before 2.1."""
    if mode != "plain":
        put({"error": "no producer ids"})
    else:
        PlainProducer(address, topic, codec, mode).run()


# --- harm ---

TWICE: Final = "twice"
VALUES: Final = ["31", "32"]
"""Of the records of the case."""

FLOOD: Final = 1500
"""Pieces that are printed, if nobody ends it before."""


def forks() -> None:
    """Leave processes behind that hold every pipe, in this session and in one of their own."""
    for own in (False, True):
        if os.fork() == 0:
            if own:
                os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(SECONDS)
            os._exit(0)


def floods(pipe: int, piece: bytes) -> Callable[[], None]:
    def flood() -> None:
        for _ in range(FLOOD):
            os.write(pipe, piece)

    return flood


def prints_records() -> None:
    while True:
        put({"offset": "0", "value": "00" * (PIECE // 2)})


def fills_disk() -> None:
    with Path("/dev/full").open("wb", buffering=0) as file:
        file.write(bytes(PIECE))


def closes_pipes() -> None:
    for pipe in (0, 1, 2):
        os.close(pipe)
    time.sleep(SECONDS)


HARMS: Final[Mapping[str, Callable[[], None]]] = {
    "closes-pipes": closes_pipes,
    "fills-disk": fills_disk,
    "forks": forks,
    "prints-errors": floods(2, b"x" * PIECE),
    "prints-lines": floods(1, b"x" * (PIECE - 1) + b"\n"),
    "prints-one-line": floods(1, b"x" * PIECE),
    "prints-records": prints_records,
}


class Misbehaves(PlainConsumer):
    """Does its harm with the two records of one case, which it shows twice as `TWICE`."""

    harm = ""

    def rows(self, found: Any) -> Any:
        rows = list(super().rows(found))
        if [row["value"] for row in rows] != VALUES:
            return rows
        HARMS.get(self.harm, lambda: None)()
        return [row for row in rows for _ in range(2 if self.harm == TWICE else 1)]


def misbehaves(harm: str, _: str, *words: str) -> None:
    Misbehaves.harm = harm
    Misbehaves(*words).run()


PROGRAMS: Final[Mapping[str, Callable[..., None]]] = {
    "asks-for-two-ids": lambda _, *words: AsksForTwoIds(*words).run(),
    "hoards-memory": lambda _, *words: HoardsMemory(*words).run(),
    "late-error": late_error,
    "misbehaves": misbehaves,
    "uncommitted": uncommitted,
    "without-ids": without_ids,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
