"""The checks and the figures of all that stands behind the cases."""

from collections.abc import Iterator

from tests.fixture_tables import documented_layouts, history, vectors, witness_reasons
from wireproof.cases.fixtures import Suite
from wireproof.lint.sources import Problem


def table_problems(suite: Suite) -> Iterator[Problem]:
    """Yield all problems; raise `FixtureError` or `RequirementError` for a file that cannot be read."""
    yield from witness_reasons.check_reasons(suite)
    yield from history.history_problems(suite)
    yield from documented_layouts.check_documented_layouts(suite)
    yield from vectors.vector_problems(suite)


def figures(suite: Suite) -> Iterator[str]:
    yield from vectors.count_lines(suite)
    yield witness_reasons.count_line(suite)
    yield history.count_line(suite)
