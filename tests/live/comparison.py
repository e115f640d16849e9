"""The same record sets, one after another, to two brokers: what each answered, what it stored, and lists."""

import time
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

from attrs import evolve, frozen

from tests.live.raw_client import RawClient
from wireproof.cases import fixtures
from wireproof.cases.case import Data
from wireproof.kafka import log
from wireproof.kafka.attribute_bits import LOG_APPEND_TIME
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker.append_rules import ErrorCode, finished, form_of
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader

# --- record sets that a broker accepts or refuses, and settings of topics ---


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
SHIFTS: Final = {"now": 0, "two-days-ago": -172_800_000, "in-two-hours": 7_200_000}


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
    for (codec, number), (name, shift) in product(CODECS.items(), SHIFTS.items()):
        good = _batch(number, now + shift)
        yield f"{codec}-{name}", finished(form_of(good))
        keyless = evolve(good.records[2], key=None)
        yield f"{codec}-{name}-keyless", finished(form_of(evolve(good, records=(*good.records[:2], keyless))))
    for codec, number in CODECS.items():
        good = _batch(number, now)
        gap = evolve(good.records[2], offset_delta=3)
        yield f"{codec}-gap", finished(form_of(evolve(good, records=(*good.records[:2], gap))))
        yield f"{codec}-max-timestamp", finished(form_of(evolve(good, max_timestamp=now + 9)))
        for bit in (3, 4, 5, 6, 7, 15):
            signed = (good.attributes | 1 << bit) - (1 << 16 if bit == 15 else 0)
            yield f"{codec}-bit-{bit}", finished(form_of(evolve(good, attributes=signed)))


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
    return finished(
        form_of(RecordBatch(0, -1, 2, codec, len(times) - 1, times[0], max(times), -1, -1, -1, records))
    )


# --- what a broker does with them ---


PREFIX: Final = "wireproof-compared-"

ANY_TIME: Final = 1
"""In place of a time of the broker, once it is the one that it answered."""


@frozen
class Outcome:
    """What a broker did with a record set.

    Attributes:
        code: the name of the error code.
        shift: the answered base offset less the end of the log before; None where it refused.
        records: the indexes of the records that it names as wrong.
        moved: by how much the end of the log moved.
        stored: the new batches, with offsets from 0 on and ANY_TIME for an append time that was answered.
    """

    code: str
    shift: int | None
    records: tuple[int, ...]
    moved: int
    stored: tuple[Any, ...]


def outcomes(address: str, sets: Mapping[str, bytes]) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcome for each topic and record set, by their names."""
    with RawClient(address) as client:
        try:
            for name, settings in SETTINGS.items():
                topic = PREFIX + name
                if code := client.create(topic, 1, settings):
                    raise RuntimeError(f"{topic}: {ErrorCode(code).name}")
                for one, data in sets.items():
                    yield f"{name}: {one}", _outcome(client, topic, data)
        finally:
            client.delete(*(PREFIX + name for name in SETTINGS))


def _outcome(client: RawClient, topic: str, data: bytes) -> Outcome:
    before = client.end(topic, 0)
    produced = client.produce(topic, 0, data)
    end = client.end(topic, 0)
    new = client.fetch(topic, 0, before)[2] if end > before else b""
    return Outcome(
        ErrorCode(produced.code).name,
        None if produced.code else produced.base_offset - before,
        produced.records,
        end - before,
        tuple(_relative(batch, before, produced.append_time) for batch in _batches(new)),
    )


def _batches(data: bytes) -> tuple[RecordBatch, ...]:
    return log.decode(Reader(data), DEFAULT_OPTIONS).batches  # type: ignore[return-value] # of v2 alone


def _relative(batch: RecordBatch, before: int, append_time: int) -> RecordBatch:
    """Return a batch without what differs from run to run: offsets, and the broker's time."""
    records = tuple(evolve(record, offset=record.offset - before) for record in batch.records)
    batch = evolve(batch, base_offset=batch.base_offset - before, records=records)
    if not batch.attributes & LOG_APPEND_TIME or batch.max_timestamp != append_time:
        return batch
    records = tuple(evolve(record, timestamp=ANY_TIME) for record in records)
    return evolve(batch, max_timestamp=ANY_TIME, records=records)


BEGIN: Final = 1_750_000_000_000
"""The time of the first record, in milliseconds."""

TIMES: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = {
    "empty": (),
    "each": ((0, 3, 1), (10, 10), (10, 12), (5, 20, 20), (15,)),
    "equal": ((0, 0), (0, 0), (0,)),
    "back": ((20,), (10,), (0, 20)),
    "without": ((-1 - BEGIN, -1 - BEGIN),),
}
"""The times of the records of each batch of a log, less `BEGIN`."""

BETWEEN: Final = 20
"""Milliseconds between two appends, so that their times differ under append time."""

LISTED_VERSIONS: Final = (1, 2, 4, 7)
"""Versions of ListOffsets: the oldest, with an isolation level, with an epoch, with the greatest time."""

NO_TIMES: Final = tuple(range(-7, 0))
"""Numbers in place of a time: the end, the start, the greatest time, and those of later versions."""

Answer = tuple[int, str | int, int, int]
"""An error code, a time by its name, an offset and an epoch."""


def listed_offsets(address: str) -> Iterator[tuple[str, Answer]]:
    """Yield the answers of ListOffsets about logs with known times, by log, version and time."""
    kinds = ("CreateTime", "LogAppendTime")
    logs = [*product(TIMES, ("none",), kinds[:1]), *product(("each",), CODECS, kinds)]
    with RawClient(address) as client:
        for name, codec, kind in dict.fromkeys(logs):
            topic = f"{PREFIX}times-{name}-{codec}-{kind}"
            client.create(topic, 1, {"message.timestamp.type": kind})
            try:
                for key, answer in _listed(client, topic, CODECS[codec], TIMES[name]):
                    yield f"{name}, {codec}, {kind}, {key}", answer
            finally:
                client.delete(topic)


def _listed(
    client: RawClient, topic: str, codec: int, batches: tuple[tuple[int, ...], ...]
) -> Iterator[tuple[str, Answer]]:
    names = {BEGIN + shift: f"time {shift}" for shift in range(-1, 23)}
    for place, times in enumerate(batches):
        produced = client.produce(topic, 0, timed_batch(codec, *(BEGIN + one for one in times)))
        if produced.append_time >= 0:
            near = {produced.append_time + shift: f"append {place} {shift:+}" for shift in (-1, 0, 1)}
            names.update(near)
        time.sleep(BETWEEN / 1000)
    for version, isolation, asked in product(LISTED_VERSIONS, (0, 1), (*NO_TIMES, 0, *names)):
        found = client.listed(topic, 0, asked, version, isolation)
        named = names.get(found.timestamp, found.timestamp)
        yield (
            f"version {version}, isolation {isolation}, {names.get(asked, asked)}",
            (found.code, named, found.offset, found.epoch),
        )
