"""A worker in the midst of a question ends with the process that asked it, however that ended."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from folders import SUPPORT

ASK = """
import sys
from wireproof.adapters.contract import Request
from wireproof.cases.case import Accept, Case, Data, Limits
from wireproof.run.engine import Engine
with Engine("py:hanging_codecs:Hangs") as engine:
    print(*(child for child in open(f"/proc/self/task/{__import__('os').getpid()}/children").read().split()))
    sys.stdout.flush()
    data = bytes.fromhex(sys.argv[1])
    hour = Limits(ms=3_600_000)
    case = Case("kafka.batch/v2/unit/hang", "kafka.batch", "v2", Data(data), Accept(), limits=hour)
    list(engine.run([case]))
"""
HANGS = "7f" * 80
SECONDS = 60.0
"""After which a test that waits for something gives up."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has such a signal")
def test_a_worker_in_the_midst_of_a_hang_ends_with_who_asked(tmp_path: Path) -> None:
    hangs = tmp_path / "hangs"
    here = os.pathsep.join((str(SUPPORT), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": here, "HANGS": str(hangs)}
    with subprocess.Popen(
        [sys.executable, "-c", ASK, HANGS], stdout=subprocess.PIPE, env=environment
    ) as asker:
        assert asker.stdout is not None
        workers = [int(child) for child in asker.stdout.readline().split()]
        assert workers
        wait(hangs.exists)
        assert all(map(lives, workers))
        asker.kill()
    wait(lambda: not any(map(lives, workers)))


def wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(process: int) -> bool:
    """Return True if a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
