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

PASSES = {"pass", "pass-unclassified"}


@pytest.fixture(scope="module")
def addresses() -> Iterator[Mapping[str, str]]:
    with ExitStack() as stack:
        yield {fault: stack.enter_context(running(fault)).address for fault in (NO_FAULT, *FAULTS)}


@pytest.fixture(scope="module")
def right_run(addresses: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Judged:
    cases = ["iggy.send/0.7/**"]
    return judged([addresses[NO_FAULT]], tmp_path_factory.mktemp("right"), cases=cases, kind="iggy-server")


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
    others = {case: verdict for case, verdict in verdicts.items() if verdict not in PASSES}
    assert set(others.values()) == {"unsupported"}, right_run.output
    assert all("encode/" in case for case in others)


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_server(
    fault: str, addresses: Mapping[str, str], faulty_runs: Mapping[str, Judged]
) -> None:
    kill, run = KILLED_BY[fault], faulty_runs[fault]
    assert run.verdicts[addresses[fault]][kill.case] == kill.verdict, run.output
    assert run.code != 0
