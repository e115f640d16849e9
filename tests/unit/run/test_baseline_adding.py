"""New entries of a baseline, and later days: what is added, what is left alone, what is refused."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from attrs import evolve
from baselines import LATER, NAMES, OTHER, TEXT, TODAY, code
from each import each
from hypothesis import given, strategies
from small_runs import FAIL, PASS, event, stream

from wireproof.run.baselines import baseline_adding, baseline_writing
from wireproof.run.baselines.baseline import WARNING, EntryLookup, expiring, expiry_notices
from wireproof.run.baselines.baseline_adding import Added
from wireproof.run.baselines.baseline_writing import LONGEST_EXTENSION
from wireproof.run.baselines.known_failures import BaselineError, CaseNames, KnownFailure, parse_baseline
from wireproof.run.events import CaseEvent

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
        (
            "toy.frame/v1/sum/zerro",
            r"has this id or kind: did you mean toy.frame/v1/sum/zero\?",
        ),
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
