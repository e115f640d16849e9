"""The own fixtures of the package, read once for all tests of a process: each reading takes 0.3 s."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from wireproof.cases import fixtures
from wireproof.cases.case import Case, Generated
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import is_large


@cache
def _own() -> Suite:
    return fixtures.load()


def load(folders: Sequence[Path] = ()) -> Suite:
    """Return the package's own cases and rules; with folders, theirs too, which are read each time."""
    return fixtures.load(folders) if folders else _own()


def golden_bytes(name: str) -> bytes:
    return load().by_id[name].input.data  # type: ignore[union-attr]


def golden(name: str) -> str:
    return golden_bytes(name).hex()


def stored_cases(system: str = "") -> list[Case]:
    """Return the cases of a system whose input is stored: a generated one takes up to seconds to make."""
    return [
        case
        for case in load().cases
        if case.format.startswith(system) and not isinstance(case.input, Generated)
    ]


def cases_by_size(*, largest: bool) -> tuple[Case, ...]:
    return tuple(case for case in load().cases if is_large(case) is largest)


def by_size(*, others: str = "") -> tuple[Any, ...]:
    """Return the parameters of a test that runs all cases, with the markers of the two halves.

    The largest cases are one in a hundred, and take nine tenths of the time.
    """
    return tuple(
        pytest.param(size, id=name, marks=[getattr(pytest.mark, lane)] if lane else [])
        for size, name, lane in ((False, "but-the-largest", others), (True, "the-largest", "largest"))
    )
