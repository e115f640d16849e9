"""Every mutant dies by the golden cases named for it, the reference does not: architecture.md#strength."""

from copy import deepcopy

import pytest
from each import each
from goldens import load

from tests.fixture_tables.history import known_bugs
from tests.mutants.base import MUTANTS
from tests.mutants.kill import is_costly, known_survivors, only, verdict_on
from tests.mutants.registry import description_of, mutants
from wireproof.cases.case import Generated, Value

BUGS = known_bugs(load())
SURVIVORS = known_survivors(BUGS) | {f"mutant:{name}" for name in MUTANTS if MUTANTS[name].left_open}


def killers(name: str) -> list[str]:
    """Return the cases that are named for a mutant, in its class or with the bug that it repeats."""
    name = name.removeprefix("mutant:")
    of_bugs = (case for bug in BUGS if bug.mutant == name for case in bug.cases)
    return sorted({*MUTANTS[name].killed_by, *of_bugs})


def takes_long(name: str) -> bool:
    """Return whether it needs a process of its own, or its cases are of the large ones."""
    return is_costly(name) or any(isinstance(load().by_id[one].input, Generated) for one in killers(name))


KILLED = [name for name in mutants() if name not in SURVIVORS]
LONG = [name for name in KILLED if takes_long(name)]


def test_every_mutant_has_a_case_and_says_in_a_sentence_what_is_wrong_with_it() -> None:
    assert len(mutants()) > 200
    assert [name for name in KILLED if not killers(name)] == []
    assert [name for name in SURVIVORS if killers(name)] == []
    assert [name for name in mutants() if not description_of(name).endswith(".")] == []


@each("name", sorted({*KILLED} - {*LONG}))
def test_a_mutant_dies_by_each_case_named_for_it_and_leaves_the_reference_as_it_was(name: str) -> None:
    """Its parts stand in the modules of the reference while it answers, and only then."""
    cases = only(load(), killers(name))
    before = [deepcopy(case.input.value) for case in cases.cases if isinstance(case.input, Value)]
    killed = verdict_on(name, cases, in_process=True)
    assert set(killers(name)) <= set(killed.ids)
    assert [case.input.value for case in cases.cases if isinstance(case.input, Value)] == before
    assert verdict_on("reference", cases, in_process=True).passed == len(cases.cases)


@pytest.mark.sweeps
@pytest.mark.parametrize("name", LONG)
def test_a_mutant_of_large_cases_or_that_ends_its_process_dies_by_each_case_named_for_it(name: str) -> None:
    killed = verdict_on(name, only(load(), killers(name)), in_process=not is_costly(name))
    assert set(killers(name)) <= set(killed.ids)
