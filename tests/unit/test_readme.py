"""What the README shows is run, and what it lists is what there is."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wireproof.adapters.build import drivers_folder
from wireproof.adapters.registry import entries
from wireproof.cases import fixtures
from wireproof.cli import VERBS
from wireproof.formats import FORMATS
from wireproof.trial.baseline import parse
from wireproof.trial.exit_codes import MEANINGS
from wireproof.trial.streams import read
from wireproof.trial.verdicts import ROWS

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
WIREPROOF = (sys.executable, "-m", "wireproof")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def checked(tmp_path: Path, spec: str, *more: str) -> dict[str, int]:
    out = tmp_path / "run.jsonl"
    done = subprocess.run(
        [*WIREPROOF, "check", spec, "--no-families", "--out", str(out), *more],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    (stream,) = read(out)
    assert stream.footer is not None
    return dict(stream.footer.counts)


def test_the_ten_lines_of_python_find_that_nobody_looked_at_the_checksum(tmp_path: Path) -> None:
    (source,) = blocks("python")
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    assert checked(tmp_path, "py:mine:Mine", "--run", "kafka.batch/v2/crc/ieee") == {"fail": 1}
    assert checked(tmp_path, "py:mine:Mine", "--run", "kafka.batch/v2/batch/one-record") == {"pass": 1}


def test_the_lines_of_javascript_conform_but_for_text_identifiers(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node, "Node runs the README's example of another language: install it"
    (source,) = blocks("js")
    (tmp_path / "mine.mjs").write_text(source, encoding="utf-8")
    counts = checked(
        tmp_path, f"jsonl:{node} mine.mjs", "--run", "iggy.identifier/0.0.30/identifier/numeric*"
    )
    assert counts.get("pass", 0) >= 1
    assert "adapter-error" not in counts


def test_the_kit_is_written_built_checked_and_probed_as_shown(tmp_path: Path) -> None:
    assert shutil.which("cc"), "a C compiler builds the README's kit: install one"
    (shown,) = [block for block in blocks("console") if block.startswith("$ wireproof adapters new c")]
    command, _, wanted = shown.partition("\n")
    _, build, check = wanted.splitlines()
    assert wireproof(tmp_path, command.removeprefix("$ ")) == wanted
    subprocess.run(shlex.split(build), cwd=tmp_path, check=True, timeout=60)
    assert "FAIL" not in wireproof(tmp_path, f"{check} --no-families")
    probe = re.search(r"`(wireproof adapters probe exec:[^`]+)`", README)
    assert probe is not None
    assert "as claimed: iggy.identifier/0.8 op encode: 1 of 1 accepted" in wireproof(tmp_path, probe[1])


def test_the_steps_print_what_is_shown_of_them(tmp_path: Path) -> None:
    (shown,) = [block for block in blocks("console") if block.startswith("$ wireproof adapters new python")]
    for step in shown.removeprefix("$ ").split("\n$ "):
        command, _, wanted = step.partition("\n")
        if " check " in command:
            kit = tmp_path / "mine" / "kit.py"
            kit.write_text(kit.read_text(encoding="utf-8").replace("if length == 0 or (", "if ("), "utf-8")
        said = wireproof(tmp_path, command, 1 if " check " in command else 0)
        missing = {line.strip() for line in wanted.splitlines()} - {
            line.strip() for line in said.splitlines()
        }
        assert missing <= {"…"}, said


def wireproof(folder: Path, line: str, code: int = 0) -> str:
    words = shlex.split(line.removeprefix("wireproof "))
    done = subprocess.run(
        [*WIREPROOF, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_the_example_of_explain_is_what_it_prints() -> None:
    (shown,) = [block for block in blocks("console") if block.startswith("$ wireproof explain")]
    command, _, wanted = shown.partition("\n")
    words = command.removeprefix("$ wireproof ").split()
    done = subprocess.run([*WIREPROOF, *words], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == wanted


def test_the_failure_shown_is_what_check_prints() -> None:
    (shown,) = [block for block in blocks("text") if block.startswith("FAIL")]
    replay = re.search(r"replay  wireproof replay (\S+) (\S+)", shown)
    assert replay is not None
    done = subprocess.run(
        [*WIREPROOF, "replay", *replay.groups()],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    for line in shown.splitlines():
        assert line.strip() in done.stdout


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
    known = {one.id for one in fixtures.load().cases}
    assert {case for _, _, case in found()} <= known
    peers = [row for row in found() if row[0] != "reference"]
    assert all(version and case in debts(codec) for codec, version, case in peers)
    assert len(peers) > len(found()) // 2


def debts(codec: str) -> set[str]:
    entry = entries()[codec]
    folders = [codec, *([entry.prepare.source] if entry.prepare else [])]
    files = (drivers_folder() / folder / "baseline.toml" for folder in folders)
    text = next(filter(Path.exists, files)).read_text(encoding="utf-8")
    return {debt.id for debt in parse(text)}
