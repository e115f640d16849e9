"""Coverage of the code that is fuzzed: functions of chosen modules are instrumented after they are imported.

The import hook of atheris is not used: it instruments whole top-level packages, and a codec is a small part
of its package.
"""

import gc
import io
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from functools import partial
from types import FunctionType
from typing import Any, Final

from wireproof.adapters.registry_entry import Entry
from wireproof.formats import Format
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
