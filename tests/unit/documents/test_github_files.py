"""The files of .github: dependabot looks at every lock file that may be updated, and links lead to files."""

import re
from pathlib import Path

import pytest
import yaml
from documentation import CONTRIBUTING
from folders import TOP
from lanes import LANES

MANIFESTS = {
    "gomod": "go.mod",
    "npm": "package.json",
    "cargo": "Cargo.toml",
    "maven": "pom.xml",
}
"""Of each ecosystem that has its files below tests/ or fuzz/, the file that names its dependencies."""

PINNED = {
    "tests/peers/heka/heka-go": "Heka is not developed any more",
    "tests/peers/heka/heka-go/_toml": "the same",
    "tests/peers/heka/heka-node": "the same",
    "tests/live/brokers/kafka39": "the last Kafka that takes messages of v0 and v1",
    "tests/peers/iggy/iggy-rust-0.0.60": "crates of 2023",
    "tests/peers/iggy/iggy-rust-0.10": "the crate in the versions 0.7 to 0.10",
}
"""Folders whose versions are what is tested."""

UPDATES = yaml.safe_load((TOP / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]


def folders(manifest: str) -> set[str]:
    """The folders below tests/ and fuzz/ with such a file, without those that a build has made."""
    paths = [path for name in ("tests", "fuzz") for path in (TOP / name).rglob(manifest)]
    found = {path.parent.relative_to(TOP).as_posix() for path in paths}
    return {one for one in found if not re.search(r"/(node_modules|target|vendor)(/|$)", one)}


@pytest.mark.parametrize("ecosystem", MANIFESTS)
def test_dependabot_looks_at_every_folder_that_may_be_updated(ecosystem: str) -> None:
    (update,) = (one for one in UPDATES if one["package-ecosystem"] == ecosystem)
    listed = {path.lstrip("/") for path in update["directories"]}
    assert listed == folders(MANIFESTS[ecosystem]) - set(PINNED)


def test_what_is_pinned_exists() -> None:
    assert [one for one in PINNED if not (TOP / one).is_dir()] == []


@pytest.mark.parametrize("page", sorted((TOP / ".github").rglob("*.md")), ids=lambda page: page.name)
def test_every_file_that_a_page_of_github_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`((?:reference|tests|fixtures|\.github|\.ci)/[\w./-]+?)/?`", text):
        assert (TOP / path).exists(), path


def test_every_marker_is_described_for_contributors() -> None:
    assert [name for name in LANES if f"`{name}`" not in CONTRIBUTING] == []


HOOKS = [
    hook
    for repo in yaml.safe_load((TOP / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    for hook in repo["hooks"]
]


def test_the_checks_before_a_commit_are_those_of_the_inner_loop_and_of_ci() -> None:
    names = {hook["id"] for hook in HOOKS}
    assert names == {"ruff", "ruff-format", "mypy", "import-linter", "wireproof-lint"}
    assert {hook["language"] for hook in HOOKS} == {"system"}, "a hook uses the tools of .venv"
    ci = (TOP / ".ci" / "run").read_text("utf-8")
    for hook in HOOKS:
        words = hook["entry"].replace(" --force-exclude", "").removeprefix("env ")
        assert words.replace(" --check", "") in CONTRIBUTING, words
        assert words.removeprefix(".venv/bin/python ") in ci, words
    assert ".pre-commit-config.yaml" in CONTRIBUTING


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_the_pattern_of_a_check_matches_files_that_exist(hook: dict[str, str]) -> None:
    pattern = re.compile(hook.get("files", r"\.py$"))
    paths = ("reference/wireproof/formats.py", "fixtures/kafka.batch/rules.toml")
    assert any(pattern.search(path) and (TOP / path).is_file() for path in paths)
