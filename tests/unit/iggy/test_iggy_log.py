"""Segment files in pieces: iggy.md §7."""

from wireproof import formats
from wireproof.wire.scan_items import Item

LOG = formats.get("iggy.log", "0.0.30")


def _scan(*chunks: bytes) -> list[Item]:
    return list(formats.scan(LOG, chunks))


def test_a_scan_of_a_large_record_in_small_chunks_looks_at_its_lengths_once() -> None:
    payload = bytes(1 << 20)
    value = {
        "messages": [{"offset": "0", "timestamp": "0", "id": "1", "headers": [], "payload": payload.hex()}]
    }
    data = formats.encode(LOG, value)
    items = _scan(*(data[at : at + 64] for at in range(0, len(data), 64)))
    assert [item.kind for item in items] == ["frame"]
