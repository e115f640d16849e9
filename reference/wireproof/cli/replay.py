"""`wireproof replay`: judge one case again, on any adapter."""

from pathlib import Path

import click

from wireproof.cases.case import Case
from wireproof.cli.case_names import find_named
from wireproof.cli.check.run import announce_builds
from wireproof.cli.common.general_options import with_fixtures, with_scale
from wireproof.cli.common.options import adapter_names, case_ids, suite_of
from wireproof.fuzz.findings import WayToFail, is_way
from wireproof.judge.judge import judge_ways
from wireproof.judge.signature import signature
from wireproof.report.terminal import RunView, output_console, print_run
from wireproof.run.case_lookup import CaseLookup
from wireproof.run.conclusion import exit_code
from wireproof.run.engine import Engine
from wireproof.run.events import (
    CaseEvent,
    EventStream,
    Footer,
    case_event,
    manifest_fields,
    run_event,
)
from wireproof.run.run import Selection, run


@click.command("replay")
@click.argument("name", metavar="ID|TOKEN|DIR#FINDING|#N", shell_complete=case_ids)
@click.argument("adapter", required=False, shell_complete=adapter_names)
@click.option("--in-process", is_flag=True, help="call a Python adapter in this process")
@with_scale
@with_fixtures
def command(name: str, adapter: str | None, in_process: bool, scale: float, folders: tuple[Path, ...]) -> int:
    """Judge the case of an ID or a TOKEN on ADAPTER, and print expectation and answer, even if it passes.

    DIR#FINDING is a finding of `fuzz` or `scan`, by its name or a part of its line; #N is the Nth
    finding that the last `check` of this project printed, and RUN.jsonl#N that of a stream. Of a finding,
    ADAPTER is the one that it was found on, unless another one is given.
    """
    suite = suite_of(folders)
    named = find_named(suite, name)
    case, adapter = named.case, adapter or named.adapter
    if not adapter:
        raise click.UsageError("Missing argument 'ADAPTER': name the codec to judge")
    announce_builds((adapter,))
    with Engine(adapter, in_process=in_process, timeout_scale=scale) as engine:
        head = run_event(
            engine.hello, spec=adapter, fixtures=suite.hash_of((case,)), filters=(name,), **manifest_fields()
        )
        events = tuple(run(engine, Selection((case,), suite.by_id, families=False)))
        if named.way is not None:
            events = tuple(_as_found(engine, case, event, named.way, name) for event in events)
    stream = EventStream(head, events, Footer({}, complete=True))
    lookups = CaseLookup(suite)
    print_run(stream, output_console(), RunView(lambda _: case, lookups.twin, lookups.basis, every=True))
    for event in events:
        click.echo(answer_line(event))
    return exit_code(stream)


def _as_found(engine: Engine, case: Case, event: CaseEvent, way: WayToFail, name: str) -> CaseEvent:
    """Return the event of the finding `way` if that stands behind the difference of `event`."""
    if event.label != "fail:wrong-value":
        return event
    (ran,) = engine.run((case,))
    for verdict in judge_ways(ran.case, ran.outcome, hello=engine.hello)[1:]:
        if is_way(way, signature(engine.hello.name, case, verdict), verdict.shape):
            return case_event(event.seq, case, verdict, ran.ns, name)  # its token alone fails as `event` does
    return event


def answer_line(event: CaseEvent) -> str:
    """Return expectation and answer, also for a case that passes."""
    if event.verdict == "unsupported":
        return f"{event.label}: not asked: {event.text}"
    want, got = event.want or "(as given)", event.got or "(the same)"
    text = "" if event.text in got else f" {event.text}"
    return f"{event.label}: want {want}; got {got}{text}"
