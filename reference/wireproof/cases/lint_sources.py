"""Checks of the sources of rules: every citation resolves, and what decides a `must` case may decide it.

architecture.md#verdicts has the levels.
"""

from collections.abc import Iterator

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_problem import Problem
from wireproof.cases.rules import Rule
from wireproof.cases.sources import Citation, Sources, allows_must, resolve

SUITE_OPS = frozenset({"scan"})
"""Operations that the suite itself defines: its own rules decide what their answers are."""


def check_sources(suite: Suite) -> Iterator[Problem]:
    """Check the citations and the basis of each rule, and the levels of the cases that the rules decide."""
    cited = {}
    for rule in suite.rules.values():
        cited[rule.id], problems = _citations(rule, suite.sources)
        yield from problems
        yield from _basis(rule, cited[rule.id])
    weak = {rule.id for rule in suite.rules.values() if not allows_must(rule.basis, cited[rule.id])}
    for case in suite.cases:
        yield from _level(case, suite, weak)


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
    if not rule.basis:
        yield Problem(rule.id, "has no basis: text, standard, code or suite")
    elif rule.basis != "suite" and rule.basis not in {citation.kind for citation in citations}:
        yield Problem(rule.id, f"its basis is {rule.basis}, and it cites no document of that kind")


def _level(case: Case, suite: Suite, weak: set[str]) -> Iterator[Problem]:
    """Check that a `must` case is decided by rules whose basis allows it."""
    if case.level != "must":
        return
    for name in case.rules:
        if name in weak and not (suite.rules[name].basis == "suite" and case.op in SUITE_OPS):
            basis = suite.rules[name].basis or "unknown"
            yield Problem(case.id, f"is must, which the basis of {name} ({basis}) does not allow")
