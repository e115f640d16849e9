"""The tool of the mutants: what kills each is named, and who lives; which bugs no case catches."""

import json
from pathlib import Path

import pytest
from command_line import Command
from goldens import load

from tests.fixture_tables.history import known_bugs
from tests.mutants.kill import derived_on, is_costly, killed_by_property, known_survivors, verdict_on
from tests.mutants.registry import mutants

SOUND = "py:wireproof.adapters.reference:Reference"
BUGS = {bug.id: bug for bug in known_bugs(load())}
EXAMPLES = 1000
"""Property examples for a bug that only a property finds."""


@pytest.mark.usefixtures("stored_cases_alone")
def test_kill_names_the_case_and_who_lives(kill: Command) -> None:
    done = kill("crc-skip", "--in-process", width=80)
    assert done.code == 0
    assert "kafka.batch/v0/message/crc-32c  fail:wrong-accept" in done.out
    assert "1 of 1 dead" in done.out
    alive = kill(SOUND, "--in-process")
    assert alive.code == 1
    assert f"alive, golden: {SOUND}" in alive.out


@pytest.mark.sweeps
def test_a_table_is_written(kill: Command, tmp_path: Path) -> None:
    done = kill("heka-packed-only", "--table", "golden,derived", "--out", str(tmp_path), "--in-process")
    assert "golden: heka 1 of 1, " in done.out
    cells = json.loads((tmp_path / "kill.json").read_text())
    assert [(cell["column"], bool(cell["killed"]["by"])) for cell in cells] == [
        ("golden", True),
        ("derived", True),
    ]


def test_every_mutant_of_a_bug_exists() -> None:
    assert {f"mutant:{bug.mutant}" for bug in BUGS.values() if bug.mutant} <= set(mutants())


SURVIVORS = {
    "mutant:tracker-inner-set-cut-refused",
    "mutant:tracker-snappy-not-concatenated",
}
"""Mutants that refuse what the specification lets a reader refuse: their entries say so."""


def test_no_other_mutant_of_a_known_bug_survives() -> None:
    assert known_survivors(BUGS.values()) == SURVIVORS


@pytest.mark.sweeps
@pytest.mark.parametrize("name", [bug.id for bug in BUGS.values() if bug.missed and bug.mutant])
def test_no_golden_case_kills_the_mutant_of_a_missed_bug_and_the_part_that_it_names_does(name: str) -> None:
    mutant = f"mutant:{BUGS[name].mutant}"
    in_process = not is_costly(mutant)
    assert verdict_on(mutant, load(), in_process=in_process).ids == ()
    match BUGS[name].found_by:
        case "derived":
            assert derived_on(mutant, load(), in_process=in_process).by
        case "property":
            assert killed_by_property(mutant, EXAMPLES, in_process=in_process).by
