"""Servers of Iggy over HTTP: the right one passes the JSON sends, and each faulty one is killed by a case."""

from pathlib import Path

import pytest

from tests.live.judging import judged
from tests.live.mock_iggy.http import FAULTS, running

pytestmark = pytest.mark.live

SEND = "iggy.json.send/0.7"
TOPICS = ("headers", "id", "send", "text")
"""Large bodies are left out: the mock writes them slower than their time limit."""

KILLED_BY = {
    "drops-headers": "headers/one",
    "loses-earlier": "send/id-absent",
    "reorders-messages": "text/payloads",
    "stores-nothing": "send/balanced",
    "stores-other-payload": "send/captured",
}
"""The case that kills each faulty server."""


def test_every_fault_has_a_case_of_its_own() -> None:
    assert sorted(KILLED_BY) == sorted(FAULTS)
    assert len(set(KILLED_BY.values())) == len(FAULTS)


def test_the_right_server_passes_and_keeps_no_stream(tmp_path: Path) -> None:
    with running() as server:
        address = f"http://{server.address}"
        run = judged([address], tmp_path, cases=[f"{SEND}/{topic}/*" for topic in TOPICS], kind="iggy-server")
        assert server.streams == {}
    asked = {case: one for case, one in run.verdicts[address].items() if "encode/" not in case}
    assert run.code == 0, run.output
    assert set(asked.values()) <= {"pass", "pass-unclassified", "info"}
    assert asked[f"{SEND}/headers/one"] == "pass"


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_server(fault: str, tmp_path: Path) -> None:
    case = f"{SEND}/{KILLED_BY[fault]}"
    with running(fault) as server:
        address = f"http://{server.address}"
        run = judged([address], tmp_path, cases=[case], kind="iggy-server")
    assert run.verdicts[address] == {case: "fail"}, run.output
    assert run.code == 1
