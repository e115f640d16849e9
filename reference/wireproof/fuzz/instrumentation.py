"""Coverage of the code that is fuzzed, and a second copy of the mutators that is not instrumented.

Functions of chosen modules are instrumented after they are imported. The import hook of atheris is not used:
it instruments whole top-level packages, and a codec is a small part of its package.

The mutators read and write with the codecs whose coverage guides the fuzzing. Instrumented, a mutation takes
1.5 to 1.8 times as long (interleaved measurement of three formats), and a campaign spends half of its time on
mutations. So they are imported a second time.
"""

import gc
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import cache, partial
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Final

from attrs import frozen

from wireproof.adapters.registry_entry import Entry
from wireproof.formats import Format
from wireproof.installed_families import INSTALLED
from wireproof.wire import json_values, observed_fields, rejection

NOT_INSTRUMENTED: Final = tuple(module.__name__ for module in (json_values, observed_fields, rejection))
"""Modules of the reference that are left out: every value passes through them, whatever its format."""

WIRE: Final = "wireproof.wire"


def modules_to_instrument(fmts: Iterable[Format], entry: Entry) -> tuple[str, ...]:
    """Return the modules whose coverage guides the fuzzing of `fmts` on an adapter.

    Their submodules belong to them.
    """
    own = (WIRE, *dict.fromkeys(map(_codec_package, fmts)))
    if not entry.object:
        return own
    return (*own, *(entry.instrument or (entry.object.partition(":")[0],)))


def _codec_package(fmt: Format) -> str:
    """Return the package of the module that decodes a format, or the module if it is in no package."""
    decode: Any = fmt.decode
    while isinstance(decode, partial):
        decode = decode.func
    module: str = decode.__module__
    return module.rpartition(".")[0] or module


def instrument(modules: Sequence[str]) -> int:
    """Instrument every loaded function of `modules`, and return the number of functions."""
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    found = [
        function
        for function in gc.get_objects()
        if type(function) is FunctionType
        and not function.__code__.co_filename.startswith("<")
        and _is_in(function.__module__, modules)
        and not _is_in(function.__module__, (*NOT_INSTRUMENTED, *(f"{one}.family" for one in modules)))
    ]
    with redirect_stderr(io.StringIO()):
        for function in found:
            atheris.instrument_func(function)
    return len(found)


def _is_in(name: str | None, modules: Sequence[str]) -> bool:
    return name is not None and any(name == module or name.startswith(f"{module}.") for module in modules)


# --- the copy without instrumentation ---

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
