"""The verb `check`: its output and files, and adapters that do not start or do not go on."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import Command, Done
from fixture_folders import GOOD, PLACE, RULE, write
from goldens import golden
from machine import needs

from tests.mutants.registry import spec_of
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import entries
from wireproof.formats import FORMATS
from wireproof.run.events import read_events

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""


# --- check ---


def test_check_ends_by_what_it_found(wireproof: Command) -> None:
    assert wireproof("check", "reference", "--run", SMALL, "--no-families").code == 0
    done = wireproof("check", LENIENT, "--run", SMALL, "--no-families", code=1)
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
    assert begin in wireproof("report", "run.jsonl", "--quiet", f"--{view}", "-", code=0).out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.jsonl"]


def test_every_view_of_a_run_is_written(wireproof: Command, tmp_path: Path) -> None:
    files = {name: tmp_path / f"run.{name}" for name in ("junit", "markdown", "html", "badge")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    out = tmp_path / "run.jsonl"
    words = ("--run", SMALL, "--no-families", "--out", out, "--annotations", *options)
    done = wireproof("check", LENIENT, "reference", *words, code=1)
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
    assert f"{GOOD['id']}: the rule shelf.number is unknown" in wireproof("lint", "--freeze", code=5).out
    assert not (tmp_path / "frozen.json").exists()
    write(tmp_path, GOOD, {**GOOD, "id": f"{PLACE}/b-good"}, rules=RULE.replace("refusing", "value"))
    assert "2 of them not frozen" in wireproof("lint").out
    assert "2 more ids are frozen" in wireproof("lint", "--freeze", code=0).out
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


# --- an adapter that does not start, or does not go on, is in every file ---


ONE_FORMAT = ("--run", "iggy.identifier/0.0.30/**", "--no-families")
GOOD_ADAPTER = """
from wireproof.adapters import Rejected

class Mine:
    name, version = "mine", "2.0"
    revisions = {"iggy.identifier/0.0.30": {"ops": ["decode"]}}

    def decode(self, request):
        raise Rejected("other")
"""
CHANGES = """
import os

class Mine:
    name, version = "mine", "3.0" if os.path.exists("ended") else "2.0"
    revisions = {"iggy.identifier/0.0.30": {"ops": ["decode"]}}

    def decode(self, request):
        open("ended", "w")
        os._exit(3)
"""
"""An adapter that ends, and is of another version when it is started again."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("unready", "import no_such_library"), ("mine", GOOD_ADAPTER), ("changes", CHANGES)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def checked(wireproof: Command, *words: str) -> tuple[Done, Mapping[str, str]]:
    """Return how a check ended, and each file that it wrote."""
    files = {name: Path(f"out.{name}") for name in ("junit", "markdown", "html", "badge")}
    options = (f"--{name}={file}" for name, file in files.items())
    done = wireproof("check", *words, *ONE_FORMAT, *options, "--annotations")
    return done, {name: file.read_text(encoding="utf-8") for name, file in files.items()}


def errors(junit: str) -> list[tuple[str, str]]:
    """Return class and message of each error of a JUnit file."""
    return [
        (case.get("classname", ""), error.get("message", ""))
        for case in ET.fromstring(junit).iter("testcase")
        for error in case.iter("error")
    ]


@pytest.mark.parametrize(
    ("spec", "reason", "code"),
    [
        ("py:unready:Mine", "No module named 'no_such_library'", 4),
        ("exec:/no/such/program", "cannot be started", 4),
        (f"exec:{shlex.quote(sys.executable)} -c pass", "hello", 4),
        ("nosuch", "unknown adapter nosuch", 2),
    ],
    ids=["import", "program", "hello", "name"],
)
def test_an_adapter_that_does_not_start_is_the_one_error_of_each_file(
    wireproof: Command, folder: Path, spec: str, reason: str, code: int
) -> None:
    assert folder.exists()
    done, files = checked(wireproof, spec)
    assert done.code == code
    assert reason in done.one_line()
    ((name, message),) = errors(files["junit"])
    assert (name, reason in message) == (spec, True), message
    assert f"{reason.replace('_', chr(92) + '_')}" in files["markdown"]
    assert "**incomplete**" in files["markdown"]
    assert reason.replace("'", "&#39;") in files["html"]
    assert json.loads(files["badge"])["message"] == "incomplete"
    (line,) = [line for line in done.out.splitlines() if line.startswith("::error")]
    assert reason in line


@pytest.mark.parametrize("order", [("py:unready:Mine", "py:mine:Mine"), ("py:mine:Mine", "py:unready:Mine")])
def test_the_files_have_the_adapters_that_start_too(
    wireproof: Command, folder: Path, order: tuple[str, ...]
) -> None:
    assert folder.exists()
    done, files = checked(wireproof, *order)
    assert done.code == 4
    names = [
        case.get("classname", "").partition(".")[0] for case in ET.fromstring(files["junit"]).iter("testcase")
    ]
    assert sorted({*names}) == ["mine", "py:unready:Mine"]
    assert len(names) > 10
    assert len(errors(files["junit"])) == 1
    assert [line.split()[1].partition(":")[0] for line in files["markdown"].splitlines()[4:6]] == [
        spec.split(":")[0 if "unready" in spec else 1] for spec in order
    ]
    incomplete = json.loads(files["badge"])["message"] == "incomplete"
    assert incomplete is ("unready" in order[0])


def test_an_adapter_that_changes_ends_its_run_with_an_error(wireproof: Command, folder: Path) -> None:
    assert folder.exists()
    done, files = checked(wireproof, "py:changes:Mine", "--jobs", "1")
    assert done.code == 4
    reason = "py:changes:Mine has another version after it was started again (mine 2.0 became mine 3.0)"
    assert reason in done.one_line()
    assert f"mine: no case was judged: {reason}" in done.out.replace("\n      ", " ")
    assert [(name, reason in message) for name, message in errors(files["junit"])][-1] == ("mine", True)
    assert "has another version after it was started again" in files["markdown"]
    assert reason in files["html"]


# --- every adapter that is ready ---


def test_all_ready_takes_what_is_ready_here_for_the_selection(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"reference": entries()["reference"]}
    known["absent"] = Entry("absent", object="no:thing", requires=("no_such_module",), formats=("kafka",))
    known["other"] = Entry("other", object="no:thing", formats=("heka",))
    monkeypatch.setattr("wireproof.cli.check.run.entries", lambda: known)
    words = ("--all-ready", "--run", SMALL, "--no-families", "--in-process", "--out", tmp_path / "runs")
    wireproof("check", *words, "--html", tmp_path / "page.html", "--badge", tmp_path / "badge.json", code=0)
    assert [stream.run.spec for stream in read_events(tmp_path / "runs")] == ["reference"]
    assert "1 implementation × Kafka" in (tmp_path / "page.html").read_text()
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "8 of 8"
    wireproof("check", LENIENT, *words)
    assert [stream.run.spec for stream in read_events(tmp_path / "runs")] == [LENIENT, "reference"]
