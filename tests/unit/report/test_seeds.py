"""Seeds for fuzzers of other people: every layout has the bytes of the cases, and the size is bounded."""

import json
import re
import subprocess
from hashlib import sha1, sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
from command_line import Command
from goldens import load
from machine import needs

from wireproof.cases.case import Chunks, Data
from wireproof.derive.mutate import dictionary
from wireproof.formats import FORMATS
from wireproof.report.export import MAX_SEED_BYTES, class_name, export_seeds, go_file, seeds_of

SUITE = load()
SOME = ("kafka.batch/v2", "heka.stream/0.10", "iggy.json.send/0.8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("seeds") / "some"
    export_seeds(SUITE, [case for case in SUITE.cases if case.format_id in SOME], made)
    return made


def inputs(format_id: str) -> set[bytes]:
    """The inputs of a format's cases that are not too large for a seed."""
    mine = [case.input for case in SUITE.cases if case.format_id == format_id]
    whole = [one.data for one in mine if isinstance(one, Data)]
    joined = [b"".join(one.chunks) for one in mine if isinstance(one, Chunks)]
    return {data for data in (*whole, *joined) if len(data) <= MAX_SEED_BYTES}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


SLUGS = {name: name.replace("/", "-") for name in SOME}


@pytest.mark.parametrize("name", SOME)
def test_a_seed_is_the_input_of_a_case_or_an_encoding_of_the_format(folder: Path, name: str) -> None:
    found = files(folder / "libfuzzer" / SLUGS[name])
    assert inputs(name) <= set(found.values())
    assert len(found) - len(inputs(name)) <= 4, "the least and the fullest encodings"
    assert all(sha1(data).hexdigest() == path for path, data in found.items()), "libFuzzer's own names"


@pytest.mark.parametrize("name", SOME)
def test_every_layout_has_the_same_seeds(folder: Path, name: str) -> None:
    seeds = files(folder / "libfuzzer" / SLUGS[name])
    assert files(folder / "afl" / SLUGS[name]) == seeds
    assert files(folder / "jazzer" / f"{class_name(name)}FuzzTestInputs" / "decode") == seeds
    with ZipFile(folder / "libfuzzer" / f"{SLUGS[name]}_seed_corpus.zip") as archive:
        assert {one: archive.read(one) for one in archive.namelist()} == seeds
    in_go = files(folder / "go" / "testdata" / "fuzz" / f"Fuzz{class_name(name)}")
    assert {go_file(data) for data in seeds.values()} == set(in_go.values())
    assert all(sha256(data).hexdigest()[:16] == path for path, data in in_go.items()), "Go's own names"


@pytest.mark.parametrize("name", SOME)
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
    assert isinstance(one.input, Data)
    (row,) = [row for row in rows if one.id in row["cases"]]
    assert row["name"] == sha1(one.input.data).hexdigest()
    assert row["size"] == len(one.input.data)
    there = {(row["format"], row["name"]) for row in rows}
    assert there == {(name, path) for name in SOME for path in files(folder / "libfuzzer" / SLUGS[name])}


def test_seeds_of_a_format_are_bounded_in_size_and_the_smallest_are_kept() -> None:
    row, cases = FORMATS["kafka.batch/v2"], SUITE.cases
    every = seeds_of(row, cases)
    assert max(len(seed.data) for seed in every) <= MAX_SEED_BYTES
    some = seeds_of(row, cases, most=5000)
    assert sum(len(seed.data) for seed in some) <= 5000
    assert some == every[: len(some)]
    assert 0 < len(some) < len(every)
    assert [len(seed.data) for seed in every] == sorted(len(seed.data) for seed in every)


@pytest.mark.parametrize(("data", "text"), [
    (b"", '[]byte("")'),
    (b'a"\\\n', r'[]byte("a\"\\\x0a")'),
    (b"\x00\x7f\x80\xff~ ", r'[]byte("\x00\x7f\x80\xff~ ")'),
])  # fmt: skip
def test_a_seed_in_go_is_a_line_of_go(data: bytes, text: str) -> None:
    assert go_file(data).decode("ascii") == f"go test fuzz v1\n{text}\n"


def test_the_command_writes_the_chosen_formats_and_counts_them(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("export", "--seeds", tmp_path / "seeds", "--run", "iggy.identifier/**")
    assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "seeds" / "afl").iterdir()} == {
        f"iggy.identifier-{revision}{end}" for revision in ("0.0.30", "0.8") for end in ("", ".dict")
    }
    lines = (tmp_path / "seeds" / "seeds.ndjson").read_text("utf-8").splitlines()
    assert f"{len(lines)} seeds of 2 formats" in done.err


def test_a_folder_for_cases_or_for_seeds_is_named(wireproof: Command) -> None:
    done = wireproof("export")
    assert done.code == 2
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
