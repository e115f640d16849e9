"""Supervisor of one adapter, which ends all its processes however the run ends: `supervisor.py FD COMMAND…`.

It is the process between wireproof and an adapter on Linux. FD is the reading end of a pipe; only wireproof
has the writing end open. When wireproof closes it, or ends, the supervisor kills the adapter and every
descendant, whatever session they are in. The adapter inherits stdin, stdout and stderr; no byte passes
through this process. When the adapter ends, the supervisor kills its descendants, and ends with the same exit
code or signal as the adapter.

It is run as a script, once for each adapter. It imports only light modules of the standard library, so that
it starts within milliseconds: an import of the package or of psutil would take longer.
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
"""Seconds after which a process that cannot be killed is left to the system."""


def main(lifeline: int, command: list[str]) -> None:
    """Run `command` to its end, or until the other end of `lifeline` is closed."""
    os.set_inheritable(lifeline, False)  # noqa: FBT003 - it takes no keyword
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    signals, delivery = os.pipe()  # delivers the numbers of received signals
    for end in (signals, delivery):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(delivery, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *ENDING):
        signal.signal(number, lambda *_: None)
    # the adapter is in a group of its own
    defaults = (signal.SIGPIPE, signal.SIGXFSZ)  # which Python ignores
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigdef=defaults)
    except OSError as error:
        os.write(2, f"cannot be started: {error}\n".encode())
        os._exit(NOT_STARTED)
    nothing = os.open(os.devnull, os.O_RDWR)
    for own in (0, 1, 2):  # the three pipes belong to the adapter
        os.dup2(nothing, own)
    code = _wait_for_end(child, lifeline, signals)
    end_all()
    if code < 0:  # end with the signal of the adapter, without a core file of this process
        _prctl(PR_SET_DUMPABLE, 0)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        time.sleep(LONGEST)
    os._exit(code if code >= 0 else 128 - code)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wait_for_end(child: int, lifeline: int, signals: int) -> int:
    """Wait for the end of the adapter; return its exit code, or the negative number of its signal."""
    waiting = select.poll()
    waiting.register(lifeline, select.POLLIN)
    waiting.register(signals, select.POLLIN)
    while True:
        ready = [number for number, _ in waiting.poll()]
        if lifeline in ready or (signals in ready and set(os.read(signals, 4096)) & set(ENDING)):
            return -signal.SIGTERM
        for ended, code in _reap_children():
            if ended == child:
                return code


def _reap_children() -> list[tuple[int, int]]:
    """Reap every child that has ended, orphans too; return their numbers and exit codes."""
    found = []
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((ended[0], os.waitstatus_to_exitcode(ended[1])))
    return found


def end_all() -> None:
    """Kill every descendant; this process is the parent of every orphan, so it finds all of them."""
    until = time.monotonic() + LONGEST
    while (found := descendants(os.getpid())) and time.monotonic() < until:
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not _reap_children():
            time.sleep(0.001)


def descendants(pid: int, most: int | None = None) -> list[int]:
    """Return the descendants of a process that have not ended; stop once there are more than `most`."""
    found = [pid]
    for parent in found:
        if most is not None and len(found) > most:
            break
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208 - pathlib takes 5 ms to import
                with open(f"/proc/{parent}/task/{task}/children", "rb") as file:  # noqa: PTH123 - as above
                    found.extend(map(int, file.read().split()))
    return found[1:]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
