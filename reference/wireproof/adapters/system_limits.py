"""What wireproof cannot do on the system on which it runs, and what happens instead."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Final

from attrs import frozen

from wireproof.adapters.process_controller import SUPERVISED


@frozen
class SystemLimit:
    """A feature that a system may lack.

    Attributes:
        name: of the feature.
        works: returns whether this system has what it needs.
        instead: what happens without it.
        fix: what can be done about it; empty for nothing.
    """

    name: str
    works: Callable[[], bool]
    instead: str
    fix: str = ""


def _measures_memory() -> bool:
    return sys.platform == "linux" or find_spec("psutil") is not None


def _is_linux() -> bool:
    return sys.platform == "linux"


FEATURES: Final = (
    SystemLimit(
        "end of every process",
        lambda: SUPERVISED,
        "a process that an adapter moves to another session survives it",
    ),
    SystemLimit(
        "memory of a case",
        _measures_memory,
        "the memory of adapters is neither measured nor limited",
        "pip install psutil",
    ),
    SystemLimit("peak memory of a case", _is_linux, "memory that is freed before the answer is not counted"),
    SystemLimit(
        "limit of the address space", _is_linux, "a Python adapter is ended only by the limit of its memory"
    ),
    SystemLimit(
        "end with a killed runner", _is_linux, "a worker that hangs in C may outlive a runner that is killed"
    ),
    SystemLimit("fuzz", lambda: hasattr(os, "fork"), "`fuzz` needs fork: use WSL or a container"),
)
"""Each feature that needs more than every system has."""


def missing_features() -> Iterator[SystemLimit]:
    """Yield the features that this system lacks."""
    yield from (feature for feature in FEATURES if not feature.works())
