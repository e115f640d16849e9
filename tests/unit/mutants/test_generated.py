"""A format without one of its rules, or with a number in another byte order, dies by a golden case."""

from collections import defaultdict

from goldens import load

from tests.mutants.generated import (
    Described,
    described_formats,
    killer,
    structures,
    with_swapped_numbers,
    without_rules,
)
from wireproof.cases.case import Case

ALIVE: dict[str, str] = {}
"""Mutants that no golden case kills, with the reason."""


def cases() -> dict[str, list[Case]]:
    found = defaultdict(list)
    for case in load().cases:
        found[case.format_id].append(case)
    return found


def alive(mutants: list[Described]) -> set[str]:
    known = cases()
    return {mutant.name for mutant in mutants if not killer(mutant, known[mutant.fmt.format_id])}


def test_no_format_conforms_without_one_of_its_rules() -> None:
    mutants = list(without_rules())
    assert len(mutants) >= 50
    assert alive(mutants) == ALIVE.keys()


def test_no_format_conforms_with_a_number_in_the_other_byte_order() -> None:
    mutants = list(with_swapped_numbers())
    assert len(mutants) >= 30
    assert alive(mutants) == set()


def test_each_rule_of_a_structure_is_a_rule_of_the_fixtures() -> None:
    known = load().rules
    layouts = {one for _, layout in described_formats() for one in structures(layout)}
    named = {rule.id for layout in layouts for rule in layout.rules} | {layout.whole for layout in layouts}
    assert named - {""} <= known.keys()
