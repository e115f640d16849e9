"""The own fixtures of the package, read once for all tests of a process: each reading takes 0.3 s."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from wireproof.cases import fixtures
from wireproof.cases.case import Case, Generated
from wireproof.cases.fixtures import Suite


@cache
def _own() -> Suite:
    return fixtures.load()


def load(folders: Sequence[Path] = ()) -> Suite:
    """Return the package's own cases and rules; with folders, theirs too, which are read each time."""
    return fixtures.load(folders) if folders else _own()


def stored_cases(system: str = "") -> list[Case]:
    """Return the cases of a system whose input is stored: a generated one takes up to seconds to make."""
    return [
        case
        for case in load().cases
        if case.format.startswith(system) and not isinstance(case.input, Generated)
    ]
