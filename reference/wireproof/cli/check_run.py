"""Judge the adapters of one `wireproof check`, side by side, and show the findings of each in order."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.ready import ready
from wireproof.adapters.registry import entries
from wireproof.cli.errors import exit_of
from wireproof.cli.judging import Asked, Judged, Judging, OrderedFile, Receiving
from wireproof.cli.named import remember
from wireproof.cli.options import selection, suite_of
from wireproof.cli.progress import bars
from wireproof.cli.views import views_of, write_views
from wireproof.report.groups import Group
from wireproof.report.terminal import View, show, summary
from wireproof.trial import baseline, conclusion
from wireproof.trial.conclusion import exit_code
from wireproof.trial.exit_codes import Exit, worst
from wireproof.trial.families import Families, FamilyStore
from wireproof.trial.lookup import Lookups
from wireproof.trial.streams import Stream
from wireproof.trial.workers import (
    Ended,
    WorkerDiedError,
    collect_rarely,
    cores,
    no_work,
    one_by_one,
    side_by_side,
)


def check(
    adapters: tuple[str, ...],
    *,
    every: bool,
    strict_class: bool,
    min_cases: int,
    jobs: int,
    out: Path | None,
    **more: Any,  # noqa: ANN401 - the options of `Asked` and of the views
) -> int:
    """Judge each adapter, show what was found and return the exit code."""
    views = views_of(more)
    asked = _asked(more)
    named, adapters = adapters, tuple(dict.fromkeys((*adapters, *(_ready(asked) if every else ()))))
    console = Console()
    collect_rarely()
    codes: list[Exit] = []
    streams: list[Stream] = []
    printed: list[tuple[str, Group]] = []
    for judged in _judged(adapters, asked, jobs or (1 if asked.in_process else cores()), console, out):
        if isinstance(judged.error, AdapterError | WorkerDiedError):
            click.echo(f"wireproof: {judged.error}", err=True)
            codes.append(exit_of(judged.error) or Exit.ADAPTER)
        elif judged.error is not None:
            raise judged.error
        if judged.stream is None:
            continue
        streams.append(judged.stream)
        applied, found = _shown(judged, asked, console, strict_class=strict_class)
        printed += ((judged.spec, group) for group in found)
        wanted = judged.spec in named
        codes.append(exit_code(judged.stream, applied, strict_class=strict_class, named=wanted))
        if lack := _lack(judged.stream, min_cases):
            click.echo(f"wireproof: {judged.spec}: {lack}", err=True)
            codes += [Exit.USAGE] * wanted
    if len(streams) > 1:
        console.print(summary(streams))
    remember(printed)
    write_views(streams, views, asked.suite)
    return worst(codes)


def _asked(more: dict[str, Any]) -> Asked:
    suite = suite_of(more.pop("folders"))
    patterns, skipped, file = more.pop("patterns"), more.pop("skipped"), more.pop("debts")
    cases = selection(suite, patterns, skipped)
    debts = baseline.read(file) if file else None
    apart = () if more["golden"] else ("--no-golden",)
    filters = (*patterns, *(f"!{pattern}" for pattern in skipped), *apart)
    if not (more["golden"] or more["examples"]):
        raise click.UsageError("--no-golden leaves nothing to ask: add --property N")
    return Asked(suite=suite, cases=cases, filters=filters, debts=debts, **more)


def _ready(asked: Asked) -> Iterator[str]:
    """What is ready here and about a system of the selection."""
    systems = {case.format.partition(".")[0] for case in asked.cases}
    for entry in entries().values():
        concerns = not entry.formats or systems & set(entry.formats)
        if concerns and ready(entry).state == "ready":
            yield entry.name


def _judged(
    specs: tuple[str, ...], asked: Asked, jobs: int, console: Console, out: Path | None
) -> Generator[Judged, None, None]:
    """Yield what came of each adapter, in their order, each as soon as those before it have ended."""
    with ExitStack() as stack:
        file = stack.enter_context(OrderedFile(out)) if out else None
        messages = stack.enter_context(closing(_messages(specs, asked, jobs)))
        receiving = Receiving(specs, stack.enter_context(bars(console, specs)), file)
        shown = 0
        for number, message in messages:
            if isinstance(message, Ended):
                receiving.end(number, message.error)
            else:
                receiving.receive(number, message)
            while shown < len(specs) and receiving.judged[shown].ended:
                yield receiving.judged[shown]
                shown += 1


def _messages(specs: tuple[str, ...], asked: Asked, jobs: int) -> Generator[tuple[int, Any], None, None]:
    """Yield the messages of all adapters with their numbers; families are shared if there is more than one.

    One adapter without families leaves nothing to other processes, and is judged in this one.
    """
    if jobs == 1 or (len(specs) == 1 and not asked.families):
        with _families(asked, shared=len(specs) > 1 and asked.families) as families:
            yield from one_by_one(len(specs), Judging(asked, specs, families))
        return
    with _families(asked, shared=asked.families) as families:
        idle = families.helper().step if isinstance(families, FamilyStore) else no_work
        workers = jobs if asked.families else min(jobs, len(specs))
        yield from side_by_side(len(specs), workers, Judging(asked, specs, families), idle)


@contextmanager
def _families(asked: Asked, *, shared: bool) -> Iterator[Families]:
    """Make what derives the families, with a folder for those that are shared."""
    if not shared:
        yield Families()
        return
    with TemporaryDirectory(prefix="wireproof-") as folder:
        yield FamilyStore(Path(folder), {case.id: case for case in asked.golden_cases})


def _lack(stream: Stream, least: int) -> str:
    """Return why a run judged too few cases to count; empty if it did not."""
    found = conclusion.judged(stream.cases)
    few = f"{found} cases were judged, fewer than the {least} of --min-cases" if found < least else ""
    return conclusion.nothing_judged(stream) or few


def _shown(
    judged: Judged, asked: Asked, console: Console, *, strict_class: bool
) -> tuple[baseline.Applied | None, tuple[Group, ...]]:
    stream = judged.stream
    assert stream is not None, "what is shown began"
    for note in judged.notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
    applied = None
    if asked.debts is not None:
        applied = baseline.apply(stream, asked.debts, datetime.now(tz=UTC).date())
    lookups = Lookups(asked.suite)
    view = View(lookups.case, lookups.twin, applied, strict_class=strict_class)
    return applied, show(stream, console, view)
