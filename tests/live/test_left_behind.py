"""What a run leaves on a server: nothing, or a line with its prefix; `adapters clean` deletes it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

from tests.live.mock_broker.server import cluster_of
from wireproof.adapters.registry.live_servers import PREFIX
from wireproof.live.loopback_broker import server
from wireproof.live.loopback_broker.replies import LoopbackCluster

pytestmark = pytest.mark.live

CASES = ("kafka.log/mixed/append/**",)
PASSED = 8
SETTLE_SECONDS = 30.0
STEADY_SECONDS = 5.0


@frozen
class Broker:
    """A loopback broker: its name as an adapter, and the topics on it."""

    spec: str
    cluster: LoopbackCluster

    def topics(self) -> list[str]:
        """Return the names, once all are deleted or some time is over."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while self.cluster.topics and time.monotonic() < deadline:
            time.sleep(0.1)
        return sorted(self.cluster.topics)

    def steady_topics(self) -> list[str]:
        """Return the names, once none has come for some time: a killed run may have asked for one."""
        since, number = time.monotonic(), len(self.cluster.topics)
        while time.monotonic() - since < STEADY_SECONDS:
            time.sleep(0.1)
            if len(self.cluster.topics) != number:
                since, number = time.monotonic(), len(self.cluster.topics)
        return sorted(self.cluster.topics)


@pytest.fixture
def broker() -> Iterator[Broker]:
    cluster = cluster_of()
    with server.running(cluster) as address:
        yield Broker(f"kafka-broker:{address}", cluster)


def wireproof(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wireproof", *words], capture_output=True, text=True, check=False, timeout=300
    )


def started(broker: Broker, folder: Path) -> subprocess.Popen[str]:
    """Begin a check in a session of its own, and wait until some cases have passed."""
    events = folder / "run.jsonl"
    patterns = [word for case in CASES for word in ("--run", case)]
    check = subprocess.Popen(
        [
            *(sys.executable, "-m", "wireproof", "check", broker.spec, *patterns),
            *("--no-families", "--out", str(events)),
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while check.poll() is None and (not events.exists() or events.read_text().count('"pass"') < PASSED):
        time.sleep(0.05)
    return check


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_interrupted_with_all_its_processes_leaves_nothing(
    number: int, code: int, broker: Broker, tmp_path: Path
) -> None:
    check = started(broker, tmp_path)
    os.killpg(check.pid, number)
    check.communicate(timeout=60)
    assert check.returncode == code
    assert broker.topics() == []


def test_after_a_second_interrupt_the_topics_are_deleted_all_the_same(broker: Broker, tmp_path: Path) -> None:
    check = started(broker, tmp_path)
    os.killpg(check.pid, signal.SIGINT)
    time.sleep(0.1)
    os.killpg(check.pid, signal.SIGINT)
    check.communicate(timeout=60)
    assert check.returncode == 130
    assert broker.topics() == []


def test_what_a_killed_run_left_is_named_by_the_next_one_and_deleted_by_its_number(
    broker: Broker, tmp_path: Path
) -> None:
    check = started(broker, tmp_path)
    os.killpg(check.pid, signal.SIGKILL)
    check.communicate(timeout=60)
    left = broker.steady_topics()
    (prefix,) = {name.rpartition("-")[0] for name in left}
    broker.cluster.topics["orders"] = broker.cluster.topics[left[0]]
    run = prefix.removeprefix(PREFIX)
    next_one = wireproof("check", broker.spec, "--run", "kafka.log/mixed/append/count-1")
    note = f"{len(left)} topics of other runs are there, named {prefix}-…: `wireproof adapters clean "
    assert f"{note}{broker.spec}` shows" in " ".join(next_one.stdout.split())
    shown = wireproof("adapters", "clean", broker.spec)
    line = f"{prefix}-…  {len(left)}; delete: wireproof adapters clean {broker.spec} {run}"
    assert (shown.returncode, shown.stdout.splitlines()) == (0, [line])
    deleted = wireproof("adapters", "clean", broker.spec, run)
    assert deleted.stdout == f"{broker.spec}: {len(left)} of {len(left)} named {prefix}-… are deleted\n"
    assert sorted(broker.cluster.topics) == ["orders"]
    assert "nothing of runs is there" in wireproof("adapters", "clean", broker.spec).stdout


def test_a_number_of_no_run_and_an_adapter_that_is_no_server_are_one_line(broker: Broker) -> None:
    none = wireproof("adapters", "clean", broker.spec, "0" * 16)
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)
    assert f"nothing is named wireproof-{'0' * 16}-…" in none.stderr
    codec = wireproof("adapters", "clean", "reference")
    assert (codec.returncode, codec.stderr.count("\n")) == (2, 1)
    assert "is no live server" in codec.stderr
