"""A package from outside adds a family of formats, and every verb works on it."""

import json
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from folders import TOP
from machine import needs

TALLY = TOP / "tests/support/tally"
CODEC = "py:tally_codec:TallyCodec"
CARELESS = "py:tally_codec:CarelessTallyCodec"
SOUND = "7a000007f049a315026105"

pytestmark = pytest.mark.tools

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the packages of this one, and with the family of another package."""
    folder = tmp_path_factory.mktemp("outside")
    venv.create(folder / "venv", with_pip=True)
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    here = sysconfig.get_path("purelib")
    (packages / "base.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    subprocess.run(
        [folder / "venv/bin/python", "-m", "pip", "install", "-q", "--no-deps", str(TALLY)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def run(room: Path, tmp_path: Path) -> Run:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [room / "venv/bin/python", "-m", "wireproof", *words],
            cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(TALLY), "LANG": "C.UTF-8"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def test_its_formats_and_cases_are_listed(run: Run) -> None:
    assert "tally.stream" in run("show").stdout
    assert run("cases", "tally.**").stdout.count("tally.stream/1/entries/") == 10
    assert run("show", "tally.stream/1/entries/gzip").returncode == 0


def test_the_reference_and_a_codec_of_somebody_else_are_checked_with_families_and_properties(
    run: Run,
) -> None:
    for adapter in ("reference", CODEC):
        done = run("check", adapter, "--run", "tally.**", "--property", "50", "--out", "run.jsonl")
        assert (done.returncode, "conforms" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_careless_codec_fails_a_golden_case_and_a_derived_one(run: Run, tmp_path: Path) -> None:
    done = run("check", CARELESS, "--run", "tally.**", "--out", "run.jsonl")
    assert done.returncode == 1
    events = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
    failed = {event["id"] for event in events if event.get("verdict") == "fail"}
    assert "tally.stream/1/entries/crc" in failed
    assert any("~" in name for name in failed)


def test_what_fuzzing_finds_is_made_smaller_and_becomes_a_fixture(run: Run, tmp_path: Path) -> None:
    done = run("fuzz", CARELESS, "--format", "tally.**", "--minutes", "0.2", "--workers", "1", "--seed", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    finding = next((tmp_path / "wireproof-fuzz/findings").rglob("*.json")).stem
    shrunk = run("shrink", f"wireproof-fuzz#{finding}", CARELESS, "--seconds", "10")
    assert "tally.stream/1" in shrunk.stdout, shrunk.stderr
    kept = run(
        "promote", f"wireproof-fuzz#{finding}", "--to", "own", "--name", "found/one", "--why", "It is."
    )
    assert kept.returncode == 0, kept.stderr
    assert "tally.stream/1/found/one" in (tmp_path / "own/tally.stream/1/found.json").read_text()


def test_its_bytes_are_explained_without_being_named(run: Run) -> None:
    done = run("explain", SOUND, "--fields")
    assert done.returncode == 0
    assert "11 bytes as tally.stream/1: accepted" in done.stdout
    assert "crc32 of 8..10" in done.stdout


@needs("java")
def test_an_archive_of_it_is_scanned_on_spark(run: Run, tmp_path: Path) -> None:
    sound, damaged = bytes.fromhex(SOUND), bytes.fromhex(SOUND[:-2] + "07")
    (tmp_path / "archive.tally").write_bytes(sound * 50 + damaged + sound * 49)
    done = run("scan", "archive.tally", "--source", "tally_stream", "--adapter", CARELESS, "--out", "scanned")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "99" in done.stdout
    assert "crc-mismatch" in done.stdout + "".join(
        path.read_text(errors="replace") for path in (tmp_path / "scanned").rglob("*.jsonl")
    )


def test_its_cases_and_its_schema_are_exported(run: Run, tmp_path: Path) -> None:
    assert run("export", "--out", "cases", "--run", "tally.**").returncode == 0
    assert "amounts" in (tmp_path / "cases/schemas/tally.stream-1.schema.json").read_text()
