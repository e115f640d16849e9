"""The cases that the scripted adapter is asked, and the processes that a run leaves behind."""

import os
from pathlib import Path

from folders import SUPPORT

PROGRAM = SUPPORT / "scripted_adapter.py"
FOLDER = "iggy.identifier/0.0.30/identifier"
BOOM = f"{FOLDER}/numeric-max"
"""The case with the number at which the faults of the adapter come."""

CASES = (f"{FOLDER}/numeric", f"{FOLDER}/numeric-bytes", BOOM, f"{FOLDER}/truncated")


def marked_processes(mark: str) -> list[int]:
    """Return the ids of the processes, without this one, that have a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            inherited = mark.encode() in path.read_bytes()
        except OSError:
            continue
        if inherited and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found
