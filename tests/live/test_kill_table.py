"""The suite finds the fault of each faulty broker, client and server, by a case with a name.

The case is in the table of the faults, and passes where there is no fault.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.live.clients.faulty import BATCH, CONSUMERS, NO_FAULT, PRODUCERS
from tests.live.judging import FINDINGS, PASSES, Judged, judged
from tests.live.mock_broker.faults import LOG, TOPICS
from tests.live.mock_broker.server import PLAIN, Kind, restartable, running
from tests.live.mock_iggy import faults as iggy_faults
from tests.live.mock_iggy import http, server
from tests.support import goldens
from wireproof import check
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases.case import Case
from wireproof.judge.judge import judge
from wireproof.live.kafka_broker.worker import opened
from wireproof.live.kafka_client.claims import hello_of_client
from wireproof.live.kafka_client.consume_case import Consumers
from wireproof.live.kafka_client.produce_case import Producers
from wireproof.live.kafka_client.program import parse_spec
from wireproof.live.loopback_broker import replies

pytestmark = pytest.mark.live

RIGHT: Final = ""
"""The name of the server without a fault."""


Started = Callable[[str], AbstractContextManager[str]]
"""Starts the server with a fault, and gives its address."""

TOKEN: Final = "0123456789abcdef"

AT_ONCE: Final = 6
"""The number of faulty ones that are judged at once: of those that stall, each is waited for."""


def right_one(
    started: Started, cases: Sequence[str], folder: Path, kind: str
) -> tuple[Judged, Mapping[str, str]]:
    """Check the server without a fault in one run; return it and its verdicts."""
    with started(RIGHT) as address:
        run = judged([address], folder, cases=cases, kind=kind)
    return run, run.verdicts[address]


def each_by_its_case(started: Started, kills: Mapping[str, str], kind: str) -> Mapping[str, str]:
    """Return the verdict of each faulty server on the case that is to kill it."""

    def verdict(fault: str) -> str:
        with started(fault) as address:
            (event,) = check(f"{kind}:{address}", [kills[fault]], derived=False)
        return event.verdict

    return of_each(verdict, kills)


def of_each(verdict: Callable[[str], str], faults: Iterable[str]) -> Mapping[str, str]:
    """Return what a function says of each fault, some at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(pool.map(lambda fault: (fault, verdict(fault)), faults))


# --- brokers ---

KINDS: Final = {"expiry": Kind(expiring=True), "down-conversion": Kind(converting=True)}
"""The topics of cases whose brokers need more than others."""

CHANGED: Final = {"appends-half-of-refused", "refusal-cuts-log", "stores-refused"}
"""The faults by which a refusal changes the log: they fail, whatever the level of the case."""


@pytest.mark.parametrize("topic", TOPICS)
def test_brokers(topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A record that may not end a wait is in the log for a moment, before one that may.
    monkeypatch.setattr(replies, "LOOK_SECONDS", 0.0002)
    kills = {name: f"{LOG}/{topic}/{case}" for name, (case, _) in TOPICS[topic].items()}

    def started(fault: str) -> AbstractContextManager[str]:
        if topic == "restart":
            return restartable(tmp_path, fault or None)
        return running(fault or None, kind=KINDS.get(topic, PLAIN))

    cases = sorted(set(kills.values()))
    run, verdicts = right_one(started, cases, tmp_path, "kafka-broker")
    assert verdicts == dict.fromkeys(cases, "pass"), run.output
    by_id = goldens.load().by_id

    def verdict(fault: str) -> str:
        """Ask in this process: most of the time of a case would be the start of another one."""
        with started(fault) as address, opened(f"kafka-broker:{address}", TOKEN) as service:
            case = prepare_case(by_id[kills[fault]], service.hello)
            assert isinstance(case, Case)
            return judge(case, service.answer(request_for(case, "1")), hello=service.hello).name

    found = of_each(verdict, kills)
    wanted = {name: {"fail"} if name in CHANGED else FINDINGS for name in kills}
    assert {name: verdict for name, verdict in found.items() if verdict not in wanted[name]} == {}


@pytest.mark.parametrize("topic", ["down-conversion", "expiry", "fetch", "list-offsets"])
def test_the_right_broker_passes_every_case_of_a_topic(topic: str, tmp_path: Path) -> None:
    with running(kind=KINDS.get(topic, PLAIN)) as address:
        run = judged([address], tmp_path, cases=[f"{LOG}/{topic}/*"])
    assert (run.code, set(run.verdicts[address].values()) - {"pass", "info"}) == (0, set()), run.output


# --- clients ---


@pytest.mark.parametrize(
    ("side", "table"),
    [("side=consume fetch=12", CONSUMERS), ("side=produce lost=answers", PRODUCERS)],
    ids=["consumers", "producers"],
)
def test_clients(side: str, table: Mapping[str, tuple[str, type[Any]]], tmp_path: Path) -> None:
    command = f"{side} {sys.executable} -m tests.live.clients.faulty"
    cases = sorted({case for case, _ in table.values()})
    right = f"{command} {NO_FAULT}"
    run = judged([right], tmp_path, cases=cases, kind="kafka-client")
    assert (run.code, sorted(run.verdicts[right])) == (0, cases), run.output
    assert set(run.verdicts[right].values()) <= PASSES - {"info"}, run.output
    hello = hello_of_client(*parse_spec(f"kafka-client:{right}"), 1)
    by_id = {case.id: prepare_case(case, hello) for case in goldens.load().cases if case.id in cases}

    def verdict(fault: str) -> str:
        options, words = parse_spec(f"kafka-client:{command} {fault}")
        case = by_id[table[fault][0]]
        assert isinstance(case, Case)
        encode, decode = Producers(options, words).encode, Consumers(options, words).decode
        outcome = (encode if case.op == "encode" else decode)(request_for(case, "1"))
        return judge(case, outcome, hello=hello).name

    found = of_each(verdict, table)
    assert {name: verdict for name, verdict in found.items() if verdict not in FINDINGS} == {}


def test_a_transactional_producer_may_ask_for_an_id_without_a_transaction_first() -> None:
    """As kafkajs does; the batch has the id of the transaction."""
    asks_twice = f"{sys.executable} -m tests.live.clients.unusual asks-for-two-ids"
    options, words = parse_spec(f"kafka-client:side=produce {asks_twice}")
    assert hello_of_client(options, words, 1).revisions["kafka.batch/v2"].features[-1:] == ("transactional",)
    name = f"{BATCH}/produce/encode-transactional"
    (case,) = (one for one in goldens.load().cases if one.id == name)
    assert judge(case, Producers(options, words).encode(request_for(case, "1"))).name == "pass"


# --- servers of Iggy ---

CASES: Final = ("iggy.send/{0}/**", "iggy.poll/{0}/polling/**")
"""The cases that a server of a revision is asked."""

VERSIONS: Final = {"0.5.0": "0.7", "0.6.0": "0.8", "0.7.0": "0.9", "0.8.0": "0.9"}
"""The revision of a send by the version of a server."""

JSON: Final = "iggy.json.send/0.7"
JSON_CASES: Final = [f"{JSON}/{topic}/*" for topic in ("headers", "id", "send", "text")]
"""Large bodies are left out: the mock writes them slower than their time limit."""


@contextmanager
def iggy_at(fault: str, version: str = "0.5.0") -> Iterator[str]:
    with server.running(fault, version) as one:
        yield one.address


@contextmanager
def iggy_over_http(fault: str) -> Iterator[str]:
    with http.running(fault) as one:
        yield f"http://{one.address}"
        assert one.streams == {}


def departures(verdicts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the verdicts that no right server gets; encode cases have no request that asks for them."""
    return {
        case: one
        for case, one in verdicts.items()
        if one not in PASSES and "encode/" not in case and not case.endswith("-written")
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_an_iggy_server_of_each_version_passes_the_cases_of_its_revision(
    version: str, tmp_path: Path
) -> None:
    cases = [pattern.format(VERSIONS[version]) for pattern in CASES]
    started = partial(iggy_at, version=version)
    run, verdicts = right_one(started, cases, tmp_path, "iggy-server")
    passed = {case.split("/")[0] for case, one in verdicts.items() if one == "pass"}
    assert passed == {"iggy.send", "iggy.poll"}
    assert departures(verdicts) == {}, run.output


def test_iggy_servers() -> None:
    kills = {name: case for name, (case, _, _) in iggy_faults.FAULTS.items()}
    assert len(set(kills.values())) == len(kills), "no case kills two servers"
    found = each_by_its_case(iggy_at, kills, "iggy-server")
    assert found == {name: verdict for name, (_, verdict, _) in iggy_faults.FAULTS.items()}


def test_iggy_servers_over_http(tmp_path: Path) -> None:
    kills = {name: f"{JSON}/{case}" for name, (case, _) in http.FAULTS.items()}
    assert len(set(kills.values())) == len(kills), "no case kills two servers"
    run, verdicts = right_one(iggy_over_http, JSON_CASES, tmp_path, "iggy-server")
    assert (run.code, departures(verdicts)) == (0, {}), run.output
    assert {verdicts[case] for case in kills.values()} == {"pass"}
    assert each_by_its_case(iggy_over_http, kills, "iggy-server") == dict.fromkeys(kills, "fail")
