"""`wireproof verify`: check the digests of a stored run, and judge a sample of its cases again."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from wireproof.adapters.registry import is_registered
from wireproof.cases.fixtures import Suite
from wireproof.cli.fixtures_option import with_fixtures
from wireproof.cli.options import SCALE, adapter_names, suite_of
from wireproof.files import replace_text
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner import verify_run
from wireproof.runner.conclusion import why_nothing_judged
from wireproof.runner.engine import Engine
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.events import CaseEvent, EventError
from wireproof.runner.exit_codes import Exit, deciding_code
from wireproof.runner.run import Selection, run
from wireproof.runner.statement import contradictions, read_statement, statement, statement_text


@frozen
class VerifyOptions:
    """The options of one `verify_run`."""

    sample: int
    seed: int
    in_process: bool
    scale: float
    adapters: tuple[str, ...] = ()


@click.command("verify")
@click.argument("file", metavar="RUN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--sample", default=50, type=click.IntRange(min=0), help="number of cases that are judged again"
)
@click.option("--seed", default=0, help="random seed of the sample")
@click.option("--adapter", "adapters", multiple=True, metavar="ADAPTER", shell_complete=adapter_names,
              help="judges the sample: an adapter of RUN; if RUN has one run, any")  # fmt: skip
@click.option("--in-process", is_flag=True, help="call a Python adapter in this process")
@click.option("--timeout-scale", "scale", type=SCALE, default=1.0, help="multiplies every time limit")
@click.option("--statement", "stated", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="an in-toto statement that must be true of RUN")  # fmt: skip
@click.option("--write-statement", "out", type=click.Path(dir_okay=False, path_type=Path),
              help="write an in-toto statement about RUN, if it is verified")  # fmt: skip
@with_fixtures
def command(
    file: Path,
    stated: Path | None,
    out: Path | None,
    folders: tuple[Path, ...],
    **options: Any,  # noqa: ANN401 - the values of click
) -> int:
    """Check the chain of digests in RUN, and judge a sample of its cases again on the same adapter.

    A file may come from somebody else. So an adapter that is no registered name, such as `exec:command …`, is
    started only if --adapter names it.

    Exit code 0: the chain is intact, the run is complete, each verdict is the same, and the statement is
    true; 1: one of these fails; 2: the run used other fixtures, or judged nothing; 4: the adapter cannot be
    started.
    """
    streams = read_events(file)
    if not streams:
        raise EventError(f"{file}: holds no run: write one with `wireproof check … --out {file.name}`")
    suite = suite_of(folders)
    asked = VerifyOptions(**options)
    specs = _adapters_of(streams, asked)
    codes = [_verified(stream, spec, suite, asked) for stream, spec in zip(streams, specs, strict=True)]
    if stated is not None:
        codes.append(_true_statement(stated, file, streams))
    code = deciding_code(codes)
    if out is not None and code == Exit.CONFORMS:
        replace_text(out, statement_text(statement(file, streams)))
        click.echo(f"wrote {out}: an in-toto statement without a signature", err=True)
    return code


def _adapters_of(streams: Sequence[EventStream], asked: VerifyOptions) -> list[str]:
    """Return the adapter that judges the sample of each run; raises `click.UsageError`.

    The file must not decide what is started here: it may name any command.
    """
    if not asked.sample:
        return [""] * len(streams)
    if len(streams) == len(asked.adapters) == 1:
        return list(asked.adapters)
    for spec in dict.fromkeys(stream.run.spec for stream in streams):
        if spec not in asked.adapters and not is_registered(spec):
            named = escape_unsafe(shlex.quote(spec))
            raise click.UsageError(
                f"the run names {named}, which would be started here: add --adapter {named} if you trust it, "
                "or --sample 0 to check the chain alone"
            )
    return [stream.run.spec for stream in streams]


def _true_statement(stated: Path, file: Path, streams: Sequence[EventStream]) -> Exit:
    found = list(contradictions(read_statement(stated), file, streams))
    for line in found or ["the statement is true of this run"]:
        click.echo(escape_unsafe(f"{stated}: {line}"))
    return Exit.FAILS if found else Exit.CONFORMS


def _verified(stream: EventStream, spec: str, suite: Suite, asked: VerifyOptions) -> Exit:
    name = escape_unsafe(f"{stream.run.adapter} {stream.run.version}".strip())
    found = verify_run.chain_break(stream)
    if found is not None:
        click.echo(f"{name}: the chain breaks: {escape_unsafe(found.text)}")
        return Exit.FAILS
    said = "complete" if stream.complete else "incomplete"
    click.echo(
        f"{name}: {len(stream.cases)} events, {said}, the chain holds, "
        f"its head is {verify_run.chain_digest(stream)}"
    )
    codes = [Exit.CONFORMS if stream.complete else Exit.FAILS]
    if why := why_nothing_judged(stream):
        click.echo(f"{name}: {why}")
        codes.append(Exit.USAGE)
    if asked.sample:
        if stream.run.fixtures != suite.hash:
            raise EventError(
                f"{name}: was run on the fixtures {stream.run.fixtures}, here are {suite.hash}: "
                "verify it with the version in its `suite` field, or with --sample 0"
            )
        codes.append(_again(stream, spec, suite, asked))
    return deciding_code(codes)


def _again(stream: EventStream, spec: str, suite: Suite, asked: VerifyOptions) -> Exit:
    events = verify_run.sample_events(stream, asked.sample, asked.seed)
    cases = [case for case in verify_run.cases_of(suite, events) if case is not None]
    seed = stream.run.seed
    with Engine(spec, in_process=asked.in_process, seed=seed, timeout_scale=asked.scale) as engine:
        if engine.hello.version != stream.run.version:
            click.echo(escape_unsafe(f"{spec}: was {stream.run.version}, here it is {engine.hello.version}"))
        now: list[CaseEvent] = list(run(engine, Selection(cases, suite.by_id, families=False)))
    found = verify_run.verdict_changes(events, now)
    for difference in found:
        click.echo(escape_unsafe(difference.text))
    click.echo(f"{escape_unsafe(spec)}: {len(events)} cases judged again, {len(found)} otherwise")
    return Exit.FAILS if found else Exit.CONFORMS
