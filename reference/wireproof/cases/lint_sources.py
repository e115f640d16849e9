"""Checks of the sources of rules: every citation resolves, and a basis has a document of its kind.

`unbacked_cases` lists `must` cases with a rule whose basis does not allow that: architecture.md#verdicts.
"""

from collections import Counter
from collections.abc import Iterator

from attrs import evolve

from wireproof.cases.case import Accept, Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_problem import Problem
from wireproof.cases.rules import Rule
from wireproof.cases.sources import BASES, Citation, Sources, allows_must, cited, resolve

SUITE_OPS = frozenset({"scan"})
"""Operations that the suite itself defines: its own rules decide what their answers are."""


def check_sources(suite: Suite) -> Iterator[Problem]:
    """Check the citations and the basis of each rule, and the level of each case against them.

    A rule without a basis is not held to this, so that a folder of somebody's own cases needs no sources.
    """
    for rule in suite.rules.values():
        citations, problems = _citations(rule, suite.sources)
        yield from problems
        yield from _basis(rule, citations)
        if rule.level == "must" and not allows_must(rule.basis, citations):
            yield Problem(rule.id, f"its level is must, which its basis {rule.basis} does not allow")
    for case, rules in unbacked_cases(suite):
        if stated := [name for name in rules if suite.rules[name].basis]:
            yield Problem(case.id, f"its level is must, which the basis of {stated[0]} does not allow")


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


def unbacked_cases(suite: Suite) -> Iterator[tuple[Case, list[str]]]:
    """Yield each `must` case with the rules that decide it and whose basis does not allow `must`."""
    weak = _weak_rules(suite)
    for case in suite.cases:
        found = [name for name in _deciding(case, suite, weak) if name in weak]
        if case.level == "must" and found:
            yield case, found


def backed_level(case: Case, suite: Suite) -> Case:
    """Return a `must` case at `should` if the basis of a rule that decides it does not allow `must`."""
    weak = _weak_rules(suite)
    stated = [name for name in _deciding(case, suite, weak) if name in weak and suite.rules[name].basis]
    return evolve(case, level="should") if stated and case.level == "must" else case


def _weak_rules(suite: Suite) -> frozenset[str]:
    """Return the ids of the rules whose basis does not allow `must`."""
    return frozenset(
        rule.id
        for rule in suite.rules.values()
        if not allows_must(rule.basis, cited(rule.cites, suite.sources))
    )


def _deciding(case: Case, suite: Suite, weak: frozenset[str]) -> list[str]:
    """Return the rules that decide what a case expects.

    Not among them are a rule of the suite for an operation that the suite itself defines, and beside a rule
    that allows `must` the weak refusing rules that an accepted case does not break.
    """
    rules = [suite.rules[name] for name in case.rules if name in suite.rules]
    found = [rule for rule in rules if not (rule.basis == "suite" and case.op in SUITE_OPS)]
    if isinstance(case.expect, Accept) and any(rule.id not in weak for rule in found):
        found = [rule for rule in found if not (rule.kind == "refusing" and rule.id in weak)]
    return [rule.id for rule in found]


def source_line(suite: Suite) -> str:
    """Return one line: the rules whose sources all resolve."""
    cite = [rule for rule in suite.rules.values() if rule.cites]
    broken = sum(1 for rule in cite if _citations(rule, suite.sources)[1])
    return (
        f"{len(suite.rules)} rules: {len(cite) - broken} with sources that resolve, {broken} with sources "
        f"that do not, {len(suite.rules) - len(cite)} without; {len(suite.sources)} documents"
    )


def basis_lines(suite: Suite) -> Iterator[str]:
    """Yield the number of rules of each basis, and of `must` cases; the weakest rule of a case counts."""
    of_rules = Counter(rule.basis for rule in suite.rules.values())
    weak = _weak_rules(suite)
    of_cases = Counter(_weakest_basis(case, suite, weak) for case in suite.cases if case.level == "must")
    for name, numbers in (("rules", of_rules), ("must cases, by their weakest rule", of_cases)):
        listed = ", ".join(f"{basis} {numbers[basis]}" for basis in BASES)
        missing = numbers.total() - sum(numbers[basis] for basis in BASES)
        yield f"basis of the {name}: {listed}" + (f", none {missing}" if missing else "")


def _weakest_basis(case: Case, suite: Suite, weak: frozenset[str]) -> str:
    """Return the basis of the weakest rule that decides a case; empty if a rule has none."""
    bases = {suite.rules[name].basis for name in _deciding(case, suite, weak) or case.rules}
    known = [basis for basis in BASES if basis in bases]
    return known[-1] if known and bases <= set(BASES) else ""
