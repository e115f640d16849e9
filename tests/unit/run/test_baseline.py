"""Baselines as known failures: architecture.md#events."""

from datetime import date

import pytest
from attrs import evolve
from baselines import LATER, NAMES, OTHER, TEXT, TODAY, code, fix, written
from each import each
from small_runs import FAIL, PASS, RUN, SKIP, event, stream

from wireproof.run.baselines import baseline, baseline_writing
from wireproof.run.baselines.baseline import apply
from wireproof.run.baselines.known_failures import BaselineError, CaseNames, parse_baseline
from wireproof.run.conclusion import exit_code
from wireproof.run.events import Requirements


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
