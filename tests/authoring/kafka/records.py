"""`kafka.batch/v2`, records, their headers and how many they are: kafka.md §1.3, §1.6 and the vectors N, R of §7."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    TWO,
    TWO_SAME,
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
    two_values,
    varint,
)

KV = (record_value(b"k", b"v"),)


INT_MAX, INT_MIN = (1 << 31) - 1, -(1 << 31)


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_counts, _count_limits, _empty_packed, _records, _record_lengths, _lengths, _packed_records, _headers):
        chapter(v2)


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


def _record_lengths(s: CaseBuilder) -> None:
    """§1.3, §1.5: integers and counts at the very end of the batch."""
    def rejects(name: str, title: str, body: bytes, count: int, cls: str, at: int, rules: tuple[str, ...], before: Any = None, also: tuple[str, ...] = ()) -> None:
        s.rejects(f"brink/{name}", title, batch(body, count), cls, twin="batch/one-record", doc="kafka.md §1.5; §5 FIELD_PAST_END", rules=rules, also=("truncated", *also), at=at, before=before,
             why="A reader that looks for the next byte of a varint beyond the batch crashes, or reads the next batch.")
    head = i8(0) + varint(0) * 2 + nullable(None) * 2
    rejects("header-count-torn", "The last byte of the batch continues headerCount", framed(head + b"\x80"), 1, "length-past-end", 61 + 6, ("kafka.v2.field.bounds",), also=("bad-varint", "length-mismatch", "count-mismatch"))
    two = batch_value([*KV], last=1)
    rejects("record-length-torn", "The last byte of the batch continues the length of a second record", record(b"k", b"v") + b"\x80", 2, "length-past-end", 61 + 9, ("kafka.v2.field.bounds",), two,
       ("bad-varint", "count-mismatch"))
    rejects("one-header-one-byte", "One header, of which there is one byte", framed(head + varint(1) + b"\x00"), 1, "length-past-end", 61 + 8, ("kafka.v2.headers.count",), also=("count-mismatch",))


def _count_limits(s: CaseBuilder) -> None:
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
