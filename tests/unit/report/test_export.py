"""The suite as data: what is written says what the fixtures say, and readers in five languages read it."""

import json
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from folders import TOP
from goldens import load
from machine import needs

from wireproof.cases import fixtures
from wireproof.cases.sentences import sentences_of
from wireproof.report.export import READERS, export
from wireproof.report.licence import SPDX_ID

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
        assert fixtures.case_from_json(row, form, revision, None) == case


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
    assert list(rows) == [sentence.id for sentence in sentences_of(load())]
    cases = (tmp_path / "export" / "cases.ndjson").read_text("utf-8").splitlines()
    exported = {json.loads(line)["id"] for line in cases}
    assert rows["heka-13"]["cases"]
    assert rows["kdoc-13"]["cases"] == [], "its cases are not exported"
    assert rows["kdoc-13"]["state"] == "covered"
    assert all(set(row["cases"]) <= exported for row in rows.values())


def test_the_layouts_of_what_is_exported_are_beside_it(wireproof: Command, tmp_path: Path) -> None:
    wireproof("export", "--out", tmp_path / "export", *SOME)
    layouts = {path.name for path in (tmp_path / "export" / "layouts").iterdir()}
    iggy = {"iggy_identifier_0_0_30.ksy", "iggy_identifier_0_8.ksy"}
    assert layouts == {*iggy, "kafka_batch_v0.ksy", "heka_stream_0_10.ksy"}


def read(name: str, folder: Path, room: Path) -> str:
    script = str(folder / "readers" / name)
    command = {
        "read.py": [sys.executable, script],
        "read.mjs": ["node", script],
        "read.go": ["go", "run", script],
        "Read.java": ["java", script],
        "read.rs": [str(room / "read")],
    }[name]
    if name == "read.rs":
        subprocess.run(["rustc", "-O", "-o", room / "read", script], check=True, timeout=300)
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    return done.stdout


TOOLS = {"read.mjs": "node", "read.go": "go", "Read.java": "java", "read.rs": "rustc"}


def reader(name: str) -> Any:
    """A reader, with the marker of its lane where another language runs it."""
    return pytest.param(name, marks=[pytest.mark.tools, needs(TOOLS[name])]) if name in TOOLS else name


@pytest.mark.parametrize("name", [reader(name) for name in READERS])
def test_a_reader_of_thirty_lines_reads_every_byte(wireproof: Command, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "export"
    done = wireproof("export", "--out", folder, *SOME)
    assert done.code == 0
    assert read(name, folder, tmp_path) == done.out
    assert len((folder / "readers" / name).read_text("utf-8").splitlines()) <= 35
    assert done.out.split()[1] in (folder / "README.md").read_text("utf-8")


def test_a_byte_that_is_not_in_its_place_changes_the_digest(wireproof: Command, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    told = wireproof("export", "--out", folder, "--run", "iggy.identifier/**").out
    path = next((folder / "raw").rglob("*.bin"))
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    count, digest = read("read.py", folder, tmp_path).split()
    assert count == told.split()[0]
    assert digest != told.split()[1]


def test_nothing_is_written_over(wireproof: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    done = wireproof("export", "--out", tmp_path)
    assert done.code == 2
    assert "not empty" in done.one_line()


LICENCE_NAMED = ("README.md", "NOTICE", *(f"readers/{name}" for name in READERS))


@pytest.mark.parametrize("name", LICENCE_NAMED)
def test_a_written_text_names_its_licence_by_the_identifier_of_spdx(whole: Path, name: str) -> None:
    assert "SPDX-License-Identifier: Apache-2.0" in (whole / name).read_text("utf-8")


def test_layouts_and_schemas_name_it_as_their_formats_do(whole: Path) -> None:
    for path in (whole / "layouts").iterdir():
        assert '  license: "Apache-2.0"\n' in path.read_text("utf-8"), path
    for path in (whole / "schemas").iterdir():
        assert json.loads(path.read_text("utf-8"))["$comment"] == "SPDX-License-Identifier: Apache-2.0", path


def test_the_text_of_the_licence_and_a_notice_come_with_the_cases(whole: Path) -> None:
    assert (whole / "LICENSE").read_bytes() == (TOP / "LICENSE").read_bytes()
    text = (whole / "NOTICE").read_text("utf-8")
    assert f"Fixtures {load().hash}." in text
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == SPDX_ID
