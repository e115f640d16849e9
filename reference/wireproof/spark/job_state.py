"""The state of a job in its folder: what it is about, and what is committed. The driver alone writes it."""

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from wireproof.files import replace_text
from wireproof.spark.errors import SourceError

STATE: Final = "_job.json"
"""The file of the state, in the folder of a job."""


def load_state(out: Path, kind: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of the job of a kind in a folder, with inputs that must be as they were, as JSON.

    Raises:
        SourceError: the folder contains something else.
    """
    file = out / STATE
    if not file.exists():
        if out.exists() and any(out.iterdir()):
            raise SourceError(f"{out} is not empty and holds no {kind}: choose another folder")
        return {"kind": kind, "inputs": dict(inputs)}
    stored = _read(out)
    if stored["kind"] != kind or stored["inputs"].keys() != inputs.keys():
        raise SourceError(f"{out} holds no {kind}, or one of another version: choose another folder")
    if other := [name for name in inputs if stored["inputs"][name] != inputs[name]]:
        raise SourceError(f"{out} holds a {kind} with other {other[0]}: choose another folder")
    return stored


def load_inputs(out: Path) -> dict[str, Any]:
    """Return the inputs of the job in a folder."""
    inputs: dict[str, Any] = _read(out)["inputs"]
    return inputs


def _read(out: Path) -> dict[str, Any]:
    try:
        stored: dict[str, Any] = json.loads((out / STATE).read_text(encoding="utf-8"))
        stored["kind"], stored["inputs"]
    except (ValueError, TypeError, KeyError):
        raise SourceError(f"{out / STATE} is damaged: choose another folder") from None
    return stored


def save_state(out: Path, state: Mapping[str, Any]) -> None:
    """Write the state, which only its owner may read: URIs and options may hold credentials."""
    replace_text(out / STATE, json.dumps(state, sort_keys=True) + "\n", durable=False)
    (out / STATE).chmod(0o600)


def remove_uncommitted(table: Path, committed: Collection[str]) -> None:
    """Remove the batches of a table that are not committed: a killed job left them."""
    for folder in table.glob("**/batch=*"):
        if str(folder.relative_to(table)) not in committed:
            shutil.rmtree(folder)
