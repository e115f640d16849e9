"""A controller over a child process and its three pipes.

One thread serves all three through a selector, so neither side can block the other: requests wait in a buffer
while the child does not read, and stderr is read together with the answers. On Linux the child is a
`supervisor`, which runs the adapter and ends it with every process that it started. On other systems the
adapter leads a session of its own, which is killed.
"""

import contextlib
import errno
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from typing import Final, cast

from attrs import Factory, field, frozen

from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.contract_json import OPENING, answer_of, hello_of, request_packet
from wireproof.adapters.controller import Answer, Broken, Controller
from wireproof.adapters.errors import AdapterStartError, MessageError, TooMuchError
from wireproof.adapters.message_framing import MAX_MESSAGE, MOST_NODES, Frames, Framing, Most, Packet
from wireproof.adapters.process import stats, supervisor
from wireproof.cases.outcome import Crashed, Exhausted, Faulty, Outcome
from wireproof.strict_parsing import shorten_value
from wireproof.wire.text import one_line

MIB: Final = 1024 * 1024

HELLO_SECONDS: Final = 10.0
"""Time limit from the start of a process to its hello."""

EXIT_SECONDS: Final = 1.0
"""Time limit for a process to end by itself after its stdin is closed or its stdout has ended."""

KILL_SECONDS: Final = 5.0
"""Time limit for the system to remove a killed process."""

POLL_SECONDS: Final = 0.1
"""Interval between checks that a silent process is alive, and of its memory."""

READ: Final = 256 * 1024
"""Bytes of one read."""

STDERR_SHOWN: Final = 400
"""Characters of stderr that a message shows."""

HELLO: Final = Most(MIB, 16 * 1024)
"""The limit of a hello."""

LEAST: Final = Most(4 * MIB, 256 * 1024)
"""The limit of an answer to an empty input; a compressed input of 400 bytes has 131,000 bytes of answer."""

EACH: Final = 64
"""Bytes and values of an answer that each byte of input allows; the fixtures need 4 values."""

MEMORY: Final = 2048 * MIB
"""Most resident bytes of the process tree."""


@frozen
class Program:
    """A program to start.

    Attributes:
        name: its name in messages.
        command: program and arguments.
        framing: makes the framing of one direction.
        environment: variables that are added to those of this process.
        memory: resident bytes of the whole tree above which it is killed; None sets no limit.
        hello_seconds: time limit of its hello.
        stderr: called with all bytes that it writes to stderr.
        note: called with `request`, `answer` or `unreadable` and each message, in their order.
        cleanup: called once after its end, unless its hello was an error; with False if its end was
            interrupted, so that nobody waits any more.
        is_ours: True if what it writes to stderr at its end is a note for the user.
    """

    name: str
    command: tuple[str, ...]
    framing: Callable[[], Framing] = Frames
    environment: Mapping[str, str] = field(default=Factory(dict))
    memory: int | None = MEMORY
    hello_seconds: float = HELLO_SECONDS
    stderr: Callable[[bytes], None] = lambda _: None
    note: Callable[[str, Packet], None] = lambda _, __: None
    cleanup: Callable[[bool], None] = lambda _: None
    is_ours: bool = False


class Process(Controller):
    """Controller of a child process."""

    piped = True

    def __init__(self, program: Program) -> None:
        """Start the process and read its hello; raise `AdapterStartError`."""
        self._program = program
        self._child, self._lifeline = _start(program)
        self._out = program.framing()
        self._in = program.framing()
        self._in.most = HELLO
        self._pending = bytearray()
        self._packets: deque[Packet] = deque()
        self._open: dict[str, Most] = {}
        self._stderr = bytearray()
        self._ended = False
        self._closed = False
        self._started = True
        self._fault: MessageError | None = None
        self._stray = ""
        self._looked = time.monotonic()
        self._marked: int | None = None
        self._most: int | None = None
        self._selector = selectors.DefaultSelector()
        pipes = self._child.stdin, self._child.stdout, self._child.stderr
        stdin, self._stdout, self._stderr_pipe = (cast("FileIO", pipe) for pipe in pipes)
        self._stdin: FileIO | None = stdin
        for pipe in (stdin, self._stdout, self._stderr_pipe):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ, self._read_stdout)
        self._selector.register(self._stderr_pipe, selectors.EVENT_READ, self._read_stderr)
        try:
            self.hello = self._greet()
        except BaseException:
            self.close()
            raise

    # --- the life of a process ---

    def _greet(self) -> Hello:
        self._write(self._packed(OPENING))
        try:
            limit = stats.TimeLimit(self._child.pid, self._program.hello_seconds)
            while not self._packets:
                left = limit.left()
                if left <= 0:
                    raise AdapterStartError(
                        f"{self._program.name} sent no hello in {self._program.hello_seconds:g} s: read "
                        f"{self._in.progress()}{self._last_words()}"
                    )
                self._step(min(left, POLL_SECONDS))
            packet = self._packets.popleft()
            content = packet.head.get("hello")
            self._started = not (isinstance(content, dict) and "error" in content)
            return hello_of(packet)
        except Broken as broken:
            raise AdapterStartError(f"{self._program.name} {broken.outcome.text}, before its hello") from None
        except MessageError as error:
            raise AdapterStartError(f"{self._program.name}: its hello {error}") from None

    def close(self) -> None:
        if self._closed:
            return
        self._closed, ended = True, False
        try:
            self._drop_stdin()
            if not self._fault and not self._open:
                # the last line of a process of ours before a live server is a note
                self._drain(10.0 if self._program.is_ours else EXIT_SECONDS)
                if self._packets:
                    self.late = shorten_value(self._packets[0].head.get("id"))
            self._kill()
            for _ in range(16):  # what it wrote to stderr before its end; a pipe has a limit too
                if not self._serve_pipes(0):
                    break
            if self._program.is_ours and self._child.returncode == 0:
                self.note = self._last_line().removeprefix(": ")
            self._selector.close()
            self._stdout.close()
            self._stderr_pipe.close()
            ended = True
        finally:  # also after a second signal
            if self._started:
                self._program.cleanup(ended)

    def _kill(self) -> None:
        if self._lifeline is None:
            # Kill the session before its leader is reaped: until then no other process can get its number.
            if self._child.returncode is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._child.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(KILL_SECONDS)
            return
        if self._lifeline >= 0:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._lifeline, b".")  # because a fork of this process may keep the pipe open
            os.close(self._lifeline)
            self._lifeline = -1
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(KILL_SECONDS)
        if self._child.returncode in (None, -signal.SIGKILL):
            for process in {*stats.tree(self._child.pid), *stats.session(self._child.pid)}:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            self._child.poll()

    # --- the three pipes ---

    def _step(self, seconds: float) -> None:
        """Serve the pipes once, then check if the process has ended; raise `Broken`."""
        busy = self._serve_pipes(seconds)
        if self._packets:
            return
        if self._fault is not None:
            raise self._fault_found(self._fault)
        if self._ended or (not busy and stats.has_ended(self._child)):
            self._drain(EXIT_SECONDS)
            if not self._packets:
                raise self._death()

    def _serve_pipes(self, seconds: float) -> bool:
        if not self._selector.get_map():
            time.sleep(seconds)
            return False
        ready = self._selector.select(seconds)
        for key, _ in ready:
            key.data()
        return bool(ready)

    def _drain(self, seconds: float) -> None:
        """Wait for the process to end by itself, then read the rest of its pipes."""
        limit = stats.TimeLimit(self._child.pid, seconds)
        while (left := limit.left()) > 0:
            ended = stats.has_ended(self._child)
            busy = self._serve_pipes(0 if ended else min(left, POLL_SECONDS / 10))
            if ended and not busy:
                return

    def _read_stdout(self) -> None:
        data = self._read(self._stdout)
        if data is None:
            self._ended = True
            return
        try:
            for packet in self._in.feed(data):
                self._program.note("answer", packet)
                self._packets.append(packet)
        except MessageError as error:
            self._program.note("unreadable", Packet({"text": str(error)}))
            self._read_no_more(error)
        except MemoryError:
            self._read_no_more(TooMuchError("an answer that this process has no memory to read"))

    def _read_no_more(self, fault: MessageError) -> None:
        """Store the fault of the stream, and discard its bytes."""
        self._fault = fault
        self._in = self._program.framing()
        self._selector.unregister(self._stdout)

    def _read_stderr(self) -> None:
        data = self._read(self._stderr_pipe) or b""
        self._program.stderr(data)
        self._stderr += data
        del self._stderr[: -64 * 1024]

    def _read(self, pipe: FileIO) -> bytes | None:
        """Return the bytes in the pipe; None at its end."""
        data: bytes | None = pipe.read(READ)
        if data is None:
            return b""
        if not data:
            self._selector.unregister(pipe)
        return data or None

    def _write(self, data: bytes) -> None:
        """Write the bytes that the pipe accepts now; the selector writes the rest."""
        if self._pending:
            self._pending += data
            return
        self._pending += data
        self._write_pending()
        if self._pending and self._stdin is not None:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write_stdin)

    def _write_pending(self) -> None:
        if self._stdin is None:
            self._pending.clear()
            return
        try:
            written: int | None = self._stdin.write(self._pending)
        except BrokenPipeError:
            self._drop_stdin()
            return
        del self._pending[: written or 0]

    def _write_stdin(self) -> None:
        self._write_pending()
        if not self._pending and self._stdin is not None:
            self._selector.unregister(self._stdin)

    def _drop_stdin(self) -> None:
        """Stop writing: the end of the child shows on its stdout, after the remaining answers."""
        self._pending.clear()
        if self._stdin is None:
            return
        with contextlib.suppress(KeyError):
            self._selector.unregister(self._stdin)
        self._stdin.close()
        self._stdin = None

    # --- requests and answers ---

    def _packed(self, packet: Packet) -> bytes:
        data = self._out.pack(packet)
        self._program.note("request", packet)
        return data

    def send(self, requests: Sequence[Request]) -> None:
        frames = [self._packed(request_packet(request)) for request in requests]
        self._open.update(
            [
                (request.id, _most(request, len(frame)))
                for request, frame in zip(requests, frames, strict=True)
            ]
        )
        sizes, nodes = zip(*((most.size, most.nodes) for most in self._open.values()), strict=True)
        self._in.most = Most(max(sizes), max(nodes))
        self._write(b"".join(frames))

    def receive(self, seconds: float) -> list[Answer]:
        deadline = time.monotonic() + seconds
        if self._fault is not None and not self._packets:
            raise self._fault_found(self._fault)
        while not self._packets:
            now = time.monotonic()
            self._look_at_memory(now, last=now >= deadline)
            self._step(max(0.0, min(deadline - now, POLL_SECONDS)))
            if now >= deadline:
                break
        answers: list[Answer] = []
        while self._packets:
            packet = self._packets.popleft()
            name = packet.head.get("id")
            if not isinstance(name, str) or name not in self._open:
                self._stray = name if isinstance(name, str) else ""
                self._fault = MessageError(f"it answered {shorten_value(name)}, which is not in flight")
                self._packets.clear()
                break
            answers.append((name, _outcome(packet, self._open.pop(name))))
        if not answers and self._fault is not None:
            raise self._fault_found(self._fault)
        return answers

    def progress(self) -> str:
        return f"read {self._in.progress()}{self._last_words()}"

    # --- ends ---

    def _fault_found(self, fault: MessageError) -> Broken:
        if isinstance(fault, TooMuchError):
            return Broken(Exhausted("output", str(fault)), "too much output")
        return Broken(Faulty(f"stdout: {fault}{self._last_words()}"), "broke the contract", self._stray)

    def _death(self) -> Broken:
        if not stats.has_ended(self._child):
            return self._fault_found(MessageError("closed, though the process lives"))
        self._kill()
        how = stats.how_it_ended(self._child.returncode)
        half = self._in.progress()
        text = how if half.startswith("0 ") else f"{how} after {half}"
        full = stats.full_folders()
        return Broken(Crashed(f"died with {text}{full}{self._last_words()}"), f"{how}{self._last_line()}")

    def _last_words(self) -> str:
        text = self._stderr.decode(errors="replace").strip()
        lines = [line for line in text.splitlines() if line.strip(" ^~")]  # no marks below a line of source
        shown = " / ".join(lines[-6:])[-STDERR_SHOWN:]
        return f"; stderr ends: {one_line(shown, 2 * STDERR_SHOWN)}" if shown else ""

    def _last_line(self) -> str:
        text = self._stderr.decode(errors="replace").strip()
        return f": {one_line(text.splitlines()[-1], STDERR_SHOWN)}" if text else ""

    # --- memory ---

    def _look_at_memory(self, now: float, *, last: bool) -> None:
        """Raise `Broken` for too much memory: now and then, and before an answer counts as late.

        What grows slowly, and is hardly over the limit when its time is up, is late: else the speed of the
        machine would decide what it is called. So the last look is for twice the limit.
        """
        if now - self._looked < POLL_SECONDS and not last:
            return
        self._looked = now
        limit, size = self._program.memory, stats.resident(self._child.pid)
        if limit is not None and size is not None and last and size < 2 * limit:
            return
        if limit is not None and size is not None and size > limit:
            size = stats.proportional(self._child.pid) or size
        if limit is not None and size is not None and size > limit:
            text = f"{size // MIB} MiB resident, over the limit of {limit // MIB} MiB"
            raise Broken(Exhausted("memory", text), "memory")
        over = self.over_memory()
        if over is not None:
            raise Broken(over, "memory")

    def mark_memory(self, most: int | None) -> None:
        # memory that is freed while the peak is reset belongs to the case before
        before = stats.resident(self._child.pid) or 0
        stats.reset_peak(self._child.pid)
        after = stats.resident(self._child.pid)
        self._marked, self._most = None if after is None else max(before, after), most

    def over_memory(self) -> Exhausted | None:
        if self._most is None or self._marked is None:
            return None
        peak = stats.peak(self._child.pid)
        grown = 0 if peak is None else peak - self._marked
        text = f"used {grown // MIB} MiB; the limit is {self._most // MIB} MiB"
        return Exhausted("memory", text) if grown > self._most else None


SUPERVISED: Final = sys.platform == "linux"
"""True if a process can become the parent of its orphaned descendants on this system."""


def _start(program: Program) -> "tuple[subprocess.Popen[bytes], int | None]":
    """Start the adapter; return its process or supervisor, and the end of the pipe that keeps it alive."""
    if not SUPERVISED:
        return _opened(program, program.command), None
    environment = {**os.environ, **program.environment}
    if shutil.which(program.command[0], path=environment.get("PATH")) is None:
        number = errno.EACCES if os.path.exists(program.command[0]) else errno.ENOENT  # noqa: PTH110 - any text
        problem = OSError(number, os.strerror(number), program.command[0])
        raise AdapterStartError(f"{program.name} cannot be started: {problem}")
    reader, lifeline = os.pipe()
    command = (sys.executable, "-S", "-I", supervisor.__file__, str(reader), *program.command)
    try:
        return _opened(program, command, reader), lifeline
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(reader)


def _opened(program: Program, command: Sequence[str], *passed: int) -> "subprocess.Popen[bytes]":
    try:
        child = subprocess.Popen(  # noqa: S603 - starting what the user names is the purpose
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, **program.environment},
            start_new_session=True,
            pass_fds=passed,
        )
    except (OSError, ValueError) as error:
        raise AdapterStartError(f"{program.name} cannot be started: {error}") from None
    assert child.stdin is not None
    stats.widen(child.stdin.fileno())
    return child


def _most(request: Request, sent: int) -> Most:
    """Return the limits of an answer: in proportion to its input, and within the limit of the contract.

    The input of an encoding is a value, whose size is that of the request as it was sent.
    """
    more = EACH * (sent if request.op == "encode" else request.weight)
    return Most(min(LEAST.size + more, MAX_MESSAGE), min(LEAST.nodes + more, MOST_NODES))


def _outcome(packet: Packet, most: Most) -> Outcome:
    try:
        most.refuse(packet.size, packet.nodes)
        return answer_of(packet)
    except TooMuchError as error:
        return Exhausted("output", str(error))
    except MessageError as error:
        return Faulty(f"invalid answer: {error}")
