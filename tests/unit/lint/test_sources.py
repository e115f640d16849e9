"""The documents that rules cite: their sentences lead to cases, and rules have a source."""

from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from fixture_folders import BAD, GOOD, PAPER, PLACE, RULE, only, problems, write

from wireproof.cases.case_json import FixtureError
from wireproof.cases.rules import SOURCES_FILE, cited, read_sources, resolve
from wireproof.lint.sources import (
    ANSWERS_FILE,
    check_sentences,
    check_sources,
    coverages,
    level_line,
    sentences_of,
    unbacked_cases,
)

PAGE = """
[paper]
title = "The paper"
kind = "text"
url = "https://example.org/paper"
parts = { shelf = "#shelf" }

[one]
title = "The first reader"
kind = "code"
reader = "one"
url = "https://example.org/one/blob/abc/"
parts = { "Shelf.java" = "src/Shelf.java" }

[two]
title = "The second reader"
kind = "code"
reader = "two"
url = "https://example.org/two"
"""


def sources_file(folder: Path, text: str = PAGE) -> Path:
    path = folder / SOURCES_FILE
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("paper", "https://example.org/paper"),
        ("paper:shelf", "https://example.org/paper#shelf"),
        ("one:Shelf.java#L12", "https://example.org/one/blob/abc/src/Shelf.java#L12"),
        ("one:Shelf.java#L12-L20", "https://example.org/one/blob/abc/src/Shelf.java#L12-L20"),
    ],
)
def test_a_citation_is_a_link(tmp_path: Path, text: str, url: str) -> None:
    assert resolve(text, read_sources(sources_file(tmp_path))).url == url


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("book", "has no document book"),
        ("paper:desk", "the document paper has no part desk"),
        ("Paper shelf", "is not KEY, KEY:PART or KEY:PART#L12-L34"),
        ("paper#12", "is not KEY, KEY:PART or KEY:PART#L12-L34"),
    ],
)
def test_a_citation_that_leads_nowhere_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    sources = read_sources(sources_file(tmp_path))
    with pytest.raises(ValueError, match=reason):
        resolve(text, sources)
    assert cited([text, "paper"], sources) == [resolve("paper", sources)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("text", "hearsay"), "paper: kind must be one of text, standard, code"),
        (
            ('kind = "code"\n', 'kind = "text"\n'),
            "one: a document of kind code, and no other, has a `reader`",
        ),
        (("https://example.org/paper", "javascript:alert(1)"), "paper: url must begin with https://"),
        (('title = "The paper"', 'name = "The paper"'), "paper: .*name.*"),
    ],
)
def test_a_document_with_a_mistake_is_one_line(tmp_path: Path, change: tuple[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        read_sources(sources_file(tmp_path, PAGE.replace(*change, 1)))
    assert "\n" not in str(caught.value)


WEAK = "its level is must, which the basis of shelf.number does not allow"


@pytest.mark.parametrize(
    ("keys", "problems", "unbacked"),
    [
        ("", [], 1),
        ('basis = "text"\ncites = ["paper:shelf"]\n', [], 0),
        (
            'basis = "text"\ncites = ["one"]\n',
            ["its basis is text, and it cites no document of that kind"],
            0,
        ),
        (
            'basis = "code"\ncites = ["one"]\n',
            ["its level is must, which the basis of shelf.number does not allow"],
            1,
        ),
        ('basis = "code"\ncites = ["one", "two"]\n', [], 0),
        ('basis = "code"\ncites = ["one", "two"]\nlevel = "must"\n', [], 0),
        ('basis = "code"\ncites = ["one"]\nlevel = "should"\n', [WEAK], 1),
        (
            'basis = "code"\ncites = ["one"]\nlevel = "must"\n',
            ["its level is must, which its basis code does not allow", WEAK],
            1,
        ),
        (
            'basis = "suite"\ncites = ["book"]\n',
            [
                "book: sources.toml has no document book",
                "its level is must, which the basis of shelf.number does not allow",
            ],
            1,
        ),
    ],
)
def test_lint_follows_what_a_rule_cites(
    tmp_path: Path, monkeypatch: Any, keys: str, problems: list[str], unbacked: int
) -> None:
    write(tmp_path, GOOD, rules=RULE + keys)
    sources_file(tmp_path)
    suite = only(tmp_path, monkeypatch)
    assert [problem.text for problem in check_sources(suite)] == problems
    assert len(list(unbacked_cases(suite))) == unbacked


NAME = GOOD["id"].rpartition("/")[2]
TOPIC = GOOD["id"].rpartition("/")[0]


@pytest.mark.parametrize(
    ("level", "row", "problem"),
    [
        ("must", f'{NAME} = {{ agree = ["a", "b", "c"], otherwise = ["d"] }}', ""),
        (
            "must",
            f'{NAME} = {{ agree = ["a", "b"], otherwise = ["d"] }}',
            "1 of 3 libraries answer otherwise",
        ),
        ("should", f'{NAME} = {{ agree = ["a", "b"], otherwise = ["d"] }}', ""),
        ("must", "", "what libraries answer is not recorded"),
        ("should", "", ""),
        ("should", "gone = {}", "is no case that rests on code"),
    ],
)
def test_a_must_case_on_code_is_held_to_what_libraries_answer(
    tmp_path: Path, monkeypatch: Any, level: str, row: str, problem: str
) -> None:
    write(tmp_path, {**GOOD, "level": level}, rules=RULE + 'basis = "code"\ncites = ["one", "two"]\n')
    sources_file(tmp_path)
    (tmp_path / ANSWERS_FILE).write_text(f'[versions]\na = "1"\n["{TOPIC}"]\n{row}\n', encoding="utf-8")
    suite = only(tmp_path, monkeypatch)
    problems = [str(one) for one in check_sources(suite)]
    assert len(problems) == bool(problem)
    assert all(problem in one for one in problems)
    assert f"{int('1 of 3' in problem)} on code where practice is divided" in level_line(suite)


def test_answers_with_a_mistake_are_one_line(tmp_path: Path, monkeypatch: Any) -> None:
    write(tmp_path, GOOD, rules=RULE + 'basis = "code"\ncites = ["one", "two"]\n')
    sources_file(tmp_path)
    (tmp_path / ANSWERS_FILE).write_text(f'["{TOPIC}"]\n{NAME} = {{ disagree = ["a"] }}\n', encoding="utf-8")
    with pytest.raises(FixtureError, match=rf"{ANSWERS_FILE}: .*disagree") as caught:
        list(check_sources(only(tmp_path, monkeypatch)))
    assert "\n" not in str(caught.value)


def test_a_rule_is_shown_with_its_links(wireproof: Command, tmp_path: Path) -> None:
    write(tmp_path, GOOD, rules=RULE + 'basis = "text"\ncites = ["paper:shelf"]\n')
    sources_file(tmp_path)
    shown = wireproof("--fixtures", tmp_path, "show", "shelf.number", code=0)
    assert "source   The paper: https://example.org/paper#shelf" in shown.out
    assert f"case     must   accept  {GOOD['id']}" in shown.out
    assert (
        "The paper: https://example.org/paper#shelf"
        in wireproof("--fixtures", tmp_path, "show", GOOD["id"]).out
    )


# --- each sentence leads to a case that can fail ---


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
        (SENTENCE.replace("paper-1", "Paper 1"), "paper: Paper 1: the id of a sentence has"),
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


def test_the_verb_shows_a_sentence_with_its_rules_and_cases(wireproof: Command, tmp_path: Path) -> None:
    folder(tmp_path, SENTENCE + CASES)
    shown = wireproof("--fixtures", tmp_path, "show", "paper-1", code=0)
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
