"""The modules of `tests/authoring` write the fixtures as they are: the same bytes and the same metadata."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from folders import TOP

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.worked_examples import built
from tests.authoring.systems import SYSTEMS, cases_of

FIXTURES: Final = TOP / "fixtures"

NOT_AUTHORED: Final = {
    "kafka.log/mixed/broker/": "logs of real brokers, made into cases by `tests/broker/fixtures.py`",
    "kafka.batch/v1/wrapper/offset-below-zero": "a finding of the fuzzer, which `wireproof promote` wrote",
}
"""The beginning of the ids of cases that no module makes, and where they come from."""


@cache
def authored(system: str) -> FixtureWriter:
    return cases_of(system)


def cases_in(folder: Path, system: str) -> dict[str, dict[str, Any]]:
    pages = (json.loads(path.read_text("utf-8")) for path in folder.glob(f"{system}.*/*/*.json"))
    return {case["id"]: case for page in pages for case in page["cases"]}


def changes(written: dict[str, Any], fixture: dict[str, Any]) -> list[str]:
    keys = [key for key in written | fixture if written.get(key) != fixture.get(key)]
    return [f"{written['id']} {key}: {fixture.get(key)!r} -> {written.get(key)!r}" for key in keys]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of all systems."""
    path = tmp_path_factory.mktemp("authored")
    for system in SYSTEMS:
        authored(system).write(path)
    return path


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_case_is_written_as_its_fixture_is(system: str, folder: Path) -> None:
    fixtures = cases_in(FIXTURES, system)
    written = cases_in(folder, system)
    assert [one for name, case in written.items() for one in changes(case, fixtures.get(name, {}))] == []


def test_each_file_is_written_byte_for_byte(folder: Path) -> None:
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert [path for path in paths if not (FIXTURES / path).exists()] == []
    assert [path for path in paths if (folder / path).read_bytes() != (FIXTURES / path).read_bytes()] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_case_that_no_module_makes_is_in_the_table(system: str) -> None:
    others = cases_in(FIXTURES, system).keys() - authored(system).cases.keys()
    assert [name for name in others if not name.startswith(tuple(NOT_AUTHORED))] == []


def test_each_row_of_the_table_is_about_cases_that_no_module_makes() -> None:
    fixtures = {name for system in SYSTEMS for name in cases_in(FIXTURES, system)}
    made = {name for system in SYSTEMS for name in authored(system).cases}
    for begin in NOT_AUTHORED:
        assert any(name.startswith(begin) for name in fixtures), begin
        assert not any(name.startswith(begin) for name in made), begin


def test_every_large_input_belongs_to_a_case() -> None:
    names = {
        path.parent / case["input"]["file"]
        for path in FIXTURES.glob("*/*/*.json")
        for case in json.loads(path.read_text("utf-8"))["cases"]
        if "file" in case.get("input", ())
    }
    assert names == set(FIXTURES.glob("*/*/*.bin"))


def test_the_parts_of_iggy_build_the_worked_examples_as_they_are_printed() -> None:
    assert [name for name, (parts, printed) in built().items() if parts != printed] == []
