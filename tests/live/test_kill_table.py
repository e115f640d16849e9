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


def topic_of(case: str) -> str:
    """The third part of the id: brokers are judged by the cases of the topic that kills them."""
    return case.split("/")[2]


TOPICS = sorted({topic_of(case) for case in KILLED_BY.values()})


@pytest.fixture(scope="module")
def addresses() -> Iterator[Mapping[str, str]]:
    with ExitStack() as stack:
        yield {fault: stack.enter_context(running(fault or None)) for fault in (NO_FAULT, *FAULTS)}


@pytest.fixture(scope="module")
def runs(addresses: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Judged]:
    return {topic: _judged(topic, addresses, tmp_path_factory) for topic in TOPICS}


def _judged(topic: str, addresses: Mapping[str, str], folders: pytest.TempPathFactory) -> Judged:
    faults = [fault for fault, case in KILLED_BY.items() if topic_of(case) == topic]
    cases = sorted({KILLED_BY[fault] for fault in faults})
    asked = [addresses[fault] for fault in (NO_FAULT, *faults)]
    return judged(asked, folders.mktemp(topic), cases=cases)


def verdict(runs: Mapping[str, Judged], addresses: Mapping[str, str], fault: str) -> str:
    case = KILLED_BY[fault]
    return runs[topic_of(case)].verdicts[addresses[fault]][case]


def test_every_fault_has_a_case() -> None:
    assert sorted(KILLED_BY) == sorted(FAULTS)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_broker_without_a_fault_passes_every_case(
    topic: str, addresses: Mapping[str, str], runs: Mapping[str, Judged]
) -> None:
    verdicts = runs[topic].verdicts[addresses[NO_FAULT]]
    wanted = {case for case in KILLED_BY.values() if topic_of(case) == topic}
    assert verdicts == dict.fromkeys(wanted, "pass"), runs[topic].output


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_broker(
    fault: str, addresses: Mapping[str, str], runs: Mapping[str, Judged]
) -> None:
    assert verdict(runs, addresses, fault) in FINDINGS


@pytest.mark.parametrize("fault", ["appends-half-of-refused", "refusal-cuts-log", "stores-refused"])
def test_a_refusal_that_changed_the_log_fails_whatever_the_level_of_the_case(
    fault: str, addresses: Mapping[str, str], runs: Mapping[str, Judged]
) -> None:
    assert verdict(runs, addresses, fault) == "fail"
