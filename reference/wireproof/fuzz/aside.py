"""The mutators once more, as nobody instruments them.

They read and write with the codecs whose coverage guides the fuzzing; instrumented, a mutation takes 1.5 to
1.8 times as long (interleaved, three formats), and half of all that a campaign does is to mutate.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from attrs import frozen

PACKAGE: Final = __name__.partition(".")[0]


@frozen
class Aside:
    """Second copies of two modules; their classes are not those of the first."""

    mutate: ModuleType
    formats: ModuleType


@cache
def aside() -> Aside:
    """The mutators, and the table of formats that belongs to them, imported a second time."""
    with _unimported():
        return Aside(import_module(f"{PACKAGE}.cases.mutate"), import_module(f"{PACKAGE}.formats"))


@contextmanager
def _unimported() -> Iterator[None]:
    """The package as if nobody had imported it, and as it was afterwards."""
    held = _taken()
    try:
        yield
    finally:
        _taken()
        sys.modules.update(held)


def _taken() -> dict[str, ModuleType]:
    """The modules of the package, taken out of those that are imported."""
    names = [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]
    return {name: sys.modules.pop(name) for name in names}
