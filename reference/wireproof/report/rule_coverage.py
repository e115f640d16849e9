"""The coverage of rules: their cases, the mutants that these kill, and the implementations that fail them."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import Rule, lacks_cases
from wireproof.cases.steps import is_refused
from wireproof.report.implementation_answers import Votes
from wireproof.report.kills import Kills


@frozen
class RuleCoverage:
    """A rule with its cases, mutants and failing implementations.

    Attributes:
        systems: the formats of its cases.
        kills: mutants, by name.
        fails: the number of failed cases of each implementation that fails one.
    """

    rule: Rule
    accepted: tuple[Case, ...]
    refused: tuple[Case, ...]
    kills: tuple[str, ...]
    fails: Mapping[str, int]

    @property
    def cases(self) -> tuple[Case, ...]:
        """Return all cases of the rule."""
        return (*self.accepted, *self.refused)

    @property
    def lacking(self) -> bool:
        """Return True if it has fewer cases than a rule of its kind should have."""
        return lacks_cases(self.rule.kind, len(self.accepted), len(self.refused))

    @property
    def home(self) -> str:
        """Return the format of its first case, or the system that its id begins with."""
        return self.cases[0].format if self.cases else self.rule.id.partition(".")[0]


def rule_coverages(suite: Suite, kills: Kills, votes: Votes) -> Iterator[RuleCoverage]:
    """Yield the coverage of every rule, sorted by id."""
    for name, rule in sorted(suite.rules.items()):
        yield _covered(rule, suite.by_rule.get(name, ()), kills, votes)


def _covered(rule: Rule, cases: Sequence[Case], kills: Kills, votes: Votes) -> RuleCoverage:
    fails: dict[str, int] = {}
    for vote in (vote for case in cases for vote in votes.get(case.id, ()) if vote.fails):
        fails[vote.adapter] = fails.get(vote.adapter, 0) + 1
    return RuleCoverage(
        rule,
        tuple(case for case in cases if not is_refused(case)),
        tuple(case for case in cases if is_refused(case)),
        tuple(sorted({name for case in cases for name in kills.get(case.id, ())})),
        dict(sorted(fails.items(), key=lambda row: -row[1])),
    )
