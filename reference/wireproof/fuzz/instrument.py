"""Coverage of what is fuzzed: the functions of chosen modules, instrumented after they were imported.

After, not while: atheris's import hook takes whole top-level packages, of which a codec is a small part.
"""

import gc
import io
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from types import FunctionType
from typing import Final

from wireproof.adapters.entry import Entry
from wireproof.formats import Format

GENERIC: Final = ("wireproof.wire.values", "wireproof.wire.observe", "wireproof.wire.rejected")
"""Of the reference: what every value passes through, and no format decides."""

WIRE: Final = "wireproof.wire"


def modules_of(rows: Iterable[Format], entry: Entry) -> tuple[str, ...]:
    """The modules, with all below them, whose coverage guides the fuzzing of `rows` on an adapter."""
    own = (WIRE, *dict.fromkeys(f"wireproof.{row.name.partition('.')[0]}" for row in rows))
    if not entry.object:
        return own
    return (*own, *(entry.instrument or (entry.object.partition(":")[0],)))


def instrument(modules: Sequence[str]) -> int:
    """Instrument every function of `modules` that is loaded; gives how many."""
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    found = [
        function
        for function in gc.get_objects()
        if type(function) is FunctionType
        and not function.__code__.co_filename.startswith("<")
        and _within(function.__module__, modules)
        and not _within(function.__module__, GENERIC)
    ]
    with redirect_stderr(io.StringIO()):
        for function in found:
            atheris.instrument_func(function)
    return len(found)


def _within(name: str | None, modules: Sequence[str]) -> bool:
    return name is not None and any(name == one or name.startswith(f"{one}.") for one in modules)
