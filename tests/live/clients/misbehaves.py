"""A consumer that does harm with two records of the same fetch: `HARM consume …`."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.live.clients.plain_client import SECONDS, PlainConsumer, put

TWICE: Final = "twice"
VALUES: Final = ["31", "32"]
"""Of the records of the case."""

PIECE: Final = 1 << 20
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


def prints_lines() -> None:
    for _ in range(FLOOD):
        os.write(1, b"x" * (PIECE - 1) + b"\n")


def prints_one_line() -> None:
    for _ in range(FLOOD):
        os.write(1, b"x" * PIECE)


def prints_errors() -> None:
    for _ in range(FLOOD):
        os.write(2, b"x" * PIECE)


def prints_records() -> None:
    while True:
        put({"offset": "0", "value": "00" * (PIECE // 2)})


def closes_pipes() -> None:
    for pipe in (0, 1, 2):
        os.close(pipe)
    time.sleep(SECONDS)


HARMS: Final[Mapping[str, Callable[[], None]]] = {
    "closes-pipes": closes_pipes,
    "forks": forks,
    "prints-errors": prints_errors,
    "prints-lines": prints_lines,
    "prints-one-line": prints_one_line,
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


if __name__ == "__main__":
    Misbehaves.harm = sys.argv[1]
    Misbehaves(*sys.argv[3:]).run()
