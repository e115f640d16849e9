"""The mutants by name, and the adapter specs by which a verb runs them.

To a verb a mutant is a Python object like any other: `py:tests.mutants.kafka.entries:crc_skip`. The top
folder of the checkout must be on the search path.
"""

import difflib
import inspect
from importlib import import_module
from pathlib import Path
from typing import Final

from tests.mutants.base import MUTANTS
from wireproof.adapters.errors import UnknownAdapter

PREFIX: Final = "mutant:"

MODULES: Final = (
    "every_format",
    *sorted(f"{path.parent.name}.{path.stem}" for path in Path(__file__).parent.glob("*/[!_]*.py")),
)
"""The modules whose mutants stand in the table; those of helpers have none."""

for _module in MODULES:
    import_module(f"tests.mutants.{_module}")


def mutants() -> list[str]:
    """Return the name of every mutant, such as `mutant:crc-skip`."""
    return [f"{PREFIX}{name}" for name in MUTANTS]


def spec_of(name: str) -> str:
    """Return the adapter spec of a mutant; the spec of another adapter is returned unchanged.

    Raises:
        UnknownAdapter: there is no such mutant.
    """
    if not name.startswith(PREFIX):
        return name
    made = MUTANTS.get(name.removeprefix(PREFIX))
    if made is None:
        near = difflib.get_close_matches(name, mutants(), n=3, cutoff=0.4)
        raise UnknownAdapter(f"unknown adapter {name}; nearest: {', '.join(near or mutants()[:3])}")
    return f"py:{made.__module__}:{made.__qualname__}"


def description_of(name: str) -> str:
    """Return what is wrong with a mutant, in one line; empty for another adapter."""
    found = MUTANTS.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    return (inspect.getdoc(found) or "").partition("\n")[0] if found else ""
