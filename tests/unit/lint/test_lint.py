"""The linter finds each kind of bad fixture, and says so in one line. architecture.md#verdicts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from fixture_folders import BAD, GOOD, PLACE, RULE, only, problems, write
from goldens import load

from wireproof.cases import fixtures
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixture_writer import FrozenCase, freeze, sort_files, unfrozen_cases
from wireproof.cases.fixtures import FROZEN
from wireproof.lint.cases import changed_cases, lint
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

GOOD_ID, BAD_ID = GOOD["id"], BAD["id"]
LONG = "0104" + "07000000" + "00" * 600
EXCLUDED = RULE + 'exclusion = "A test of the tests."\n'


def good(**changes: Any) -> dict[str, Any]:
    return {**GOOD, **changes}


def bad(**changes: Any) -> dict[str, Any]:
    return {**BAD, **changes}


def accept(**changes: Any) -> dict[str, Any]:
    return {"accept": {**GOOD["expect"]["accept"], **changes}}


def reject(**changes: Any) -> dict[str, Any]:
    return {"reject": {**BAD["expect"]["reject"], **changes}}


def test_the_fixtures_of_the_package_have_no_problem() -> None:
    """Read anew: a codec that other tests call in their process may write into the values that they share."""
    suite = fixtures.load()
    assert [str(problem) for problem in (*lint(suite), *changed_cases(suite))] == []


ONE_CASE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("an unknown rule", good(rules=["shelf.number", "shelf.none"]), "the rule shelf.none is unknown"),
    ("no rule at all", good(rules=[]), "it tests no rule"),
    ("an unknown flag", good(flags=["urgent"]), "the flag urgent is unknown"),
    (
        "a must of robustness",
        good(flags=["robustness"], title="Robustness: a case"),
        "a case of robustness is no must, and has the word in its title",
    ),
    (
        "robustness without the word",
        good(flags=["robustness"], level="should"),
        "a case of robustness is no must, and has the word in its title",
    ),
    ("an unknown remark", good(expect=accept(remarks=["odd"])), "the remark odd is unknown"),
    ("an unknown need", good(needs=["codec:lzma"]), "the need codec:lzma is unknown"),
    ("no twin", {key: BAD[key] for key in BAD if key != "twin"}, "its twin (none) does not exist"),
    ("a twin that is not there", bad(twin=f"{PLACE}/gone"), f"its twin {PLACE}/gone does not exist"),
    ("a twin that is refused", bad(twin=BAD_ID), f"its twin {BAD_ID} is refused too"),
    ("long bytes in the JSON", good(input={"hex": LONG}), "over 512 bytes belong into a file"),
    (
        "a value that is none of its format",
        good(expect=accept(value={"kind": "numeric", "valeu": "07000000"})),
        "its value is none of iggy.identifier/0.0.30",
    ),
    (
        "bytes in capital hex",
        good(input={"hex": "01040700000a"}, expect=accept(value={"kind": "numeric", "value": "0700000A"})),
        "its value is none of iggy.identifier/0.0.30",
    ),
    (
        "another value than the reference reads",
        good(expect=accept(value={"kind": "numeric", "value": "08000000"})),
        'the reference reads another value: value.value want "08000000" got "07000000"',
    ),
    ("another count of bytes", good(expect=accept(consumed=5)), "the reference consumes 6, not 5"),
    ("a refusal that the reference accepts", bad(input=GOOD["input"]), "what should be refused as bad-kind"),
    ("an acceptance that the reference refuses", good(input=BAD["input"]), "the reference refuses it"),
    ("another class", bad(expect=reject(**{"class": "truncated"})), "refuses it as bad-kind, not truncated"),
    ("another position", bad(expect=reject(at=1)), "refuses it at 0, not 1"),
    ("more before it", bad(expect=reject(before={"kind": "numeric"})), "before it refuses"),
)  # fmt: skip


@pytest.mark.parametrize(("row", "said"), [row[1:] for row in ONE_CASE], ids=[row[0] for row in ONE_CASE])
def test_a_bad_case_is_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: dict[str, Any], said: str
) -> None:
    others = [
        other for other in (GOOD, BAD) if other["id"].rpartition("/")[2] != row["id"].rpartition("/")[2]
    ]
    rows = [*others, row] if row["id"] > GOOD_ID else [row, *others]
    write(tmp_path, *rows, rules=EXCLUDED)
    found = [line for line in problems(tmp_path, monkeypatch) if said in line]
    assert len(found) == 1, problems(tmp_path, monkeypatch)
    assert found[0].startswith(f"{row['id']}: ")
    assert "\n" not in found[0]


def _unsorted(root: Path) -> str:
    return f"{write(root, BAD, GOOD)}: its cases are not sorted by id; `lint --fix` sorts them"


def _unterminated(root: Path) -> str:
    path = write(root, GOOD, BAD)
    path.write_text(path.read_text("utf-8").rstrip(), encoding="utf-8")
    return f"{path}: is not in the form of a fixture file; `lint --fix` rewrites it"


def _stray(root: Path) -> str:
    stray = write(root, GOOD, BAD).with_name("stray.bin")
    stray.write_bytes(b"\0")
    return f"{stray}: no case names this file"


@pytest.mark.parametrize("spoil", [_unsorted, _unterminated, _stray])
def test_what_is_wrong_with_a_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], str]
) -> None:
    assert [spoil(tmp_path)] == problems(tmp_path, monkeypatch)


def test_keys_out_of_order_are_a_problem_of_their_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, dict(reversed(GOOD.items())), BAD)
    (line,) = problems(tmp_path, monkeypatch)
    assert line.startswith(f"{GOOD_ID}: its keys must be in the order id, ")


def test_fix_sorts_cases_and_keys_and_changes_no_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, GOOD, BAD)
    wanted = path.read_bytes()
    before = only(tmp_path, monkeypatch)
    write(tmp_path, BAD, dict(reversed(GOOD.items())))
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), encoding="utf-8")
    path.chmod(0o640)
    assert sort_files(only(tmp_path, monkeypatch)) == (path,)
    assert path.read_bytes() == wanted
    assert path.stat().st_mode & 0o777 == 0o640
    after = only(tmp_path, monkeypatch)
    assert (after.cases, after.hash) == (before.cases, before.hash)
    assert [one.name for one in path.parent.iterdir()] == [path.name], "no draft is left"
    assert sort_files(after) == ()
    assert problems(tmp_path, monkeypatch) == []


def test_the_verb_fixes_only_when_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wireproof: Command
) -> None:
    path = write(tmp_path, BAD, GOOD)
    only(tmp_path, monkeypatch)
    before = path.read_bytes()
    assert (wireproof("lint").code, path.read_bytes()) == (5, before)
    done = wireproof("lint", "--fix")
    assert (done.code, done.out.splitlines()[0]) == (0, f"{path}: sorted")
    assert wireproof("lint").code == 0


def test_a_revision_that_no_format_has_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = PLACE.replace("0.0.30", "0.0.31")
    write(tmp_path, {**GOOD, "id": f"{place}/a-good"}, place=place)
    assert f"{place}/a-good: iggy.identifier/0.0.31 is no format" in problems(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("kind", "rows", "lacks"),
    [
        ("refusing", (GOOD, BAD), ""),
        ("refusing", (GOOD,), "1 accepted and 0 refused cases are too few for a refusing rule"),
        ("value", (GOOD, BAD), "1 accepted and 1 refused cases are too few for a value rule"),
        ("value", (GOOD, good(id=f"{PLACE}/c-good")), ""),
        ("resource", (GOOD,), ""),
        ("encode", (GOOD,), ""),
    ],
)
def test_a_rule_without_the_cases_of_its_kind_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rows: tuple[dict[str, Any], ...], lacks: str
) -> None:
    rules = RULE.replace('"refusing"', f'"{kind}"')
    write(tmp_path, *rows, rules=rules)
    assert problems(tmp_path, monkeypatch) == ([f"shelf.number: {lacks}"] if lacks else [])
    write(tmp_path, *rows, rules=rules + 'exclusion = "A test of the tests."\n')
    stale = "shelf.number: has all its cases, so its exclusion is wrong"
    assert problems(tmp_path, monkeypatch) == ([] if lacks else [stale])


# --- frozen inputs ---


def test_freezing_adds_new_ids_and_leaves_the_landed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD)
    assert [case.id for case in unfrozen_cases(only(tmp_path, monkeypatch))] == [GOOD_ID]
    assert freeze(only(tmp_path, monkeypatch), "0.1.0") == {tmp_path / FROZEN: 1}
    first = json.loads((tmp_path / FROZEN).read_text("utf-8"))
    write(tmp_path, good(input={"hex": "010408000000"}), BAD)
    assert freeze(only(tmp_path, monkeypatch), "0.1.0") == {tmp_path / FROZEN: 1}
    second = json.loads((tmp_path / FROZEN).read_text("utf-8"))
    assert list(second) == [GOOD_ID, BAD_ID]
    assert second[GOOD_ID] == first[GOOD_ID]
    assert freeze(only(tmp_path, monkeypatch), "0.1.0") == {}


def test_a_landed_id_with_other_bytes_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, BAD)
    freeze(only(tmp_path, monkeypatch), "0.1.0")
    changed = accept(value={"kind": "numeric", "value": "08000000"})
    write(tmp_path, good(input={"hex": "010408000000"}, expect=changed), BAD)
    (line,) = problems(tmp_path, monkeypatch)
    assert line == f"{GOOD_ID}: is frozen and its input differs: restore it; new bytes need a new id"


def test_another_level_or_expectation_is_a_problem_until_its_release_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD, BAD)
    freeze(only(tmp_path, monkeypatch), "0.1.0")
    first = json.loads((tmp_path / FROZEN).read_text("utf-8"))
    also = {"reject": {"class": "truncated", "also": ["invalid-value"]}}
    write(tmp_path, good(level="should"), {**BAD, "expect": also})
    suite = only(tmp_path, monkeypatch)
    assert [(one.where, one.text.split(" is another ")[0]) for one in changed_cases(suite)] == [
        (GOOD_ID, "its level"),
        (BAD_ID, "its expectation"),
    ]
    assert freeze(suite, "0.2.0") == {tmp_path / FROZEN: 2}
    again = only(tmp_path, monkeypatch)
    assert list(changed_cases(again)) == []
    entries = {name: FrozenCase.parse(text) for name, text in again.frozen.items()}
    assert entries[GOOD_ID].releases == {"added": "0.1.0", "level": "0.2.0"}
    assert entries[BAD_ID].releases == {"added": "0.1.0", "expectation": "0.2.0"}
    assert [one.input for one in entries.values()] == [text.split()[0] for text in first.values()]


def test_a_landed_id_that_is_gone_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, BAD)
    freeze(only(tmp_path, monkeypatch), "0.1.0")
    write(tmp_path, GOOD, rules=EXCLUDED)
    assert problems(tmp_path, monkeypatch) == [
        f"{BAD_ID}: is frozen and was removed: restore it, an id is never taken back"
    ]


# --- the edge values of each number, and the golden cases that have them ---


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
