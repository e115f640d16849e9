"""`wireproof show`: print a case, a folder of cases, a rule or a format."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click

from wireproof.cases.case import Case, Generated, Reject, Steps, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import PatternError, select
from wireproof.cases.rules import cited
from wireproof.cli.cases import case_line
from wireproof.cli.common.general_options import with_fixtures
from wireproof.cli.common.options import case_ids, suite_of
from wireproof.family import deferred
from wireproof.formats import FORMATS, matching_ids
from wireproof.inspect.field_listing import field_lines
from wireproof.inspect.hexdump import data_of, layout_of
from wireproof.installed_families import INSTALLED
from wireproof.judge.judge import refusal_verdict
from wireproof.lint.sources import coverages
from wireproof.report.case_view import (
    claim_lines,
    rule_lines,
    sentence_lines,
    step_lines,
    value_lines,
    wanted_lines,
)
from wireproof.schema.layout import all_layouts
from wireproof.schema.struct import StructLayout
from wireproof.strict_parsing import to_tree
from wireproof.suggestions import suggestion
from wireproof.wire.text import counted, escape_unsafe

ON_TERMINAL: Final = 512
"""Bytes of an input that are shown on a terminal."""

find_case = deferred("wireproof.run.case_lookup:find_case")
"""It imports the families and the properties, which completion of an id does not need."""


@click.command("show")
@click.argument("name", metavar="[NAME]", required=False, shell_complete=case_ids)
@click.option("--source", is_flag=True, help="print the functions that read and write a format")
@with_fixtures
def command(name: str | None, *, source: bool, folders: tuple[Path, ...]) -> None:
    """Show what NAME is: a case, a folder of cases, a rule, or a format. Without NAME, show the formats.

    NAME is an id or a token of a case, a folder such as kafka.batch/v2/crc, a rule such as kafka.v2.crc, a
    sentence of a format document such as kdoc-12, or a format such as kafka.batch or kafka.batch/v2: its
    operations, codecs and features are the words that an adapter can claim.
    """
    if source:
        click.echo("\n\n".join(map(_codec_source, matching_ids((name or "*",)))), nl=False)
        return
    if name is None:
        for fault in INSTALLED.faults:
            click.echo(f"wireproof: {fault}", err=True)
        _formats(tuple(FORMATS))
        return
    suite = suite_of(folders)
    if case := find_case(suite, name):
        _case(case, suite)
    elif format_ids := [one for one, row in FORMATS.items() if name.rstrip("/") in (one, row.name)]:
        _formats(format_ids)
        cases = [case for case in suite.cases if case.format_id in format_ids]
        click.echo()
        for folder, number in Counter(case.id.rpartition("/")[0] for case in cases).items():
            click.echo(f"{folder:<44} {counted(number, 'case')}")
    elif cases := [case for case in suite.cases if case.id.startswith(f"{name.rstrip('/')}/")]:
        for case in cases:
            click.echo(case_line(case))
    else:
        _rule(name, suite)


def _formats(format_ids: Sequence[str]) -> None:
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in claim_lines(format_ids, room):
        click.echo(line)


def _codec_source(format_id: str) -> str:
    """Return the compiled functions of a format and of its structures, and whether there are others.

    Those of a structure are printed once, before what calls them.
    """
    layout = FORMATS[format_id].layout
    every = list(all_layouts(layout))
    inner = dict.fromkeys(one for one in reversed(every) if one is not layout)
    parts = [f"# {one.name}\n\n{one.inner_codec.source}" for one in inner if isinstance(one, StructLayout)]
    if isinstance(layout, StructLayout):
        parts.append(f"# {format_id}: {layout.name}, {layout.cites}\n\n{layout.codec.source}")
    elif parts:
        parts.append(f"# {format_id}: what is around these structures is not made from a description\n")
    else:
        parts.append(f"# {format_id}: its codec is not made from a description\n")
    return "\n\n".join(parts)


def _rule(name: str, suite: Suite) -> None:
    """Print a rule or a sentence; raise `PatternError` with a suggestion for a name of nothing."""
    sentences = {row.sentence.id: row for row in coverages(suite)}
    if name in suite.rules:
        lines = rule_lines(suite.rules[name], suite)
    elif name in sentences:
        lines = sentence_lines(sentences[name], suite)
    else:
        if "/" in name:
            case_named(suite, name)
        known = [*FORMATS, *suite.rules, *sentences]
        advice = "list the formats with `wireproof show`, the cases with `wireproof cases`"
        raise PatternError(f"no case, rule or format is called {name}: {suggestion(name, known, advice)}")
    for label, text in lines:
        if text:
            click.echo(f"{label:<9}{text}")


def _case(case: Case, suite: Suite) -> None:
    rows = (
        ("id", case.id), ("title", case.title), ("why", case.why),
        ("op", f"{case.op} {case.format_id}, {case.profile}"),
        ("level", case.level), ("flags", ", ".join(case.flags)), ("needs", ", ".join(case.needs)),
        ("twin", case.twin or ""),
    )  # fmt: skip
    _rows(rows)
    for line in wanted_lines(case):
        click.echo(escape_unsafe(line))
    if not isinstance(case.expect, Reject) and not isinstance(case.input, Steps):
        verdict = refusal_verdict(case)
        text = f"passes, as {verdict.label}" if verdict.passing else f"fails, at level {case.level}"
        click.echo(f"refusal  {text}")
    source = case.source
    witnesses = ", ".join(f"{one.name} {one.version}" for one in source.witnesses)
    _rows((
        ("source", f"{source.origin}, {source.document}"), ("vectors", ", ".join(source.vectors)),
        ("differs", source.differs), ("bugs", ", ".join(source.bugs)), ("witness", witnesses),
    ))  # fmt: skip
    for rule_id in case.rules:
        rule = suite.rules.get(rule_id)
        click.echo(escape_unsafe(f"rule     {rule_id}: {rule.text if rule else '(unknown)'}"))
        for place in cited(rule.cites, suite.sources) if rule else ():
            click.echo(f"{'':9}{place.title}: {place.url}")
    _input(case)


def _rows(rows: Iterable[tuple[str, str]]) -> None:
    for label, text in rows:
        if text:
            click.echo(f"{label:<8} {escape_unsafe(text)}")


def case_named(suite: Suite, name: str) -> Case:
    case: Case | None = find_case(suite, name)
    if case is None:
        select(suite, [name])
        raise PatternError(f"no case {name}: `show` takes one id; list them with `wireproof cases PATTERN`")
    return case


def hex_text(data: bytes, *, terminal: bool) -> str:
    """Return the bytes as hex: all for a pipe or a file, the first ones for a terminal."""
    more = len(data) - ON_TERMINAL
    if not terminal or more <= 0:
        return data.hex()
    return f"{data[:ON_TERMINAL].hex()}… {more:,} more; a pipe or a file gets all"


def _input(case: Case) -> None:
    match case.input:
        case Generated(recipe, size, digest):
            click.echo(f"input    {size:,} bytes, sha256 {digest}, made from this recipe:")
            click.echo(json.dumps(to_tree(recipe, without_defaults=True), indent=1))
        case Steps():
            for step in step_lines(case):
                click.echo(step)
        case Value(value):
            for text in value_lines(value):
                click.echo(escape_unsafe(text))
        case _:
            click.echo(f"bytes    {hex_text(data_of(case) or b'', terminal=sys.stdout.isatty())}")
            if layout := layout_of(case):
                for line in field_lines(layout, layout.rejected.at if layout.rejected else None):
                    click.echo(str(line))
