"""Which exit code an error ends with: a table, so that no error a user can cause is a traceback."""

from typing import Final

from wireproof.adapters.errors import AdapterError, MessageError, UnknownAdapter
from wireproof.adapters.kits import KitError
from wireproof.cases.fixtures import FixtureError
from wireproof.cases.patterns import PatternError
from wireproof.cases.redact import RedactionError
from wireproof.cases.token import TokenError
from wireproof.formats import UnknownFormat
from wireproof.fuzz.findings import FindingError
from wireproof.fuzz.promote import PromotionError
from wireproof.fuzz.shrink import NothingToShrinkError
from wireproof.spark.errors import JavaEndedError, SourceError
from wireproof.trial.baseline import BaselineError
from wireproof.trial.companions import CompanionError
from wireproof.trial.events import EventError
from wireproof.trial.exit_codes import Exit
from wireproof.trial.killtable import KillTableError
from wireproof.trial.property import PropertyError

TABLE: Final[tuple[tuple[type[Exception], Exit], ...]] = (
    (UnknownAdapter, Exit.USAGE),
    (UnknownFormat, Exit.USAGE),
    (PatternError, Exit.USAGE),
    (TokenError, Exit.USAGE),
    (NothingToShrinkError, Exit.USAGE),
    (PromotionError, Exit.USAGE),
    (FindingError, Exit.USAGE),
    (RedactionError, Exit.USAGE),
    (PropertyError, Exit.USAGE),
    (EventError, Exit.USAGE),
    (SourceError, Exit.USAGE),
    (JavaEndedError, Exit.ADAPTER),
    (BaselineError, Exit.USAGE),
    (KitError, Exit.USAGE),
    (KillTableError, Exit.USAGE),
    (CompanionError, Exit.USAGE),
    (FixtureError, Exit.SUITE),
    (MessageError, Exit.ADAPTER),
    (AdapterError, Exit.ADAPTER),
    (OSError, Exit.USAGE),
)
"""The first row that fits decides: a missing file is a matter of usage, a broken fixture one of the suite."""


def exit_of(error: Exception) -> Exit | None:
    """The exit code of an error; None for one that is a fault of ours and keeps its traceback."""
    return next((code for kind, code in TABLE if isinstance(error, kind)), None)
