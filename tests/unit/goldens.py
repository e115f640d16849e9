"""The package's own fixtures, read once for all the tests of a run: to read them takes most of a second."""

from functools import cache

from wireproof.cases import fixtures
from wireproof.cases.fixtures import Suite


@cache
def load() -> Suite:
    return fixtures.load()
