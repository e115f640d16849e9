"""Adapters of tests/peers as objects of the process that tests them, and further adapters of that form."""

import json
from pathlib import Path
from typing import Any

import machine
import pytest

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry.registry import load_object, resolve


def python_adapter(name: str) -> Any:
    """Return the object that the worker process of this adapter would call; skip if it lacks its extra."""
    try:
        return load_object(resolve(name))
    except AdapterStartError as error:
        if reason := machine.lacking_extra(error):
            pytest.skip(reason, allow_module_level=True)  # lacking_extra is silent where `CI` is `true`
        raise


def write_peer(folder: Path, **keys: Any) -> Path:
    """Write the `adapter.toml` of `folder`; a dict is a table. Values are texts and lists of texts."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = {"description": "an adapter of a test", "language": "python"} | keys
    own = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if not isinstance(value, dict)]
    for name, table in keys.items():
        if isinstance(table, dict):
            own += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    path = folder / "adapter.toml"
    path.write_text("\n".join(own) + "\n", encoding="utf-8")
    return path
