"""The tool of the mutants: what kills each is named, and who lives."""

import pytest
from command_line import Command

SOUND = "py:wireproof.adapters.reference:Reference"


@pytest.mark.usefixtures("stored_cases_alone")
def test_kill_names_the_case_and_who_lives(kill: Command) -> None:
    done = kill("crc-skip", "--in-process", width=80)
    assert done.code == 0
    assert "kafka.batch/v0/message/crc-32c  fail:wrong-accept" in done.out
    assert "1 of 1 dead" in done.out
    alive = kill(SOUND, "--in-process")
    assert alive.code == 1
    assert f"alive, golden: {SOUND}" in alive.out
