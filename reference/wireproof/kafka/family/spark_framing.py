"""The split points of Kafka's logs."""

from struct import Struct
from typing import Final

from wireproof import formats
from wireproof.family import deferred
from wireproof.kafka import batch
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
)
from wireproof.spark.objects import ObjectReader
from wireproof.spark.split_points import FastScan, StreamFraming
from wireproof.wire.options import Options

_SIZE_MAGIC: Final = Struct(f">{SIZE_AT}xi{MAGIC_AT - LOG_OVERHEAD}xB")


def _stride(stored: ObjectReader, position: int, options: Options) -> int:
    """Follow a header: size and magic (kafka.md §1.4), with the limits of kafka/scan.py."""
    data, at = stored.at(position, HEADER_SIZE_UP_TO_MAGIC)
    if len(data) - at < HEADER_SIZE_UP_TO_MAGIC:
        return 0
    size, magic = _SIZE_MAGIC.unpack_from(data, at)
    most = MAX_ENTRY if options.max_message is None else options.max_message
    if magic > 2 or not MIN_SIZE_BY_MAGIC[magic] <= size <= most:
        return 0
    total: int = size + LOG_OVERHEAD
    return total if position + total <= stored.size else 0


ENTRY_FORMATS: Final = tuple(f"kafka.batch/v{magic}" for magic in range(3))
"""The formats of entries, by magic."""


def _entry_format(data: bytes) -> str | None:
    return ENTRY_FORMATS[data[MAGIC_AT]] if len(data) > MAGIC_AT else None


def _order(data: bytes) -> tuple[int, int, int] | None:
    """Return first and last offset and leader epoch of a batch; older entries have none: kafka.md §1.5."""
    if len(data) < BATCH.fixed_size or data[MAGIC_AT] != batch.MAGIC:
        return None
    header = batch.peek_header(data, 0)
    first = header.base_offset
    return first, first + header.last_offset_delta, header.partition_leader_epoch


KAFKA: Final = StreamFraming(
    formats.get("kafka.log", "mixed"),
    _stride,
    deferred("wireproof.kafka.family.spark_reader:recover"),
    item_case=deferred("wireproof.kafka.family.spark_cases:item_case"),
    fast=FastScan(
        deferred("wireproof.kafka.family.spark_reader:read_frames"),
        ENTRY_FORMATS,
        _entry_format,
        _order,
    ),
)
