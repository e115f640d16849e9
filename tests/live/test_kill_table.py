"""The suite finds the fault of each faulty broker, by a case with a name: `kill_table.KILLED_BY`."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.live.judging import FINDINGS, Judged, judged
from tests.live.kill_table import KILLED_BY
from tests.live.mock_broker.faults import FAULTS
from tests.live.mock_broker.server import running

pytestmark = pytest.mark.live

NO_FAULT = ""


@pytest.fixture(scope="module")
def addresses() -> Iterator[Mapping[str, str]]:
    with ExitStack() as stack:
        yield {fault: stack.enter_context(running(fault or None)) for fault in (NO_FAULT, *FAULTS)}


@pytest.fixture(scope="module")
def run(addresses: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Judged:
    cases = sorted(set(KILLED_BY.values()))
    return judged(list(addresses.values()), tmp_path_factory.mktemp("run"), cases=cases)


def test_every_fault_has_a_case() -> None:
    assert sorted(KILLED_BY) == sorted(FAULTS)


def test_the_broker_without_a_fault_passes_every_case(addresses: Mapping[str, str], run: Judged) -> None:
    verdicts = run.verdicts[addresses[NO_FAULT]]
    assert verdicts == dict.fromkeys(KILLED_BY.values(), "pass"), run.output


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_broker(fault: str, addresses: Mapping[str, str], run: Judged) -> None:
    assert run.verdicts[addresses[fault]][KILLED_BY[fault]] in FINDINGS


@pytest.mark.parametrize("fault", ["appends-half-of-refused", "refusal-cuts-log", "stores-refused"])
def test_a_refusal_that_changed_the_log_fails_whatever_the_level_of_the_case(
    fault: str, addresses: Mapping[str, str], run: Judged
) -> None:
    assert run.verdicts[addresses[fault]][KILLED_BY[fault]] == "fail"
