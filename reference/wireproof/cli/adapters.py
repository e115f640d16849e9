"""`wireproof adapters`: the registered adapters, and what one claims against what it does."""

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Final

import click

from wireproof.adapters.entry import Entry
from wireproof.adapters.probe import Finding, Standing, probe
from wireproof.adapters.registry import entries
from wireproof.cases.case import Case, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cli.options import selecting, selection, suite_of
from wireproof.trial.engine import Engine
from wireproof.trial.exit_codes import Exit

STANDINGS: Final[dict[Standing, str]] = {
    "over-claimed": "claimed and fails",
    "under-claimed": "not claimed and answered",
    "found": "nothing said",
    "agrees": "as claimed",
}
"""The sections of `probe`, what needs a look first."""


@click.group("adapters", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the registered adapters, mutants too: name, formats, what it is, what it needs."""
    if ctx.invoked_subcommand is None:
        rows = list(entries().values())
        width = max(len(entry.name) for entry in rows)
        for entry in rows:
            click.echo(
                f"{entry.name:<{width}}  {', '.join(entry.formats)}: {entry.description}{_needs(entry)}"
            )


def _needs(entry: Entry) -> str:
    if entry.extra:
        return f" (pip install 'wireproof[{entry.extra}]')"
    return " (is built when first used)" if entry.prepare else ""


@command.command("probe")
@click.argument("name", metavar="ADAPTER")
@selecting
@click.option("--in-process", is_flag=True, help="call a Python adapter in this process")
def probing(
    name: str,
    patterns: tuple[str, ...],
    skipped: tuple[str, ...],
    folders: tuple[Path, ...],
    in_process: bool,
) -> int:
    """Ask ADAPTER for everything in the formats that it claims, claimed or not.

    Prints what is claimed and fails, what is not claimed and is answered all the same, and what is accepted
    that must be refused. Exit code 1 if something that is claimed does not work.
    """
    suite = suite_of(folders)
    with Engine(name, in_process=in_process) as engine:
        cases = _probing(selection(suite, patterns, skipped), () if patterns else engine.hello.revisions)
        findings = probe(engine, cases)
        click.echo(
            f"{engine.hello.name} {engine.hello.version}: {len(cases)} cases, {len(findings)} findings"
        )
    for standing, title in STANDINGS.items():
        for finding in (one for one in findings if one.standing == standing):
            click.echo(f"{title}: {_said(finding)}")
    for line in _wrongly(findings, suite):
        click.echo(f"accepted and must be refused: {line}")
    return Exit.FAILS if any(one.standing == "over-claimed" for one in findings) else Exit.CONFORMS


def _probing(cases: tuple[Case, ...], joined: Container[str]) -> list[Case]:
    """The cases whose answer is not open, of the claimed formats, or else of all that were chosen."""
    return [
        case
        for case in cases
        if case.level in ("must", "should")
        and "resource" not in case.flags
        and (not joined or case.joined in joined)
    ]


def _said(finding: Finding) -> str:
    text = f"{finding.joined} {finding.kind} {finding.name}: {finding.accepted} of {finding.asked} accepted"
    if finding.differs:
        text += f", {len(finding.differs)} with another value, such as {finding.differs[0]}"
    if finding.wrongly and not finding.works:
        text += f", and {len(finding.wrongly)} that must be refused, such as {finding.wrongly[0]}"
    return text


def _wrongly(findings: tuple[Finding, ...], suite: Suite) -> Iterator[str]:
    """The wrongly accepted cases by the class of their refusal."""
    names = sorted({name for finding in findings for name in finding.wrongly})
    classes: dict[str, list[str]] = {}
    for name in names:
        expect = suite.by_id[name].expect
        classes.setdefault(expect.cls if isinstance(expect, Reject) else "", []).append(name)
    for cls, found in sorted(classes.items()):
        yield f"{cls}: {', '.join(found)}"
