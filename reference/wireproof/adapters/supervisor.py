"""Starts one adapter and ends all that it started, however the run ends: `python supervisor.py FD COMMAND…`.

It stands between wireproof and an adapter on Linux. FD is the reading end of a pipe whose writing end
wireproof alone holds: when that is closed, be it by wireproof or by its death, the adapter and every
descendant are killed, whatever session they are in. The adapter inherits stdin, stdout and stderr; no byte
passes through here. When the adapter ends, so do its descendants, and this process ends as the adapter did:
by its exit code or its signal.

It is run as a script and imports nothing of the package, so that it starts within milliseconds.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NOT_STARTED = 127
LONGEST = 4.0
"""Seconds after which what cannot be killed is left to the system."""


def main(lifeline: int, command: list[str]) -> None:
    """Run `command` to its end, or until nobody holds the other end of `lifeline`."""
    os.set_inheritable(lifeline, False)  # noqa: FBT003 - it takes no keyword
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    signals = _signals()
    child = _started(command)
    code = _watched(child, lifeline, signals)
    end_all()
    _leave(code)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _signals() -> int:
    """Return a descriptor from which the numbers of the signals can be read that came."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *ENDING):
        signal.signal(number, lambda *_: None)
    return read


def _started(command: list[str]) -> int:
    """Start the adapter in a group of its own, then give up the three pipes: they are the adapter's."""
    defaults = (signal.SIGPIPE, signal.SIGXFSZ)  # which Python ignores
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigdef=defaults)
    except OSError as error:
        os.write(2, f"cannot be started: {error}\n".encode())
        os._exit(NOT_STARTED)
    nothing = os.open(os.devnull, os.O_RDWR)
    for own in (0, 1, 2):
        os.dup2(nothing, own)
    return child


def _watched(child: int, lifeline: int, signals: int) -> int:
    """Wait for the end of the adapter; return its exit code, or the negative number of its signal."""
    waiting = select.poll()
    waiting.register(lifeline, select.POLLIN)
    waiting.register(signals, select.POLLIN)
    while True:
        ready = [number for number, _ in waiting.poll()]
        if lifeline in ready or (signals in ready and set(os.read(signals, 4096)) & set(ENDING)):
            return -signal.SIGTERM
        for ended, code in _reaped():
            if ended == child:
                return code


def _reaped() -> list[tuple[int, int]]:
    """Take away every child that has ended, orphans too; return their numbers and exit codes."""
    found = []
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((one[0], os.waitstatus_to_exitcode(one[1])))
    return found


def end_all() -> None:
    """Kill every descendant: an orphan of one comes to this process, so that none is lost."""
    until = time.monotonic() + LONGEST
    while (found := _descendants()) and time.monotonic() < until:
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not _reaped():
            time.sleep(0.001)


def _descendants() -> list[int]:
    found = [os.getpid()]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208 - pathlib takes 5 ms to import
                found.extend(_children(f"/proc/{parent}/task/{task}/children"))
    return found[1:]


def _children(path: str) -> list[int]:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return [int(number) for number in file.read().split()]


def _leave(code: int) -> None:
    """End as the adapter did, without a core file of this process."""
    if code < 0:
        _prctl(PR_SET_DUMPABLE, 0)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        time.sleep(LONGEST)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
