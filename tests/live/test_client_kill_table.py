"""The suite finds the fault of each faulty client, by a case with a name: `client_kill_table.KILLED_BY`."""

import sys
from collections.abc import Mapping

import pytest

from tests.live.client_kill_table import KILLED_BY
from tests.live.clients.faulty import FAULTS, NO_FAULT
from tests.live.judging import FINDINGS, judged

pytestmark = pytest.mark.live

CASES = sorted(set(KILLED_BY.values()))


def program(fault: str) -> str:
    return f"side=consume fetch=12 {sys.executable} -m tests.live.clients.faulty {fault}"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    name = program(NO_FAULT)
    return judged([name], tmp_path_factory.mktemp("sound"), cases=CASES, kind="kafka-client").verdicts[name]


def test_every_fault_has_a_case() -> None:
    assert sorted(KILLED_BY) == sorted(FAULTS)


def test_the_client_without_a_fault_passes_every_case(sound: Mapping[str, str]) -> None:
    assert sound == dict.fromkeys(CASES, "pass")


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_client(fault: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    name, case = program(fault), KILLED_BY[fault]
    run = judged([name], tmp_path_factory.mktemp(fault), cases=[case], kind="kafka-client")
    assert run.verdicts[name][case] in FINDINGS, run.output
