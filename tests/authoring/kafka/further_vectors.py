"""The vectors of kafka.md §7 that no other chapter builds: v2 batches and logs."""

import struct
from typing import Any

import xxhash

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import TWO, marker, two_values
from tests.authoring.kafka.control_bytes import control, control_value
from tests.authoring.kafka.entry_bytes import (
    T,
    base128,
    batch,
    batch_value,
    body,
    framed,
    gzip,
    i8,
    i16,
    i32,
    i64,
    lz4,
    nullable,
    record,
    record_value,
    snappy_block,
    varint,
    xerial,
    zstd,
)  # fmt: skip
from tests.authoring.kafka.log import log, one
from tests.authoring.kafka.off_by_one import sized

INT_MAX, INT_MIN = (1 << 31) - 1, -(1 << 31)
KV = (record_value(b"k", b"v"),)


def write(writer: FixtureWriter) -> None:
    s, logs = CaseBuilder(writer, "kafka.batch", "v2"), CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_times, _control, _fields, _counts, _empty_packed, _lengths, _packed_records, _varints, _snappy, _lz4, _zstd):
        chapter(s)
    _log(logs)


def _times(s: CaseBuilder) -> None:
    rows = (record(None, b"a", ts=-T) + record(None, b"b", off=1), [record_value(None, b"a", ts=-T), record_value(None, b"b", off=1)])
    s.accepts("timestamps/delta-down-to-zero", "A timestampDelta of six bytes, down to timestamp 0", batch(rows[0], 2), batch_value(rows[1]), doc="kafka.md §7 W24",
         rules=("kafka.v2.timestamp", "kafka.v2.timestamp.64-bit"), why="Read as 32 bits the delta is another time, below zero and above.")
    last = (1 << 63) - 1
    s.accepts("timestamps/delta-int64-min", "timestampDelta −2^63, from 2^63 − 1 down to −1", batch(record(b"k", b"v", ts=-(1 << 63)), 1, base_ts=last, max_ts=-1),
         batch_value([record_value(b"k", b"v", ts=-(1 << 63), base_ts=last)], base_ts=last, max_ts=-1), doc="kafka.md §7 T11", rules=("kafka.v2.timestamp.64-bit",),
         why="Ten bytes are a varlong's most, and only the lowest bit of the tenth counts.")


def _control(s: CaseBuilder) -> None:
    key, value = i16(0) + i16(7), i16(0) + i32(5)
    fields = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0}
    s.accepts("control/unknown-type-with-value", "Type 7 over a value like a marker's", batch(record(key, value), 1, **fields),
         batch_value([record_value(key, value, base=9, control=control(type="7"))], **fields), doc="kafka.md §7 W46", rules=("kafka.control.type",), needs=["feature:control-batch"],
         why="A type of a later broker is passed over, not taken for the nearest one that is known.")
    key, value = marker(1)
    second = marker(0)
    s.accepts("control/two-markers", "A COMMIT marker and an ABORT marker in one batch", batch(record(key, value) + record(*second, off=1), 2, **fields),
         batch_value([record_value(key, value, base=9, control=control_value(key, value)), record_value(*second, off=1, base=9, control=control_value(*second))], **fields),
         doc="kafka.md §7 K09", rules=("kafka.control.key", "kafka.control.first"), needs=["feature:control-batch"], remarks=("control-record-count",), why="One batch ends one transaction: what stands behind the first record ends none.")
    packed = {**fields, "attributes": 0x31}
    s.accepts("control/gzip", "A COMMIT marker in gzip", batch(gzip(record(key, value)), 1, **packed),
         batch_value([record_value(key, value, base=9, control=control_value(key, value))], **packed), doc="kafka.md §7 K11", rules=("kafka.control.key", "kafka.control.value"),
         needs=["feature:control-batch", "codec:gzip"], remarks=("control-compressed",), why="No broker packs its markers, and the reader does not ask.")


def _fields(s: CaseBuilder) -> None:
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


def _counts(s: CaseBuilder) -> None:
    rules = ("kafka.v2.count",)
    s.rejects("counts/gzip-minus-one", "recordsCount −1 over two compressed records", batch(gzip(TWO), -1, last=1, attributes=1, max_ts=T + 1), "negative-length", at=57, twin="compression/gzip",
         doc="kafka.md §7 N10", rules=("kafka.v2.count.negative",), also=("count-mismatch",), needs=["codec:gzip"], why="The count is looked at before the stream is opened.")
    s.accepts("counts/zero-with-three-bytes", "recordsCount 0 over three bytes that are no record", batch(b"\x01\x02\x03", 0), batch_value([]), doc="kafka.md §7 N16", rules=("kafka.v2.count.zero",),
         remarks=("count-zero-with-bytes",), needs=["feature:empty-batch"], why="Nothing is counted, so nothing is read; a strict reader refuses what lies there.")
    s.rejects("counts/int-max-of-none", "recordsCount 2^31 − 1 over no bytes", batch(b"", INT_MAX, last=0), "count-mismatch", at=61, twin="batch/one-record", doc="kafka.md §7 N22", rules=rules,
         also=("truncated", "length-past-end", "limit-exceeded"), limits={"ms": 1000, "rss_mb": 512}, flags=["resource"], why="Room for the count is more than most machines have.")
    s.rejects("counts/gzip-one-of-none", "recordsCount 1 over a gzip stream of 0 bytes", batch(b"", 1, attributes=1), "decompress-failed", at=61, twin="compression/gzip", doc="kafka.md §7 N17",
         rules=("kafka.gzip.frame",), also=("truncated", "count-mismatch"), needs=["codec:gzip"], why="A stream without its first member is cut, not empty.")


def _empty_packed(s: CaseBuilder) -> None:
    """§1.5: count 0 under a codec depends on the path; the plain one does not open the stream."""
    why = "Kafka's plain iterator delivers nothing, its streaming one may refuse: no record is at stake."
    def accepts(name: str, title: str, codec: int, doc: str, data: bytes = b"", *, atom: str) -> None:
        s.accepts(f"counts/{name}", title, batch(data, 0, attributes=codec), batch_value([], attributes=codec), doc=f"kafka.md §7 {doc}", rules=("kafka.v2.count.zero",), remarks=("compressed-empty-batch",),
             needs=["feature:empty-batch", f"codec:{atom}"], why=why)
    accepts("gzip-zero-of-garbage", "recordsCount 0 over two bytes that are no gzip", 1, "N08", b"\x01\x02", atom="gzip")
    for codec, atom, doc in ((1, "gzip", "N09"), (2, "snappy", "N18"), (3, "lz4", "N19"), (4, "zstd", "N20")):
        accepts(f"{atom}-zero-of-none", f"recordsCount 0 and codec {atom} over no bytes", codec, doc, atom=atom)
    accepts("gzip-zero-of-empty-member", "recordsCount 0 over a gzip member of 0 bytes", 1, "N21", gzip(b""), atom="gzip")


def _lengths(s: CaseBuilder) -> None:
    low = framed(i8(0) + varint(0) * 2 + varint(INT_MIN) + varint(0) + varint(0))
    s.accepts("records/key-length-int-min", "keyLength −2^31 is null too", batch(low, 1), batch_value([record_value(None, b"")]), doc="kafka.md §7 R13", rules=("kafka.v2.null.negative",),
         remarks=("length-below-minus1",), why="Its negative is a number that 32 bits do not hold.")
    kv = i8(0) + varint(0) * 2 + nullable(b"k") + nullable(b"v")
    s.accepts("headers/value-length-minus-2", "A header value of length −2 is null too", batch(framed(kv + varint(1) + varint(1) + b"h" + varint(-2)), 1), batch_value([record_value(b"k", b"v", ((b"h", None),))]),
         doc="kafka.md §7 R23", rules=("kafka.v2.null.negative", "kafka.v2.headers.null-value"), remarks=("length-below-minus1",), needs=["feature:headers"], why="The rule of keys and values holds for a header's value.")
    many = ((b"h", b""),) * 300
    s.accepts("headers/three-hundred", "300 headers of one name", batch(record(b"k", b"v", many), 1), batch_value([record_value(b"k", b"v", many)]), doc="kafka.md §7 R47", rules=("kafka.v2.headers", "kafka.v2.headers.duplicate"),
         needs=["feature:headers"], why="The count takes two bytes, and none of the 300 may be lost for its name.")
    bare = framed(i8(0) + varint(0) * 2 + varint(-2) + varint(0) + varint(0))
    s.accepts("records/key-length-minus-2-empty-value", "keyLength −2 before an empty value", batch(bare, 1), batch_value([record_value(None, b"")]), doc="kafka.md §7 R11", rules=("kafka.v2.null.negative",),
         remarks=("length-below-minus1",), why="Null and empty stand side by side, spelled in an unusual way.")


def _packed_records(s: CaseBuilder) -> None:
    """§1.5: a compressed record is read within its length, so that the end of the record is met first."""
    full, kv = body(b"k", b"v"), i8(0) + varint(0) * 2 + nullable(b"k") + nullable(b"v")
    need = ["codec:gzip"]
    def rejects(name: str, title: str, raw: bytes, cls: str, doc: str, at: str, rule: str, why: str, *, count: int = 1, also: tuple[str, ...] = (), **more: Any) -> None:
        s.rejects(f"records/{name}", title, batch(gzip(raw), count, attributes=1), cls, at=at, twin="compression/gzip", doc=f"kafka.md §7 {doc}", rules=(rule,), why=why, also=also, needs=[*need, *more.pop("needs", [])], **more)
    pill = "The broker's own iterator lets it pass: what no consumer can read may be stored."
    bounds, length = "kafka.v2.field.bounds", "kafka.v2.record.length"
    past = ("truncated", "length-mismatch", "count-mismatch", "trailing-data", "bad-length")
    rejects("header-key-null-gzip", "A null header key inside gzip", framed(kv + varint(1) + varint(-1) + nullable(b"1")), "null-not-allowed", "R37", "61>9", "kafka.v2.headers.null-key",
       "Packed records take another road than plain ones: the check must stand on both.", also=("negative-length",), needs=["feature:headers"])
    rejects("header-count-int-max-gzip", "headerCount 2^31 − 1 inside gzip", framed(kv + varint(INT_MAX)), "count-mismatch", "R38", "61>8", "kafka.v2.headers.count", "kafkajs loops for more than a minute.",
       also=("length-past-end", "truncated", "limit-exceeded"), limits={"ms": 1000, "rss_mb": 512}, flags=["resource"])
    rejects("tail-byte-inside-gzip", "A byte after the last header, inside gzip", framed(full + b"\x00"), "length-mismatch", "R39", "61>0", length, "Every field was read, a byte is left.", also=("trailing-data",))
    rejects("key-past-end-gzip", "keyLength past the record, inside gzip", framed(i8(0) + varint(0) * 2 + varint(5) + b"k" + varint(-1)), "length-past-end", "R40", "61>5", bounds, "kafkajs delivers whatever lies there.", also=past)
    rejects("length-minus-one-gzip", "A record length one too low inside gzip", framed(full, -1), "length-past-end", "R42", "61>8", bounds, pill, also=past)
    rejects("length-zero-gzip", "A record length of 0 over a whole body inside gzip", b"\x00" + full, "bad-length", "R43", "61>0", length, pill, also=("length-past-end", "truncated", "trailing-data", "count-mismatch"))
    rejects("length-of-first-plus-one-gzip", "The first of two record lengths one too high, inside gzip", framed(full, 1) + record(b"k", b"v", off=1), "length-mismatch", "R44", "61>0", length, pill, count=2, also=("trailing-data",))
    rejects("length-minus-nine-gzip", "A record length of −9 over a whole body inside gzip", varint(-9) + full, "negative-length", "R46", "61>0", length, pill, also=("bad-length", "length-mismatch", "count-mismatch"))


def _varints(s: CaseBuilder) -> None:
    """§4: the bits that do not fit are dropped, in the fifth byte and in the tenth."""
    def spelled(off: bytes, ts: bytes = b"\x00") -> bytes:
        return framed(i8(0) + ts + off + nullable(b"k") + nullable(b"v") + varint(0))
    def accepts(name: str, title: str, raw: bytes, row: Any, doc: str, remarks: tuple[str, ...], **fields: int) -> None:
        s.accepts(f"varints/{name}", title, batch(raw, 1, **fields), batch_value([row], **fields), doc=f"kafka.md §7 {doc}", rules=("kafka.varint.dropped-bits",), remarks=remarks,
             why="Kafka drops the bits that its integer does not hold; others keep them, or refuse.")
    accepts("dropped-bits-0x7f", "Every bit of five bytes set", spelled(b"\xff\xff\xff\xff\x7f"), record_value(b"k", b"v", off=INT_MIN, base=1 << 40), "T05", ("offset-delta", "varint-dropped-bits"), base=1 << 40)
    accepts("varlong-dropped-bits-0x02", "The second bit of the tenth byte", spelled(b"\x00", b"\x80" * 9 + b"\x02"), KV[0], "T13", ("varint-dropped-bits",))
    high = 1 << 62
    accepts("varlong-dropped-bits-0x7f", "Every bit of the tenth byte", spelled(b"\x00", b"\x80" * 9 + b"\x7f"), record_value(b"k", b"v", ts=high), "T14", ("varint-dropped-bits",), max_ts=T + high)


def _snappy(s: CaseBuilder) -> None:
    """§3, column snappy."""
    value = batch_value(two_values(), attributes=2, max_ts=T + 1)
    def packed(data: bytes) -> bytes:
        return batch(data, 2, attributes=2, max_ts=T + 1)
    block = snappy_block(TWO)
    for versions, doc in (((2, 1), "Z03"), ((1, 2), "Z04")):
        s.accepts(f"compression/snappy-versions-{versions[0]}-and-{versions[1]}", f"xerial versions {versions[0]} and {versions[1]}", packed(xerial(block, versions=struct.pack(">ii", *versions))), value, doc=f"kafka.md §7 {doc}",
             needs=["codec:snappy"], rules=("kafka.snappy.version",), remarks=("snappy-version",), why="Java's reader compares the eight bytes before them and nothing else.")
    s.accepts("compression/snappy-two-bytes-behind", "Two bytes where a block length would stand", packed(xerial(block) + b"\x00\x00"), value, doc="kafka.md §7 Z08", needs=["codec:snappy"], rules=("kafka.snappy.trailing",),
         remarks=("snappy-trailing-bytes",), why="Java's reader ends where no whole length is left; seven clients refuse.")
    s.accepts("compression/snappy-two-streams", "A record in each of two xerial streams", packed(xerial(snappy_block(TWO[:9])) + xerial(snappy_block(TWO[9:]))), value, doc="kafka.md §7 Z11", needs=["codec:snappy"],
         rules=("kafka.snappy.concatenated",), remarks=("snappy-concatenated",), why="Java's reader takes a second header for what it is; every other client refuses, or loses the second record.")
    text = b"v" * 33_000
    raw = record(b"k", text)
    head = raw.index(b"vv") + 1
    copies, left = bytearray(), len(text) - 1
    while left:
        size = min(left, 64)
        copies += bytes(((size - 1) << 2 | 2,)) + b"\x01\x00"  # a copy of 1 to 64 bytes, 2-byte offset 1
        left -= size
    run = base128(len(raw)) + bytes(((head - 1) << 2,)) + raw[:head] + bytes(copies) + b"\x00" + raw[-1:]
    s.accepts("compression/snappy-block-over-32k", "One xerial block of 33,012 bytes", batch(xerial(run), 1, attributes=2), batch_value([record_value(b"k", text)], attributes=2), doc="kafka.md §7 Z12", needs=["codec:snappy"],
         rules=("kafka.snappy.frame",), why="32 KB are the writer's own choice: a reader with a buffer of that size fails on others' blocks.")


def _lz4(s: CaseBuilder) -> None:
    """§3, column lz4: a block that was made smaller, whose checksum is over the bytes as they are stored."""
    text = b"v" * 300
    raw = record(b"k", text)
    head, foot = raw.index(b"vv") + 1, 6
    run = len(raw) - head - foot
    block = bytes((head << 4 | 15,)) + raw[:head] + b"\x01\x00" + b"\xff" * ((run - 19) // 255) + bytes(((run - 19) % 255,)) + bytes((foot << 4,)) + raw[-foot:]
    frame = lz4(b"", flg=0x70)[:7] + struct.pack("<I", len(block)) + block
    for name, title, seal in (("stored", "as they are stored", block), ("unpacked", "as they come out", raw)):
        data = batch(frame + struct.pack("<I", xxhash.xxh32(seal).intdigest()) + bytes(4), 1, attributes=3)
        why = "pierrec/lz4 took the bytes that come out: three Go clients refuse good frames, and write bad ones."
        if name == "stored":
            s.accepts("lz4/block-checksum-packed", f"A packed block, its checksum over the bytes {title}", data, batch_value([record_value(b"k", text)], attributes=3), doc="kafka.md §7 W40", needs=["codec:lz4"], rules=("kafka.lz4.frame",), why=why)
        else:
            s.rejects("lz4/block-checksum-of-unpacked", f"A packed block, its checksum over the bytes {title}", data, "decompress-failed", twin="lz4/block-checksum-packed", doc="kafka.md §7 W40, Z29", needs=["codec:lz4"],
                 rules=("kafka.lz4.frame",), why=why)
    big, _ = sized(70_011)
    s.rejects("lz4/stored-block-over-64k", "A stored block of 70,011 bytes under BD 40", batch(lz4(big), 1, attributes=3), "decompress-failed", at=68, twin="lz4/block-of-64k", doc="kafka.md §7 Z43", needs=["codec:lz4"], rules=("kafka.lz4.frame",),
         also=("limit-exceeded",), why="Its length alone says that it is over the maximum of its frame.")


def _zstd(s: CaseBuilder) -> None:
    frame = bytearray(zstd(TWO))
    frame[5] = len(TWO) + 1
    s.rejects("zstd/content-size-wrong", "A content size one too high", batch(bytes(frame), 2, attributes=4, max_ts=T + 1), "decompress-failed", twin="zstd/content-size", doc="kafka.md §7 X15", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), also=("truncated",), why="Other than LZ4's, it is held against what comes out.")


def _log(s: CaseBuilder) -> None:
    """§1.4, steps 1 and 2, on bytes that stand alone or behind W04."""
    first, value = batch(TWO, 2, max_ts=T + 1), batch_value(two_values(), max_ts=T + 1)
    s.accepts("tail/zeros-4", "Four zero bytes behind a batch", first + bytes(4), log(value), consumed=79, doc="kafka.md §7 I08", rules=("kafka.log.tail",), needs=["feature:partial-tail"], why="Fewer than twelve bytes say nothing, zeros or not.")
    s.rejects("damaged/zeros-12-alone", "Twelve zero bytes and nothing else", bytes(12), "bad-length", at=8, twin="entries/one", doc="kafka.md §7 I19", rules=("kafka.log.size",),
         why="Four clients take it for the end of a fetch, and ask for the same offset again.")
    tail = i64(0) + i32(100) + bytes(4) + b"\x03"
    s.rejects("damaged/magic-3-alone", "Seventeen bytes with magic 3, and nothing else", tail, "bad-magic", at=16, twin="entries/one", doc="kafka.md §7 I18", rules=("kafka.log.magic.range",),
         why="Seven clients take it for a cut batch that more bytes would complete.")
    packed = (batch(xerial(snappy_block(record(b"z", b"v"))), 1, attributes=2), batch_value([record_value(b"z", b"v")], attributes=2))
    again = (batch(xerial(snappy_block(record(b"y", b"v"))), 1, base=1, attributes=2), batch_value([record_value(b"y", b"v", base=1)], base=1, attributes=2))
    s.accepts("entries/snappy-twice", "Two snappy batches, then a plain one", packed[0] + again[0] + one(2)[0], log(packed[1], again[1], one(2)[1]), doc="kafka.md §9 no. 82; §7 I33", rules=("kafka.log.join",), needs=["codec:snappy"],
         why="A reader that is used again must begin with an empty buffer and a new header.")
