"""The cases of each system, from every module of its folder that has a function `write`."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from tests.authoring.fixture_writer import FixtureWriter

SYSTEMS: Final = ("heka", "iggy", "kafka")


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
    return writer
