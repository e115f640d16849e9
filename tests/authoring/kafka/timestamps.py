"""Timestamps of `kafka.batch/v2`: kafka.md §1.8."""


from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    DAY,
    TWO,
    T,
    batch,
    batch_value,
    gzip,
    record,
    record_value,
    two_values,
)


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_timestamps, _rare_times, _further_times, _delete_horizon):
        chapter(v2)


def _timestamps(s: CaseBuilder) -> None:
    at = T + 5000
    s.accepts("timestamps/log-append", "LogAppendTime: maxTimestamp is every record's", batch(TWO, 2, attributes=8, max_ts=at),
         batch_value(two_values(append=at), attributes=8, max_ts=at), doc="kafka.md §6 E10 W13", needs=["feature:log-append-time"],
         rules=("kafka.v2.log-append-time",), why="IBM/sarama #1258, tulios/kafkajs #768: the deltas were used instead.")
    s.accepts("timestamps/log-append-gzip", "LogAppendTime under gzip", batch(gzip(TWO), 2, attributes=9, max_ts=at),
         batch_value(two_values(append=at), attributes=9, max_ts=at), doc="kafka.md §7 C28", needs=["codec:gzip", "feature:log-append-time"],
         rules=("kafka.v2.log-append-time",), why="KAFKA-16342: compressed batches took another path.")
    s.accepts("timestamps/log-append-minus-1", "LogAppendTime with maxTimestamp −1", batch(TWO, 2, attributes=8, max_ts=-1),
         batch_value(two_values(append=-1), attributes=8, max_ts=-1), doc="kafka.md §7 C27", needs=["feature:log-append-time"],
         rules=("kafka.v2.log-append-time",), remarks=("negative-timestamp",), why="No time at all.")
    horizon = T + DAY
    s.accepts("timestamps/delete-horizon", "baseTimestamp holds the delete horizon", batch(record(b"k", None, ts=-DAY), 1, attributes=0x40, base_ts=horizon),
         batch_value([record_value(b"k", None, ts=-DAY, base_ts=horizon)], attributes=0x40, base_ts=horizon), doc="kafka.md §6 E16 W21",
         rules=("kafka.v2.delete-horizon",), needs=["feature:delete-horizon"], why="KAFKA-8522: deltas stay relative to it.")
    s.accepts("timestamps/append-and-horizon", "LogAppendTime and delete horizon", batch(record(b"k", None, ts=-5000), 1, attributes=0x48, base_ts=horizon, max_ts=at),
         batch_value([record_value(b"k", None, ts=-5000, base_ts=horizon, append=at)], attributes=0x48, base_ts=horizon, max_ts=at),
         doc="kafka.md §6 E33 X03", rules=("kafka.v2.log-append-time", "kafka.v2.delete-horizon"), remarks=("lat-and-horizon",),
         needs=["feature:delete-horizon", "feature:log-append-time"], why="The timestamp is the append time, the base the horizon.")
    wide = 3_000_000_000
    s.accepts("timestamps/delta-over-int32", "timestampDelta 3,000,000,000", batch(record(None, b"a") + record(None, b"b", ts=wide, off=1), 2, max_ts=T + wide),
         batch_value([record_value(None, b"a"), record_value(None, b"b", ts=wide, off=1)], max_ts=T + wide), doc="kafka.md §6 E18 W23",
         rules=("kafka.v2.timestamp", "kafka.v2.timestamp.64-bit"), why="twmb/franz-go a0f2e5bc read it as int32.")
    s.accepts("timestamps/delta-negative", "A record older than the first", batch(record(None, b"a") + record(None, b"b", ts=-5, off=1), 2),
         batch_value([record_value(None, b"a"), record_value(None, b"b", ts=-5, off=1)]), doc="kafka.md §1.3",
         rules=("kafka.v2.timestamp", "kafka.v2.timestamp.64-bit"), why="Producers do not sort by time.")
    s.accepts("timestamps/none", "No timestamp at all", batch(record(b"k", None), 1, base_ts=-1, max_ts=-1),
         batch_value([record_value(b"k", None, base_ts=-1)], base_ts=-1, max_ts=-1), doc="kafka.md §7 W25", rules=("kafka.v2.timestamp.none",),
         why="−1 is no time and no error; kio raises.")
    s.accepts("timestamps/makes-negative", "A delta that makes the timestamp negative", batch(record(b"k", b"v", ts=-T - 5), 1),
         batch_value([record_value(b"k", b"v", ts=-T - 5)]), doc="kafka.md §7 R32", rules=("kafka.v2.unchecked",),
         remarks=("negative-timestamp",), why="KIP-228 was abandoned; the reader does not check.")


def _rare_times(s: CaseBuilder) -> None:
    """§1.10: a timestamp is a plain 64-bit sum (R31), at both ends."""
    high, low = (1 << 63) - 1, -(1 << 63)
    for name, title, base, delta in (("overflow", "baseTimestamp 2^63 − 1 and delta 1", high, 1), ("underflow", "baseTimestamp −2^63 and delta −1", low, -1)):
        remarks, most = (("negative-timestamp", "timestamp-overflow"), T) if delta > 0 else (("timestamp-overflow",), high)
        s.accepts(f"timestamps/{name}-by-1", title, batch(record(b"k", b"v", ts=delta), 1, base_ts=base, max_ts=most), batch_value([record_value(b"k", b"v", ts=delta, base_ts=base)], base_ts=base, max_ts=most),
             doc="kafka.md §1.10; §7 R31", rules=("kafka.v2.timestamp",), remarks=remarks, why="Arithmetic that raises on overflow, or that has more than 64 bits, gives what Java's does not.")


def _further_times(s: CaseBuilder) -> None:
    rows = (record(None, b"a", ts=-T) + record(None, b"b", off=1), [record_value(None, b"a", ts=-T), record_value(None, b"b", off=1)])
    s.accepts("timestamps/delta-down-to-zero", "A timestampDelta of six bytes, down to timestamp 0", batch(rows[0], 2), batch_value(rows[1]), doc="kafka.md §7 W24",
         rules=("kafka.v2.timestamp", "kafka.v2.timestamp.64-bit"), why="Read as 32 bits the delta is another time, below zero and above.")
    last = (1 << 63) - 1
    s.accepts("timestamps/delta-int64-min", "timestampDelta −2^63, from 2^63 − 1 down to −1", batch(record(b"k", b"v", ts=-(1 << 63)), 1, base_ts=last, max_ts=-1),
         batch_value([record_value(b"k", b"v", ts=-(1 << 63), base_ts=last)], base_ts=last, max_ts=-1), doc="kafka.md §7 T11", rules=("kafka.v2.timestamp.64-bit",),
         why="Ten bytes are a varlong's most, and only the lowest bit of the tenth counts.")


def _delete_horizon(s: CaseBuilder) -> None:
    for base, remarks in ((0, ()), (1, ()), (-1, ("negative-timestamp",))):
        s.accepts(f"timestamps/delete-horizon-{base}".replace("--", "-minus-"), f"A delete horizon of {base}", batch(record(b"k", None, ts=5), 1, attributes=0x40, base_ts=base, max_ts=base + 5),
             batch_value([record_value(b"k", None, ts=5, base_ts=base)], attributes=0x40, base_ts=base, max_ts=base + 5), doc="kafka.md §1.8, §7 C26", rules=("kafka.v2.delete-horizon",),
             needs=["feature:delete-horizon"], remarks=remarks, why="0 is a time.")
