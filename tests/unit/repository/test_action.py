"""The action for a codec's own CI: its steps are run here as its runner would run them."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import action_steps
import pytest
from action_steps import page
from each import each
from folders import TOP
from machine import need

from tests.mutants.registry import spec_of

MUTANT = spec_of("mutant:iggy-identifier-unchecked")

ACTION = TOP / ".github/actions/codec/action.yml"
WORKFLOW = TOP / ".github/workflows/codec.yml"


def steps() -> dict[str, Any]:
    return action_steps.steps(ACTION)


def ran(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step in `folder` with the inputs' defaults, or those given."""
    need("bash")
    env = action_steps.environment(ACTION, name, inputs)
    path = os.pathsep.join((str(Path(sys.executable).parent), str(folder), os.environ["PATH"]))
    return subprocess.run(
        action_steps.words(ACTION, name),
        cwd=folder, env=os.environ | {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PATH": path} | env,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder with the command `wireproof` of this checkout."""
    script = tmp_path / "wireproof"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m wireproof \"$@\"\n")
    script.chmod(0o755)
    return tmp_path


@pytest.mark.documents
def test_the_reference_conforms_and_its_results_are_kept(room: Path) -> None:
    done = ran("Conformance", room, adapter="reference", run="iggy.identifier/**", property="5")
    assert (done.returncode, done.stderr) == (0, "")
    assert (room / "wireproof.jsonl").read_text().count("\n") > 20
    assert "<testsuite" in (room / "wireproof.xml").read_text()
    assert (room / "wireproof.md").read_text().startswith("## wireproof")


@pytest.mark.documents
def test_a_codec_that_does_not_conform_fails_its_job(room: Path) -> None:
    told = {"adapter": MUTANT, "run": "iggy.identifier/**", "property": "0"}
    done = ran("Conformance", room, **told)
    assert done.returncode == 1
    assert "::error" in done.stdout


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, []),
        (
            {"run": "*.batch/**\n!x iggy.poll/0.11/*", "skip": "**/size/**"},
            ["--run", "*.batch/**", "--run", "!x", "--run", "iggy.poll/0.11/*", "--skip", "**/size/**"],
        ),
        ({"families": "false"}, ["--no-families"]),
        (
            {"large": "true", "property": "200", "seed": "7"},
            ["--large", "--property", "200", "--seed", "7"],
        ),
        (
            {"shard": "2/4", "baseline": "known bugs.toml"},
            ["--shard", "2/4", "--baseline", "known bugs.toml"],
        ),
    ],
    ids=["defaults", "selection", "push", "night", "shard"],
)
def test_the_inputs_are_the_options_of_check(
    tmp_path: Path, inputs: dict[str, str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "wireproof"
    script.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > arguments\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))  # `ran` puts its folder first
    (tmp_path / "kafka.batch" / "v2").mkdir(parents=True)  # what a pattern would name if it were one of files
    done = ran("Conformance", tmp_path, adapter="exec:./my codec", **inputs)
    assert (done.returncode, done.stderr) == (0, "")
    given = (tmp_path / "arguments").read_text().splitlines()
    assert given[:3] == ["check", "exec:./my codec", "--out"]
    assert given[given.index("--annotations") + 1 :] == words


@pytest.mark.documents
def test_a_codec_that_cannot_be_imported_has_its_reason_in_the_summary(room: Path) -> None:
    (room / "mine.py").write_text("import no_such_library")
    done = ran("Conformance", room, adapter="py:mine:Mine", families="false")
    assert done.returncode == 4
    assert ran("Summary", room, adapter="py:mine:Mine").returncode == 0
    assert "No module named" in (room / "summary.md").read_text()
    assert "<error" in (room / "wireproof.xml").read_text()


@pytest.mark.campaigns
@pytest.mark.parametrize(("gate", "code"), [("false", 0), ("true", 1)])
def test_what_fuzzing_finds_is_kept_and_gates_where_it_is_asked_to(room: Path, gate: str, code: int) -> None:
    found: list[Path] = []
    for minutes in ("0.15", "1", "3"):  # a busy machine starts few inputs in the first of them
        told = {"adapter": MUTANT, "minutes": minutes, "workers": "1"}
        done = ran("Fuzzing", room, **told, **{"fail-on-findings": gate})
        found = list((room / "wireproof-fuzz/findings").rglob("*.json"))
        if found:
            break
    assert found
    assert done.returncode == code
    assert ("::warning" in done.stdout) is (gate == "false")


def test_every_input_is_used_and_every_expression_names_one() -> None:
    text = ACTION.read_text()
    for name in page(ACTION)["inputs"]:
        assert f"inputs.{name}" in text.partition("runs:")[2]


def test_the_ready_workflow_gives_the_action_inputs_that_it_has() -> None:
    (job,) = page(WORKFLOW)["jobs"].values()
    (step,) = (step for step in job["steps"] if step["uses"].startswith("./"))
    assert (TOP / step["uses"] / "action.yml").resolve() == ACTION
    assert step["with"].keys() <= page(ACTION)["inputs"].keys()
    at_night = {name for name, value in step["with"].items() if "schedule" in str(value)}
    assert at_night == {"families", "large", "property", "minutes"}


@pytest.fixture
def pip(room: Path) -> Path:
    """A file with the arguments of the `python` that the step Install runs."""
    script = room / "python"
    script.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{room}/arguments'\n")
    script.chmod(0o755)
    return room / "arguments"


@pytest.mark.parametrize(
    ("version", "source"),
    [
        ("", f"{ACTION.parent}/../../..[fuzz,property]"),
        ("0.1.0", "wireproof[fuzz,property]==0.1.0"),
        ("1.2.0rc1", "wireproof[fuzz,property]==1.2.0rc1"),
        ("v0.1.0", "wireproof[fuzz,property] @ git+https://github.com/owner/wireproof@v0.1.0"),
        ("1ab2c3d", "wireproof[fuzz,property] @ git+https://github.com/owner/wireproof@1ab2c3d"),
    ],
)
def test_an_exact_version_is_installed_from_the_index_and_a_revision_from_the_repository(
    room: Path, pip: Path, version: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(room / "python"))
    done = ran("Install", room, version=version, install="-e .")
    assert (done.returncode, done.stderr) == (0, "")
    assert pip.read_text().splitlines() == ["-m", "pip", "install", "--quiet", source, "-e", "."]


def test_the_summary_shows_the_result_and_names_the_artifact(room: Path) -> None:
    (room / "wireproof.md").write_text("## wireproof\n\n| codec | pass |\n")
    (room / "wireproof-fuzz/findings/x").mkdir(parents=True)
    (room / "wireproof-fuzz/findings/x/1.json").touch()
    assert ran("Summary", room, adapter=MUTANT, artifact="mine-3.12").returncode == 0
    text = (room / "summary.md").read_text()
    assert text.startswith("## wireproof\n\n| codec | pass |\n")
    assert "Findings of fuzzing: 1. All results are in the artifact `mine-3.12`." in text


def test_without_a_result_the_summary_says_where_to_look(room: Path) -> None:
    assert ran("Summary", room, adapter="none").returncode == 0
    assert "The check of `none` has no result: see the log" in (room / "summary.md").read_text()


@each("path", sorted((TOP / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_other_actions_are_pinned_to_a_commit_with_the_version_beside_it(path: Path) -> None:
    used = re.findall(r"uses: *(\S+?)@(.*)", path.read_text())
    pinned = [name for name, rest in used if not name.startswith("<")]
    assert all(
        re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", rest) for name, rest in used if name in pinned
    ), used
