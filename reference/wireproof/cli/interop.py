"""`wireproof interop`: every adapter decodes what every other adapter encoded."""

import time
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import click
from attrs import evolve
from rich.console import Console

from wireproof.adapters.contract import Hello
from wireproof.adapters.registry.live_servers import open_relay
from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import COLUMNAR, entries
from wireproof.cases.case import Case
from wireproof.cases.token import TokenError, from_token, save_token
from wireproof.cli.check.run import announce_builds
from wireproof.cli.common.general_options import with_scale
from wireproof.cli.common.progress import step_bar
from wireproof.cli.common.standard_output import exit_of
from wireproof.files import replace_text
from wireproof.formats import matching_ids
from wireproof.report.interop_view import InteropView, interop_page, print_interop
from wireproof.report.matrix import Page
from wireproof.report.terminal import output_console
from wireproof.run.conclusion import exit_code
from wireproof.run.events import CaseEvent, EventWriter
from wireproof.run.exit_codes import Exit, deciding_code
from wireproof.run.interop import (
    InteropRun,
    InteropSettings,
    Participant,
    RelayReport,
    carried_messages,
    run_interop,
)
from wireproof.wire.text import counted


@click.command("interop")
@click.argument("adapters", nargs=-1, metavar="[ADAPTER]…")
@click.option("--count", default=100, show_default=True, type=click.IntRange(min=1),
              help="generated messages of each format")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="random seed of the messages and their order")
@click.option("--format", "patterns", multiple=True, metavar="PATTERN",
              help="formats such as kafka.batch or iggy.*/0.0.60  [default: all]")  # fmt: skip
@with_scale
@click.option("--through", "server", metavar="SERVER",
              help="store what is written on a server, kafka-broker:HOST:PORT, and read it back")  # fmt: skip
@click.option("--html", "file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="the whole answer as one HTML page")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="store the events of all adapters as JSON lines")  # fmt: skip
def command(
    adapters: tuple[str, ...],
    patterns: tuple[str, ...],
    server: str | None,
    file: Path | None,
    out: Path | None,
    **more: Any,  # noqa: ANN401 - `count`, `seed` and `scale`
) -> int:
    """Let each ADAPTER encode generated messages and decode those of the others; print the failures.

    With no ADAPTER, test every installed adapter and the reference; a single ADAPTER is tested against the
    reference. Exit code: 0 all agree, 1 an adapter encodes or decodes wrong, or the SERVER refuses or changes
    what it must store, 2 usage, 4 an adapter or the SERVER does not start or answer.
    """
    settings = InteropSettings(
        more["count"], more["seed"], frozenset(matching_ids(patterns)) if patterns else None
    )
    began = time.monotonic()
    if not adapters:  # the fast decoders repeat the reference
        peers = (entry for entry in entries().values() if entry.name != COLUMNAR)
        specs = tuple(entry.name for entry in peers if ready(entry).state == "ready")
    else:
        specs = adapters if len(set(adapters)) > 1 else (*adapters, "reference")
    found, relayed = _exchanged(specs, settings, more["scale"], server)
    for error in found.absent.values():
        click.echo(f"wireproof: {error}", err=True)
    if not found.encoded_messages:
        raise click.UsageError("there is no format that one of them writes and another reads")
    shown = InteropView(found, _case, relayed)
    print_interop(shown, output_console())
    inputs, seconds = sum(map(len, found.encoded_messages.values())), time.monotonic() - began
    counts = (
        counted(len(found.participants), "adapter"),
        counted(inputs, "input"),
        counted(found.readings, "reading"),
    )
    click.echo(f"{', '.join(counts)} in {seconds:.0f} s")
    if out:
        _write(shown, out)
    if file:
        replace_text(file, interop_page(shown, Page("wireproof: interop", _case)))
    codes = [exit_code(stream, named=bool(adapters)) for stream in found.streams if stream.cases]
    if relayed is not None and relayed.server.events:
        codes.append(Exit.FAILS)
    return deciding_code([*codes, *(exit_of(error) or Exit.ADAPTER for error in found.absent.values())])


def _exchanged(
    specs: tuple[str, ...], settings: InteropSettings, scale: float, server: str | None
) -> tuple[InteropRun, RelayReport | None]:
    """Run the exchange, with a progress bar on a terminal; `server` stores what is written."""
    announce_builds(specs)
    token = partial(save_token, folder=Path("wireproof-interop"))
    with step_bar(Console(stderr=True), "starting") as report_progress:
        exchange = partial(run_interop, specs, timeout_scale=scale, report_progress=report_progress)
        if server is None:
            return exchange(settings, token), None
        with open_relay(server) as relay:
            report = RelayReport(Participant(server, Hello(relay.name, relay.version)))
            rows = frozenset(relay.kept if settings.rows is None else relay.kept.keys() & settings.rows)
            through = partial(carried_messages, relay=relay, report=report)
            settings = evolve(settings, rows=rows, assigned=relay.assigned)
            return exchange(settings, token, through=through), report


def _write(shown: InteropView, out: Path) -> None:
    file = StringIO()
    for stream in shown.judged:
        writer = EventWriter(file, stream.run)
        for event in stream.cases:
            writer.case(event)
        writer.footer(complete=stream.complete)
    replace_text(out, file.getvalue())


def _case(event: CaseEvent) -> Case | None:
    try:
        return from_token(event.token) if event.token else None
    except TokenError:
        return None
