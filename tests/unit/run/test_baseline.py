"""Baselines as known failures, new entries, and later days. architecture.md#events."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from attrs import evolve
from baselines import LATER, NAMES, OTHER, TEXT, TODAY, code, fix, written
from each import each
from hypothesis import given, settings, strategies
from small_runs import FAIL, PASS, RUN, SKIP, event, stream

from wireproof.run.baselines import baseline, baseline_adding, baseline_writing
from wireproof.run.baselines.baseline import WARNING, EntryLookup, apply, expiring, expiry_notices
from wireproof.run.baselines.baseline_adding import Added
from wireproof.run.baselines.baseline_writing import LONGEST_EXTENSION
from wireproof.run.baselines.known_failures import BaselineError, CaseNames, KnownFailure, parse_baseline
from wireproof.run.conclusion import exit_code
from wireproof.run.events import CaseEvent, Requirements


def test_a_flaky_entry_may_hold_or_not_and_fails_as_it_is_written() -> None:
    text = TEXT.replace("expires = 2027-06-30\n", "expires = 2027-06-30\nflaky = true\n", 1)
    assert code(event(1, "sum/wrong", "pass"), OTHER, text=text) == 0
    assert code(FAIL, OTHER, text=text) == 0
    assert code(evolve(FAIL, kind="wrong-value"), OTHER, text=text) == 3
    assert fix(text, stream(event(1, "sum/wrong", "pass"), OTHER)) == text


@each("verdict", ["unsupported", "adapter-error", "suite-bug", "not-run", "lenient", "undocumented"])
def test_only_a_case_that_was_judged_and_passes_makes_an_entry_stale(verdict: str) -> None:
    for text in (TEXT, FLIPS, TEXT.replace("sum/wrong", "sum/*~flip:*")):
        name = "sum/wrong~flip:1" if "~flip" in text else "sum/wrong"
        (entry, _) = parse_baseline(text)
        now = event(1, name, verdict)
        assert entry not in apply(stream(now, OTHER), parse_baseline(text), TODAY).stale
        assert entry in apply(stream(evolve(now, verdict="pass"), OTHER), parse_baseline(text), TODAY).stale


def test_a_verdict_that_only_a_run_at_should_counts_changes_an_entry_there_and_nowhere_else() -> None:
    for verdict in ("lenient", "undocumented"):
        now = event(1, "sum/wrong", verdict, level="should")
        assert code(now, OTHER) == 0
        assert fix(TEXT, stream(now, OTHER)) == TEXT
        assert code(now, OTHER, level="should") == 3
        fixed = fix(TEXT, stream(now, OTHER, run=evolve(RUN, level="should")))
        assert f'kind = "{verdict}"' in fixed
        assert code(now, OTHER, text=fixed, level="should") == 0


def test_an_entry_whose_case_no_run_has_is_not_stale() -> None:
    assert apply(stream(PASS, FAIL), parse_baseline(TEXT), TODAY).stale == ()
    assert baseline_writing.fix(TEXT, [stream(PASS, FAIL)], NAMES).unjudged == 1


def test_a_pass_in_a_part_of_the_cases_makes_an_entry_stale() -> None:
    now = event(1, "sum/wrong", "pass")
    against = Requirements("2026.12:kafka-consumer-1", "Kafka consumer 1 (2026.12)")
    for part in ({"filters": ("toy.frame/**",)}, {"shard": "1/2"}, {"requirements": against}):
        seen = stream(now, run=evolve(RUN, **part))
        assert [entry.id for entry in apply(seen, parse_baseline(TEXT), TODAY).stale] == [now.id]
        assert [entry.id for entry in parse_baseline(fix(TEXT, seen))] == [OTHER.id]


FLIPS = TEXT.replace("sum/wrong", "sum/wrong~flip:*")
EXAMPLE = evolve(FAIL, id="toy.frame/v1/property/decode~s0:7")


def test_examples_of_properties_are_no_family_that_could_make_an_entry_stale() -> None:
    flip = evolve(PASS, id="toy.frame/v1/sum/wrong~flip:1")
    (entry, _) = parse_baseline(FLIPS)
    assert entry not in apply(stream(PASS, EXAMPLE), parse_baseline(FLIPS), TODAY).stale
    assert entry in apply(stream(PASS, flip), parse_baseline(FLIPS), TODAY).stale


EXAMPLES = "toy.frame/v1/property/decode~*"


def test_an_example_is_written_by_its_signature_so_that_another_seed_is_covered_too() -> None:
    wrong = evolve(EXAMPLE, kind="wrong-value", cls="", path="records[3].key")
    other = evolve(wrong, id="toy.frame/v1/property/decode~s0:8", path="records[1].value")
    text = written(stream(FAIL, EXAMPLE, wrong, other), "me", "why", LATER)
    found = [(entry.id, entry.path) for entry in parse_baseline(text)]
    paths = ("sum", "records[].key", "records[].value")
    assert set(found) == {*((EXAMPLES, path) for path in paths), (FAIL.id, "sum")}
    later = evolve(wrong, id="toy.frame/v1/property/decode~s1002003:0", path="records[0].key")
    assert code(FAIL, EXAMPLE, later, text=text) == 0
    assert code(FAIL, evolve(later, path="records[0].offset"), text=text) == 1
    assert code(FAIL, evolve(later, cls="truncated"), text=text) == 1
    assert code(FAIL, evolve(later, id="toy.frame/v1/property/encode~s0:0"), text=text) == 1
    assert fix(text, stream(FAIL, later)) == text


def test_an_entry_of_examples_names_a_broken_rule_or_any_field() -> None:
    text = written(stream(evolve(EXAMPLE, broken="toy.rule")), "me", "why", LATER)
    assert parse_baseline(text)[0].path == "toy.rule"
    assert code(evolve(EXAMPLE, broken="toy.other"), text=text) == 1
    anywhere = text.replace('path = "toy.rule"\n', "")
    assert code(evolve(EXAMPLE, broken="toy.other"), text=anywhere) == 0
    with pytest.raises(BaselineError, match="/property/<op>~"):
        parse_baseline(text.replace(EXAMPLES, "toy.frame/v1/sum/wrong~*"))


def test_an_entry_of_examples_is_checked() -> None:
    text = written(stream(EXAMPLE), "me", "why", LATER)
    none = CaseNames([])
    assert len(baseline.check(parse_baseline(text), none, TODAY)[0]) == 1
    known = parse_baseline(text.replace("toy.frame/v1", "kafka.batch/v2"))
    assert baseline.check(known, none, TODAY) == ([], [])


def test_an_entry_whose_case_was_not_run_is_not_stale_and_the_run_is_not_green() -> None:
    left_out = event(3, "other/one", "not-run")
    assert apply(stream(FAIL, left_out), parse_baseline(TEXT), TODAY).stale == ()
    assert code(FAIL, evolve(left_out, kind="start")) == 4
    assert code(FAIL, evolve(left_out, kind="spent")) == 1


def test_a_case_left_out_for_a_known_crash_is_known_and_one_for_another_crash_is_not() -> None:
    crash = "toy.frame/v1/other/one"
    rest = evolve(event(4, "other/two", "not-run"), kind="same-as")
    assert code(FAIL, OTHER, evolve(rest, text=f"same as {crash}")) == 0
    assert code(FAIL, OTHER, evolve(rest, text="same as toy.frame/v1/other/three")) == 1


def test_an_expired_entry_counts_no_more() -> None:
    assert code(FAIL, OTHER, today=date(2027, 7, 1)) == 1
    assert apply(stream(FAIL, OTHER), parse_baseline(TEXT), date(2027, 7, 1)).overlays[FAIL.id] == "expired"


@pytest.mark.parametrize(("verdict", "expected"), [("adapter-error", 4), ("suite-bug", 5)])
def test_no_baseline_hides_a_broken_adapter_or_suite(verdict: str, expected: int) -> None:
    text = TEXT.replace('"crash"', f'"{verdict}"')
    assert code(FAIL, event(3, "other/one", verdict), text=text) == expected


def test_a_run_that_judged_nothing_is_a_usage_error_unless_nobody_asked_for_it_by_name() -> None:
    for run in (stream(), stream(SKIP)):
        assert exit_code(run) == 2
        assert exit_code(run, named=False) == 0


def test_one_entry_can_cover_a_family_of_one_fixture() -> None:
    text = TEXT.replace("sum/wrong", "sum/wrong~flip:*")
    flips = [evolve(FAIL, id=f"{FAIL.id}~flip:{n}", seq=n) for n in range(3)]
    assert code(*flips, OTHER, text=text) == 0
    assert code(*flips, OTHER, evolve(FAIL, id=f"{FAIL.id}~truncate:1"), text=text) == 1


def test_a_broad_entry_covers_the_families_of_many_fixtures_that_fail_as_it_is_written() -> None:
    text = TEXT.replace("toy.frame/v1/sum/wrong", "toy.*/**~flip:*")
    flips = [evolve(row, id=f"{row.id}~flip:1") for row in (FAIL, evolve(FAIL, id="toy.stream/v2/a/b/c"))]
    assert code(*flips, OTHER, text=text) == 0
    for stranger in (
        evolve(FAIL, id=f"{FAIL.id}~truncate:1"),
        evolve(FAIL, id=f"{FAIL.id}~flip:2", cls="bad-magic"),
        evolve(FAIL, id="other.frame/v1/a~flip:1"),
        FAIL,
    ):
        assert code(*flips, OTHER, stranger, text=text) == 1


def test_two_broad_entries_may_differ_in_their_verdict_only_and_a_narrow_one_comes_first() -> None:
    broad = TEXT.replace("sum/wrong", "**~flip:*")
    first = broad.split("[[known-failure]]")[1]
    other = f"[[known-failure]]{first}".replace("fail:wrong-accept", "timeout").replace("crc-mismatch", "")
    flips = [
        evolve(FAIL, id=f"{FAIL.id}~flip:1"),
        evolve(FAIL, id="toy.frame/v1/x~flip:2", verdict="timeout"),
    ]
    flips[1] = evolve(flips[1], kind="", cls="")
    assert code(*flips, OTHER, text=broad + other) == 0
    good = evolve(flips[1], id=f"{FAIL.id}~flip:3", verdict="pass")
    assert code(flips[0], good, OTHER, text=broad + other) == 3
    narrow = f"[[known-failure]]{first}".replace("**", "sum/wrong").replace("crc-mismatch", "bad-magic")
    assert code(*flips, OTHER, text=broad + other + narrow) == 3


ENDS = (("timeout",), ("resource", "memory"), ("resource", "output"), ("crash",))
"""How a codec that runs away may end: the machine decides."""


@each("written", ["timeout", "resource:memory", "resource:output", "crash"])
def test_a_runaway_codec_is_known_whichever_limit_ends_it(written: str) -> None:
    text = TEXT.replace('"crash"', f'"{written}"')
    for end in ENDS:
        assert code(FAIL, event(3, "other/one", *end), text=text) == 0
        assert fix(text, stream(FAIL, event(3, "other/one", *end))) == text
    assert code(FAIL, event(3, "other/one", "fail", "wrong-accept"), text=text) == 3
    assert code(FAIL, event(3, "other/one", "stalled"), text=text) == 3
    assert code(FAIL, event(3, "other/one", "pass"), text=text) == 3


def test_an_exact_entry_ends_in_its_own_way_on_every_machine() -> None:
    text = f"{TEXT}exact = true\n"
    assert code(FAIL, OTHER, text=text) == 0
    for end in (("timeout",), ("resource", "memory")):
        assert code(FAIL, event(3, "other/one", *end), text=text) == 3


def test_a_broad_entry_of_a_runaway_codec_covers_each_way_to_end_and_is_listed_once() -> None:
    broad = TEXT.replace("other/one", "**~flip:*")
    flips = [event(n, f"other/one~flip:{n}", *end) for n, end in enumerate(ENDS, 3)]
    assert code(FAIL, *flips, text=broad) == 0
    assert code(FAIL, *flips, text=f"{broad}exact = true\n") == 1
    again = broad.partition("# another\n")[2].replace('"crash"', '"timeout"')
    with pytest.raises(BaselineError, match="written twice"):
        parse_baseline(broad + again)
    assert len(parse_baseline(f"{broad}exact = true\n{again}")) == 3


def test_a_run_of_a_part_of_the_derived_cases_pays_no_entry_of_a_family() -> None:
    text = TEXT.replace("sum/wrong", "sum/wrong~truncate:*", 1)
    passed = event(1, "sum/wrong~truncate:3", "pass")
    assert code(passed, OTHER, text=text) == 3
    assert code(passed, OTHER, text=text, hello={"cost": "slow"}) == 0
    assert code(event(1, "sum/wrong", "pass"), OTHER, hello={"cost": "slow"}) == 3


def test_a_broad_entry_of_no_known_fixture_is_named() -> None:
    known_failures = parse_baseline(TEXT.replace("toy.frame/v1/sum/wrong", "toy.frame/v1/sum/*~flip:*"))
    assert baseline.check(known_failures, NAMES, TODAY) == ([], [])
    assert baseline.check(known_failures, CaseNames([OTHER.id]), TODAY)[0] == [
        "baseline:6: toy.frame/v1/sum/*~flip:*: no such case"
    ]


# --- what is added, what is left alone, what is refused ---


ZERO = evolve(FAIL, id="toy.frame/v1/sum/zero", seq=2)
DAY = date(2027, 5, 20)
MODEL = KnownFailure("", "", "", "so", "me", DAY)
HEAD = 'owner = "somebody"\nexpires = 2027-06-30\nreason = "shared"\n'


def add(
    text: str, *cases: CaseEvent, words: Sequence[str] = (), model: KnownFailure = MODEL, today: date = TODAY
) -> Added:
    return baseline_adding.add(text, [stream(*cases)], NAMES, model, words, today=today)


def extend(text: str, until: date, *words: str, today: date = TODAY) -> str:
    return baseline_writing.extend(text, until, words, today).text


def test_what_a_file_has_stays_byte_for_byte_and_the_next_run_is_green() -> None:
    for text in (TEXT, TEXT.rstrip("\n"), TEXT + "\n# the last word", TEXT.replace("\n", "\r\n")):
        done = add(text, PASS, FAIL, OTHER, ZERO)
        assert done.text.startswith(text)
        assert ("\n" in done.text.replace("\r\n", "")) == ("\r" not in text)
        assert code(PASS, FAIL, OTHER, ZERO, text=done.text) == 0
        assert [entry.id for entry in done.added] == [ZERO.id]
        assert (done.failures, done.known, done.left) == (1, 2, 0)
        added = parse_baseline(done.text)[-1]
        assert added == done.added[0]
        assert (added.reason, added.owner, added.expires) == ("so", "me", DAY)
    assert add(TEXT, PASS, FAIL, OTHER).text == TEXT


def test_the_owner_is_that_of_the_file_and_what_the_file_says_for_all_is_not_repeated() -> None:
    done = add(f"# all\n{HEAD}", FAIL, model=evolve(MODEL, owner="", issue="https://example.org/1"))
    new = done.text.removeprefix(f"# all\n{HEAD}")
    assert new == (
        '\n# toy.sum\n[[known-failure]]\nid = "toy.frame/v1/sum/wrong"\nkind = "fail:wrong-accept"\n'
        'class = "crc-mismatch"\nreason = "so"\npath = "sum"\nissue = "https://example.org/1"\n'
        "expires = 2027-05-20\n"
    )
    assert parse_baseline(done.text)[0].owner == "somebody"
    alike = add(HEAD, FAIL, model=KnownFailure("", "", "", "shared", "somebody", LATER))
    assert alike.text.count("expires") == alike.text.count("owner") == alike.text.count("reason") == 1


@each(
    "text, model, says",
    [
        ("", evolve(MODEL, owner=""), "needs an owner of the new entries: --owner NAME"),
        (TEXT, evolve(MODEL, reason=""), "needs a reason: --reason TEXT"),
        (TEXT.replace("sum/wrong", "sum/wrng"), MODEL, "baseline:6: .* no such case; did you mean"),
        (TEXT + "later = 1\n", MODEL, "look at later"),
        ("known-failure = []\n", MODEL, "has entries in a form that cannot be rewritten"),
        ("owner = 3\n", evolve(MODEL, owner=""), "needs an owner"),
    ],
)
def test_a_file_that_is_not_valid_gets_no_entry(text: str, model: KnownFailure, says: str) -> None:
    with pytest.raises(BaselineError, match=says) as error:
        add(text, ZERO, model=model)
    assert "\n" not in str(error.value)


def test_a_case_that_the_suite_does_not_have_is_refused() -> None:
    with pytest.raises(BaselineError, match=r"/new/one: the runs have this case, and the suite has not"):
        add(TEXT, event(5, "new/one", "crash"))


def test_only_the_chosen_failures_are_added() -> None:
    crash = event(3, "other/one", "crash")
    failures = (PASS, FAIL, ZERO, crash)
    for words, ids in (
        ([FAIL.id], [FAIL.id]),
        (["toy.frame/v1/sum/*"], [FAIL.id, ZERO.id]),
        (["fail:wrong-accept"], [FAIL.id, ZERO.id]),
        (["fail"], [FAIL.id, ZERO.id]),
        (["crash"], [crash.id]),
        (["crash", ZERO.id], [crash.id, ZERO.id]),
        ([], [crash.id, FAIL.id, ZERO.id]),
    ):
        done = add("", *failures, words=words)
        assert [entry.id for entry in done.added] == ids, words
        assert done.left == 3 - len(ids)
        assert code(*failures, text=done.text) == bool(done.left)


@each(
    "word, says",
    [
        ("toy.frame/v1/sum/zerro", r"has this id or kind: did you mean toy.frame/v1/sum/zero\?"),
        ("wrong-accept", r"did you mean fail:wrong-accept\?"),
        ("toy.frame/v1/sum", r"write 'toy.frame/v1/sum/\*\*' for the cases in it"),
        ("timeout", "known names: fail:wrong-accept, toy.frame/v1/sum/wrong, toy.frame/v1/sum/zero"),
        ("toy.frame/v1/sum/[ab]", "brackets are not supported"),
        (PASS.id, "known names: "),
    ],
)
def test_a_word_that_names_nothing_is_refused_with_the_nearest(word: str, says: str) -> None:
    with pytest.raises(BaselineError, match=says) as error:
        add(TEXT, PASS, FAIL, ZERO, words=[FAIL.id, word])
    assert str(error.value).endswith("; nothing was changed")


def flips(number: int, name: str = "sum/wrong", **fields: object) -> list[CaseEvent]:
    return [
        evolve(FAIL, id=f"toy.frame/v1/{name}~flip:{n}", seq=10 + n, **{"path": "", **fields})
        for n in range(number)
    ]


def test_derived_cases_are_folded_unless_a_pattern_would_cover_what_is_not_chosen() -> None:
    cases = (*flips(3), *flips(2, "sum/zero"))
    assert [entry.id for entry in add("", *cases).added] == ["toy.frame/v1/sum/*~flip:*"]
    assert [entry.id for entry in add("", *flips(3)).added] == ["toy.frame/v1/sum/wrong~flip:*"]
    one = add("", *cases, words=[cases[1].id])
    assert [entry.id for entry in one.added] == [cases[1].id]
    assert (one.failures, one.left) == (1, 4)
    parent = add("", *cases, words=["toy.frame/v1/sum/wrong~flip:*"])
    assert [entry.id for entry in parent.added] == sorted(case.id for case in flips(3))
    rest = add(parent.text, *cases)
    assert code(*cases, text=rest.text) == 0
    assert (rest.known, rest.failures) == (3, 2)
    golden = add("", FAIL, *flips(3), words=["toy.frame/v1/sum/wrong"])
    assert [entry.id for entry in golden.added] == [FAIL.id]
    folder = add("", FAIL, *flips(3), words=["toy.frame/v1/sum/*"])
    assert {entry.id for entry in folder.added} == {FAIL.id, "toy.frame/v1/sum/wrong~flip:*"}


def test_a_case_that_fails_in_another_way_than_its_entry_is_left_to_fix() -> None:
    changed = evolve(FAIL, kind="wrong-value")
    done = add(TEXT, changed, OTHER)
    assert done.text == TEXT
    assert done.changed == {FAIL.id: ("fail:wrong-accept", "fail:wrong-value")}
    both = baseline_adding.add(TEXT, [stream(changed), stream(FAIL)], NAMES, MODEL, today=TODAY)
    assert (both.changed, both.known) == ({}, 1)


def test_an_entry_past_its_day_is_left_to_extend() -> None:
    done = add(TEXT, FAIL, OTHER, today=date(2027, 7, 1))
    assert done.text == TEXT
    assert [entry.id for entry in done.expired] == [FAIL.id, OTHER.id]


def test_a_new_entry_does_not_take_cases_from_a_pattern_that_expects_them() -> None:
    text = TEXT.replace("sum/wrong", "sum/*~flip:*")
    known, other = flips(1, path="sum")[0], evolve(flips(2)[1], verdict="crash", kind="", cls="")
    done = add(text, other, OTHER)  # a run of a part: the known failure of the same family is not in it
    assert code(known, other, OTHER, text=done.text) == 0


WAYS = (
    ("fail", "wrong-accept", "crc-mismatch"),
    ("fail", "wrong-value", ""),
    ("crash", "", ""),
    ("timeout", "", ""),
    ("blocked", PASS.id, ""),
    ("pass", "", ""),
)
FIXTURES = [f"toy.frame/v1/{topic}/{name}" for topic in "abc" for name in "xyz"]
IDS = [
    *FIXTURES,
    *(f"{name}~{family}:{n}" for name in FIXTURES for family in ("flip", "truncate") for n in range(2)),
    *(f"toy.frame/v1/property/decode~s0:{n}" for n in range(2)),
]
EVENTS = strategies.dictionaries(
    strategies.sampled_from(IDS),
    strategies.tuples(strategies.sampled_from(WAYS), strategies.sampled_from(["", "sum", "records[1].key"])),
)


def run_of(answers: dict[str, tuple[tuple[str, str, str], str]]) -> list[CaseEvent]:
    return [
        evolve(FAIL, id=name, seq=n, verdict=verdict, kind=kind, cls=cls, path=path)
        for n, (name, ((verdict, kind, cls), path)) in enumerate(answers.items())
    ]


@settings(deadline=None)
@given(EVENTS, EVENTS, strategies.integers(0, 99))
def test_exactly_the_chosen_failures_are_expected_after_it_and_no_other_entry_changes_its_meaning(
    first: dict[str, tuple[tuple[str, str, str], str]],
    then: dict[str, tuple[tuple[str, str, str], str]],
    number: int,
) -> None:
    names = CaseNames(set(FIXTURES), ["toy.frame/v1/property/decode"])
    text = baseline_adding.add("", [stream(*run_of(first))], names, MODEL, today=TODAY).text
    before = EntryLookup(parse_baseline(text))
    assert all(before.expects(case, TODAY) for case in run_of(first) if case.verdict != "pass")
    failures = [case for case in run_of(then) if case.verdict != "pass"]
    words = [failures[number % len(failures)].id] if failures and number % 3 else []
    done = baseline_adding.add(text, [stream(*run_of(then))], names, MODEL, words, today=TODAY)
    assert done.text.startswith(text)
    after = EntryLookup(parse_baseline(done.text))
    for case in failures:
        chosen = not words or case.id in words
        known = before.expects(case, TODAY)
        if not case.is_property:
            assert after.expects(case, TODAY) == (known or (chosen and case.id not in done.changed))
    added = {entry.id for entry in done.added}
    for case in run_of(first):
        assert case.verdict == "pass" or case.id in added or after.expects(case, TODAY)


# --- later days ---

UNTIL = date(2027, 9, 1)
SHARED = f"""{HEAD}
# two of one kind
[[known-failure]]
id = ["toy.frame/v1/sum/wrong",  # the first
      "toy.frame/v1/sum/zero"]
kind = "fail:wrong-accept"

[[known-failure]]
id = "toy.frame/v1/other/one"
kind = "crash"
expires = 2027-02-01  # soon
"""


def test_all_entries_get_a_later_day_and_one_that_they_share_stays_shared() -> None:
    now = extend(SHARED, UNTIL)
    assert now == SHARED.replace("2027-06-30", "2027-09-01").replace("2027-02-01", "2027-09-01")
    assert extend(TEXT, UNTIL) == TEXT.replace("2027-06-30", "2027-09-01")
    assert extend(TEXT.replace("\n", "\r\n"), UNTIL).count("2027-09-01\r\n") == 2


def test_only_the_chosen_entries_get_a_later_day() -> None:
    assert extend(SHARED, UNTIL, OTHER.id) == SHARED.replace("2027-02-01", "2027-09-01")
    assert extend(SHARED, UNTIL, "crash") == extend(SHARED, UNTIL, OTHER.id)
    both = extend(SHARED, UNTIL, "toy.frame/v1/sum/*")
    assert both == SHARED.replace("2027-06-30", "2027-09-01")  # no other takes the shared day
    one = extend(SHARED, UNTIL, FAIL.id)
    assert {entry.id: entry.expires for entry in parse_baseline(one)} == {
        FAIL.id: UNTIL, ZERO.id: LATER, OTHER.id: date(2027, 2, 1)
    }  # fmt: skip
    assert "# two of one kind\n# the first\n[[known-failure]]\n" in one
    assert extend(one, UNTIL) == one.replace("2027-06-30", "2027-09-01").replace("2027-02-01", "2027-09-01")


def test_no_entry_gets_an_earlier_day() -> None:
    done = baseline_writing.extend(SHARED, date(2027, 3, 1), (), TODAY)
    assert done.text == SHARED.replace("2027-02-01", "2027-03-01")
    assert ([entry.id for entry in done.extended], done.later, done.kept) == ([OTHER.id], 2, 0)


@pytest.mark.parametrize("until", [TODAY - timedelta(1), TODAY + LONGEST_EXTENSION + timedelta(1)])
def test_a_day_that_is_past_or_far_ahead_is_refused(until: date) -> None:
    with pytest.raises(BaselineError, match=f"{until} is past, or more .*: choose a day up to 2027-11-22"):
        extend(SHARED, until)


def test_entries_are_named_two_weeks_before_their_last_day() -> None:
    entries = parse_baseline(SHARED)
    first = date(2027, 2, 1)
    for today, ids in (
        (first - WARNING - timedelta(1), []),
        (first - WARNING, [OTHER.id]),
        (first, [OTHER.id]),
        (first + timedelta(1), []),
        (LATER, [FAIL.id, ZERO.id]),
    ):
        assert [entry.id for entry in expiring(entries, today)] == ids
    (line,) = expiry_notices(entries, LATER, "known.toml")
    assert line == (
        f"known.toml:7: expires after 2027-06-30, owner somebody: {FAIL.id} and 1 more; "
        "`wireproof baseline extend known.toml --until DATE` sets a later day"
    )
