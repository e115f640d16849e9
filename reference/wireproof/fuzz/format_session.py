"""Everything that a worker prepares before it forks: once for the worker, and once for each format."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, NoReturn

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.adapters.object_worker import limit_memory
from wireproof.adapters.process.controller import MEMORY
from wireproof.adapters.process.stats import own_address_space
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import load_object, resolve
from wireproof.adapters.requests import claimed_ops, prepare_case
from wireproof.cases.case import Case
from wireproof.cases.fixtures import load
from wireproof.cases.reference_answers import load_levels
from wireproof.derive.examples import Examples, OptionVariant, option_variants, with_variant
from wireproof.derive.mutate import dictionary, seed
from wireproof.formats import FORMATS
from wireproof.fuzz.corpus import MAX_SIZE, input_files, slug, write_dictionary, write_seeds
from wireproof.fuzz.executors import CpuTimer, Executor, InProcessExecutor, SharedInput, SubprocessExecutor
from wireproof.fuzz.findings import Findings
from wireproof.fuzz.libfuzzer import (
    Mutator,
    compile_codecs,
    fuzz_until,
    instrument,
    libfuzzer_mutation,
    modules_to_instrument,
    replay,
    uninstrumented_modules,
)
from wireproof.fuzz.target import REFERENCE, FuzzTarget, TargetContext
from wireproof.fuzz.worker_config import WorkerConfig
from wireproof.run.engine import Engine

INPUT_SECONDS: Final = 2.0
"""Processor time that one input may take: the time limit of a case."""

WARM_UP_SECONDS: Final = 120.0
"""Processor time that the first call of the adapter may take. It is not counted."""

EXTRA_MEMORY: Final = MEMORY
"""Address space in bytes that a fuzzing process may map beyond what is mapped at its start.

A codec that allocates as much as a length field states gets an error then, and the machine keeps its memory.
"""


class WorkerContext:
    """The parts that a worker imports, instruments and opens once, before its first fork.

    Attributes:
        config: the configuration of the worker.
        suite: the fixtures.
        caller: the adapter as an object of this process; None for the reference and for adapters that run
            in a process of their own.
        hello: the claims of the adapter.
        shared_input: the input that a fuzzing process works on.
    """

    def __init__(self, config: WorkerConfig) -> None:
        """Import and instrument; raises `AdapterError`."""
        entry = resolve(config.adapter)
        self.config = config
        self.suite = load(tuple(Path(folder) for folder in config.fixtures))
        self.caller = _caller(config, entry)
        self.hello = self._hello()
        self.shared_input = SharedInput(config.work_directory.worker(config.worker) / "input", MAX_SIZE)
        compile_codecs(case for case in self.suite.cases if case.format_id in config.formats)
        instrument(modules_to_instrument((FORMATS[format_id] for format_id in config.formats), entry))
        # After `instrument`, so that the copy is not instrumented; before the first fork, which shares it.
        uninstrumented_modules()

    def _hello(self) -> Hello:
        if self.caller is not None:
            return self.caller.hello
        with Engine(self.config.adapter) as engine:
            return engine.hello

    def executor(self, timer: CpuTimer) -> Executor | None:
        """Return a way to run the adapter from a fuzzing process; None for the reference."""
        if self.config.adapter == REFERENCE:
            return None
        return (
            SubprocessExecutor(self.config.adapter)
            if self.caller is None
            else InProcessExecutor(self.caller, timer)
        )


def _caller(config: WorkerConfig, entry: Entry) -> Caller | None:
    if config.adapter == REFERENCE or not entry.object or entry.interpreter:
        return None
    return Caller(load_object(entry))


def supported_variants(
    variants: Iterable[OptionVariant], case: Case, hello: Hello
) -> tuple[OptionVariant, ...]:
    """Return the variants in which an adapter with this `hello` can run `case`."""
    return tuple(
        variant for variant in variants if isinstance(prepare_case(with_variant(case, variant), hello), Case)
    )


class FormatSession:
    """One format of a worker: its examples and files, and the fuzzing process that uses them.

    Attributes:
        config: the configuration of the worker.
        fmt: the format.
        examples: turns bytes into cases.
        shared_input: the input that the fuzzing process works on.
        log: the file with the output of libFuzzer.
        dictionary: the file with the words that libFuzzer inserts.
        folders: the folders of the corpus, of the seeds, and of further inputs.
        files: the inputs in these folders when the worker began.
    """

    def __init__(self, context: WorkerContext, format_id: str) -> None:
        """Write the seeds and the dictionary, and call the adapter once."""
        config, self.fmt = context.config, FORMATS[format_id]
        self.config, self.shared_input, self._context = config, context.shared_input, context
        hello = context.hello
        self.examples = Examples(
            self.fmt,
            self._variants("decode"),
            claimed_ops(hello, self.fmt),
            scan_variants=self._variants("scan"),
            wrapped=bool(hello.revisions) and format_id not in hello.revisions,
        )
        own = config.work_directory.worker(config.worker)
        self.log = own / "log"
        self.dictionary = write_dictionary(own / f"{slug(format_id)}.dict", dictionary(self.fmt))
        seeds = write_seeds(own / "seeds" / slug(format_id), self.fmt, self._seed_cases())
        corpus = config.work_directory.corpus(config.adapter, format_id)
        corpus.mkdir(parents=True, exist_ok=True)
        self.folders: Sequence[Path] = (corpus, seeds, *(Path(one) for one in (config.inputs,) if one))
        self.files = tuple(input_files(self.folders))
        self._warm_up()

    def _variants(self, op: Literal["decode", "scan"]) -> tuple[OptionVariant, ...]:
        """Return the option variants that the adapter supports for `op`."""
        empty = evolve(Examples(self.fmt, (), ()).without_expectation(b""), op=op)
        return supported_variants(
            option_variants(self.fmt, self._context.suite, op), empty, self._context.hello
        )

    def _seed_cases(self) -> Sequence[Case]:
        if self.config.minimal_seeds:
            return ()
        return [case for case in self._context.suite.cases if case.id not in self.config.held_out]

    def _warm_up(self) -> None:
        """Call the adapter once: what it compiles or loads on first use must not count as a hang.

        The levels of refusals are loaded too: else the input that needs them first has their coverage.
        """
        for format_id in {self.fmt.format_id, "/".join((self.fmt.wrapped_by or ())[:2])} - {""}:
            load_levels(format_id)
        case = self.examples.decode_case(seed(self.fmt))
        timer = CpuTimer(WARM_UP_SECONDS)
        executor = self._context.executor(timer)
        if isinstance(executor, InProcessExecutor):
            timer.start()
            for _ in executor.run([case, *self.examples.all_follow_ups(case)]):
                pass
            timer.stop()

    def target_context(self) -> TargetContext:
        """Return what the target works with; call it in the process that fuzzes."""
        config, timer = self.config, CpuTimer(INPUT_SECONDS)
        findings = Findings(config.work_directory.findings(config.adapter), config.worker, config.level)
        return TargetContext(
            self.examples,
            self._context.executor(timer),
            findings,
            self.shared_input,
            timer,
            f"seed {config.seed}",
        )

    def fuzz(self, turn: int, until: float, parent: int, done: int = 0) -> NoReturn:
        """Turn this process into the fuzzing process of one turn.

        Args:
            turn: added to the random seed.
            until: when to stop, on the monotonic clock.
            parent: id of the supervisor; the process stops when the supervisor has ended.
            done: executions of the turn so far; where nothing but files is read, so many were read.
        """
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        context = self.target_context()
        limit_memory(own_address_space() + EXTRA_MEMORY)
        context.timer.start()
        if self.config.replays:
            replay(FuzzTarget(context), self.files[done:])

        def is_over() -> bool:
            if self.config.stop_at_first and context.findings.gating > 0:
                return True
            spent = 0 < self.config.runs <= done + context.shared_input.executions
            return spent or time.monotonic() > until or os.getppid() != parent

        mutator = Mutator(self.fmt, libfuzzer_mutation, self.examples.keys)
        fuzz_until(mutator, FuzzTarget(context), self._libfuzzer_arguments(turn), is_over)

    def _libfuzzer_arguments(self, turn: int) -> list[str]:
        config = self.config
        return [
            f"-max_len={MAX_SIZE}",
            f"-seed={config.seed + turn}",
            f"-dict={self.dictionary}",
            f"-artifact_prefix={config.work_directory.worker(config.worker)}/",
            *map(str, self.folders),
        ]
