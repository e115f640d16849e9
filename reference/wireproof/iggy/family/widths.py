"""The widths of the numbers of JSON bodies, which have no layout."""

from collections.abc import Mapping
from typing import Final

from wireproof.iggy.json_common import CONTEXT_NUMBERS, PartitionContext
from wireproof.iggy.json_poll import (
    JsonPoll70,
    JsonPoll90,
    JsonPoll100,
    JsonPoll111,
    JsonPolledMessage70,
    JsonPolledMessage90,
    JsonPolledMessage100,
)
from wireproof.iggy.json_reply import JsonError, JsonError40
from wireproof.iggy.json_send import JsonSentMessage70, JsonSentMessage90, JsonSentMessage100
from wireproof.iggy.message import MESSAGE_90
from wireproof.iggy.poll import REVISIONS as POLLS
from wireproof.wire.layout import Checksum, Number, bits_of

_JSON_MESSAGE: Final = {
    part.name: bits_of(part.kind) for part in MESSAGE_90.parts if isinstance(part, Number | Checksum)
}
"""The numbers of a message in JSON, which are those of the binary one: iggy.md, sections 5 and 8."""

_JSON_POLL: Final = {part.name: bits_of(part.kind) for part in POLLS["0.9"].numbers}

UNSIGNED_BITS: Final[Mapping[type, Mapping[str, int]]] = {
    **dict.fromkeys((JsonPolledMessage70, JsonPolledMessage90, JsonPolledMessage100), _JSON_MESSAGE),
    **dict.fromkeys((JsonPoll70, JsonPoll90, JsonPoll100, JsonPoll111), _JSON_POLL),
    **dict.fromkeys((JsonSentMessage90, JsonSentMessage100), _JSON_MESSAGE),
    JsonSentMessage70: {"id": 64},
    PartitionContext: dict.fromkeys(CONTEXT_NUMBERS, 64),
    JsonError: {"id": 32},
    JsonError40: {"id": 32},
}
"""Class and field to bits, for the integers of JSON bodies, which have no layout: iggy.md, section 8."""
