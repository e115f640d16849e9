"""Requests and answers of an adapter's process, which may have many requests in flight, each in a thread."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import BinaryIO, NoReturn, TypeAlias

from wireproof.adapters.answer_json import answer_packet
from wireproof.adapters.child_process import READ
from wireproof.adapters.contract import Request
from wireproof.adapters.errors import MessageError
from wireproof.adapters.message_framing import Frames, Packet
from wireproof.adapters.python_object import line_of
from wireproof.adapters.request_json import request_of
from wireproof.cases.outcome import Faulty, Outcome

Runs: TypeAlias = Mapping[str, Callable[[Request], Outcome]]
"""The function that runs a case, by its op."""


class Answers:
    """Writer of answers, which the threads share."""

    def __init__(self, stdout: BinaryIO) -> None:
        """Write to `stdout`."""
        self._stdout = stdout
        self._lock = Lock()

    def write(self, packet: Packet) -> None:
        """Write one answer whole."""
        data = Frames().pack(packet)
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._stdout.write(data)
            self._stdout.flush()

    def end(self, code: int) -> NoReturn:
        """End the process, but not in the middle of an answer."""
        with self._lock:
            os._exit(code)


def answer_request(runs: Runs, answers: Answers, packet: Packet) -> Outcome:
    """Run a request, write its answer, and return it."""
    outcome = _outcome(runs, packet)
    answers.write(answer_packet(str(packet.head.get("id", "")), outcome))
    return outcome


def requests() -> Iterator[Packet]:
    """Yield the requests on stdin until it ends; the hello is answered before."""
    incoming = Frames()
    while piece := os.read(sys.stdin.fileno(), READ):
        yield from (packet for packet in incoming.feed(piece) if "hello" not in packet.head)


def answer_in_threads(answer: Callable[[Packet], object], window: int) -> None:
    """Call `answer` with each request on stdin, with at most `window` calls at the same time."""
    with ThreadPoolExecutor(window) as threads:
        for packet in requests():
            threads.submit(answer, packet)


def _outcome(runs: Runs, packet: Packet) -> Outcome:
    try:
        request = request_of(packet)
    except MessageError as error:
        return Faulty(f"no request: {error}")
    try:
        return runs[request.op](request)
    except Exception as error:  # noqa: BLE001 - a fault of the adapter is an answer too, and not silence
        return Faulty(line_of(error))
