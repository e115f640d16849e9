"""A second copy of the mutators that is not instrumented.

The mutators read and write with the codecs whose coverage guides the fuzzing. Instrumented, a mutation takes
1.5 to 1.8 times as long (interleaved measurement of three formats), and a campaign spends half of its time
on mutations.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from attrs import frozen

from wireproof.installed_families import INSTALLED

PACKAGE: Final = __name__.partition(".")[0]


@frozen
class UninstrumentedModules:
    """Second copies of two modules. Their classes differ from the classes of the first copies."""

    mutate: ModuleType
    formats: ModuleType


@cache
def uninstrumented_modules() -> UninstrumentedModules:
    """Import the mutators, and the table of formats that they use, a second time and return them."""
    with _nothing_imported():
        mutate, formats = import_module(f"{PACKAGE}.cases.mutate"), import_module(f"{PACKAGE}.formats")
        import_module(
            f"{PACKAGE}.cases.mutate.mutation_rules"
        ).all_rules()  # later they would be the first ones
        return UninstrumentedModules(mutate, formats)


@contextmanager
def _nothing_imported() -> Iterator[None]:
    """Hide the modules of this package, and of those with families, from `sys.modules` for a while."""
    imported = _remove_modules()
    try:
        yield
    finally:
        _remove_modules()
        sys.modules.update(imported)


def _remove_modules() -> dict[str, ModuleType]:
    """Remove the modules of these packages from `sys.modules` and return them."""
    packages = {PACKAGE, *INSTALLED.packages}
    names = [name for name in sys.modules if name.partition(".")[0] in packages]
    return {name: sys.modules.pop(name) for name in names}
