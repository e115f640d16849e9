"""What the README lists is what there is; what it has its reader type is `test_readme_commands.py`'s."""

import re
from pathlib import Path

import pytest
from goldens import load
from readme import README

from wireproof.adapters.build import drivers_folder
from wireproof.adapters.registry import entries
from wireproof.cli import VERBS
from wireproof.formats import FORMATS
from wireproof.trial.baseline import parse
from wireproof.trial.exit_codes import MEANINGS
from wireproof.trial.verdicts import ROWS


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_every_verb_exit_code_and_format_is_listed() -> None:
    for verb in VERBS:
        assert re.search(rf"`{verb}\b", README), verb
    for code, meaning in MEANINGS.items():
        assert re.search(rf"^\| {int(code)} \| .*{re.escape(meaning.split(',')[0])}", README, re.MULTILINE), (
            code
        )
    for row in FORMATS.values():
        assert re.search(
            rf"^\|.*`{re.escape(row.name)}`.*`{re.escape(row.revision)}`", README, re.MULTILINE
        ), row.joined


@pytest.mark.parametrize("number", [0, 1])
def test_the_two_commands_stand_alone_in_their_blocks(number: int) -> None:
    command = blocks("sh")[number].strip()
    assert "\n" not in command
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without their back quotes."""
    section = README.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines[1:]]


ENDS = {
    "level": "at its level", "should": "with `--level should", "strict-class": "with `--strict-class",
    "adapter": "always, with 4", "suite": "always, with 5", "never": "never",
    "cause": "by its cause",
}  # fmt: skip


def test_the_verdicts_are_those_of_the_code_in_its_order() -> None:
    shown = [(name, what.partition(":")[0], ends) for name, what, ends in rows("Interpreting results")]
    assert shown == [(row.name, row.meaning, ENDS[row.gate]) for row in ROWS.values()]


def found() -> list[tuple[str, str, str]]:
    """Codec, version and case of each line of what was found."""
    lines = rows("What it has found")
    codecs = [(re.findall(r"`?([a-z-]+)`?(?: ([\d.]+))?", cell), case) for cell, case, _ in lines]
    return [(name, version, case) for names, case in codecs for name, version in names]


def test_what_it_has_found_is_a_case_that_stands_in_the_baseline_of_the_codec() -> None:
    known = {one.id for one in load().cases}
    assert {case for _, _, case in found()} <= known
    peers = [row for row in found() if row[0] != "reference"]
    assert all(version and case in known_failures(codec) for codec, version, case in peers)
    assert len(peers) > len(found()) // 2


def known_failures(codec: str) -> set[str]:
    entry = entries()[codec]
    folders = [codec, *([entry.prepare.source] if entry.prepare else [])]
    files = (drivers_folder() / folder / "baseline.toml" for folder in folders)
    text = next(filter(Path.exists, files)).read_text(encoding="utf-8")
    return {known_failure.id for known_failure in parse(text)}
