"""A worker in the midst of a question ends with the process that asked it, however that ended."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ASK = """
import sys
from wireproof.adapters.contract import Request
from wireproof.cases.case import Accept, Case, Data
from wireproof.trial.engine import Engine
with Engine("py:hanging:Hangs") as engine:
    print(*(child for child in open(f"/proc/self/task/{__import__('os').getpid()}/children").read().split()))
    sys.stdout.flush()
    data = bytes.fromhex(sys.argv[1])
    list(engine.run([Case("kafka.batch/v2/unit/hang", "kafka.batch", "v2", Data(data), Accept())]))
"""
HANGS = "7f" * 80
SOON = 10.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has such a signal")
def test_a_worker_in_the_midst_of_a_hang_ends_with_who_asked() -> None:
    here = os.pathsep.join((str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")))
    with subprocess.Popen(
        [sys.executable, "-c", ASK, HANGS], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": here}
    ) as asker:
        assert asker.stdout is not None
        workers = [int(child) for child in asker.stdout.readline().split()]
        assert workers
        time.sleep(1.0)  # until the question is with the worker
        assert all(map(lives, workers))
        asker.kill()
    until = time.monotonic() + SOON
    while any(map(lives, workers)):
        assert time.monotonic() < until
        time.sleep(0.05)


def lives(process: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
