"""The suite finds the fault of each faulty server of Iggy, by a case with a name: `iggy_kill_table`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.live.iggy_kill_table import KILLED_BY
from tests.live.judging import Judged, judged
from tests.live.mock_iggy.faults import FAULTS
from tests.live.mock_iggy.server import running

pytestmark = pytest.mark.live

NO_FAULT = ""
ENDS = "dies-of-cut-packet"
"""A server that is not there any more after its case."""

PASSES = {"pass", "pass-unclassified", "info"}

CASES = ("iggy.send/{0}/**", "iggy.poll/{0}/polling/**")
"""The cases that a server of a revision is asked."""

VERSIONS = {"0.5.0": "0.7", "0.6.0": "0.8", "0.7.0": "0.9", "0.8.0": "0.9"}
"""The revision of a send by the version of a server."""


@pytest.fixture(scope="module")
def addresses() -> Iterator[Mapping[str, str]]:
    with ExitStack() as stack:
        yield {fault: stack.enter_context(running(fault)).address for fault in (NO_FAULT, *FAULTS)}


@pytest.fixture(scope="module")
def right_run(addresses: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return judged_as("0.7", addresses[NO_FAULT], tmp_path_factory.mktemp("right"))


def judged_as(revision: str, address: str, folder: Path) -> Judged:
    cases = [pattern.format(revision) for pattern in CASES]
    return judged([address], folder, cases=cases, kind="iggy-server")


@pytest.fixture(scope="module")
def faulty_runs(
    addresses: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Judged]:
    """Judge the faulty servers together by all these cases, and the one that ends by its own case."""
    others = [fault for fault in KILLED_BY if fault != ENDS]
    together = _judged(others, addresses, tmp_path_factory.mktemp("faulty"))
    alone = _judged([ENDS], addresses, tmp_path_factory.mktemp("ends"))
    return {**dict.fromkeys(others, together), ENDS: alone}


def _judged(faults: Sequence[str], addresses: Mapping[str, str], folder: Path) -> Judged:
    cases = sorted({KILLED_BY[fault].case for fault in faults})
    return judged([addresses[fault] for fault in faults], folder, cases=cases, kind="iggy-server")


def test_every_fault_has_a_case() -> None:
    assert sorted(KILLED_BY) == sorted(FAULTS)


def test_no_case_kills_two_servers() -> None:
    assert len({kill.case for kill in KILLED_BY.values()}) == len(KILLED_BY)


def test_the_server_without_a_fault_passes_every_decode_case(
    addresses: Mapping[str, str], right_run: Judged
) -> None:
    verdicts = right_run.verdicts[addresses[NO_FAULT]]
    assert {kill.case for kill in KILLED_BY.values()} <= verdicts.keys()
    assert not departures(verdicts), right_run.output


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_of_each_version_is_asked_the_cases_of_its_revision(version: str, tmp_path: Path) -> None:
    with running(version=version) as server:
        address = server.address
        run = judged_as(VERSIONS[version], address, tmp_path)
    verdicts = run.verdicts[address]
    assert {"iggy.send", "iggy.poll"} == {
        case.split("/")[0] for case, one in verdicts.items() if one == "pass"
    }
    assert not departures(verdicts), run.output


def departures(verdicts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the verdicts that no right server gets; encode cases have no request that asks for them."""
    asked = {
        case: verdict
        for case, verdict in verdicts.items()
        if "encode/" not in case and not case.endswith("-written")
    }
    return {case: verdict for case, verdict in asked.items() if verdict not in PASSES}


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_server(
    fault: str, addresses: Mapping[str, str], faulty_runs: Mapping[str, Judged]
) -> None:
    kill, run = KILLED_BY[fault], faulty_runs[fault]
    assert run.verdicts[addresses[fault]][kill.case] == kill.verdict, run.output
    assert run.code != 0
