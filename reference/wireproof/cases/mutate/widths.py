"""How wide the integers of each value class are on the wire: an edit wraps around, and is not lost."""

from collections.abc import Mapping
from typing import Final

from wireproof.heka.header import Header
from wireproof.heka.message import Field
from wireproof.heka.message import Message as HekaMessage
from wireproof.iggy.message import Polled30, Polled40, Sent, Stored30
from wireproof.iggy.poll import Poll60
from wireproof.kafka.values import Message, Record, RecordBatch

_ALL: Final = {"offset": 64, "timestamp": 64, "id": 128}
"""Of an Iggy message: iggy.md, section 3."""

SIGNED: Final[Mapping[type, Mapping[str, int]]] = {
    RecordBatch: {
        "base_offset": 64,
        "partition_leader_epoch": 32,
        "attributes": 16,
        "last_offset_delta": 32,
        "base_timestamp": 64,
        "max_timestamp": 64,
        "producer_id": 64,
        "producer_epoch": 16,
        "base_sequence": 32,
    },
    Record: {"attributes": 8, "timestamp_delta": 64, "offset_delta": 32},
    Message: {"offset": 64, "attributes": 8, "timestamp": 64},
    HekaMessage: {"timestamp": 64, "severity": 32, "pid": 32},
    Field: {"value_integer": 64},
}
"""Bits by class and field, in two's complement: kafka.md §1.1, §1.3, §2.1; heka.md, section 1."""

UNSIGNED: Final[Mapping[type, Mapping[str, int]]] = {
    Sent: {"id": 128},
    **dict.fromkeys((Polled30, Polled40, Stored30), _ALL),
    Poll60: {"partition_id": 32, "current_offset": 64},
    Header: {"hmac_key_version": 32},
}
"""The same for those that are never negative: iggy.md, section 3; heka.md, section 1."""

_NONE: Final[Mapping[str, int]] = {}


def fitted(owner: type, name: str, value: int) -> int:
    """`value` as the field `name` of `owner` holds it; any value where its width is not known."""
    bits = SIGNED.get(owner, _NONE).get(name)
    if bits is not None:
        return ((value + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)
    bits = UNSIGNED.get(owner, _NONE).get(name)
    return value if bits is None else value & ((1 << bits) - 1)
