"""What psutil reports about processes agrees with /proc, which is read where it exists."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from wireproof.adapters.process import psutil_stats, stats

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
        assert process.stdout is not None
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
