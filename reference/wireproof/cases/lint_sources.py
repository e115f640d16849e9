"""Checks of the sources of rules: every citation resolves, and a basis has a document of its kind.

`unbacked_cases` lists `must` cases with a rule whose basis does not allow that: architecture.md#verdicts.
"""

from collections.abc import Iterator

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_problem import Problem
from wireproof.cases.rules import Rule
from wireproof.cases.sources import Citation, Sources, allows_must, cited, resolve

SUITE_OPS = frozenset({"scan"})
"""Operations that the suite itself defines: its own rules decide what their answers are."""


def check_sources(suite: Suite) -> Iterator[Problem]:
    """Check the citations and the basis of each rule."""
    for rule in suite.rules.values():
        citations, problems = _citations(rule, suite.sources)
        yield from problems
        yield from _basis(rule, citations)


def _citations(rule: Rule, sources: Sources) -> tuple[list[Citation], list[Problem]]:
    found, problems = [], []
    for text in rule.cites:
        try:
            found.append(resolve(text, sources))
        except ValueError as error:
            problems.append(Problem(rule.id, str(error)))
    return found, problems


def _basis(rule: Rule, citations: list[Citation]) -> Iterator[Problem]:
    """Check that a rule with a document as its basis cites one of that kind."""
    if rule.basis not in {"", "suite"} and rule.basis not in {citation.kind for citation in citations}:
        yield Problem(rule.id, f"its basis is {rule.basis}, and it cites no document of that kind")


def unbacked_cases(suite: Suite) -> list[Case]:
    """Return the `must` cases of which a rule has a basis that does not allow `must`."""
    weak = {
        rule.id: SUITE_OPS if rule.basis == "suite" else frozenset()
        for rule in suite.rules.values()
        if not allows_must(rule.basis, cited(rule.cites, suite.sources))
    }
    return [
        case
        for case in suite.cases
        if case.level == "must" and any(name in weak and case.op not in weak[name] for name in case.rules)
    ]
