"""What is measured for a known bug, and which wrong entries are reported; `test_mutants` runs them all."""

import pytest
from attrs import evolve
from command_line import Command
from goldens import load

from tests.fixture_tables.history import Bug, known_bugs
from tests.mutants.kill_history import Recall, known_survivors, only, recalls
from tests.mutants.registry import mutants

BUGS = {bug.id: bug for bug in known_bugs(load())}
MISSED = [bug.id for bug in BUGS.values() if bug.missed and bug.mutant]


def recall(bug: Bug) -> Recall:
    return next(iter(recalls(load(), [bug])))


def test_every_mutant_of_an_entry_exists() -> None:
    assert {f"mutant:{bug.mutant}" for bug in BUGS.values() if bug.mutant} <= set(mutants())


@pytest.mark.parametrize(("part", "by"), [("", ""), ("property", "heka.message/0.10/property/")])
def test_a_bug_that_no_case_catches_is_found_by_the_part_that_it_names(part: str, by: str) -> None:
    suite = only(load(), ["heka.message/0.10/message/minimal"])
    bug = evolve(BUGS["bytebuffer-20"], cases=(), missed="why", found_by=part)
    found = next(iter(recalls(suite, [bug])))
    assert (found.problems, found.bug.caught_by, bool(found.by)) == ((), part, bool(part))
    assert found.by.startswith(by)


@pytest.mark.parametrize(("name", "level"), [("kafka-13149", "should"), ("aiokafka-795", "must")])
def test_an_error_that_a_library_does_not_document_is_a_bug_that_cases_catch(name: str, level: str) -> None:
    found = recall(BUGS[name])
    assert found.problems == ()
    assert load().by_id[found.by].level == level


def test_a_case_that_does_not_kill_is_reported() -> None:
    bug = BUGS["sarama-996"]
    found = recall(evolve(bug, cases=("kafka.batch/v2/encode/nulls", *bug.cases)))
    assert found.problems == (f"kafka.batch/v2/encode/nulls does not kill {bug.mutant}",)
    assert found.bug.cases == bug.cases
    nothing = recall(evolve(bug, cases=("kafka.batch/v2/encode/nulls",)))
    assert nothing.by == nothing.bug.caught_by == ""


def test_a_bug_that_a_case_catches_is_not_missed() -> None:
    found = recall(evolve(BUGS["heka-1221"], cases=(), missed="why"))
    assert len(found.problems) == 1
    assert "it is said to be missed, and heka.stream/0.10/scan/refused-" in found.problems[0]


SURVIVORS = {
    "mutant:tracker-inner-set-cut-refused",
    "mutant:tracker-snappy-not-concatenated",
}
"""Mutants that refuse what the specification lets a reader refuse: their entries say so."""


@pytest.mark.sweeps
@pytest.mark.parametrize("name", MISSED)
def test_no_golden_case_kills_the_mutant_of_a_missed_bug(name: str) -> None:
    assert recall(BUGS[name]).problems == ()


def test_no_other_mutant_of_a_known_bug_survives() -> None:
    assert known_survivors(known_bugs(load())) == SURVIVORS


def test_history_prints_the_recall_of_the_bugs_that_are_named(kill: Command) -> None:
    done = kill("sarama-996", "heka-1221", "kafka-9203", "--history")
    assert done.code == 0
    assert "history: 3 bugs, 2 in scope: 2 caught by golden cases" in done.out
