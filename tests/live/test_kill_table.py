"""The suite finds the fault of each faulty broker, by a case with a name: `kill_table.KILLED_BY`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cache

import pytest

from tests.live.judging import FINDINGS, Judged, judged
from tests.live.kill_table import KILLED_BY
from tests.live.mock_broker.faults import FAULTS
from tests.live.mock_broker.server import PLAIN, Kind, restartable, running

pytestmark = pytest.mark.live

NO_FAULT = ""

KINDS = {"expiry": Kind(expiring=True), "down-conversion": Kind(converting=True)}
"""The topics of cases whose brokers need more than others."""


def topic_of(case: str) -> str:
    """The third part of the id: brokers are judged by the cases of the topic that kills them."""
    return case.split("/")[2]


TOPICS = sorted({topic_of(case) for case in KILLED_BY.values()})


FAULTS_OF = {
    topic: [fault for fault, case in KILLED_BY.items() if topic_of(case) == topic] for topic in TOPICS
}

Addresses = Mapping[str, Mapping[str, str]]
"""The brokers of each topic by their fault; one of them has none."""


Runs = Callable[[str], Judged]
"""The run of a topic, which is judged when a test asks for it first."""


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    folder = tmp_path_factory.mktemp("properties")

    def started(topic: str, fault: str) -> AbstractContextManager[str]:
        if topic == "restart":
            return restartable(folder, fault or None)
        return running(fault or None, kind=KINDS.get(topic, PLAIN))

    with ExitStack() as stack:
        yield {
            topic: {fault: stack.enter_context(started(topic, fault)) for fault in (NO_FAULT, *faults)}
            for topic, faults in FAULTS_OF.items()
        }


@pytest.fixture(scope="module")
def runs(addresses: Addresses, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return cache(lambda topic: _judged(topic, addresses, tmp_path_factory))


def _judged(topic: str, addresses: Addresses, folders: pytest.TempPathFactory) -> Judged:
    cases = sorted({KILLED_BY[fault] for fault in FAULTS_OF[topic]})
    return judged(list(addresses[topic].values()), folders.mktemp(topic), cases=cases)


def verdict(runs: Runs, addresses: Addresses, fault: str) -> str:
    case = KILLED_BY[fault]
    topic = topic_of(case)
    return runs(topic).verdicts[addresses[topic][fault]][case]


def test_every_fault_has_a_case() -> None:
    assert sorted(KILLED_BY) == sorted(FAULTS)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_broker_without_a_fault_passes_every_case(topic: str, addresses: Addresses, runs: Runs) -> None:
    verdicts = runs(topic).verdicts[addresses[topic][NO_FAULT]]
    wanted = {case for case in KILLED_BY.values() if topic_of(case) == topic}
    assert verdicts == dict.fromkeys(wanted, "pass"), runs(topic).output


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_broker(fault: str, addresses: Addresses, runs: Runs) -> None:
    assert verdict(runs, addresses, fault) in FINDINGS


@pytest.mark.parametrize("fault", ["appends-half-of-refused", "refusal-cuts-log", "stores-refused"])
def test_a_refusal_that_changed_the_log_fails_whatever_the_level_of_the_case(
    fault: str, addresses: Addresses, runs: Runs
) -> None:
    assert verdict(runs, addresses, fault) == "fail"
