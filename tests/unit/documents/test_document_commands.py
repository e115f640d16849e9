"""The commands of every page are run, from top to bottom, one folder for each section.

Their output is compared with the output that the page shows. `support/documentation.toml` lists the commands
that run in another form, or not at all, each with its reason.
"""

from pathlib import Path

import documentation
import pytest
from document_runner import Follower
from documentation import LEFT, ROWS, Left, Section, follow, sections
from each import each
from folders import TESTS


@pytest.mark.documents
@pytest.mark.parametrize("section", sections(), ids=str)
def test_the_commands_of_a_section_do_what_it_says(section: Section, tmp_path: Path) -> None:
    follow(section, Follower(tmp_path))


def test_every_row_is_about_a_command_of_some_page() -> None:
    typed = {command.typed for command in documentation.commands()}
    assert [one for one in ROWS if one not in typed] == []
    assert [one for one in LEFT if not any(words.startswith(one.typed) for words in typed)] == []
    assert [one for one, row in ROWS.items() if bool(row.run) != bool(row.why)] == []


@each("one", LEFT, ids=lambda one: one.typed)
def test_a_command_that_is_not_run_has_a_reason_and_a_test_of_its_subject(one: Left) -> None:
    assert one.why
    assert one.word in (TESTS / one.test).read_text(encoding="utf-8")
