"""What a broker is asked: cases with steps where it lacks something, and each version of two requests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import AddPartitionsToTxnRequest, EndTxnRequest, ProduceRequest

from tests.live.judging import Judged, judged
from tests.live.mock_broker import variants
from tests.live.mock_broker.faults import LOG
from tests.live.mock_broker.server import Kind, answering, running
from tests.live.mock_broker.variants import PRODUCER_AGE
from wireproof.live.loopback_broker import replies
from wireproof.live.loopback_broker.cluster import Answer, LoopbackCluster

pytestmark = pytest.mark.live

IDEMPOTENCE = "kafka.log/mixed/idempotence/duplicate"
TRANSACTION = "kafka.log/mixed/transaction/commit"
SECOND = "kafka.log/mixed/transaction-v2/commit"
FETCH = "kafka.log/mixed/fetch/deleted"


EMPTY = "kafka.log/mixed/fetch/empty-log"
EXPIRY = "kafka.log/mixed/expiry/sequence-used"
TRANSACTIONAL_ID = "kafka.log/mixed/expiry/transactional-id-used"
OLD_FETCH = "kafka.log/mixed/down-conversion/v0"

FORGETFUL = Kind(expiring=True)


def verdicts(folder: Path, *cases: str, fault: str | None = None, kind: Kind = FORGETFUL) -> dict[str, str]:
    with running(fault, kind=kind) as address:
        return dict(judged([address], folder, cases=cases).verdicts[address])


def test_a_broker_without_transactions_is_asked_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(replies.APIS, AddPartitionsToTxnRequest)
    found = verdicts(tmp_path, IDEMPOTENCE, TRANSACTION, SECOND, FETCH)
    assert found == {IDEMPOTENCE: "pass", TRANSACTION: "unsupported", SECOND: "unsupported", FETCH: "pass"}


@pytest.mark.parametrize(
    ("code", "name"),
    [(15, "COORDINATOR_NOT_AVAILABLE"), (53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED")],
    ids=["there is none", "not permitted"],
)
def test_a_broker_without_a_coordinator_of_transactions_is_asked_for_the_rest(
    code: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_coordinator(find_coordinator: Answer) -> Answer:
        def answer(cluster: LoopbackCluster, request: Any) -> Any:
            reply: Any = find_coordinator(cluster, request)
            for one in reply["coordinators"]:
                one |= {"error_code": code, "node_id": -1}
            return reply

        return answer

    answering(monkeypatch, FindCoordinatorRequest, no_coordinator)
    with running() as address:
        run = judged([address], tmp_path, cases=[IDEMPOTENCE, TRANSACTION, SECOND])
    assert run.verdicts[address] == {IDEMPOTENCE: "pass", TRANSACTION: "unsupported", SECOND: "unsupported"}
    said = " ".join(run.output.split())
    assert f"note: transactions are not asked for: FindCoordinator answers {name} for wireproof-" in said


@pytest.mark.parametrize("part", ["topics", "partitions"])
def test_an_answer_without_what_was_asked_for_is_a_finding(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def empty(cluster: LoopbackCluster, request: Any) -> Any:
        """Leave out a partition without records, as if the request were one of a session."""
        reply = await replies.fetch(cluster, request)
        for topic in reply["responses"]:
            topic["partitions"] = [one for one in topic["partitions"] if one["records"]]
        if part == "topics":
            reply["responses"] = [topic for topic in reply["responses"] if topic["partitions"]]
        return reply

    answering(monkeypatch, FetchRequest, lambda _: empty)
    with running() as address:
        run = judged([address], tmp_path, cases=[EMPTY])
    assert run.verdicts[address] == {EMPTY: "fail"}
    assert f"the answer has 0 {part}" in " ".join(run.output.split()), run.output


@pytest.mark.parametrize(("forgotten", "verdict"), [(1, "pass"), (9, "fail")])
def test_a_case_whose_topic_is_lost_gets_another_one(
    forgotten: int, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker without a disk that is started again has no topic of the case any more."""
    lost = list[Any]()

    def forgetful(cluster: LoopbackCluster, request: Any) -> Any:
        reply = replies.produce(cluster, request)
        (topic,) = reply["responses"]
        name = topic["name"] or topic["topic_id"]  # from Produce 13 on a topic has only its id
        if name not in lost and len(lost) < forgotten and len(cluster.topics) > 1:
            lost.append(name)
        for one in topic["partition_responses"]:
            one.update({"error_code": 3} if name in lost else {})
        return reply

    answering(monkeypatch, ProduceRequest, lambda _: forgetful)
    with running() as address:
        run = judged([address], tmp_path, cases=[IDEMPOTENCE])
    assert run.verdicts[address] == {IDEMPOTENCE: verdict}
    assert ("topic lost" in run.output) == (verdict == "fail")


@pytest.mark.parametrize(("ms", "verdict"), [(0, "fail"), (5, "pass")])
def test_a_fetch_may_wait_at_a_broker_that_reads_nothing_without(
    ms: int, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hasty(cluster: LoopbackCluster, request: Any) -> Any:
        reply = await replies.fetch(cluster, request)
        if not request.max_wait_ms:
            reply["responses"] = []
        return reply

    answering(monkeypatch, FetchRequest, lambda _: hasty)
    file = tmp_path / "client.properties"
    file.write_text(f"fetch.max.wait.ms={ms}\n")
    with running() as address:
        run = judged([f"{address}:{file}"], tmp_path, cases=[IDEMPOTENCE])
    assert run.verdicts[f"{address}:{file}"] == {IDEMPOTENCE: verdict}


def test_a_broker_with_the_first_version_of_transactions_is_asked_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(replies.APIS, EndTxnRequest, (0, 4, replies.end_transaction))
    assert verdicts(tmp_path, TRANSACTION, SECOND) == {TRANSACTION: "pass", SECOND: "unsupported"}


def test_a_broker_that_ends_in_the_middle_of_a_case_is_a_crash(tmp_path: Path) -> None:
    assert (
        verdicts(tmp_path, "kafka.log/mixed/fetch/limit-inside", fault="dies")[
            "kafka.log/mixed/fetch/limit-inside"
        ]
        == "crash"
    )


def test_a_broker_that_names_no_setting_is_not_asked_what_it_forgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variants, "EXPIRING", {})
    found = verdicts(tmp_path, EXPIRY, TRANSACTIONAL_ID, IDEMPOTENCE)
    assert found == {EXPIRY: "unsupported", TRANSACTIONAL_ID: "unsupported", IDEMPOTENCE: "pass"}


@pytest.mark.parametrize("age", [999, 19_000])
def test_a_broker_is_not_asked_for_times_that_are_too_short_or_too_long(
    age: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(variants.EXPIRING, PRODUCER_AGE, age)
    found = verdicts(tmp_path, EXPIRY, TRANSACTIONAL_ID)
    assert found == {EXPIRY: "unsupported", TRANSACTIONAL_ID: "pass"}


def test_a_broker_without_describe_configs_is_not_asked_what_it_forgets(tmp_path: Path) -> None:
    assert verdicts(tmp_path, EXPIRY, IDEMPOTENCE, kind=Kind()) == {
        EXPIRY: "unsupported",
        IDEMPOTENCE: "pass",
    }


def test_a_broker_without_old_versions_of_fetch_is_not_asked_for_them(tmp_path: Path) -> None:
    assert verdicts(tmp_path, OLD_FETCH, FETCH) == {OLD_FETCH: "unsupported", FETCH: "pass"}
    assert verdicts(tmp_path, OLD_FETCH, kind=Kind(converting=True)) == {OLD_FETCH: "pass"}


# --- versions ---


NEWEST_PRODUCE, NEWEST_FETCH = 13, 17
PAIRS: Final = [
    *((produce, NEWEST_FETCH) for produce in range(3, NEWEST_PRODUCE)),
    *((NEWEST_PRODUCE, fetch) for fetch in range(4, NEWEST_FETCH + 1)),
]
"""Each version of one request beside the newest of the other."""

ZSTD: Final = f"{LOG}/append/two-zstd"
NAMES: Final = (
    *("after-none", "compact-no-key-second-none", "crc-value", "empty", "mixed-none", "producer-1000-none"),
    *("size-none-1-above", "stamped-none", "to-gzip-from-none", "two-zstd"),
)
CASES: Final = [f"{LOG}/append/{name}" for name in NAMES]


def without_zstd(produce: int, fetch: int) -> bool:
    """KIP-110: zstd is for Produce from version 7 and Fetch from version 10 on."""
    return produce < 7 or fetch < 10


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[int, int], Mapping[str, str]]:
    folder = tmp_path_factory.mktemp("versions")
    with running() as address:
        specs = {pair: f"{address}:{written(folder, *pair)}" for pair in PAIRS}
        found: Judged = judged(list(specs.values()), folder, cases=CASES)
    assert found.code == 0, found.output
    return {pair: found.verdicts[spec] for pair, spec in specs.items()}


def written(folder: Path, produce: int, fetch: int) -> Path:
    file = folder / f"{produce}-{fetch}.properties"
    file.write_text(f"wireproof.produce.version={produce}\nwireproof.fetch.version={fetch}\n")
    return file


@pytest.mark.parametrize("pair", PAIRS, ids="produce-{0[0]}-fetch-{0[1]}".format)
def test_all_versions_give_the_same_verdicts(
    pair: tuple[int, int], run: Mapping[tuple[int, int], Mapping[str, str]]
) -> None:
    expected = dict.fromkeys(CASES, "pass") | ({ZSTD: "unsupported"} if without_zstd(*pair) else {})
    assert run[pair] == expected


@pytest.mark.parametrize("pair", [(5, 9), (NEWEST_PRODUCE, NEWEST_FETCH)])
def test_the_chosen_versions_are_sent(
    pair: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()

    def seeing(answer: Answer) -> Answer:
        def answered(cluster: Any, request: Any) -> Any:
            seen.add((request.API_KEY, request.version))
            return answer(cluster, request)

        return answered

    for kind in (ProduceRequest, FetchRequest):
        answering(monkeypatch, kind, seeing)
    with running() as address:
        judged([f"{address}:{written(tmp_path, *pair)}"], tmp_path, cases=CASES[:2])
    assert seen == {(ProduceRequest.API_KEY, pair[0]), (FetchRequest.API_KEY, pair[1])}


def test_a_version_that_the_broker_does_not_have_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(replies.APIS, ProduceRequest, (3, 9, replies.produce))
    with running() as address:
        run = judged([f"{address}:{written(tmp_path, 10, 17)}"], tmp_path, cases=CASES[:2])
    assert f"the broker at {address} has versions 3 to 9 of Produce, not 10" in run.output
