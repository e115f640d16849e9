"""`kafka.batch/v2`, the header: kafka.md §1 and the vectors W, C, N, R, T, K of §7."""

import zlib

from google_crc32c import value as crc32c

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    TWO,
    T,
    batch,
    batch_value,
    gzip,
    i32,
    message,
    record,
    record_value,
    two_values,
)  # fmt: skip  # fmt: skip

INT_MAX, INT_MIN = (1 << 31) - 1, -(1 << 31)


ONE_VALUE = (record_value(b"k", b"v"),)


def write(writer: FixtureWriter) -> None:
    v0, v1, v2 = (CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2))
    for chapter in (_batch, _framing, _crc, _attributes, _fields, _field_limits, _unchecked):
        chapter(v2)
    for magic, builder in enumerate((v0, v1, v2)):
        _magic(builder, magic)


def _batch(s: CaseBuilder) -> None:
    rules = ("kafka.v2.layout",)
    one, one_v = record(b"k", b"v"), [record_value(b"k", b"v")]
    s.accepts("batch/one-record", "One record k→v", batch(one, 1), batch_value(one_v), doc="kafka.md §6 E01 W01",
         rules=(*rules, "kafka.v2.size", "kafka.v2.magic", "kafka.v2.crc", "kafka.v2.count.negative", "kafka.v2.truncated",
                "kafka.v2.record.length", "kafka.v2.field.bounds", "kafka.varint.limit", "kafka.varint.limit.32-bit"),
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
         rules=("kafka.v2.layout", "kafka.v2.producer", "kafka.v2.sequence"), why="The broker finds duplicates by these three.")
    s.accepts("batch/sequence-wraps", "Sequences pass 2^31 − 1",
         batch(b"".join(record(None, bytes([48 + n]), off=n) for n in range(3)), 3, pid=1000, pepoch=0, seq=0x7FFFFFFE),
         batch_value([record_value(None, bytes([48 + n]), off=n) for n in range(3)], pid=1000, pepoch=0, seq=0x7FFFFFFE),
         doc="kafka.md §6 E11 W15", rules=("kafka.v2.producer", "kafka.v2.sequence.wrap"), why="tulios/kafkajs #1310: the sequence overflowed.")
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


def _magic(s: CaseBuilder, magic: int) -> None:
    """An entry of another format than the one that was asked for."""
    twin = ("message/key-and-value", "message/key-and-value", "batch/one-record")[magic]
    others = {0: message(0, b"k", b"v"), 1: message(1, b"k", b"v"), 2: batch(record(b"k", b"v"), 1)}
    for other, raw in others.items():
        if other != magic:
            s.rejects(f"magic/v{other}-for-v{magic}", f"An entry of v{other} where v{magic} is asked for", raw, "bad-magic", at=16, twin=twin, doc="kafka.md §1.1, §2.1",
                 rules=("kafka.v2.magic" if magic == 2 else "kafka.legacy.magic",), why="The magic byte alone tells how the rest is to be read.")


def _unchecked(s: CaseBuilder) -> None:
    """§1.1, columns "who checks": what no consumer looks at, and no writer makes."""
    why = "Clients that check what Kafka's consumer does not refuse batches that lie in logs."
    def accepts(name: str, title: str, remark: str, **fields: int) -> None:
        s.accepts(f"unchecked/{name}", title, batch(record(b"k", b"v"), 1, **fields), batch_value([*ONE_VALUE], **fields), doc="kafka.md §1.5; §7 C20 to C25", rules=("kafka.v2.producer",), remarks=(remark,), why=why)
    accepts("no-producer-epoch-0", "producerEpoch 0 without a producer", "producer-fields", pepoch=0)
    accepts("no-producer-epoch-minus-2", "producerEpoch −2 without a producer", "producer-fields", pepoch=-2)
    accepts("producer-minus-2-epoch-0", "producerId −2 with epoch and sequence 0", "producer-fields", pid=-2, pepoch=0, seq=0)
    three = b"".join(record(b"k", b"v", off=n) for n in range(3))
    rows = [record_value(b"k", b"v", off=n) for n in range(3)]
    s.accepts("unchecked/last-offset-delta-1-of-3", "lastOffsetDelta 1 over three records", batch(three, 3, last=1), batch_value(rows, last=1), doc="kafka.md §1.5", rules=("kafka.v2.last-offset",),
         remarks=("last-offset-delta",), why="The next fetch begins behind lastOffsetDelta: it is the header that is wrong here, not the records.")
    low = -(1 << 63)
    s.accepts("offsets/underflow", "baseOffset −2^63 and offsetDelta −1", batch(record(b"k", b"v", off=-1), 1, base=low, last=0),
         batch_value([record_value(b"k", b"v", off=-1, base=low)], base=low, last=0), doc="kafka.md §1.10; §7 R31", rules=("kafka.v2.offset",),
         remarks=("offset-delta", "offset-negative", "offset-overflow"), why="64 bits wrap at the lower end as at the upper one.")


def _field_limits(s: CaseBuilder) -> None:
    why = "The producer's own three fields are checked by brokers, not by readers."
    def odd(name: str, title: str, doc: str, **fields: int) -> None:
        fields = {"max_ts": T + 1, **fields}
        s.accepts(f"fields/{name}", title, batch(TWO, 2, **fields), batch_value(two_values(), **fields), doc=f"kafka.md §7 {doc}", rules=("kafka.v2.unchecked",), remarks=("producer-fields",), why=why)
    odd("sequence-without-producer", "baseSequence 0 without producerId", "C22", seq=0)
    odd("sequence-minus-2", "baseSequence −2", "C24", pid=1000, pepoch=0, seq=-2)
    odd("producer-id-minus-2", "producerId −2", "C25", pid=-2)
    free = "The reader takes deltas as they stand; only a producer is held to 0, 1, 2, …"
    s.accepts("fields/offset-delta-int-max", "offsetDelta 2^31 − 1 over lastOffsetDelta 0", batch(record(b"k", b"v", off=INT_MAX), 1), batch_value([record_value(b"k", b"v", off=INT_MAX)]),
         doc="kafka.md §7 R27", rules=("kafka.v2.unchecked",), remarks=("offset-delta",), why=free)
    fields = {"base": 5, "pid": 1000, "pepoch": 0, "seq": 0}
    s.accepts("fields/offset-delta-negative-idempotent", "offsetDelta −1 in an idempotent batch", batch(record(b"k", b"v", off=-1), 1, **fields), batch_value([record_value(b"k", b"v", off=-1, base=5)], **fields),
         doc="kafka.md §7 R33", rules=("kafka.v2.unchecked",), remarks=("offset-delta",), why="The sequence of such a record would lie before the first one.")
    rows = record(None, b"a") + record(None, b"b", off=1)
    s.accepts("fields/last-offset-delta-and-max-timestamp", "lastOffsetDelta 0 over two records, and maxTimestamp −1", batch(rows, 2, last=0, max_ts=-1),
         batch_value([record_value(None, b"a"), record_value(None, b"b", off=1)], last=0, max_ts=-1), doc="kafka.md §7 S01", rules=("kafka.v2.unchecked",),
         remarks=("last-offset-delta", "max-timestamp"), why="What Sarama's producer stored for months: both fields as they were before the first record.")
