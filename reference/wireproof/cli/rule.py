"""`wireproof rule`: one rule, its sources and its cases."""

from collections.abc import Iterator
from pathlib import Path

import click

from wireproof.cases.case import Accept, Case, Either, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import Rule
from wireproof.cases.sources import cited
from wireproof.cli.options import suite_of, with_fixtures
from wireproof.suggestions import suggestion

LIST = "list them with `wireproof docs DIR`"
"""The advice for a word that resembles no rule."""


@click.command("rule")
@click.argument("name", metavar="ID")
@with_fixtures
def command(name: str, folders: tuple[Path, ...]) -> None:
    """Show a rule: its text, the documents that it comes from with their links, and its cases."""
    suite = suite_of(folders)
    rule = suite.rules.get(name)
    if rule is None:
        raise click.UsageError(f"no rule is called {name}: {suggestion(name, suite.rules, LIST)}")
    for label, text in rule_rows(rule, suite):
        if text:
            click.echo(f"{label:<9}{text}")


def rule_rows(rule: Rule, suite: Suite) -> Iterator[tuple[str, str]]:
    """Yield the lines of a rule, each with its label; a line without a text is not shown."""
    yield "rule", rule.id
    yield "text", rule.text
    yield "kind", rule.kind
    yield "basis", rule.basis
    yield "reason", rule.reason
    for place in cited(rule.cites, suite.sources):
        yield "source", f"{place.title}: {place.url}"
    yield "page", f"{rule.document} {rule.section}"
    yield "practice", rule.practice
    yield "no cases", rule.exclusion
    for case in suite.cases:
        if rule.id in case.rules:
            yield "case", f"{case.level:<6} {_effect(case):<7} {case.id}"


def _effect(case: Case) -> str:
    match case.expect:
        case Accept():
            return "accept"
        case Reject():
            return "refuse"
        case Either():
            return "either"
