"""Generated Kafka entries: one v2 batch, or one v0 or v1 message, which is a wrapper if it is compressed.

Record n has offset n, the timestamp `TIME` + n, no key and the value of its number. The layouts are those of
kafka.md §1.1, §1.3, §2.1 and §2.2; the values have the fields of a decoded entry.
"""

import struct
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import google_crc32c
from attrs import evolve

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
from wireproof.derive.mutate.dictionary import varint
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.wire.json_values import Json, to_json

TIME: Final = 1_700_000_000_000
"""The timestamp of the first record."""


# --- v2 ---


def batch(recipe: Recipe) -> bytes:
    number = recipe.records
    pieces: list[Piece] = []
    for index in range(number):
        delta, no_key, no_headers = varint("varint", index), b"\1", b"\0"
        before = b"\0" + delta + delta + no_key + varint("varint", recipe.value)
        length = varint("varint", len(before) + recipe.value + len(no_headers))
        pieces += [length + before, *value_pieces(recipe.fill, recipe.value, index), no_headers]
    body = writer_of(recipe)(list(merged(pieces)))
    fields = struct.pack(
        ">hiqqqhii", CODEC_NUMBERS[recipe.codec], number - 1, TIME, TIME + number - 1, -1, -1, -1, number
    )
    covered = fields + body
    head = struct.pack(">qiib", 0, 4 + 1 + 4 + len(covered), 0, 2)
    return head + struct.pack(">I", google_crc32c.value(covered)) + covered


def produced(recipe: Recipe) -> bytes:
    """Return the bytes of a v2 batch as a producer sends it: leader epoch -1, which no CRC covers."""
    data = batch(recipe)
    return data[:12] + b"\xff\xff\xff\xff" + data[16:]


def batch_value(recipe: Recipe, *, computed: bool) -> Json:
    """Return the value of the batch, with or without the fields that a decoder computes."""
    values = (joined(value_pieces(recipe.fill, recipe.value, n)) for n in range(recipe.records))
    records = tuple(Record(0, n, n, None, value, (), n, TIME + n) for n, value in enumerate(values))
    codec, last = CODEC_NUMBERS[recipe.codec], recipe.records - 1
    value = RecordBatch(0, 0, 2, codec, last, TIME, TIME + last, -1, -1, -1, records)
    tree: Any = to_json(value, with_derived=computed)
    for record in () if computed else tree["records"]:
        del record["offset"], record["timestamp"], record["control"]
    return tree  # type: ignore[no-any-return] # it was JSON before


def log_value(recipe: Recipe, *, computed: bool) -> Json:
    """Return the value of a log with the batch alone, as a topic stores it."""
    following: dict[str, Json] = {"nextOffset": str(recipe.records)} if computed else {}
    return {"batches": [batch_value(recipe, computed=computed)], **following}


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
    stamp = struct.pack(">q", time) if magic else b""
    size = size_of(value)
    covered = struct.pack(">bb", magic, attributes) + stamp + struct.pack(">ii", -1, size)
    check = zlib.crc32(joined(value), zlib.crc32(covered))
    return [struct.pack(">qiI", offset, 4 + len(covered) + size, check) + covered, *value]


def message_value(recipe: Recipe, magic: int, *, computed: bool) -> Json:
    """Return the value of the message, with or without the fields that a decoder computes."""
    values = (joined(value_pieces(recipe.fill, recipe.value, n)) for n in range(recipe.records))
    inner = tuple(
        Message(n, magic, 0, TIME + n if magic else -1, None, value, None) for n, value in enumerate(values)
    )
    codec, last = CODEC_NUMBERS[recipe.codec], inner[-1]
    wrapper = evolve(last, attributes=codec, value=None, messages=inner)
    return to_json(wrapper if codec else inner[0], with_derived=computed)


# --- the generators ---


def _generator(data: Callable[[Recipe], bytes], value: Callable[..., Json]) -> Generator:
    return Generator(data, partial(value, computed=True), partial(value, computed=False))


GENERATORS: Final = {
    "kafka.batch/v0": _generator(partial(message, magic=0), partial(message_value, magic=0)),
    "kafka.batch/v1": _generator(partial(message, magic=1), partial(message_value, magic=1)),
    "kafka.batch/v2": _generator(batch, batch_value),
    "kafka.log/mixed": _generator(produced, log_value),
}
"""The generator of each kind."""
