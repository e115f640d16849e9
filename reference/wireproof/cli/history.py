"""`wireproof history`: the first version of an implementation that failed a case, over runs or releases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from wireproof.cli.history_range import (
    JudgedRange,
    ReleaseRange,
    dumped,
    judge_range,
    parse_range,
    store_runs,
)
from wireproof.cli.interrupts import interrupted
from wireproof.cli.options import format_option, selection_options
from wireproof.files import replace_text
from wireproof.report.history import AdapterHistory, histories
from wireproof.report.history_page import history_html
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.event_files import EventStream, joined, read_events
from wireproof.runner.events import EventError
from wireproof.runner.exit_codes import Exit

FILE: Final = click.Path(dir_okay=False, path_type=Path)


@click.command("history")
@click.argument("sources", nargs=-1, required=True, metavar="RUN…")
@click.option("--all", "every", is_flag=True, help="derived cases too, and cases that every release fails")
@click.option("--last", "most", type=click.IntRange(min=1), metavar="N", help="only the last N of a range")
@click.option("--families/--no-families", default=False, help="derive families of damaged bytes in a range")
@click.option("--out", type=FILE, metavar="RUN", help="store the runs of a range")
@click.option("--html", type=FILE, metavar="FILE", help="a page with a row per case that a version fails")
@format_option
@selection_options
def command(sources: tuple[str, ...], every: bool, html: Path | None, form: str, **more: Any) -> int:  # noqa: ANN401 - the options of a range
    """Name the first version that failed each case, and the first that fixed it.

    A RUN is a file of `check … --out`, or NAME@FROM..TO: releases of the library of an adapter, such as
    `sarama@1.40.0..`: each is built, judged and kept in the cache. Pre-releases are left out. Options of a
    client program follow: `sarama-client@1.40.0..:side=consume`.
    """
    ranges = _ranges(sources)
    judged = _judged(ranges, **more) if ranges else []
    found = [one.history for one in judged] or list(histories(_streams(sources)))
    if form == "json":
        click.echo(dumped(found))
    else:
        for one in found:
            _show(one, every=every, constant=every or not ranges)
    if html:
        replace_text(html, history_html(found))
    if judged and (broken_off := judged[-1].broken_off):
        return interrupted(broken_off, "after these releases; the same command goes on behind them")
    return Exit.CONFORMS


def _ranges(sources: tuple[str, ...]) -> list[ReleaseRange]:
    """Return the ranges that are named; none if runs are."""
    found = [parse_range(source) for source in sources if not Path(source).exists()]
    ranges = [one for one in found if one is not None]
    if ranges and len(ranges) < len(sources):
        raise click.UsageError("name either runs or ranges of releases")
    return ranges


def _judged(
    ranges: list[ReleaseRange],
    *,
    most: int | None,
    out: Path | None,
    **more: Any,  # noqa: ANN401 - as above
) -> list[JudgedRange]:
    """Judge the ranges up to an interrupt, and store their runs."""
    judged: list[JudgedRange] = []
    for one in ranges:
        judged.append(judge_range(one, most, **more))
        if judged[-1].broken_off:
            break
    if out:
        store_runs(out, judged)
    return judged


def _streams(sources: tuple[str, ...]) -> list[EventStream]:
    for source in sources:
        if not Path(source).is_file():
            raise click.UsageError(f"{source}: no such file, and no range such as sarama@1.40.0..")
    streams = joined([stream for source in sources for stream in read_events(Path(source))])
    if not streams:
        name = Path(sources[0]).name
        raise EventError(f"{sources[0]}: holds no run: write one with `wireproof check … --out {name}`")
    return streams


def _show(one: AdapterHistory, *, every: bool, constant: bool) -> None:
    for line in _lines(one, every=every, constant=constant):
        click.echo(escape_unsafe(line))


def _lines(one: AdapterHistory, *, every: bool, constant: bool) -> Iterator[str]:
    """Yield a line for each version and each failure; `constant` ones are those that no version passes."""
    for version in one.releases:
        if version in one.unjudged:
            yield f"{one.adapter} {version}: not judged: {one.unjudged[version]}"
        else:
            passed, judged = one.passed[version]
            yield f"{one.adapter} {version}: {passed} of {judged} pass"
    golden = [turn for turn in one.turns if every or "~" not in turn.id]
    shown = [turn for turn in golden if constant or turn.changed]
    yield from (f"{one.adapter}: {turn}" for turn in shown)
    for case, verdicts in one.flaky.items():
        found = "; ".join(f"{version}: {both}" for version, both in verdicts.items())
        yield f"{one.adapter}: {case}: flaky, two runs of one release differ: {found}"
    if len(shown) < len(golden):
        yield f"{one.adapter}: and {len(golden) - len(shown)} that no release passes: --all"
    if len(golden) < len(one.turns):
        yield f"{one.adapter}: and {len(one.turns) - len(golden)} of damaged families: --all"
