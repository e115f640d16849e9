"""The steps of the action, run as a runner of GitHub would run them.

`python action_steps.py ACTION.yml STEP… NAME=VALUE…` runs steps in the working folder, with the inputs'
defaults or those that are given, and ends with the exit code of the first one that fails. It needs PyYAML and
nothing of this repository, because the rehearsal of a release runs it beside what a user would have.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml


def page(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps(action: Path) -> dict[str, Any]:
    return {step["name"]: step for step in page(action)["runs"]["steps"]}


def environment(action: Path, name: str, inputs: dict[str, str]) -> dict[str, str]:
    """Return the variables of a step; raise `KeyError` for an expression that is not known here."""
    given = {key: row.get("default", "") for key, row in page(action)["inputs"].items()} | inputs
    values = {f"inputs.{key}": value for key, value in given.items()} | {
        "github.action_path": str(action.parent),
        "github.server_url": "https://github.com",
        "github.action_repository || github.repository": "owner/wireproof",
    }
    return {
        key: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], text)
        for key, text in steps(action)[name]["env"].items()
    }


def words(action: Path, name: str) -> list[str]:
    """Return the command of a step: bash with the options that the runner gives it."""
    return ["bash", "-eo", "pipefail", "-c", steps(action)[name]["run"]]


def main(action: str, *told: str) -> int:
    """Run the steps; return the first exit code that is not 0."""
    path = Path(action).resolve()
    inputs = dict(word.split("=", 1) for word in told if "=" in word)
    for name in (word for word in told if "=" not in word):
        env = os.environ | environment(path, name, inputs)
        code = subprocess.run(words(path, name), env=env, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
