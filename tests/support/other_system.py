"""Takes from this process what Linux has and macOS has not; then the package runs on what is left.

`hide()` takes modules, attributes of modules, and /proc. The standard library keeps what it holds already, so
it is imported first; libraries that know that system too.
`python -m tests.support.other_system check …` runs a verb of the command line in such a process.
"""

import builtins
import importlib.abc
import os
import select
import selectors  # noqa: F401 - the same
import sys
import tempfile  # noqa: F401 - the same
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

import click  # noqa: F401 - it has its own way on each system
import psutil  # noqa: F401 - the same
import rich.progress  # noqa: F401 - the same

MODULES: Final = ("ossaudiodev", "spwd")
"""The modules that macOS does not have, as the library reference says."""

ATTRIBUTES: Final[dict[ModuleType, tuple[str, ...]]] = {
    os: ("posix_fadvise", "posix_fallocate", "sched_getaffinity", "splice"),
    select: ("epoll",),
}
"""The attributes of modules that it does not have."""


class _Refuses(importlib.abc.MetaPathFinder):
    """Finds no module of these names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}: not on this system", name=name)
        return None


def hide() -> None:
    """Make this process look like one on macOS to all code that is imported from now on."""
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Refuses(MODULES))
    for module, names in ATTRIBUTES.items():
        for name in names:
            vars(module).pop(name, None)
    sys.platform = "darwin"
    opened = builtins.open

    def without_proc(file: Any, *words: Any, **more: Any) -> Any:
        """Find nothing below /proc, but for psutil, which has other sources on other systems."""
        caller = sys._getframe(1).f_globals["__name__"]
        if str(file).startswith("/proc") and not caller.startswith("psutil"):
            raise FileNotFoundError(2, "No such file or directory", file)
        return opened(file, *words, **more)

    builtins.open = without_proc


def main() -> None:
    hide()
    from wireproof.cli import main as command  # noqa: PLC0415 - what is hidden comes first

    sys.argv = ["wireproof", *sys.argv[1:]]
    command()


if __name__ == "__main__":
    main()
