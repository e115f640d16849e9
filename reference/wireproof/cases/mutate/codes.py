"""Codes that have a meaning for a field, from the tables of the codecs.

Random draws find small codes easily, but hardly ever a single code in a large range.
"""

from collections.abc import Mapping
from typing import Final

from wireproof.iggy.frame import OPERATIONS_WITHOUT_CHECKSUM, ClassicFrame, ReplyHeader, RequestHeader

COMMANDS: Final = (1, 38, 100, 101)
"""Ping, login, poll and send: iggy.md, section 2.1."""

CODES: Final[Mapping[tuple[type, str], tuple[int, ...]]] = {
    (ClassicFrame, "code"): COMMANDS,
    (RequestHeader, "code"): COMMANDS,
    (RequestHeader, "operation"): OPERATIONS_WITHOUT_CHECKSUM,
    (ReplyHeader, "operation"): OPERATIONS_WITHOUT_CHECKSUM,
}
"""Class and field to codes: iggy.md, section 2.1."""
