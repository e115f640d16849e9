"""Baselines as known failures: architecture.md#events."""

import re
from datetime import date

import pytest
from attrs import evolve
from goldens import load
from small_runs import FAIL, PASS, RUN, SKIP, event, stream

from wireproof.adapters.packaged_folders import peers_folder
from wireproof.runner import baseline
from wireproof.runner.baseline import apply, fix, write
from wireproof.runner.conclusion import exit_code
from wireproof.runner.events import CaseEvent, Requirements
from wireproof.runner.known_failures import BaselineError, parse_baseline, read_baseline

TODAY = date(2026, 11, 21)
LATER = date(2027, 6, 30)

TEXT = """\
# known failures of some

# why it is so
# in two lines
[[known-failure]]
id = "toy.frame/v1/sum/wrong"
kind = "fail:wrong-accept"  # seen in 1.2
class = "crc-mismatch"
reason = "checks sums only on request"
owner = "somebody"
expires = 2027-06-30

# another
[[known-failure]]
id = "toy.frame/v1/other/one"
kind = "crash"
class = ""
reason = 'a "quoted" one'
owner = "somebody"
expires = 2027-06-30
"""

OTHER = event(3, "other/one", "crash")


def code(*cases: CaseEvent, text: str = TEXT, today: date = TODAY, **run: object) -> int:
    seen = stream(*cases, run=evolve(RUN, **run))
    return exit_code(seen, apply(seen, parse_baseline(text), today))


def test_without_a_baseline_a_failure_fails() -> None:
    assert exit_code(stream(PASS, FAIL)) == 1
    assert exit_code(stream(PASS, SKIP)) == 0


def test_expected_failures_conform() -> None:
    assert code(PASS, FAIL, OTHER) == 0


def test_an_entry_that_is_paid_is_stale() -> None:
    assert code(event(1, "sum/wrong", "pass"), OTHER) == 3


def test_a_flaky_entry_may_hold_or_not_and_fails_as_it_is_written() -> None:
    text = TEXT.replace("expires = 2027-06-30\n", "expires = 2027-06-30\nflaky = true\n", 1)
    assert code(event(1, "sum/wrong", "pass"), OTHER, text=text) == 0
    assert code(FAIL, OTHER, text=text) == 0
    assert code(evolve(FAIL, kind="wrong-value"), OTHER, text=text) == 3
    assert fix(text, stream(event(1, "sum/wrong", "pass"), OTHER), TODAY) == text


def test_an_entry_whose_case_is_skipped_is_stale() -> None:
    assert code(event(1, "sum/wrong", "unsupported"), OTHER) == 3


def test_an_entry_whose_case_is_gone_is_stale_in_a_whole_run_only() -> None:
    assert code(PASS, FAIL) == 3
    assert code(PASS, FAIL, filters=("toy.frame/**",)) == 0
    assert code(PASS, FAIL, shard="1/2") == 0


def test_a_requirement_set_leaves_cases_out_so_no_entry_is_stale_by_it() -> None:
    against = Requirements("2026.12:kafka-consumer-1", "Kafka consumer 1 (2026.12)")
    seen = stream(PASS, run=evolve(RUN, requirements=against))
    assert apply(seen, parse_baseline(TEXT), TODAY).stale == ()
    with pytest.raises(BaselineError, match="from a whole run only"):
        fix(TEXT, seen, TODAY)


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
    text = write(stream(FAIL, EXAMPLE, wrong, other), "me", "why", LATER)
    found = [(entry.id, entry.path) for entry in parse_baseline(text)]
    paths = ("sum", "records[].key", "records[].value")
    assert set(found) == {*((EXAMPLES, path) for path in paths), (FAIL.id, "sum")}
    later = evolve(wrong, id="toy.frame/v1/property/decode~s1002003:0", path="records[0].key")
    assert code(FAIL, EXAMPLE, later, text=text) == 0
    assert code(FAIL, evolve(later, path="records[0].offset"), text=text) == 1
    assert code(FAIL, evolve(later, cls="truncated"), text=text) == 1
    assert code(FAIL, evolve(later, id="toy.frame/v1/property/encode~s0:0"), text=text) == 1
    assert fix(text, stream(FAIL, later), TODAY) == text


def test_an_entry_of_examples_names_a_broken_rule_or_any_field() -> None:
    text = write(stream(evolve(EXAMPLE, broken="toy.rule")), "me", "why", LATER)
    assert parse_baseline(text)[0].path == "toy.rule"
    assert code(evolve(EXAMPLE, broken="toy.other"), text=text) == 1
    anywhere = text.replace('path = "toy.rule"\n', "")
    assert code(evolve(EXAMPLE, broken="toy.other"), text=anywhere) == 0
    with pytest.raises(BaselineError, match="/property/<op>~"):
        parse_baseline(text.replace(EXAMPLES, "toy.frame/v1/sum/wrong~*"))


def test_an_entry_of_examples_is_checked() -> None:
    text = write(stream(EXAMPLE), "me", "why", LATER)
    assert len(baseline.check(parse_baseline(text), [], TODAY)) == 1
    known = parse_baseline(text.replace("toy.frame/v1", "kafka.batch/v2"))
    assert baseline.check(known, [], TODAY) == ()


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


@pytest.mark.parametrize("now", [evolve(FAIL, kind="wrong-value"), evolve(FAIL, cls="bad-magic")])
def test_an_entry_that_fails_otherwise_is_changed(now: CaseEvent) -> None:
    assert code(now, OTHER) == 3


def test_a_new_failure_outweighs_a_stale_entry() -> None:
    assert code(event(1, "sum/wrong", "pass"), OTHER, event(5, "new/one", "crash")) == 1


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


def test_a_run_that_was_broken_off_is_never_green() -> None:
    assert exit_code(evolve(stream(PASS), footer=None)) == 4


def test_should_gates_when_the_run_holds_to_it() -> None:
    soft = evolve(FAIL, level="should")
    assert exit_code(stream(soft)) == 0
    assert exit_code(stream(soft, run=evolve(RUN, level="should"))) == 1


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
    assert code(flips[0], OTHER, text=broad + other) == 3
    narrow = f"[[known-failure]]{first}".replace("**", "sum/wrong").replace("crc-mismatch", "bad-magic")
    assert code(*flips, OTHER, text=broad + other + narrow) == 3


ENDS = (("timeout",), ("resource", "memory"), ("resource", "output"), ("crash",))
"""How a codec that runs away may end: the machine decides."""


@pytest.mark.parametrize("written", ["timeout", "resource:memory", "resource:output", "crash"])
def test_a_runaway_codec_is_known_whichever_limit_ends_it(written: str) -> None:
    text = TEXT.replace('"crash"', f'"{written}"')
    for end in ENDS:
        assert code(FAIL, event(3, "other/one", *end), text=text) == 0
        assert fix(text, stream(FAIL, event(3, "other/one", *end)), TODAY) == text
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
    assert baseline.check(known_failures, [FAIL.id, OTHER.id], TODAY) == ()
    assert baseline.check(known_failures, [OTHER.id], TODAY) == ("toy.frame/v1/sum/*~flip:*: no such case",)


def test_a_written_baseline_makes_the_next_run_green() -> None:
    text = write(stream(PASS, FAIL, OTHER, SKIP), "me", 'a "reason"\twith \\ signs', LATER)
    assert [entry.id for entry in parse_baseline(text)] == [OTHER.id, FAIL.id]
    assert parse_baseline(text)[0].reason == 'a "reason"\twith \\ signs'
    assert code(PASS, FAIL, OTHER, SKIP, text=text) == 0


def test_fix_drops_stale_entrys_and_keeps_everything_else() -> None:
    fixed = fix(TEXT, stream(FAIL, event(3, "other/one", "pass")), TODAY)
    assert fixed == TEXT[: TEXT.index("# another")]
    assert fix(TEXT, stream(FAIL, OTHER), TODAY) == TEXT


GROUPS = """\
# all of some

# sums are not looked at, neither here
# nor in the next one
[[known-failure]]
id = "toy.frame/v1/sum/wrong"
kind = "fail:wrong-accept"
class = "crc-mismatch"
reason = "a # in a text"
owner = "somebody"
expires = 2027-06-30

[[known-failure]]
id = "toy.frame/v1/sum/zero"
kind = "fail:wrong-accept"
class = "crc-mismatch"
reason = "the same"
owner = "somebody"
expires = 2027-06-30

# --- crashes ---

# only this one
[[known-failure]]
id = "toy.frame/v1/other/one"
kind = "crash"
class = ""
reason = "falls"
owner = "somebody"
expires = 2027-06-30
issue = "https://example.org/1"

# the last word
"""
ZERO = evolve(FAIL, id="toy.frame/v1/sum/zero", seq=2)


def gone(*cases: CaseEvent) -> str:
    paid = [evolve(case, verdict="pass", kind="", cls="") for case in cases]
    kept = [case for case in (FAIL, ZERO, OTHER) if case not in cases]
    return fix(GROUPS, stream(*kept, *paid), TODAY)


def test_fix_keeps_the_comment_of_a_group_until_its_last_entry_is_paid() -> None:
    assert gone() == GROUPS
    first, second, third = (GROUPS[GROUPS.index("[[known-failure]]") :].split("[[known-failure]]"))[1:]
    assert gone(FAIL) == GROUPS.replace(f"[[known-failure]]{first}", "", 1)
    assert gone(ZERO) == GROUPS.replace(f"[[known-failure]]{second.partition('# ---')[0]}", "", 1)
    assert "nor in the next one" not in gone(FAIL, ZERO)
    assert gone(FAIL, ZERO).startswith(
        "# all of some\n\n# --- crashes ---\n\n# only this one\n[[known-failure]]"
    )
    assert gone(OTHER) == GROUPS.partition("# only")[0] + "# the last word\n"
    assert gone(FAIL, ZERO, OTHER) == "# all of some\n\n# --- crashes ---\n\n# the last word\n"
    assert third.startswith("\nid")


def test_an_entry_may_name_its_issue_and_says_it_with_its_owner() -> None:
    (*_, last) = parse_baseline(GROUPS)
    assert last.who == "owner somebody, https://example.org/1"
    text = write(stream(FAIL), "me", "so", LATER, "https://example.org/2")
    assert parse_baseline(text)[0].issue == "https://example.org/2"
    assert parse_baseline(text)[0].fault == ""
    assert baseline.check([last], [], date(2028, 1, 1))[1].endswith("owner somebody, https://example.org/1")


def test_an_entry_may_link_to_the_lines_at_fault_and_a_fix_keeps_the_link() -> None:
    text = TEXT + 'fault = "https://example.org/a.c#L7"\n'
    first, last = parse_baseline(text)
    assert (first.fault, last.fault) == ("", "https://example.org/a.c#L7")
    assert fix(text, stream(FAIL, OTHER), TODAY) == text
    with pytest.raises(BaselineError, match="fault is a link, https://"):
        parse_baseline(TEXT + 'fault = "a.c, line 7"\n')


def test_fix_rewrites_what_changed_and_keeps_comments() -> None:
    fixed = fix(TEXT, stream(evolve(FAIL, kind="wrong-value", cls=""), OTHER), TODAY)
    assert 'kind = "fail:wrong-value"  # seen in 1.2\nclass = ""\n' in fixed
    assert "# why it is so\n# in two lines\n[[known-failure]]\n" in fixed
    assert (
        fixed.replace("wrong-value", "wrong-accept").replace('class = ""', 'class = "crc-mismatch"', 1)
        == TEXT
    )


LIST = """\
owner = "somebody"
expires = 2027-06-30

# two of one kind
[[known-failure]]
id = ["toy.frame/v1/sum/wrong", "toy.frame/v1/other/one"]
kind = "fail:wrong-accept"
reason = "why"
flaky = true
"""


def test_a_table_may_list_the_cases_that_fail_alike_and_the_file_the_owner_of_all() -> None:
    first, second = parse_baseline(LIST)
    assert evolve(first, id=second.id) == second
    assert (first.id, second.id) == (FAIL.id, OTHER.id)
    assert (first.cls, first.owner, first.expires, first.flaky) == ("", "somebody", LATER, True)
    other = parse_baseline(LIST.replace("flaky = true", 'owner = "you"'))
    assert {entry.owner for entry in other} == {"you"}
    alike = evolve(OTHER, verdict="fail", kind="wrong-accept")
    new = evolve(alike, id="toy.frame/v1/other/two")
    text = LIST.replace("flaky = true\n", "")
    assert code(PASS, evolve(FAIL, cls=""), alike, text=text) == 0
    assert code(PASS, evolve(FAIL, cls=""), alike, new, text=text) == 1


def test_fix_takes_single_cases_out_of_a_table() -> None:
    text = LIST.replace("flaky = true\n", "")
    fails, passes = evolve(FAIL, cls=""), evolve(OTHER, verdict="pass", kind="")
    changed = evolve(OTHER, verdict="fail", kind="wrong-value", cls="crc-mismatch")
    shorter = text.replace('["toy.frame/v1/sum/wrong", "toy.frame/v1/other/one"]', '"toy.frame/v1/sum/wrong"')
    assert fix(text, stream(fails, passes), TODAY) == shorter
    split = parse_baseline(fix(text, stream(fails, changed), TODAY))
    assert [(entry.id, entry.kind, entry.cls) for entry in split] == [
        (FAIL.id, "fail:wrong-accept", ""), (OTHER.id, "fail:wrong-value", "crc-mismatch")
    ]  # fmt: skip
    assert fix(text, stream(evolve(FAIL, verdict="pass", kind=""), passes), TODAY).count("known-failure") == 0


def test_a_baseline_has_a_table_for_each_way_to_fail_and_names_its_rules() -> None:
    paths = ("crc", "length", "records[].key", "records[].value", "")
    cases = [
        evolve(FAIL, seq=n, id=f"toy.frame/v1/topic/{n:02d}", rules=(f"rule{n % 7}",), path=paths[n % 5])
        for n in range(60)
    ]
    text = write(stream(PASS, *cases), "me", "why", LATER)
    assert text.count("[[known-failure]]") == 5
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= baseline.LINE
    assert sorted(entry.id for entry in parse_baseline(text)) == [case.id for case in cases]
    assert code(PASS, *cases, text=text) == 0
    new = evolve(cases[0], seq=60, id="toy.frame/v1/topic/60")
    assert code(PASS, *cases, new, text=text) == 1  # it fails like a known failure, and is in no list
    assert all(f"rule{n}" in text for n in range(7))


def test_derived_cases_of_many_topics_that_fail_at_the_same_field_are_one_pattern() -> None:
    cases = [
        evolve(FAIL, seq=n, id=f"toy.frame/v1/topic{n % 4}/{n:02d}~flip:{n}", path="records[1].value")
        for n in range(20)
    ]
    text = write(stream(PASS, *cases), "me", "why", LATER)
    assert [entry.id for entry in parse_baseline(text)] == ["toy.frame/v1/**~flip:*"]
    assert code(PASS, *cases, text=text) == 0
    again = evolve(cases[0], seq=20, id="toy.frame/v1/topic9/00~flip:0")
    assert code(PASS, *cases, again, text=text) == 0
    for other in ({"path": "records[1].key"}, {"cls": "other"}, {"kind": "wrong-value"}):
        assert code(PASS, *cases, evolve(again, **other), text=text) == 1
    assert code(PASS, *cases, evolve(again, id="toy.frame/v1/topic9/00"), text=text) == 1
    nowhere = [evolve(case, path="") for case in cases]
    by_topic = write(stream(PASS, *nowhere), "me", "why", LATER)
    assert {entry.id for entry in parse_baseline(by_topic)} == {
        f"toy.frame/v1/topic{n}/*~flip:*" for n in range(4)
    }


def test_a_comment_names_as_many_rules_as_fit_on_a_line() -> None:
    cases = [
        evolve(FAIL, seq=n, id=f"toy.frame/v1/topic/{n:02d}", rules=(f"toy.rule-number-{n:02d}",))
        for n in range(20)
    ]
    (comment,) = re.findall("^# .*", write(stream(*cases), "me", "why", LATER), re.MULTILINE)
    assert comment.startswith("# toy.rule-number-00, toy.rule-number-01, ")
    assert comment.endswith(f" and {20 - comment.count('toy.')} more")
    assert len(comment) <= baseline.LINE


AT_VALUE = """\
owner = "somebody"
expires = 2027-06-30
reason = "why"

[[known-failure]]
id = "toy.frame/v1/sum/*~flip:*"
kind = "fail:wrong-value"

[[known-failure]]
id = ["toy.frame/v1/sum/wrong", "toy.frame/v1/sum/*~flip:*"]
kind = "fail:wrong-value"
path = "records[].value"
"""


def test_an_entry_with_a_path_covers_failures_at_this_field_only_and_comes_before_one_without() -> None:
    golden = evolve(FAIL, kind="wrong-value", cls="", path="records[1].value")
    derived = evolve(golden, seq=2, id="toy.frame/v1/sum/wrong~flip:7")
    elsewhere = evolve(derived, seq=3, id="toy.frame/v1/sum/wrong~flip:8", path="records[0].key")
    applied = apply(stream(golden, derived, elsewhere), parse_baseline(AT_VALUE), TODAY)
    assert set(applied.overlays.values()) == {"expected"}
    assert (applied.stale, applied.changed) == ((), ())
    only_there = AT_VALUE.replace(AT_VALUE[AT_VALUE.index("[[") : AT_VALUE.rindex("[[")], "")
    assert code(golden, derived, text=only_there) == 0
    assert code(golden, derived, elsewhere, text=only_there) == 1
    moved = evolve(golden, path="records[1].key")
    assert code(moved, derived, text=only_there) == 3
    assert fix(only_there, stream(moved, derived), TODAY).count("[[known-failure]]") == 2
    fixed = fix(only_there, stream(moved, derived), TODAY)
    assert code(moved, derived, text=fixed) == 0
    assert 'path = "records[].key"' in fixed
    refused = evolve(golden, kind="wrong-reject", cls="other", path="")
    fixed = fix(only_there, stream(refused, derived), TODAY)
    assert code(refused, derived, text=fixed) == 0
    assert fixed.count("path = ") == 1


def test_a_blocked_refusal_is_known_whatever_twin_the_file_names() -> None:
    blocked = evolve(FAIL, verdict="blocked", kind=PASS.id)
    text = write(stream(PASS, blocked), "me", "why", LATER)
    assert 'kind = "blocked"\n' in text
    assert code(PASS, blocked, text=text) == 0
    assert code(PASS, blocked, text=text.replace('"blocked"', f'"blocked:{PASS.id}"')) == 0


def test_fix_adds_no_entry() -> None:
    assert fix(TEXT, stream(FAIL, OTHER, event(5, "new/one", "crash")), TODAY) == TEXT


@pytest.mark.parametrize("run", [{"filters": ("a",)}, {"shard": "1/2"}])
def test_fix_is_refused_on_a_filtered_run(run: dict[str, object]) -> None:
    with pytest.raises(BaselineError, match="whole run"):
        fix(TEXT, stream(FAIL, run=evolve(RUN, **run)), TODAY)


def test_fix_is_refused_on_an_incomplete_run() -> None:
    with pytest.raises(BaselineError, match="whole run"):
        fix(TEXT, stream(FAIL, complete=False), TODAY)


def test_check_names_unknown_cases_and_past_days() -> None:
    problems = baseline.check(parse_baseline(TEXT), [FAIL.id], date(2028, 1, 1))
    assert problems == (
        f"{FAIL.id}: expired on 2027-06-30, owner somebody",
        f"{OTHER.id}: no such case",
        f"{OTHER.id}: expired on 2027-06-30, owner somebody",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("known-failure = 1", "nothing else"),
        ("x = 1", "nothing else: look at x"),
        ("[[known-failure]]\nid = 'a'", "must have exactly"),
        (TEXT + "more = 1\n", "look at more"),
        (TEXT + "flaky = false\n", "flaky is true, or not there"),
        (TEXT + "exact = 1\n", "exact is true, or not there"),
        (TEXT.replace('"crash"', '"exhausted"'), "is no verdict"),
        (TEXT.replace('owner = "somebody"', 'owner = ""', 1), "owner is not filled in"),
        (TEXT.replace("2027-06-30", '"soon"', 1), "expires is not filled in"),
        (TEXT.replace('"crash"', '"explodes"'), "is no verdict"),
        (TEXT + TEXT, "written twice"),
        (TEXT.replace("sum/wrong", "**~flip:*").replace("other/one", "*"), "named one by one"),
        ("[[known-failure", "baseline: "),
    ],
)
def test_a_baseline_that_says_too_little_is_refused(text: str, says: str) -> None:
    with pytest.raises(BaselineError, match=says):
        parse_baseline(text)


def test_the_entries_of_every_peer_are_of_cases_that_there_are() -> None:
    ids = [case.id for case in load().cases]
    files = sorted(peers_folder().glob("*/*/baseline.toml"))
    known_failures = [
        entry for file in files for entry in parse_baseline(file.read_text(encoding="utf-8"), str(file))
    ]
    assert len(known_failures) > len(files)
    assert baseline.check(known_failures, ids, TODAY) == ()


LINKED = ("kafka-clients", "iggy-rust-*", "heka-go", "protobuf-*")
"""Peers whose known failures link to the lines that are at fault."""

LINES = re.compile(r"https://github\.com/[\w-]+/[\w-]+/blob/[\w./-]+\.\w+#L\d+(-L\d+)?")
"""A link to lines of a file, at a commit or a tag."""


@pytest.mark.parametrize("peers", LINKED)
def test_each_known_failure_at_must_has_a_rule_with_a_basis_and_a_link_to_the_lines_at_fault(
    peers: str,
) -> None:
    suite = load()
    must = [case for case in suite.cases if case.level == "must"]
    files = sorted(peers_folder().glob(f"*/{peers}/baseline.toml"))
    entries = [(file, entry) for file in files for entry in read_baseline(file)]
    about_must = {(file, entry): [case for case in must if entry.selects(case.id)] for file, entry in entries}
    assert any(about_must.values())
    for (file, entry), cases in about_must.items():
        assert all(suite.rules[name].basis for case in cases for name in case.rules), entry.id
        assert not cases or LINES.fullmatch(entry.fault), f"{file.parent.name}: {entry.id}: {entry.fault!r}"
