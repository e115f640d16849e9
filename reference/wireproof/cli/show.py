"""`wireproof show`: print one case."""

import json
import sys
from pathlib import Path
from typing import Final

import click

from wireproof.cases.case import Case, Generated, Reject, Steps, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.generate.recipe import recipe_json
from wireproof.cases.id_patterns import PatternError, select
from wireproof.cases.sources import cited
from wireproof.cli.fixtures_option import with_fixtures
from wireproof.cli.options import case_ids, suite_of
from wireproof.family import deferred
from wireproof.report.field_listing import field_lines
from wireproof.report.hexdump import data_of, layout_of
from wireproof.report.sanitize import escape_unsafe
from wireproof.report.step_table import step_lines
from wireproof.runner.judge import refusal_verdict
from wireproof.runner.summaries import short_expect

ON_TERMINAL: Final = 512
"""Bytes of an input that are shown on a terminal."""

find_case = deferred("wireproof.runner.case_lookup:find_case")
"""It imports the families and the properties, which completion of an id does not need."""


@click.command("show")
@click.argument("name", metavar="ID|TOKEN", shell_complete=case_ids)
@with_fixtures
def command(name: str, folders: tuple[Path, ...]) -> None:
    """Show a case: its description, its rule, its bytes with their fields, and the expectation."""
    suite = suite_of(folders)
    case = case_named(suite, name)
    rows = (
        ("id", case.id), ("title", case.title), ("why", case.why),
        ("op", f"{case.op} {case.format_id}, {case.profile}"),
        ("level", case.level), ("flags", ", ".join(case.flags)), ("needs", ", ".join(case.needs)),
        ("twin", case.twin or ""), ("source", f"{case.source.origin}, {case.source.document}"),
        ("witness", ", ".join(f"{one.name} {one.version}" for one in case.source.witnesses)),
    )  # fmt: skip
    for label, text in rows:
        if text:
            click.echo(f"{label:<8} {escape_unsafe(text)}")
    for rule_id in case.rules:
        rule = suite.rules.get(rule_id)
        click.echo(escape_unsafe(f"rule     {rule_id}: {rule.text if rule else '(unknown)'}"))
        for place in cited(rule.cites, suite.sources) if rule else ():
            click.echo(f"{'':9}{place.title}: {place.url}")
    click.echo(f"want     {short_expect(case.expect)}")
    if not isinstance(case.expect, Reject) and not isinstance(case.input, Steps):
        click.echo(f"refusal  {_refusal_text(case)}")
    _input(case)


def case_named(suite: Suite, name: str) -> Case:
    """Return the case of that name; raises `PatternError` with a suggestion."""
    case: Case | None = find_case(suite, name)
    if case is None:
        select(suite, [name])
        raise PatternError(f"no case {name}: `show` takes one id; list them with `wireproof cases PATTERN`")
    return case


def _refusal_text(case: Case) -> str:
    """Return whether a refusal of a case that may be accepted passes."""
    verdict = refusal_verdict(case)
    return f"passes, as {verdict.label}" if verdict.passing else f"fails, at level {case.level}"


def hex_text(data: bytes, *, terminal: bool) -> str:
    """Return the bytes as hex: all for a pipe or a file, the first ones for a terminal."""
    more = len(data) - ON_TERMINAL
    if not terminal or more <= 0:
        return data.hex()
    return f"{data[:ON_TERMINAL].hex()}… {more:,} more; a pipe or a file gets all"


def _input(case: Case) -> None:
    if isinstance(case.input, Generated):
        click.echo(f"input    {case.input.size:,} bytes, sha256 {case.input.sha256}, made from this recipe:")
        click.echo(json.dumps(recipe_json(case.input.recipe), indent=1))
        return
    if isinstance(case.input, Steps):
        for step in step_lines(case):
            click.echo(step)
        return
    if isinstance(case.input, Value):
        click.echo(json.dumps(case.input.value, indent=1))
        return
    click.echo(f"bytes    {hex_text(data_of(case) or b'', terminal=sys.stdout.isatty())}")
    layout = layout_of(case)
    for line in field_lines(layout, layout.rejected.at if layout.rejected else None) if layout else ():
        click.echo(str(line))
