"""Bugs that others reported, in the releases that have them: present there, gone where they were fixed.

The rows are those of the table in comparing.md. Each release is built with its own lock file, from the
registry of its language.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest
from attrs import frozen
from machine import needs

from wireproof.adapters.registry import peers
from wireproof.adapters.registry.registry import resolve
from wireproof.run.exit_codes import Exit
from wireproof.strict_parsing import parse_toml

PAGE = Path(__file__).parents[2] / "reference" / "docs" / "comparing.md"

ROW = re.compile(
    r"^\| (?P<title>[^|:]+): [^|]+ "
    r"\| `check (?P<name>[^@` ]+)@(?P<affected>[^:` ]+)(?P<options>:[^` ]+)?( --level (?P<level>\w+))?` "
    r"\| `(?P<case>[^`]+)` \| (?P<fixed>[\d.]+\d)",
    re.MULTILINE,
)

NEEDED = {"c": "cc", "rust": "cargo", "python": "[peers]"}
"""The tool for a language, where it has another name."""

QUICK = ("franz-go #758", "kafka-python #2717", "kafka-python #1724")
"""The rows that `.ci/run` runs."""


@frozen
class Row:
    """A bug: where it is, the case that shows it, and the release without it."""

    title: str
    name: str
    affected: str
    options: str
    level: str
    case: str
    fixed: str

    def spec(self, version: str) -> str:
        """Return the adapter in a version."""
        return f"{self.name}@{version}{self.options}"


ROWS = [Row(**one.groupdict(default="")) for one in ROW.finditer(PAGE.read_text("utf-8"))]


def marked() -> Iterator[object]:
    """Yield the rows as parameters, with a marker each."""
    for row in ROWS:
        language = parse_toml(peers.files()[row.name].read_text("utf-8"))["language"]
        lane = pytest.mark.peers if row.title in QUICK else pytest.mark.releases
        yield pytest.param(
            row, id=row.title.replace(" ", ""), marks=[lane, needs(NEEDED.get(language, language))]
        )


def checked(row: Row, version: str) -> CompletedProcess[str]:
    """Check the case of a row on a version, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "wireproof",
        "check",
        row.spec(version),
        "--run",
        row.case,
        "--no-families",
    ]
    command += ["--level", row.level] if row.level else []
    return run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("row", list(marked()))
def test_a_reported_bug_is_found_in_its_release_and_gone_in_the_fixed_one(row: Row) -> None:
    before = checked(row, row.affected)
    assert before.returncode == Exit.FAILS, before.stdout + before.stderr
    assert re.search(rf"^(FAIL |STALLED|CRASH|TIMEOUT) *{row.case}  ", before.stdout, re.MULTILINE), (
        before.stdout
    )
    assert row.affected in before.stdout
    after = checked(row, row.fixed)
    assert after.returncode == Exit.CONFORMS, after.stdout + after.stderr


def test_every_row_of_the_page_is_read() -> None:
    table = PAGE.read_text("utf-8").partition("### Known bugs, found again")[2].partition("\n###")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 1, "one is the heading"
    assert set(QUICK) <= {row.title for row in ROWS}
    assert all(resolve(row.spec(row.affected)).library for row in ROWS)
