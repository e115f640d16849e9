"""Varints of `kafka.batch/v2`, read and written: kafka.md §4."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    body,
    framed,
    gzip,
    i8,
    nullable,
    record,
    record_value,
    varint,
)  # fmt: skip

INT32_EDGES = (63, 64, 127, 128, 8191, 8192, (1 << 20) - 1, 1 << 20, (1 << 27) - 1, 1 << 27, (1 << 31) - 1)
"""§4: where a zigzag varint of a number above 0 gets a byte longer, and the largest."""


INT64_EDGES = (-1, -64, -65, -8192, -8193, -(1 << 20), -(1 << 20) - 1, (1 << 34) - 1, 1 << 34, (1 << 41) - 1, 1 << 41, (1 << 48) - 1, 1 << 48,
               (1 << 55) - 1, 1 << 55, (1 << 62) - 1, 1 << 62)


INT_MAX, INT_MIN = (1 << 31) - 1, -(1 << 31)


KV = (record_value(b"k", b"v"),)


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_varints, _limits, _lengths, _torn):
        chapter(v2)


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
         doc="kafka.md §7 T03", rules=("kafka.varint.limit.32-bit",), also=("length-past-end",),
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
         at=61, twin=twin, doc="kafka.md §7 T09", rules=("kafka.varint.limit.32-bit",), why="franz-go panics.")
    s.rejects("varints/gzip-length-six-bytes", "The same in a gzip batch", batch(gzip(b"\x90\x80\x80\x80\x80\x00" + body(b"k", b"v")), 1, attributes=1), "bad-varint",
         at="61>0", twin="compression/gzip", doc="kafka.md §7 T16", needs=["codec:gzip"], rules=("kafka.varint.limit.32-bit",), why="Kafka reads packed records by another road than plain ones: both must look.")
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


def _limits(s: CaseBuilder) -> None:
    why = "A reader that takes one or two bytes the short way must hand over at exactly these numbers."
    doc, rules = "kafka.md §4", ("kafka.v2.varint", "kafka.varint.zigzag")
    def both(name, title, raw, value):
        s.accepts(f"varints/{name}", title, raw, value, doc=doc, why=why, rules=rules)
        s.writer.add({"id": f"{s.prefix}encode/{name}", "title": f"{title}, written", "why": why, "op": "encode", "level": "must", "rules": ["kafka.v2.encode.varint"],
                    "input": {"value": value}, "expect": {"accept": {"value": value, "bytes": [raw.hex()]}}, "source": {"origin": "builder", "document": doc}})
    for number in INT32_EDGES:
        both(f"offset-delta-{number}", f"offsetDelta {number}", batch(record(b"k", b"v", off=number), 1, last=number),
             batch_value([record_value(b"k", b"v", off=number)], last=number))
    for number in INT64_EDGES:
        both(f"timestamp-delta-{number}".replace("--", "-minus-"), f"timestampDelta {number}", batch(record(b"k", b"v", ts=number), 1, max_ts=T + number),
             batch_value([record_value(b"k", b"v", ts=number)], max_ts=T + number))
    for size in (63, 64, 8191, 8192):
        both(f"value-length-{size}", f"valueLength {size}", batch(record(b"k", b"v" * size), 1), batch_value([record_value(b"k", b"v" * size)]))
    p = s.prefix + "encode/"
    def rejects(name, title, field, number):
        value = batch_value([record_value(b"k", b"v")])
        value["records"][0][field] = str(number)
        s.writer.add({"id": p + name, "title": title, "why": "A number that does not fit is refused, never cut.", "op": "encode", "level": "must", "rules": ["kafka.v2.encode.range"],
                    "input": {"value": value}, "expect": {"reject": {"class": "invalid-value"}}, "twin": p + "one-record", "source": {"origin": "builder", "document": "kafka.md §1.3"}})
    rejects("offset-delta-under-int32", "offsetDelta −2^31 − 1", "offsetDelta", -(1 << 31) - 1)
    rejects("timestamp-delta-under-int64", "timestampDelta −2^63 − 1", "timestampDelta", -(1 << 63) - 1)
    rejects("offset-delta-far-over-int32", "offsetDelta 2^40", "offsetDelta", 1 << 40)
    rejects("attributes-over-int8", "Record attributes 128", "attributes", 128)


def _lengths(s: CaseBuilder) -> None:
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


def _torn(s: CaseBuilder) -> None:
    cut = framed(i8(0) + varint(0) * 2 + nullable(b"k") + nullable(b"v") + b"\x80")
    s.rejects("varints/cut-at-record-end", "A varint that would go on in the next record", batch(cut + b"\x01" + record(b"k", b"v", off=1), 2), "length-past-end", twin="batch/two-records",
         doc="kafka.md §1.3, §4", rules=("kafka.v2.field.bounds",), also=("bad-varint", "truncated", "length-mismatch", "count-mismatch"), why="Whoever reads on takes a byte of the next record for this one's.")
