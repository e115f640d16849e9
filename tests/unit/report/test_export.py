"""The suite as data, its changes, and seeds for fuzzers of other people."""

import json
import re
import subprocess
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from command_line import Command
from each import each
from goldens import load
from machine import needs

from wireproof.cases import case_json
from wireproof.cases.case import Chunks, Data
from wireproof.derive.mutate import dictionary
from wireproof.formats import FORMATS
from wireproof.lint.sources import sentences_of
from wireproof.report.diff import INPUT, export_diff
from wireproof.report.export import MAX_SEED_BYTES, class_name, export, export_seeds, go_file, seeds_of

SOME = ("--run", "iggy.identifier/**", "--run", "kafka.batch/v0/**", "--run", "heka.stream/**")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "whole"
    suite = load()
    assert export(suite, suite.cases, folder) == sum(path.stat().st_size for path in folder.rglob("*.bin"))
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
    assert "not empty" in wireproof("export", "--out", tmp_path, code=2).one_line()


# --- the list of changes of two exports ---


ROW: dict[str, Any] = {
    "id": "toy/v1/basic/good",
    "file": "raw/toy/v1/basic/good.bin",
    "sha256": "aa",
    "op": "decode",
    "level": "must",
    "input": {"hex": "01"},
    "expect": {"accept": {"value": {"a": "1"}, "consumed": 1}},
}


def rows(*changed: dict[str, Any]) -> dict[str, Any]:
    return {row["id"]: row for row in ({**ROW, **one} for one in changed)}


OTHER = {"id": "toy/v1/basic/other"}


PARTS_CHANGED: dict[str, dict[str, Any]] = {
    "level": {"level": "should"},
    "expectation": {"expect": {"reject": {"class": "bad", "at": 0}}},
    "op": {"op": "scan"},
    "profile": {"profile": "produce"},
    "options": {"options": {"topic": "compact"}},
    "needs": {"needs": ["codec:lz4"]},
    "flags": {"flags": ["security"]},
    "limits": {"limits": {"ms": 100}},
    "twin": {"twin": OTHER["id"]},
}


@each("part", PARTS_CHANGED)
def test_a_part_that_changed_is_named_and_no_error(part: str) -> None:
    found = export_diff(rows({}), rows(PARTS_CHANGED[part]))
    assert [one.part for one in found.changed] == [part]
    assert not found.broken


INPUTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bytes": ({}, {"sha256": "bb", "input": {"hex": "02"}}),
    "chunks": ({"input": {"chunks": ["01", "0203"]}}, {"input": {"chunks": ["0102", "03"]}}),
    "a value": ({"sha256": None, "input": {"value": "1"}}, {"sha256": None, "input": {"value": "2"}}),
    "a recipe": (
        {"sha256": None, "input": {"generate": {}, "size": 9, "sha256": "aa"}},
        {"sha256": None, "input": {"generate": {}, "size": 9, "sha256": "bb"}},
    ),
    "steps": (
        {"sha256": None, "input": {}, "steps": [{"op": "produce", "hex": "01", "expect": {}}]},
        {"sha256": None, "input": {}, "steps": [{"op": "produce", "hex": "02", "expect": {}}]},
    ),
}


@each("kind", INPUTS)
def test_another_input_under_the_same_id_is_an_error(kind: str) -> None:
    before, now = INPUTS[kind]
    found = export_diff(rows(before), rows(now))
    assert [one.part for one in found.changed] == [INPUT]
    assert found.broken
    assert not export_diff(rows(now), rows(now)).broken


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two exports; the second one has a case more, and one at another level."""
    suite = load()
    some = [case for case in suite.cases if case.format == "iggy.identifier"]
    old, new = (tmp_path_factory.mktemp("exports") / name for name in ("old", "new"))
    for folder in (old, new):
        export(suite, some, folder)
    first, second, *rest = (new / "cases.ndjson").read_text("utf-8").splitlines()
    row = json.loads(first)
    row["level"] = "may" if row["level"] == "should" else "should"
    added = {**row, "id": f"{row['id']}-again"}
    lines = [json.dumps(row), json.dumps(added), second, *rest]
    (new / "cases.ndjson").write_text("\n".join(lines) + "\n", "utf-8")
    return old, new


def test_the_verb_prints_the_changes_of_two_exports(wireproof: Command, exports: tuple[Path, Path]) -> None:
    old, new = exports
    changed, added = wireproof("diff", old, new, code=0).out.splitlines()
    assert ": level: " in changed
    assert added.endswith("-again")
    assert wireproof("diff", new, old, code=1).out.startswith("removed  iggy.identifier/")
    assert wireproof("diff", old, old).out == "no change\n"
    text = wireproof("diff", "--markdown", old, new).out
    assert all(part in text for part in ("1 added, 1 changed, 0 removed.", "### Added", "| level | `"))
    assert "### Removed" not in text


@pytest.mark.parametrize(
    ("text", "fault"), [("[]\n", "an object with an id"), ("{\n", ":1: "), (None, "name a folder")]
)
def test_a_folder_that_is_no_export_is_one_line(
    wireproof: Command, exports: tuple[Path, Path], tmp_path: Path, text: str | None, fault: str
) -> None:
    if text is not None:
        (tmp_path / "cases.ndjson").write_text(text)
    assert fault in wireproof("diff", str(tmp_path), str(exports[0]), code=2).one_line()


def test_a_run_is_not_compared_with_an_export(wireproof: Command, exports: tuple[Path, Path]) -> None:
    done = wireproof("diff", str(exports[0]), str(exports[0] / "cases.ndjson"), code=2)
    assert "name runs, two exports or scans" in done.err


# --- seeds ---


SUITE = load()
SEEDED = ("kafka.batch/v2", "heka.stream/0.10", "iggy.json.send/0.8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("seeds") / "some"
    export_seeds(SUITE, [case for case in SUITE.cases if case.format_id in SEEDED], made)
    return made


def inputs(format_id: str) -> set[bytes]:
    """The inputs of a format's cases that are not too large for a seed."""
    mine = [case.input for case in SUITE.cases if case.format_id == format_id]
    whole = [one.data for one in mine if isinstance(one, Data)]
    joined = [b"".join(one.chunks) for one in mine if isinstance(one, Chunks)]
    return {data for data in (*whole, *joined) if len(data) <= MAX_SEED_BYTES}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


SLUGS = {name: name.replace("/", "-") for name in SEEDED}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_is_the_input_of_a_case_or_an_encoding_of_the_format(folder: Path, name: str) -> None:
    found = files(folder / "libfuzzer" / SLUGS[name])
    assert inputs(name) <= set(found.values())
    assert len(found) - len(inputs(name)) <= 4, "the least and the fullest encodings"
    assert all(sha1(data).hexdigest() == path for path, data in found.items()), "libFuzzer's own names"


@pytest.mark.parametrize("name", SEEDED)
def test_every_layout_has_the_same_seeds(folder: Path, name: str) -> None:
    seeds = files(folder / "libfuzzer" / SLUGS[name])
    assert files(folder / "afl" / SLUGS[name]) == seeds
    assert files(folder / "jazzer" / f"{class_name(name)}FuzzTestInputs" / "decode") == seeds
    with ZipFile(folder / "libfuzzer" / f"{SLUGS[name]}_seed_corpus.zip") as archive:
        assert {one: archive.read(one) for one in archive.namelist()} == seeds
    in_go = files(folder / "go" / "testdata" / "fuzz" / f"Fuzz{class_name(name)}")
    assert {go_file(data) for data in seeds.values()} == set(in_go.values())
    assert all(sha256(data).hexdigest()[:16] == path for path, data in in_go.items()), "Go's own names"


@pytest.mark.parametrize("name", SEEDED)
def test_a_dictionary_has_the_words_of_the_format_in_the_syntax_that_three_fuzzers_share(
    folder: Path, name: str
) -> None:
    texts = [
        (folder / tool / f"{SLUGS[name]}.dict").read_text("ascii") for tool in ("libfuzzer", "afl", "jazzer")
    ]
    assert texts[0] == texts[1] == texts[2]
    comment, *lines = texts[0].splitlines()
    assert comment == "# SPDX-License-Identifier: Apache-2.0"
    assert all(re.fullmatch(r'"(?:\\x[0-9a-f]{2}){1,64}"', line) for line in lines)
    words = [bytes.fromhex(line.strip('"').replace("\\x", "")) for line in lines]
    assert tuple(words) == dictionary(FORMATS[name])


def test_a_seed_leads_to_its_cases(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "seeds.ndjson").read_text("utf-8").splitlines()]
    one = next(case for case in SUITE.cases if case.id == "kafka.batch/v2/crc/ieee")
    (row,) = [row for row in rows if one.id in row["cases"]]
    assert row["name"] == sha1(one.input.data).hexdigest()
    assert row["size"] == len(one.input.data)
    there = {(row["format"], row["name"]) for row in rows}
    assert there == {(name, path) for name in SEEDED for path in files(folder / "libfuzzer" / SLUGS[name])}


def test_seeds_of_a_format_are_bounded_in_size_and_the_smallest_are_kept() -> None:
    row, cases = FORMATS["kafka.batch/v2"], SUITE.cases
    every = list(seeds_of(row, cases))
    assert max(map(len, every)) <= MAX_SEED_BYTES
    some = list(seeds_of(row, cases, most=5000))
    assert sum(map(len, some)) <= 5000
    assert some == every[: len(some)]
    assert 0 < len(some) < len(every)
    assert every == sorted(every, key=len)


@pytest.mark.parametrize(("data", "text"), [
    (b"", '[]byte("")'),
    (b'a"\\\n', r'[]byte("a\"\\\x0a")'),
    (b"\x00\x7f\x80\xff~ ", r'[]byte("\x00\x7f\x80\xff~ ")'),
])  # fmt: skip
def test_a_seed_in_go_is_a_line_of_go(data: bytes, text: str) -> None:
    assert go_file(data).decode("ascii") == f"go test fuzz v1\n{text}\n"


def test_the_command_writes_the_chosen_formats_and_counts_them(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("export", "--seeds", tmp_path / "seeds", "--run", "iggy.identifier/**", code=0)
    assert {path.name for path in (tmp_path / "seeds" / "afl").iterdir()} == {
        f"iggy.identifier-{revision}{end}" for revision in ("0.0.30", "0.8") for end in ("", ".dict")
    }
    lines = (tmp_path / "seeds" / "seeds.ndjson").read_text("utf-8").splitlines()
    assert f"{len(lines)} seeds of 2 formats" in done.err


def test_a_folder_for_cases_or_for_seeds_is_named(wireproof: Command) -> None:
    done = wireproof("export", code=2)
    assert "--out" in done.one_line()
    assert "--seeds" in done.one_line()


GO_TEST = """package seeds

import (
	"crypto/sha1"
	"fmt"
	"testing"
)

func FuzzKafkaBatch_v2(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) { fmt.Printf("seed %x\\n", sha1.Sum(data)) })
}
"""


@pytest.mark.tools
@needs("go")
def test_go_reads_every_seed_as_the_bytes_that_libfuzzer_reads(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module seeds\n\ngo 1.21\n", encoding="utf-8")
    (tmp_path / "seeds_test.go").write_text(GO_TEST, encoding="utf-8")
    (tmp_path / "testdata").symlink_to(folder / "go" / "testdata")
    done = subprocess.run(
        ["go", "test", "-v", "-run", "FuzzKafkaBatch_v2", "."], cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    read = re.findall(r"seed ([0-9a-f]{40})", done.stdout)
    assert sorted(read) == sorted(files(folder / "libfuzzer" / "kafka.batch-v2"))
