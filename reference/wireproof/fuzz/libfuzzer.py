"""The fuzzing process: libFuzzer, through atheris, calls mutator and target until the time is over.

The mutations are edits that know the format, then a fix-up of lengths and checksums. One input in several is
mutated by libFuzzer itself, which has the dictionary and remembers what the code has compared. Without the
fix-up, no such input would get past a checksum.
"""

import gc
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn

from attrs import frozen

from wireproof import formats
from wireproof.adapters.process.stats import own_resident
from wireproof.adapters.registry.registered import Entry
from wireproof.cases.case import Case, Data
from wireproof.derive.mutate import Keys
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.corpus import MAX_SIZE
from wireproof.fuzz.target import FuzzTarget
from wireproof.installed_families import INSTALLED
from wireproof.schema.compiling import COMPILED
from wireproof.schema.layout import all_layouts
from wireproof.schema.struct import StructLayout
from wireproof.wire import json_values, observed_fields, rejection
from wireproof.wire.rejection import Rejected

# --- its mutations ---

LIBFUZZER_ONE_IN: Final = 8
"""One input in this many is mutated by libFuzzer itself."""

LibFuzzerMutation = Callable[[bytes, int], bytes]
"""Returns a mutation of some bytes, of at most a number of bytes."""


class Mutator:
    """The custom mutator and crossover of libFuzzer.

    Apart from libFuzzer's own mutation, the results depend on the arguments alone.
    """

    def __init__(self, fmt: Format, native: LibFuzzerMutation, keys: Keys | None = None) -> None:
        """Mutate inputs of `fmt`, and sign them with `keys`; `native` is libFuzzer's own mutation."""
        copy = uninstrumented_modules()
        self._mutators = copy.mutate
        self._fmt = copy.formats.FORMATS[fmt.format_id]
        self._native = native
        self._keys = keys or None

    def mutate(self, data: bytes, max_size: int, seed: int) -> bytes:
        """Return a mutation of `data`."""
        rng = Random(seed)  # noqa: S311 - libFuzzer's seed, so that a run can be repeated
        if not rng.randrange(LIBFUZZER_ONE_IN):
            mutation: bytes = self._mutators.repair(
                self._fmt, self._native(data, max_size)[:max_size], self._keys
            )
        else:
            mutation = self._mutators.mutate(self._fmt, data, rng, max_size, keys=self._keys)
        return mutation[:max_size]

    def crossover(self, one: bytes, two: bytes, max_size: int, seed: int) -> bytes:
        """Return an input that combines both."""
        mutation: bytes = self._mutators.crossover(self._fmt, one, two, Random(seed), max_size)  # noqa: S311 - as above
        return mutation


# --- the process ---

MEMORY_CHECK_INTERVAL: Final = 64
"""Executions between two checks of the memory."""

RESIDENT_LIMIT: Final = 1024 * 1024 * 1024
"""Resident memory in bytes at which a process ends and a fresh one takes over, which costs one fork."""

EXIT_DONE, EXIT_TOO_LARGE = 0, 75
"""Exit codes: the time is over; the process has grown too large."""

MUTATOR_FLAGS: Final = ("-len_control=0", "-mutate_depth=2")
"""One call of our mutator already makes up to three edits."""

SUPERVISED_FLAGS: Final = (
    "-timeout=3600",
    "-rss_limit_mb=0",
    "-malloc_limit_mb=0",
    *(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe", "int", "term", "xfsz")),
)
"""libFuzzer's own limits and signal handlers are off: the supervisor must see how the process died."""


def run_libfuzzer(
    program: str, arguments: Sequence[str], callback: Callable[[bytes], None], mutator: Mutator
) -> None:
    """Run libFuzzer in this process with `arguments`; `callback` checks an input.

    Args:
        program: the executable file that libFuzzer starts when it needs a further process.
        arguments: flags and folders, as on libFuzzer's command line.
        callback: is called with each input.
        mutator: makes the inputs.
    """
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    atheris.Setup(
        [program, *MUTATOR_FLAGS, *arguments],
        callback,
        custom_mutator=mutator.mutate,
        custom_crossover=mutator.crossover,
    )
    atheris.Fuzz()


def fuzz_until(
    mutator: Mutator, target: FuzzTarget, arguments: list[str], is_over: Callable[[], bool]
) -> NoReturn:
    """Fuzz until `is_over` returns True or libFuzzer ends; then end the process."""
    run_libfuzzer(sys.argv[0], [*SUPERVISED_FLAGS, *arguments], _until(is_over, target), mutator)
    target.finish()
    os._exit(EXIT_DONE)


def replay(target: FuzzTarget, files: Iterable[Path]) -> NoReturn:
    """Run the first `MAX_SIZE` bytes of some files, of those that are there still; then end the process."""
    for path in files:
        with suppress(FileNotFoundError), path.open("rb") as file:
            target(file.read(MAX_SIZE))
    target.finish()
    os._exit(EXIT_DONE)


def libfuzzer_mutation(data: bytes, size: int) -> bytes:
    """Return a mutation of `data` that libFuzzer makes itself, of at most `size` bytes."""
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    # Looked up at each call: atheris binds another function to `Mutate` when `Fuzz` is called.
    mutation: bytes = atheris.Mutate(data, size)
    return mutation


def _until(is_over: Callable[[], bool], target: FuzzTarget) -> Callable[[bytes], None]:
    """Return a callback that runs `target`, and ends the process in time or when it has grown too large."""
    count = 0

    def callback(data: bytes) -> None:
        nonlocal count
        target(data)
        count += 1
        done = is_over()
        if done or (count % MEMORY_CHECK_INTERVAL == 0 and own_resident() > RESIDENT_LIMIT):
            target.finish()
            sys.stderr.flush()
            os._exit(EXIT_DONE if done else EXIT_TOO_LARGE)

    return callback


NOT_INSTRUMENTED: Final = tuple(module.__name__ for module in (json_values, observed_fields, rejection))
"""Modules of the reference that are left out: every value passes through them, whatever its format."""

WIRE: Final = "wireproof.wire"
SCHEMA: Final = "wireproof.schema"


def modules_to_instrument(fmts: Iterable[Format], entry: Entry) -> tuple[str, ...]:
    """Return the modules whose coverage guides the fuzzing of `fmts` on an adapter.

    Their submodules belong to them. The rules of a description are in other modules than what is compiled.
    """
    own = tuple(dict.fromkeys((WIRE, SCHEMA, *(package for fmt in fmts for package in _codec_packages(fmt)))))
    if not entry.object:
        return own
    return (*own, *(entry.instrument or (entry.object.partition(":")[0],)))


def _codec_packages(fmt: Format) -> Iterator[str]:
    """Yield the packages of the modules that decode a format, or the modules if they are in no package."""
    decode: Any = fmt.decode
    while isinstance(decode, partial):
        decode = decode.func
    modules = (decode.__module__, *(rule.check.__module__ for one in _structures(fmt) for rule in one.rules))
    return (module.rpartition(".")[0] or module for module in modules)


def _structures(fmt: Format) -> Iterator[StructLayout]:
    every = all_layouts(fmt.layout) if fmt.layout is not None else ()
    return (one for one in every if isinstance(one, StructLayout))


SMALL: Final = 4096
"""Bytes of the inputs whose decode compiles codecs."""


def compile_codecs(cases: Iterable[Case]) -> None:
    """Decode the small inputs of golden cases: a codec is compiled when it is first used.

    Only functions that are there can be instrumented.
    """
    for case in cases:
        if case.op == "decode" and isinstance(case.input, Data) and len(case.input.data) <= SMALL:
            with suppress(Rejected):
                formats.decode(FORMATS[case.format_id], case.input.data, case.options)


def instrument(modules: Sequence[str]) -> int:
    """Instrument every loaded function of `modules`, and return the number of functions."""
    import atheris  # noqa: PLC0415 - an extra, and only in a process that fuzzes

    found = [
        function
        for function in gc.get_objects()
        if type(function) is FunctionType
        and (function.__module__ == COMPILED or not function.__code__.co_filename.startswith("<"))
        and _is_in(function.__module__, modules)
        and not _is_in(function.__module__, (*NOT_INSTRUMENTED, *(f"{one}.suite" for one in modules)))
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
        mutate, formats = import_module(f"{PACKAGE}.derive.mutate"), import_module(f"{PACKAGE}.formats")
        import_module(
            f"{PACKAGE}.derive.mutate.mutation_rules"
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
