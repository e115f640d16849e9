"""Requests, their order and their end: plan, failure budget and probe, without a process."""

import pytest
from attrs import evolve
from each import each

from wireproof.adapters import requests
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.requests import (
    MAX_FAULTS,
    MAX_SIGNATURES,
    DerivedSample,
    FailureBudget,
    SeededOrder,
    prepare_case,
    request_for,
)
from wireproof.cases.case import Accept, Case, Data, Limits, Reject, Value
from wireproof.cases.outcome import Crashed, Faulty, Outcome, Unsupported
from wireproof.formats import FORMATS, Format
from wireproof.wire.options import DEFAULT_OPTIONS, Options

BATCH = Case(
    "kafka.batch/v2/t/n", "kafka.batch", "v2", Data(b"0123"), Accept({"magic": "2", "nextOffset": "8"}, 4)
)


def hello(**revisions: Claim) -> Hello:
    return Hello("x", "1", {name.replace("__", ".").replace("_", "/"): c for name, c in revisions.items()})


# --- plan ---


def test_orders_and_names_follow_the_seed_and_names_never_repeat() -> None:
    first, second, other = SeededOrder(1), SeededOrder(1), SeededOrder(2)
    assert first.order(50) == second.order(50) != other.order(50)
    names = [first.name() for _ in range(5000)]
    assert names == [second.name() for _ in range(5000)]
    assert len(set(names)) == 5000
    assert names[:3] != [other.name() for _ in range(3)]


def test_a_request_holds_nothing_of_what_is_expected() -> None:
    case = evolve(BATCH, profile="produce", options=Options(max_message=5), limits=Limits(ms=9))
    request = request_for(case, "x1", "digest")
    assert (request.id, request.data, request.answer) == ("x1", b"0123", "digest")
    assert request.options == Options("produce", max_message=5)
    assert request.limits.ms == 9
    assert case.id not in repr(request)
    assert request_for(BATCH, "x").options is DEFAULT_OPTIONS


@each(
    "claim, case, lack",
    [
        (Claim(), BATCH, ""),
        (Claim(("decode",), ("none",), ("reader",), (), ()), BATCH, ""),
        (Claim(("encode",)), BATCH, "claims no decode of kafka.batch/v2"),
        (
            Claim(codecs=("none",)),
            evolve(BATCH, needs=("codec:lz4",)),
            "claims no codec:lz4 for kafka.batch/v2",
        ),
        (Claim(codecs=("lz4",)), evolve(BATCH, needs=("codec:lz4",)), ""),
        (Claim(codecs=("lz4",)), evolve(BATCH, needs=("feature:x",)), ""),
        (Claim(features=()), evolve(BATCH, needs=("feature:x",)), "claims no feature:x for kafka.batch/v2"),
        (
            Claim(profiles=("reader",)),
            evolve(BATCH, profile="produce"),
            "claims no profile:produce for kafka.batch/v2",
        ),
    ],
)
def test_a_claim_decides_what_is_asked(claim: Claim, case: Case, lack: str) -> None:
    expected = Unsupported(lack) if lack else case
    assert prepare_case(case, hello(kafka__batch_v2=claim)) == expected


def _never(*_: object) -> None:
    raise AssertionError("a plan runs no codec")


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Format("kafka.batch", "v2", object, _never, _never, wrapped_by=("kafka.log", "mixed", "batches"))
    monkeypatch.setattr(requests, "FORMATS", {**FORMATS, made.format_id: made})


@pytest.mark.usefixtures("row")
def test_a_case_of_one_entry_is_wrapped_for_a_reader_of_logs() -> None:
    log = Claim(("decode",), ("none",))
    for claims in (
        hello(kafka__log_mixed=log),
        hello(kafka__log_mixed=log, kafka__batch_v2=Claim(("encode",))),
    ):
        asked = prepare_case(BATCH, claims)
        assert isinstance(asked, Case)
        assert (asked.format_id, asked.expect) == (
            "kafka.log/mixed",
            Accept({"batches": [{"magic": "2", "nextOffset": "8"}], "nextOffset": "8"}, 4),
        )
        lz4 = prepare_case(evolve(BATCH, needs=("codec:lz4",)), claims)
        assert lz4 == Unsupported("claims no codec:lz4 for kafka.log/mixed")
    assert prepare_case(BATCH, hello(kafka__log_mixed=log, kafka__batch_v2=Claim())) is BATCH
    encode = evolve(BATCH, op="encode", input=Value(None))
    assert prepare_case(encode, hello(kafka__log_mixed=Claim())) == Unsupported(
        "claims no encode of kafka.batch/v2"
    )


def test_a_sample_keeps_every_golden_case_and_the_same_derived_ones_each_time() -> None:
    derived = [evolve(BATCH, id=f"{BATCH.id}~flip:{n}", parent=BATCH.id, family="flip") for n in range(1600)]
    sample = DerivedSample(16)
    kept = list(sample.of([BATCH, *derived]))
    assert kept[0] is BATCH
    assert (sample.kept, sample.seen) == (len(kept) - 1, 1600)
    assert 60 <= sample.kept <= 140
    assert list(DerivedSample(16).of(reversed(derived))) == kept[:0:-1]


# --- deaths ---


def family(mother: str, number: int) -> Case:
    return evolve(BATCH, id=f"{mother}~flip:{number}", parent=mother, family="flip")


def why(deaths: FailureBudget, case: Case) -> str:
    left_out = deaths.verdict(case)
    return left_out.text if left_out else ""


def test_three_deaths_of_one_kind_close_a_family() -> None:
    deaths = FailureBudget()
    for number in range(3):
        assert why(deaths, family("a/b/c/d", 9)) == ""
        deaths.add(family("a/b/c/d", number), Crashed(), f"SIGSEGV: at 0x7f{number:04x}")
    assert why(deaths, family("a/b/c/d", 9)) == "same as a/b/c/d~flip:0"
    assert why(deaths, evolve(BATCH, id="a/b/c/d")) == "same as a/b/c/d~flip:0"
    assert why(deaths, family("a/b/c/other", 9)) == ""


def test_the_budget_counts_signatures_and_not_deaths() -> None:
    deaths = FailureBudget()
    for number in range(500):
        deaths.add(evolve(BATCH, id=f"a/b/c/m{number}"), Crashed(), f"SIGSEGV: line {number}")
    assert why(deaths, BATCH) == ""
    for number in range(MAX_SIGNATURES - 1):
        deaths.add(evolve(BATCH, id=f"a/b/c/m{number}"), Crashed(), "x" * number + "!")
    assert "different ways to die" in why(deaths, BATCH)
    assert deaths.count == 500 + MAX_SIGNATURES - 1


@pytest.mark.parametrize(("outcome", "alone"), [(Faulty(), True), (Crashed(), False)])
def test_faults_of_the_adapter_itself_are_soon_enough(outcome: Outcome, alone: bool) -> None:
    deaths = FailureBudget()
    for number in range(MAX_FAULTS):
        assert why(deaths, BATCH) == ""
        deaths.add(evolve(BATCH, id=f"a/b/c/m{number}"), outcome, "noise", alone=alone)
    assert (
        why(deaths, BATCH)
        == f"{MAX_FAULTS} faults of the adapter itself, the last at a/b/c/m{MAX_FAULTS - 1}"
    )


# --- probe ---


def small(name: str, *needs: str, expect: Accept | Reject = Accept()) -> Case:  # noqa: B008 - frozen
    return Case(f"f/r/t/{name}", "f", "r", Data(b""), expect, needs=needs)


CASES = [small("plain"), small("lz4", "codec:lz4"), small("zstd", "codec:zstd"), small("txn", "feature:txn")]
CASES.append(small("junk", "feature:txn", expect=Reject("bad-magic")))
