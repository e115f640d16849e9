"""The widths of the integers of each value class on the wire, to wrap edited numbers that do not fit."""

from collections.abc import Mapping
from typing import Final

from wireproof.cases.mutate.layout_facts import integer_fields
from wireproof.heka.header import HekaHeader
from wireproof.heka.message import DynamicField, HekaMessage
from wireproof.iggy.json_poll import (
    JsonPoll70,
    JsonPoll90,
    JsonPoll100,
    JsonPolledMessage70,
    JsonPolledMessage90,
    JsonPolledMessage100,
)
from wireproof.iggy.json_send import JsonSentMessage70, JsonSentMessage90, JsonSentMessage100
from wireproof.iggy.message import MESSAGE_90
from wireproof.iggy.poll import REVISIONS as POLLS
from wireproof.kafka.values import Message
from wireproof.wire.layout import Checksum, Number, bits_of

_JSON_MESSAGE: Final = {
    part.name: bits_of(part.kind) for part in MESSAGE_90.parts if isinstance(part, Number | Checksum)
}
"""The numbers of a message in JSON, which are those of the binary one: iggy.md, sections 5 and 8."""

_JSON_POLL: Final = {part.name: bits_of(part.kind) for part in POLLS["0.9"].numbers}

SIGNED: Final[Mapping[type, Mapping[str, int]]] = {
    Message: {"offset": 64, "attributes": 8, "timestamp": 64},
    HekaMessage: {"timestamp": 64, "severity": 32, "pid": 32},
    DynamicField: {"value_integer": 64},
}
"""Class and field to bits, for signed integers: kafka.md §1.1, §1.3, §2.1; heka.md, section 1."""

UNSIGNED: Final[Mapping[type, Mapping[str, int]]] = {
    **dict.fromkeys((JsonPolledMessage70, JsonPolledMessage90, JsonPolledMessage100), _JSON_MESSAGE),
    **dict.fromkeys((JsonPoll70, JsonPoll90, JsonPoll100), _JSON_POLL),
    **dict.fromkeys((JsonSentMessage90, JsonSentMessage100), _JSON_MESSAGE),
    JsonSentMessage70: {"id": 64},
    HekaHeader: {"hmac_key_version": 32},
}
"""Class and field to bits, for unsigned integers: iggy.md, section 8; heka.md, section 1."""

_NONE: Final[Mapping[str, int]] = {}


def fitted(owner: type, name: str, value: int) -> int:
    """Wrap `value` to the width of the field `name` of `owner`. Without a known width return it unchanged."""
    row = integer_fields().get(owner, {}).get(name)
    if row is not None:
        return row.wrapped(value)
    bits = SIGNED.get(owner, _NONE).get(name)
    if bits is not None:
        return ((value + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)
    bits = UNSIGNED.get(owner, _NONE).get(name)
    return value if bits is None else value & ((1 << bits) - 1)
