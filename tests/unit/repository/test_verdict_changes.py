"""How a change of the fixtures changes verdicts: `python -m tests.support.verdict_changes`."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.verdict_changes import TOP, Changes, changes, lines_of, rows_of, verdicts

PLACE = "iggy.identifier/0.0.30"
ONE, SAME, NEW = (f"{PLACE}/identifier/{name}" for name in ("string-empty", "string", "string-one"))
ADAPTERS = ("reference", "py:tests.mutants.every_format:RejectEverything")


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """Return the fixtures of one format: one expectation is another, one case is new."""
    folder = tmp_path / "fixtures"
    shutil.copytree(TOP / "fixtures/iggy.identifier", folder / "iggy.identifier")
    for path in (TOP / "fixtures").glob("*.*"):
        if path.is_file():
            shutil.copy(path, folder)
    file = folder / PLACE / "identifier.json"
    page = json.loads(file.read_text())
    cases = {case["id"]: case for case in page["cases"]}
    cases[ONE]["expect"] = {"accept": {"value": {"kind": "string", "value": ""}, "consumed": 2}}
    answer = {"accept": {"value": {"kind": "string", "value": "61"}, "consumed": 3}}
    new = {"id": NEW, "input": {"hex": "020161"}, "expect": answer}
    page["cases"].append({**cases[SAME], **new})
    file.write_text(json.dumps(page))
    return folder


@pytest.mark.sweeps
def test_what_is_new_or_decided_in_another_way_is_judged_on_both_sides(edited: Path) -> None:
    before = {
        name: row for name, row in rows_of(TOP / "fixtures").items() if name.startswith("iggy.identifier/")
    }
    found = changes(before, rows_of(edited))
    assert found == Changes((NEW,), (ONE,))
    now = verdicts(edited, ADAPTERS, (*found.added, *found.changed))
    text = "\n".join(lines_of(found, verdicts(TOP / "fixtures", ADAPTERS, found.changed), now))
    assert f"| `{ONE}` | pass (must) | suite-bug (must) | reference |" in text
    assert f"| `{NEW}` | must | reference | {ADAPTERS[1]} (fail:wrong-reject) |" in text
