"""The files of baselines: written from a run, rewritten, checked, refused."""

import pytest
from attrs import evolve
from baselines import LATER, NAMES, OTHER, TEXT, TODAY, code, fix, written
from each import each
from goldens import load
from small_runs import FAIL, PASS, RUN, event, stream

from wireproof.adapters.registry.peers import peers_folder
from wireproof.run.baselines import baseline, baseline_writing
from wireproof.run.baselines.baseline import apply
from wireproof.run.baselines.baseline_writing import LINE
from wireproof.run.baselines.known_failures import BaselineError, CaseNames, parse_baseline
from wireproof.run.events import CaseEvent


def test_fix_drops_stale_entrys_and_keeps_everything_else() -> None:
    fixed = fix(TEXT, stream(FAIL, event(3, "other/one", "pass")))
    assert fixed == TEXT[: TEXT.index("# another")]
    assert fix(TEXT, stream(FAIL, OTHER)) == TEXT


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
    return fix(GROUPS, stream(*kept, *paid))


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


def test_an_entry_may_link_to_the_lines_at_fault_and_a_fix_keeps_the_link() -> None:
    text = TEXT + 'fault = "https://example.org/a.c#L7"\n'
    first, last = parse_baseline(text)
    assert (first.fault, last.fault) == ("", "https://example.org/a.c#L7")
    assert fix(text, stream(FAIL, OTHER)) == text
    with pytest.raises(BaselineError, match="fault is a link, https://"):
        parse_baseline(TEXT + 'fault = "a.c, line 7"\n')


def test_fix_rewrites_what_changed_and_keeps_comments() -> None:
    fixed = fix(TEXT, stream(evolve(FAIL, kind="wrong-value", cls=""), OTHER))
    assert 'kind = "fail:wrong-value"\nreason' in fixed
    assert "# why it is so\n# in two lines\n# seen in 1.2\n[[known-failure]]\n" in fixed
    assert fixed[fixed.index("# another") :] == TEXT[TEXT.index("# another") :]


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
    assert fix(text, stream(fails, passes)) == shorter
    split = parse_baseline(fix(text, stream(fails, changed)))
    assert [(entry.id, entry.kind, entry.cls) for entry in split] == [
        (FAIL.id, "fail:wrong-accept", ""), (OTHER.id, "fail:wrong-value", "crc-mismatch")
    ]  # fmt: skip
    assert fix(text, stream(evolve(FAIL, verdict="pass", kind=""), passes)).count("known-failure") == 0


def test_a_baseline_has_a_table_for_each_way_to_fail_and_names_its_rules() -> None:
    paths = ("crc", "length", "records[].key", "records[].value", "")
    cases = [
        evolve(FAIL, seq=n, id=f"toy.frame/v1/topic/{n:02d}", rules=(f"rule{n % 7}",), path=paths[n % 5])
        for n in range(60)
    ]
    text = written(stream(PASS, *cases), "me", "why", LATER)
    assert text.count("[[known-failure]]") == 5
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= LINE
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
    text = written(stream(PASS, *cases), "me", "why", LATER)
    assert [entry.id for entry in parse_baseline(text)] == ["toy.frame/v1/**~flip:*"]
    assert code(PASS, *cases, text=text) == 0
    again = evolve(cases[0], seq=20, id="toy.frame/v1/topic9/00~flip:0")
    assert code(PASS, *cases, again, text=text) == 0
    for other in ({"path": "records[1].key"}, {"cls": "other"}, {"kind": "wrong-value"}):
        assert code(PASS, *cases, evolve(again, **other), text=text) == 1
    assert code(PASS, *cases, evolve(again, id="toy.frame/v1/topic9/00"), text=text) == 1
    nowhere = [evolve(case, path="") for case in cases]
    by_topic = written(stream(PASS, *nowhere), "me", "why", LATER)
    assert {entry.id for entry in parse_baseline(by_topic)} == {
        f"toy.frame/v1/topic{n}/*~flip:*" for n in range(4)
    }


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
    assert fix(only_there, stream(moved, derived)).count("[[known-failure]]") == 2
    fixed = fix(only_there, stream(moved, derived))
    assert code(moved, derived, text=fixed) == 0
    assert 'path = "records[].key"' in fixed
    refused = evolve(golden, kind="wrong-reject", cls="other", path="")
    fixed = fix(only_there, stream(refused, derived))
    assert code(refused, derived, text=fixed) == 0
    assert fixed.count("path = ") == 1


def test_fix_counts_a_case_as_judged_if_any_run_judged_it_and_as_failing_if_it_fails_in_any() -> None:
    paid = event(1, "sum/wrong", "pass")
    parts = [stream(paid, run=evolve(RUN, shard="1/2")), stream(OTHER, run=evolve(RUN, shard="2/2"))]
    done = baseline_writing.fix(TEXT, parts, NAMES)
    assert [entry.id for entry in done.removed] == [FAIL.id]
    assert (done.kept, done.unjudged) == (1, 0)
    assert done.text == TEXT[: TEXT.index("# why")] + TEXT[TEXT.index("# another") :]
    left_out = evolve(paid, verdict="not-run", kind="spent")
    assert baseline_writing.fix(TEXT, [stream(left_out), stream(paid)], NAMES).removed == done.removed
    for now in (FAIL, evolve(FAIL, kind="wrong-value")):
        twice = baseline_writing.fix(TEXT, [stream(paid, OTHER), stream(now, OTHER)], NAMES)
        assert twice.removed == ()
    assert baseline_writing.fix(TEXT, [stream(FAIL), stream(evolve(FAIL, cls=""))], NAMES).text == TEXT


def test_a_pattern_is_stale_by_all_shards_of_a_run_and_not_by_one() -> None:
    text = TEXT.replace("sum/wrong", "**~flip:*")
    cases = [event(n, f"{name}~flip:1") for n, name in enumerate(("sum/wrong", "sum/zero"))]
    parts = [stream(case, run=evolve(RUN, shard=f"{n}/2")) for n, case in enumerate(cases, 1)]
    assert (
        baseline_writing.fix(text, parts, NAMES).text
        == text[: text.index("# why")] + text[text.index("# ano") :]
    )
    for part in (parts[:1], parts[1:], [stream(*cases, run=evolve(RUN, filters=("a",)))]):
        assert baseline_writing.fix(text, part, NAMES).text == text


def test_fix_keeps_the_comments_in_a_list_of_ids() -> None:
    text = """\
owner = "somebody"
expires = 2027-06-30
reason = "why"

[[known-failure]]
id = [  # all [of] them
    "toy.frame/v1/sum/wrong",  # the first, see #7
    "toy.frame/v1/sum/zero",
    # the next "one" is another thing
    'toy.frame/v1/other/one',  # gone
]
kind = "fail:wrong-accept"
class = "crc-mismatch"
"""
    assert [entry.line for entry in parse_baseline(text)] == [7, 8, 10]
    now = fix(text, stream(FAIL, ZERO, event(3, "other/one", "pass")))
    comments = ("all [of] them", "the first, see #7", 'the next "one" is another thing', "gone")
    assert "".join(f"# {one}\n" for one in comments) + '[[known-failure]]\nid = ["toy' in now
    assert [entry.id for entry in parse_baseline(now)] == [FAIL.id, ZERO.id]


@each(
    "name, says",
    [
        (
            "sum/wrng",
            r"known.toml:6: toy.frame/v1/sum/wrng: no such case; did you mean toy.frame/v1/sum/wrong\?",
        ),
        (
            "sum/wrong~flop:*",
            "known.toml:6: .*: no such case; the families of derived cases are truncate, flip",
        ),
        ("gone/*~flip:*", "known.toml:6: .*: no such case"),
        ("property/decod~*", "known.toml:6: .*: no such case"),
    ],
)
def test_an_entry_about_no_case_is_refused_with_its_line(name: str, says: str) -> None:
    with pytest.raises(BaselineError, match=says):
        NAMES.check(parse_baseline(TEXT.replace("sum/wrong", name)), "known.toml")


@each(
    "text, says",
    [
        ("known-failure = 1", "nothing else"),
        ("x = 1", "nothing else: look at x"),
        ("[[known-failure]]\nid = 'a'", "must have exactly"),
        (TEXT + "more = 1\n", "look at more"),
        (TEXT + "flaky = false\n", "flaky is true, or not there"),
        (TEXT + "exact = 1\n", "exact is true, or not there"),
        (TEXT.replace('"crash"', '"exhausted"'), "baseline:16: exhausted is no verdict"),
        (
            TEXT.replace("wrong-accept", "wrong-acept"),
            "baseline:7: .* no verdict; did you mean fail:wrong-accept",
        ),
        (TEXT.replace('"crash"', '"crash:hard"'), "baseline:16: crash:hard is no verdict"),
        (TEXT.replace('"crash"', '"fail:"'), "baseline:16: fail: is no verdict"),
        (f"<<<<<<< mine\n{TEXT}=======\n>>>>>>> theirs\n", "baseline:1: the conflict of a merge"),
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
    assert baseline.check(known_failures, CaseNames(set(ids)), TODAY) == ([], [])
