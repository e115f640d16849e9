"""A broker that dies or hangs in the middle of a run, and clusters that give no topics: one line each."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient
from kafka.protocol.metadata import MetadataRequest

from tests.broker.ground import free_port
from tests.live.judging import Interrupted, judged_and_interrupted, process_at, restartable
from tests.live.mock_broker.server import running
from tests.live.raw_client import RawClient
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import live_servers
from wireproof.adapters.registry.registry import open_adapter
from wireproof.live.loopback_broker import replies, server
from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode

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


def run_until(signal_number: int, folder: Path) -> Interrupted:
    """Check a mock broker, which gets the signal in the middle."""
    port = free_port()
    with broker_at(port) as broker:
        return checked(f"127.0.0.1:{port}", folder, lambda: broker.send_signal(signal_number))


def checked(
    address: str, folder: Path, interrupt: Callable[[], None], cases: Sequence[str] = CASES
) -> Interrupted:
    return judged_and_interrupted(f"kafka-broker:{address}", cases, folder, JUDGED, interrupt)


@pytest.mark.parametrize(
    ("number", "verdict", "reason"),
    [
        (signal.SIGKILL, "crash", r"nothing answers at 127\.0\.0\.1:\d+: .*refused"),
        (signal.SIGSTOP, "stalled", r"127\.0\.0\.1:\d+.*no answer in time"),
    ],
    ids=["dies", "hangs"],
)
def test_what_was_judged_is_kept_and_the_topics_are_named(
    number: int, verdict: str, reason: str, tmp_path: Path
) -> None:
    run = run_until(number, tmp_path)
    assert run.code == 4
    assert run.verdicts["pass"] >= JUDGED
    assert run.verdicts[verdict] >= 1
    assert run.verdicts["not-run"] >= 1
    (line,) = run.lines
    assert line.startswith("wireproof: kafka-broker:127.0.0.1:")
    assert re.search(reason, line)
    assert "topics named wireproof-" in line


@pytest.mark.parametrize(
    "cases",
    [CASES, ["kafka.log/mixed/idempotence/*", "kafka.log/mixed/transaction/*"]],
    ids=["appends", "steps"],
)
@pytest.mark.parametrize("seconds", [0.0, 3.0])
def test_a_broker_that_starts_again_is_asked_again(seconds: float, cases: list[str], tmp_path: Path) -> None:
    """It keeps nothing: the cases in flight, and those after them, get other topics."""
    port = free_port()
    with restartable(partial(broker_at, port), seconds) as restart:
        run = checked(f"127.0.0.1:{port}", tmp_path, restart, cases)
        admin = KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{port}")
        assert admin.list_topics() == []
        admin.close()
    assert (run.code, run.lines) == (0, ())
    assert set(run.verdicts) <= {"pass", "info"}


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

    monkeypatch.setattr(replies, "_check_new", refuse)
    with running() as address, pytest.raises(AdapterStartError) as error:
        open_adapter(f"kafka-broker:{address}")
    assert re.fullmatch(rf"creating the topic wireproof-\w+-1 .*{line}", str(error.value))


def test_a_broker_that_names_itself_by_another_address_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = server.ANSWERS[MetadataRequest.API_KEY]

    def elsewhere(cluster: Any, request: Any) -> Any:
        reply = metadata(cluster, request)
        for one in reply["brokers"]:
            one["port"] = 1
        return reply

    monkeypatch.setitem(server.ANSWERS, MetadataRequest.API_KEY, elsewhere)
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
        ended = checked(address, tmp_path, lambda: None)
        assert ended.code == 0
        assert client.delete("wireproof-", "wireproof-ffffffffffffffff-1", "orders") == [ErrorCode.NONE] * 3
