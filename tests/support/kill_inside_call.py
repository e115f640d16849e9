"""A copy of this process that is killed inside a call, at a function that is named."""

import importlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGKILL") if hasattr(signal, name))
"""Those that end a process; Windows has no SIGKILL."""

every_kill = pytest.mark.parametrize("kill", SIGNALS, ids=lambda kill: kill.name)


def killed_at(name: str, kill: signal.Signals, call: Callable[[], object], skip: int = 0) -> int:
    """Fork; in the child run `call`, and send it `kill` when it calls `name` after `skip` such calls.

    Returns how the child ended: 130 for an interrupt that came through `call`, else minus the signal.
    """
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork, so that no copy of this process can be killed")
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _run(name, kill, call, skip)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code != 0, f"{name} was not called"
    return code


def _run(name: str, kill: signal.Signals, call: Callable[[], object], skip: int) -> None:
    code = 0
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _planted(name, kill, skip)
        call()
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:  # noqa: BLE001 - the parent sees the code, and nothing of the test goes on
        sys.stderr.write(f"{error!r}\n")
        code = 99
    finally:
        os._exit(code)


def _planted(name: str, kill: signal.Signals, skip: int) -> None:
    where, _, function = name.rpartition(".")
    module = importlib.import_module(where)
    real = getattr(module, function)
    calls = iter(range(skip, -1, -1))

    def deadly(*args: Any, **more: Any) -> Any:
        if next(calls, -1) == 0:
            os.kill(os.getpid(), kill)
        return real(*args, **more)

    setattr(module, function, deadly)
