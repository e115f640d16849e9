"""`wireproof rule`: one rule, or one sentence of a format document, with its sources and cases."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from wireproof.cases.case import Accept, Case, Either, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_sentences import Coverage, count_line, coverages
from wireproof.cases.rules import Rule
from wireproof.cases.sources import cited
from wireproof.cli.fixtures_option import with_fixtures
from wireproof.cli.options import format_option, print_json, suite_of
from wireproof.report.traceability import sentence_json
from wireproof.suggestions import suggestion

LIST = "list them with `wireproof rule --sentences`, or by `wireproof cases`"
"""The advice for a word that resembles no rule."""

Lines = Iterator[tuple[str, str]]
"""The lines about a rule or a sentence, each with its label; a line without a text is not shown."""


@click.command("rule")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--sentences", "listing", is_flag=True, help="list the sentences of the format documents")
@format_option
@with_fixtures
def command(name: str | None, listing: bool, form: str, folders: tuple[Path, ...]) -> None:
    """Show a rule: its text, the documents that it comes from with their links, and its cases.

    ID is a rule, such as kafka.v2.crc, or a sentence of a format document, such as kdoc-12.
    """
    if (name is None) != listing:
        raise click.UsageError("needs the ID of a rule, or --sentences")
    suite = suite_of(folders)
    rows = coverages(suite)
    if listing:
        _list(rows, suite, form)
        return
    for label, text in _lines(str(name), rows, suite):
        if text:
            click.echo(f"{label:<9}{text}")


def _list(rows: Sequence[Coverage], suite: Suite, form: str) -> None:
    """Print all sentences."""
    if form == "json":
        print_json([sentence_json(row, suite) for row in rows])
        return
    for row in rows:
        click.echo(f"{row.sentence.id:<14} {row.state:<9} {len(row.cases):>4}  {row.sentence.text}")
    click.echo(count_line(suite), err=True)


def _lines(name: str, rows: Sequence[Coverage], suite: Suite) -> Lines:
    """Return the lines of a rule or a sentence; raise `UsageError` if there is none of this name."""
    found = {row.sentence.id: row for row in rows}
    if name in found:
        return sentence_rows(found[name], suite)
    if name in suite.rules:
        return rule_rows(suite.rules[name], rows, suite)
    known = [*suite.rules, *found]
    raise click.UsageError(f"no rule is called {name}: {suggestion(name, known, LIST)}")


def rule_rows(rule: Rule, rows: Iterable[Coverage], suite: Suite) -> Lines:
    """Yield the lines of a rule."""
    yield "rule", rule.id
    yield "text", rule.text
    yield "kind", rule.kind
    yield "basis", rule.basis
    yield "level", f"{rule.level}, in every case of a live server" if rule.level else ""
    yield "reason", rule.reason
    yield from _sources(rule.cites, suite)
    yield "page", f"{rule.document} {rule.section}"
    yield "practice", rule.practice
    yield "no cases", rule.exclusion
    for row in rows:
        if rule.id in row.sentence.rules:
            yield "sentence", f"{row.sentence.id}: {row.sentence.text}"
    yield from _cases(suite.by_rule.get(rule.id, ()))


def sentence_rows(row: Coverage, suite: Suite) -> Lines:
    """Yield the lines of a sentence of a format document."""
    sentence = row.sentence
    yield "sentence", sentence.id
    yield "text", sentence.text
    yield from _sources(sentence.cites, suite)
    yield "state", row.state
    yield "no cases", sentence.exclusion
    yield "missing", sentence.open
    yield "one kind", sentence.one_kind
    yield from (("rule", name) for name in sentence.rules)
    yield from _cases(row.cases)


def _sources(cites: Iterable[str], suite: Suite) -> Lines:
    return (("source", f"{place.title}: {place.url}") for place in cited(cites, suite.sources))


def _cases(cases: Iterable[Case]) -> Lines:
    return (("case", f"{case.level:<6} {_effect(case):<7} {case.id}") for case in cases)


def _effect(case: Case) -> str:
    match case.expect:
        case Accept():
            return "accept"
        case Reject():
            return "refuse"
        case Either():
            return "either"
