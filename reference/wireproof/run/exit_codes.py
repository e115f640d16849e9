"""The exit codes, and which of several applies."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """The exit code of a run."""

    CONFORMS = 0
    FAILS = 1
    USAGE = 2
    BASELINE = 3
    ADAPTER = 4
    SUITE = 5


MEANINGS: Final[dict[Exit, str]] = {
    Exit.CONFORMS: "conforms",
    Exit.FAILS: "does not conform",
    Exit.USAGE: "usage, empty selection, unmatched pattern",
    Exit.BASELINE: "only stale or changed baseline entries",
    Exit.ADAPTER: "adapter or infrastructure",
    Exit.SUITE: "suite bug",
}

PRECEDENCE: Final = (Exit.SUITE, Exit.ADAPTER, Exit.USAGE, Exit.FAILS, Exit.BASELINE, Exit.CONFORMS)
"""The first of these that occurred is the exit code of a run."""


def deciding_code(codes: Iterable[Exit]) -> Exit:
    """Return the code that takes precedence; without codes `CONFORMS`: callers reject an empty selection."""
    return min(codes, key=PRECEDENCE.index, default=Exit.CONFORMS)
