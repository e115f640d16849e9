"""The reader of a document: types its commands in one folder, and holds what comes to what is shown."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from attrs import Factory, frozen
from folders import TOP
from machine import need
from markdown_commands import Command, DocumentError, Source, departs, filled, written

LOADED: Final = any(point.name == "wireproof" for point in entry_points(group="pytest11"))

PROGRAMS: Final = {
    "wireproof": "-m wireproof",
    "pytest": "-m pytest" if LOADED else "-m pytest -p wireproof.pytest_plugin",
    "python": "",
    "python3": "",
}
"""Programs that an installation puts into `.venv/bin`: here it is the environment of the tests."""

NAMES_CHECKOUT: Final = re.compile(r"\b(?:tests[./]\w|fuzz/native)")
"""Words of a command that runs in a checkout; any other runs where there are no tests to collect."""

SECONDS: Final = 300
WIDTH: Final = "200"


@frozen
class Row:
    """Properties of a command: the command to run instead, its exit code, its last output, its tools."""

    code: int = 0
    says: str | None = None
    run: str = ""
    why: str = ""
    needs: list[str] = Factory(list)


class Departs(AssertionError):  # noqa: N818 - a verdict on a document
    """A command does not do what the document says."""


class Follower:
    """A reader with a folder that contains an environment `.venv`."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        """Put the environment into the folder; its programs are those of a Python."""
        self.folder = folder
        self.printed = ""
        programs = folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name, words in PROGRAMS.items():
            script = programs / name
            script.write_text(f"#!/bin/sh\nexec '{python}' {words} \"$@\"\n", encoding="utf-8")
            script.chmod(0o755)
        path = os.pathsep.join((str(programs), os.environ["PATH"]))
        self.environment = {**os.environ, "PATH": path, "COLUMNS": WIDTH}

    def saves(self, source: Source) -> None:
        """Write a block of code to the file that the document names."""
        (self.folder / source.name).write_text(source.text, encoding="utf-8")

    def tries(self, source: Source) -> None:
        """Use a block of code that is saved nowhere: as a shell cannot, somebody else must."""
        raise DocumentError(f"line {source.line}: what is one to do with this block of {source.language}?")

    def types(self, command: Command, row: Row) -> None:
        """Run a command, and hold exit code, output and files to what is said of them.

        Raises:
            Departs: one of them is another, or nothing is said of output and files.
        """
        typed = filled(row.run or command.typed, self.printed)
        if NAMES_CHECKOUT.search(typed):
            self._enter_checkout()
        before = {name: self._there(name) for name in written(typed)}
        done = self.runs(typed)
        self.printed += done.stdout
        if faults := self._faults(command, row, before, done):
            told = "\n".join(faults)
            raise Departs(
                f"line {command.line}: {command.typed}\n{told}\n--- printed\n{done.stdout[-4000:]}"
                f"--- errors\n{done.stderr[-2000:]}"
            )

    def _enter_checkout(self) -> None:
        """Make the folder look like a checkout: it has `tests` and `fuzz`."""
        for name in ("tests", "fuzz"):
            if not (self.folder / name).exists():
                (self.folder / name).symlink_to(TOP / name)

    def runs(self, typed: str) -> "subprocess.CompletedProcess[str]":
        """As a shell runs it that gives up at the first command of the line that fails."""
        need("bash")
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", typed],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
            timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def _faults(
        self,
        command: Command,
        row: Row,
        before: dict[str, dict[Path, int]],
        done: "subprocess.CompletedProcess[str]",
    ) -> list[str]:
        shown = [text for text in (command.shown, row.says and f"…\n{row.says}") if text is not None]
        faults = [f"it ended with {done.returncode}, not {row.code}"] * (done.returncode != row.code)
        faults += [f"{name} was not written" for name in before if self._there(name) == before[name]]
        faults += [told for text in shown if (told := departs(text, done.stdout))]
        return faults or ["there is nothing to hold it to"] * (not before and not shown)

    def _there(self, name: str) -> dict[Path, int]:
        """Of a file, or of those in a folder, that are not empty: when each was written."""
        path = self.folder / name
        files = [one for one in (path, *path.rglob("*")) if one.is_file() and one.stat().st_size]
        return {one: one.stat().st_mtime_ns for one in files}
