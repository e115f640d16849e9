"""`kafka.batch/v2`: kafka.md §1, §4 and the vectors W, C, N, R, T, K of §7."""

import zlib

from google_crc32c import value as crc32c

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    body,
    framed,
    gzip,
    header,
    i8,
    i16,
    i32,
    nullable,
    record,
    record_value,
    varint,
)

DAY = 86_400_000
TWO = record(b"a", b"1") + record(b"b", b"2", ts=1, off=1)
TWO_SAME = record(b"a", b"1") + record(b"b", b"2", off=1)


def two_values(ts: int = 1, **more):
    return [record_value(b"a", b"1", **more), record_value(b"b", b"2", ts=ts, off=1, **more)]


def write(writer: FixtureWriter) -> None:
    builder = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (
        _batch, _framing, _crc, _attributes, _fields, _counts, _records, _headers, _varints,
        _timestamps, _control, _produce,
    ):  # fmt: skip
        chapter(builder)


def _batch(s: CaseBuilder) -> None:
    rules = ("kafka.v2.layout",)
    one, one_v = record(b"k", b"v"), [record_value(b"k", b"v")]
    s.accepts("batch/one-record", "One record k→v", batch(one, 1), batch_value(one_v), doc="kafka.md §6 E01 W01",
         rules=(*rules, "kafka.v2.size", "kafka.v2.magic", "kafka.v2.crc", "kafka.v2.count.negative", "kafka.v2.truncated",
                "kafka.v2.record.length", "kafka.v2.field.bounds", "kafka.varint.limit"),
         why="The smallest useful batch; every reader must take it.")
    s.accepts("batch/null-key-empty-value", "Null key, empty value", batch(record(None, b""), 1),
         batch_value([record_value(None, b"")]), doc="kafka.md §6 E02 W02", rules=("kafka.v2.null",),
         why="Null and empty are different; platformatic/kafka #216 took one for the other.")
    s.accepts("batch/tombstone", "A null value", batch(record(b"k", None), 1), batch_value([record_value(b"k", None)]),
         doc="kafka.md §6 E03 W03", rules=("kafka.v2.null",),
         why="A tombstone read as an empty value is never compacted away downstream.")
    s.accepts("batch/empty-key", "An empty key is not null", batch(record(b"", b"v"), 1),
         batch_value([record_value(b"", b"v")]), doc="kafka.md §7 R49", rules=("kafka.v2.null",),
         why="A partitioner treats an empty key and no key differently.")
    s.accepts("batch/null-everything", "Null key and null value", batch(record(), 1), batch_value([record_value()]),
         doc="kafka.md §7 R34", rules=("kafka.v2.null",), why="The smallest record of all.")
    s.accepts("batch/two-records", "Two records with rising deltas", batch(TWO, 2, max_ts=T + 1),
         batch_value(two_values(), max_ts=T + 1), doc="kafka.md §7 W04",
         rules=("kafka.v2.offset", "kafka.v2.timestamp", "kafka.v2.count"),
         why="Offset and timestamp are the base plus the delta; kio cuts the milliseconds.")
    s.accepts("batch/large-value", "A value of 700 bytes", batch(record(b"k", b"v" * 700), 1),
         batch_value([record_value(b"k", b"v" * 700)]), doc="kafka.md §7 R48 (shorter)",
         rules=("kafka.v2.varint",), why="Its length takes two varint bytes, and the record's too.")
    s.accepts("batch/compacted-gaps", "Compaction left offsets 11 and 13 of 10 to 15",
         batch(record(b"a", b"1", off=1) + record(b"b", b"2", ts=5, off=3), 2, base=10, last=5, max_ts=T + 5),
         batch_value([record_value(b"a", b"1", off=1, base=10), record_value(b"b", b"2", ts=5, off=3, base=10)],
                     base=10, last=5, max_ts=T + 5),
         doc="kafka.md §6 E17 W22", rules=("kafka.v2.offset", "kafka.v2.last-offset"),
         why="KAFKA-5443: a reader that counts records instead of reading deltas reads them again for ever.")
    s.accepts("batch/empty-compacted", "The cleaner kept an empty batch",
         batch(b"", 0, base=100, last=3, base_ts=-1, max_ts=T, pid=1000, pepoch=0, seq=4),
         batch_value([], base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4),
         doc="kafka.md §6 E14 W19", rules=("kafka.v2.empty", "kafka.v2.last-offset"), needs=["feature:empty-batch"],
         why="segmentio/kafka-go #874: a reader that cannot pass an empty batch is stuck.")
    s.accepts("batch/empty-control", "An empty control batch",
         batch(b"", 0, base=100, last=0, attributes=0x30, base_ts=-1, pid=1000, pepoch=0, seq=-1),
         batch_value([], base=100, last=0, attributes=0x30, base_ts=-1, pid=1000, pepoch=0),
         doc="kafka.md §6 E15 W20", rules=("kafka.v2.empty",), needs=["feature:empty-batch"],
         why="KAFKA-7467: the cleaner itself once failed on it.")
    s.accepts("batch/idempotent", "Producer id, epoch and base sequence",
         batch(TWO, 2, max_ts=T + 1, pid=1000, pepoch=3, seq=7),
         batch_value(two_values(), max_ts=T + 1, pid=1000, pepoch=3, seq=7), doc="kafka.md §7 W14",
         rules=("kafka.v2.layout", "kafka.v2.producer"), why="The broker finds duplicates by these three.")
    s.accepts("batch/sequence-wraps", "Sequences pass 2^31 − 1",
         batch(b"".join(record(None, bytes([48 + n]), off=n) for n in range(3)), 3, pid=1000, pepoch=0, seq=0x7FFFFFFE),
         batch_value([record_value(None, bytes([48 + n]), off=n) for n in range(3)], pid=1000, pepoch=0, seq=0x7FFFFFFE),
         doc="kafka.md §6 E11 W15", rules=("kafka.v2.producer", "kafka.v2.sequence"), why="tulios/kafkajs #1310: the sequence overflowed.")
    s.accepts("batch/transactional", "The transactional bit", batch(one, 1, attributes=0x10, pid=1000, pepoch=0, seq=0),
         batch_value(one_v, attributes=0x10, pid=1000, pepoch=0, seq=0), doc="kafka.md §7 W16",
         rules=("kafka.v2.attributes",), why="Read-committed readers decide by this bit.")
    s.accepts("batch/trailing-bytes-not-consumed", "What follows the batch is not its own", batch(one, 1) + b"\x00\x01\x02",
         batch_value(one_v), consumed=70, doc="kafka.md §1.4", rules=("kafka.v2.size",),
         why="A decoder that eats the following bytes loses the next batch of a fetch.")


def _framing(s: CaseBuilder) -> None:
    good, twin = batch(TWO, 2, max_ts=T + 1), "batch/two-records"
    def sized(size: int, data: bytes = good) -> bytes:
        return data[:8] + i32(size) + data[12:]
    rules = ("kafka.v2.size",)
    small = "A size that no entry can have must end the reading at once, not be trusted."
    s.rejects("framing/length-13", "batchLength 13", sized(13)[:25], "bad-length", at=8, twin=twin, doc="kafka.md §7 I09",
         why=small, rules=rules, also=("truncated",))
    s.rejects("framing/length-48", "batchLength 48, one less than the header needs", sized(48)[:60], "bad-length", at=8,
         twin=twin, doc="kafka.md §7 I11", why=small, rules=rules, also=("truncated",))
    s.rejects("framing/length-14-magic-2", "batchLength 14 under magic 2", sized(14)[:26], "bad-length", at=8, twin=twin,
         doc="kafka.md §7 I10", why=small, rules=rules, also=("truncated",))
    s.rejects("framing/length-negative", "batchLength −1", sized(-1), "bad-length", at=8, twin=twin, doc="kafka.md §7 I12",
         why="twmb/franz-go a8fa6534: a negative batch length became a slice panic.", rules=rules,
         also=("negative-length",))
    s.rejects("framing/length-int-min", "batchLength −2^31", sized(-(1 << 31)), "bad-length", at=8, twin=twin,
         doc="kafka.md §7 I13", why="Adding 12 to it wraps in 32 bits.", rules=rules, also=("negative-length",))
    s.rejects("framing/length-zero", "batchLength 0", sized(0), "bad-length", at=8, twin=twin, doc="kafka.md §7 I19",
         why="A loop over sizes of zero never ends.", rules=rules)
    s.rejects("framing/length-plus-one", "batchLength one too high", sized(68) + b"\x00", "crc-mismatch", at=17, twin=twin,
         doc="kafka.md §7 I20", why="The checksum then covers a byte more.", rules=("kafka.v2.crc",))
    s.rejects("framing/length-minus-one", "batchLength one too low", sized(66), "crc-mismatch", at=17, twin=twin,
         doc="kafka.md §7 I21", why="The checksum then covers a byte less.", rules=("kafka.v2.crc",))
    for magic, name in ((3, "3"), (127, "127"), (-1, "minus-1")):
        s.rejects(f"framing/magic-{name}", f"Magic {magic}", batch(TWO, 2, max_ts=T + 1, magic=magic), "bad-magic", at=16,
             twin=twin, doc={3: "kafka.md §7 I15", 127: "kafka.md §7 I16", -1: "kafka.md §7 I17"}[magic],
             why="IBM/sarama #940: an unknown format read as a known one gives records that nobody wrote.",
             rules=("kafka.v2.magic",))
    for cut, name in ((0, "empty"), (11, "before-length-ends"), (16, "before-magic"), (60, "in-header"), (78, "one-byte-short")):
        s.rejects(f"framing/truncated-{name}", f"Only {cut} of 79 bytes", good[:cut], "truncated", twin=twin,
             doc="kafka.md §1.4", why="An entry that is not all there holds nothing to deliver.", rules=("kafka.v2.truncated",))


def _crc(s: CaseBuilder) -> None:
    good, twin = batch(TWO, 2, max_ts=T + 1), "batch/two-records"
    tail = good[21:]
    def sealed(crc: int) -> bytes:
        return batch(TWO, 2, max_ts=T + 1, crc=crc)
    right = int.from_bytes(good[17:21], "big")
    rules, why = ("kafka.v2.crc",), "A reader that skips the check hands corrupt records to the application."
    s.rejects("crc/zero", "The stored CRC is 0", sealed(0), "crc-mismatch", at=17, twin=twin, doc="kafka.md §7 C01", why=why, rules=rules)
    s.rejects("crc/flipped-bit", "One bit of the stored CRC is wrong", sealed(right ^ 1), "crc-mismatch", at=17, twin=twin,
         doc="kafka.md §7 C01", why=why, rules=rules)
    s.rejects("crc/ieee", "CRC-32 in place of CRC-32C", sealed(zlib.crc32(tail)), "crc-mismatch", at=17, twin=twin,
         doc="kafka.md §7 C02", why="v0 and v1 use the one, v2 the other.", rules=("kafka.v2.crc.polynomial", *rules))
    s.rejects("crc/from-magic", "CRC over magic to end", sealed(crc32c(good[16:17] + good[21:])), "crc-mismatch", at=17, twin=twin,
         doc="kafka.md §7 C03", why="The range begins at the attributes.", rules=("kafka.v2.crc.range", *rules))
    s.rejects("crc/byte-swapped", "The CRC in little-endian order", sealed(int.from_bytes(good[17:21], "little")), "crc-mismatch",
         at=17, twin=twin, doc="kafka.md §7 C04", why="Every integer of the header is big-endian.", rules=rules)
    flipped = bytearray(good)
    flipped[-2] ^= 1
    s.rejects("crc/bit-flip-in-value", "A bit of a value flipped", bytes(flipped), "crc-mismatch", at=17, twin=twin,
         doc="kafka.md §7 C07", why=why, rules=rules)
    s.accepts("crc/leader-epoch-outside", "partitionLeaderEpoch changed, CRC kept", good[:12] + i32(7) + good[16:],
         batch_value(two_values(), max_ts=T + 1, epoch=7), doc="kafka.md §7 C05", rules=("kafka.v2.crc.range",),
         why="The broker rewrites these bytes without touching the CRC; a reader that covers them refuses every fetch.")
    s.accepts("crc/base-offset-outside", "baseOffset changed, CRC kept", (1000).to_bytes(8, "big") + good[8:],
         batch_value(two_values(base=1000), max_ts=T + 1, base=1000), doc="kafka.md §7 C06",
         rules=("kafka.v2.crc.range",), why="The broker assigns offsets without touching the CRC.")


def _attributes(s: CaseBuilder) -> None:
    def bits(attributes: int) -> bytes:
        return batch(TWO, 2, max_ts=T + 1, attributes=attributes)
    for name, value, doc in (("high-byte", 0x0100, "C08"), ("bit-7", 0x80, "C09"), ("bits-7-to-15", -128, "C10")):
        s.accepts(f"attributes/unused-{name}", f"Unused attribute bits {value & 0xFFFF:#06x}", bits(value),
             batch_value(two_values(), max_ts=T + 1, attributes=value), doc=f"kafka.md §7 {doc}",
             rules=("kafka.v2.attributes.unused", "kafka.v2.attributes"), remarks=("unknown-attr-bits",),
             why="franz-go reads bit 7 as a timestamp type and gives every record the wrong time.")
    for codec, doc in ((5, "C11"), (7, "C12")):
        s.rejects(f"attributes/codec-{codec}", f"Codec {codec} does not exist", bits(codec), "unknown-codec", at=21,
             twin="batch/two-records", doc=f"kafka.md §7 {doc}", rules=("kafka.v2.codec",),
             why="tulios/kafkajs #912 masked two bits instead of three and read zstd as none.")
    s.rejects("attributes/codec-none-but-gzip", "Codec none over gzip bytes", batch(gzip(TWO), 2, max_ts=T + 1), "length-mismatch",
         twin="compression/gzip", doc="kafka.md §7 C13", rules=("kafka.v2.codec",), also=("length-past-end", "bad-length",
         "count-mismatch", "negative-length", "bad-varint"), why="kio never reads the codec bits.")
    s.rejects("attributes/codec-gzip-but-plain", "Codec gzip over plain bytes", bits(1), "decompress-failed",
         twin="batch/two-records", doc="kafka.md §7 C14", rules=("kafka.v2.codec",), also=("truncated",),
         why="twmb/franz-go 1473778f swallowed the error and delivered nothing.")


def _fields(s: CaseBuilder) -> None:
    def accepts(name, title, doc, remark, why, **fields):
        records = [record_value(b"a", b"1", base=fields.get("base", 0)), record_value(b"b", b"2", ts=1, off=1, base=fields.get("base", 0))]
        fields = {"max_ts": T + 1, **fields}
        s.accepts(f"fields/{name}", title, batch(TWO, 2, **fields), batch_value(records, **fields), doc=f"kafka.md §7 {doc}",
             remarks=(remark,), why=why, rules=("kafka.v2.unchecked",))
    accepts("base-offset-negative", "baseOffset −5", "C15", "offset-negative", "A reader of raw segments sees what is there.", base=-5)
    accepts("base-offset-wraps", "baseOffset 2^63 − 1 wraps at the second record", "C16", "offset-overflow",
       "Arithmetic that raises on overflow stops a reader which Java's does not stop.", base=(1 << 63) - 1)
    accepts("last-offset-delta-negative", "lastOffsetDelta −1", "C17", "last-offset-delta",
       "Only the broker checks it, on produce.", last=-1)
    accepts("last-offset-delta-zero", "lastOffsetDelta 0 over two records", "C18", "last-offset-delta",
       "IBM/sarama #1032 wrote it for every batch; brokers stored it.", last=0)
    accepts("max-timestamp-low", "maxTimestamp below a record's", "C19", "max-timestamp",
       "redpanda #1702 and IBM/sarama #3108 wrote it; kio refuses the whole batch.", max_ts=T - 1000)
    accepts("producer-id-without-epoch", "producerId without epoch", "C20", "producer-fields", "Only a producer may not write it.",
       pid=1000, seq=0)
    accepts("producer-id-without-sequence", "producerId without sequence", "C21", "producer-fields",
       "Only a producer may not write it.", pid=1000, pepoch=0)
    accepts("transactional-without-producer", "Transactional without producerId", "C23", "producer-fields",
       "Only a producer may not write it.", attributes=0x10)
    def odd(name, title, doc, value, records, remark, why, count=None, **header):
        s.accepts(f"fields/{name}", title, batch(records, len(value) if count is None else count, **header),
             batch_value(value, **header), doc=f"kafka.md §7 {doc}", remarks=(remark,) if isinstance(remark, str) else remark,
             why=why, rules=("kafka.v2.unchecked",))
    free = "The reader takes deltas as they stand; only a producer is held to 0, 1, 2, …"
    odd("offset-delta-negative", "offsetDelta −1", "R26", [record_value(b"k", b"v", off=-1, base=5)],
        record(b"k", b"v", off=-1), "offset-delta", free, base=5)
    odd("offset-deltas-duplicate", "Two records with offsetDelta 0", "R28",
        [record_value(b"a", b"1"), record_value(b"b", b"2")], record(b"a", b"1") + record(b"b", b"2"), "offset-delta",
        "franz-go drops the second record without a word.", last=1)
    odd("offset-deltas-descending", "offsetDelta 1, then 0", "R29",
        [record_value(b"a", b"1", off=1), record_value(b"b", b"2")], record(b"a", b"1", off=1) + record(b"b", b"2"),
        "offset-delta", "franz-go drops the second record without a word.", last=1)
    odd("offset-delta-beyond-last", "offsetDelta 7 over lastOffsetDelta 1", "R30",
        [record_value(b"a", b"1"), record_value(b"b", b"2", off=7)], record(b"a", b"1") + record(b"b", b"2", off=7),
        "offset-delta", free, last=1)


def _counts(s: CaseBuilder) -> None:
    def counted(count: int, records: bytes = TWO_SAME, **more) -> bytes:
        return batch(records, count, last=1, **more)
    twin, rules = "batch/two-records", ("kafka.v2.count",)
    partial = batch_value(two_values(ts=0)[:1], last=1)
    s.rejects("counts/minus-one", "recordsCount −1", counted(-1), "negative-length", at=57, twin=twin, doc="kafka.md §7 N01",
         rules=("kafka.v2.count.negative",), also=("count-mismatch",),
         why="segmentio/kafka-go #1438: a negative count panicked in makeslice.")
    s.rejects("counts/one-of-two", "recordsCount 1 over two records", counted(1), "trailing-data", twin=twin, doc="kafka.md §7 N03",
         rules=rules, also=("count-mismatch",), why="librdkafka, franz-go and kafkajs deliver one record and lose the other.")
    s.rejects("counts/three-of-two", "recordsCount 3 over two records", counted(3), "count-mismatch", twin=twin,
         doc="kafka.md §7 N04", rules=rules, also=("truncated", "length-past-end"),
         before=batch_value(two_values(ts=0), last=1), why="A silent end loses the offset of the third record.")
    s.rejects("counts/int-max", "recordsCount 2^31 − 1 over two records", counted((1 << 31) - 1), "count-mismatch", twin=twin,
         doc="kafka.md §7 N05", rules=rules, also=("truncated", "length-past-end", "limit-exceeded"), limits={"ms": 1000, "rss_mb": 512},
         why="influxdata/rskafka 8489649: memory was reserved for the count.", flags=["resource"])
    s.rejects("counts/one-of-none", "recordsCount 1 over no bytes", batch(b"", 1), "count-mismatch", at=61, twin="batch/one-record",
         doc="kafka.md §7 N15", rules=rules, also=("truncated", "length-past-end"),
         why="twmb/franz-go 0dee723c: offsets were skipped in silence.")
    s.rejects("counts/trailing-zero", "A zero byte after the last record", counted(2, TWO_SAME + b"\x00"), "trailing-data",
         at=79, twin=twin, doc="kafka.md §7 N11", rules=rules, also=("count-mismatch",), before=partial,
         why="The byte belongs to nothing; a reader that ignores it ignores a damaged batch.")
    s.rejects("counts/gzip-one-of-two", "recordsCount 1 over two compressed records", counted(1, gzip(TWO_SAME), attributes=1),
         "trailing-data", twin="compression/gzip", doc="kafka.md §7 N06", rules=rules, also=("count-mismatch",),
         needs=["codec:gzip"], why="librdkafka never compares the count.")
    s.rejects("counts/gzip-three-of-two", "recordsCount 3 over two compressed records", counted(3, gzip(TWO_SAME), attributes=1),
         "count-mismatch", twin="compression/gzip", doc="kafka.md §7 N07", rules=rules, also=("truncated", "length-past-end"),
         needs=["codec:gzip"], why="librdkafka never compares the count.")
    s.rejects("counts/gzip-trailing-zero", "A zero byte after the last compressed record", counted(2, gzip(TWO_SAME + b"\x00"), attributes=1),
         "trailing-data", twin="compression/gzip", doc="kafka.md §7 N12", rules=rules, also=("count-mismatch",),
         needs=["codec:gzip"], why="The byte belongs to nothing.")
    s.rejects("counts/gzip-int-max", "recordsCount 2^31 − 1 over two compressed records",
         counted((1 << 31) - 1, gzip(TWO_SAME), attributes=1), "count-mismatch", twin="compression/gzip", doc="kafka.md §7 X11",
         rules=rules, also=("truncated", "length-past-end", "limit-exceeded"), needs=["codec:gzip"], limits={"ms": 1000, "rss_mb": 512},
         flags=["resource"], why="tychedelia/kafka-protocol-rs #156: memory was reserved for the count.")
    s.accepts("counts/zero-with-bytes", "recordsCount 0 over two records", batch(TWO_SAME, 0, last=1),
         batch_value([], last=1), doc="kafka.md §7 N02", rules=("kafka.v2.count.zero",), remarks=("count-zero-with-bytes",),
         why="Kafka ignores the bytes; four clients refuse. Neither loses a counted record.")


def _records(s: CaseBuilder) -> None:
    full = body(b"k", b"v")
    def one(data: bytes, **more) -> bytes:
        return batch(data, 1, **more)
    twin, rules = "batch/one-record", ("kafka.v2.record.length",)
    s.rejects("records/length-zero", "A record of length 0", one(b"\x00"), "bad-length", at=61, twin=twin, doc="kafka.md §7 R01",
         rules=rules, also=("truncated", "length-past-end", "count-mismatch"), why="No record fits in 0 bytes.")
    s.rejects("records/length-negative", "A record length of −1", one(varint(-1) + full), "negative-length", at=61, twin=twin,
         doc="kafka.md §7 R02", rules=rules, also=("bad-length", "length-mismatch"),
         why="Read as unsigned it is the largest of all.")
    s.rejects("records/length-plus-one", "A record length one too high", one(framed(full, 1)), "length-past-end", at=61, twin=twin,
         doc="kafka.md §7 R03", rules=rules, also=("truncated", "length-mismatch", "count-mismatch"), why="The record would end in the next batch.")
    s.rejects("records/length-minus-one", "A record length one too low", one(framed(full, -1)), "length-mismatch", twin=twin,
         doc="kafka.md §7 R04", rules=rules, also=("length-past-end", "trailing-data"),
         why="kafkajs and platformatic ignore the length and deliver the record.")
    s.rejects("records/length-int-max", "A record length of 2^31 − 1", one(varint((1 << 31) - 1) + full), "length-past-end", at=61,
         twin=twin, doc="kafka.md §7 R05", rules=rules, also=("truncated", "limit-exceeded", "count-mismatch"), limits={"ms": 1000, "rss_mb": 512},
         flags=["resource"], why="KAFKA-14063: the length was trusted for an allocation.")
    s.rejects("records/length-huge-gzip", "A record length of 2^31 − 1 inside gzip", one(gzip(varint((1 << 31) - 1) + full), attributes=1),
         "length-past-end", at="61>0", twin="compression/gzip", doc="kafka.md §7 R06", rules=rules,
         also=("truncated", "limit-exceeded", "count-mismatch"), limits={"ms": 1000, "rss_mb": 512}, flags=["resource"], needs=["codec:gzip"],
         why="apache/kafka #23429: the broker stores it, the consumer runs out of memory.")
    s.rejects("records/length-negative-gzip", "A record length of −1 inside gzip", one(gzip(varint(-1) + full), attributes=1),
         "negative-length", at="61>0", twin="compression/gzip", doc="kafka.md §7 R07", rules=rules, needs=["codec:gzip"],
         also=("bad-length", "length-mismatch", "count-mismatch"), why="It passes the broker's own iterator.")
    s.rejects("records/length-plus-one-gzip", "A record length one too high inside gzip", one(gzip(framed(full, 1)), attributes=1),
         "length-past-end", at="61>0", twin="compression/gzip", doc="kafka.md §7 R41", rules=rules, needs=["codec:gzip"],
         also=("truncated", "length-mismatch", "count-mismatch"), why="It passes the broker's own iterator: a poison pill can be stored.")
    s.rejects("records/tail-byte-inside", "A byte after the last header, inside the length", one(framed(full + b"\x00")), "length-mismatch",
         twin=twin, doc="kafka.md §7 R08", rules=rules, also=("trailing-data",), why="Every field was read, a byte is left.")
    for value, name, doc in ((-1, "0xff", "R09"), (8, "0x08", "R10"), (-128, "0x80", "R45")):
        s.accepts(f"records/attributes-{name}", f"Record attributes {name}", one(record(b"k", b"v", attributes=value)),
             batch_value([record_value(b"k", b"v", attributes=value)]), doc=f"kafka.md §7 {doc}",
             rules=("kafka.v2.record.attributes",), remarks=("record-attrs",),
             why="The byte is no varint: kafka-python and aiokafka take the next byte with it and misread every field.")
    neg = one(framed(i8(0) + varint(0) * 2 + varint(-2) + nullable(b"v") + varint(0)))
    s.accepts("records/key-length-minus-2", "keyLength −2 is null too", neg, batch_value([record_value(None, b"v")]),
         doc="kafka.md §7 R11", rules=("kafka.v2.null.negative",), remarks=("length-below-minus1",),
         why="librdkafka and platformatic make something else of it.")
    neg = one(framed(i8(0) + varint(0) * 2 + nullable(b"k") + varint(-2) + varint(0)))
    s.accepts("records/value-length-minus-2", "valueLength −2 is null too", neg, batch_value([record_value(b"k", None)]),
         doc="kafka.md §7 R12", rules=("kafka.v2.null.negative",), remarks=("length-below-minus1",),
         why="librdkafka and platformatic make something else of it.")
    s.rejects("records/key-past-end", "keyLength one past the record", one(framed(i8(0) + varint(0) * 2 + varint(5) + b"k" + nullable(b"v") + varint(0))),
         "length-past-end", twin=twin, doc="kafka.md §7 R14", rules=("kafka.v2.field.bounds",), also=("truncated", "length-mismatch", "count-mismatch"),
         why="kafkajs delivers whatever lies there.")
    s.rejects("records/key-length-int-max", "keyLength 2^31 − 1", one(framed(i8(0) + varint(0) * 2 + varint((1 << 31) - 1) + b"k")),
         "length-past-end", twin=twin, doc="kafka.md §7 R15", rules=("kafka.v2.field.bounds",), also=("truncated", "limit-exceeded", "count-mismatch"),
         limits={"ms": 1000, "rss_mb": 512}, flags=["resource"], why="KAFKA-14063: the length was trusted for an allocation.")
    s.rejects("records/attributes-as-int16", "Two attribute bytes", one(framed(i16(0) + varint(0) * 2 + nullable(b"k") + nullable(b"v") + varint(0))),
         "length-past-end", twin=twin, doc="kafka.md §7 R35", rules=("kafka.v2.record.attributes",),
         also=("length-mismatch", "truncated", "count-mismatch", "negative-length", "null-not-allowed"), why="The byte is one.")


def _headers(s: CaseBuilder) -> None:
    pairs = ((b"h", b"1"), (b"h", b"2"), (b"n", None), (b"e", b""), (b"", b"x"))
    s.accepts("headers/five", "Duplicate, null, empty and nameless headers", batch(record(b"k", b"v", pairs), 1),
         batch_value([record_value(b"k", b"v", pairs)]), doc="kafka.md §6 E04 W05", needs=["feature:headers"],
         rules=("kafka.v2.headers", "kafka.v2.headers.duplicate", "kafka.v2.headers.null-value"),
         why="tulios/kafkajs #1132 collapsed duplicates; kafka-python #2004 raised on the null value.")
    s.accepts("headers/duplicate-order", "The same two headers the other way round", batch(record(b"k", b"v", ((b"h", b"2"), (b"h", b"1"))), 1),
         batch_value([record_value(b"k", b"v", ((b"h", b"2"), (b"h", b"1")))]), doc="kafka.md §1.3", needs=["feature:headers"],
         rules=("kafka.v2.headers.duplicate",), why="Order is kept: the last of a name often wins.")
    one = header(b"h", b"1")
    def with_headers(tail: bytes) -> bytes:
        return batch(framed(i8(0) + varint(0) * 2 + nullable(b"k") + nullable(b"v") + tail), 1)
    twin = "headers/one"
    s.accepts(twin, "One header", with_headers(varint(1) + one), batch_value([record_value(b"k", b"v", ((b"h", b"1"),))]),
         doc="kafka.md §1.3", rules=("kafka.v2.headers", "kafka.v2.headers.null-key", "kafka.v2.headers.count"), needs=["feature:headers"],
         why="The accepted neighbour of the refused ones.")
    s.accepts("headers/null-value", "One header without a value", with_headers(varint(1) + header(b"h", None)),
         batch_value([record_value(b"k", b"v", ((b"h", None),))]), doc="kafka.md §1.3", rules=("kafka.v2.headers.null-value",),
         needs=["feature:headers"], why="tulios/kafkajs #1786: a null header value threw.")
    s.accepts("headers/empty-value", "One header with an empty value", with_headers(varint(1) + header(b"h", b"")),
         batch_value([record_value(b"k", b"v", ((b"h", b""),))]), doc="kafka.md §1.3", rules=("kafka.v2.headers.null-value",),
         needs=["feature:headers"], why="Empty is not null.")
    rules = ("kafka.v2.headers.count",)
    s.rejects("headers/count-minus-1", "headerCount −1", with_headers(varint(-1)), "negative-length", twin=twin, doc="kafka.md §7 R16",
         rules=rules, also=("count-mismatch",), why="segmentio/kafka-go #882 panicked; six clients deliver the record.")
    s.rejects("headers/count-without-bytes", "headerCount 1 and no header", with_headers(varint(1)), "count-mismatch", twin=twin,
         doc="kafka.md §7 R17", rules=rules, also=("length-past-end", "truncated"), why="There is nothing to read it from.")
    s.rejects("headers/count-int-max", "headerCount 2^31 − 1", with_headers(varint((1 << 31) - 1)), "count-mismatch", twin=twin,
         doc="kafka.md §7 R18", rules=rules, also=("length-past-end", "truncated", "limit-exceeded"), limits={"ms": 1000, "rss_mb": 512},
         flags=["resource"], why="kafkajs loops for more than a minute, kafka-go runs out of memory.")
    s.rejects("headers/count-two-of-one", "headerCount 2 over one header", with_headers(varint(2) + one), "length-past-end", twin=twin,
         doc="kafka.md §7 R19", rules=rules, also=("count-mismatch", "truncated"), why="The second header is not there.")
    s.rejects("headers/count-zero-of-one", "headerCount 0 over one header", with_headers(varint(0) + one), "length-mismatch", twin=twin,
         doc="kafka.md §7 R20", rules=rules, also=("count-mismatch", "trailing-data"), why="Six clients drop the header in silence.")
    s.rejects("headers/key-null", "A header key of length −1", with_headers(varint(1) + varint(-1) + nullable(b"1")), "null-not-allowed",
         twin=twin, doc="kafka.md §7 R21", rules=("kafka.v2.headers.null-key",), also=("negative-length",), why="Eight clients deliver it.")
    s.rejects("headers/key-minus-2", "A header key of length −2", with_headers(varint(1) + varint(-2) + nullable(b"1")), "null-not-allowed",
         twin=twin, doc="kafka.md §7 R22", rules=("kafka.v2.headers.null-key",), also=("negative-length",), why="Six clients deliver it.")
    s.rejects("headers/value-past-end", "A header value past the record", with_headers(varint(1) + varint(1) + b"h" + varint(9) + b"1"),
         "length-past-end", twin=twin, doc="kafka.md §7 R25", rules=("kafka.v2.field.bounds",), also=("truncated", "count-mismatch"),
         why="kafkajs and librdkafka deliver whatever lies there.")
    s.rejects("headers/count-as-int32", "headerCount as a fixed int32", with_headers(i32(0)), "length-mismatch", twin=twin,
         doc="kafka.md §7 R36", rules=("kafka.v2.varint",), also=("trailing-data",), why="optiopay/kafka #108 wrote it so.")
    bad = ((b"\xff\xfe", b"1"),)
    s.accepts("headers/key-invalid-utf8", "A header key that is no UTF-8", batch(record(b"k", b"v", bad), 1),
         batch_value([record_value(b"k", b"v", bad)]), doc="kafka.md §7 R24", rules=("kafka.v2.headers.utf8",),
         remarks=("header-key-utf8",), needs=["feature:headers"],
         why="Kafka shows replacement characters, kafka-python refuses the batch.")


def _varints(s: CaseBuilder) -> None:
    def raw(length: bytes, rest: bytes) -> bytes:
        return batch(length + rest, 1)
    def spelled(off: bytes, ts: bytes = b"\x00") -> bytes:
        return batch(framed(i8(0) + ts + off + nullable(b"k") + nullable(b"v") + varint(0)), 1)
    rules, twin = ("kafka.v2.varint",), "batch/one-record"
    for pad, doc in ((1, "T01"), (4, "T02")):
        s.accepts(f"varints/overlong-{pad + 1}-bytes", f"offsetDelta 0 in {pad + 1} bytes", spelled(varint(0, pad)),
             batch_value([record_value(b"k", b"v")]), doc=f"kafka.md §7 {doc}", rules=("kafka.varint.overlong",),
             remarks=("varint-overlong",), why="Kafka takes padded varints; a strict reader may refuse them.")
    s.rejects("varints/six-bytes", "offsetDelta in 6 bytes", spelled(b"\x80\x80\x80\x80\x80\x00"), "bad-varint", twin=twin,
         doc="kafka.md §7 T03", rules=("kafka.varint.limit",), also=("length-past-end",),
         why="Seven clients take it: a 64-bit reader was used for a 32-bit field.")
    s.accepts("varints/dropped-bits-0x10", "Bits above 32 in the fifth byte", spelled(b"\x80\x80\x80\x80\x10"),
         batch_value([record_value(b"k", b"v")]), doc="kafka.md §7 T04", rules=("kafka.varint.dropped-bits",),
         remarks=("varint-dropped-bits", ), why="Kafka drops the bits and reads 0; six clients read 2^31.")
    big = (1 << 31) - 1
    s.accepts("varints/int32-max", "offsetDelta 2^31 − 1", batch(record(b"k", b"v", off=big), 1, last=big),
         batch_value([record_value(b"k", b"v", off=big)], last=big), doc="kafka.md §7 T06", rules=rules,
         why="@platformatic/kafka reads −1.")
    low = -(1 << 31)
    s.accepts("varints/int32-min", "offsetDelta −2^31", batch(record(b"k", b"v", off=low), 1, base=1 << 40, last=0),
         batch_value([record_value(b"k", b"v", off=low, base=1 << 40)], base=1 << 40, last=0), doc="kafka.md §7 T07",
         rules=rules, remarks=("offset-delta",), why="@platformatic/kafka reads 0, librdkafka something else.")
    s.rejects("varints/length-six-bytes", "A record length in 6 bytes", raw(b"\x90\x80\x80\x80\x80\x00", body(b"k", b"v")), "bad-varint",
         at=61, twin=twin, doc="kafka.md §7 T09", rules=("kafka.varint.limit",), why="franz-go panics.")
    s.rejects("varints/gzip-length-six-bytes", "The same in a gzip batch", batch(gzip(b"\x90\x80\x80\x80\x80\x00" + body(b"k", b"v")), 1, attributes=1), "bad-varint",
         at="61>0", twin="compression/gzip", doc="kafka.md §7 T16", needs=["codec:gzip"], rules=("kafka.varint.limit",), why="Kafka reads packed records by another road than plain ones: both must look.")
    s.rejects("varints/length-all-ff", "A record length of 0xff bytes", raw(b"\xff" * 12, b""), "bad-varint", at=61, twin=twin,
         doc="kafka.md §7 T18", rules=("kafka.varint.limit",), why="franz-go panics.")
    s.rejects("varints/unterminated", "A varint cut off by the end of the batch", raw(varint(2), b"\x00\x80"), "length-past-end",
         twin=twin, doc="kafka.md §7 T08", rules=("kafka.v2.field.bounds",), also=("truncated", "bad-varint", "count-mismatch", "bad-length"),
         why="Its last byte says that another follows.")
    s.accepts("varints/length-overlong", "A record length in 3 bytes", raw(varint(8, 2), body(b"k", b"v")),
         batch_value([record_value(b"k", b"v")]), doc="kafka.md §7 T10", rules=("kafka.varint.overlong",),
         remarks=("varint-overlong",), why="Sarama refuses it.")
    s.rejects("varints/varlong-eleven-bytes", "timestampDelta in 11 bytes", spelled(b"\x00", b"\x80" * 10 + b"\x00"), "bad-varint",
         twin=twin, doc="kafka.md §7 T12", rules=("kafka.varint.limit",), also=("length-past-end",), why="platformatic and librdkafka take it.")
    s.accepts("varints/varlong-overlong", "timestampDelta 0 in 10 bytes", spelled(b"\x00", varint(0, 9)),
         batch_value([record_value(b"k", b"v")]), doc="kafka.md §7 T15", rules=("kafka.varint.overlong",),
         remarks=("varint-overlong",), why="Kafka takes padded varlongs.")
    s.rejects("varints/unsigned-lengths", "Lengths without zigzag", batch(b"\x08" + i8(0) + b"\x00\x00" + b"\x01k" + b"\x01v" + b"\x00", 1),
         "negative-length", twin=twin, doc="kafka.md §7 T17", rules=("kafka.varint.zigzag",),
         also=("count-mismatch", "length-mismatch", "length-past-end", "trailing-data", "bad-length"), why="The official text names protobuf's varint only.")
    s.accepts("varints/zigzag-64", "offsetDelta −64 in one byte", batch(record(b"k", b"v", off=-64), 1, base=100, last=0),
         batch_value([record_value(b"k", b"v", off=-64, base=100)], base=100, last=0), doc="kafka.md §4", remarks=("offset-delta",),
         rules=("kafka.varint.zigzag",), why="Without zigzag the byte 7f is 127.")


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


def marker(kind: int, epoch: int = 5, version: int = 0) -> tuple[bytes, bytes]:
    return i16(version) + i16(kind), i16(0) + i32(epoch)


def _control(s: CaseBuilder) -> None:
    def ctl(key, value, **more):
        more = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0, **more}
        return batch(record(key, value), 1, **more)
    def val(key, value, **more):
        more = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0, **more}
        return batch_value([record_value(key, value, base=more["base"], control=control_value(key, value))], **more)
    need = {"needs": ["feature:control-batch"]}
    rules = ("kafka.control.key", "kafka.control.value")
    for kind, name, doc in ((1, "commit", "E12 W17"), (0, "abort", "E13 W18")):
        key, value = marker(kind)
        s.accepts(f"control/{name}", f"{name.upper()} marker", ctl(key, value), val(key, value), doc=f"kafka.md §6 {doc}", rules=rules, **need,
             why="kafka-python #2499: markers were handed to the application.")
    key, value = marker(1)
    s.accepts("control/key-version-1", "Key version 1 is read as 0", ctl(i16(1) + i16(1), value), val(i16(1) + i16(1), value), doc="kafka.md §7 K04",
         rules=("kafka.control.key",), why="Forward compatibility.", **need)
    s.accepts("control/key-6-bytes", "A key with two more bytes", ctl(key + i16(0), value), val(key + i16(0), value), doc="kafka.md §7 K05",
         rules=("kafka.control.key",), why="Forward compatibility: librdkafka bd71c96b3 tripped over left-over bytes.", **need)
    longer = i16(1) + i32(5) + i16(0)
    s.accepts("control/value-version-1", "A longer value of version 1", ctl(key, longer), val(key, longer), doc="kafka.md §7 K08",
         rules=("kafka.control.value",), why="Forward compatibility.", **need)
    s.accepts("control/unknown-type", "Type 99", ctl(i16(0) + i16(99), None), val(i16(0) + i16(99), None), doc="kafka.md §7 K12",
         rules=("kafka.control.type",), why="IBM/sarama #1898: an unknown type was an error.", **need)
    twin = "control/commit"
    for name, title, k, v, doc, rule in (
        ("key-null", "A control record without a key", None, value, "K01", "key"),
        ("key-2-bytes", "A key of two bytes", i16(0), value, "K02", "key"),
        ("key-version-negative", "Key version −1", i16(-1) + i16(1), value, "K03", "key"),
        ("value-5-bytes", "A value of five bytes", key, value[:5], "K06", "value"),
        ("value-version-negative", "Value version −1", key, i16(-1) + i32(5), "K07", "value"),
    ):
        s.rejects(f"control/{name}", title, ctl(k, v), "bad-control", twin=twin, doc=f"kafka.md §7 {doc}", rules=(f"kafka.control.{rule}",), **need,
             also=("null-not-allowed", "truncated", "length-past-end", "missing-field"),
             why="It fails where the control record is parsed: a read-committed reader cannot go on without it.")


def _produce(s: CaseBuilder) -> None:
    one, value = record(b"k", b"v"), [record_value(b"k", b"v")]
    held = {"profile": "produce"}
    s.accepts("produce/good", "A batch that a producer may send", batch(one, 1, epoch=-1), batch_value(value, epoch=-1), doc="kafka.md §1.7",
         rules=("kafka.produce.base-offset", "kafka.produce.count", "kafka.produce.control", "kafka.produce.sequence"), why="The accepted neighbour.", **held)
    def rejects(name, title, data, rule, why):
        s.rejects(f"produce/{name}", title, data, "not-permitted", twin="produce/good", doc="kafka.md §1.7", rules=(f"kafka.produce.{rule}",), why=why,
             also=("bad-offset", "count-mismatch"), **held)
    rejects("base-offset-5", "baseOffset 5", batch(one, 1, base=5, epoch=-1), "base-offset", "The broker refuses it: INVALID_RECORD.")
    rejects("empty", "No record", batch(b"", 0, last=0, epoch=-1), "count", "A producer may not send an empty batch.")
    rejects("count-not-range", "lastOffsetDelta 0 over two records", batch(TWO, 2, last=0, max_ts=T + 1, epoch=-1), "count", "KAFKA-6554: the broker took it once.")
    rejects("control", "A control batch", batch(record(*marker(1)), 1, attributes=0x30, pid=1000, pepoch=0, seq=0, epoch=-1), "control", "Only brokers write markers.")
    rejects("no-sequence", "producerId without sequence", batch(one, 1, pid=1000, pepoch=0, seq=-1, epoch=-1), "sequence", "The broker cannot find duplicates.")
