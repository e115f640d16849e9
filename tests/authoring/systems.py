"""The cases of each system, from every module of its folder that has a function `write`."""

import json
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tests.authoring.fixture_writer import KEYS, FixtureWriter
from tests.authoring.kafka.levels import LEVELS as KAFKA_LEVELS

SYSTEMS: Final = ("heka", "iggy", "kafka")

OR_REFUSED: Final = "or refused"
REMARKS: Final = "remarks"

LEVELS: Final[Mapping[str, Mapping[str, str]]] = {"kafka": KAFKA_LEVELS}
"""Levels that a table of the system has, by the id of the case."""


def modules(system: str) -> Iterator[ModuleType]:
    """Yield the modules that add cases of a system."""
    folder = Path(__file__).parent / system
    for found in pkgutil.iter_modules([str(folder)]):
        module = import_module(f"tests.authoring.{system}.{found.name}")
        if hasattr(module, "write"):
            yield module


def cases_of(system: str) -> FixtureWriter:
    """Return a writer with all cases of a system."""
    writer = FixtureWriter()
    for module in modules(system):
        module.write(writer)
    for name, level in LEVELS.get(system, {}).items():
        writer.cases[name]["level"] = level
    for name, changed in corrections().items():
        if name.startswith(f"{system}."):
            writer.cases[name] = corrected(writer.cases[name], changed)
    return writer


def corrections() -> dict[str, dict[str, Any]]:
    """Return what was corrected in cases after they were written: by id, each key with its present value, or null.

    The reason of each stands in reference/docs/case-changes.md.
    """
    pages = sorted((Path(__file__).parent / "corrections").glob("*.json"))
    found: dict[str, dict[str, Any]] = {}
    for page in pages:
        for name, row in json.loads(page.read_text("utf-8")).items():
            found.setdefault(name, {}).update(row)
    return found


def corrected(case: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """Return a case with other values of these keys; null takes the key away.

    With the key `or refused` the answer that the case expects is one of two, and the other is a refusal of any class.
    `remarks` are those of the reference.
    """
    whole = case | changed
    if REMARKS in changed:
        accept = {**whole["expect"]["accept"], "remarks": changed[REMARKS]}
        whole["expect"] = {"accept": {key: part for key, part in accept.items() if part != []}}
    if changed.get(OR_REFUSED):
        answers = [{"id": "read", **whole["expect"]}, {"id": "refused", "reject": {"class": "other"}}]
        whole["expect"] = {"either": {"behaviours": answers}}
    return {key: whole[key] for key in KEYS if whole.get(key) is not None}
