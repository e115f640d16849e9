"""`wireproof fuzz`: fuzzing of any adapter, guided by coverage, or with generated cases on Spark."""

import shlex
import time
from collections.abc import Iterator, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

import click
from attrs import evolve
from click.core import ParameterSource
from rich.console import Console
from rich.console import Group as Renderables
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from wireproof.cases.case import Level
from wireproof.cases.fixtures import Suite, load
from wireproof.cli import ARGUMENTS
from wireproof.cli.check.run import announce_builds
from wireproof.cli.common.general_options import with_fixtures
from wireproof.cli.common.options import MINUTES, adapter_names
from wireproof.cli.common.spark_options import OUT, on_cluster
from wireproof.cli.common.standard_output import interrupted
from wireproof.cli.fuzz_on_spark import DEFAULT_CASES, fuzz_on_spark
from wireproof.formats import matching_ids
from wireproof.fuzz.campaign import Campaign, CampaignProgress, CampaignResult, run_campaign
from wireproof.fuzz.corpus import copy_inputs, left_out
from wireproof.fuzz.findings import Finding, case_of_token
from wireproof.fuzz.rejudge import known_ways
from wireproof.fuzz.target import REFERENCE
from wireproof.fuzz.work import StatsLine
from wireproof.report.failure_groups import explanation
from wireproof.report.terminal import MAX_FINDINGS, output_console
from wireproof.run.baselines.known_failures import Baseline
from wireproof.run.case_lookup import CaseLookup
from wireproof.run.exit_codes import Exit
from wireproof.wire.text import counted, escape_unsafe

POLL_SECONDS: Final = 1.0
"""Seconds between two looks at the work directory of a running campaign."""

SPARK_ONLY: Final = ("cases", "master", "archive", "wheel", "given")
"""Options of `--spark`."""


@click.command("fuzz")
@click.argument("adapters", nargs=-1, required=True, metavar="ADAPTER…", shell_complete=adapter_names)
@click.option(
    "--format",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="formats such as kafka.batch or iggy.*/0.0.60  [default: all]",
)
@click.option("--minutes", default=5.0, type=MINUTES, help="total minutes; with --runs no limit")
@click.option("--runs", type=click.IntRange(min=1), metavar="N",
              help="executions of each format; with --minutes too, what ends first")  # fmt: skip
@click.option("--corpus", "corpora", multiple=True, metavar="DIR",
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="a folder with further inputs for every format; nothing is written there")  # fmt: skip
@click.option("--baseline", "baseline_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar="FILE", help="known failures, as for check: they do not fail the run")  # fmt: skip
@click.option("--workers", default=1, type=click.IntRange(min=1),
              help="number of processes, which share one corpus")  # fmt: skip
@click.option("--dir", "root", default=Path("wireproof-fuzz"), type=OUT,
              help="the folder for corpus and findings, with --spark for its tables; a later run continues "
              "there")  # fmt: skip
@click.option("--seed", default=1, help="random seed")
@click.option(
    "--level",
    type=click.Choice(["must", "should"]),
    default="must",
    help="lowest level whose failures set exit code 1",
)
@click.option("--spark", is_flag=True,
              help="on Spark: generate cases by number, without guidance, and check every ADAPTER with "
              "each")  # fmt: skip
@click.option("--cases", type=click.IntRange(min=1), metavar="N",
              help=f"with --spark: number of generated cases  [default: {DEFAULT_CASES}]")  # fmt: skip
@on_cluster
@with_fixtures
@click.pass_context
def command(
    ctx: click.Context,
    /,
    adapters: tuple[str, ...],
    patterns: tuple[str, ...],
    folders: tuple[Path, ...],
    spark: bool,
    **more: Any,  # noqa: ANN401 - the fields of `Campaign`, and the options of Spark
) -> int:
    """Fuzz ADAPTER against the reference, or the reference against its own relations.

    Continues after crashes, hangs and lack of memory, and ends with one line for each way in which ADAPTER
    fails; keeps the smallest inputs of each. Findings of earlier runs are judged again first; --minutes 0
    ends after these and the corpus. With --spark, several adapters are checked with the same cases.

    Exit code: 0 nothing open, 1 findings, 4 adapter, 5 a bug of the suite.
    """
    guided_only = ("minutes", "runs", "corpora", "baseline_file", "workers", "level")
    where = "without --spark" if spark else "with --spark"
    for param in ctx.command.params:
        if param.name in (guided_only if spark else SPARK_ONLY) and _is_given(ctx, param.name):
            raise click.UsageError(f"{param.opts[0]} is an option of fuzzing {where}")
    cluster = {name: more.pop(name) for name in SPARK_ONLY}
    if spark:
        return fuzz_on_spark(adapters, more["root"], patterns, seed=more["seed"], **cluster)
    if len(adapters) > 1:
        raise click.UsageError("name one ADAPTER: several are checked together with --spark alone")
    corpora, file, runs = more.pop("corpora"), more.pop("baseline_file"), more.pop("runs") or 0
    if runs and not _is_given(ctx, "minutes"):
        more["minutes"] = inf
    campaign = Campaign(
        adapters[0], formats=matching_ids(patterns), fixtures=tuple(map(str, folders)), runs=runs, **more
    )
    for line in filter(None, map(left_out, (*corpora, *campaign.corpora()))):
        click.echo(f"wireproof: {line}", err=True)
    if corpora:
        inputs = copy_inputs(corpora, Path(campaign.root) / "work" / "inputs")
        campaign = evolve(campaign, inputs=str(inputs))
    if file:
        suite = load(folders)
        known = known_ways(campaign.adapter, Baseline.read(file, suite), suite, campaign.formats)
        campaign = evolve(campaign, known=known)
    return _fuzz(campaign, ctx.meta.get(ARGUMENTS, ()))


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _fuzz(campaign: Campaign, words: Sequence[str]) -> int:
    console = output_console()
    announce_builds((campaign.adapter,))
    display = CampaignDisplay(campaign, console)
    broken_off = None
    try:
        ended = display.run()
    except KeyboardInterrupt as error:
        broken_off = error
        ended = CampaignResult(campaign.findings())
    for effort in display.progress.reader.formats():
        console.print(Text(_worked(effort)), soft_wrap=True)
    gating = [one for one in ended.findings if one.is_open_at(campaign.level)]
    known = [one for one in ended.findings if one.state == "known"]
    apart = [one for one in ended.findings if one.state == "open" and not one.gates_at(campaign.level)]
    for finding in ended.mended:
        console.print(Text(f"mended: {finding}"), soft_wrap=True)
    suite = load(tuple(map(Path, campaign.fixtures)))
    for place, finding in enumerate(sorted(gating, key=_rank)):
        _print_finding(console, campaign, finding, suite if place < MAX_FINDINGS else None)
    if apart:
        console.print(
            "permitted differences: the format allows several answers, or the exception is not documented"
        )
        for line in _apart(apart):
            console.print(Text(line), soft_wrap=True)
    for format_id, less in ended.corpora.items():
        said = "made fewer" if less.kept else "left as it was"
        console.print(
            f"{format_id}: corpus {said}: {counted(less.inputs[0], 'input', grouped=False)}, "
            f"{counted(less.features[0], 'feature', grouped=False)}; "
            f"{counted(less.inputs[1], 'input has', 'inputs have', grouped=False)} {less.features[1]}"
        )
    for trouble in ended.worker_errors:
        click.echo(f"wireproof: {trouble}", err=True)
    console.print(
        f"{counted(len(gating), 'distinct failure')}, {counted(len(apart), 'permitted difference')}, "
        f"{len(known)} known, {len(ended.mended)} mended; stored in {campaign.findings_folder}",
        soft_wrap=True,
    )
    if broken_off is not None:
        again = f"wireproof {shlex.join(words)}"
        return interrupted(broken_off, f"after {display.seconds:.0f} s; to go on from there: {again}")
    return _exit(ended, campaign.level)


class CampaignDisplay:
    """Shows a campaign while it runs: its executions, edges and failures by kind, and the newest failure.

    A terminal has these lines in one place. Any other output gets a line for each new failure at once, and
    the numbers now and then.

    Attributes:
        progress: what the campaign has done.
    """

    def __init__(self, campaign: Campaign, console: Console) -> None:
        self._campaign, self._console = campaign, console
        self._begin = self._polled = self._printed = time.monotonic()
        self._newest_seconds = 0.0
        self.progress = CampaignProgress(campaign)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def run(self) -> CampaignResult:
        if not self._console.is_terminal:
            return run_campaign(self._campaign, self.update)
        minutes, runs = self._campaign.minutes, self._campaign.runs
        left = TextColumn(
            f"of {minutes:g} min" if isfinite(minutes) else f"for {counted(runs, 'run')} of each format"
        )
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), left)
        bar = Progress(*columns, console=self._console)
        task = bar.add_task(
            f"fuzzing {self._campaign.adapter}", total=minutes * 60 if isfinite(minutes) else None
        )

        def view() -> Renderables:
            bar.update(task, completed=self.seconds)
            lines = [Text(self.numbers()), *map(Text, filter(None, [self.newest()]))]
            return Renderables(bar, *lines)

        with Live(get_renderable=view, console=self._console, transient=True):
            return run_campaign(self._campaign, self.update)

    def update(self) -> None:
        """Read what is new, at most once in `POLL_SECONDS`, and print it if nothing else shows it."""
        now = time.monotonic()
        if now - self._polled < POLL_SECONDS:
            return
        self._polled = now
        found = self.progress.poll()
        if found:
            self._newest_seconds = self.seconds
        if self._console.is_terminal:
            return
        for finding in found:
            self._print(f"found after {self.seconds:.0f} s: {finding}")
        if now - self._printed >= 30:
            self._printed = now
            self._print(f"after {self.seconds:.0f} s: {self.numbers()}")

    def _print(self, line: str) -> None:
        self._console.print(Text(escape_unsafe(line)), soft_wrap=True)

    def numbers(self) -> str:
        """Return the numbers of the campaign in one line."""
        now = self.progress
        if not now.format_id:
            return "starting"
        often = now.kinds.most_common()
        kinds = ", ".join(f"{count:,} {kind.removeprefix('fail:')}" for kind, count in often)
        edges = f"{counted(now.edges, 'edge')} of" if now.edges else "from the seeds of"
        edges = f"{edges} {now.format_id}"
        failures = f"new failures: {now.kinds.total():,}" + (f" ({kinds})" if kinds else "")
        return (
            f"{counted(now.executions, 'execution')} ({now.rate:,.0f}/s), {edges}, {failures}, "
            f"permitted differences: {now.permitted:,}"
        )

    def newest(self) -> str:
        """Return the newest failure in one line; empty if there is none."""
        newest = self.progress.newest
        return f"newest, after {self._newest_seconds:.0f} s: {newest}" if newest else ""


def _worked(effort: StatsLine) -> str:
    rate = effort.executions / max(effort.seconds, 1.0)
    deaths = f", {counted(effort.deaths, 'death')} survived" if effort.deaths else ""
    return (
        f"{effort.format_id:<24} {counted(effort.executions, 'execution', grouped=False)} "
        f"in {effort.seconds:.0f} s ({rate:.0f}/s), "
        f"coverage {effort.coverage}, features {effort.features}, corpus {effort.corpus}, "
        f"at most {effort.resident >> 20} MiB{deaths}"
    )


def _rank(finding: Finding) -> tuple[int, int]:
    """Return the place of a finding: what ends or blocks a process first, then the most frequent."""
    first, kind = ("crash", "timeout", "resource", "stalled"), finding.signature.kind.partition(":")[0]
    return first.index(kind) if kind in first else len(first), -finding.count


def _print_finding(console: Console, campaign: Campaign, finding: Finding, suite: Suite | None) -> None:
    """Print a finding: its signature, with `suite` its explanation, and the command that replays it."""
    console.print()
    console.print(Text(escape_unsafe(str(finding)), style="bold"), soft_wrap=True)
    lines = [f"  {counted(finding.count, 'time')}, smallest {counted(finding.size, 'byte')}"]
    if suite is not None:
        case = case_of_token(campaign.findings_folder, finding.token)
        lookup = CaseLookup(suite)
        lines += explanation(finding.event(case), case, lookup.twin, console.width, lookup.basis)
    name = shlex.quote(f"{campaign.root}#{finding.name}")
    lines.append(f"  replay  wireproof replay {name} {shlex.quote(campaign.adapter)}")
    for line in lines:
        console.print(Text(escape_unsafe(line)), soft_wrap=True)


def _apart(apart: list[Finding]) -> Iterator[str]:
    """Yield one line for each kind and class, whatever the format and field."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in apart:
        sign = one.signature
        key = (sign.kind, "" if sign.kind.startswith("info") else sign.cls)
        groups.setdefault(key, []).append(one)
    for (kind, cls), group in groups.items():
        formats = ", ".join(dict.fromkeys(one.signature.format for one in group))
        often = counted(sum(one.count for one in group), "time", grouped=False)
        yield f"  {f'{kind} {cls}'.strip()}: {often} in {formats}"


def _exit(ended: CampaignResult, level: Level) -> Exit:
    gating = [one.signature for one in ended.findings if one.is_open_at(level)]
    if any(one.implementation == REFERENCE or one.kind.startswith("suite-bug") for one in gating):
        return Exit.SUITE
    if ended.worker_errors:
        return Exit.ADAPTER
    return Exit.FAILS if gating else Exit.CONFORMS
