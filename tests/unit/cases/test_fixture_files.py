"""Every fixture file follows the schema and is what its cases are written as."""

import json
from pathlib import Path

from each import each
from fixture_schema import validator
from goldens import load

from wireproof.cases.case_json import case_from_json
from wireproof.cases.fixture_writer import case_json
from wireproof.cases.fixtures import fixtures_folder

FILES = sorted(fixtures_folder().glob("*/*/*.json"))


@each("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_fixture_file_follows_the_schema(path: Path) -> None:
    errors = [error.message for error in validator().iter_errors(json.loads(path.read_text("utf-8")))]
    assert errors == []


def test_every_case_is_read_back_from_what_is_written() -> None:
    for case in load().cases:
        assert case_from_json(case_json(case), case.format, case.revision, None) == case, case.id
