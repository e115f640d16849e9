"""Normalise edited entries so that the encoder accepts them."""

from collections.abc import Callable
from typing import Any, Final

from attrs import evolve

from wireproof.cases.mutate.encodings import wrapped
from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.wire.compression import COMPRESSION_CODECS


def _batch(batch: RecordBatch) -> RecordBatch:
    """Use a known codec, 0 to 4, and magic 2: kafka.md §1.2."""
    attributes = wrapped(batch.attributes, 16)
    if attributes & CODEC_MASK and attributes & CODEC_MASK not in COMPRESSION_CODECS:
        attributes &= ~4
    if (attributes, 2) == (batch.attributes, batch.magic):
        return batch
    return evolve(batch, attributes=attributes, magic=2)


def _message(message: Message) -> Message:
    """Make codec and inner messages consistent, and the wrapper's offset and timestamp too: kafka.md §2.2."""
    attributes = wrapped(message.attributes, 8)
    codec = attributes & CODEC_MASK
    if codec > 3:
        attributes, codec = attributes & ~4, codec & 3
    if message.magic not in (0, 1):
        message = evolve(message, magic=1)
    timestamp = -1 if message.magic == 0 else max(message.timestamp, -1)
    if not codec or message.messages == ():
        value = message.value if message.messages is None else b"v"
        return evolve(
            message, attributes=attributes & ~CODEC_MASK, timestamp=timestamp, value=value, messages=None
        )
    plain = evolve(message, attributes=attributes & ~CODEC_MASK, timestamp=timestamp, messages=None)
    inner = (plain,) if message.messages is None else message.messages
    rows = [
        evolve(one, attributes=one.attributes & ~CODEC_MASK, magic=message.magic, messages=None)
        for one in inner
    ]
    outer = evolve(message, attributes=attributes, timestamp=timestamp, value=None, messages=tuple(rows))
    return _timed(outer) if outer.magic else outer


def _timed(outer: Message) -> Message:
    assert outer.messages is not None
    inner = outer.messages
    if outer.attributes & LOG_APPEND_TIME:
        inner = tuple(evolve(one, timestamp=outer.timestamp) for one in inner)
    offset = outer.offset and inner[-1].offset
    if offset and inner[0].offset < 0:
        offset = 0
    return evolve(outer, offset=offset, messages=inner)


NORMALISERS: Final[dict[type, Callable[[Any], Any]]] = {RecordBatch: _batch, Message: _message}
"""Class to the function that normalises its instances."""

WHOLE: Final = (RecordBatch, Record)
"""Classes whose parts do not depend on one another."""
