"""`serve broker`: the loopback broker that a user starts to try a check on."""

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from wireproof.live.loopback_broker.faults import BROKER, FAULTS

pytestmark = pytest.mark.live

CASES = [word for name in ("count-1", "mixed-none", "two-none") for word in ("--run", f"**/append/{name}")]


def wireproof_ended(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wireproof", *words], capture_output=True, text=True, check=False, timeout=300
    )


@contextmanager
def served(*words: str) -> Iterator[list[str]]:
    """The words of the printed check; the broker ends with Ctrl-C, and says nothing more."""
    child = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "serve", "broker", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        head = child.stdout.readline()
        assert head.startswith("broker on 127.0.0.1:")
        yield shlex.split(child.stdout.readline())
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        assert (child.returncode, out, err) == (0, "", "")
    finally:
        child.kill()
        child.wait()


def test_the_sound_broker_conforms() -> None:
    with served() as (program, *check, run, pattern):
        assert (program, check[0], run, pattern) == ("wireproof", "check", "--run", BROKER.cases)
        done = wireproof_ended(*check, *CASES)
    assert done.returncode == 0, done.stdout
    assert "conforms" in done.stdout


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("stores-wrong-crc", "crc-mismatch"),
        ("drops-data", "records are in the log"),
        ("shifts-timestamps", "imestamp"),
    ],
)
def test_a_fault_that_is_named_is_found_by_the_printed_command(fault: str, said: str) -> None:
    with served(fault) as (_, *check, _, _):
        done = wireproof_ended(*check, *CASES)
    assert done.returncode == 1
    assert said in done.stdout


def test_every_fault_is_described_in_a_sentence() -> None:
    assert list(BROKER.faults) == sorted(FAULTS)
    assert all(text.endswith(".") for text in BROKER.faults.values())


def test_a_wrong_fault_lists_the_names() -> None:
    done = wireproof_ended("serve", "broker", "stores-wrong-crcs")
    assert done.returncode == 2
    assert f"did you mean stores-wrong-crc? faults: {', '.join(FAULTS)}" in done.stderr


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = wireproof_ended("serve", "broker", "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be used: " in done.stderr
    assert "None" not in done.stderr
