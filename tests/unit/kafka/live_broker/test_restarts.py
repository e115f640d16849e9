"""Restarts between cases: one for all that wait, and none while another case is asked."""

import shlex
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from wireproof.live.kafka_broker.cluster import RestartError, Restarts

SECONDS = 60


class Cluster:
    """A cluster that is back after a restart, or is not."""

    address = "127.0.0.1:9092"

    def __init__(self, back: bool = True) -> None:
        self.back = back

    def returns(self) -> bool:
        return self.back


def restarts(
    folder: Path, *, back: bool = True, code: str = "open(sys.argv[1], 'a').write('x')"
) -> tuple[Restarts, list[float]]:
    """Restarts by a command that writes a character into a file of the folder, and the times of each."""
    command = shlex.join([sys.executable, "-c", f"import sys; {code}", str(folder / "restarts")])
    times: list[float] = []
    cluster: Any = Cluster(back)
    return Restarts(cluster, command, times.append), times


def number(folder: Path) -> int:
    return len((folder / "restarts").read_text()) if (folder / "restarts").exists() else 0


def test_one_restart_serves_all_cases_that_wait_and_none_is_asked_beside_it(tmp_path: Path) -> None:
    ours, times = restarts(tmp_path)
    begun, may_end = Event(), Event()

    def asked() -> int:
        with ours.case(restarts=False):
            begun.set()
            assert may_end.wait(SECONDS)
            return number(tmp_path)

    def restarting() -> int:
        with ours.case(restarts=True):
            ours.restart()
            return number(tmp_path)

    with ThreadPoolExecutor(4) as pool:
        first: Future[int] = pool.submit(asked)
        assert begun.wait(SECONDS)
        others = [pool.submit(restarting) for _ in range(3)]
        may_end.set()
        assert first.result(SECONDS) == 0
        assert [one.result(SECONDS) for one in others] == [1, 1, 1]
    with ours.case(restarts=False):
        assert len(times) == number(tmp_path) == 1


def test_a_case_may_restart_more_than_once(tmp_path: Path) -> None:
    ours, times = restarts(tmp_path)
    with ours.case(restarts=True):
        ours.restart()
        ours.restart()
    assert len(times) == number(tmp_path) == 2


@pytest.mark.parametrize(
    ("back", "code", "text"),
    [
        (
            True,
            "sys.exit('no such container')",
            "the command that starts the broker again failed: no such container",
        ),
        (False, "pass", "nothing answers at 127.0.0.1:9092 after the broker was started again"),
    ],
)
def test_a_restart_that_fails_is_one_line_and_the_next_case_is_asked(
    back: bool, code: str, text: str, tmp_path: Path
) -> None:
    ours, times = restarts(tmp_path, back=back, code=code)
    with pytest.raises(RestartError, match=text), ours.case(restarts=True):
        ours.restart()
    with ours.case(restarts=False):
        assert times == []


def test_a_command_that_does_not_exist_is_one_line() -> None:
    cluster: Any = Cluster()
    ours = Restarts(cluster, "/no/such/command", lambda _: None)
    with pytest.raises(RestartError, match="No such file"), ours.case(restarts=True):
        ours.restart()
