"""Cases with steps on mock brokers: what a broker lacks is unsupported, and one that ends is a crash."""

from pathlib import Path

import pytest
from kafka.protocol.producer import AddPartitionsToTxnRequest, EndTxnRequest

from tests.live.judging import judged
from tests.live.mock_broker.server import running
from wireproof.kafka.family.loopback_broker import replies

pytestmark = pytest.mark.live

IDEMPOTENCE = "kafka.log/mixed/idempotence/duplicate"
TRANSACTION = "kafka.log/mixed/transaction/commit"
SECOND = "kafka.log/mixed/transaction-v2/commit"
FETCH = "kafka.log/mixed/fetch/deleted"


def verdicts(folder: Path, *cases: str, fault: str | None = None) -> dict[str, str]:
    with running(fault) as address:
        return dict(judged([address], folder, cases=cases).verdicts[address])


def test_a_broker_without_transactions_is_asked_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {one: span for one, span in replies.VERSIONS.items() if one is not AddPartitionsToTxnRequest}
    monkeypatch.setattr(replies, "VERSIONS", known)
    found = verdicts(tmp_path, IDEMPOTENCE, TRANSACTION, SECOND, FETCH)
    assert found == {IDEMPOTENCE: "pass", TRANSACTION: "unsupported", SECOND: "unsupported", FETCH: "pass"}


def test_a_broker_with_the_first_version_of_transactions_is_asked_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "VERSIONS", {**replies.VERSIONS, EndTxnRequest: (0, 4)})
    assert verdicts(tmp_path, TRANSACTION, SECOND) == {TRANSACTION: "pass", SECOND: "unsupported"}


def test_a_broker_that_ends_in_the_middle_of_a_case_is_a_crash(tmp_path: Path) -> None:
    assert (
        verdicts(tmp_path, "kafka.log/mixed/fetch/limit-inside", fault="dies")[
            "kafka.log/mixed/fetch/limit-inside"
        ]
        == "crash"
    )
