"""The cases of each system, from every module of its folder that has a function `write`."""

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.levels import LEVELS as KAFKA_LEVELS

SYSTEMS: Final = ("heka", "iggy", "kafka")

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
    return writer
