"""Every workflow of GitHub: what it may do, and that no text of a stranger becomes a command."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from folders import TOP
from machine import need

from wireproof.adapters.registry import entries

FOLDER = TOP / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
ACTIONS = sorted((TOP / ".github" / "actions").rglob("action.yml"))

OWN = re.compile(r"(matrix|needs|steps)\.[\w.-]+|github\.(run_id|run_attempt|token)")
"""The expressions whose value this repository or the runner decides, not the author of a pull request."""


def page(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = page(path)["jobs"]
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_and_a_job_asks_for_more(path: Path) -> None:
    assert page(path)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_job_ends_within_its_time(path: Path) -> None:
    assert [name for name, job in jobs(path).items() if "timeout-minutes" not in job] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_only_a_job_that_writes_nothing_runs_on_a_pull_request(path: Path) -> None:
    told = page(path)[True]  # YAML 1.1 reads the key `on` as true
    if "pull_request" in told:
        assert not [name for name, job in jobs(path).items() if "write" in str(job.get("permissions", ""))]
    assert "pull_request_target" not in told


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: path.stem)
def test_a_command_takes_text_of_others_from_a_variable(path: Path) -> None:
    """An expression is replaced before the shell reads it, and a branch may be called `$(rm -r .)`."""
    made = page(path)
    lists = [job["steps"] for job in made["jobs"].values()] if "jobs" in made else [made["runs"]["steps"]]
    commands = [step["run"] for steps in lists for step in steps if "run" in step]
    expressions = {one.strip() for text in commands for one in re.findall(r"\$\{\{(.*?)\}\}", text)}
    assert {one for one in expressions if not OWN.fullmatch(one)} == set()


# --- the site of results ---

RESULTS = (TOP / ".ci" / "results").read_text("utf-8")
RELEASES = re.findall(r"releases=\((.*?)\)", RESULTS, re.DOTALL)[0].split()


def test_the_weekly_run_judges_the_releases_that_the_script_judges() -> None:
    assert jobs(FOLDER / "results.yml")["releases"]["strategy"]["matrix"]["name"] == RELEASES


def test_each_of_them_names_its_library() -> None:
    known = entries()
    assert [name for name in RELEASES if known[name].library is None] == []


@pytest.mark.documents
def test_the_script_makes_no_run_again_and_says_which_steps_it_has(tmp_path: Path) -> None:
    need("bash")
    script = TOP / ".ci" / "results"
    words = ["bash", str(script), str(tmp_path / "out"), "newest"]
    env = {**os.environ, "PYTHON": sys.executable, "NAMES": "protobuf-upb none-such"}
    need("[peers]")
    for expected in ("protobuf-upb", ""):
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        judged = [line for line in done.stdout.splitlines() if line and not line.startswith("==")]
        assert " ".join(judged) == expected
    done = subprocess.run([*words[:-1], "nothing"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "none of prepare, newest" in done.stdout
