"""Kill tables: what a column says, what is kept, what is run again, and how it is shown."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from goldens import load

from tests.mutants.kill import Killed, derived_on
from tests.mutants.kill_page import lines, tally
from tests.mutants.kill_table import (
    COLUMNS,
    Cell,
    Column,
    KillTableError,
    Row,
    Settings,
    Table,
    filled,
    missing,
    read,
    write,
)
from tests.mutants.registry import mutants
from wireproof.cases.fixtures import Suite

SOUND = "py:wireproof.adapters.reference:Reference"


@pytest.fixture(scope="module", name="suite")
def _suite() -> Suite:
    suite = load()
    wanted = ("heka.message/0.10/integer/", "heka.message/0.10/encode/", "heka.stream/0.10/scan/between")
    return evolve(suite, cases=tuple(case for case in suite.cases if case.id.startswith(wanted)))


def lives(_name: str, _settings: Settings) -> Killed:
    return Killed("", "", 0, 9)


def exits(name: str, _settings: Settings) -> Killed:
    if name == "mutant:crc-skip":
        os._exit(9)
    return Killed("", "", 0, 1)


def column(run: Callable[[str, Settings], Killed], name: str = "golden") -> Column:
    return Column(name, run, _examples)


def _examples(settings: Settings) -> str:
    return f"{settings.examples} examples"


def row(**cells: Cell) -> Row:
    return Row("kafka", cells)


# --- columns ---


def test_derived_cases_kill_alone_and_stop_at_the_first(suite: Suite) -> None:
    killed = derived_on("mutant:heka-chunks-alone", suite, in_process=True)
    parent, _, number = killed.by.partition("~")
    assert suite.by_id[parent].format.startswith("heka")
    assert number
    assert killed.ids == (killed.by,)
    assert killed.label.startswith("fail:")


def test_derived_cases_leave_a_sound_codec_alone(suite: Suite) -> None:
    assert derived_on(SOUND, suite, in_process=True).by == ""


def test_properties_kill_alone() -> None:
    asked = [("mutant:heka-chunks-alone", COLUMNS[2])]
    ((_, column, cell),) = filled(asked, Settings(in_process=True, examples=12))
    assert (column, cell.basis) == ("properties", "12 examples of each row and op, seed 0")
    assert cell.by.startswith("heka.stream/0.10/property/scan~s0:")


# --- what is run and what is kept ---


def test_a_cell_is_kept_while_what_it_rests_on_is_the_same() -> None:
    table = Table().having("mutant:crc-skip", "golden", Cell("1000 examples", 1.0))
    asked = [column(lives), column(lives, "derived")]
    names = ["mutant:crc-skip"]
    assert [one.name for _, one in missing(table, names, asked, Settings())] == ["derived"]
    assert len(missing(table, names, asked, Settings(examples=5))) == 2


@pytest.mark.sweeps
def test_a_mutant_that_ends_its_worker_is_dead_and_the_others_keep_their_cells() -> None:
    names = [
        "mutant:heka-packed-only",
        "mutant:crc-skip",
        "mutant:iggy-kind-swap",
        "mutant:magic-255-accepted",
    ]
    found = {n: c.label for n, _, c in filled([(n, column(exits)) for n in names], Settings(), workers=2)}
    assert found == {**dict.fromkeys(names, ""), "mutant:crc-skip": "crash"}


def test_a_table_that_was_written_is_read_again(tmp_path: Path) -> None:
    table = Table(
        columns=("golden",), rows={"mutant:x": row(golden=Cell("b", 1.5, "a/b/c/d", "fail", 2, ("i",)))}
    )
    write(table, tmp_path / "deep")
    assert read(tmp_path / "deep") == table
    assert read(tmp_path) == Table()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["kill.json"]


@pytest.mark.parametrize("text", ["{", '{"schema": 1, "rows": 3}', '{"schema": 1, "extra": 1}', "[]"])
def test_a_file_that_is_no_table_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "kill.json").write_text(text)
    with pytest.raises(KillTableError, match=r"kill\.json: no kill table"):
        read(tmp_path)


# --- sums and views ---


def test_the_sums_are_by_column_and_by_system(suite: Suite) -> None:
    must = [case.id for case in suite.cases if case.level == "must"]
    rows = {
        "mutant:a": row(golden=Cell("b", 1.0, must[0], "fail", 3, tuple(must[:2])), derived=Cell("b", 2.0)),
        "mutant:b": Row("heka", {"golden": Cell("b", 1.0)}),
    }
    table = Table(rows=rows).summed(suite)
    assert table.columns == ("golden", "derived")
    golden = tally(table, "golden")
    assert (golden.killed, golden.asked) == (1, 2)
    assert golden.systems == {"heka": (0, 1), "kafka": (1, 1)}
    assert golden.alive == ("mutant:b",)
    assert set(table.idle) == set(must[2:])
    told = list(lines(table))
    assert told[0] == "golden: 1 of 2 killed (heka 0 of 1, kafka 1 of 1), 2 s"
    assert "alive, derived: mutant:a" in told
    assert told[-1].startswith(f"{len(must) - 2} must cases kill none")


# --- the tool ---


@pytest.mark.sweeps
def test_kill_writes_a_table_and_goes_on_with_it(kill: Command, tmp_path: Path) -> None:
    ask = ("heka-packed-only", "--table", "golden,derived", "--out", str(tmp_path), "--in-process")
    first = kill(*ask)
    assert first.code == 0
    assert "golden: 1 of 1 killed (heka 1 of 1)" in first.out
    cells = json.loads((tmp_path / "kill.json").read_text())["rows"]["mutant:heka-packed-only"]["cells"]
    assert {name: bool(cell["by"]) for name, cell in cells.items()} == {"golden": True, "derived": True}
    assert "heka-packed-only" in (tmp_path / "kill.html").read_text()
    second = kill(*ask)
    assert second.out.splitlines() == first.out.splitlines()[2:]
    assert len(kill(*ask, "--again").out.splitlines()) == len(first.out.splitlines())


@pytest.mark.usefixtures("stored_cases_alone")
def test_kill_names_the_case_and_who_lives(kill: Command) -> None:
    done = kill("crc-skip", "--in-process", width=80)
    assert done.code == 0
    assert "kafka.batch/v0/message/crc-32c  fail:wrong-accept" in done.out
    assert "1 of 1 dead" in done.out
    alive = kill(SOUND, "--in-process")
    assert alive.code == 1
    assert f"alive: {SOUND}" in alive.out


def test_the_list_has_every_mutant_with_its_fault(kill: Command) -> None:
    done = kill("--list", width=80)
    assert done.code == 0
    rows = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert [f"mutant:{name}" for name in rows] == mutants()
    assert all(len(fault) > 20 for fault in rows.values())
