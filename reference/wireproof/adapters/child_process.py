"""Small operations on a child process: the size of its pipe, and a description of how it ended."""

import os
import signal
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import subprocess
import contextlib
import socket
import sys
from collections.abc import Callable
from threading import Thread
from typing import IO, Protocol

PIPE: Final = 1024 * 1024
"""Size of the pipe for requests, if the system can set it: the size that every user may set."""


def how_it_ended(code: int | None) -> str:
    """Return the exit code or the name of the signal of a process."""
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def has_ended(child: "subprocess.Popen[Any]") -> bool:
    """Return True if it has ended; do not reap it if the system allows, so that its number is not reused."""
    if child.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return child.poll() is not None
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return child.poll() is not None


def widen(pipe: int) -> None:
    """Enlarge a pipe if the system can, so that the child has requests while no thread serves its pipes."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
    except (ImportError, AttributeError, OSError):
        return


# --- child pipes ---
#
# The pipes of a child process, as objects that a selector can wait for.
#
# Where a selector takes pipes, they are used as they are. On Windows it takes sockets alone: there a thread
# for each pipe copies between the pipe and a pair of sockets.


READ: Final = 256 * 1024
"""Bytes of one read."""

SELECTABLE: Final = sys.platform != "win32"
"""True if a selector can wait for a pipe on this system."""

LAG_SECONDS: Final = 0.0 if SELECTABLE else 0.2
"""Longest time for which bytes that a process wrote may be in no place where a selector sees them."""


class Pipe(Protocol):
    """This process's end of a pipe, which does not block."""

    def fileno(self) -> int:
        """Return the number that a selector waits for."""

    def read(self) -> bytes:
        """Return the bytes that are there, empty at the end; raise BlockingIOError if there are none."""

    def write(self, data: bytes | bytearray) -> int:
        """Write what fits and return its length; raise BlockingIOError or BrokenPipeError."""

    def close(self) -> None:
        """Close this end."""


class PlainPipe:
    """A pipe of the system."""

    def __init__(self, pipe: IO[bytes]) -> None:
        """Use a pipe of `subprocess` from now on without blocking."""
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)

    def fileno(self) -> int:
        """See `Pipe`."""
        return self._pipe.fileno()

    def read(self) -> bytes:
        """See `Pipe`."""
        return os.read(self._pipe.fileno(), READ)

    def write(self, data: bytes | bytearray) -> int:
        """See `Pipe`."""
        return os.write(self._pipe.fileno(), data)

    def close(self) -> None:
        """See `Pipe`."""
        with contextlib.suppress(BrokenPipeError):
            self._pipe.close()


class CopiedPipe:
    """A pair of sockets; a thread copies between the far one and a pipe."""

    def __init__(self, pipe: IO[bytes], copy: Callable[[IO[bytes], socket.socket], None]) -> None:
        """Start the thread, which closes the pipe and its socket at its end."""
        self._near, far = socket.socketpair()
        self._near.settimeout(0)
        Thread(target=copy, args=(pipe, far), daemon=True).start()

    def fileno(self) -> int:
        """See `Pipe`."""
        return self._near.fileno()

    def read(self) -> bytes:
        """See `Pipe`."""
        try:
            return self._near.recv(READ)
        except ConnectionError:
            return b""

    def write(self, data: bytes | bytearray) -> int:
        """See `Pipe`."""
        try:
            return self._near.send(data)
        except ConnectionError as error:
            raise BrokenPipeError from error

    def close(self) -> None:
        """See `Pipe`."""
        self._near.close()


def _copy_to_pipe(pipe: IO[bytes], far: socket.socket) -> None:
    with far, contextlib.suppress(OSError), pipe:
        while data := far.recv(READ):
            rest = memoryview(data)
            while rest:
                rest = rest[pipe.write(rest) or 0 :]


def _copy_from_pipe(pipe: IO[bytes], far: socket.socket) -> None:
    with far, contextlib.suppress(OSError), pipe:
        while data := os.read(pipe.fileno(), READ):
            far.sendall(data)


def pipe_to(pipe: IO[bytes]) -> Pipe:
    """Return the stdin of a child process."""
    return PlainPipe(pipe) if SELECTABLE else CopiedPipe(pipe, _copy_to_pipe)


def pipe_from(pipe: IO[bytes]) -> Pipe:
    """Return the stdout or stderr of a child process."""
    return PlainPipe(pipe) if SELECTABLE else CopiedPipe(pipe, _copy_from_pipe)
