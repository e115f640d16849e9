"""The last lines of `check`: the exit code, its reason, and commands that can be pasted."""

import shlex
from pathlib import Path

import pytest
from command_line import Command

from tests.mutants.registry import spec_of

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
CHECK = ("check", MUTANT, "--run", "iggy.identifier/**", "--no-families", "--in-process")


@pytest.fixture(autouse=True)
def _own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))


def test_check_ends_with_its_exit_code_the_reason_and_commands_that_can_be_pasted(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = wireproof(*CHECK).out
    assert f"exit code 1: does not conform: {MUTANT}" in text
    commands = [
        line.partition("  #")[0].strip() for line in text.splitlines() if line.startswith("  wireproof")
    ]
    assert commands[0] == shlex.join(("wireproof", "replay", "#1", MUTANT))
    assert commands[1] == shlex.join(("wireproof", *CHECK, "--out", "run.jsonl", "--html", "matrix.html"))
    assert wireproof(*shlex.split(commands[1])[1:]).code == 1
    assert (tmp_path / "matrix.html").exists()


def test_a_run_that_conforms_says_so(wireproof: Command) -> None:
    text = wireproof("check", "reference", *CHECK[2:]).out
    assert "reference: conforms\nexit code 0: conforms\n" in text


def test_a_second_run_of_the_same_codec_is_to_be_compared_with_the_first(
    wireproof: Command, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert "wireproof diff" not in wireproof(*CHECK, "--out", one).out
    assert f"wireproof diff {one} {two}" in wireproof(*CHECK, "--out", two).out
    rows = (tmp_path / "cache" / "runs.json").read_text().replace('"0.', '"9.')
    (tmp_path / "cache" / "runs.json").write_text(rows)
    assert "compare 9." in wireproof(*CHECK, "--out", one).out


def test_a_damaged_list_of_earlier_runs_does_not_matter(wireproof: Command, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    for text in ("[[", "[1]", '{"a": 1}', "null"):
        (tmp_path / "cache" / "runs.json").write_text(text)
        assert wireproof(*CHECK, "--out", tmp_path / "run.jsonl").code == 1


def test_a_report_names_the_command_that_replays_a_finding_of_its_file(
    wireproof: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    wireproof(*CHECK, "--out", out)
    assert shlex.join(("wireproof", "replay", f"{out}#1", MUTANT)) in wireproof("report", out).out
