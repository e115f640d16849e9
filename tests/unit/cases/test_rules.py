"""The files of rules. architecture.md#cases."""

from pathlib import Path

import pytest
from fixture_folders import GOOD, RULE, write
from goldens import load

from wireproof.cases.case_json import FixtureError
from wireproof.cases.rules import read_rules


def rules_file(folder: Path, text: str) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            RULE.replace("refusing", "wishing"),
            "shelf.number: kind must be one of refusing, value, resource, encode",
        ),
        (RULE + 'autor = "me"\n', "shelf.number: .*autor"),
        (RULE.replace('section = "1"\n', ""), "shelf.number: .*section"),
        ("[other]\n", "holds .*rule.* tables and nothing else"),
        ("[[rule]\n", "line 1"),
    ],
)
def test_a_file_that_is_wrong_is_one_line_that_names_the_rule(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        list(read_rules(rules_file(tmp_path, text)))


def test_a_rule_in_two_files_is_an_error(tmp_path: Path) -> None:
    name = next(iter(load().rules))
    write(tmp_path, GOOD, rules=RULE.replace("shelf.number", name))
    with pytest.raises(FixtureError, match=f"the rule {name} is in another file too"):
        load([tmp_path])
