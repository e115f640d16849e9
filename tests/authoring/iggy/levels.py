"""The level of a case, from the basis of its rules: `must` if each of them allows it, else `should`.

A case with another level says so itself, and its `why` or its rule has the reason.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from tests.authoring.fixture_writer import FIXTURES
from wireproof.cases.lint_sources import SUITE_OPS
from wireproof.cases.rules import Rule, read_rules
from wireproof.cases.sources import Sources, allows_must, cited, read_sources


def level_of(rules: Iterable[str], op: str) -> str:
    """Return the level of a case with these rules."""
    deciding = [allowed for name in rules if (allowed := _allows(name, op)) is not None]
    return "must" if deciding and all(deciding) else "should"


def _allows(name: str, op: str) -> bool | None:
    """Return whether a rule allows `must`; None for a rule of the suite for an operation of the suite."""
    rule = _rules()[name]
    if rule.basis == "suite" and op in SUITE_OPS:
        return None
    return allows_must(rule.basis, cited(rule.cites, _sources()))


@cache
def _rules() -> Mapping[str, Rule]:
    files = sorted(FIXTURES.glob("iggy.*/rules.toml"))
    return {rule.id: rule for path in files for rule in read_rules(path)}


@cache
def _sources() -> Sources:
    return read_sources(FIXTURES / "sources.toml")
