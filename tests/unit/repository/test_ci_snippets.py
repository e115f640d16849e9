"""The files for the CI of others that adopting.md shows: their commands are run here."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from documentation import steps_of
from folders import TOP
from machine import need
from markdown_commands import Source
from packaging.requirements import Requirement

FILES: Final = ("wireproof.yml", ".gitlab-ci.yml")
PROJECT: Final = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def source(name: str) -> str:
    """Return the text of a file that the page has its reader save."""
    (found,) = (one.text for one in steps_of("adopting.md") if isinstance(one, Source) and one.name == name)
    return found


def job(name: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables and the commands of the one job of a file."""
    page: dict[str, Any] = yaml.safe_load(source(name))
    if "jobs" not in page:
        (one,) = page.values()
        return one["variables"], one["script"]
    (one,) = page["jobs"].values()
    return one["env"], [step["run"] for step in one["steps"] if "run" in step]


def extents(name: str) -> dict[str, str]:
    """Return the options of a push and of the night."""
    written = job(name)[0]["EXTENT"]
    if found := re.fullmatch(r"\$\{\{ github.event_name == 'schedule' && '(.+)' \|\| '(.+)' \}\}", written):
        return {"push": found[2], "night": found[1]}
    page = (TOP / "reference/docs/adopting.md").read_text(encoding="utf-8")
    found = re.search(r"give a pipeline schedule the variable `EXTENT` with\s+`([^`]+)`", page)
    assert found is not None
    return {"push": written, "night": found[1]}


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder with the adapter of the page, a quick `wireproof`, and a `pip` that notes its arguments."""
    (tmp_path / "mine.py").write_text(source("mine.py"), encoding="utf-8")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    fewer = "--no-families --run 'kafka.batch/v2/crc/*'"  # all cases and their families take minutes
    for name, line in (
        ("pip", f"printf '%s\\n' \"$@\" > '{tmp_path}/arguments'"),
        ("wireproof", f"exec '{sys.executable}' -m wireproof \"$@\" {fewer}"),
    ):
        (bin_folder / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (bin_folder / name).chmod(0o755)
    return tmp_path


def run(folder: Path, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=folder, env=os.environ | variables | {"PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.documents
@pytest.mark.parametrize(("name", "when"), [*((name, "push") for name in FILES), (FILES[0], "night")])
def test_the_commands_are_green_with_the_known_failures_and_red_without(
    room: Path, name: str, when: str
) -> None:
    need("bash")
    variables, commands = job(name)
    variables = variables | {"EXTENT": extents(name)[when]}
    assert run(room, f"wireproof check py:mine:Mine {variables['EXTENT']} --out run.jsonl").returncode == 1
    write = f"'{sys.executable}' -m wireproof baseline add known.toml run.jsonl --owner you"
    assert run(room, write).returncode == 0
    known = (room / "known.toml").read_text(encoding="utf-8")
    for command in commands:
        done = run(room, command, **variables)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert (room / "arguments").read_text().splitlines() == ["install", variables["WIREPROOF"]]
    assert "<testsuite" in (room / "junit.xml").read_text(encoding="utf-8")
    assert "<html" in (room / "page.html").read_text(encoding="utf-8")
    (room / "known.toml").write_text(known.partition("\n[[")[0], encoding="utf-8")
    assert run(room, commands[-1], **variables).returncode == 1


@pytest.mark.parametrize("name", FILES)
def test_all_that_is_needed_is_the_name_of_the_project_and_an_extra_that_it_has(name: str) -> None:
    variables, commands = job(name)
    wanted = Requirement(variables["WIREPROOF"])
    assert wanted.name == PROJECT["name"]
    assert wanted.extras <= set(PROJECT["optional-dependencies"])
    assert "<" not in source(name)
    assert commands[0] == 'pip install "$WIREPROOF"'
