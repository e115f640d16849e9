"""A worker ends with the process that started it, by the system's signal or by a thread that waits for it."""

import subprocess
import sys
import time

import pytest

from wireproof.adapters.process import stats

CHILD = """
import ctypes, sys, time
from wireproof.adapters.object_worker import end_with_parent
if sys.argv[1] == "thread":
    def none(name):
        raise OSError("this system has no prctl")
    ctypes.CDLL = none
end_with_parent()
print("ready", flush=True)
time.sleep(60)
"""

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]])
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.parametrize("how", ["signal", "thread"])
def test_a_worker_ends_when_its_parent_is_killed(how: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD, how], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == "ready\n"
        parent.kill()
    until = time.monotonic() + 20
    while stats._stat(child) and stats._stat(child)[0] != b"Z" and time.monotonic() < until:
        time.sleep(0.05)
    state = stats._stat(child)
    assert not state or state[0] == b"Z"
