"""The table of states: the edge values of each number of each format, and the golden cases that have them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from each import each
from goldens import load

from wireproof.cases.case_json import FixtureError
from wireproof.lint.states import (
    NUMBERS,
    STATES_FILE,
    Cell,
    StateTable,
    Unfilled,
    count_lines,
    pattern_of,
    read_notes,
    state_problems,
    state_table,
    text_sizes,
)

BATCH = "kafka.batch/v2"


@pytest.fixture(scope="module", name="table")
def _table() -> StateTable:
    return state_table(load())


@each(
    "direction, path, states",
    [
        ("read", "producerId", ("zero", "minus-one", "least", "greatest", "distinct")),
        ("write", "producerId", ("zero", "minus-one", "least", "greatest", "distinct")),
        ("read", "records[].keyLength", ("zero", "minus-one", "least", "greatest", "one", "wide")),
        ("write", "records[].keyLength", ("zero", "one", "wide")),
        ("read", "magic", ("zero", "minus-one", "least", "greatest")),
        ("read", "nextOffset", ("distinct",)),
    ],
)
def test_a_number_has_the_edges_of_its_type(
    direction: str, path: str, states: Sequence[str], table: StateTable
) -> None:
    found = {
        cell.state
        for cell in table.filled
        if (cell.format_id, cell.direction, cell.path) == (BATCH, direction, path)
    }
    assert found == set(states)


def test_the_elements_of_a_packed_array_have_edges_to_read_and_to_write(table: StateTable) -> None:
    path = "fields[].value_integer[]"
    found = {(cell.direction, cell.state) for cell in table.filled if cell.path == path}
    states = ("zero", "minus-one", "least", "greatest", "distinct")
    assert found == {(direction, state) for direction in ("read", "write") for state in states}


def test_a_case_fills_the_cells_of_its_values(table: StateTable) -> None:
    name = f"{BATCH}/batch/two-records"
    assert name in table.filled[Cell(BATCH, "read", "producerId", "minus-one")]
    assert name in table.filled[Cell(BATCH, "read", "baseSequence", "minus-one")]
    assert name not in table.filled[Cell(BATCH, "read", "producerId", "zero")]


def test_a_part_that_another_format_has_too_has_no_cells_of_its_own(table: StateTable) -> None:
    assert not [cell for cell in table.filled if cell.format_id == "kafka.log/mixed"]
    assert not [cell for cell in table.filled if cell.path.startswith("frames[].message")]


def test_a_number_that_a_writer_computes_has_no_cells_to_write(table: StateTable) -> None:
    log = {(cell.direction, cell.path) for cell in table.filled if cell.format_id == "iggy.log/0.9"}
    assert ("read", "messages[].checksum") in log
    assert ("write", "messages[].checksum") not in log


def test_a_text_that_is_not_written_for_its_size_fills_a_cell_of_its_length(table: StateTable) -> None:
    cell = Cell("iggy.headers/0.0.30", "write", "headers[].key_len", "zero")
    assert table.filled[cell] == ("iggy.headers/0.0.30/encode/key-empty",)


def test_the_texts_of_a_map_are_those_of_its_keys_and_values() -> None:
    value: Any = {"headers": [["6b", {"kind": "raw", "value": ""}]], "payload": "0102"}
    assert list(text_sizes(value)) == [("headers[].key", 1), ("headers[].value", 0), ("payload", 2)]


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


def test_the_edges_of_a_type_are_those_of_its_bits() -> None:
    assert NUMBERS["int16"].edges() == {"zero": 0, "minus-one": -1, "least": -32768, "greatest": 32767}
    assert NUMBERS["uint8"].edges() == {"zero": 0, "greatest": 255}


def test_a_path_is_the_same_for_every_element() -> None:
    assert pattern_of("batches[0].records[12].key") == "batches[].records[].key"


def test_a_wrong_note_is_one_line_with_the_file_and_the_field(tmp_path: Path) -> None:
    path = tmp_path / STATES_FILE
    path.write_text('[[types]]\nformats = ["a"]\npath = ["b"]\n', encoding="utf-8")
    with pytest.raises(FixtureError, match=r"states.toml: .*path") as caught:
        read_notes([path])
    assert "\n" not in str(caught.value)
