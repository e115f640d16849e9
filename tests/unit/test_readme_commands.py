"""Every `wireproof` command of the README is one that there is; an adopter's are run, of others the like.

What stands in `ELSEWHERE` is not run as it is written: its test runs the verb on something smaller.
"""

import re
import shlex
from pathlib import Path
from shutil import copyfile
from subprocess import run

import click
import pytest
from test_readme import README, WIREPROOF, blocks

from wireproof.cli import group

TESTS = Path(__file__).resolve().parents[1]

BASELINE = "wireproof check py:mine:Mine --baseline known.toml"

IN_ORDER = {
    "wireproof cases 'iggy.identifier/**'": 0,
    "wireproof check py:mine:Mine": 1,
    "wireproof baseline write run.jsonl --owner you > known.toml": 0,
    f"{BASELINE} --out run.jsonl --junit junit.xml --html matrix.html": 0,
    "wireproof baseline check known.toml --ratchet before.toml": 0,
    "wireproof report A.jsonl B.jsonl --html matrix.html": 0,
    "wireproof history old.jsonl new.jsonl": 0,
}
"""What an adopter types, one after the other in one folder, and the exit code of each."""

ELSEWHERE = {
    "adapters new": "unit/test_readme.py",
    "adapters prepare": "conformance/test_peers.py",
    "adapters probe": "unit/test_readme.py",
    "campaign": "spark/test_campaign.py",
    "check --all-ready": "unit/test_cli_ready.py",
    "check 'exec:python3 mine/kit.py'": "unit/test_readme.py",
    "check 'jsonl:node mine.mjs'": "unit/test_readme.py",
    "check exec:my-adapter/kit": "unit/test_readme.py",
    "check kafka-python aiokafka kio": "conformance/test_peers.py",
    "check mine --fixtures": "unit/test_cli.py",
    "docs": "unit/test_docs.py",
    "exchange": "unit/test_exchange.py",
    "explain": "unit/test_readme.py",
    "fuzz": "unit/test_fuzz_campaign.py",
    "lint --freeze": "unit/test_lint.py",
    "promote": "unit/test_promote.py",
    "replay": "unit/test_readme.py",
    "report verdicts": "unit/test_board.py",
    "scan": "spark/test_scan.py",
    "serve": "unit/test_readme_commands.py",
    "show": "unit/test_cli.py",
    "shrink": "unit/test_shrink.py",
    "account": "unit/test_account.py",
    "adapters": "unit/test_ready.py",
}
"""What begins a command, and the test that runs its like: on less, for less time, on its own cluster."""


def commands() -> list[str]:
    """Each command from its `wireproof` on, of blocks and of the text between, as it is typed."""
    text = "\n".join(block for name in ("sh", "console", "bash") for block in blocks(name))
    lines = re.findall(
        r"^(?:\$ |.* && )?((?:\.venv/bin/)?wireproof .*)$", text.replace("\\\n", ""), re.MULTILINE
    )
    cut = (re.split(r" && |; ", line)[0].removeprefix(".venv/bin/") for line in lines)
    return sorted({*cut, *re.findall(r"`(wireproof [^`]+)`", README)})


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_readme_is_one_that_there_is(command: str) -> None:
    words = shlex.split(command.partition(" > ")[0])[1:]
    found: click.Command | None = group
    while isinstance(found, click.Group) and words:
        found = found.get_command(click.Context(found), words.pop(0))
    assert found is not None
    if not isinstance(found, click.Group):  # alone, a group lists what it has
        found.make_parser(click.Context(found)).parse_args(words)


def test_each_is_run_here_or_has_a_test_of_its_verb() -> None:
    known = tuple(f"wireproof {words}" for words in ELSEWHERE)
    assert [one for one in commands() if one not in IN_ORDER and not one.startswith(known)] == []
    for words, file in ELSEWHERE.items():
        text = (TESTS / file).read_text(encoding="utf-8")
        assert re.search(rf"\b{re.escape(words.split()[0])}", text), (words, file)


def test_an_adopter_s_commands_end_as_they_should(tmp_path: Path) -> None:
    (source,) = blocks("python")
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    assert set(IN_ORDER) <= set(commands())
    for command, code in IN_ORDER.items():
        typed(tmp_path, command, code)
    assert all((tmp_path / name).stat().st_size for name in ("junit.xml", "matrix.html"))


def typed(folder: Path, command: str, code: int) -> None:
    """Run it, golden cases only; then run and baseline have the README's other names too."""
    words, _, into = command.removeprefix("wireproof ").partition(" > ")
    golden = ["--no-families", "--out", "run.jsonl"] * words.startswith("check")
    done = run(
        [*WIREPROOF, *shlex.split(words), *golden],
        cwd=folder, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == code, (command, done.stdout[-2000:], done.stderr)
    if into:
        for name in (into, "before.toml"):
            (folder / name).write_text(done.stdout, encoding="utf-8")
    if golden:
        for name in ("A", "B", "old", "new"):
            copyfile(folder / "run.jsonl", folder / f"{name}.jsonl")


def test_the_request_by_hand_is_answered(tmp_path: Path) -> None:
    (shown,) = [block for block in blocks("console") if block.startswith("$ echo")]
    line = shown.removeprefix("$ ").replace("wireproof", shlex.join(WIREPROOF))
    done = run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    hello, answer = done.stdout.splitlines()
    assert '"hello"' in hello
    assert '"accepted"' in answer
