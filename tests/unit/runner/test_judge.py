"""The judge, verdict by verdict, on a toy format: architecture.md#verdicts."""

import pytest
from attrs import evolve
from each import each
from judge_expectations import EITHER, FRAME, PASSED, ROWS, STREAM_BAD
from toy_format import (
    BAD_CASE,
    GOOD,
    GOOD_CASE,
    GOOD_VALUE,
    OPEN_CASE,
    OPEN_VALUE,
    decode_case,
    scan_case,
    toy,  # noqa: F401 - pytest finds the fixture here
)

from wireproof.adapters.contract import Hello
from wireproof.cases.case import ORIGIN_REFERENCE, Accept, Case, Reject, Source, Value
from wireproof.cases.outcome import Accepted, BrokenRule, Outcome, Refused
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.runner import judge as module
from wireproof.runner.events import case_event
from wireproof.runner.judge import REFERENCE_HELLO, judge, needs_value
from wireproof.runner.signature import signature, without_indices
from wireproof.runner.verdicts import FLAKY, TABLE, Verdict
from wireproof.wire.json_values import json_digest


@each("case, outcome, hello, label, path", [row[1:] for row in ROWS])
def test_each_outcome_has_its_verdict(
    case: Case, outcome: Outcome, hello: Hello, label: str, path: str
) -> None:
    verdict = judge(case, outcome, hello=hello, twin=PASSED)
    assert (verdict.label, verdict.path) == (label, path)


def test_the_rows_meet_every_verdict_but_those_with_a_test_of_their_own() -> None:
    seen = {row[4].split(":")[0] for row in ROWS}
    assert {row.name for row in TABLE} - seen == {"blocked"}
    kinds = {row[4].removeprefix("fail:") for row in ROWS if row[4].startswith("fail:")}
    of_one_answer = {kind for row in TABLE if row.name == "fail" for kind in row.kinds} - {FLAKY}
    assert of_one_answer == kinds


@each(
    "twin, label",
    [
        (PASSED, "pass:canonical"),
        (Verdict("info", "some"), "pass:canonical"),
        (Verdict("info", "refused-where-open", "bad-kind"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("lenient"), "pass:canonical"),
        (Verdict("undocumented"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("fail", "wrong-reject"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("crash"), f"blocked:{GOOD_CASE.id}"),
        (None, f"blocked:{GOOD_CASE.id}"),
        (Verdict("unsupported"), "unsupported"),
        (Verdict("not-run"), "not-run"),
    ],
)
def test_a_refusal_passes_only_behind_an_accepted_twin(twin: Verdict | None, label: str) -> None:
    assert judge(BAD_CASE, Refused("crc-mismatch"), twin=twin).label == label


def test_an_undocumented_refusal_says_nothing_of_who_refuses_the_twin() -> None:
    refusal = Refused("other", untyped=True)
    assert judge(BAD_CASE, refusal, twin=PASSED).label == "undocumented"
    assert judge(BAD_CASE, refusal, twin=Verdict("fail", "wrong-reject")).name == "blocked"


def test_a_wrong_accept_needs_no_twin_to_fail() -> None:
    assert judge(BAD_CASE, Accepted(GOOD_VALUE)).label == "fail:wrong-accept"


def test_a_reference_that_breaks_is_a_bug_of_the_suite() -> None:
    def broken(_: Case) -> object:
        raise IndexError("oops")

    verdict = judge(GOOD_CASE, Accepted({}), reference=broken)  # type: ignore[arg-type]
    assert verdict.label == "suite-bug"
    assert "IndexError" in verdict.text


def test_a_passing_answer_does_not_cost_a_run_of_the_reference() -> None:
    def forbidden(_: Case) -> object:
        raise AssertionError

    assert judge(GOOD_CASE, Accepted(GOOD_VALUE, 5), reference=forbidden).passing  # type: ignore[arg-type]


def test_the_reference_passes_its_own_cases() -> None:
    for case in (GOOD_CASE, BAD_CASE, OPEN_CASE, STREAM_BAD, scan_case((GOOD,), [FRAME])):
        verdict = judge(case, reference_answer(case).outcome, hello=REFERENCE_HELLO, twin=PASSED)
        assert verdict.label == "pass:canonical"


def test_bytes_without_an_expectation_are_judged_by_the_reference() -> None:
    assert reference_expectation(GOOD_CASE) == Accept(GOOD_VALUE, 5)
    assert reference_expectation(BAD_CASE) == Reject("crc-mismatch", at=4)
    assert reference_expectation(STREAM_BAD) == STREAM_BAD.expect


RAW_K = {"kind": "raw", "value": "6b"}
INT16 = {"kind": "int16", "value": "0100"}
KEY_RAW, KEY_INT16 = "01010000006b01010000006b", "0502000000010001010000006b"
"""An entry with a raw key and one with a key of kind int16, as iggy.md has them; a map is written sorted."""


@each("written, label", [
    (KEY_RAW + KEY_INT16, "pass:canonical"),
    (KEY_INT16 + KEY_RAW, "pass:semantic"),
    (KEY_INT16 + KEY_RAW.replace("6b", "6c", 1), "fail:not-round-trip"),
])  # fmt: skip
def test_the_entries_of_a_generated_map_may_be_written_in_any_order(written: str, label: str) -> None:
    case = evolve(
        GOOD_CASE, format="iggy.headers", revision="0.10", op="encode", source=Source(ORIGIN_REFERENCE),
        input=Value({"headers": [[INT16, RAW_K], [RAW_K, RAW_K]]}),
        expect=Accept(data=(bytes.fromhex(KEY_RAW + KEY_INT16),)),
    )  # fmt: skip
    assert judge(case, Accepted(data=bytes.fromhex(written))).label == label


def test_an_open_place_before_a_refusal_excuses_an_answer_nobody_wrote_an_expectation_for() -> None:
    case = decode_case(bytes.fromhex("01074142"), Reject("crc-mismatch"), source=Source(ORIGIN_REFERENCE))
    assert judge(case, Accepted(OPEN_VALUE)).label == "info:toy-open"


@each(
    "case, outcome, again",
    [
        (GOOD_CASE, Accepted(digest=json_digest(GOOD_VALUE)), False),
        (GOOD_CASE, Accepted(digest="00"), True),
        (GOOD_CASE, Accepted(GOOD_VALUE), False),
        (GOOD_CASE, Refused("other"), False),
        (BAD_CASE, Accepted(digest="00"), True),
        (EITHER, Accepted(digest="00"), True),
    ],
)
def test_a_digest_that_settles_nothing_asks_for_the_value(case: Case, outcome: Outcome, again: bool) -> None:
    assert needs_value(case, outcome) is again


def test_a_hostile_depth_of_an_answer_costs_no_recursion() -> None:
    deep: object = "x"
    for _ in range(50_000):
        deep = [deep]
    verdict = judge(GOOD_CASE, Accepted({"kind": deep}))  # type: ignore[dict-item]
    assert verdict.name == "fail"


def test_what_was_delivered_before_may_be_more_records_but_not_other_ones() -> None:
    record = {"key": "61", "headers": [["68", "31"]]}
    more = {"records": [record, record]}
    odd = {"records": [{"key": "61", "headers": [["68", "31"], ["69", "32"]]}]}
    for got, kind in ((more, None), (odd, "wrong-value"), ({"records": []}, "prefix-lost")):
        case = evolve(BAD_CASE, expect=Reject("crc-mismatch", before={"records": [record]}))
        verdict = judge(case, Refused("crc-mismatch", before=got), twin=PASSED, reference=None)
        assert (verdict.kind if verdict.name == "fail" else None) == kind


def test_a_signature_forgets_which_element_it_was() -> None:
    verdict = Verdict("fail", "wrong-value", path="frames[17].body")
    assert (
        str(signature("x", STREAM_BAD, verdict))
        == "x · toy.stream/v1 · decode · fail:wrong-value · frames[].body"
    )
    assert without_indices("records[0].headers[12].key") == "records[].headers[].key"


def test_a_signature_forgets_what_ended_the_reading_behind_a_wrong_value() -> None:
    """One defect in a log whose end is damaged in many ways is one finding."""
    begins = (("", ""), ("crc-mismatch", "before."), ("other", "before."))
    wrong = [Verdict("fail", "wrong-value", cls, f"{before}frames[0].body") for cls, before in begins]
    lost = [Verdict("fail", "prefix-lost", cls, "before.frames.length") for cls in ("other", "bad-length")]
    assert len({signature("x", STREAM_BAD, verdict) for verdict in wrong}) == 1
    assert len({signature("x", STREAM_BAD, verdict) for verdict in lost}) == 1
    assert signature("x", STREAM_BAD, lost[0]) != signature("x", STREAM_BAD, wrong[0])


# --- rules with a level of their own ---

STRONG, WEAK = BrokenRule("toy.strong", "the checksum is wrong"), BrokenRule("toy.weak", "late")


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "obligations", lambda: {"toy.strong": "must", "toy.weak": "should"})


@pytest.mark.usefixtures("levels")
@each(
    "outcome, level, broken, decides",
    [
        (Accepted(GOOD_VALUE, 5, broken=(WEAK, STRONG)), "should", "toy.strong", "must"),
        (Accepted(GOOD_VALUE, 5, broken=(STRONG,)), "may", "toy.strong", "must"),
        (Accepted(GOOD_VALUE, 5, broken=(WEAK,)), "must", "toy.weak", "should"),
        (Accepted({}, 5, broken=(WEAK,)), "must", "", None),
        (Accepted({}, 5, broken=(STRONG,)), "must", "toy.strong", "must"),
        (Refused("other", untyped=True, broken=(STRONG,)), "may", "toy.strong", "must"),
    ],
)
def test_a_broken_rule_fails_at_its_own_level(
    outcome: Outcome, level: str, broken: str, decides: str | None
) -> None:
    verdict = judge(evolve(GOOD_CASE, level=level), outcome)  # type: ignore[misc] # a level
    assert (verdict.label, verdict.broken, verdict.level) == ("fail:wrong-value", broken, decides)


@pytest.mark.usefixtures("levels")
def test_a_case_that_is_refused_as_it_should_be_fails_by_a_broken_rule_and_blocks_at_its_level() -> None:
    should = evolve(BAD_CASE, level="should")
    refusal = Refused("crc-mismatch", broken=(STRONG,))
    verdict = judge(should, refusal, twin=PASSED)
    event = case_event(0, should, verdict)
    assert (event.level, event.broken, event.deciding_rules) == ("must", "toy.strong", ("toy.strong",))
    assert event.text == "breaks toy.strong (must)"
    assert event.got == "the checksum is wrong"
    assert str(event.signature("x")).endswith("toy.strong")
    blocked = judge(should, Refused("crc-mismatch"), twin=verdict)
    assert (blocked.name, blocked.level, blocked.broken) == ("blocked", "must", "toy.strong")


@pytest.mark.usefixtures("levels")
def test_what_the_case_itself_fails_by_is_named_too() -> None:
    verdict = judge(evolve(GOOD_CASE, level="should"), Accepted({}, 5, broken=(STRONG,)))
    assert verdict.text == "breaks toy.strong (must); the case itself: fail:wrong-value kind"


@pytest.mark.usefixtures("levels")
def test_a_rule_without_a_level_is_none_that_an_adapter_can_name() -> None:
    verdict = judge(GOOD_CASE, Accepted(GOOD_VALUE, 5, broken=(BrokenRule("toy.unknown"),)))
    assert (verdict.name, verdict.text) == (
        "adapter-error",
        "breaks 'toy.unknown', which is no rule with a level",
    )


@pytest.mark.usefixtures("levels")
def test_to_accept_what_must_be_refused_stays_the_failure_of_a_case_as_strong_as_the_rule() -> None:
    accepted = Accepted(GOOD_VALUE, broken=(STRONG,))
    verdict = judge(BAD_CASE, accepted)
    assert (verdict.label, verdict.broken) == ("fail:wrong-accept", "")
    assert verdict.text.endswith("breaks toy.strong (must)")
    assert judge(evolve(BAD_CASE, level="should"), accepted).broken == "toy.strong"
