"""Generated segment files of Iggy: the messages of `iggy`, as each revision stores them (iggy.md §7)."""

import zlib
from struct import pack
from typing import Any, Final

from wireproof.cases.generated_bytes import Recipe
from wireproof.iggy.family.made_messages import (
    HEADED,
    TIME,
    batch,
    batch_value,
    body,
    payloads,
    poll_30_value,
    poll_70_value,
    polled_rows,
    stored_fields,
    u32,
    u128,
)
from wireproof.wire.json_values import Json

NO_PRODUCER: Final[dict[str, Json]] = {"producer": None}


def log_30(recipe: Recipe) -> bytes:
    """Return a segment of 0.0.30: records with the checksum of the payload, which polls do not have."""
    return b"".join(
        pack("<QQ", n, TIME) + u128(n + 1) + u32(zlib.crc32(payload)) + body(payload)
        for n, payload in enumerate(payloads(recipe))
    )


def log_30_value(recipe: Recipe) -> Json:
    """Return its value."""
    polled: Any = poll_30_value(recipe, revision="0.0.30")
    rows: list[Json] = [
        {**row, "checksum": str(zlib.crc32(payload))}
        for row, payload in zip(polled["messages"], payloads(recipe), strict=True)
    ]
    return {"messages": rows}


def log_40(recipe: Recipe) -> bytes:
    """Return a segment of 0.0.40: the messages of a poll, one after another."""
    return b"".join(
        pack("<Q", n) + stored_fields("0.0.40", n, payload) + body(payload)
        for n, payload in enumerate(payloads(recipe))
    )


def log_40_value(recipe: Recipe) -> Json:
    """Return its value."""
    return poll_30_value(recipe, revision="0.0.40")


def log_27(recipe: Recipe) -> bytes:
    """Return a segment of 0.2.7 with one batch, whose messages have a length and no payload length."""
    rows = b"".join(_retained(n, payload) for n, payload in enumerate(payloads(recipe)))
    return pack("<QIIQ", 0, len(rows), recipe.records - 1, TIME) + rows


def _retained(number: int, payload: bytes) -> bytes:
    """Return a message of a batch of 0.2.7."""
    row = pack("<Q", number) + stored_fields("0.0.40", number, payload) + u32(0) + payload
    return u32(len(row)) + row


def log_27_value(recipe: Recipe) -> Json:
    """Return its value."""
    polled: Any = poll_30_value(recipe, revision="0.0.40")
    head = {"base_offset": "0", "last_offset_delta": str(recipe.records - 1), "max_timestamp": str(TIME)}
    return {"batches": [{**head, "messages": polled["messages"]}]}


def log_70(recipe: Recipe, *, revision: str) -> bytes:
    """Return a segment of 0.7 to 0.9: the messages of a poll, one after another."""
    assert revision in HEADED
    return b"".join(polled_rows(recipe, revision))


def log_70_value(recipe: Recipe, *, revision: str) -> Json:
    """Return its value."""
    polled: Any = poll_70_value(recipe, revision=revision)
    return {"messages": polled["messages"]}


def log_11(recipe: Recipe) -> bytes:
    """Return a segment with one batch: of 0.11, and of 0.11.1-edge without a producer."""
    return batch(recipe, TIME)


def log_11_value(recipe: Recipe, *, revision: str) -> Json:
    """Return its value."""
    head, rows = batch_value(recipe)
    producer = NO_PRODUCER if revision == "0.11.1-edge" else {}
    return {"batches": [{**head, **producer, "messages": rows}]}
