"""Codes that have a meaning for a field of a frame, from the tables of the codecs."""

from collections.abc import Mapping
from typing import Final

from wireproof.iggy.frame import (
    CLASSIC_FRAME,
    CONTEXT,
    EVICTION_HEADER,
    EVICTION_REASONS,
    OPERATIONS_WITHOUT_CHECKSUM,
    REPLY_HEADER,
    REQUEST_HEADER,
)

COMMANDS: Final = (1, 38, 100, 101, 104, 106, 109)
"""Ping, login, poll, send, and the polls that are routed or wait: iggy.md, sections 2.1 and 6.2."""

CODES: Final[Mapping[tuple[type, str], tuple[int, ...]]] = {
    (CLASSIC_FRAME.at("0.0.30").type, "code"): COMMANDS,
    **{
        (header.at(revision).type, name): codes
        for revision in ("0.11", CONTEXT)
        for header, name, codes in (
            (REQUEST_HEADER, "code", COMMANDS),
            (REQUEST_HEADER, "operation", OPERATIONS_WITHOUT_CHECKSUM),
            (REPLY_HEADER, "operation", OPERATIONS_WITHOUT_CHECKSUM),
            (EVICTION_HEADER, "reason", tuple(sorted(EVICTION_REASONS))),
        )
    },
    (REPLY_HEADER.at(CONTEXT).type, "committed_result"): (0, 1),
}
"""Class and field to codes: iggy.md, section 2.1."""
