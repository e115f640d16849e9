"""The lines about a rule, or about a sentence of a format document, with their sources and cases."""

from collections.abc import Iterable, Iterator

from wireproof.cases.case import Accept, Case, Either, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_sentences import Coverage, coverages
from wireproof.cases.rules import Rule
from wireproof.cases.sources import cited

Lines = Iterator[tuple[str, str]]
"""The lines about a rule or a sentence, each with its label; a line without a text is not shown."""


def rule_lines(rule: Rule, suite: Suite) -> Lines:
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
    for row in coverages(suite):
        if rule.id in row.sentence.rules:
            yield "sentence", f"{row.sentence.id}: {row.sentence.text}"
    yield from _cases(suite.by_rule.get(rule.id, ()))


def sentence_lines(row: Coverage, suite: Suite) -> Lines:
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
