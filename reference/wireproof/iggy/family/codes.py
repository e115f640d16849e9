"""Codes that have a meaning for a field of a frame, from the tables of the codecs."""

from collections.abc import Mapping
from typing import Final

from wireproof.iggy.frame import (
    EVICTION_REASONS,
    OPERATIONS_WITHOUT_CHECKSUM,
    ClassicFrame,
    EvictionHeader,
    ReplyHeader,
    ReplyHeader111,
    RequestHeader,
    RequestHeader111,
)

COMMANDS: Final = (1, 38, 100, 101, 104, 106, 109)
"""Ping, login, poll, send, and the polls that are routed or wait: iggy.md, sections 2.1 and 6.2."""

CODES: Final[Mapping[tuple[type, str], tuple[int, ...]]] = {
    (ClassicFrame, "code"): COMMANDS,
    (RequestHeader, "code"): COMMANDS,
    (RequestHeader, "operation"): OPERATIONS_WITHOUT_CHECKSUM,
    (ReplyHeader, "operation"): OPERATIONS_WITHOUT_CHECKSUM,
    (RequestHeader111, "code"): COMMANDS,
    (RequestHeader111, "operation"): OPERATIONS_WITHOUT_CHECKSUM,
    (ReplyHeader111, "operation"): OPERATIONS_WITHOUT_CHECKSUM,
    (ReplyHeader111, "committed_result"): (0, 1),
    (EvictionHeader, "reason"): tuple(sorted(EVICTION_REASONS)),
}
"""Class and field to codes: iggy.md, section 2.1."""
