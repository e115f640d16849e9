"""Codes that have a meaning for a field, from the tables of the codecs.

Random draws find small codes easily, but hardly ever a single code in a large range.
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
"""Class and field to codes: iggy.md, section 2.1."""
