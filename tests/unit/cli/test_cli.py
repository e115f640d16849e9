"""The command line: commands.md and results.md."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import Command
from fixture_folders import GOOD, PLACE, RULE, write
from goldens import golden
from machine import needs

from tests.mutants.registry import spec_of
from wireproof.formats import FORMATS

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""


# --- check ---


def test_check_ends_by_what_it_found(wireproof: Command) -> None:
    assert wireproof("check", "reference", "--run", SMALL, "--no-families").code == 0
    done = wireproof("check", LENIENT, "--run", SMALL, "--no-families")
    assert done.code == 1
    assert "FAIL  kafka.batch/v2/crc/" in done.out
    assert f"wireproof replay kafka.batch/v2/crc/bit-flip-in-value {shlex.quote(LENIENT)}" in done.out


@pytest.mark.parametrize(
    ("view", "begin"),
    [("junit", "<?xml"), ("markdown", "# wireproof"), ("html", "<!doctype html>"), ("badge", "{")],
)
def test_a_view_of_a_run_can_be_printed(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: str, begin: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--run", SMALL, "--no-families", "--out", "run.jsonl")
    assert wireproof("check", "reference", "--in-process", *words).code == 0
    done = wireproof("report", "run.jsonl", "--quiet", f"--{view}", "-")
    assert done.code == 0
    assert begin in done.out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.jsonl"]


def test_every_view_of_a_run_is_written(wireproof: Command, tmp_path: Path) -> None:
    files = {name: tmp_path / f"run.{name}" for name in ("junit", "markdown", "html", "badge")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    out = tmp_path / "run.jsonl"
    done = wireproof(
        "check",
        LENIENT,
        "reference",
        "--run",
        SMALL,
        "--no-families",
        "--out",
        out,
        "--annotations",
        *options,
    )
    assert done.code == 1
    suites = ET.parse(files["junit"]).getroot()
    assert len(list(suites.iter("testcase"))) == 16
    assert list(suites.iter("failure"))
    assert "crc-skip" in files["markdown"].read_text("utf-8")
    assert "<table" in files["html"].read_text("utf-8")
    badge = json.loads(files["badge"].read_text("utf-8"))
    assert (badge["schemaVersion"], badge["color"]) == (1, "red")
    assert "::error title=kafka.batch/v2/crc/" in done.out

    again = {name: tmp_path / f"again.{name}" for name in files}
    options = [word for name, path in again.items() for word in (f"--{name}", path)]
    assert wireproof("report", out, *options).code == 1
    for name, path in files.items():
        assert again[name].read_bytes() == path.read_bytes(), name


# --- the suite and its adapters ---


def test_lint_counts_and_freezes(wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD, rules="rule = []\n")
    monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda: tmp_path)
    bad = wireproof("lint", "--freeze")
    assert bad.code == 5
    assert f"{GOOD['id']}: the rule shelf.number is unknown" in bad.out
    assert not (tmp_path / "frozen.json").exists()
    write(tmp_path, GOOD, {**GOOD, "id": f"{PLACE}/b-good"}, rules=RULE.replace("refusing", "value"))
    assert "2 of them not frozen" in wireproof("lint").out
    done = wireproof("lint", "--freeze")
    assert done.code == 0
    assert "2 more ids are frozen" in done.out
    assert "0 of them not frozen" in wireproof("lint").out


def test_adapters_lists_the_options_of_client_programs_once(wireproof: Command) -> None:
    lines = wireproof("adapters", width=80).out.splitlines()
    (head,) = (at for at, line in enumerate(lines) if line.startswith("options, as in "))
    assert "aiokafka-client:fetch=17,serve=leader, of aiokafka-client, " in lines[head]
    assert [line.split("=")[0].strip() for line in lines[head + 1 : head + 6]] == [
        *("fetch", "serve", "start", "side", "lost")
    ]
    rows = {row["name"]: row for row in json.loads(wireproof("adapters", "--format", "json").out)}
    assert rows["kio"]["options"] == []
    fetch, serve, *_ = rows["sarama-client"]["options"]
    assert (fetch["name"], fetch["values"], fetch["default"]) == ("fetch", "4..17", "17")
    assert serve["values"] == "pieces|whole|cut|error|leader"


@needs("[peers]")
@pytest.mark.usefixtures("stored_cases_alone")
def test_the_probe_of_kio_shows_the_codec_bits_that_it_ignores(wireproof: Command) -> None:
    done = wireproof("adapters", "probe", "kio")
    wrongly = [line for line in done.out.splitlines() if line.startswith("accepted and must be refused: ")]
    unknown = next(line for line in wrongly if "unknown-codec" in line)
    assert "kafka.batch/v2/attributes/codec-5" in unknown
    assert any("codec-gzip-but-plain" in line for line in wrongly)
    assert "not claimed and answered: kafka.batch/v2 codec gzip" in done.out
    assert "kafka.log" not in done.out


def test_serve_answers_the_lines_of_the_contract() -> None:
    text = golden("kafka.batch/v2/crc/leader-epoch-outside")
    asked = {"op": "decode", "format": "kafka.batch", "revision": "v2"}
    lines = [
        {"hello": {"protocol": 1}},
        {"id": "7", **asked, "hex": text},
        {"id": "8", **asked, "hex": golden("kafka.batch/v2/crc/zero")},
        {"id": "9", **asked, "hex": text, "answer": "digest"},
        {"id": "10", **asked, "format": "nosuch", "hex": ""},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", "serve", "reference", "--wire", "jsonl"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    hello, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert hello["hello"]["name"] == "reference"
    assert set(FORMATS) <= set(hello["hello"]["revisions"])
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id["7"]["outcome"] == "accepted"
    assert by_id["7"]["consumed"] == 79
    assert by_id["7"]["value"]["partitionLeaderEpoch"] == "7"
    assert (by_id["8"]["outcome"], by_id["8"]["class"], by_id["8"]["at"]) == ("refused", "crc-mismatch", 17)
    assert len(by_id["9"]["digest"]) == 32
    assert by_id["10"]["outcome"] == "unsupported"
