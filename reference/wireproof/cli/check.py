"""`wireproof check`: judge codecs by the cases."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import click
from attrs import frozen
from rich.console import Console

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.process import HELLO_SECONDS
from wireproof.adapters.ready import ready
from wireproof.adapters.registry import entries
from wireproof.cases.case import Case, Level
from wireproof.cases.fixtures import Suite
from wireproof.cli.errors import exit_of
from wireproof.cli.options import adapter_names, selecting, selection, suite_of
from wireproof.cli.progress import watched
from wireproof.cli.views import viewing, views_of, write_views
from wireproof.fuzz import property as property_run
from wireproof.report.terminal import View, show, summary
from wireproof.trial import baseline
from wireproof.trial.engine import Engine
from wireproof.trial.events import CaseEvent, Footer, Run, run_event
from wireproof.trial.exit_codes import Exit, worst
from wireproof.trial.lookup import Lookups
from wireproof.trial.platform import manifest
from wireproof.trial.property import Ask
from wireproof.trial.run import Plan, run
from wireproof.trial.streams import EventWriter, Stream


@frozen
class Asked:
    """The switches of one `check`, for all its adapters."""

    suite: Suite
    cases: tuple[Case, ...]
    families: bool
    examples: int
    golden: bool
    in_process: bool
    seed: int
    scale: float
    level: Level
    filters: tuple[str, ...]
    debts: tuple[baseline.Debt, ...] | None

    @property
    def golden_cases(self) -> tuple[Case, ...]:
        """The fixtures to judge: a debt is held to its own case even where the others are left out."""
        if self.golden:
            return self.cases
        owed = {debt.id.partition("~")[0] for debt in self.debts or ()}
        return tuple(case for case in self.cases if case.id in owed)

    @property
    def rows(self) -> frozenset[str]:
        """The formats of the selection, whose properties are asked."""
        return frozenset(case.joined for case in self.cases)


@click.command("check")
@click.argument("adapters", nargs=-1, metavar="ADAPTER…", shell_complete=adapter_names)
@click.option(
    "--all-ready", "every", is_flag=True, help="every adapter that is ready here, for the chosen formats"
)
@selecting
@click.option(
    "--families/--no-families", default=True, help="derive families of damaged bytes from each fixture"
)
@click.option("--property", "examples", default=0, type=click.IntRange(min=0), metavar="N",
              help="also N generated examples of each format and op that the codec claims")  # fmt: skip
@click.option("--golden/--no-golden", default=True,
              help="leave the fixtures out, but for those of a baseline's debts")  # fmt: skip
@click.option(
    "--level", type=click.Choice(["must", "should"]), default="must", help="what ends with exit code 1"
)
@click.option("--strict-class", is_flag=True, help="a refusal without its class fails too")
@click.option("--in-process", is_flag=True, help="call Python adapters in this process: faster, no timeouts")
@click.option("--seed", default=0, help="of the order in which cases are asked, and of the examples")
@click.option("--timeout-scale", "scale", default=1.0, help="multiplies every time limit")
@click.option("--min-cases", default=1, help="fewer judged cases are a usage error")
@click.option("--baseline", "debts", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="known failures, which do not count")  # fmt: skip
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="the stream of events, as JSON lines"
)
@viewing
def command(
    adapters: tuple[str, ...],
    every: bool,
    strict_class: bool,
    min_cases: int,
    out: Path | None,
    **more: Any,  # noqa: ANN401 - the options of `Asked` and of the views
) -> int:
    """Hold each ADAPTER to the cases and end with a matrix.

    An ADAPTER is a registered name (`wireproof adapters`), `py:module:attribute`, `exec:command …` or
    `jsonl:command …`. Exit code: 0 conforms, 1 does not, 2 usage, 3 only stale or changed baseline entries,
    4 adapter, 5 a bug of the suite.
    """
    if not (adapters or every):
        raise click.UsageError("Missing argument 'ADAPTER…': name the codecs to judge, or give --all-ready")
    views = views_of(more)
    asked = _asked(more)
    adapters = tuple(dict.fromkeys((*adapters, *(_ready(asked) if every else ()))))
    console = Console()
    codes: list[Exit] = []
    streams: list[Stream] = []
    with ExitStack() as stack:
        sink = stack.enter_context(out.open("w", encoding="utf-8")) if out else None
        for spec in adapters:
            try:
                stream = _one(spec, asked, console, sink)
            except AdapterError as error:
                click.echo(f"wireproof: {error}", err=True)
                codes.append(exit_of(error) or Exit.ADAPTER)
                continue
            streams.append(stream)
            applied = _shown(stream, asked, console)
            codes.append(baseline.exit_code(stream, applied, strict_class=strict_class))
            if len(stream.cases) < min_cases:
                click.echo(f"wireproof: {spec}: {len(stream.cases)} cases, fewer than {min_cases}", err=True)
                codes.append(Exit.USAGE)
    if len(streams) > 1:
        console.print(summary(streams))
    write_views(streams, views, asked.suite)
    return worst(codes)


def _asked(more: dict[str, Any]) -> Asked:
    suite = suite_of(more.pop("folders"))
    patterns, skipped, file = more.pop("patterns"), more.pop("skipped"), more.pop("debts")
    cases = selection(suite, patterns, skipped)
    debts = baseline.parse(file.read_text(encoding="utf-8"), file.name) if file else None
    apart = () if more["golden"] else ("--no-golden",)
    filters = (*patterns, *(f"!{pattern}" for pattern in skipped), *apart)
    if not (more["golden"] or more["examples"]):
        raise click.UsageError("--no-golden leaves nothing to ask: add --property N")
    return Asked(suite=suite, cases=cases, filters=filters, debts=debts, **more)


def _ready(asked: Asked) -> Iterator[str]:
    """What is ready here and about a system of the selection; mutants are none of it."""
    systems = {case.format.partition(".")[0] for case in asked.cases}
    for entry in entries().values():
        concerns = not entry.formats or systems & set(entry.formats)
        if concerns and not entry.name.startswith("mutant:") and ready(entry).state == "ready":
            yield entry.name


def _one(spec: str, asked: Asked, console: Console, sink: IO[str] | None) -> Stream:
    """One adapter, judged; what was judged is in the sink even if the run is broken off."""
    with Engine(
        spec,
        in_process=asked.in_process,
        seed=asked.seed,
        timeout_scale=asked.scale,
        hello_seconds=HELLO_SECONDS * max(1.0, asked.scale),
    ) as engine:
        plan = Plan.of(engine.hello, asked.golden_cases, asked.suite, families=asked.families)
        head = run_event(
            engine.hello, spec=spec, fixtures=asked.suite.hash, seed=asked.seed, level=asked.level,
            filters=asked.filters, **manifest(),
        )  # fmt: skip
        writer = EventWriter(sink, head) if sink else None
        events: list[CaseEvent] = []
        footer: Footer | None = None
        for event in watched(_events(engine, plan, asked, head), console, spec):
            events.append(event)
            if writer:
                writer.case(event)
        complete = not any(event.verdict == "not-run" for event in events)
        footer = writer.footer(complete=complete) if writer else Footer({}, complete)
        for note in engine.notes:
            console.print(f"note: {note}", markup=False, soft_wrap=True)
    return Stream(head, tuple(events), footer)


def _events(engine: Engine, plan: Plan, asked: Asked, head: Run) -> Iterator[CaseEvent]:
    """The fixtures and their families, then the properties, outside the region of the debts just seen."""
    seen: list[CaseEvent] = []
    for event in run(engine, plan):
        seen.append(event)
        yield event
    if not asked.examples:
        return
    today = datetime.now(tz=UTC).date()
    known = property_run.known_of(engine.hello, Stream(head, tuple(seen)), asked.debts or (), today)
    ask = Ask(asked.examples, asked.seed, asked.rows, known)
    yield from property_run.run(engine, ask, len(seen), asked.level)


def _shown(stream: Stream, asked: Asked, console: Console) -> baseline.Applied | None:
    applied = None
    if asked.debts is not None:
        applied = baseline.apply(stream, asked.debts, datetime.now(tz=UTC).date())
    lookups = Lookups(asked.suite)
    show(stream, console, View(lookups.case, lookups.twin, applied))
    return applied
