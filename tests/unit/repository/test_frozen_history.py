"""An id never gets other bytes: `frozen.json` agrees with every version of itself that was committed.

`lint` compares the fixtures with `frozen.json` of the same commit; both could be changed together.
"""

import json
import subprocess

import pytest
from folders import TOP
from machine import leave_out, need

FROZEN = "fixtures/frozen.json"


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


@pytest.fixture(scope="module")
def commits() -> list[str]:
    """Return the commits that changed the file; a shallow clone has some of them."""
    need("git")
    if not (TOP / ".git").exists():
        leave_out("no history: the tests lie outside a git checkout")
    return git("log", "--format=%H", "--", FROZEN).split()


def changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """The ids whose input is another one: the first word of an entry is its digest."""
    inputs = {case: text.split()[0] for case, text in old.items()}
    return sorted(case for case, text in new.items() if inputs.get(case, text.split()[0]) != text.split()[0])


def test_no_id_ever_had_another_digest(commits: list[str]) -> None:
    assert commits
    seen = json.loads((TOP / FROZEN).read_bytes())
    for commit in commits:
        then = json.loads(git("show", f"{commit}:{FROZEN}"))
        assert changed(seen, then) == [], f"since {commit}"
        seen |= then
