"""Every fixture file follows the schema and is what its cases are written as."""

import hashlib
import json
from pathlib import Path

from each import each
from fixture_schema import validator
from goldens import load

from wireproof.cases.case_json import case_from_json, read
from wireproof.cases.fixture_writer import case_json, fixture_page
from wireproof.cases.fixtures import fixtures_folder

FILES = sorted(fixtures_folder().glob("*/*/*.json"))


@each("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_fixture_file_follows_the_schema(path: Path) -> None:
    errors = [error.message for error in validator().iter_errors(json.loads(path.read_text("utf-8")))]
    assert errors == []


def test_every_case_is_read_back_from_what_is_written() -> None:
    for case in load().cases:
        assert case_from_json(case_json(case), case.format, case.revision, None) == case, case.id


@each("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_fixture_file_is_what_its_cases_are_written_as(path: Path) -> None:
    cases = read(path)
    page = fixture_page(cases[0].format, cases[0].revision, cases)
    assert page.text == path.read_text(encoding="utf-8")
    inputs = [case["input"] for case in json.loads(page.text)["cases"] if "input" in case]
    sealed = {given["sha256"] for given in inputs if "file" in given}
    assert {hashlib.sha256(data).hexdigest() for data in page.files.values()} == sealed
