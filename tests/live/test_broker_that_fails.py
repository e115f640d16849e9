"""A server that dies or hangs in a run, clusters that give no topics, and what a run leaves on a broker."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from kafka.admin import KafkaAdminClient
from kafka.protocol.metadata import MetadataRequest

from tests.broker.ground import free_port
from tests.live.judging import (
    judged_and_interrupted,
    process_at,
    restartable,
    started,
    wait_until_passed,
    wireproof,
)
from tests.live.mock_broker.server import answering, cluster_of, running
from tests.live.raw_client import RawClient
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import live_servers
from wireproof.adapters.registry.live_servers import PREFIX
from wireproof.adapters.registry.registry import open_adapter
from wireproof.live.loopback_broker import replies, server
from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.live.loopback_broker.cluster import LoopbackCluster

pytestmark = pytest.mark.live

JUDGED = 8
"""The number of verdicts after which a broker fails."""

CASES = [f"kafka.log/mixed/append/{name}-*" for name in ("count", "mixed", "stamped", "to", "two", "value")]
TOKEN = "0123456789abcdef"


@contextmanager
def broker_at(port: int) -> Iterator[subprocess.Popen[str]]:
    """A mock broker in a process of its own, which listens."""
    start = [sys.executable, "-m", "tests.live.mock_broker", "start", "--port", str(port)]
    with process_at(f"127.0.0.1:{port}", start) as broker:
        yield broker


@contextmanager
def iggy_at(port: int, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A mock server of Iggy in a process of its own, which listens."""
    start = [sys.executable, "-m", "tests.live.mock_iggy", "--port", str(port), "--delay", "0.02", *options]
    with process_at(f"127.0.0.1:{port}", start) as server:
        yield server


BROKER, IGGY = "kafka-broker:127.0.0.1:{}", "iggy-server:127.0.0.1:{}"
STEPS = ["kafka.log/mixed/idempotence/*", "kafka.log/mixed/transaction/*"]
SERVERS: dict[str, tuple[Callable[[int], AbstractContextManager[subprocess.Popen[str]]], str, list[str]]] = {
    "appends": (broker_at, BROKER, CASES),
    "steps": (broker_at, BROKER, STEPS),
    "sends": (iggy_at, IGGY, ["iggy.send/0.7/*/*"]),
    "polls": (iggy_at, IGGY, ["iggy.poll/0.7/polling/*"]),
    "http": (
        lambda port: iggy_at(port, "--http"),
        "iggy-server:http://127.0.0.1:{}",
        ["iggy.json.send/0.7/*/*"],
    ),
}
"""What starts a server at a port, its name as an adapter, and the cases that it is asked."""


@pytest.mark.parametrize("server", ["appends", "sends", "polls"])
@pytest.mark.parametrize(
    ("number", "verdict", "reason"),
    [
        (signal.SIGKILL, "crash", r"nothing answers at 127\.0\.0\.1:\d+: .*refused"),
        (signal.SIGSTOP, "stalled", r"127\.0\.0\.1:\d+.*(timed out|no answer in time)"),
    ],
    ids=["dies", "hangs"],
)
def test_what_was_judged_is_kept_and_what_is_left_is_named(
    number: int, verdict: str, reason: str, server: str, tmp_path: Path
) -> None:
    (start, spec, cases), port = SERVERS[server], free_port()
    with start(port) as one:
        run = judged_and_interrupted(
            spec.format(port), cases, tmp_path, JUDGED, lambda: one.send_signal(number)
        )
    assert run.code == 4
    assert run.verdicts["pass"] + run.verdicts["pass-unclassified"] >= JUDGED
    assert run.verdicts[verdict] >= 1
    assert run.verdicts["not-run"] >= 1
    (line,) = run.lines
    assert line.startswith(f"wireproof: {spec.format(port)}")
    assert re.search(reason, line)
    assert f"{'topics' if server == 'appends' else 'streams'} named wireproof-" in line


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("seconds", [0.0, 3.0])
def test_a_server_that_starts_again_is_asked_again(seconds: float, server: str, tmp_path: Path) -> None:
    """It keeps nothing: the cases in flight, and those after them, get other topics or streams."""
    (start, spec, cases), port = SERVERS[server], free_port()
    with restartable(partial(start, port), seconds) as restart:
        run = judged_and_interrupted(spec.format(port), cases, tmp_path, JUDGED, restart)
        if spec == BROKER:
            admin = KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{port}")
            assert admin.list_topics() == []
            admin.close()
    assert (run.code, run.lines) == (0, ())
    allowed = set() if spec == BROKER else {"pass-unclassified", "unsupported"}
    assert set(run.verdicts) <= {"pass", "info"} | allowed


@pytest.mark.parametrize(
    ("code", "text", "line"),
    [
        (ErrorCode.POLICY_VIOLATION, "no topics here", "is refused with POLICY_VIOLATION: no topics here"),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "", "is not permitted"),
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "", "is not permitted"),
        (ErrorCode.INVALID_REPLICATION_FACTOR, "one broker", "with INVALID_REPLICATION_FACTOR: one broker"),
    ],
)
def test_a_cluster_that_forbids_topics_is_one_line(
    code: ErrorCode, text: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AppendRefused(code, text)

    monkeypatch.setattr(replies, "check_new", refuse)
    with running() as address, pytest.raises(AdapterStartError) as error:
        open_adapter(f"kafka-broker:{address}")
    assert re.fullmatch(rf"creating the topic wireproof-\w+-1 .*{line}", str(error.value))


def test_a_broker_that_names_itself_by_another_address_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(cluster: Any, request: Any) -> Any:
        reply = replies.metadata(cluster, request)
        for one in reply["brokers"]:
            one["port"] = 1
        return reply

    answering(monkeypatch, MetadataRequest, lambda _: elsewhere)
    with running() as address, pytest.raises(AdapterStartError) as error:
        open_adapter(f"kafka-broker:{address}")
    line = (
        rf"the broker at {address} names itself 127\.0\.0\.1:1 \(advertised\.listeners\), and "
        r"127\.0\.0\.1:1: .*Connection refused"
    )
    assert re.fullmatch(line, str(error.value))


def test_a_topic_that_exists_already_is_named_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_servers.secrets, "token_hex", lambda _: TOKEN)
    name = f"wireproof-{TOKEN}-1"
    with running() as address, RawClient(address) as client:
        client.create(name, 1, {})
        with pytest.raises(AdapterStartError, match=f"names of this run exist already: {name}$"):
            open_adapter(f"kafka-broker:{address}")
        assert client.end(name, 0) == 0
        assert client.delete(name) == [ErrorCode.NONE]


def test_the_topics_of_others_stay(tmp_path: Path) -> None:
    with running() as address, RawClient(address) as client:
        for name in ("wireproof-", "wireproof-ffffffffffffffff-1", "orders"):
            client.create(name, 1, {})
        spec = f"kafka-broker:{address}"
        ended = judged_and_interrupted(spec, CASES, tmp_path, JUDGED, lambda: None)
        assert ended.code == 0
        assert client.delete("wireproof-", "wireproof-ffffffffffffffff-1", "orders") == [ErrorCode.NONE] * 3


# --- what a run leaves: nothing, or a line with its prefix; `adapters clean` deletes it ---


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


def begun(broker: Broker, folder: Path) -> subprocess.Popen[str]:
    """Begin a check, and wait until some cases have passed."""
    events = folder / "run.jsonl"
    check = started(broker.spec, ["kafka.log/mixed/append/**"], "--out", str(events))
    wait_until_passed(check, events, JUDGED)
    return check


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_interrupted_with_all_its_processes_leaves_nothing(
    number: int, code: int, broker: Broker, tmp_path: Path
) -> None:
    check = begun(broker, tmp_path)
    os.killpg(check.pid, number)
    check.communicate(timeout=60)
    assert check.returncode == code
    assert broker.topics() == []


def test_after_a_second_interrupt_the_topics_are_deleted_all_the_same(broker: Broker, tmp_path: Path) -> None:
    check = begun(broker, tmp_path)
    os.killpg(check.pid, signal.SIGINT)
    time.sleep(0.1)
    os.killpg(check.pid, signal.SIGINT)
    check.communicate(timeout=60)
    assert check.returncode == 130
    assert broker.topics() == []


def test_what_a_killed_run_left_is_named_by_the_next_one_and_deleted_by_its_number(
    broker: Broker, tmp_path: Path
) -> None:
    check = begun(broker, tmp_path)
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
