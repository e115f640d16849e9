"""Each command of the README is run, top to bottom, a folder a section, and held to what the README shows.

What runs on less, and the few that are not run at all, stand in `readme.toml`, each with its reason.
"""

from pathlib import Path

import pytest
import readme
from document import Command
from following import Follower


@pytest.mark.documents
@pytest.mark.parametrize("section", [one for one in readme.sections() if one != readme.SPARK])
def test_the_commands_of_a_section_do_what_it_says(section: str, tmp_path: Path) -> None:
    readme.followed(section, Follower(tmp_path))


def test_what_is_told_of_commands_is_told_of_some_that_there_are() -> None:
    typed = [step.typed for step in readme.STEPS if isinstance(step, Command)]
    assert [one for one in readme.ROWS if one not in typed] == []
    assert [one for one in readme.LEFT if not any(words.startswith(one.typed) for words in typed)] == []
    assert [one for one, row in readme.ROWS.items() if bool(row.run) != bool(row.why)] == []


@pytest.mark.parametrize("one", readme.LEFT, ids=lambda one: one.typed)
def test_what_is_not_run_has_a_reason_and_a_test_that_runs_what_it_is_about(one: readme.Left) -> None:
    assert one.why
    assert one.word in (readme.TESTS / one.test).read_text(encoding="utf-8")
