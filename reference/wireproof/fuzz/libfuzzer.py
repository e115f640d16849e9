"""libFuzzer, through atheris: its mutations, its process, and the functions whose coverage guides it.

The mutations are edits that know the format, then a fix-up of lengths and checksums. One input in several is
mutated by libFuzzer itself, which has the dictionary and remembers what the code has compared. Without the
fix-up, no such input would get past a checksum.
"""

import gc
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, suppress
from functools import cache, partial
from importlib import import_module
from random import Random
from types import FunctionType, ModuleType
from typing import Any, Final

from wireproof import formats
from wireproof.adapters.registry.registered import Entry
from wireproof.cases.case import Case, Data
from wireproof.derive import mutate
from wireproof.derive.mutate import Keys
from wireproof.formats import FORMATS, Format
from wireproof.installed_families import INSTALLED
from wireproof.schema.compiling import COMPILED
from wireproof.schema.layout import all_layouts
from wireproof.schema.struct import StructLayout
from wireproof.wire import json_values, observed_fields, rejection
from wireproof.wire.rejection import Rejected


class Mutator:
    """The custom mutator and crossover of libFuzzer.

    Apart from libFuzzer's own mutation, the results depend on the arguments alone.
    """

    def __init__(
        self, fmt: Format, seeds: Sequence[bytes] = (), keys: Keys | None = None, *, is_copy: bool = True
    ) -> None:
        """Mutate inputs of `fmt`, and sign them with `keys`; some inputs are chains from `seeds`.

        Where the codecs are instrumented, a copy mutates that is not.
        """
        self._mutators, table = uninstrumented_modules() if is_copy else (mutate, formats)
        self._fmt, self._seeds = table.FORMATS[fmt.format_id], seeds
        self._keys = keys or None

    def mutate(self, data: bytes, max_size: int, seed: int) -> bytes:
        import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

        rng = Random(seed)  # noqa: S311 - libFuzzer's seed, so that a run can be repeated
        mutation: bytes
        if not rng.randrange(8):
            # By libFuzzer itself. Looked up at each call, as `Fuzz` binds another function to `Mutate`.
            mutation = self._mutators.repair(self._fmt, atheris.Mutate(data, max_size)[:max_size], self._keys)
            return mutation[:max_size]
        mutation, links = data, 1
        if self._seeds and not rng.randrange(4):  # not what coverage has chosen
            mutation, links = rng.choice(self._seeds), rng.choice((1, 1, 2, 3, 5))
        for _ in range(links):
            mutation = self._mutators.mutate(self._fmt, mutation, rng, max_size, keys=self._keys)
        return mutation

    def crossover(self, one: bytes, two: bytes, max_size: int, seed: int) -> bytes:
        """Return an input that combines both."""
        mutation: bytes = self._mutators.crossover(self._fmt, one, two, Random(seed), max_size)  # noqa: S311 - as above
        return mutation


MUTATOR_FLAGS: Final = ("-len_control=0", "-mutate_depth=2")
"""One call of our mutator already makes up to three edits."""

SUPERVISED_FLAGS: Final = (
    "-timeout=3600",
    "-rss_limit_mb=0",
    "-malloc_limit_mb=0",
    *(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe", "int", "term", "xfsz")),
)
"""libFuzzer's own limits and signal handlers are off: the worker must see how the process died."""


def run_libfuzzer(
    program: str, arguments: Sequence[str], callback: Callable[[bytes], None], mutator: Mutator
) -> None:
    """Run libFuzzer in this process with its own `arguments`; `callback` checks an input.

    `program` is the command that libFuzzer gives to a shell when it needs a further process.
    """
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    atheris.Setup(
        [program, *MUTATOR_FLAGS, *arguments],
        callback,
        custom_mutator=mutator.mutate,
        custom_crossover=mutator.crossover,
    )
    atheris.Fuzz()


def modules_to_instrument(fmts: Iterable[Format], entry: Entry) -> tuple[str, ...]:
    """Return the modules whose coverage guides the fuzzing of `fmts` on an adapter.

    Their submodules belong to them. The rules of a description are in other modules than what is compiled.
    """
    own = ["wireproof.wire", "wireproof.schema"]
    for fmt in fmts:
        decode: Any = fmt.decode
        while isinstance(decode, partial):
            decode = decode.func
        structures = (one for one in all_layouts(fmt.layout) if isinstance(one, StructLayout))
        modules = (decode.__module__, *(rule.check.__module__ for one in structures for rule in one.rules))
        own += (module.rpartition(".")[0] or module for module in modules)  # packages, if they are in one
    of_adapter = (entry.instrument or (entry.object.partition(":")[0],)) if entry.object else ()
    return (*dict.fromkeys(own), *of_adapter)


def compile_codecs(cases: Iterable[Case]) -> None:
    """Decode the small inputs of golden cases: a codec is compiled when it is first used.

    Only functions that are there can be instrumented.
    """
    for case in cases:
        if case.op == "decode" and isinstance(case.input, Data) and len(case.input.data) <= 4096:
            with suppress(Rejected):
                formats.decode(FORMATS[case.format_id], case.input.data, case.options)


def instrument(modules: Sequence[str]) -> int:
    """Instrument every loaded function of `modules`, and return the number of functions."""
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    # Every value passes through these modules of the reference, whatever its format.
    shared = (module.__name__ for module in (json_values, observed_fields, rejection))
    left_out = (*shared, *(f"{one}.suite" for one in modules))
    found = [
        function
        for function in gc.get_objects()
        if type(function) is FunctionType
        and (function.__module__ == COMPILED or not function.__code__.co_filename.startswith("<"))
        and _is_in(function.__module__, modules)
        and not _is_in(function.__module__, left_out)
    ]
    with redirect_stderr(io.StringIO()):
        for function in found:
            atheris.instrument_func(function)
    return len(found)


def _is_in(name: str | None, modules: Sequence[str]) -> bool:
    return name is not None and any(name == module or name.startswith(f"{module}.") for module in modules)


PACKAGE: Final = __name__.partition(".")[0]


@cache
def uninstrumented_modules() -> tuple[ModuleType, ModuleType]:
    """Import the mutators, and the table of formats that they use, a second time and return them.

    The classes of these copies differ from those of the first ones.
    """
    packages = {PACKAGE, *INSTALLED.packages}

    def removed() -> dict[str, ModuleType]:
        """Remove the modules of this package, and of those with families, from `sys.modules`."""
        names = [name for name in sys.modules if name.partition(".")[0] in packages]
        return {name: sys.modules.pop(name) for name in names}

    imported = removed()
    try:
        mutate, table = import_module(f"{PACKAGE}.derive.mutate"), import_module(f"{PACKAGE}.formats")
        rules = import_module(f"{PACKAGE}.derive.mutate.mutation_rules")
        rules.all_rules()  # later they would be the first ones
        return mutate, table
    finally:
        removed()
        sys.modules.update(imported)
