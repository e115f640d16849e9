"""Judge the adapters of one `wireproof check` in parallel, and show the findings of each in order."""

import os
import shlex
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import click
from attrs import define, evolve, field, frozen
from rich.console import Console

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.process.recording import Recording
from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import entries, resolve
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import large_cases
from wireproof.cases.requirements import RequiredCases
from wireproof.cli.check.plan import AdapterRun, CheckPlan
from wireproof.cli.check.worker import CheckOptions, CheckWork
from wireproof.cli.common.last_run import (
    LAST,
    Finding,
    LastRun,
    own_events,
    readable_last_run,
    store_last_run,
)
from wireproof.cli.common.options import SET, named_set, selection, suite_of
from wireproof.cli.common.output_files import output_files_of, write_outputs
from wireproof.cli.common.progress import progress_bars
from wireproof.cli.common.standard_output import exit_of, interrupted
from wireproof.files import naming, open_locked
from wireproof.fuzz.property_run import DEFAULT_EXAMPLES, hypothesis_version, release_seed
from wireproof.report.failure_groups import FailureGroup, failure_groups_of, replay_command
from wireproof.report.terminal import (
    FindingPrinter,
    RunView,
    output_console,
    plain_text,
    print_answer,
    print_line,
)
from wireproof.report.uses import use_sentences
from wireproof.run import conclusion
from wireproof.run.baselines.baseline import (
    COUNTED,
    NO_BASELINE,
    AppliedBaseline,
    applied_baseline,
    origin_lookup,
    origin_text,
)
from wireproof.run.baselines.known_failures import Baseline
from wireproof.run.case_lookup import CaseLookup
from wireproof.run.conclusion import exit_code
from wireproof.run.events import EventStream, Examples, Requirements, Shard
from wireproof.run.exit_codes import MEANINGS, Exit, deciding_code
from wireproof.run.workers import WorkerDiedError, collect_rarely, core_count, run_parallel, run_serial
from wireproof.wire.text import counted


@frozen
class PrintedRun:
    """A run that was printed: its findings, how many of them were printed, exit code, known failures."""

    stream: EventStream
    found: Sequence[FailureGroup]
    printed: int
    code: Exit
    applied: AppliedBaseline = NO_BASELINE

    @property
    def spec(self) -> str:
        return self.stream.run.spec


def announce_builds(specs: Iterable[str]) -> None:
    """Name the registered adapters of `specs` whose driver is built now, because it was not built before."""
    for spec in specs:
        with suppress(AdapterError):  # the start of the adapter reports it
            entry = resolve(spec)
            if entry.prepare is not None and ready(entry).state == "not built":
                click.echo(f"{spec}: building its driver, which is done once and may take minutes", err=True)


def check(
    adapters: tuple[str, ...],
    *,
    every: bool,
    every_finding: bool,
    min_cases: int,
    jobs: int,
    out: Path | None,
    **more: Any,  # noqa: ANN401 - the options of `CheckOptions` and of the views
) -> int:
    views = output_files_of(more)
    options = _options_of(more)
    named, adapters = adapters, tuple(dict.fromkeys((*adapters, *(_ready(options) if every else ()))))
    output = output_console()
    announce_builds(adapters)
    collect_rarely()
    results = _Results(options, _printer(options, output, every=every_finding), named, min_cases)
    plan = CheckPlan(options, adapters, results.printer.add)
    broken_off: KeyboardInterrupt | None = None
    earlier = readable_last_run().earlier
    processes = jobs or (1 if options.in_process else core_count())
    with ExitStack() as stack:
        events, file = _opened(stack, out)
        plan.file = file
        stack.callback(plan.flush)  # also after an error
        try:
            for run in _ended(plan, options, processes, output):
                results.add(run)
        except KeyboardInterrupt as error:
            broken_off = error
            plan.flush()
            results.add_rest(plan.runs)
        except (BrokenPipeError, SystemExit):  # the reader of the output is gone; rich exits then
            plan.flush()
            store_last_run(_last_run(results, events, earlier, kept=False))
            raise
    if file is not None and file.error is not None:
        events = None
    if results.printed:
        store_last_run(_last_run(results, events, earlier, kept=out is not None))
    numbers = results.printer.numbers
    for one in results.printed:
        sentences = use_sentences(options.suite, one.stream, one.applied.overlays)
        print_answer(one.stream, output, one.found, numbers, sentences, one.applied)
    code = deciding_code([*(one.code for one in results.printed), *results.codes])
    write_outputs(results.streams, views, options.suite, results.baselines, numbers)
    streams = [one.stream for one in results.printed]
    if broken_off is not None:
        return interrupted(broken_off, _stored(streams, out, own=events is not None))
    if streams:
        print_end(output, results.printed, code, out, earlier, stored=events is not None)
    if file is not None and file.error is not None:
        raise file.error
    return code


def _printer(options: CheckOptions, output: Console, *, every: bool) -> FindingPrinter:
    lookups = CaseLookup(options.suite)
    view = RunView(lookups.case, lookups.twin, lookups.basis, every=every)
    if (known := options.baseline) is None:
        return FindingPrinter(output, view)
    origin = origin_lookup(known.suite, known.ids, options.suite)
    view = evolve(view, origin=lambda event, run: origin_text(origin(event, run), known.suite, run.suite))
    return FindingPrinter(output, view, options.expects)


class EventFile:
    """A file for events. A run goes on without it if it cannot be written any more: `error` says why."""

    def __init__(self, out: IO[str], path: Path) -> None:
        self.error: OSError | None = None
        self._out, self._path = out, path

    def write(self, text: str) -> int:
        if self.error is None:
            try:
                with naming(self._path):
                    return self._out.write(text)
            except OSError as error:
                self.error = error
        return 0

    def flush(self) -> None:
        """Do nothing: each line is written at once."""


@contextmanager
def _event_file(path: Path) -> Iterator[EventFile]:
    file: EventFile | None = None
    try:
        with open_locked(path) as out:
            file = EventFile(out, path)
            yield file
    except OSError:
        if file is None or file.error is None:  # what could not be written cannot be when it is closed, too
            raise


def _opened(stack: ExitStack, out: Path | None) -> tuple[Path | None, EventFile | None]:
    """Open the file for the events: `out`, else the one of the project if no other run writes it now."""
    if out:
        return out, stack.enter_context(_event_file(out))
    with suppress(OSError):
        path = own_events()
        return path, stack.enter_context(_event_file(path))
    return None, None


def _last_run(
    results: "_Results", file: Path | None, earlier: Mapping[str, tuple[str, str]], *, kept: bool
) -> LastRun:
    findings = tuple(
        Finding(spec, event.token or event.id, kind) for (spec, kind), event in results.printer.found.items()
    )
    path = str(file.absolute()) if file else ""
    runs = {one.spec: (path, one.stream.run.version) for one in results.printed if kept}
    return LastRun(path, findings, {**earlier, **runs})


@define
class _Results:
    """Collects what the end of the run needs of each adapter that was judged.

    Attributes:
        named: the adapters that the user named, not those of `--all-ready`.
        codes: the exit codes of adapters that did not start, and of runs with too few cases.
        streams, baselines: of all adapters, for the output files; one that did not start has no cases.
    """

    options: CheckOptions
    printer: FindingPrinter
    named: tuple[str, ...]
    min_cases: int
    printed: list[PrintedRun] = field(factory=list)
    codes: list[Exit] = field(factory=list)
    streams: list[EventStream] = field(factory=list)
    baselines: list[AppliedBaseline] = field(factory=list)

    def add(self, run: AdapterRun) -> None:
        """Add an adapter whose run has ended; raise the error if it is a fault of the suite."""
        stream = run.stream
        if isinstance(run.error, AdapterError | WorkerDiedError):
            click.echo(f"wireproof: {run.error}", err=True)
            self.codes.append(exit_of(run.error) or Exit.ADAPTER)
        elif run.error is not None:
            raise run.error
        if stream is None:
            return
        if run.hello is None:
            self._put(stream, NO_BASELINE)
            return
        self._print(run, stream)
        if run.error is None:
            judged = conclusion.count_judged(stream.cases)
            lack = conclusion.why_nothing_judged(stream)
            if not lack and judged < self.min_cases:
                many = counted(judged, "case was", "cases were", grouped=False)
                lack = f"{many} judged, fewer than the {self.min_cases} of --min-cases"
            if lack:
                click.echo(f"wireproof: {run.spec}: {lack}", err=True)
                self.codes += [Exit.USAGE] * (run.spec in self.named)

    def _put(self, stream: EventStream, applied: AppliedBaseline) -> None:
        self.streams.append(stream)
        self.baselines.append(applied)

    def add_rest(self, runs: Sequence[AdapterRun]) -> None:
        printed = {one.spec for one in self.printed}
        for run in runs:
            if run.spec not in printed and run.stream is not None and run.events:
                self._print(run, run.stream)

    def _print(self, run: AdapterRun, stream: EventStream) -> None:
        for note in run.notes:
            print_line(self.printer.console, f"note: {note}")
        known = NO_BASELINE
        if self.options.baseline is not None:
            known = applied_baseline(stream, self.options.baseline, self.options.suite)
        found = failure_groups_of(stream, known.overlays)
        for group in found:  # those that were not printed when they were judged, such as blocked refusals
            self.printer.print_group(stream.run, group)
        code = exit_code(stream, known, named=run.spec in self.named)
        self._put(stream, known)
        self.printed.append(PrintedRun(stream, found, len(found), code, known))


def _stored(streams: Sequence[EventStream], out: Path | None, *, own: bool) -> str:
    """Return the number of cases that an interrupted run judged, and where they are: `own` of the project."""
    after = f"after {counted(sum(len(stream.cases) for stream in streams), 'case')}"
    if out:
        return f"{after}: their events are in {out}; show them with `{_report(out)}`"
    if own:
        return f"{after}: show them with `{_report(Path(LAST))}`"
    return f"{after}: their events are not stored; add `--out run.jsonl` to store them"


def _options_of(more: dict[str, Any]) -> CheckOptions:
    suite = suite_of(more.pop("folders"))
    required = _required(more, suite)
    patterns, skipped, file = more.pop("patterns"), more.pop("skipped"), more.pop("baseline_file")
    cases = required.cases if required else selection(suite, patterns, skipped)
    large = more.pop("large")
    left_out = () if required or large else large_cases(cases, patterns)
    if cases and len(left_out) == len(cases):
        raise click.UsageError("every selected case is large: add --large")
    if left_out:  # they run only with `--large`, or where a pattern is the id of one
        ids = {case.id for case in left_out}
        cases = tuple(case for case in cases if case.id not in ids)
    apart = () if more["golden"] else ("--no-golden",)
    filters = (*patterns, *(f"!{pattern}" for pattern in skipped), *apart)
    if not (more["golden"] or more["examples"]):
        raise click.UsageError("--no-golden leaves no case to run: add --property N")
    recording = Recording(more.pop("trace"), more.pop("stderr_folder"))
    if more["in_process"] and recording != Recording():
        raise click.UsageError("--trace and --keep-stderr record a process: leave out --in-process")
    if more["shard"] is not None:
        if more["examples"]:
            raise click.UsageError(
                "--shard divides cases, not the examples of --property: leave one of them out"
            )
        try:
            more["shard"] = Shard.of(more["shard"])
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    whole = more["golden"] and not (patterns or required or more["shard"])
    more["examples"] = _examples(more["examples"], more["seed"], whole=whole)
    named = Requirements(required.id, required.title, required.corrected) if required else None
    return CheckOptions(suite=suite, fixtures=suite.hash_of(cases), cases=cases, left_out=left_out,
                        filters=filters,
                        baseline=Baseline.read(file, suite) if file else None,
                        recording=recording, requirements=named,
                        **more)  # fmt: skip


def _examples(count: int | None, seed: int, *, whole: bool) -> Examples | None:
    """Return the examples of `--property`, or those of the release for a whole run; None for no examples."""
    installed = hypothesis_version()
    if count is not None:  # if Hypothesis is missing, drawing the first example says so
        return Examples(count, seed, installed) if count else None
    if not (whole and installed):  # nobody has asked for them
        return None
    return Examples(DEFAULT_EXAMPLES, release_seed(), installed, by_default=True)


def _required(more: dict[str, Any], suite: Suite) -> RequiredCases | None:
    """Return the cases of a named set that `--run` asks for: all of it and nothing else; else None."""
    sets = [pattern for pattern in more["patterns"] if SET.fullmatch(pattern)]
    if not sets:
        return None
    if len(more["patterns"]) > 1 or more["skipped"] or more["examples"] or not more["golden"]:
        raise click.UsageError(
            f"--run {sets[0]} runs the whole set alone: leave out --skip, --property, --no-golden "
            "and any other --run"
        )
    required = named_set(suite, more["patterns"])
    more["families"], more["patterns"] = False, ()
    return required


def _ready(options: CheckOptions) -> Iterator[str]:
    systems = {case.format.partition(".")[0] for case in options.cases}
    for entry in entries().values():
        concerns = not entry.formats or systems & set(entry.formats)
        if concerns and ready(entry).state == "ready":
            yield entry.name


def _ended(
    plan: CheckPlan, options: CheckOptions, processes: int, output: Console
) -> Generator[AdapterRun, None, None]:
    """Yield the run of each adapter, in their order, as soon as it and those before it have ended."""
    specs = tuple(plan.specs)
    work = CheckWork(options, specs)
    with ExitStack() as stack:
        stack.callback(options.recording.join, len(specs))
        messages = stack.enter_context(
            closing(
                run_serial(plan.next_task, work)
                if processes == 1
                else run_parallel(plan.next_task, work, processes)
            )
        )
        plan.bars = stack.enter_context(progress_bars(output, specs))
        shown = 0
        for worker, task, message in messages:
            plan.receive(worker, task, message)
            while shown < len(specs) and plan.runs[shown].ended:
                yield plan.runs[shown]
                shown += 1
        plan.end()
        yield from plan.runs[shown:]


def print_end(
    console: Console,
    runs: Sequence[PrintedRun],
    code: Exit,
    out: Path | None = None,
    earlier: Mapping[str, tuple[str, str]] | None = None,
    *,
    stored: bool = True,
) -> None:
    """Print the last lines of `check`: its exit code, and at most three commands that may follow.

    `out` is the file of the events, if the user named one; `stored` is whether they are in any file. For
    `earlier` see `LastRun`.
    """
    names = [one.spec for one in runs if one.code == code]
    if code == Exit.CONFORMS and len(runs) > 1:
        reason = "every adapter conforms"
    else:
        named = f": {', '.join(names)}" if names and code != Exit.CONFORMS else ""
        reason = f"{MEANINGS[code]}{named}"
    console.print()
    print_line(console, f"exit code {int(code)}: {reason}")
    _print_commands(console, list(_baseline_commands(runs, out or Path(LAST))), "for the baseline:")
    commands = [*_replay(runs, "#1"), *_diffs(runs, out, earlier or {})]
    if stored:
        commands += [(f"wireproof report {LAST}", "every kind of failure, and tables"), *_page(Path(LAST))]
    _print_commands(console, list(dict.fromkeys(commands))[:3])


def _page(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the command that writes the page of a run, unless the command that ends has `--html` itself."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("html"):
        yield _report(file, "--html", "page.html"), "all of it as one page"


def print_report_end(
    console: Console, runs: Sequence[PrintedRun], files: Sequence[Path], *, last: bool = False
) -> None:
    """Print the last lines of `report`; with `last`, of the last run of the project."""
    found, printed = sum(len(one.found) for one in runs), sum(one.printed for one in runs)
    if found:
        part = f", {printed} shown, the most severe first" if printed < found else ""
        print_line(console, f"{counted(found, 'kind')} of failure{part}")
    run_file = Path(LAST) if last else files[0]
    if len(files) == 1:  # of shards no single file has the whole run
        _print_commands(console, list(_baseline_commands(runs, run_file)), "for the baseline:")
        commands = [*_replay(runs, "#1" if last else f"{run_file}#1")]
        if any(one.printed < len(one.found) for one in runs):
            commands.append((_report(run_file, "--all"), "show every kind of failure"))
        _print_commands(console, [*commands, *_page(run_file)])


def _baseline_commands(runs: Sequence[PrintedRun], run_file: Path) -> Iterator[tuple[str, str]]:
    """Yield the command for the new failures of each origin, and for entries that are out of date."""
    context = click.get_current_context(silent=True)
    given = context.params.get("baseline_file") if context else None
    for one in runs:
        applied, run = one.applied, one.stream.run
        file = str(given or applied.file)
        counts = Counter(origin.kind for origin in applied.origins.values())
        if applied.suite in ("", run.suite) and not counts.keys() - {"codec"}:
            counts.clear()
        for kind, words in COUNTED.items():
            if not counts[kind]:
                continue
            if kind == "codec":
                name = next(name for name, origin in applied.origins.items() if origin.kind == kind)
                event = next(event for event in one.stream.cases if event.id == name)
                yield replay_command(event, run), f"judge again: {counted(counts[kind], 'failure')} {words}"
            else:
                command = shlex.join(("wireproof", "baseline", "add", file, str(run_file), kind))
                yield command, f"accept {counted(counts[kind], 'failure')} {words}"
        if number := len({*applied.stale, *applied.changed}):
            command = shlex.join(("wireproof", "baseline", "fix", file, str(run_file)))
            yield command, f"remove or rewrite {number:,} {'entries' if number > 1 else 'entry'} out of date"


def _print_commands(console: Console, commands: Sequence[tuple[str, str]], title: str = "next:") -> None:
    """Print commands that can be pasted, each with its purpose after it, or above it if it is long."""
    if not commands:
        return
    console.print(plain_text(title))
    widest = max(len(command) for command, _ in commands)
    longest = max(len(purpose) for _, purpose in commands)
    beside = 2 + widest + 4 + longest <= min(console.width, 160)
    for command, purpose in commands:
        line = f"  {command:<{widest}}  # {purpose}" if beside else f"  # {purpose}\n  {command}"
        console.print(plain_text(line) if beside else line, soft_wrap=True, markup=False, highlight=False)


def _replay(runs: Sequence[PrintedRun], name: str) -> Iterator[tuple[str, str]]:
    if any(one.found for one in runs):
        yield shlex.join(("wireproof", "replay", name)), "judge finding #1 again; #N for another"


def _report(file: Path, *words: str) -> str:
    return shlex.join(("wireproof", "report", str(file), *words))


def _diffs(
    runs: Sequence[PrintedRun], out: Path | None, earlier: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield commands that compare each adapter with its previous run."""
    here = Path.cwd()
    for one in runs:
        path, version = earlier.get(one.spec, ("", ""))
        if out and path and Path(path) != out.absolute() and Path(path).is_file():
            now = one.stream.run.version
            purpose = "compare with the previous run" if version == now else f"compare {version} with {now}"
            before = os.path.relpath(path, here) if Path(path).is_relative_to(here) else path
            yield shlex.join(("wireproof", "diff", before, str(out))), purpose
