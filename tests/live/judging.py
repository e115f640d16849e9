"""A check of servers by the command line, as a user runs it, and its verdicts."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.run.events import read_events

SECONDS: Final = 1500
APPENDS: Final = ("kafka.batch/v2/produce/**", "kafka.log/mixed/produce/**", "kafka.log/mixed/append/**")
"""The cases that a broker is asked."""

FINDINGS: Final = frozenset({"fail", "lenient", "crash", "timeout", "resource", "stalled", "not-run"})
"""The verdicts that fail a run at level `should`."""


@frozen
class Judged:
    """What a check printed, its exit code, and for each address the verdicts by case."""

    code: int
    output: str
    verdicts: Mapping[str, Mapping[str, str]]


def judged(
    addresses: Sequence[str],
    folder: Path,
    *options: str,
    cases: Sequence[str] = APPENDS,
    kind: str = "kafka-broker",
) -> Judged:
    """Check the servers of a kind at these addresses in one run at level `should`."""
    events = folder / "run.jsonl"
    specs = [f"{kind}:{address}" for address in addresses]
    patterns = [part for case in cases for part in ("--run", case)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "wireproof", "check", *specs, *patterns),
            *("--no-families", "--level", "should", "--out", str(events), *options),
        ],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    verdicts = {
        stream.run.spec.removeprefix(f"{kind}:"): {case.id: case.verdict for case in stream.cases}
        for stream in read_events(events)
    }
    return Judged(done.returncode, done.stdout, verdicts)


@frozen
class Interrupted:
    """A run with something in the middle: exit code, lines of stderr, and the number of each verdict."""

    code: int
    lines: tuple[str, ...]
    verdicts: Counter[str]


def judged_and_interrupted(
    spec: str, cases: Sequence[str], folder: Path, number: int, interrupt: Callable[[], None]
) -> Interrupted:
    """Check a server, and call `interrupt` when so many cases have passed."""
    events = folder / "run.jsonl"
    command = [
        *(sys.executable, "-m", "wireproof", "check", spec),
        *(part for case in cases for part in ("--run", case)),
        *("--no-families", "--out", str(events)),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as check:
        while check.poll() is None and _passed(events) < number:
            time.sleep(0.05)
        interrupt()
        _, errors = check.communicate(timeout=SECONDS)
    (stream,) = read_events(events)
    verdicts = Counter(case.verdict for case in stream.cases)
    return Interrupted(check.returncode, tuple(line for line in errors.splitlines() if line), verdicts)


def _passed(events: Path) -> int:
    return events.read_text().count('"pass') if events.exists() else 0


@contextmanager
def process_at(address: str, command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a server whose first line is its address; kill it at the end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline().strip() == address
            yield server
        finally:
            server.kill()


@contextmanager
def restartable(
    start: Callable[[], AbstractContextManager[subprocess.Popen[str]]], seconds: float
) -> Iterator[Callable[[], None]]:
    """Start a server; give a function that kills it and starts it again after some seconds."""
    with ExitStack() as started:
        servers = [started.enter_context(start())]

        def restart() -> None:
            servers[-1].kill()
            servers[-1].wait()
            time.sleep(seconds)
            servers.append(started.enter_context(start()))

        yield restart
