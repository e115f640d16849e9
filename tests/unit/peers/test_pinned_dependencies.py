"""What a peer's build fetches: every file is pinned by a digest, or by a lock file that has digests."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from each import each
from folders import TOP

from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import entries

PEERS = TOP / "tests" / "peers"
BUILT = {name: entry for name, entry in entries().items() if entry.prepare is not None}
REQUIREMENTS = sorted(path for path in PEERS.rglob("requirements.txt") if path.parent.name[0] != "_")
"""Of the bundled versions; folders such as `_before-0.9.0` are of chosen releases, pinned when built."""

PINNING = {
    "mvn": {"-C"},
    "cargo": {"--locked"},
    "pip": {"--require-hashes"},
    "npm": {"ci"},
    "$npm": {"ci"},
}
"""Of each tool that fetches, the word that makes it compare digests; Go always compares those of go.sum."""


def commands(entry: Entry) -> Iterator[list[str]]:
    """The commands of a build, also those in its scripts."""
    assert entry.prepare is not None
    for step in entry.prepare.steps:
        yield list(step)
        if step[0] == "sh":
            shared = step[1].startswith("_shared/")
            script = PEERS / step[1] if shared else PEERS / entry.prepare.source / step[1]
            lines = script.read_text("utf-8").replace("\\\n", " ").splitlines()
            yield from (shlex.split(line, comments=True) for line in lines if line)


def fetching(words: list[str]) -> str:
    """The tool of the table that a command runs; empty if it runs none, or fetches no package with it."""
    if "--package-lock-only" in words:
        return ""
    names = {Path(word).name for word in words if not word.startswith("npm=")}
    return next((tool for tool in PINNING if tool in names), "")


@each("name", BUILT)
def test_a_build_compares_the_digests_of_what_it_fetches(name: str) -> None:
    for words in commands(BUILT[name]):
        assert PINNING.get(fetching(words), set()) <= set(words), shlex.join(words)


def test_each_tool_of_the_table_is_used_by_some_build() -> None:
    used = {fetching(words) for entry in BUILT.values() for words in commands(entry)}
    assert used - {""} == PINNING.keys()


@each("path", REQUIREMENTS, ids=lambda path: path.parent.name)
def test_every_requirement_has_one_version_and_digests(path: Path) -> None:
    text = path.read_text("utf-8").replace("\\\n", " ")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert rows
    for name, *hashes in rows:
        assert re.fullmatch(r"[\w.-]+==[\w.]+", name)
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), name


@each("path", sorted(PEERS.rglob("go.mod")), ids=lambda path: path.parent.name)
def test_a_go_module_with_requirements_has_their_digests(path: Path) -> None:
    if "require" in path.read_text("utf-8"):
        assert path.with_name("go.sum").is_file()
