"""The manners of the command line: completion, JSON, colours, an interrupt, and what is missing here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof.adapters.registry import readiness
from wireproof.install_hint import install_command

MUTANT = spec_of("mutant:crc-skip")

WIREPROOF = (sys.executable, "-m", "wireproof")


def run(*words: str, **environment: str) -> str:
    done = subprocess.run(
        [*WIREPROOF, *words], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "COLUMNS": "120", **environment},
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


# --- colours ---


def test_colours_are_for_terminals_and_for_nobody_who_wants_none() -> None:
    words = ("check", MUTANT, "--run", "kafka.batch/v2/crc/*", "--no-families", "--in-process")
    assert "\x1b[" not in run(*words)
    assert "\x1b[3" in run(*words, FORCE_COLOR="1", TERM="xterm-256color")
    plain = run(*words, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1")
    assert not any(f"\x1b[{colour}" in plain for colour in ("3", "4", "9"))


# --- JSON ---


def test_lists_are_json_for_programs(wireproof: Command) -> None:
    cases = json.loads(wireproof("cases", "iggy.identifier/0.8/**", "--format", "json").out)
    assert {"id": "iggy.identifier/0.8/identifier/zero", "level": "must", "op": "decode"}.items() <= {
        **next(row for row in cases if row["id"].endswith("identifier/zero"))
    }.items()
    adapters = json.loads(wireproof("adapters", "--format", "json").out)
    assert next(row for row in adapters if row["name"] == "reference")["state"] == "ready"


# --- completion ---


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("wireproof rep", "report"),
        ("wireproof check kafka-py", "kafka-python"),
        ("wireproof check colu", "columnar"),
        ("wireproof show iggy.ident", "iggy.identifier"),
        ("wireproof show iggy.identifier/0.8/identifier/z", "iggy.identifier/0.8/identifier/zero"),
        ("wireproof adapters new p", "python"),
        ("wireproof check --no-fam", "--no-families"),
    ],
)
def test_a_shell_completes(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch, words: str, offered: str
) -> None:
    monkeypatch.setenv("_WIREPROOF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert f"plain,{offered}" in wireproof().out.splitlines()


# --- what is missing ---


def examined() -> dict[str, readiness.InstallationCheck]:
    return {row.name: row for row in readiness.examined()}


def test_missing_and_old_tools_are_named_with_their_fix(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\necho go version go1.20.1 linux/amd64\n", encoding="utf-8")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.setattr(readiness, "find_spec", lambda name: None if name == "atheris" else object())
    rows = examined()
    assert (rows["go"].state, rows["go"].version) == ("too old", "1.20.1")
    assert rows["go"].fix.startswith("1.26 or newer is needed: install golang")
    assert (rows["cargo"].state, rows["cargo"].fix) == ("missing", "install cargo")
    assert (rows["[fuzz]"].state, rows["[fuzz]"].fix) == ("missing", install_command("fuzz"))
    assert rows["[peers]"].fix == ""
    for width in (40, 120):
        told = wireproof("adapters", width=width)
        assert told.code == 0
        fixes = {row.fix for row in rows.values() if row.fix}
        assert fixes <= {line.strip() for line in told.out.splitlines()}
        assert f"here: Python {rows['Python'].version}, " in told.out
