"""Files that are seen whole or not at all, whoever is killed when."""

import os
from collections.abc import Callable
from pathlib import Path


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, which then takes its place; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    write(new)
    new.replace(path)
