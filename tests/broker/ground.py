"""A real Apache Kafka broker, alone and on the loopback: KRaft, its folders of this run only."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from socket import create_connection, socket
from typing import Final

from attrs import frozen

from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.registered import Build

HERE: Final = Path(__file__).parent

JAVA: Final = Build(HERE / "java", (("mvn", "-q", "-B", "-C", "package"),))
TOOLS: Final = Build(HERE / "tools", (("mvn", "-q", "-B", "-C", "package"),))
GO: Final = Build(HERE / "go", (("go", "build", "-o", "produce", "."),))
NODE: Final = Build(HERE / "node", (("npm", "ci", "--no-audit", "--no-fund"),))

START_SECONDS: Final = 900
STOP_SECONDS: Final = 60
CLUSTER: Final = "d2lyZXByb29mLWJyb2tlcg"
"""16 bytes in base64, as a cluster id has to be."""

FORMAT: Final = ("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c")

SETTINGS: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={logs}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.retention.ms=-1
broker.session.timeout.ms=600000
log.cleaner.backoff.ms=300
log.cleaner.dedupe.buffer.size=4194304
"""


@frozen
class Release:
    """A release of Kafka that can run as a broker.

    Attributes:
        build: how its jars come from Maven.
        settings: lines of its properties after `SETTINGS`.
    """

    build: Build
    settings: str = ""


NEWEST: Final = Release(JAVA)


def java(*arguments: str, heap: int = 256, build: Build = JAVA) -> list[str]:
    """Return a command that runs a class of the jars of `build`; `heap` in MiB. Built on first use."""
    target = built("broker", build) / "target"
    return ["java", f"-Xmx{heap}m", "-XX:+UseSerialGC", "-cp", f"{target}/*:{target}/lib/*", *arguments]


def tool(*arguments: str) -> list[str]:
    """Return a command that runs one of Kafka's tools."""
    return java(*arguments, build=TOOLS)


def dumped(files: Sequence[Path], *options: str) -> dict[Path, list[str]]:
    """Return the lines of `DumpLogSegments` by the path of the file; raises `CalledProcessError`."""
    command = tool("org.apache.kafka.tools.DumpLogSegments", *options, "--files", ",".join(map(str, files)))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return by_file(done.stdout.decode(errors="replace"))


def by_file(output: str) -> dict[Path, list[str]]:
    """Return what the tool printed by the path of the file, without empty lines."""
    found: dict[Path, list[str]] = {}
    lines: list[str] = []
    for text in output.split("\n"):
        if text.startswith("Dumping "):
            lines = found.setdefault(Path(text.removeprefix("Dumping ")), [])
        elif text:
            lines.append(text)
    return found


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nobody listens now."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(folder: Path, release: Release = NEWEST, port: int = 0) -> Iterator[str]:
    """Start a broker with its logs in `folder/logs`; yield its address, and stop it at the end."""
    port = port or free_port()
    with listening(formatted(folder, release, port), port, folder / "broker.out") as address:
        yield address


def formatted(folder: Path, release: Release, port: int) -> list[str]:
    """Format `folder/logs` for a broker; return the command that starts it, as often as it is wanted."""
    settings = folder / "server.properties"
    text = SETTINGS.format(port=port, controller=free_port(), logs=folder / "logs")
    settings.write_text(text + release.settings)
    form = java(*FORMAT, str(settings), "--standalone", build=release.build)
    subprocess.run(form, check=True, stdout=subprocess.DEVNULL)
    return java("kafka.Kafka", str(settings), heap=512, build=release.build)


@contextmanager
def listening(command: Sequence[str], port: int, log: Path) -> Iterator[str]:
    """Start a server; yield its address as soon as it listens on `port` of 127.0.0.1; stop it at the end.

    Raises:
        RuntimeError: it ended, or did not listen in time.
    """
    child = started(command, port, log)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        stop(child)


def started(command: Sequence[str], port: int, log: Path) -> "subprocess.Popen[bytes]":
    """Start a server; return it as soon as it listens on `port` of 127.0.0.1; append its output to `log`.

    Raises:
        RuntimeError: it ended, or did not listen in time.
    """
    with log.open("ab") as out:
        child = subprocess.Popen([*_bound(), *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        _await(port, child)
    except BaseException:
        stop(child)
        raise
    return child


def stop(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _bound() -> list[str]:
    """Return what to put before a command so that it ends with this process, where the system can do it."""
    found = which("setpriv")
    return [found, "--pdeathsig", "TERM"] if found else []


def _await(port: int, child: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        try:
            create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the broker does not listen on {port} after {START_SECONDS} s (exit {child.poll()})")
