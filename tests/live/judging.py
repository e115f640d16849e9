"""A check of servers by the command line, as a user runs it, its verdicts, and servers that start again."""

import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from socket import create_server, socket
from threading import Thread
from typing import Final

from attrs import frozen

from tests.broker import ground
from tests.broker.ground import Release
from wireproof.run.events import read_events

SECONDS: Final = 1500
APPENDS: Final = ("kafka.batch/v2/produce/**", "kafka.log/mixed/produce/**", "kafka.log/mixed/append/**")
"""The cases that a broker is asked."""

PASSES: Final = frozenset({"pass", "pass-unclassified", "info"})
FINDINGS: Final = frozenset({"fail", "lenient", "crash", "timeout", "resource", "stalled", "not-run"})
"""The verdicts that fail a run at level `should`."""


def wireproof(*words: str) -> subprocess.CompletedProcess[str]:
    """Call the command line as a user does."""
    line = [sys.executable, "-m", "wireproof", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)


def started(spec: str, cases: Sequence[str], *options: str) -> subprocess.Popen[str]:
    """Begin a check in a session of its own."""
    patterns = (part for case in cases for part in ("--run", case))
    return subprocess.Popen(
        [*(sys.executable, "-m", "wireproof", "check", spec), *patterns, "--no-families", *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


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
    options = ("--no-families", "--level", "should", "--out", str(events), *options)
    done = wireproof("check", *specs, *patterns, *options)
    verdicts = {
        stream.run.spec.removeprefix(f"{kind}:"): {case.id: case.verdict for case in stream.cases}
        for stream in read_events(events)
    }
    return Judged(done.returncode, done.stdout + done.stderr, verdicts)


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
    with started(spec, cases, "--out", str(events)) as check:
        wait_until_passed(check, events, number)
        interrupt()
        _, errors = check.communicate(timeout=SECONDS)
    (stream,) = read_events(events)
    verdicts = Counter(case.verdict for case in stream.cases)
    return Interrupted(check.returncode, tuple(line for line in errors.splitlines() if line), verdicts)


def wait_until_passed(check: subprocess.Popen[str], events: Path, number: int) -> None:
    """Wait until so many cases have passed, or the check has ended."""
    while check.poll() is None and (not events.exists() or events.read_text().count('"pass') < number):
        time.sleep(0.05)


def stay(address: str, minutes: float | None = None) -> None:
    """Print the address of a server; return when the process that started this one ends, or after so long."""
    parent, end = os.getppid(), time.monotonic() + (minutes or 0) * 60
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    while time.monotonic() < end if minutes else os.getppid() == parent:
        time.sleep(0.5)


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


# --- commands that start a server of this process again ---


CONNECT = "import socket, sys; sys.exit(socket.create_connection(('127.0.0.1', {})).recv(2) != b'ok')"


@contextmanager
def command_of(restart: Callable[[], None]) -> Iterator[str]:
    """Yield a command that calls a function of this process."""
    with create_server(("127.0.0.1", 0)) as server:
        Thread(target=_serve, args=(server, restart), daemon=True).start()
        port = server.getsockname()[1]
        yield shlex.join([sys.executable, "-c", CONNECT.format(port)])


def _serve(server: socket, restart: Callable[[], None]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            restart()
            connection.sendall(b"ok")


@contextmanager
def restarted_kafka(folder: Path, release: Release, port: int = 0) -> Iterator[tuple[str, str]]:
    """Start Kafka; yield its address, and the command that stops it and starts it again."""
    port, log = port or ground.free_port(), folder / "broker.out"
    command = ground.formatted(folder, release, port)
    brokers = [ground.started(command, port, log)]

    def restart() -> None:
        ground.stop(brokers.pop())
        brokers.append(ground.started(command, port, log))

    try:
        with command_of(restart) as text:
            yield f"127.0.0.1:{port}", text
    finally:
        for broker in brokers:
            ground.stop(broker)
