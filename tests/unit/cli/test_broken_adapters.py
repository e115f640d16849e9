"""An adapter that does not start, or does not go on, is in every file that a job of CI reads."""

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import Command, Done

ONE_FORMAT = ("--run", "iggy.identifier/0.0.30/**", "--no-families")
GOOD = """
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
    for name, text in (("unready", "import no_such_library"), ("mine", GOOD), ("changes", CHANGES)):
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
