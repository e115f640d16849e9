"""A package from outside adds a family of formats: the commands of adding-a-format.md, and further verbs."""

import ast
import json
import os
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from document_runner import Follower
from documentation import ADDING, Section, follow, sections
from folders import TOP
from markdown_commands import Source

BITCASK = TOP / "tests/support/bitcask"
CARELESS = "py:bitcask_codec:CarelessBitcaskCodec"
PLAIN = "298801364bd6c5a1000600000005757365723a316170706c65"

MOST_LINES = 60
"""The most lines of the example: its formats with their rules, and all that the verbs must know of them."""

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
        [folder / "venv/bin/python", "-m", "pip", "install", "-q", "--no-deps", "-e", str(BITCASK)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def run(room: Path, tmp_path: Path) -> Run:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [room / "venv/bin/python", "-m", "wireproof", *words],
            cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


class Stranger(Follower):
    """A reader of the page in the environment that has the package."""

    def __init__(self, folder: Path, room: Path) -> None:
        super().__init__(folder, str(room / "venv/bin/python"))
        # A test of Spark in this process names the Python of its workers, which has no such family.
        self.environment.pop("PYSPARK_PYTHON", None)
        self.environment["PATH"] = f"{folder}/.venv/bin:{room}/venv/bin:{os.environ['PATH']}"

    def tries(self, source: Source) -> None:
        """Check that the statements of a block are those of the example."""
        known = {ast.unparse(one) for one in ast.parse((BITCASK / "bitcask.py").read_text("utf-8")).body}
        shown = {ast.unparse(one) for one in ast.parse(source.text).body}
        assert shown <= known, sorted(shown - known)


def test_the_example_is_as_short_as_the_page_says() -> None:
    assert len((BITCASK / "bitcask.py").read_text("utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("section", sections(ADDING), ids=str)
def test_the_commands_of_the_page_do_what_it_says(section: Section, room: Path, tmp_path: Path) -> None:
    follow(section, Stranger(tmp_path, room))


def test_what_fuzzing_finds_is_made_smaller_and_becomes_a_fixture(run: Run, tmp_path: Path) -> None:
    words = ("--format", "bitcask.**", "--minutes", "0.2", "--workers", "1", "--seed", "1")
    done = run("fuzz", CARELESS, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    found = sorted((tmp_path / "wireproof-fuzz/findings").rglob("*.json"))
    finding = next(path.stem for path in found if "wrong-accept" in path.read_text("utf-8"))
    shrunk = run("shrink", f"wireproof-fuzz#{finding}", CARELESS)
    assert "bitcask.entry/1" in shrunk.stdout, shrunk.stderr
    kept = run(
        "promote", f"wireproof-fuzz#{finding}", "--to", "own", "--name", "found/one", "--why", "It is."
    )
    assert kept.returncode == 0, kept.stderr
    assert "bitcask.entry/1/found/one" in (tmp_path / "own/bitcask.entry/1/found.json").read_text()


def test_its_bytes_are_explained_without_being_named(run: Run) -> None:
    done = run("explain", PLAIN, "--fields")
    assert done.returncode == 0
    assert "25 bytes as bitcask.entry/1: accepted" in done.stdout
    assert "crc32 of 4..24" in done.stdout


def test_its_sound_entries_are_saved_from_a_damaged_file(run: Run, tmp_path: Path) -> None:
    done = run("salvage", str(next(BITCASK.glob("*.bitcask.data"))), "--out", "saved.jsonl")
    assert done.returncode == 1, done.stderr
    saved = [json.loads(line) for line in (tmp_path / "saved.jsonl").read_text("utf-8").splitlines()]
    assert [one["position"] for one in saved] == [0, 25, 70, 90, 115, 135, 160]
    assert {(one["keyText"], one["valueText"]) for one in saved} == {("user:1", "apple"), ("user:2", "")}


def test_its_cases_and_its_schema_are_exported(run: Run, tmp_path: Path) -> None:
    assert run("export", "--out", "cases", "--run", "bitcask.**").returncode == 0
    assert "value" in (tmp_path / "cases/schemas/bitcask.entry-1.schema.json").read_text()
