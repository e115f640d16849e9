"""What an implementation may be used for: by requirement set and version, and in sentences."""

import pytest
from attrs import evolve
from each import each
from goldens import load
from small_runs import RUN, stream

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.steps import is_refused
from wireproof.judge.verdicts import Verdict
from wireproof.report.uses import Use, implementations, sections, use_sentences, uses_of
from wireproof.run.conclusion import conclusion_sentence
from wireproof.run.events import EventStream, case_event, joined

PASS = Verdict("pass", "canonical")
WRONG = Verdict("fail", "wrong-value", want="accept", got="<script>")
CRASH = Verdict("crash", text="exit code -11")
SKIP = Verdict("unsupported", text="claims no codec:zstd")
UNJUDGED = "shows no fault as a Kafka consumer: all 246 required cases that were judged"


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load()


@pytest.fixture(scope="module")
def use(suite: Suite) -> Use:
    return next(one for one in uses_of(suite, ["kafka"]) if one.name == "consumer 1")


def must(use: Use, *, refused: bool) -> Case:
    return next(
        case for case in use.must.values() if is_refused(case) == refused and "security" not in case.flags
    )


def run_of(
    use: Use, name: str, version: str, verdicts: dict[str, Verdict] | None = None, **more: str
) -> EventStream:
    """A run over the cases of a set: all pass but those of `verdicts`."""
    known = verdicts or {}
    events = [case_event(n, case, known.get(case.id, PASS)) for n, case in enumerate(use.must.values())]
    return stream(*events, run=evolve(RUN, **{"adapter": name, "spec": name, "version": version, **more}))


@each(
    "verdict, refused, state, concerns",
    [
        (PASS, False, "met", {}),
        (SKIP, False, "open", {}),
        (WRONG, False, "fails", {"valid": 1}),
        (WRONG, True, "damaged", {"damaged": 1}),
        (CRASH, True, "fails", {"runaway": 1}),
        (Verdict("fail", "wrong-accept", cls="auth-failed"), True, "fails", {"forged": 1}),
        (Verdict("lenient"), True, "met", {}),
    ],
)
def test_the_state_of_a_set_is_that_of_its_must_cases(
    use: Use, verdict: Verdict, refused: bool, state: str, concerns: dict[str, int]
) -> None:
    run = run_of(use, "some", "1.0", {must(use, refused=refused).id: verdict})
    (one,) = implementations([use], [run])
    result = one.newest.uses[use.id]
    assert (result.state, dict(result.concerns)) == (state, concerns)


def test_a_run_of_few_cases_says_nothing_about_a_set_unless_one_is_wrong(use: Use) -> None:
    whole = run_of(use, "some", "1.0")
    few = evolve(whole, cases=whole.cases[:20])
    (one,) = implementations([use], [few])
    assert one.newest.uses[use.id].state == "unknown"
    assert not list(sections([use], [one]))


def test_a_set_is_judged_by_what_it_has_beside_the_sets_that_it_includes(suite: Suite) -> None:
    """Who reads Heka but never looks at a signature is no verifier, whatever it passes as a reader."""
    uses = {one.name: one for one in uses_of(suite, ["heka"])}
    reader, verifier = uses["reader"], uses["verifier"]
    for wrong in ({}, {must(reader, refused=True).id: WRONG}):
        (one,) = implementations([reader, verifier], [run_of(reader, "some", "1", wrong)])
        assert one.newest.uses[reader.id].state == ("damaged" if wrong else "met")
        assert one.newest.uses[verifier.id].state == "unknown"


def test_versions_are_in_order_and_the_last_run_of_each_counts(use: Use) -> None:
    case = must(use, refused=False)
    runs = [
        run_of(use, "some", "1.10", started="2026-01-03"),
        run_of(use, "some", "1.9", {case.id: WRONG}, started="2026-01-02"),
        run_of(use, "some", "1.10", {case.id: WRONG}, started="2026-01-01"),
    ]
    (one,) = implementations([use], runs)
    assert [version.version for version in one.versions] == ["1.9", "1.10"]
    assert not one.newest.wrong
    assert [event.id for event in one.versions[0].wrong] == [case.id]


def test_a_table_begins_with_the_best_and_names_who_can_be_chosen(use: Use) -> None:
    valid, damaged = must(use, refused=False).id, must(use, refused=True).id
    runs = [
        run_of(use, "bad", "1", {valid: WRONG}),
        run_of(use, "mild", "1", {damaged: WRONG}),
        run_of(use, "best", "1"),
    ]
    (section,) = sections([use], implementations([use], runs))
    assert [row.name for row in section.rows] == ["best", "mild", "bad"]
    (choice,) = section.choices
    assert (choice.nothing_wrong, choice.valid_right, choice.wrong) == (("best",), ("mild",), (("bad", 1),))


def test_of_those_that_are_wrong_the_box_names_the_least_wrong_first(use: Use) -> None:
    two = [case.id for case in use.must.values() if not is_refused(case)][:2]
    runs = [run_of(use, "a-two", "1", dict.fromkeys(two, WRONG)), run_of(use, "b-one", "1", {two[0]: WRONG})]
    (section,) = sections([use], implementations([use], runs))
    assert section.choices[0].wrong == (("b-one", 1), ("a-two", 2))


def test_whole_clients_and_codecs_are_two_tables_and_who_only_reads_is_not_worse_for_it(suite: Suite) -> None:
    uses = {one.name: one for one in uses_of(suite, ["kafka"])}
    consumer, producer = uses["consumer 1"], uses["producer 1"]
    both = run_of(consumer, "kafka-python", "1", {must(consumer, refused=False).id: WRONG})
    both = evolve(both, cases=(*both.cases, *run_of(producer, "kafka-python", "1").cases))
    runs = [both, run_of(consumer, "kio", "1"), run_of(consumer, "aiokafka-client", "1")]
    found = list(sections([consumer, producer], implementations([consumer, producer], runs)))
    assert [(one.title, [use.role for use in one.uses], [row.name for row in one.rows]) for one in found] == [
        ("Kafka clients", ["consumer"], ["aiokafka-client"]),
        ("Kafka codecs", ["consumer", "producer"], ["kio", "kafka-python"]),
    ]
    assert [row.language for one in found for row in one.rows] == ["Python"] * 3


def test_releases_of_a_client_that_does_not_tell_its_version_are_those_that_were_asked_for(use: Use) -> None:
    runs = [
        run_of(use, "aiokafka-client", "unknown", spec=f"aiokafka-client@{version}")
        for version in ("0.9.0", "0.14.0")
    ]
    (one,) = implementations([use], runs)
    assert [version.version for version in one.versions] == ["0.9.0", "0.14.0"]


def test_two_adapters_that_give_one_name_are_two_implementations(use: Use) -> None:
    runs = [run_of(use, "mine", "1", {}) for _ in range(2)]
    runs = [evolve(one, run=evolve(one.run, spec=f"exec:./{n}")) for n, one in enumerate(runs)]
    assert [one.name for one in implementations([use], runs)] == ["mine (exec:./0)", "mine (exec:./1)"]


def test_shards_of_one_run_are_one_column_and_a_shard_that_comes_again_is_the_next_run(use: Use) -> None:
    whole = run_of(use, "some", "1")
    halves = [
        evolve(whole, run=evolve(whole.run, shard=f"{k}/2"), cases=whole.cases[k - 1 :: 2], footer=None)
        for k in (1, 2)
    ]
    assert [len(one.cases) for one in joined([*halves, *halves])] == [len(whole.cases)] * 2


# --- sentences ---


@each(
    "verdict, refused, said",
    [
        (PASS, False, "is safe as a Kafka consumer: all 247 required cases are right"),
        (SKIP, False, f"{UNJUDGED} are right, of 247"),
        (Verdict("blocked", "x"), True, f"{UNJUDGED} are right, of 247"),
        (Verdict("adapter-error", text="no JSON"), True, f"{UNJUDGED} are right, of 247"),
    ],
)
def test_an_implementation_without_a_fault_is_safe_if_all_was_judged(
    suite: Suite, use: Use, verdict: Verdict, refused: bool, said: str
) -> None:
    (text,) = use_sentences(suite, run_of(use, "some", "1.0", {must(use, refused=refused).id: verdict}))
    assert text == f"some 1.0 {said}"


def test_a_sentence_names_the_worst_and_counts_the_rest(suite: Suite, use: Use) -> None:
    valid = [case for case in use.must.values() if not is_refused(case)][:2]
    refused = [case for case in use.must.values() if is_refused(case) and "security" not in case.flags][:1]
    wrong = {refused[0].id: WRONG}
    (text,) = use_sentences(suite, run_of(use, "some", "1", wrong))
    title = refused[0].title
    assert text == (
        f"some 1 is safe as a Kafka consumer for valid data only: it mishandles the damaged input “{title}”"
    )
    wrong |= {case.id: WRONG for case in valid}
    (text,) = use_sentences(suite, run_of(use, "some", "1", wrong))
    assert text.startswith("some 1 is not safe as a Kafka consumer: it gets 2 valid inputs wrong, such as “")
    assert text.endswith(f", and mishandles the damaged input “{title}”")
    (text,) = use_sentences(suite, run_of(use, "some", "1", {**wrong, refused[0].id: CRASH}))
    assert f"it crashes on “{title}”, and gets 2 valid inputs wrong" in text


def test_a_sentence_says_what_can_be_exploited_and_what_is_known(suite: Suite) -> None:
    use = next(one for one in uses_of(suite, ["kafka"]) if one.name == "consumer 3")
    alarm = next(case.id for case in use.must.values() if "security" in case.flags)
    other = must(use, refused=False).id
    run = run_of(use, "some", "1", {alarm: WRONG, other: WRONG})
    (text,) = use_sentences(suite, run, {other: "expected"})
    assert text.endswith("; 1 of these can be exploited; 1 of these is known")
    (text,) = use_sentences(suite, run, {other: "expected", alarm: "expected"})
    assert text.endswith("; 1 of these can be exploited; all of these are known")


def test_the_widest_set_that_holds_is_named(suite: Suite) -> None:
    plain, _, compacted = [one for one in uses_of(suite, ["kafka"]) if one.role == "consumer"]
    only = next(
        name for name, case in compacted.must.items() if name in compacted.own and not is_refused(case)
    )
    (text,) = use_sentences(suite, run_of(compacted, "some", "1", {only: WRONG}))
    assert text.endswith("wrong; it is safe to read compressed and transactional topics")
    assert only not in plain.must


def test_too_few_cases_say_so_and_none_says_nothing(suite: Suite, use: Use) -> None:
    whole = run_of(use, "some", "1.0")
    (text,) = use_sentences(suite, evolve(whole, cases=whole.cases[:20]))
    assert text == (
        "some 1.0: 20 of 20 judged cases are right; too few to say what it is safe for: 20 of 247 required "
        "cases of a Kafka consumer"
    )
    assert use_sentences(suite, evolve(whole, cases=())) == []


def test_the_counts_of_a_small_run_are_those_of_its_conclusion(use: Use, suite: Suite) -> None:
    """At `--level should` a lenient answer fails the run, and a blocked refusal is a judged one."""
    cases = list(use.must.values())[:20]
    verdicts = {cases[0].id: Verdict("undocumented"), cases[1].id: Verdict("blocked", cases[2].id)}
    whole = run_of(use, "some", "1.0", verdicts)
    strict = evolve(whole, cases=whole.cases[:20], run=evolve(whole.run, level="should"))
    (text,) = use_sentences(suite, strict)
    assert conclusion_sentence(strict) == "does not conform: fails 2 of 20 judged cases"
    assert text.startswith("some 1.0: 18 of 20 judged cases are right; too few to say")
