"""A standalone cluster on loopback: a master and two workers, each a JVM of its own, on free ports."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
WAIT = 120
"""Seconds, on a machine that is busy with other things."""

HEAP = "256m"


def environment() -> dict[str, str]:
    """Of this process only what a JVM needs: no search path, so that executors find nothing by it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME", "TMPDIR") if name in os.environ}
    quiet = "-Dspark.master.rest.enabled=false -Dspark.ui.enabled=false"
    return {
        **kept, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": HEAP,
        "SPARK_MASTER_OPTS": quiet, "SPARK_WORKER_OPTS": quiet,
    }  # fmt: skip


@contextmanager
def cluster(room: Path, workers: int = 2) -> Iterator[str]:
    """The master's URL; the folder of worker n is `room/n`."""
    with ExitStack() as stack:
        said = stack.enter_context(_daemon(room / "master.txt", "master.Master"))
        url = said(r"Starting Spark master at (spark://\S+)", 1)
        for number in range(workers):
            words = ("--cores", "1", "--memory", "1G", "--work-dir", str(room / str(number)), url)
            stack.enter_context(_daemon(room / f"{number}.txt", "worker.Worker", *words))
        said(r"Registering worker (\S+)", workers)
        yield url


@contextmanager
def _daemon(log: Path, name: str, *words: str) -> "Iterator[_Said]":
    log.parent.mkdir(parents=True, exist_ok=True)
    own = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *own, *words]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=environment(), cwd=log.parent
        )
    try:
        yield _Said(log, process)
    finally:
        process.terminate()
        process.wait(WAIT)


class _Said:
    """Waits for lines of a log."""

    def __init__(self, log: Path, process: "subprocess.Popen[bytes]") -> None:
        self.log, self.process = log, process

    def __call__(self, pattern: str, times: int) -> str:
        deadline = time.monotonic() + WAIT
        while len(found := re.findall(pattern, self.log.read_text(errors="replace"))) < times:
            assert self.process.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < deadline, self.log.read_text(errors="replace")
            time.sleep(0.05)
        return str(found[-1])
