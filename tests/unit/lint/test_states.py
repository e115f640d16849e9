"""The table of states: the edge values of each number of each format, and the golden cases that have them."""

from pathlib import Path

import pytest
from goldens import load

from wireproof.cases.case_json import FixtureError
from wireproof.lint.states import (
    STATES_FILE,
    Cell,
    StateTable,
    Unfilled,
    count_lines,
    read_notes,
    state_problems,
    state_table,
)

BATCH = "kafka.batch/v2"


@pytest.fixture(scope="module", name="table")
def _table() -> StateTable:
    return state_table(load())


def test_a_case_fills_the_cells_of_its_values(table: StateTable) -> None:
    name = f"{BATCH}/batch/two-records"
    assert name in table.filled[Cell(BATCH, "read", "producerId", "minus-one")]
    assert name in table.filled[Cell(BATCH, "read", "baseSequence", "minus-one")]
    assert name not in table.filled[Cell(BATCH, "read", "producerId", "zero")]


def test_the_states_of_the_package_have_no_problem(table: StateTable) -> None:
    assert list(state_problems(table, load())) == []


def test_an_open_cell_too_many_reasons_and_a_needless_reason_are_problems() -> None:
    row = Unfilled(("a.b/1",), ("read",), "n", ("least",), "no such number")
    cells = [Cell("a.b/1", "read", f"n{number}", "zero") for number in range(18)]
    given = Cell("a.b/1", "read", "n", "least")
    filled = dict.fromkeys(cells, ("a.b/1/one",)) | {given: ()}
    suite = load()

    def problems(filled: dict[Cell, tuple[str, ...]], *reasons: Cell) -> list[str]:
        table = StateTable(filled, dict.fromkeys(reasons, row), {})
        return [str(one) for one in state_problems(table, suite)]

    assert problems(filled) == ["a.b/1: no case has n least to read, and no reason is given"]
    assert problems(filled, given) == [
        "a.b/1: 1 of 19 edge values have a reason in place of a case, more than 5%"
    ]
    more = filled | {Cell("a.b/1", "read", "last", "zero"): ("a.b/1/one",)}
    assert problems(more, given) == []
    assert next(count_lines(StateTable(more, {given: row}, {}))) == (
        "states of a.b/1: 20 edge values of numbers, 19 with a case, 1 with a reason, 0 open"
    )
    assert "its reason is not needed" in problems(more, given, cells[0])[-1]


def test_a_wrong_note_is_one_line_with_the_file_and_the_field(tmp_path: Path) -> None:
    path = tmp_path / STATES_FILE
    path.write_text('[[types]]\nformats = ["a"]\npath = ["b"]\n', encoding="utf-8")
    with pytest.raises(FixtureError, match=r"states.toml: .*path") as caught:
        read_notes([path])
    assert "\n" not in str(caught.value)
