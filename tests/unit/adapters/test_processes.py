"""Adapters as processes: their pipes, their end, what they use, who is ready."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.process import psutil_stats, stats
from wireproof.adapters.process.controller import Process, Program

# --- a worker ends with the process that started it ---


WAITING_CHILD = """
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
        [sys.executable, "-c", PARENT, WAITING_CHILD, how], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == "ready\n"
        parent.kill()
    until = time.monotonic() + 20
    while stats._stat(child) and stats._stat(child)[0] != b"Z" and time.monotonic() < until:
        time.sleep(0.05)
    state = stats._stat(child)
    assert not state or state[0] == b"Z"


# --- what a tree of processes uses ---


FORKS = 8
HELD = 32 << 20
FORKING = f"""
import os, sys
held = bytearray(b"x" * {HELD})
for _ in range({FORKS}):
    if not os.fork():
        sys.stdin.read()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has proportional sizes")
def test_a_page_that_forks_share_is_counted_once() -> None:
    command = [sys.executable, "-S", "-c", FORKING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        shared, all_of_them = stats.proportional(process.pid), stats.resident(process.pid)
    assert all_of_them is not None
    assert shared is not None
    assert all_of_them > (1 + FORKS) * HELD
    assert HELD < shared < 3 * HELD


def test_no_process_has_no_size() -> None:
    assert stats.proportional(1 << 30) is None


def test_a_full_folder_is_named_where_a_program_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stats.full_folders() == ""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    folders = " and ".join(dict.fromkeys((str(Path.cwd()), tempfile.gettempdir())))
    with pytest.raises(AdapterStartError, match="died with exit code 3") as error:
        Process(Program("dies", (sys.executable, "-S", "-c", "raise SystemExit(3)")))
    assert f"exit code 3; no space is left in {folders}" in str(error.value)


# --- psutil and /proc agree ---


CHILD = "import sys; print(flush=True); sys.stdin.read()"

PROGRAM = f"""
import subprocess, sys
held = bytearray(b"x" * (32 << 20))
pipes = {{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}}
child = subprocess.Popen([sys.executable, "-S", "-c", {CHILD!r}], **pipes)
child.stdout.readline()  # its memory grows while it starts
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def parent() -> Iterator[int]:
    """A process of 32 MiB with a child."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process.pid


def test_a_tree_is_the_process_and_its_children(parent: int) -> None:
    assert sorted(psutil_stats.tree(parent, 10)) == sorted(stats.tree(parent))
    assert len(psutil_stats.tree(parent, 10)) == 2
    assert psutil_stats.tree(parent, 1) == [parent]


def test_the_memory_of_a_tree_is_that_of_proc(parent: int) -> None:
    assert psutil_stats.resident(parent, 10) == pytest.approx(stats.resident(parent), rel=0.1)
    assert psutil_stats.own_resident() == pytest.approx(stats.own_resident(), rel=0.1)
    assert psutil_stats.own_address_space() == pytest.approx(stats.own_address_space(), rel=0.1)
    assert 0 < psutil_stats.own_peak_mib() <= stats.own_peak_mib() * 1.1


def test_the_processor_time_is_that_of_proc() -> None:
    for ended in (False, True):
        mine = psutil_stats.cpu_seconds(os.getpid(), ended_children=ended)
        assert mine == pytest.approx(stats.cpu_seconds(os.getpid(), ended_children=ended), abs=0.2)
        assert mine > 0


def test_a_process_that_has_ended_is_unknown() -> None:
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    assert psutil_stats.tree(ended.pid, 10) == []
    assert psutil_stats.resident(ended.pid, 10) is None
    assert psutil_stats.cpu_seconds(ended.pid, ended_children=False) == 0
    psutil_stats.wait_for_end(ended.pid)


def test_without_proc_psutil_answers(parent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "_portable", lambda: psutil_stats)
    assert stats.peak(parent) == pytest.approx(psutil_stats.resident(parent, 10), rel=0.1)
    assert stats.tree(parent) == psutil_stats.tree(parent, 10)


@pytest.mark.skipif(sys.platform != "linux", reason="on Linux alone a peak is kept across exec")
def test_the_peak_of_a_process_is_its_own_and_not_that_of_the_one_that_started_it() -> None:
    code = (
        "from wireproof.adapters.process.stats import own_peak_mib as peak; before = peak(); "
        "block = bytearray(64 << 20); block[::4096] = b'1' * len(range(0, 64 << 20, 4096)); "
        "print(before, peak() - before)"
    )
    start = f"subprocess.run([sys.executable, '-c', {code!r}])"
    parent = f"import subprocess, sys; block = b'1' * (256 << 20); {start}"
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    before, grown = map(int, done.stdout.split())
    assert before < 200
    assert 60 <= grown < 100
