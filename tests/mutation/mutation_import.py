"""Imports the package under a trace: what runs inside functions before any case does.

It must be the first of these modules to be imported, for a package is imported once.
"""

import importlib
import sys
from types import FrameType
from typing import Any

SEEN: set[tuple[str, int]] = set()
"""Module, named from the package on, and line."""


def _local(frame: FrameType, event: str, _: object) -> Any:
    if event == "line":
        _see(frame)
    return _local


def _see(frame: FrameType) -> None:
    SEEN.add((frame.f_globals["__name__"].removeprefix("wireproof."), frame.f_lineno))


def _entered(frame: FrameType, _: str, __: object) -> Any:
    if frame.f_code.co_flags & 0x01 and str(frame.f_globals.get("__name__")).startswith("wireproof."):
        _see(frame)
        return _local
    return None


assert "wireproof.formats" not in sys.modules, "import this module before the package"
_before = sys.gettrace()
sys.settrace(_entered)
importlib.import_module("wireproof.runner.judge")
importlib.import_module("wireproof.adapters.reference")
importlib.import_module("wireproof.cases.derived")
sys.settrace(_before)
