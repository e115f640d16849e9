"""The reasons why cases of level `must` have no witness: `witnesses.toml` in a folder of fixtures.

A `must` case should have a witness, an independent implementation that was run on its bytes and agrees. Where
none can be run, a row gives the reason for the cases that its patterns match.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import compile_pattern
from wireproof.cases.lint_sources import Problem
from wireproof.files import read_limited_text
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure

WITNESSES_FILE: Final = "witnesses.toml"


@frozen
class WitnessReason:
    """A reason why cases have no witness.

    Attributes:
        cases: patterns of their ids; `*` is one component, `**` any number.
        reason: the reason.
    """

    cases: tuple[str, ...]
    reason: str

    def matches(self, case: Case) -> bool:
        """Return whether one of the patterns matches a case."""
        return any(compile_pattern(pattern).fullmatch(case.id) for pattern in self.cases)


def reasons_of(suite: Suite) -> tuple[WitnessReason, ...]:
    """Return the rows in the folders of the fixtures; raise `FixtureError`."""
    rows: list[WitnessReason] = []
    for root in suite.roots:
        try:
            rows += read_reasons(root / WITNESSES_FILE)
        except (OSError, ValueError) as error:
            raise FixtureError(f"{root / WITNESSES_FILE}: {error}") from None
    return tuple(rows)


def read_reasons(path: Path) -> Iterator[WitnessReason]:
    """Yield the rows of a file, none if it is missing; raise ValueError with the row and the fault."""
    if not path.exists():
        return
    page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
    if set(page) != {"unwitnessed"} or not isinstance(page["unwitnessed"], list):
        raise ValueError("must have [[unwitnessed]] tables and nothing else")
    for number, row in enumerate(page["unwitnessed"], 1):
        try:
            reason = structure(row, WitnessReason, "the row")
        except FieldError as error:
            raise ValueError(f"row {number}: {error}") from None
        if not reason.reason or not reason.cases:
            raise ValueError(f"row {number}: needs cases and a reason")
        yield reason


def without_witness(suite: Suite) -> list[Case]:
    """Return the cases of level `must` that have no witness."""
    return [case for case in suite.cases if case.level == "must" and not case.source.witnesses]


def count_line(suite: Suite) -> str:
    """Return one line: the `must` cases with a witness, with a reason, and with neither."""
    must = sum(1 for case in suite.cases if case.level == "must")
    bare, rows = without_witness(suite), reasons_of(suite)
    explained = sum(1 for case in bare if any(row.matches(case) for row in rows))
    return (
        f"witnesses of {must} must cases: {must - len(bare)} have one, {explained} a reason, "
        f"{len(bare) - explained} neither"
    )


def check_reasons(suite: Suite) -> Iterator[Problem]:
    """Check that each pattern matches a `must` case without a witness; raise `FixtureError`."""
    bare = without_witness(suite)
    for pattern in (pattern for row in reasons_of(suite) for pattern in row.cases):
        expression = compile_pattern(pattern)
        if not any(expression.fullmatch(case.id) for case in bare):
            yield Problem(
                WITNESSES_FILE, f"{pattern} matches no must case without a witness: remove or correct it"
            )
