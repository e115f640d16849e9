"""The reasons why cases of level `must` have no witness: `unwitnessed` in `sets.toml` of the fixtures.

A `must` case should have a witness, an independent implementation that was run on its bytes and agrees. Where
none can be run, a row gives the reason for the cases that its patterns match.
"""

from collections.abc import Iterator

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import compile_pattern
from wireproof.cases.requirements import SETS_FILE, read_sets
from wireproof.lint.sources import Problem
from wireproof.strict_parsing import structure


@frozen
class Unwitnessed:
    """The reason why cases of level `must` have no witness.

    Attributes:
        cases: patterns of their ids: `*` is one component, `**` any number.
        reason: the reason.
    """

    cases: tuple[str, ...]
    reason: str


def reasons_of(suite: Suite) -> tuple[Unwitnessed, ...]:
    """Return the rows in the folders of the fixtures; raise `RequirementError`."""
    rows = (row for root in suite.roots for row in read_sets(root / SETS_FILE).unwitnessed)
    return tuple(structure(dict(row), Unwitnessed, "a reason") for row in rows)


def without_witness(suite: Suite) -> list[Case]:
    """Return the cases of level `must` that have no witness."""
    return [case for case in suite.cases if case.level == "must" and not case.source.witnesses]


def unexplained(suite: Suite) -> list[Case]:
    """Return the cases of level `must` that have neither witness nor reason."""
    patterns = [compile_pattern(pattern) for row in reasons_of(suite) for pattern in row.cases]
    return [case for case in without_witness(suite) if not any(one.fullmatch(case.id) for one in patterns)]


def count_line(suite: Suite) -> str:
    """Return one line: the `must` cases with a witness, with a reason, and with neither."""
    must = sum(1 for case in suite.cases if case.level == "must")
    bare, neither = len(without_witness(suite)), len(unexplained(suite))
    words = f"{must - bare} have one, {bare - neither} a reason, {neither} neither"
    return f"witnesses of {must} must cases: {words}"


def check_reasons(suite: Suite) -> Iterator[Problem]:
    """Check that each pattern matches a `must` case without a witness; raise `RequirementError`."""
    bare = without_witness(suite)
    for number, row in enumerate(reasons_of(suite), 1):
        if not row.reason or not row.cases:
            yield Problem(f"{SETS_FILE} unwitnessed {number}", "needs cases and a reason")
        for pattern in row.cases:
            if not any(compile_pattern(pattern).fullmatch(case.id) for case in bare):
                text = f"{pattern} matches no must case without a witness: remove or correct it"
                yield Problem(SETS_FILE, text)
