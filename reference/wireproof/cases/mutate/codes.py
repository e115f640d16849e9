"""Numbers that mean something to the readers of a field, after the tables of the codecs themselves.

A code out of few is drawn with the other small numbers; one that stands alone in a wide range hardly ever is.
"""

from collections.abc import Mapping
from typing import Final

from wireproof.iggy.frame import UNSUMMED, Frame30, Reply, Request

COMMANDS: Final = (1, 38, 100, 101)
"""Ping, login, poll and send: iggy.md, section 2.1."""

CODES: Final[Mapping[tuple[type, str], tuple[int, ...]]] = {
    (Frame30, "code"): COMMANDS,
    (Request, "code"): COMMANDS,
    (Request, "operation"): UNSUMMED,
    (Reply, "operation"): UNSUMMED,
}
"""By class and field: iggy.md, section 2.1."""
