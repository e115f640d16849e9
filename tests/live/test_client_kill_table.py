"""The suite finds the fault of each faulty client, by a case with a name: `client_kill_table`."""

import sys
from collections.abc import Mapping

import pytest

from tests.live.client_kill_table import KILLED_BY, PRODUCE, PRODUCERS_KILLED_BY
from tests.live.clients import faulty, faulty_producer
from tests.live.judging import FINDINGS, judged
from tests.support import goldens
from wireproof.adapters.contract import Hello
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases.case import Case
from wireproof.judge.judge import judge
from wireproof.live.kafka_client.claims import hello_of_client
from wireproof.live.kafka_client.consume_case import Consumers
from wireproof.live.kafka_client.produce_case import Producers
from wireproof.live.kafka_client.program import ClientOptions, parse_spec

pytestmark = pytest.mark.live

CONSUMER = f"side=consume fetch=12 {sys.executable} -m tests.live.clients.faulty"
PRODUCER = f"side=produce lost=answers {sys.executable} -m tests.live.clients.faulty_producer"

NOBODY = faulty.NO_FAULT


def parsed(command: str, fault: str) -> tuple[ClientOptions, tuple[str, ...]]:
    return parse_spec(f"kafka-client:{command} {fault}")


@pytest.fixture(scope="module")
def hellos() -> Mapping[str, Hello]:
    """The claims of the programs without a fault, which those with one have too."""
    return {command: hello_of_client(*parsed(command, NOBODY), 1) for command in (CONSUMER, PRODUCER)}


def verdict(command: str, fault: str, name: str, hello: Hello) -> str:
    options, words = parsed(command, fault)
    (case,) = (one for one in goldens.load().cases if one.id == name)
    prepared = prepare_case(case, hello)
    assert isinstance(prepared, Case)
    request = request_for(prepared, "1")
    programs = Producers(options, words) if case.op == "encode" else Consumers(options, words)
    outcome = programs.encode(request) if isinstance(programs, Producers) else programs.decode(request)
    return judge(prepared, outcome, hello=hello).name


@pytest.mark.parametrize(
    ("faults", "table"),
    [(faulty.FAULTS, KILLED_BY), (faulty_producer.FAULTS, PRODUCERS_KILLED_BY)],
    ids=["consumers", "producers"],
)
def test_every_fault_has_a_case(faults: Mapping[str, type], table: Mapping[str, str]) -> None:
    assert sorted(table) == sorted(faults)


@pytest.mark.parametrize(
    ("command", "table"),
    [(CONSUMER, KILLED_BY), (PRODUCER, PRODUCERS_KILLED_BY)],
    ids=["consumer", "producer"],
)
def test_the_client_without_a_fault_passes_every_case(
    command: str, table: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    cases = sorted(set(table.values()))
    run = judged([f"{command} {NOBODY}"], tmp_path_factory.mktemp("sound"), cases=cases, kind="kafka-client")
    assert run.code == 0, run.output
    assert sorted(run.verdicts[f"{command} {NOBODY}"]) == cases
    assert set(run.verdicts[f"{command} {NOBODY}"].values()) <= {"pass", "pass-unclassified"}, run.output


def test_a_transactional_producer_may_ask_for_an_id_without_a_transaction_first() -> None:
    """As kafkajs does; the batch has the id of the transaction."""
    asks_twice = f"{sys.executable} -m tests.live.clients.asks_for_two_ids"
    options, words = parse_spec(f"kafka-client:side=produce {asks_twice}")
    assert hello_of_client(options, words, 1).revisions["kafka.batch/v2"].features[-1:] == ("transactional",)
    (case,) = (one for one in goldens.load().cases if one.id == f"{PRODUCE}/encode-transactional")
    outcome = Producers(options, words).encode(request_for(case, "1"))
    assert judge(case, outcome).name == "pass"


@pytest.mark.parametrize("fault", KILLED_BY)
def test_its_case_kills_a_faulty_consumer(fault: str, hellos: Mapping[str, Hello]) -> None:
    assert verdict(CONSUMER, fault, KILLED_BY[fault], hellos[CONSUMER]) in FINDINGS


@pytest.mark.parametrize("fault", PRODUCERS_KILLED_BY)
def test_its_case_kills_a_faulty_producer(fault: str, hellos: Mapping[str, Hello]) -> None:
    assert verdict(PRODUCER, fault, PRODUCERS_KILLED_BY[fault], hellos[PRODUCER]) in FINDINGS
