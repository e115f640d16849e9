"""A real Apache Kafka broker, alone and on the loopback: KRaft, its folders of this run only."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection, socket
from typing import Final

from wireproof.adapters.driver_build import built
from wireproof.adapters.registry_entry import Build

HERE: Final = Path(__file__).parent

JAVA: Final = Build(HERE / "java", (("mvn", "-q", "-B", "package"),))
TOOLS: Final = Build(HERE / "tools", (("mvn", "-q", "-B", "package"),))
GO: Final = Build(HERE / "go", (("go", "build", "-o", "produce", "."),))
NODE: Final = Build(HERE / "node", (("npm", "ci", "--no-audit", "--no-fund"),))

START_SECONDS: Final = 900
STOP_SECONDS: Final = 60
CLUSTER: Final = "d2lyZXByb29mLWJyb2tlcg"
"""16 bytes in base64, as a cluster id has to be."""

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


def java(*arguments: str, heap: int = 256) -> list[str]:
    """A command that runs a class of the broker or of our producer; `heap` in MiB. Built on first use."""
    target = built("broker", JAVA) / "target"
    return _run(f"{target / 'ground.jar'}:{target / 'lib'}/*", heap, arguments)


def tool(*arguments: str) -> list[str]:
    """A command that runs one of Kafka's tools."""
    return _run(f"{built('broker', TOOLS) / 'target' / 'lib'}/*", 256, arguments)


def _run(classpath: str, heap: int, arguments: Sequence[str]) -> list[str]:
    return ["java", f"-Xmx{heap}m", "-XX:+UseSerialGC", "-cp", classpath, *arguments]


def _free() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Start a broker with its logs in `folder/logs`; yield its address, and stop it at the end."""
    settings, port = folder / "server.properties", _free()
    settings.write_text(SETTINGS.format(port=port, controller=_free(), logs=folder / "logs"))
    form = java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(settings), "--standalone")
    subprocess.run(form, check=True, stdout=subprocess.DEVNULL)
    with (folder / "broker.out").open("wb") as out:
        child = subprocess.Popen(java("kafka.Kafka", str(settings), heap=512), stdout=out, stderr=out)
    try:
        _await(port, child)
        yield f"127.0.0.1:{port}"
    finally:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()


def _await(port: int, child: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        try:
            create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the broker did not listen on {port} in {START_SECONDS} s (exit {child.poll()})")
