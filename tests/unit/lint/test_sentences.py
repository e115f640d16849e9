"""Each sentence of a format document leads to a case that can fail, or has the reason why none does."""

from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from fixture_folders import BAD, GOOD, PAPER, PLACE, RULE, only, problems, write

from wireproof.cases.case_json import FixtureError
from wireproof.cases.rules import SOURCES_FILE
from wireproof.lint.sources import (
    check_sentences,
    coverages,
    sentences_of,
)

SENTENCE = """
[[paper.sentences]]
id = "paper-1"
text = "A number has 4 bytes."
cites = ["paper:shelf"]
"""
RULES = 'sentences = ["paper-1"]\n'
CASES = f'cases = ["{GOOD["id"]}"]\n'


def folder(root: Path, sentences: str, *rows: dict[str, Any], rules: str = RULE + RULES) -> None:
    write(root, *(rows or (GOOD, BAD)), rules=rules)
    (root / SOURCES_FILE).write_text(PAPER + sentences, encoding="utf-8")


@pytest.mark.parametrize(
    ("keys", "rules", "state", "cases", "problem"),
    [
        ("", RULES, "covered", 2, ""),
        (CASES, RULES, "covered", 1, ""),
        ('exclusion = "State of a broker."\n', "", "excluded", 0, ""),
        ('open = "A case with two numbers."\n', "", "open", 0, ""),
        ('open = "A case with two numbers."\n', RULES, "open", 0, ""),
        ("", "", "uncovered", 0, "has no case that can fail, at must or should; add one, or an exclusion"),
        ('exclusion = "State."\n', RULES, "excluded", 0, "has an exclusion, so it can have no rules"),
        (CASES + 'open = "Two numbers."\n', RULES, "open", 0, "is open and has cases: remove `open`"),
        ('cases = ["shelf/none"]\n', RULES, "uncovered", 0, "the case shelf/none does not exist"),
    ],
)
def test_a_sentence_has_cases_or_a_reason(
    tmp_path: Path, monkeypatch: Any, keys: str, rules: str, state: str, cases: int, problem: str
) -> None:
    folder(tmp_path, SENTENCE + keys, rules=RULE + rules)
    suite = only(tmp_path, monkeypatch)
    (row,) = coverages(suite)
    assert (row.state, len(row.cases)) == (state, cases)
    found = [str(one) for one in check_sentences(suite)]
    if not problem:
        assert not found
    else:
        assert found[0].startswith(f"sources.toml paper-1: {problem}")


def test_a_case_that_cannot_fail_covers_no_sentence(tmp_path: Path, monkeypatch: Any) -> None:
    folder(tmp_path, SENTENCE, {**GOOD, "level": "may"}, {**BAD, "level": "may"})
    assert [one.split(":")[1] for one in problems(tmp_path, monkeypatch)] == [
        " has no case that can fail, at must or should; add one, or an exclusion with its reason"
    ]
    folder(tmp_path, SENTENCE, {**GOOD, "level": "should"}, BAD)
    assert problems(tmp_path, monkeypatch) == []


EITHER = {"either": {"behaviours": [{"id": "one", **GOOD["expect"]}, {"id": "other", **BAD["expect"]}]}}
BARE = {"accept": {"consumed": 4}}
REFUSAL, ANSWER = "has no case that fails on a refusal", "has no case that fails on a wrong answer"


@pytest.mark.parametrize(
    ("keys", "expects", "lacks"),
    [
        ("", [GOOD["expect"], BAD["expect"]], []),
        ("", [GOOD["expect"]], []),
        ("", [BAD["expect"]], [REFUSAL]),
        ("", [BARE], [ANSWER]),
        ("", [EITHER], [REFUSAL]),
        ('one_kind = "The text demands a refusal alone."\n', [BAD["expect"]], []),
        ('one_kind = "The text demands a refusal alone."\n', [GOOD["expect"]], ["has cases of both kinds"]),
    ],
)
def test_a_sentence_has_cases_of_both_kinds_or_the_reason(
    tmp_path: Path, monkeypatch: Any, keys: str, expects: list[Any], lacks: list[str]
) -> None:
    cases = [
        {**(BAD if "reject" in expect else GOOD), "id": f"{PLACE}/case-{number}", "expect": expect}
        for number, expect in enumerate(expects)
    ]
    folder(tmp_path, SENTENCE + keys, *cases)
    found = [one.text for one in check_sentences(only(tmp_path, monkeypatch))]
    assert [text for text, start in zip(found, lacks, strict=True) if text.startswith(start)] == found


def test_each_rule_of_a_sentence_has_a_case_that_can_fail(tmp_path: Path, monkeypatch: Any) -> None:
    rule = RULE + RULES
    rules = rule + rule.replace("shelf.number", "shelf.open").replace("refusing", "encode")
    may = {**GOOD, "id": f"{PLACE}/c-may", "level": "may", "rules": ["shelf.open"]}
    folder(tmp_path, SENTENCE, GOOD, BAD, may, rules=rules)
    assert problems(tmp_path, monkeypatch) == [
        "sources.toml paper-1: the rule shelf.open has no case that can fail, at must or should"
    ]


@pytest.mark.parametrize(
    ("level", "rules", "problem"),
    [
        ("may", ["shelf.number"], "has the level may and cannot fail"),
        ("must", ["shelf.other"], "tests none of its rules"),
    ],
)
def test_a_named_case_can_fail_and_tests_a_rule_of_its_sentence(
    tmp_path: Path, monkeypatch: Any, level: str, rules: list[str], problem: str
) -> None:
    folder(tmp_path, SENTENCE + CASES, {**GOOD, "level": level, "rules": rules}, BAD)
    found = [one.text for one in check_sentences(only(tmp_path, monkeypatch))]
    assert f"the case {GOOD['id']} {problem}" in found


@pytest.mark.parametrize(
    ("cites", "problem"),
    [
        ('["paper:desk"]', "paper:desk: the document paper has no part desk"),
        ('["book"]', "book: sources.toml has no document book"),
        ("[]", "cites no document"),
    ],
)
def test_a_sentence_without_a_place_is_a_problem(
    tmp_path: Path, monkeypatch: Any, cites: str, problem: str
) -> None:
    folder(tmp_path, SENTENCE.replace('["paper:shelf"]', cites))
    assert problems(tmp_path, monkeypatch) == [f"sources.toml paper-1: {problem}"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SENTENCE + 'autor = "me"\n', "paper: .*autor"),
        (SENTENCE.replace('text = "A number has 4 bytes."\n', ""), "paper: .*text"),
        (
            SENTENCE.replace("paper-1", "Paper 1"),
            "paper: Paper 1: the id of a sentence has",
        ),
        (SENTENCE + SENTENCE, "the sentence paper-1 is there twice"),
        ("[[paper.sentences]\n", ".*line 6"),
    ],
)
def test_a_file_with_a_mistake_is_one_line(tmp_path: Path, monkeypatch: Any, text: str, reason: str) -> None:
    folder(tmp_path, text)
    with pytest.raises(FixtureError, match=rf"sources\.toml: {reason}") as caught:
        sentences_of(only(tmp_path, monkeypatch))
    assert "\n" not in str(caught.value)


def test_a_rule_names_sentences_that_there_are(tmp_path: Path, monkeypatch: Any) -> None:
    folder(tmp_path, SENTENCE, rules=RULE + 'sentences = ["paper-1", "paper-2"]\n')
    assert problems(tmp_path, monkeypatch) == ["shelf.number: sources.toml has no sentence paper-2"]


# --- the verb ---


def test_the_verb_shows_a_sentence_with_its_rules_and_cases(wireproof: Command, tmp_path: Path) -> None:
    folder(tmp_path, SENTENCE + CASES)
    shown = wireproof("--fixtures", tmp_path, "show", "paper-1")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "sentence paper-1",
        "text     A number has 4 bytes.",
        "source   The paper: https://example.org/paper#shelf",
        "state    covered",
        "rule     shelf.number",
        f"case     must   accept  {GOOD['id']}",
    ]
    assert (
        "sentence paper-1: A number has 4 bytes."
        in wireproof("--fixtures", tmp_path, "show", "shelf.number").out
    )
