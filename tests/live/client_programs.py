"""Bundled client programs on a broker at an address: what one stored and what it delivered."""

import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final

from wireproof.adapters.registry import peers
from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.registry import resolve
from wireproof.live.kafka_client.program import ClientProgram, Ended, LineRead
from wireproof.strict_parsing import parse_toml

WAIT_SECONDS: Final = 90.0
"""For one line: a group of consumers takes its time, and so does the first start of a virtual machine."""


def command(name: str) -> list[str]:
    """Return the words of the program of a bundled client, which is built."""
    entry = resolve(name)
    assert entry.prepare
    folder = str(built(name, entry.prepare))
    words = shlex.split(parse_toml(file(name).read_text(encoding="utf-8"))["command"])
    return [word.replace("{build}", folder).replace("{python}", sys.executable) for word in words]


def file(name: str) -> Path:
    """Return the description of a bundled client."""
    return peers.files()[name]


def stored(
    words: Sequence[str], address: str, topic: str, codec: str, mode: str, lines: Iterable[Any]
) -> list[Any]:
    """Let a program produce; return what it printed."""
    events: Queue[LineRead | Ended] = Queue()
    with ClientProgram([*words, "produce", address, topic, codec, mode], events) as program:
        program.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        program.close_stdin()
        return list(_lines(events))


def delivered(
    words: Sequence[str], address: str, topic: str, isolation: str, offset: int, count: int
) -> list[Any]:
    """Let a program consume; return the first `count` lines that it printed."""
    events: Queue[LineRead | Ended] = Queue()
    with ClientProgram([*words, "consume", address, topic, isolation, str(offset)], events):
        lines = _lines(events)
        return [next(lines) for _ in range(count)]


def _lines(events: Queue[LineRead | Ended]) -> Iterator[Any]:
    """Yield the lines until the program ends, which must be without an error."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            event = events.get(timeout=max(end - time.monotonic(), 0))
        except Empty:
            raise AssertionError(f"no line in {WAIT_SECONDS} s") from None
        match event:
            case LineRead(text):
                yield json.loads(text)
            case Ended(code, stderr):
                assert code == 0, stderr
                return
