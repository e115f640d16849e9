"""The level of a case, from the basis of its rules: `must` if each of them allows it, else `should`.

A case with another level says so itself, and its `why` or its rule has the reason.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from tests.authoring.fixture_writer import FIXTURES
from wireproof.cases.lint_sources import SUITE_OPS
from wireproof.cases.rules import Rule, read_rules
from wireproof.cases.sources import allows_must, cited, read_sources


def level_of(rules: Iterable[str], op: str) -> str:
    """Return the level of a case with these rules."""
    return "must" if all(op in _must_ops()[name] for name in rules) else "should"


@cache
def _must_ops() -> Mapping[str, frozenset[str]]:
    """Return the operations for which each rule allows `must`."""
    sources = read_sources(FIXTURES / "sources.toml")
    every = frozenset({"decode", "encode", "scan"})

    def ops(rule: Rule) -> frozenset[str]:
        if rule.basis == "suite":
            return SUITE_OPS
        return every if allows_must(rule.basis, cited(rule.cites, sources)) else frozenset()

    files = sorted(FIXTURES.glob("iggy.*/rules.toml"))
    return {rule.id: ops(rule) for path in files for rule in read_rules(path)}
