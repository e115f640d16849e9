"""Segments of Iggy with many records, made by the reference's encoder, and their index files by hand."""

import random
import struct
from typing import Any, Final

from wireproof import formats

NOW: Final = 1_760_000_000_000_000


def segment(revision: str, records: int = 60) -> bytes:
    """Return a segment; a batch has three messages."""
    row = formats.get("iggy.log", revision)
    rng = random.Random(revision)
    if revision == "0.11":
        value: dict[str, Any] = {"batches": [_batch(rng, number * 3) for number in range(records)]}
    elif revision == "0.2.7":
        value = {"batches": [_retained(rng, number * 3) for number in range(records)]}
    else:
        value = {"messages": [_message(rng, revision, number) for number in range(records)]}
    return formats.encode(row, value)


def places(revision: str, data: bytes) -> list[tuple[int, int]]:
    """Return where each record begins and ends, as the lengths in it say."""
    found, at = [], 0
    edition = formats.get("iggy.log", revision)
    for item in formats.scan(edition, [data]):
        found.append((at, at + item.length))
        at += item.length
    return found


def index(revision: str, data: bytes) -> bytes:
    """Return the index that a server of this revision writes: iggy.md §7."""
    rows = enumerate(places(revision, data))
    match revision:
        case "0.0.30" | "0.0.40":
            return b"".join(struct.pack("<I", begin) for _, (begin, _) in rows)
        case "0.2.7":
            return b"".join(struct.pack("<IIQ", 3 * n + 2, begin, NOW + 3 * n + 2) for n, (begin, _) in rows)
        case "0.11":
            return b"".join(struct.pack("<QQQ", 3 * n, NOW + 3 * n, begin) for n, (begin, _) in rows)
    return b"".join(struct.pack("<IIQ", n, end, NOW + n) for n, (_, end) in rows)


def _message(rng: random.Random, revision: str, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": str(number + 1),
        "offset": str(number),
        "timestamp": str(NOW + number),
        "checksum": "0",
        "headers": [],
        "payload": rng.randbytes(rng.randrange(5, 60)).hex(),
    }
    match revision:
        case "0.0.30":
            return message
        case "0.0.40" | "0.2.7":
            return message | {"state": "available"}
    return message | {"origin_timestamp": str(NOW)}


def _retained(rng: random.Random, first: int) -> dict[str, Any]:
    """Return a batch as server 0.4.300 writes it: all but the first one of a segment have base offset 0."""
    messages = [_message(rng, "0.2.7", first + number) for number in range(3)]
    latest = str(NOW + first + 2)
    return {
        "base_offset": "0",
        "last_offset_delta": str(first + 2),
        "max_timestamp": latest,
        "messages": messages,
    }


def _batch(rng: random.Random, first: int) -> dict[str, Any]:
    base = str(NOW + first)
    messages = [
        _message(rng, "0.11", first + number)
        | {"offset_delta": str(number), "timestamp_delta": "0", "timestamp": base}
        for number in range(3)
    ]
    return {
        "partition_id": "1",
        "base_offset": str(first),
        "base_timestamp": base,
        "origin_timestamp": str(NOW),
        "batch_checksum": "0",
        "messages": messages,
    }
