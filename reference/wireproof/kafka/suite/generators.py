"""Generated Kafka entries: one v2 batch, or one v0 or v1 message, which is a wrapper if it is compressed.

Record n has offset n, the timestamp `TIME` + n, no key and the value of its number. The layouts are those of
kafka.md §1.1, §1.3, §2.1 and §2.2; the values have the fields of a decoded entry.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import partial
from typing import Final

import google_crc32c

from wireproof.cases.generated_bytes import (
    CODEC_NUMBERS,
    Piece,
    Recipe,
    joined,
    merged,
    size_of,
    value_pieces,
    writer_of,
)
from wireproof.cases.made_case import Generator
from wireproof.wire.json_values import Json

TIME: Final = 1_700_000_000_000
"""The timestamp of the first record."""

NO_KEY: Final = b"\x01"
"""A key length of -1 in a v2 record."""

EPOCH_AT: Final = 12
NO_EPOCH: Final = b"\xff\xff\xff\xff"
"""The partitionLeaderEpoch of a producer, -1."""


# --- v2 ---


def batch(recipe: Recipe) -> bytes:
    """Return the bytes of a v2 batch."""
    number = recipe.records
    pieces: list[Piece] = []
    for index in range(number):
        delta = _varint(index)
        before, after = b"\0" + delta + delta + NO_KEY + _varint(recipe.value), b"\0"
        length = _varint(len(before) + recipe.value + len(after))
        pieces += [length + before, *value_pieces(recipe.fill, recipe.value, index), after]
    body = writer_of(recipe)(list(merged(pieces)))
    fields = struct.pack(
        ">hiqqqhii", CODEC_NUMBERS[recipe.codec], number - 1, TIME, TIME + number - 1, -1, -1, -1, number
    )
    covered = fields + body
    head = struct.pack(">qiib", 0, 4 + 1 + 4 + len(covered), 0, 2)
    return head + struct.pack(">I", google_crc32c.value(covered)) + covered


def produced(recipe: Recipe) -> bytes:
    """Return the bytes of a v2 batch as a producer sends it: without a leader epoch, which no CRC covers."""
    data = batch(recipe)
    return data[:EPOCH_AT] + NO_EPOCH + data[EPOCH_AT + len(NO_EPOCH) :]


def log_value(recipe: Recipe, *, computed: bool) -> Json:
    """Return the value of a log with the batch alone, as a topic stores it."""
    following: dict[str, Json] = {"nextOffset": str(recipe.records)} if computed else {}
    return {"batches": [batch_value(recipe, computed=computed)], **following}


def _varint(value: int) -> bytes:
    """Return the zigzag varint of a number from 0 on."""
    rest = value << 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def batch_value(recipe: Recipe, *, computed: bool) -> Json:
    """Return the value of the batch, with or without the fields that a decoder computes."""
    following: dict[str, Json] = {"nextOffset": str(recipe.records)} if computed else {}
    return {
        "baseOffset": "0",
        "partitionLeaderEpoch": "0",
        "magic": "2",
        "attributes": str(CODEC_NUMBERS[recipe.codec]),
        "lastOffsetDelta": str(recipe.records - 1),
        "baseTimestamp": str(TIME),
        "maxTimestamp": str(TIME + recipe.records - 1),
        "producerId": "-1",
        "producerEpoch": "-1",
        "baseSequence": "-1",
        "records": [_record_value(recipe, n, computed=computed) for n in range(recipe.records)],
        **following,
    }


def _record_value(recipe: Recipe, number: int, *, computed: bool) -> Json:
    stated: dict[str, Json] = {
        "attributes": "0",
        "timestampDelta": str(number),
        "offsetDelta": str(number),
        "key": None,
        "value": _hex_value(recipe, number),
        "headers": [],
    }
    if not computed:
        return stated
    place: dict[str, Json] = {"offset": str(number), "timestamp": str(TIME + number), "control": None}
    return {**stated, **place, "sequence": "-1", "timestampType": "create"}


def _hex_value(recipe: Recipe, number: int) -> str:
    return joined(value_pieces(recipe.fill, recipe.value, number)).hex()


# --- v0 and v1 ---


def message(recipe: Recipe, magic: int) -> bytes:
    """Return the bytes of a v0 or v1 message: plain, or a wrapper with an absolute offset."""
    last = recipe.records - 1
    if recipe.codec == "none":
        return joined(_message(magic, 0, 0, TIME, value_pieces(recipe.fill, recipe.value)))
    inner = [piece for n in range(recipe.records) for piece in _message(
        magic, n, 0, TIME + n, value_pieces(recipe.fill, recipe.value, n))]  # fmt: skip
    packed = writer_of(recipe, v0=magic == 0)(list(merged(inner)))
    return joined(_message(magic, last, CODEC_NUMBERS[recipe.codec], TIME + last, [packed]))


def _message(magic: int, offset: int, attributes: int, time: int, value: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of a message without a key."""
    stamp = struct.pack(">q", time) if magic else b""
    size = size_of(value)
    covered = struct.pack(">bb", magic, attributes) + stamp + struct.pack(">ii", -1, size)
    check = zlib.crc32(joined(value), zlib.crc32(covered))
    return [struct.pack(">qiI", offset, 4 + len(covered) + size, check) + covered, *value]


def message_value(recipe: Recipe, magic: int, *, computed: bool) -> Json:
    """Return the value of the message, with or without the fields that a decoder computes."""
    values = (_hex_value(recipe, n) for n in range(recipe.records))
    plain = [_plain_value(magic, n, value, computed=computed) for n, value in enumerate(values)]
    if recipe.codec == "none":
        return plain[0]
    whole = _plain_value(magic, recipe.records - 1, None, computed=computed)
    return {**whole, "attributes": str(CODEC_NUMBERS[recipe.codec]), "messages": list(plain)}


def _plain_value(magic: int, number: int, value: str | None, *, computed: bool) -> dict[str, Json]:
    stated: dict[str, Json] = {
        "offset": str(number),
        "magic": str(magic),
        "attributes": "0",
        "timestamp": str(TIME + number) if magic else "-1",
        "key": None,
        "value": value,
        "messages": None,
    }
    if not computed:
        return stated
    kind = "create" if magic else "none"
    return {**stated, "nextOffset": str(number + 1), "timestampType": kind}


# --- the generators ---


def _generator_of_messages(magic: int) -> Generator:
    value = partial(message_value, magic=magic)
    data = partial(message, magic=magic)
    return Generator(data, partial(value, computed=True), partial(value, computed=False))


GENERATORS: Final = {
    "kafka.batch/v0": _generator_of_messages(0),
    "kafka.batch/v1": _generator_of_messages(1),
    "kafka.batch/v2": Generator(
        batch,
        partial(batch_value, computed=True),
        partial(batch_value, computed=False),
    ),
    "kafka.log/mixed": Generator(
        produced,
        partial(log_value, computed=True),
        partial(log_value, computed=False),
    ),
}
"""The generator of each kind."""
