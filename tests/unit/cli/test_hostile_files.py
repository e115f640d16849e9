"""Files of strangers: each ends in one line with its exit code, and nothing is waited for or written."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import fixture_folders
import pytest
from command_line import Command

from wireproof.files import open_locked
from wireproof.run.exit_codes import Exit

DEEP = "[" * 5000 + "]" * 5000


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _not_text(path: Path) -> None:
    path.write_bytes(b"# \xff\n")


def _deep(path: Path) -> None:
    path.write_text("known-failure = [\n" + "[\n" * 5000 + "]\n" * 5000 + "]")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [_device, _not_text, _deep, _pipe], ids=lambda make: make.__name__)
def test_a_baseline_that_cannot_be_read_is_one_line(
    tmp_path: Path, wireproof: Command, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "base.toml")
    done = wireproof("baseline", "check", tmp_path / "base.toml")
    assert done.code == Exit.USAGE
    assert "base.toml" in done.one_line()


@pytest.mark.parametrize("make", [_device, _not_text, _deep, _pipe, _folder], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ["rules.toml", "0.0.30/shelf.json", "0.0.30/shelf.long.bin"])
def test_fixtures_that_cannot_be_read_are_one_line(
    tmp_path: Path,
    wireproof: Command,
    name: str,
    make: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, empty = tmp_path / "own", tmp_path / "empty"
    long = {**fixture_folders.GOOD, "input": {"file": "shelf.long.bin", "sha256": "0" * 64}}
    fixture_folders.write(own, long)
    empty.mkdir()
    path = own / "iggy.identifier" / name
    path.unlink(missing_ok=True)
    make(path)
    for shipped, words in ((empty, ("--fixtures", own, "cases")), (own, ("lint",))):
        monkeypatch.setattr(
            "wireproof.cases.fixtures.fixtures_folder", lambda shipped=shipped: shipped
        )  # and no others, to be quick
        done = wireproof(*words)
        assert done.code == Exit.SUITE
        assert path.name in done.one_line()


@pytest.mark.parametrize("make", [_device, _pipe], ids=lambda make: make.__name__)
def test_a_token_file_without_end_is_one_line(
    tmp_path: Path, wireproof: Command, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "token")
    done = wireproof("replay", f"@{tmp_path}/token", "reference")
    assert done.code == Exit.USAGE
    assert "not a regular file" in done.one_line()


@pytest.mark.parametrize("make", [_device, _not_text, _pipe, _folder], ids=lambda make: make.__name__)
def test_a_file_of_patterns_that_cannot_be_read_is_one_line(
    tmp_path: Path, wireproof: Command, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "patterns")
    done = wireproof("check", "reference", "--run", f"@{tmp_path}/patterns")
    assert done.code == Exit.USAGE
    assert f"{tmp_path}/patterns: " in done.one_line()


def test_a_stream_that_another_run_writes_is_left_to_it(tmp_path: Path, wireproof: Command) -> None:
    with open_locked(tmp_path / "run.jsonl") as out:
        out.write("the other's\n")
        done = wireproof("check", "reference", *ONLY, "--out", tmp_path / "run.jsonl")
        assert done.code == Exit.USAGE
        assert "run.jsonl: another run is writing it: wait" in done.one_line()
        assert (tmp_path / "run.jsonl").read_text() == "the other's\n"
    assert wireproof("check", "reference", *ONLY, "--out", tmp_path / "run.jsonl").code == Exit.CONFORMS


ONLY = ("--run", "iggy.identifier/0.0.30/**", "--no-families", "--in-process")


def test_a_stream_of_one_line_without_end_is_one_line(wireproof: Command) -> None:
    done = wireproof("report", "/dev/zero")
    assert done.code == Exit.USAGE
    assert "/dev/zero:1: a line of" in done.one_line()


@pytest.mark.parametrize("verb", [("export",)], ids=lambda verb: verb[0])
def test_no_id_leads_a_verb_out_of_its_folder(
    tmp_path: Path, wireproof: Command, verb: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda: tmp_path / "none")  # to be quick
    evil = {**fixture_folders.GOOD, "id": f"{fixture_folders.PLACE}/../../../../../OUTSIDE/x"}
    fixture_folders.write(tmp_path / "fixtures", evil)
    done = wireproof("--fixtures", tmp_path / "fixtures", *verb, "--out", tmp_path / "a/b/c/out")
    assert done.code == Exit.SUITE
    assert "its id does not fit its file" in done.one_line()
    assert {path.name for path in tmp_path.iterdir()} == {"fixtures"}


def test_a_token_that_is_no_whole_case_is_one_line_for_each_verb_that_takes_one(
    tmp_path: Path, wireproof: Command
) -> None:
    (tmp_path / "token").write_text(json.dumps(DEEP))
    for verb in (("replay", "reference"), ("shrink", "reference"), ("show",)):
        done = wireproof(verb[0], f"@{tmp_path}/token", *verb[1:])
        assert (done.code, "a token begins with wp1:" in done.one_line()) == (Exit.USAGE, True)
