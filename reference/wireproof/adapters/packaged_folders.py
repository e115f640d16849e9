"""The folders of `tests` that the wheel ships inside the package: adapters of other libraries, templates."""

from pathlib import Path
from typing import Final

import wireproof

SHARED: Final = "_shared"
"""The folder below `peers_folder()` with code that several adapters use: `go`, `python` and others."""


def peers_folder() -> Path:
    """Return the folder of the peers: `wireproof/_peers` of an installed wheel, else `tests/peers`."""
    return _folder("peers")


def templates_folder() -> Path:
    """Return the folder of the adapter templates: `wireproof/_templates` or `tests/templates`."""
    return _folder("templates")


def _folder(name: str) -> Path:
    package = Path(wireproof.__file__).parent
    installed = package / f"_{name}"
    return installed if installed.is_dir() else package.parents[1] / "tests" / name
