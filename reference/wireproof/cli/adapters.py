"""`wireproof adapters`: list, build and probe adapters, and write the template of a new one."""

import re
import shlex
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
import click
from attrs import evolve

from wireproof.adapters.errors import AdapterError, UnknownAdapter
from wireproof.adapters.registry.driver_build import built, releases
from wireproof.adapters.registry.live_servers import PREFIX, clean_up, names_on, runs_of
from wireproof.adapters.registry.readiness import examined, ready
from wireproof.adapters.registry.registered import AdapterOption, Entry
from wireproof.adapters.registry.registry import entries, open_adapter, resolve
from wireproof.adapters.registry.templates import TEMPLATES, client_templates, write
from wireproof.cases.case import Accept, Case, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import is_large
from wireproof.cli.check.run import announce_builds
from wireproof.cli.common.options import (
    adapter_names,
    format_option,
    print_json,
    selection,
    selection_options,
    suite_of,
)
from wireproof.formats import FORMATS, Format
from wireproof.judge.signature import without_indices
from wireproof.run.engine import Engine
from wireproof.run.exit_codes import Exit, deciding_code
from wireproof.run.probe import (
    ProbedCase,
    ProbeResult,
    Standing,
    advice,
    findings,
    fix_of,
    judged,
    largest_failure,
)
from wireproof.suggestions import suggestion
from wireproof.wire.text import counted, escape_unsafe

PROBE_SECTIONS: Final[dict[Standing, str]] = {
    "over-claimed": "claimed and fails",
    "fails-in-part": "claimed and fails in part",
    "under-claimed": "not claimed and answered",
    "found": "not declared",
    "agrees": "as claimed",
    "absent": "not claimed and does not work",
}
"""The sections of `probe`, the most urgent first."""


@click.group("adapters", invoke_without_command=True)
@format_option
@click.pass_context
def command(ctx: click.Context, form: str) -> None:
    """List adapters and whether each can run here, then their options and what else this machine lacks.

    Each thing that is missing has the command that installs it. It only disables what needs it; the exit code
    is 0. As JSON, the adapters alone.
    """
    if ctx.invoked_subcommand is not None:
        return
    known = list(entries().values())
    rows = [_row(entry) for entry in known]
    if form == "json":
        names = ("name", "state", "version", "about", "options")
        options = [[attrs.asdict(one) for one in entry.options] for entry in known]
        print_json(
            [dict(zip(names, (*row, own), strict=True)) for row, own in zip(rows, options, strict=True)]
        )
        return
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in rows:
        head = "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=False))
        line = f"{head}  {row[3]}"
        click.echo(line if room is None or len(line) <= room else _wrapped("  ".join(row[:3]), row[3], room))
    _print_options(known)
    _print_machine()


def _wrapped(head: str, about: str, room: int) -> str:
    """Return a row that is wider than the terminal: its description in lines of its own."""
    indent = " " * 4
    lines = textwrap.wrap(about, max(room, 2 * len(indent)), initial_indent=indent, subsequent_indent=indent,
                          break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return "\n".join((head.rstrip(), *lines))


def _print_machine() -> None:
    rows = examined()
    here = [f"{row.name} {row.version}".strip() for row in rows if row.state == "ready"]
    click.echo(f"here: {', '.join(here)}; {rows[0].purpose}")
    lacking = [row for row in rows if row.state != "ready"]
    if lacking:
        click.echo("missing, with its purpose and what provides it:")
    for row in lacking:
        click.echo(f"  {row.name}: {row.purpose}")
        if row.fix:
            click.echo(f"    {row.fix}")


def _print_options(known: list[Entry]) -> None:
    owners: dict[tuple[AdapterOption, ...], list[str]] = {}
    for entry in known:
        owners.setdefault(entry.options, []).append(entry.name)
    for options, names in owners.items():
        if options:
            words = ((one.name, re.split("[|]|[.]{2}", one.values)[-1]) for one in options[:2])
            example = ",".join(map("=".join, words))
            click.echo(f"options, as in {names[0]}:{example}, of {', '.join(names)}:")
        for one in options:
            click.echo(f"  {f'{one.name}={one.values}':<42}  {one.about} (without it {one.default})")


def _row(entry: Entry) -> tuple[str, str, str, str]:
    stands = ready(entry)
    about = f"{', '.join(entry.formats)}: {entry.description}"
    lacks = f" -> {stands.fix}" if stands.fix else ""
    return entry.name, stands.state, stands.version, about + lacks


@command.command("prepare")
@click.argument("names", nargs=-1, metavar="NAME…", shell_complete=adapter_names)
@click.option("--all", "every", is_flag=True, help="every adapter with a driver whose tools are installed")
def preparing(names: tuple[str, ...], every: bool) -> int:
    """Build the drivers of the adapters NAME…, start each once, and print the seconds of each build.

    A driver is built once for each version of its source, into the user's cache. Exit code 4 if one fails.
    """
    if bool(names) == every:
        raise click.UsageError("name the adapters to build, or give --all")
    rows = [resolve(name) for name in names] or [entry for entry in entries().values() if entry.prepare]
    return deciding_code([_prepared(entry, asked=not every) for entry in rows])


def _prepared(entry: Entry, *, asked: bool) -> Exit:
    """Build one driver; if a tool is missing, `--all` leaves it out, and naming it is an error."""
    stands = ready(entry)
    if stands.state == "not here":
        click.echo(f"{entry.name}: left out: {stands.fix}", err=asked)
        return Exit.ADAPTER if asked else Exit.CONFORMS
    if entry.prepare is None:
        click.echo(f"{entry.name}: ready, nothing to build")
        return Exit.CONFORMS
    announce_builds((entry.name,))
    start = time.monotonic()
    try:
        built(entry.name, entry.prepare)
        controller = open_adapter(entry.name, hello_seconds=60.0)  # the machine may still be busy
        seconds = time.monotonic() - start  # the first start may compile, too
    except AdapterError as error:
        click.echo(f"wireproof: {error}", err=True)
        return Exit.ADAPTER
    controller.close()
    done = "already built" if stands.state == "ready" else f"built in {seconds:.1f} s"
    click.echo(f"{entry.name} {controller.hello.version}: {done}")
    return Exit.CONFORMS


@command.command("versions")
@click.argument("name", metavar="ADAPTER", shell_complete=adapter_names)
def listing_versions(name: str) -> None:
    """List the releases of the library behind ADAPTER, the oldest first, as its registry has them.

    `check ADAPTER@VERSION` checks one of them. Pre-releases are left out.
    """
    library = resolve(name).library
    if library is None:
        raise UnknownAdapter(f"{name}: it names no library, so its releases are unknown")
    for version in releases(library):
        click.echo(version)


@command.command("clean")
@click.argument("server", metavar="SERVER")
@click.argument("run", required=False, default="", metavar="[RUN]")
def cleaning(server: str, run: str) -> int:
    """Show what runs left on a live SERVER, such as kafka-broker:HOST:PORT, or delete what RUN left.

    RUN is the number in its names, `wireproof-RUN-…`. A run that has not ended yet is shown too. Exit code 4
    if something cannot be deleted.
    """
    entry = resolve(server)
    if not entry.cleanup:
        raise UnknownAdapter(f"{server} is no live server: runs leave nothing there")
    names = names_on(entry)
    runs = runs_of(names)
    if not run:
        for token, count in sorted(runs.items()):
            click.echo(f"{PREFIX}{token}-…  {count}; delete: wireproof adapters clean {server} {token}")
        if not runs:
            click.echo(f"{server}: nothing of runs is there")
        return Exit.CONFORMS
    if run not in runs:
        raise UnknownAdapter(f"{server}: nothing is named {PREFIX}{run}-…")
    clean_up(evolve(entry, cleanup=(*entry.command[:-1], run, "clean")))
    stayed = runs_of(names_on(entry)).get(run, 0)
    click.echo(f"{server}: {runs[run] - stayed} of {runs[run]} named {PREFIX}{run}-… are deleted")
    return Exit.ADAPTER if stayed else Exit.CONFORMS


@command.command("new")
@click.argument("language", metavar="LANG", type=click.Choice(list(TEMPLATES)))
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--client", is_flag=True, help="a program that consumes and produces by a library of Kafka")
@click.option(
    "--format",
    "format_id",
    metavar="FORMAT",
    help="with a place for a codec of FORMAT, such as kafka.batch/v2",
)
def making(language: str, folder: Path, *, client: bool, format_id: str | None) -> None:
    """Write the adapter template of LANG to DIR: one file with a small codec, to be replaced by your own.

    With --format, the file has the shape of the values of that format and a place for your codec. With
    --client, a client program: one file with a consumer and a producer, in which you replace the library by
    your own. Prints the commands that build it and check it against its cases.
    """
    if client and format_id:
        raise click.UsageError("--client takes no --format: a client program is checked by what it consumes")
    row = FORMATS.get(format_id) if format_id else None
    if format_id and not row:
        revisions = [name for name, row in FORMATS.items() if row.name == format_id.rstrip("/")]
        near = suggestion(format_id, FORMATS, "list them with `wireproof show`")
        advice = f"name one of {', '.join(revisions)}" if revisions else near
        raise click.BadParameter(f"{format_id} is no format and revision: {advice}", param_hint="--format")
    template = (client_templates() if client else TEMPLATES)[language]
    write(template, folder, row)
    note = (
        "a consumer and a producer of a library; put your library in its place"
        if client
        else "an adapter without a codec; write decode, and add it to the claims"
        if row
        else "an adapter whose codec conforms; replace the codec by your own"
    )
    needed = f"; this one needs {template.runtime}" if template.runtime else ""
    click.echo(f"{folder / template.source}: {note}{needed}. Next:")
    for step in filter(None, (template.library, template.command(template.build, folder))):
        click.echo(step)
    check = f"wireproof check {shlex.quote(template.spec(folder))}"
    click.echo(f"{check} --run {shlex.quote(f'{row.format_id}/**' if row else template.cases)}")
    if template.exam:
        click.echo(f"{check} --no-families --run {shlex.quote(template.exam)}  # the whole exam")
    if row:
        click.echo(f"wireproof show {_shown_case(row)}  # its bytes, and the value to answer")
    if template.missing:
        click.echo(f"wireproof: this needs {' and '.join(template.missing)} on the PATH", err=True)


def _shown_case(row: Format) -> str:
    """Return the id of a case that shows an ordinary value: the one that most refused cases are made of."""
    cases = [case for case in suite_of(()).of_formats(lambda name: name == row.name)
             if case.format_id == row.format_id and case.op == "decode"]  # fmt: skip
    twins = Counter(case.twin for case in cases)
    shown = [case for case in cases if isinstance(case.expect, Accept) and not case.needs]
    return max(shown, key=lambda case: twins[case.id]).id if shown else row.format_id


@command.command("probe")
@click.argument("name", metavar="ADAPTER", shell_complete=adapter_names)
@selection_options
@click.option("--in-process", is_flag=True, help="call a Python adapter in this process")
def probing(
    name: str,
    patterns: tuple[str, ...],
    skipped: tuple[str, ...],
    folders: tuple[Path, ...],
    in_process: bool,
) -> int:
    """Verify that ADAPTER supports what it declares, with the cases of its formats, declared or not.

    Large cases are left out. Prints claims that fail, abilities that are not claimed, accepted cases that
    must be refused, and wrong revisions, observes, errors and windows; below each, how to fix it. Exit code
    1 if a claim is wrong.
    """
    suite = suite_of(folders)
    announce_builds((name,))
    with Engine(name, in_process=in_process, check_claims=False) as engine:
        hello = engine.hello
        cases = _probing(selection(suite, patterns, skipped), () if patterns else hello.revisions)
        asked = list(engine.ask(cases))
        rows = judged(hello, asked)
        found = findings(hello, rows)
        more = advice(engine, asked)
    number = sum(one.standing not in ("agrees", "absent", "found") for one in found) + len(more)
    counts = f"{counted(len(cases), 'case', grouped=False)}, {counted(number, 'finding')}"
    click.echo(f"{hello.name} {hello.version}: {counts}")
    if group := largest_failure(rows):
        _print_failure(group)
    for standing, title in PROBE_SECTIONS.items():
        previous = ""
        for finding in (one for one in found if one.standing == standing):
            fix = fix_of(finding)
            click.echo(f"{title}: {_said(finding)}" + (f"\n  fix: {fix}" if fix and fix != previous else ""))
            previous = fix
    for line in _wrongly(found, suite):
        click.echo(f"accepted and must be refused: {line}")
    for one in more:
        title = "does not hold" if one.wrong else "declares less than it supports"
        click.echo(f"{title}: {one.text}" + (f"\n  fix: {one.fix}" if one.fix else ""))
    for note in engine.notes:
        click.echo(f"note: {note}")
    wrong = any(one.standing == "over-claimed" for one in found) or any(one.wrong for one in more)
    return Exit.FAILS if wrong else Exit.CONFORMS


def _probing(cases: tuple[Case, ...], format_id: Container[str]) -> list[Case]:
    """Return the cases of the claimed formats whose answer is not open; without claims, of all formats.

    Large cases take most of the time, and show no claim that others do not.
    """
    return [
        case
        for case in cases
        if case.level in ("must", "should")
        and "resource" not in case.flags
        and not is_large(case)
        and (not format_id or case.format_id in format_id)
    ]


def _print_failure(group: Sequence[ProbedCase]) -> None:
    verdict = group[0].verdict
    cases = counted(len(group), "case", grouped=False)
    where = f" at {without_indices(verdict.path)}" if verdict.path else ""
    click.echo(f"most failures, {cases}: {verdict.label}{where}, such as {group[0].case.id}")
    for label, text in (("want", verdict.want), ("got", verdict.got)):
        if text:
            click.echo(f"  {label:<5}{escape_unsafe(text)}")


def _said(finding: ProbeResult) -> str:
    text = f"{finding.format_id} {finding.kind} {finding.name}: {finding.right} of {finding.asked} right"
    if finding.wrongly and not finding.works:
        text += f", and {len(finding.wrongly)} accepted that must be refused, such as {finding.wrongly[0]}"
    return text


def _wrongly(found: tuple[ProbeResult, ...], suite: Suite) -> Iterator[str]:
    """Yield the cases that are accepted by mistake, by the class of the expected refusal."""
    names = sorted({name for finding in found for name in finding.wrongly})
    classes: dict[str, list[str]] = {}
    for name in names:
        expect = suite.by_id[name].expect
        classes.setdefault(expect.cls if isinstance(expect, Reject) else "", []).append(name)
    for cls, ids in sorted(classes.items()):
        more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
        yield f"{cls}: {', '.join(ids[:3])}{more}"
