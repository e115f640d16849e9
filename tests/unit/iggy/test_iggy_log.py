"""Segment files in pieces: iggy.md §7."""

from iggy_bytes import WORKED, refusal

from wireproof import formats
from wireproof.wire.scan_items import Item

LOG = formats.get("iggy.log", "0.0.30")
DISK = WORKED["W15"][2]
FIRST = 49
"""Bytes of the first record of W15."""


def _scan(*chunks: bytes) -> list[Item]:
    return list(formats.scan(LOG, chunks))


def test_a_rotten_payload_costs_one_record_only() -> None:
    rotten = bytearray(DISK[:FIRST])
    rotten[-1] ^= 1
    items = _scan(DISK[:FIRST] + bytes(rotten) + DISK[FIRST:])
    assert [(item.kind, item.length, item.cls) for item in items] == [
        ("frame", FIRST, None),
        ("garbage", FIRST, "crc-mismatch"),
        ("frame", len(DISK) - FIRST, None),
    ]


def test_a_refusal_bears_the_records_before_it() -> None:
    rejected = refusal("iggy.log/0.0.30", DISK[:-1] + b"x")
    assert rejected is not None
    assert (rejected.cls, rejected.at, rejected.path) == ("crc-mismatch", FIRST + 32, "messages[1].checksum")
    assert [row.payload for row in rejected.before.messages] == [b"hello"]


def test_a_scan_of_a_large_record_in_small_chunks_looks_at_its_lengths_once() -> None:
    payload = bytes(1 << 20)
    value = {
        "messages": [{"offset": "0", "timestamp": "0", "id": "1", "headers": [], "payload": payload.hex()}]
    }
    data = formats.encode(LOG, value)
    items = _scan(*(data[at : at + 64] for at in range(0, len(data), 64)))
    assert [item.kind for item in items] == ["frame"]
