"""The documents that rules cite, and what lint says of rules without a source. architecture.md#verdicts."""

from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from fixture_folders import GOOD, RULE, only, write

from wireproof.cases.case_json import FixtureError
from wireproof.cases.rules import SOURCES_FILE, cited, read_sources, resolve
from wireproof.lint.sources import (
    ANSWERS_FILE,
    check_sources,
    level_line,
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
    shown = wireproof("--fixtures", tmp_path, "show", "shelf.number")
    assert shown.code == 0
    assert "source   The paper: https://example.org/paper#shelf" in shown.out
    assert f"case     must   accept  {GOOD['id']}" in shown.out
    assert (
        "The paper: https://example.org/paper#shelf"
        in wireproof("--fixtures", tmp_path, "show", GOOD["id"]).out
    )
