"""The action for a codec's own CI: its steps are run here as its runner would run them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from folders import TOP

from tests.mutants.registry import spec_of

MUTANT = spec_of("mutant:iggy-identifier-unchecked")

ACTION = TOP / ".github/actions/codec/action.yml"
WORKFLOW = TOP / ".github/workflows/codec.yml"


def page(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def steps() -> dict[str, Any]:
    return {step["name"]: step for step in page(ACTION)["runs"]["steps"]}


def ran(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step in `folder` with the inputs' defaults, or those given."""
    step = steps()[name]
    told = {key: row.get("default", "") for key, row in page(ACTION)["inputs"].items()} | inputs
    values = {f"${{{{ inputs.{key} }}}}": value for key, value in told.items()}
    env = {key: values[value] for key, value in step["env"].items()}
    path = os.pathsep.join((str(Path(sys.executable).parent), str(folder), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**os.environ, **env, "PATH": path}, capture_output=True, text=True, check=False,
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


@pytest.mark.documents
def test_a_codec_that_does_not_conform_fails_its_job(room: Path) -> None:
    told = {"adapter": MUTANT, "run": "iggy.identifier/**", "property": "0"}
    done = ran("Conformance", room, **told)
    assert done.returncode == 1
    assert "::error" in done.stdout


@pytest.mark.campaigns
@pytest.mark.parametrize(("gate", "code"), [("false", 0), ("true", 1)])
def test_what_fuzzing_finds_is_kept_and_gates_where_it_is_asked_to(room: Path, gate: str, code: int) -> None:
    told = {"adapter": MUTANT, "minutes": "0.15", "workers": "1"}
    done = ran("Fuzzing", room, **told, **{"fail-on-findings": gate})
    assert done.returncode == code
    assert list((room / "wireproof-fuzz/findings").rglob("*.json"))
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
    assert any("schedule" in str(value) for value in step["with"].values())


def test_what_is_installed_is_the_suite_that_the_action_came_with() -> None:
    step = steps()["Install"]
    assert (ACTION.parent / "../../..").resolve() == TOP
    assert step["env"]["SUITE"] == "${{ github.action_path }}/../../.."
    assert "$SUITE[fuzz,property]" in step["run"]
