"""The derived fields of Kafka values, from the fields of an entry or from its bytes.

The offset after an entry is one more than its last offset, which in a batch is baseOffset + lastOffsetDelta,
whatever records are left (kafka.md §1.1). A sequence is baseSequence + offsetDelta and goes on with 0 after
2147483647. Attribute bit 3 says who set the timestamps (§1.2, §2.1).
"""

import struct
from typing import Any

BIT_3 = 8
LAST_SEQUENCE = (1 << 31) - 1


def with_offsets(value: Any) -> Any:
    """Return a value of any Kafka format with its derived fields."""
    match value:
        case {"items": items}:
            return {"items": [_item(item) for item in items]}
        case {"batches": batches}:
            return {**value, "batches": [with_offsets(entry) for entry in batches]}
        case {"records": records}:
            end = _after(int(value["baseOffset"]) + int(value["lastOffsetDelta"]))
            return {**value, "records": [_record(value, row) for row in records], "nextOffset": end}
        case {"messages": messages, "magic": _}:
            return _message(value, messages)
    return value


def _item(item: Any) -> Any:
    return {**item, "value": with_offsets(item["value"])} if "value" in item else item


def _after(last: int) -> str:
    """Return the offset after `last`; an int64 wraps."""
    return str(struct.unpack(">q", struct.pack(">Q", (last + 1) % (1 << 64)))[0])


def _record(batch: Any, row: Any) -> Any:
    first = int(batch["baseSequence"])
    sequence = -1 if first < 0 else (first + int(row["offsetDelta"])) & LAST_SEQUENCE
    return {**row, "sequence": str(sequence), "timestampType": _who(batch)}


def _who(entry: Any) -> str:
    if entry["magic"] == "0":
        return "none"
    return "log-append" if int(entry["attributes"]) & BIT_3 else "create"


def _message(value: Any, messages: Any, wrapper: str | None = None) -> Any:
    """Return a message; a v1 message inside a wrapper has the timestamp type of the wrapper.

    `LegacyRecord.timestampType` of Kafka says so, also for a wrapper of v0, which has none.
    """
    who = _who(value) if wrapper is None or value["magic"] == "0" else wrapper
    inner = None if messages is None else [_message(one, one["messages"], who) for one in messages]
    return {**value, "messages": inner, "nextOffset": _after(int(value["offset"])), "timestampType": who}


def log_end(data: bytes) -> str | None:
    """Return the offset after the last entry of `data`; None if there is no entry."""
    at, end = 0, None
    while at < len(data):
        offset, size = struct.unpack_from(">qi", data, at)
        (delta,) = struct.unpack_from(">i", data, at + 23) if data[at + 16] == 2 else (0,)
        end, at = _after(offset + delta), at + 12 + size
    return end
