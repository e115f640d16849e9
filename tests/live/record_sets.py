"""Record sets that a broker accepts or refuses, and settings of topics, to compare two brokers."""

import time
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from attrs import evolve

from wireproof.cases import fixtures
from wireproof.cases.case import Data
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker.append_rules import Form, finished, written_records

SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "default": {},
    "append-time": {"message.timestamp.type": "LogAppendTime"},
    "compact": {"cleanup.policy": "compact"},
    "small": {"max.message.bytes": "100"},
    "bounds": {"message.timestamp.before.max.ms": "86400000", "message.timestamp.after.max.ms": "60000"},
    "append-time-gzip": {"message.timestamp.type": "LogAppendTime", "compression.type": "gzip"},
    **{name: {"compression.type": name} for name in ("uncompressed", "gzip", "snappy", "lz4", "zstd")},
}
"""Settings of topics, by a short name."""

CODECS: Final = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
TIMES: Final = {"now": 0, "two-days-ago": -172_800_000, "in-two-hours": 7_200_000}


def record_sets() -> Mapping[str, bytes]:
    """Return the inputs of the golden cases with batches of v2, and batches of every codec, by name."""
    return {**dict(_golden()), **dict(_made())}


def _golden() -> Iterator[tuple[str, bytes]]:
    for case in fixtures.load().cases:
        if case.id.startswith(("kafka.batch/v2/produce/", "kafka.log/mixed/produce/")):
            match case.op, case.input:
                case "decode", Data(data=data):
                    yield case.id, data


def _made() -> Iterator[tuple[str, bytes]]:
    now = time.time_ns() // 1_000_000
    for (codec, number), (name, shift) in product(CODECS.items(), TIMES.items()):
        good = _batch(number, now + shift)
        yield f"{codec}-{name}", _bytes(good)
        keyless = evolve(good.records[2], key=None)
        yield f"{codec}-{name}-keyless", _bytes(evolve(good, records=(*good.records[:2], keyless)))
    for codec, number in CODECS.items():
        good = _batch(number, now)
        gap = evolve(good.records[2], offset_delta=3)
        yield f"{codec}-gap", _bytes(evolve(good, records=(*good.records[:2], gap)))
        yield f"{codec}-max-timestamp", _bytes(evolve(good, max_timestamp=now + 9))
        for bit in (3, 4, 5, 6, 7, 15):
            signed = (good.attributes | 1 << bit) - (1 << 16 if bit == 15 else 0)
            yield f"{codec}-bit-{bit}", _bytes(evolve(good, attributes=signed))


def _batch(codec: int, now: int) -> RecordBatch:
    text = b"0123456789" * 8
    records = (
        Record(0, 0, 0, b"key", text, ()),
        Record(0, 3, 1, b"", None, ((b"h", b"1"), (b"h", None), (b"", b""))),
        Record(0, -5, 2, b"k2", b"", ()),
    )
    return RecordBatch(0, -1, 2, codec, 2, now, now + 3, -1, -1, -1, records)


def timed_batch(codec: int, *times: int) -> bytes:
    """Return a batch of records with these times."""
    records = tuple(Record(0, time - times[0], place, b"k", b"v", ()) for place, time in enumerate(times))
    return _bytes(RecordBatch(0, -1, 2, codec, len(times) - 1, times[0], max(times), -1, -1, -1, records))


def _bytes(batch: RecordBatch) -> bytes:
    return finished(Form(batch, written_records(batch)))
