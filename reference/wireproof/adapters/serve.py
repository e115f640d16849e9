"""Server for any adapter over the adapter contract: `wireproof serve reference --wire jsonl`.

The worker that runs Python objects in a child process uses this module too, with the framing of `exec:`, and
so do the workers of live servers and client programs, with several requests at the same time.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from threading import Lock
from typing import BinaryIO, Final

from attrs import evolve

from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.contract_json import answer_packet, hello_packet, request_of
from wireproof.adapters.controller import Broken, Controller
from wireproof.adapters.errors import MessageError
from wireproof.adapters.message_framing import MAX_MESSAGE, Frames, Framing, Lines, Packet
from wireproof.adapters.process.controller import READ
from wireproof.adapters.python_object import line_of
from wireproof.adapters.registry.registered import Wire
from wireproof.adapters.registry.registry import FRAMINGS, caller_here, open_adapter, resolve
from wireproof.cases.outcome import Exhausted, Faulty, Outcome, TimedOut

Answering = Callable[[Request], Outcome]

UNASKED_DIGEST: Final = (
    f"the value would be over the limit of a message, {MAX_MESSAGE} bytes, so there is its digest; "
    "limit what is decoded, or ask for digests"
)


def serve(spec: str, wire: Wire, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve an adapter until `stdin` ends; raises its start errors, or `MessageError` for no frame."""
    entry = resolve(spec)
    if entry.object and not (entry.environment or entry.interpreter or entry.prepare):
        caller = caller_here(entry)
        converse(caller.hello, caller.answer, FRAMINGS[wire], stdin, stdout)
        return
    with closing(_OneByOne(spec)) as relay:
        converse(relay.hello, relay.answer, FRAMINGS[wire], stdin, stdout)


def converse(
    hello: Hello,
    answer: Answering,
    framing: Callable[[], Framing],
    stdin: BinaryIO,
    stdout: BinaryIO,
    *,
    window: int = 1,
    ends: Callable[[Outcome], int | None] = lambda _: None,
) -> None:
    """Answer the requests on `stdin` until it ends: a hello by `hello`, any other by what `answer` returns.

    A line that is no message gets an answer too, with an empty id; a malformed frame raises `MessageError`.
    `window` requests are run at the same time, each in a thread. `ends` returns the exit code of the process
    after an outcome, or None if it goes on.
    """
    read = getattr(stdin, "read1", stdin.read)
    pieces = iter(partial(read, READ), b"")
    packets = _lines(pieces) if framing is Lines else _packets(framing(), pieces)
    lock = Lock()

    def reply(packet: Packet | MessageError) -> None:
        # Write each answer at once: a later case that ends the process must not lose it.
        data, outcome = _reply(hello, answer, framing(), packet)
        with lock:
            _write(stdout, data)
            code = None if outcome is None else ends(outcome)
            if code is not None:  # other threads may wait for what is gone
                sys.stderr.flush()
                os._exit(code)

    if window == 1:
        for packet in packets:
            reply(packet)
        return
    with ThreadPoolExecutor(window) as threads:
        for packet in packets:
            threads.submit(reply, packet)


def refuse(stdout: BinaryIO, reason: str) -> None:
    """Answer the hello of an adapter that cannot be started, in frames."""
    _write(stdout, Frames().pack(Packet({"hello": {"error": reason}})))


def _packets(incoming: Framing, pieces: Iterable[bytes]) -> Iterator[Packet]:
    for piece in pieces:
        yield from incoming.feed(piece)


def _lines(pieces: Iterable[bytes]) -> Iterator[Packet | MessageError]:
    """Yield the message of each line, or its fault; skip the rest of a line that is too long."""
    incoming, number, skipping = Lines(), 1, False
    for piece in (line for data in pieces for line in data.splitlines(keepends=True)):
        try:
            if not skipping:
                yield from incoming.feed(piece)
        except MessageError as error:
            yield MessageError(f"line {number}: {error}")
            incoming, skipping = Lines(), True
        if piece.endswith(b"\n"):
            number, skipping = number + 1, False


def _write(stdout: BinaryIO, data: bytes) -> None:
    """Write all of `data`: a raw file may accept only a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[stdout.write(rest) :]
    stdout.flush()


def _reply(
    hello: Hello, answer: Answering, framing: Framing, packet: Packet | MessageError
) -> tuple[bytes, Outcome | None]:
    if isinstance(packet, MessageError):
        return framing.pack(answer_packet("", Faulty(f"no request: {packet}"))), None
    if "hello" in packet.head:
        return framing.pack(hello_packet(hello)), None
    name = packet.head.get("id")
    try:
        if not isinstance(name, str):
            raise MessageError("it must have an id, which is a string")  # noqa: TRY301 - one answer for both
        request = request_of(packet)
    except MessageError as error:
        fault = Faulty(f"no request: {error}")
        return framing.pack(answer_packet(name if isinstance(name, str) else "", fault)), None
    try:
        outcome = answer(request)
    except Exception as error:  # noqa: BLE001 - a fault of the adapter is an answer too, and not silence
        outcome = Faulty(line_of(error))
    return _answered(name, answer, framing, request, outcome), outcome


def _answered(name: str, answer: Answering, framing: Framing, request: Request, outcome: Outcome) -> bytes:
    try:
        return framing.pack(answer_packet(name, outcome))
    except MessageError:
        return _shorter(name, answer, framing, request)
    except MemoryError as error:
        return framing.pack(answer_packet(name, Exhausted("memory", line_of(error))))
    except (TypeError, ValueError, RecursionError) as error:
        return framing.pack(answer_packet(name, Faulty(f"its answer cannot be sent: {line_of(error)}")))


def _shorter(name: str, answer: Answering, framing: Framing, request: Request) -> bytes:
    """Return the answer with a digest in place of a value that is over the limit of a message."""
    packet = answer_packet(name, answer(evolve(request, answer="digest")))
    if request.answer != "digest" and "digest" in packet.head:
        packet = Packet({**packet.head, "text": UNASKED_DIGEST}, blob=packet.blob)
    try:
        return framing.pack(packet)
    except MessageError as error:
        return framing.pack(answer_packet(name, Exhausted("output", str(error))))


class _OneByOne:
    """Relay of requests to a process, one at a time; it starts a new process after a crash."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._process: Controller | None = None
        self.hello = self._running().hello

    def _running(self) -> Controller:
        if self._process is None:
            self._process = open_adapter(self._spec)
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
        self._process = None

    def answer(self, request: Request) -> Outcome:
        """Return one outcome; a crash, a fault or a timeout is one too."""
        process = self._running()
        try:
            process.send([request])
            answers = process.receive(request.limits.ms / 1000)
        except Broken as broken:
            self.close()
            return broken.outcome
        if not answers:
            text = process.progress()
            self.close()
            return TimedOut(request.limits.ms, text)
        return answers[0][1]
