"""No reader passes by refusing: not everything, not what has a remark, not one case. results.md#verdicts."""

from datetime import date

import pytest
from attrs import evolve
from goldens import load, stored_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import RUN, stream

from tests.authoring.shared_code import without_shared_code
from tests.mutants.registry import spec_of
from wireproof.cases.case import Accept, Case, Chunks, Data, Generated, Steps
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import reference_answer
from wireproof.cases.requirements import editions, required_cases
from wireproof.judge.judge import refusal_verdict
from wireproof.judge.verdicts import Verdict
from wireproof.run.baselines.baseline import apply
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.run.engine import Engine
from wireproof.run.events import Requirements, case_event
from wireproof.run.exit_codes import Exit
from wireproof.run.run import Selection, run
from wireproof.wire.rejection import REJECT_CLASSES

PASSED = Verdict("pass", "canonical")
ACCEPTED = [
    case
    for case in load().cases
    if case.level == "must" and isinstance(case.expect, Accept) and not isinstance(case.input, Steps)
]
REMARKED_RULES = frozenset({
    "kafka.v2.attributes.unused", "kafka.v2.unchecked", "kafka.v2.record.attributes", "kafka.varint.overlong",
    "kafka.legacy.attributes.unused", "kafka.legacy.extra", "kafka.legacy.unchecked",
    "kafka.wrapper.inner-magic",
})  # fmt: skip
"""The rules that only cases with a remark test, at `must`."""

BY_TEXT_ALONE = frozenset({
    "kafka.batch/v1/produce/wrapper", "kafka.batch/v1/produce/wrapper-inner-gap",
    "kafka.batch/v1/produce/wrapper-inner-zero", "heka.stream/0.10/scan/remarks",
    "heka.stream/0.10/scan/split-backtrack",
})  # fmt: skip
"""Cases that the text says are taken, and of which one broker or one splitter alone could be run."""

SETS = [f"{date}:{one.name}" for date, page in editions(load().roots).items() for one in page.sets]


@settings(deadline=None, max_examples=400)
@given(case=st.sampled_from(ACCEPTED), cls=st.sampled_from(REJECT_CLASSES), untyped=st.booleans())
def test_who_refuses_one_must_case_fails_the_run(case: Case, cls: str, *, untyped: bool) -> None:
    verdict = refusal_verdict(case, Refused(cls, untyped=untyped))  # type: ignore[arg-type]
    others = [case_event(number, other, PASSED) for number, other in enumerate(ACCEPTED[:3], 1)]
    assert exit_code(stream(case_event(0, case, verdict), *others)) is Exit.FAILS
    assert verdict.label == "fail:wrong-reject"


def test_no_remark_excuses_a_refusal_where_a_case_says_accept() -> None:
    remarked = [case for case in ACCEPTED if isinstance(case.expect, Accept) and case.expect.remarks]
    assert len(remarked) > 70
    assert {refusal_verdict(case).label for case in remarked} == {"fail:wrong-reject"}


def test_a_reader_that_refuses_what_has_a_remark_fails_by_each_rule_that_says_ignore() -> None:
    with Engine("py:refusing_codecs:RefuseRemarked", in_process=True) as engine:
        plan = Selection.of(engine.hello, stored_cases("kafka"), load(), families=False)
        failed = [event for event in run(engine, plan) if event.level == "must" and event.verdict == "fail"]
    assert {event.label for event in failed} == {"fail:wrong-reject"}
    rules = {rule for event in failed for rule in event.rules}
    assert rules >= REMARKED_RULES


def test_no_remark_lets_a_reader_refuse_what_a_broker_wrote() -> None:
    logs = [case for case in load().cases if case.source.origin == "broker"]
    assert len(logs) == 14
    assert [case.id for case in logs if _is_open(case)] == []


def test_two_readers_that_share_no_code_accept_each_must_case_that_has_a_remark() -> None:
    for case in ACCEPTED:
        if isinstance(case.input, Data | Chunks) and _is_open(case) and case.id not in BY_TEXT_ALONE:
            names = [{"name": one.name} for one in case.source.witnesses]
            assert len(without_shared_code(names, case.revision)) > 1, case.id


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "reader",
    [
        spec_of("mutant:reject-everything"),
        "py:refusing_codecs:RefuseEachTenth",
        "py:refusing_codecs:RefuseRemarked",
    ],
)
def test_a_named_set_is_not_met_by_a_reader_that_refuses(reader: str, name: str) -> None:
    required = required_cases(load(), name)
    small = [
        case
        for case in required.cases
        if case.op in ("decode", "scan") and not isinstance(case.input, Generated)
    ]
    accepted = [case for case in small if case.level == "must" and isinstance(case.expect, Accept)]
    remarked = {case.id for case in accepted if _is_open(case)}
    if not accepted or ("Remarked" in reader and not remarked):
        return  # a set of writers, or one without such a place
    with Engine(reader, in_process=True) as engine:
        events = tuple(run(engine, Selection(small, load().by_id, families=False)))
    found = stream(*events, run=evolve(RUN, requirements=Requirements(required.id, required.title)))
    refused = {event.id for event in events if event.label == "fail:wrong-reject"}
    assert exit_code(found) is Exit.FAILS
    assert conclusion_sentence(found).startswith(f"does not meet {required.title}: fails ")
    assert refused >= remarked if "Remarked" in reader else refused


def _is_open(case: Case) -> bool:
    return any(remark.rejectable for remark in reference_answer(case).remarks)


@pytest.mark.parametrize("verdict", ["unsupported", "fail", "not-run"])
def test_a_named_set_is_not_met_by_what_is_known_or_was_not_judged(verdict: str) -> None:
    kinds = {"fail": "wrong-reject", "not-run": "same-as", "unsupported": ""}
    event = evolve(case_event(0, ACCEPTED[0], PASSED), verdict=verdict, kind=kinds[verdict])
    other = case_event(1, ACCEPTED[1], PASSED)
    if verdict == "not-run":
        other = evolve(other, verdict="fail", kind="wrong-reject")
        event = evolve(event, text=f"same as {other.id}")
    found = stream(event, other, run=evolve(RUN, requirements=Requirements("2026.12:some", "Some")))
    entry = '[[known-failure]]\nid = "{}"\nkind = "fail:wrong-reject"\n'
    rest = 'reason = "it is known"\nowner = "me"\nexpires = 2999-01-01\n'
    entries = parse_baseline("".join(entry.format(one.id) + rest for one in (event, other)))
    known = apply(found, entries, date(2026, 11, 28))
    assert exit_code(found, known) is Exit.FAILS
    assert conclusion_sentence(found, known).startswith(("does not meet Some: ", "incomplete"))


def test_a_shard_of_a_named_set_says_so() -> None:
    part = evolve(RUN, requirements=Requirements("2026.12:some", "Some"), shard="1/2")
    found = stream(case_event(0, ACCEPTED[0], PASSED), run=part)
    assert conclusion_sentence(found) == "meets shard 1/2 of Some"
