"""The exit codes, row by row: architecture.md#verdicts."""

import itertools

from each import each

from wireproof.runner.exit_codes import MEANINGS, PRECEDENCE, Exit, deciding_code


@each(
    "code, name", [(0, "CONFORMS"), (1, "FAILS"), (2, "USAGE"), (3, "BASELINE"), (4, "ADAPTER"), (5, "SUITE")]
)
def test_each_code_has_its_number_and_meaning(code: int, name: str) -> None:
    assert Exit(code).name == name
    assert MEANINGS[Exit(code)]


@each("one, two", list(itertools.combinations([5, 4, 2, 1, 3, 0], 2)))
def test_of_two_codes_the_first_in_the_table_wins(one: int, two: int) -> None:
    assert deciding_code([Exit(two), Exit(one)]) == deciding_code([Exit(one), Exit(two)]) == one


def test_the_precedence_names_every_code_once() -> None:
    assert sorted(PRECEDENCE) == sorted(Exit)
    assert deciding_code([]) == 0
