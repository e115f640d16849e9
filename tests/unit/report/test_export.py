"""The suite as data: what is written says what the fixtures say."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from command_line import Command
from goldens import load

from wireproof.cases import case_json
from wireproof.lint.sources import sentences_of
from wireproof.report.export import export

SOME = ("--run", "iggy.identifier/**", "--run", "kafka.batch/v0/**", "--run", "heka.stream/**")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "whole"
    suite = load()
    done = export(suite, suite.cases, folder)
    assert done.cases == len(suite.cases)
    return folder


def test_every_case_read_back_from_its_line_equals_its_fixture(whole: Path) -> None:
    suite = load()
    lines = (whole / "cases.ndjson").read_text("utf-8").splitlines()
    assert len(lines) == len(suite.cases)
    for line, case in zip(lines, suite.cases, strict=True):
        row = json.loads(line)
        form, revision = row.pop("format"), row.pop("revision")
        if file := row.pop("file", None):
            data = (whole / file).read_bytes()
            assert sha256(data).hexdigest() == row.pop("sha256")
            assert data.hex() == row["input"].get("hex", "".join(row["input"].get("chunks", ())))
        texts = [rule["text"] for rule in row["rules"]]
        row["rules"] = [rule["id"] for rule in row["rules"]]
        assert texts == [suite.rules[name].text for name in row["rules"]]
        assert case_json.case_from_json(row, form, revision, None) == case


def test_every_file_there_is_is_named_and_every_value_fits_its_schema(whole: Path) -> None:
    import jsonschema  # noqa: PLC0415 - slow to import

    rows = [json.loads(line) for line in (whole / "cases.ndjson").read_text("utf-8").splitlines()]
    there = {str(path.relative_to(whole)) for path in (whole / "raw").rglob("*.bin")}
    assert there == {row["file"] for row in rows if "file" in row}
    for row in rows[::20]:
        value = row.get("expect", {}).get("accept", {}).get("value")
        if value is not None and row["op"] == "decode":
            text = (whole / "schemas" / f"{row['format']}-{row['revision']}.schema.json").read_text("utf-8")
            jsonschema.validate(value, json.loads(text))


def test_the_sentences_of_the_documents_lead_to_the_exported_cases(
    wireproof: Command, tmp_path: Path
) -> None:
    wireproof("export", "--out", tmp_path / "export", *SOME)
    lines = (tmp_path / "export" / "sentences.ndjson").read_text("utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    assert list(rows) == list(sentences_of(load()))
    cases = (tmp_path / "export" / "cases.ndjson").read_text("utf-8").splitlines()
    exported = {json.loads(line)["id"] for line in cases}
    assert rows["heka-13"]["cases"]
    assert rows["kdoc-13"]["cases"] == [], "its cases are not exported"
    assert rows["kdoc-13"]["state"] == "covered"
    assert all(set(row["cases"]) <= exported for row in rows.values())


def test_nothing_is_written_over(wireproof: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    done = wireproof("export", "--out", tmp_path)
    assert done.code == 2
    assert "not empty" in done.one_line()
