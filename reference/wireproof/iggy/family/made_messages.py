"""Generated Iggy sends and polls: messages without user headers, in every revision that has them.

Message n has id n + 1, offset n, and the payload of its number. The layouts are those of iggy.md §3.1, §3.3,
§5 and §6; a send goes to the stream 1 and the topic `sample`.
"""

import zlib
from collections.abc import Callable
from functools import partial
from struct import pack
from typing import Any, Final

import xxhash
from attrs import frozen

from wireproof.cases.generated_bytes import Recipe, joined, value_pieces
from wireproof.wire.json_values import Json

TIME: Final = 1_745_000_000_000_000
"""The timestamp of all messages, in microseconds."""

STREAM_AND_TOPIC: Final = b"\x01\x04\x01\0\0\0" + b"\x02\x06sample"
BALANCED: Final = b"\x01\x00"
PARTITION_0: Final = b"\x02\x04\0\0\0\0"

PLACE: Final[dict[str, Json]] = {
    "stream": {"kind": "numeric", "value": "01000000"},
    "topic": {"kind": "string", "value": b"sample".hex()},
}

Checksum = Callable[[bytes], int]

XXH3: Final[Checksum] = xxhash.xxh3_64_intdigest


@frozen
class Headed:
    """The messages of 0.7 to 0.9, with a header of fixed fields.

    Attributes:
        check: the checksum.
        reserved: the bytes between the header and the payload.
    """

    check: Checksum
    reserved: bytes = b""


HEADED: Final = {"0.7": Headed(zlib.crc32), "0.8": Headed(XXH3), "0.9": Headed(XXH3, bytes(8))}


def u32(number: int) -> bytes:
    """Return four bytes, little-endian."""
    return pack("<I", number)


def u128(number: int) -> bytes:
    """Return sixteen bytes, little-endian."""
    return number.to_bytes(16, "little")


def payloads(recipe: Recipe) -> list[bytes]:
    """Return the payloads of the messages."""
    return [joined(value_pieces(recipe.fill, recipe.value, n)) for n in range(recipe.records)]


def _place(partitioning: str, value: str, messages: list[Json]) -> Json:
    return {**PLACE, "partitioning": {"kind": partitioning, "value": value}, "messages": messages}


# --- up to 0.6: the revisions 0.0.30, 0.0.40 and 0.0.60 ---


def send_30(recipe: Recipe) -> bytes:
    """Return a send of 0.0.30."""
    rows = [u128(n + 1) + body(payload) for n, payload in enumerate(payloads(recipe))]
    return STREAM_AND_TOPIC + BALANCED + b"".join(rows)


def send_30_value(recipe: Recipe) -> Json:
    """Return its value."""
    rows: list[Json] = [
        {"id": str(n + 1), "headers": [], "payload": payload.hex()}
        for n, payload in enumerate(payloads(recipe))
    ]
    return _place("balanced", "", rows)


def body(payload: bytes) -> bytes:
    """Return the end of a message: no headers, and the payload behind its length."""
    return u32(0) + u32(len(payload)) + payload


def poll_30(recipe: Recipe, *, revision: str) -> bytes:
    """Return a poll of 0.0.30, 0.0.40 or 0.0.60."""
    rows = [
        pack("<Q", n) + stored_fields(revision, n, payload) + body(payload)
        for n, payload in enumerate(payloads(recipe))
    ]
    prefix = pack("<IQ", 1, recipe.records - 1) if revision == "0.0.60" else b""
    return prefix + u32(recipe.records) + b"".join(rows)


def stored_fields(revision: str, number: int, payload: bytes) -> bytes:
    """Return the fields between the offset and the headers of a message."""
    if revision == "0.0.30":
        return pack("<Q", TIME) + u128(number + 1)
    return pack("<BQ", 1, TIME) + u128(number + 1) + u32(zlib.crc32(payload))


def poll_30_value(recipe: Recipe, *, revision: str) -> Json:
    """Return its value."""
    rows: list[Json] = []
    for n, payload in enumerate(payloads(recipe)):
        row: dict[str, Json] = {"offset": str(n)}
        row |= {"state": "available"} if revision != "0.0.30" else {}
        row |= {"timestamp": str(TIME), "id": str(n + 1)}
        row |= {"checksum": str(zlib.crc32(payload))} if revision != "0.0.30" else {}
        rows.append({**row, "headers": [], "payload": payload.hex()})
    prefix: dict[str, Json] = {"partition_id": "1", "current_offset": str(recipe.records - 1)}
    return {**(prefix if revision == "0.0.60" else {}), "messages": rows}


# --- 0.7 to 0.9 ---


def _headed(headed: Headed, number: int, offset: int, time: int, payload: bytes, *, check: bool) -> bytes:
    rest = u128(number + 1) + pack("<QQQII", offset, time, TIME, 0, len(payload)) + headed.reserved + payload
    return pack("<Q", headed.check(rest) if check else 0) + rest


def send_70(recipe: Recipe, *, revision: str) -> bytes:
    """Return a send of 0.7 to 0.9: metadata, an index with the end of each message, the messages."""
    made = partial(_headed, HEADED[revision], offset=0, time=0, check=False)
    rows = [made(n, payload=payload) for n, payload in enumerate(payloads(recipe))]
    end, index = 0, b""
    for row in rows:
        end += len(row)
        index += pack("<IIQ", 0, end, 0)
    return _metadata(BALANCED, recipe.records) + index + b"".join(rows)


def _metadata(partitioning: bytes, count: int) -> bytes:
    inside = STREAM_AND_TOPIC + partitioning + u32(count)
    return u32(len(inside)) + inside


def send_70_value(recipe: Recipe) -> Json:
    """Return its value."""
    return _place("balanced", "", _sent_values(recipe))


def _sent_values(recipe: Recipe) -> list[Json]:
    return [
        {"id": str(n + 1), "origin_timestamp": str(TIME), "headers": [], "payload": payload.hex()}
        for n, payload in enumerate(payloads(recipe))
    ]


def poll_70(recipe: Recipe, *, revision: str) -> bytes:
    """Return a poll of 0.7 to 0.9."""
    rows = polled_rows(recipe, revision)
    return pack("<IQI", 1, recipe.records - 1, recipe.records) + b"".join(rows)


def polled_rows(recipe: Recipe, revision: str) -> list[bytes]:
    """Return the messages of a poll of 0.7 to 0.9."""
    made = partial(_headed, HEADED[revision], time=TIME, check=True)
    return [made(n, offset=n, payload=payload) for n, payload in enumerate(payloads(recipe))]


def poll_70_value(recipe: Recipe, *, revision: str) -> Json:
    """Return its value."""
    rows: list[Json] = [
        {
            "checksum": str(int.from_bytes(data[:8], "little")),
            "id": str(n + 1),
            "offset": str(n),
            "timestamp": str(TIME),
            "origin_timestamp": str(TIME),
            "headers": [],
            "payload": payload.hex(),
        }
        for n, (data, payload) in enumerate(zip(polled_rows(recipe, revision), payloads(recipe), strict=True))
    ]
    return {"partition_id": "1", "current_offset": str(recipe.records - 1), "messages": rows}


# --- 0.11 ---


def _frame(number: int, payload: bytes) -> bytes:
    rest = u128(number + 1) + pack("<IIIIQ", number, 0, 0, len(payload), 0) + payload
    return pack("<Q", XXH3(rest)) + rest


def batch(recipe: Recipe, time: int) -> bytes:
    """Return a batch without a producer; the server sets `time`."""
    frames = [_frame(n, payload) for n, payload in enumerate(payloads(recipe))]
    size = 256 + sum(map(len, frames))
    fields, count = pack("<QQQQQ", 0, 0, time, TIME, size), u32(recipe.records)
    check = XXH3(fields + count + b"".join(frame[:8] for frame in frames))
    return fields + pack("<Q", check) + count + bytes(204) + b"".join(frames)


def send_11(recipe: Recipe) -> bytes:
    """Return a send of 0.11: metadata, and a batch whose time the server sets."""
    return _metadata(PARTITION_0, recipe.records) + batch(recipe, 0)


def send_11_value(recipe: Recipe) -> Json:
    """Return its value."""
    return _place("partition_id", "00000000", _sent_values(recipe))


def poll_11(recipe: Recipe) -> bytes:
    """Return a poll of 0.11 with one batch."""
    return pack("<IQI", 0, recipe.records - 1, recipe.records) + batch(recipe, TIME)


def poll_11_value(recipe: Recipe) -> Json:
    """Return its value."""
    head, rows = batch_value(recipe)
    place: dict[str, Json] = {"partition_id": "0", "current_offset": str(recipe.records - 1)}
    return {**place, "batches": [{**head, "message_count": str(recipe.records)}], "messages": rows}


def batch_value(recipe: Recipe) -> tuple[dict[str, Json], list[Json]]:
    """Return the header fields of a stored batch, and its messages."""
    check = int.from_bytes(batch(recipe, TIME)[40:48], "little")
    head: dict[str, Json] = {
        "partition_id": "0",
        "base_offset": "0",
        "base_timestamp": str(TIME),
        "origin_timestamp": str(TIME),
        "batch_checksum": str(check),
    }
    return head, [_frame_value(n, payload) for n, payload in enumerate(payloads(recipe))]


def _frame_value(number: int, payload: bytes) -> Json:
    return {
        "checksum": str(int.from_bytes(_frame(number, payload)[:8], "little")),
        "id": str(number + 1),
        "offset_delta": str(number),
        "timestamp_delta": "0",
        "headers": [],
        "payload": payload.hex(),
        "offset": str(number),
        "timestamp": str(TIME),
        "origin_timestamp": str(TIME),
    }


# --- segments, as each revision stores the messages: iggy.md §7 ---

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
