"""Deep states of the Kafka formats; the numbers are those of kafka.md."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.coverage_goals.state import State, partly, refused, remarked, some, valued
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.values import Log, Message, Record, RecordBatch

INT31: Final = (1 << 31) - 1

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""By number: §1.2."""


def _packed(codec: int, test: Callable[[RecordBatch], object]) -> Callable[[RecordBatch], bool]:
    return lambda batch: batch.attributes & CODEC_MASK == codec and bool(test(batch))


def _repeated(batch: RecordBatch) -> bool:
    deltas = [record.offset_delta for record in batch.records]
    return len(set(deltas)) < len(deltas)


def _wide(data: bytes | None, size: int) -> bool:
    return data is not None and len(data) >= size


def _same_key_twice(record: Record) -> bool:
    keys = [key for key, _ in record.headers]
    return len(set(keys)) < len(keys)


def _sequence_wraps(batch: RecordBatch) -> bool:
    """§1.10: the last sequence of the batch is behind 2147483647, from 0 on again."""
    last, first = batch.last_offset_delta, batch.base_sequence
    return 0 < last <= INT31 and first >= 0 and first + last > INT31


BATCH: Final[tuple[State, ...]] = (
    *(
        valued(f"{name} with records", _packed(number, lambda batch: batch.records))
        for number, name in enumerate(CODECS)
    ),
    *(
        valued(f"{name} with a header", _packed(number, some("records", lambda record: record.headers)))
        for number, name in enumerate(CODECS)
        if number
    ),
    valued("empty batch", lambda b: not b.records),
    valued("null key", some("records", lambda r: r.key is None)),
    valued("empty key", some("records", lambda r: r.key == b"")),
    valued("null value", some("records", lambda r: r.value is None)),
    valued("empty value", some("records", lambda r: r.value == b"")),
    valued("a length of two varint bytes", some("records", lambda r: _wide(r.value, 64) or _wide(r.key, 64))),
    valued("header", some("records", lambda r: r.headers)),
    valued("header value null", some("records", lambda r: any(value is None for _, value in r.headers))),
    valued("header key empty", some("records", lambda r: any(not key for key, _ in r.headers))),
    valued("header key twice", some("records", _same_key_twice)),
    valued("control with a typed record", some("records", lambda r: r.control is not None)),
    valued("LogAppendTime", lambda b: b.records and b.attributes & LOG_APPEND_TIME),
    valued("transactional", lambda b: b.records and b.attributes & TRANSACTIONAL),
    valued("idempotent", lambda b: b.producer_id >= 0 and b.base_sequence >= 0),
    valued("delete horizon", lambda b: b.records and b.attributes & DELETE_HORIZON),
    valued(
        "LogAppendTime with delete horizon",
        lambda b: b.attributes & LOG_APPEND_TIME and b.attributes & DELETE_HORIZON,
    ),
    valued("duplicate offsets", _repeated),
    valued("several records", lambda b: len(b.records) > 2),
    valued("sequence wrap", _sequence_wraps),
    valued("negative timestamp delta", some("records", lambda r: r.timestamp_delta < 0)),
    valued("timestamp delta of 10 bytes", some("records", lambda r: abs(r.timestamp_delta) >= 1 << 62)),
    valued("gap in the offsets", lambda b: b.records and b.last_offset_delta >= len(b.records)),
    remarked("offset overflow", "offset-overflow"),
    remarked("unknown attribute bit", "unknown-attr-bits"),
    remarked("record attributes", "record-attrs"),
    refused("crc of a whole batch", "crc-mismatch", "crc"),
    refused("unknown codec", "unknown-codec", "attributes"),
    refused("record length inside a compressed region", "length-past-end", packed=True),
    refused("a field past its record, compressed", "length-past-end", "key", packed=True),
    refused("record length disagrees", "length-mismatch", "length"),
    refused("stream broken", "decompress-failed"),
    refused("more records than counted", "trailing-data"),
    refused("fewer records than counted", "count-mismatch", "length"),
    refused("null header key", "null-not-allowed", "key"),
    refused("negative count", "negative-length", "recordsCount"),
    refused("control record without its key", "bad-control"),
    partly("records before the fault"),
)


def _wrapped(codec: int) -> Callable[[Message], bool]:
    return lambda message: bool(message.messages) and message.attributes & CODEC_MASK == codec


def _messages(magic: int) -> Iterator[State]:
    """Yield the states of both old formats, and KIP-57 and timestamps, in which they differ."""
    for codec in (1, 2, 3):
        yield valued(f"{CODECS[codec]} wrapper", _wrapped(codec))
    yield valued("wrapper of several", lambda m: m.messages is not None and len(m.messages) > 1)
    yield valued("wrapper with a key", lambda m: m.messages and m.key is not None)
    yield valued("null value inside", lambda m: m.messages and any(one.value is None for one in m.messages))
    yield valued("null key", lambda m: m.messages is None and m.key is None)
    yield valued("empty value", lambda m: m.messages is None and m.value == b"")
    yield valued("null value", lambda m: m.messages is None and m.value is None)
    yield valued("value of 64 bytes and more", lambda m: _wide(m.value, 64))
    yield remarked("wrapper crc", "wrapper-crc")
    yield remarked("bytes behind the value", "legacy-extra-bytes")
    yield refused("crc", "crc-mismatch", "crc")
    yield refused("crc inside", "crc-mismatch", "crc", packed=True)
    yield refused("zstd", "unknown-codec", "attributes")
    yield refused("length past the end inside", "length-past-end", packed=True)
    yield refused("stream broken", "decompress-failed")
    yield partly("messages before the fault")
    yield from _TIMES if magic else _KIP57


_KIP57: Final = (valued("KIP-57 frame", _wrapped(3)), remarked("KIP-57 other checksum", "lz4-v0-hc-good"))
"""LZ4 in v0: §2.3."""

_TIMES: Final = (
    valued("LogAppendTime wrapper", lambda m: m.messages and m.attributes & LOG_APPEND_TIME),
    valued("wrapper of offset 0", lambda m: m.messages and m.offset == 0 and len(m.messages) > 1),
    valued("relative offsets", lambda m: m.messages and m.messages[0].offset > 0 and len(m.messages) > 1),
    remarked("time before -1", "negative-timestamp"),
)
"""Time stamps came with v1: §2.1, §2.2."""


def _of(kind: type, test: Callable[[Any], object] = lambda _: True) -> Callable[[Log], bool]:
    return lambda log: any(isinstance(one, kind) and test(one) for one in log.batches)


def _magics(log: Log) -> set[int]:
    return {one.magic for one in log.batches}


LOG: Final[tuple[State, ...]] = (
    valued("empty", lambda log: not log.batches),
    valued("two batches", lambda log: len(log.batches) > 1),
    valued("batch with records", _of(RecordBatch, lambda b: b.records)),
    valued("v0 message", _of(Message, lambda m: m.magic == 0)),
    valued("v1 message", _of(Message, lambda m: m.magic == 1)),
    valued("wrapper", _of(Message, lambda m: m.messages)),
    valued("mixed magics", lambda log: len(_magics(log)) > 1),
    valued(
        "compressed batch behind another", lambda log: any(b.attributes & CODEC_MASK for b in log.batches[1:])
    ),
    valued("control batch", _of(RecordBatch, lambda b: b.records and b.attributes & CONTROL)),
    remarked("offsets not monotonic", "offsets-not-monotonic"),
    refused("crc behind a whole entry", "crc-mismatch", "crc"),
    refused("magic unknown", "bad-magic"),
    partly("entries before the fault"),
)


STATES: Final = {
    "kafka.batch/v0": tuple(_messages(0)),
    "kafka.batch/v1": tuple(_messages(1)),
    "kafka.batch/v2": BATCH,
    "kafka.log/mixed": LOG,
}
"""By format id."""
