"""The states of the numbers of batches and messages: what `fixtures/states.toml` counts, to read and to write.

A row of a table is one state, or several that a reader can tell apart by the field in which it fails. kafka.md §1.1, §1.3, §2.1, §2.2.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import google_crc32c

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
    i16,
    i32,
    lengthed,
    marker,
    message,
    message_value,
    nullable,
    record,
    record_value,
    varint,
)

LOW16, HIGH16 = -(1 << 15), (1 << 15) - 1
LOW32, HIGH32 = -(1 << 31), (1 << 31) - 1
LOW64, HIGH64 = -(1 << 63), (1 << 63) - 1

HALF = "A reader or a writer that keeps half of a number, or takes one field for another, shows it here."
EDGE = "An edge of the field's type, which a narrower type or a sentinel does not hold."

_BITS: Final = {8: "log-append-time", 16: "transactional", 32: "control-batch", 64: "delete-horizon"}
_CODECS: Final = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}


def needs_of(value: Any) -> list[str]:
    """Return the capabilities that an entry needs: those of its attributes, producer, headers and messages."""
    bits = int(value["attributes"])
    found = [f"feature:{name}" for bit, name in _BITS.items() if bits & bit and value["magic"] == "2"]
    found += [f"codec:{_CODECS[bits & 7]}"] if bits & 7 in _CODECS else []
    found += ["feature:wrapper"] if value.get("messages") else []
    if "records" in value:
        found += ["feature:empty-batch"] * (not value["records"])
        found += ["feature:idempotent"] * (value["producerId"] != "-1")
        found += ["feature:headers"] * any(row["headers"] for row in value["records"])
    return sorted(found)


def read(s: CaseBuilder, name: str, title: str, data: bytes, value: Any, why: str, rules: Sequence[str], **more: Any) -> None:
    """Add an entry that is read."""
    s.accepts(name, title, data, value, why=why, rules=tuple(rules), doc=more.pop("doc", doc_of(s)), needs=more.pop("needs", needs_of(value)), **more)


def written(s: CaseBuilder, name: str, title: str, data: bytes | None, value: Any, why: str, rules: Sequence[str], **more: Any) -> None:
    """Add a value that is written, as `data` unless it is compressed."""
    accept = {"value": value} | ({} if data is None else {"bytes": [data.hex()]})
    _encode(s, name, title, value, {"accept": accept}, why, rules, **more)


def unwritten(s: CaseBuilder, name: str, title: str, value: Any, twin: str, why: str, rules: Sequence[str], also: Sequence[str] = (), **more: Any) -> None:
    """Add a value that a writer refuses."""
    reject: dict[str, Any] = {"class": "invalid-value"} | ({"also": list(also)} if also else {})
    _encode(s, name, title, value, {"reject": reject}, why, rules, twin=s.prefix + twin, **more)


def _encode(s: CaseBuilder, name: str, title: str, value: Any, expect: Any, why: str, rules: Sequence[str], **more: Any) -> None:
    s.writer.add({
        "id": s.prefix + name, "title": title, "why": why, "op": "encode", "level": more.pop("level", "must"), "rules": list(rules), "input": {"value": value}, "expect": expect,
        "needs": more.pop("needs", needs_of(value)), "source": {"origin": "builder", "document": more.pop("doc", doc_of(s))}, **more,
    })  # fmt: skip


def memory(name: str) -> list[str]:
    """Return the flags of a refusal: a length of gigabytes is memory, where the length is believed."""
    return ["security", "resource"] if name.endswith("length-greatest") else []


def doc_of(s: CaseBuilder) -> str:
    return "kafka.md §1.1, §1.3" if s.prefix.endswith("v2/") else "kafka.md §2.1, §2.2"


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_numbers, _markers, _lengths, _magics, _written_only, _checksums):
        chapter(v2)
    for magic in (0, 1):
        old = CaseBuilder(writer, "kafka.batch", f"v{magic}")
        for part in (_plain, _plain_lengths, _wrapped, _wrapped_refused, _old_written, _old_unwritten, _old_checksums):
            part(old, magic)


# --- batches ---


class Numbers(NamedTuple):
    """A batch with some numbers in a state: the fields of the batch, those of each record, and the remarks of a reader."""

    name: str
    title: str
    fields: Mapping[str, int] = {}
    records: Sequence[Mapping[str, int]] = ({},)
    directions: str = "rw"
    remarks: tuple[str, ...] = ()
    rules: tuple[str, ...] = ("kafka.v2.layout",)
    encode_rules: tuple[str, ...] = ("kafka.v2.encode",)
    why: str = EDGE
    level: str = "must"


DISTINCT: Final = {
    "base": 0x0102030405060708, "epoch": 0x11121314, "last": 0x21222324, "pid": 0x4142434445464748, "pepoch": 0x5152,
    "seq": 0x31323334,
}  # fmt: skip
"""Numbers of which each byte differs; those of one record with such deltas differ in each byte too."""

UNCHECKED = ("kafka.v2.unchecked",)

NUMBERS: Final = (
    Numbers("every-byte-differs", "Every byte of every number but the times differs", DISTINCT, ({"off": 0x21222324},),
            rules=("kafka.v2.layout", "kafka.v2.offset", "kafka.v2.producer", "kafka.v2.sequence"), why=HALF),
    Numbers("times-every-byte-differs", "Every byte of base timestamp, greatest timestamp, delta and timestamp differs", {"base_ts": 0x1112131415161718, "max_ts": 0x323436383A3C3E40}, ({"ts": 0x2122232425262728},),
            rules=("kafka.v2.layout", "kafka.v2.timestamp", "kafka.v2.timestamp.64-bit"), why="A half of a number shows here, and a time that is counted in a finer unit than the format has."),
    Numbers("attributes-distinct", "Attributes 0x0110: transactional, and bit 8", {"attributes": 0x0110, "pid": 7, "pepoch": 0, "seq": 0}, remarks=("unknown-attr-bits",),
            rules=("kafka.v2.attributes", "kafka.v2.attributes.unused"), why="Each of the two bytes has a bit."),
    Numbers("attributes-least", "Attributes −32768: bit 15", {"attributes": LOW16}, remarks=("unknown-attr-bits",), rules=("kafka.v2.attributes", "kafka.v2.attributes.unused"),
            why="The sign of the field is a bit without a meaning."),
    Numbers("leader-epoch-least", "partitionLeaderEpoch −2^31", {"epoch": LOW32}),
    Numbers("leader-epoch-greatest", "partitionLeaderEpoch 2^31 − 1", {"epoch": HIGH32}, directions="w"),
    Numbers("base-offset-greatest", "baseOffset 2^63 − 1", {"base": HIGH64}, directions="w"),
    Numbers("base-offset-least", "baseOffset −2^63", {"base": LOW64}, directions="w"),
    Numbers("base-offset-minus-1", "baseOffset −1, and three records", {"base": -1}, ({}, {"off": 1}, {"off": 2}), remarks=("offset-negative",), rules=("kafka.v2.offset", "kafka.v2.unchecked"),
            why="−1 is the offset of the first record, not a sign that there is none: the second is at 0."),
    Numbers("last-offset-delta-least", "lastOffsetDelta −2^31, that of its record", {"base": 1 << 31, "last": LOW32}, ({"off": LOW32},), remarks=("last-offset-delta", "offset-delta"), rules=UNCHECKED),
    Numbers("last-offset-delta-minus-1", "lastOffsetDelta −1, that of its record", {"base": 1, "last": -1}, ({"off": -1},), directions="w"),
    Numbers("timestamp-zero", "Every timestamp 0", {"base_ts": 0, "max_ts": 0}, rules=("kafka.v2.timestamp",), why="0 is a time, the first millisecond of 1970: a test for truth takes it for none."),
    Numbers("timestamp-none", "No timestamp at all", {"base_ts": -1, "max_ts": -1}, directions="w", why="−1 is no time and no error."),
    Numbers("timestamp-none-append", "LogAppendTime over a base of −1", {"attributes": 8, "base_ts": -1, "max_ts": T}, rules=("kafka.v2.log-append-time",), encode_rules=("kafka.v2.encode", "kafka.v2.encode.times"),
            why="The records have the broker's time, though their producer gave none."),
    Numbers("timestamp-none-create", "CreateTime: the first record without a time, the second with one", {"base_ts": -1, "max_ts": T}, ({}, {"off": 1, "ts": T + 1}), rules=("kafka.v2.timestamp", "kafka.v2.timestamp.none"),
            why="The delta counts from −1: a base that is taken for none moves the time by a millisecond."),
    Numbers("timestamp-greatest", "Every timestamp 2^63 − 1", {"base_ts": HIGH64, "max_ts": HIGH64}, directions="w"),
    Numbers("timestamp-least", "Every timestamp −2^63", {"base_ts": LOW64, "max_ts": LOW64}, remarks=("negative-timestamp",), directions="r", rules=UNCHECKED),
    Numbers("timestamp-delta-greatest", "timestampDelta 2^63 − 1", {"base_ts": 0, "max_ts": HIGH64}, ({"ts": HIGH64},), directions="r", rules=("kafka.v2.timestamp.64-bit",)),
    Numbers("max-timestamp-least", "maxTimestamp −2^63 under CreateTime", {"max_ts": LOW64}, directions="r", remarks=("max-timestamp",), rules=UNCHECKED),
    Numbers("producer-greatest", "producerId 2^63 − 1, producerEpoch 32767, and a second record behind sequence 2147483647", {"pid": HIGH64, "pepoch": HIGH16, "seq": HIGH32}, ({}, {"off": 1}),
            rules=("kafka.v2.producer", "kafka.v2.sequence", "kafka.v2.sequence.wrap"), why="Epoch 32767 is the last of its id, and behind the greatest sequence comes 0."),
    Numbers("producer-least", "producerId −2^63, producerEpoch −32768, baseSequence −2^31", {"pid": LOW64, "pepoch": LOW16, "seq": LOW32}, directions="r", remarks=("producer-fields",), rules=("kafka.v2.unchecked", "kafka.v2.producer")),
    Numbers("producer-zero", "producerId, producerEpoch and baseSequence 0", {"pid": 0, "pepoch": 0, "seq": 0}, directions="w", why="0 is the first id that a coordinator gives: a test for truth takes it for none."),
    Numbers("record-attributes", "Record attributes 127, −128 and −1", {}, ({"attributes": 127}, {"off": 1, "attributes": -128}, {"off": 2, "attributes": -1}), remarks=("record-attrs",),
            rules=("kafka.v2.record.attributes",), why="One byte, not a varint: 127 and −128 have bits at both ends."),
)  # fmt: skip


def built(fields: Mapping[str, int], rows: Sequence[Mapping[str, int]]) -> tuple[bytes, Any]:
    """Return a batch of records k → v with these numbers, and its value."""
    append = fields.get("max_ts", T) if fields.get("attributes", 0) & 8 else None
    values = [record_value(b"k", b"v", base=fields.get("base", 0), base_ts=fields.get("base_ts", T), append=append, **row) for row in rows]
    return batch(b"".join(record(b"k", b"v", **row) for row in rows), len(rows), **fields), batch_value(values, **fields)


def _numbers(s: CaseBuilder) -> None:
    for row in NUMBERS:
        data, value = built(row.fields, row.records)
        if "r" in row.directions:
            read(s, f"states/{row.name}", row.title, data, value, row.why, row.rules, remarks=row.remarks, level=row.level)
        if "w" in row.directions:
            written(s, f"states/write-{row.name}", f"{row.title}, to write", data, value, row.why, row.encode_rules, level=row.level)
    for name, title, fields, rule in (
        ("timestamp-least", "Every timestamp −2^63, to write", {"base_ts": LOW64, "max_ts": LOW64}, "kafka.v2.encode.timestamp"),
        ("producer-least", "producerId −2^63, producerEpoch −32768, baseSequence −2^31, to write", {"pid": LOW64, "pepoch": LOW16, "seq": LOW32}, "kafka.v2.encode"),
    ):
        data, value = built(fields, ({},))
        rows = [{"id": "refused", "reject": {"class": "invalid-value"}}, {"id": "written", "accept": {"value": value, "bytes": [data.hex()]}}]
        _encode(s, f"states/write-{name}", title, value, {"either": {"behaviours": rows}}, "No producer has a use for it, and Kafka's builder refuses it; the field holds it.", (rule,), level="may", doc="kafka.md §13.2")
    pieces = [record(b"k", bytes((number,)), off=number) for number in range(256)]
    read(s, "states/records-256", "256 records, of which each value is its number", batch(b"".join(pieces), 256), batch_value([record_value(b"k", bytes((number,)), off=number) for number in range(256)]),
         "The first count, offset delta and value of more than one byte.", ("kafka.v2.count", "kafka.v2.offset"))  # fmt: skip


def _markers(s: CaseBuilder) -> None:
    key, value = marker(1, epoch=0x05060708)
    fields = {"attributes": 0x30, "pid": HIGH64, "pepoch": HIGH16}
    data, whole = batch(record(key, value), 1, **fields), batch_value([record_value(key, value, control=control_value(key, value))], **fields)
    why = "The last epoch of the last id: its marker is read like any other."
    read(s, "states/marker-producer-greatest", "A COMMIT marker of producerId 2^63 − 1 and producerEpoch 32767", data, whole, why, ("kafka.v2.producer", "kafka.control.value"))
    written(s, "states/write-marker-producer-greatest", "A COMMIT marker of producerId 2^63 − 1 and producerEpoch 32767, to write", data, whole, why, ("kafka.v2.encode",))


PAST: Final = ("truncated", "limit-exceeded", "count-mismatch", "length-mismatch")


def _lengths(s: CaseBuilder) -> None:
    """§1.1, §1.3: lengths and counts at the edges of their types."""
    kv = record(b"k", b"v")
    one, headed = "batch/one-record", "headers/one"
    front = i16(0)[:1] + varint(0) + varint(0) + nullable(b"k")
    tail = nullable(b"v") + varint(1)
    past, bounds = ("length-past-end", PAST), ("kafka.v2.field.bounds",)
    rows: Sequence[tuple[str, str, bytes, str, Sequence[str], int, str, tuple[str, ...]]] = (
        ("batch-length-1", "batchLength 1", batch(kv, 1, length=1), "bad-length", ("truncated",), 8, one, ("kafka.v2.size",)),
        ("records-count-least", "recordsCount −2^31", batch(kv, LOW32, last=0), "negative-length", ("count-mismatch",), 57, one, ("kafka.v2.count.negative",)),
        ("record-length-least", "A record length of −2^31", batch(varint(LOW32) + body(b"k", b"v"), 1), "negative-length", ("bad-length", "length-mismatch"), 61, one, ("kafka.v2.record.length",)),
        ("record-length-1", "A record length of 1", batch(varint(1) + body(b"k", b"v"), 1), "bad-length", ("truncated", "length-past-end", "length-mismatch", "count-mismatch"), 61, one, ("kafka.v2.record.length",)),
        ("value-length-greatest", "A value length of 2^31 − 1", batch(framed(front + varint(HIGH32) + b"v" + varint(0)), 1), *past, 72, one, bounds),
        ("header-count-least", "A header count of −2^31", batch(framed(front + nullable(b"v") + varint(LOW32)), 1), "negative-length", ("count-mismatch",), 69, headed, ("kafka.v2.headers.count",)),
        ("header-key-length-greatest", "A header key length of 2^31 − 1", batch(framed(front + tail + varint(HIGH32) + b"h" + nullable(b"1")), 1), *past, 75, headed, bounds),
        ("header-key-length-least", "A header key length of −2^31", batch(framed(front + tail + varint(LOW32) + nullable(b"1")), 1), "null-not-allowed", ("negative-length",), 70, headed, ("kafka.v2.headers.null-key",)),
        ("header-value-length-greatest", "A header value length of 2^31 − 1", batch(framed(front + tail + nullable(b"h") + varint(HIGH32) + b"1"), 1), *past, 77, headed, bounds),
    )  # fmt: skip
    for name, title, data, cls, also, at, twin, rules in rows:
        needs = ["feature:headers"] if "header" in name else []
        s.rejects(f"states/{name}", title, data, cls, also=tuple(also), at=at, twin=twin, doc="kafka.md §1.1, §1.3, §1.5", why="An edge of a length: memory for it, or a step by it, goes past the entry.", rules=rules, needs=needs, flags=memory(name))
    null = "Every length below 0 is null, also the least."
    read(s, "states/value-length-least", "A value length of −2^31", batch(framed(front + varint(LOW32) + varint(0)), 1), batch_value([record_value(b"k", None)]), null, ("kafka.v2.null.negative",), remarks=("length-below-minus1",))
    read(s, "states/header-value-length-least", "A header value length of −2^31", batch(framed(front + tail + nullable(b"h") + varint(LOW32)), 1), batch_value([record_value(b"k", b"v", ((b"h", None),))]), null,
         ("kafka.v2.null.negative", "kafka.v2.headers.null-value"), remarks=("length-below-minus1",))  # fmt: skip


MAGICS: Final = (("zero", 0), ("minus-1", -1), ("least", -128), ("greatest", 127))


def _magics(s: CaseBuilder) -> None:
    good = batch_value([record_value(b"k", b"v")])
    for name, magic in MAGICS:
        if name == "least":  # the others are in framing and magic
            s.rejects(f"states/magic-{name}", f"Magic {magic}", batch(record(b"k", b"v"), 1, magic=magic), "bad-magic", at=16, twin="batch/one-record", doc="kafka.md §1.4", why="No batch has it.", rules=("kafka.v2.magic",))
        unwritten(s, f"states/write-magic-{name}", f"Magic {magic}, to write as v2", {**good, "magic": str(magic)}, "encode/one-record", "The format that was asked for is the one that is written.", ("kafka.v2.encode.range",), also=("bad-magic",))
    for field, bits in (("baseTimestamp", 63), ("maxTimestamp", 63), ("producerId", 63), ("baseSequence", 31)):
        unwritten(s, f"states/write-{field.lower()}-over", f"{field} 2^{bits}", {**good, field: str(1 << bits)}, "encode/one-record", "It does not fit its field, and wraps round to the least number.", ("kafka.v2.encode.range",))
    for name, bits in (("greatest", HIGH16), ("minus-1", -1)):
        s.rejects(f"states/attributes-{name}", f"Attributes {bits}: codec 7", batch(record(b"k", b"v"), 1, attributes=bits), "unknown-codec", at=21, twin="batch/one-record", doc="kafka.md §1.2", why="All bits of the codec are set.", rules=("kafka.v2.codec",))
        unwritten(s, f"states/write-attributes-{name}", f"Attributes {bits}: codec 7, to write", {**good, "attributes": str(bits)}, "encode/one-record", "There is no such codec.", ("kafka.v2.encode.codec",), also=("unknown-codec",))


def _written_only(s: CaseBuilder) -> None:
    """Named edges of a record: nulls and empties beside each other, and a tombstone in each codec."""
    rows: Sequence[tuple[str, str, tuple[Any, ...]]] = (
        ("null-value-with-headers", "A tombstone with headers", (b"k", None, ((b"h", b"1"),))),
        ("null-key-with-headers", "A null key with headers", (None, b"v", ((b"h", b"1"),))),
        ("empty-header-key-null-value", "An empty header key with a null value", (b"k", b"v", ((b"", None),))),
        ("nulls-alone", "Key and value null, no headers", (None, None, ())),
        ("nulls-with-null-header", "Key and value null, and a header of an empty key and a null value", (None, None, ((b"", None),))),
    )
    why = "A record may be nothing but nulls, and each of them is told from empty."
    for name, title, parts in rows:
        data, value = batch(record(*parts), 1), batch_value([record_value(*parts)])
        read(s, f"states/{name}", title, data, value, why, ("kafka.v2.null", "kafka.v2.headers", "kafka.v2.headers.null-value"))
        written(s, f"states/write-{name}", f"{title}, to write", data, value, why, ("kafka.v2.encode.null", "kafka.v2.encode.headers"))


# --- checksums ---


def forged(build: Callable[[bytes], bytes], checksum: Callable[[bytes], int], wanted: int) -> bytes:
    """Return four bytes that give what is built of them this checksum.

    A checksum of 32 bits is linear in each bit of its input, so that the bits follow from a system of equations.
    """
    zero = checksum(build(bytes(4)))
    rows = [(checksum(build((1 << bit).to_bytes(4, "big"))) ^ zero, 1 << bit) for bit in range(32)]
    left, found = zero ^ wanted, 0
    for place in range(32):
        pivot = next(row for row in rows if row[0] >> place & 1)
        rows = [(mask ^ pivot[0], bits ^ pivot[1]) if mask >> place & 1 else (mask, bits) for mask, bits in rows if (mask, bits) != pivot]
        if left >> place & 1:
            left, found = left ^ pivot[0], found ^ pivot[1]
    return found.to_bytes(4, "big")


SEALS: Final = (("zero", "0", 0), ("greatest", "0xffffffff", 0xFFFFFFFF))
SEAL = "A checksum that is taken for absent where it is 0, or for −1, refuses or passes what it should not."


def _checksums(s: CaseBuilder) -> None:
    for name, text, wanted in SEALS:
        seal = forged(lambda free: batch(record(b"k", free), 1), lambda data: google_crc32c.value(data[21:]), wanted)
        data, value = batch(record(b"k", seal), 1), batch_value([record_value(b"k", seal)])
        read(s, f"states/crc-{name}", f"A batch whose CRC is {text}", data, value, SEAL, ("kafka.v2.crc",))
        written(s, f"states/write-crc-{name}", f"A batch whose CRC is {text}, to write", data, value, SEAL, ("kafka.v2.encode",))


def _old_checksums(s: CaseBuilder, magic: int) -> None:
    for name, text, wanted in SEALS:
        seal = forged(lambda free: message(magic, b"k", free), lambda data: zlib.crc32(data[16:]), wanted)
        data, value = message(magic, b"k", seal), message_value(magic, b"k", seal)
        read(s, f"states/crc-{name}", f"A message whose CRC is {text}", data, value, SEAL, ("kafka.legacy.crc",))
        written(s, f"states/write-crc-{name}", f"A message whose CRC is {text}, to write", data, value, SEAL, ("kafka.legacy.encode",))
        outer = message(magic, None, gzip(data), attributes=1)
        read(s, f"states/inner-crc-{name}", f"A wrapper of a message whose CRC is {text}", outer, message_value(magic, None, None, attributes=1, messages=[value]), SEAL, ("kafka.wrapper.inner-crc",))


# --- messages ---

STAMP: Final = 0x1112131415161718
PLACE: Final = 0x0102030405060708


def _plain(s: CaseBuilder, magic: int) -> None:
    """§2.1: numbers of a message, to read and to write."""
    low, high = {"ts": LOW64}, {"ts": HIGH64}
    rows: Sequence[tuple[str, str, dict[str, int], str, tuple[str, ...], tuple[str, ...]]] = (
        ("every-byte-differs", "Every byte of the offset differs", {"offset": PLACE}, "rw", (), ("kafka.legacy.layout",)),
        ("offset-greatest", "Offset 2^63 − 1", {"offset": HIGH64}, "w", (), ()),
        ("offset-minus-1", "Offset −1", {"offset": -1}, "w", (), ()),
        ("offset-least", "Offset −2^63", {"offset": LOW64}, "rw", ("offset-negative",), ("kafka.legacy.unchecked",)),
        ("attributes-least", "Attributes −128: bit 7", {"attributes": -128}, "rw", ("unknown-attr-bits",), ("kafka.legacy.attributes.unused",)),
        *((("timestamp-every-byte-differs", "Every byte of the timestamp differs", {"ts": STAMP}, "rw", (), ("kafka.legacy.layout",)), ("timestamp-greatest", "Timestamp 2^63 − 1", high, "rw", (), ("kafka.legacy.layout",)), ("timestamp-least", "Timestamp −2^63", low, "r", ("negative-timestamp",), ("kafka.legacy.unchecked",))) if magic else ()),
    )  # fmt: skip
    for name, title, fields, directions, remarks, rules in rows:
        shown = {**fields, "attributes": fields["attributes"] & 0xFF} if "attributes" in fields else fields
        data, value = message(magic, b"k", b"v", **shown), message_value(magic, b"k", b"v", **fields)
        why = HALF if name.endswith("every-byte-differs") else EDGE
        if "r" in directions:
            read(s, f"states/{name}", title, data, value, why, rules, remarks=remarks)
        if "w" in directions:
            written(s, f"states/write-{name}", f"{title}, to write", data, value, why, ("kafka.legacy.encode",))
    if magic:
        unwritten(s, "states/write-timestamp-least", "Timestamp −2^63, to write", message_value(1, b"k", b"v", ts=LOW64), "encode/no-timestamp", "As −2: no writer has a use for it.", ("kafka.legacy.encode.timestamp",), level="should")
    key, text = b"k" * 300, b"v" * 300
    data, value = message(magic, key, text), message_value(magic, key, text)
    why = "The first length of two bytes."
    read(s, "states/lengths-wide", "A key and a value of 300 bytes", data, value, why, ("kafka.legacy.layout",))
    written(s, "states/write-lengths-wide", "A key and a value of 300 bytes, to write", data, value, why, ("kafka.legacy.encode",))


def _plain_lengths(s: CaseBuilder, magic: int) -> None:
    """§2.1: lengths, sizes, magic and attributes at the edges of their types."""
    head = 26 if magic else 18
    least = 22 if magic else 14
    good, why = "message/key-and-value", "An edge of a length or of a type: what follows it is not where it says."
    rows: Sequence[tuple[str, str, bytes, str, tuple[str, ...], int, str]] = (
        ("size-least", "Size −2^31", message(magic, b"k", b"v", size=LOW32), "bad-length", ("negative-length",), 8, "size"),
        ("size-1", "Size 1", message(magic, b"k", b"v", size=1), "bad-length", ("truncated",), 8, "size"),
        ("size-0", "Size 0", message(magic, b"k", b"v", size=0), "bad-length", ("truncated",), 8, "size"),
        ("value-length-greatest", "A value length of 2^31 − 1", message(magic, raw=lengthed(b"k") + i32(HIGH32) + b"v"), "length-past-end", ("truncated", "limit-exceeded"), head + 9, "bounds"),
        ("attributes-greatest", "Attributes 127: codec 7", message(magic, b"k", b"v", attributes=127), "unknown-codec", (), 17, "codec"),
        ("attributes-minus-1", "Attributes −1: codec 7", message(magic, b"k", b"v", attributes=255), "unknown-codec", (), 17, "codec"),
        *((f"magic-{name}", f"Magic {number}", _with_magic(magic, number), "bad-magic", (), 16, "magic") for name, number in MAGICS if number),
    )  # fmt: skip
    for name, title, data, cls, also, at, rule in rows:
        s.rejects(f"states/{name}", title, data, cls, also=also, at=at, twin=good, doc=f"kafka.md §1.4, §2.1; the least size is {least}", why=why, rules=(f"kafka.legacy.{rule}",), flags=memory(name))
    null = "Every length below 0 is null, also the least."
    for name, title, raw, parts in (
        ("key-length-least", "A key length of −2^31", i32(LOW32) + lengthed(b"v"), (None, b"v")),
        ("value-length-least", "A value length of −2^31", lengthed(b"k") + i32(LOW32), (b"k", None)),
    ):
        read(s, f"states/{name}", title, message(magic, raw=raw), message_value(magic, *parts), null, ("kafka.legacy.null.negative",), remarks=("length-below-minus1",))


def _with_magic(magic: int, other: int) -> bytes:
    """Return a message whose magic byte is another one, under a right CRC."""
    tail = bytes((other & 0xFF,)) + message(magic, b"k", b"v")[17:]
    return message(magic, b"k", b"v")[:12] + zlib.crc32(tail).to_bytes(4, "big") + tail


class Inner(NamedTuple):
    """A message inside a wrapper: its bytes with the offset that is stored, and its value with the one that it has."""

    data: bytes
    value: Any


def inner(magic: int, key: bytes | None, value: bytes | None, *, stored: int, offset: int | None = None, raw: bytes | None = None, **fields: int) -> Inner:
    shown = {**fields, "attributes": fields["attributes"] & 0xFF} if "attributes" in fields else fields
    return Inner(message(magic, key, value, offset=stored, raw=raw, **shown), message_value(magic, key, value, offset=stored if offset is None else offset, **fields))


def wrapper(magic: int, rows: Sequence[Inner], **fields: int) -> tuple[bytes, Any]:
    """Return a gzip wrapper of messages, and its value."""
    return message(magic, None, gzip(b"".join(row.data for row in rows)), attributes=1, **fields), message_value(magic, None, None, attributes=1, messages=[row.value for row in rows], **fields)


def _wrapped(s: CaseBuilder, magic: int) -> None:
    """§2.2: numbers of messages inside a wrapper."""
    def reads(name: str, title: str, whole: tuple[bytes, Any], why: str, *rules: str, remarks: tuple[str, ...] = (), **more: Any) -> None:
        read(s, f"states/inner-{name}", title, *whole, why, rules, remarks=remarks, **more)
    order = "kafka.wrapper.relative" if magic else "kafka.wrapper.absolute"
    stored = 0 if magic else PLACE
    reads("every-byte-differs", "Every byte of the offset of a message in a wrapper differs", wrapper(magic, [inner(magic, b"k", b"v", stored=stored, offset=PLACE)], offset=PLACE), HALF, order)
    stored = 0 if magic else HIGH64
    reads("offset-greatest", "A message at offset 2^63 − 1 in a wrapper", wrapper(magic, [inner(magic, b"k", b"v", stored=stored, offset=HIGH64)], offset=HIGH64), EDGE, order)
    if magic:
        rows = [inner(1, b"k", b"v", stored=LOW64, offset=LOW64 + 5), inner(1, b"k", b"v", stored=-6, offset=-1), inner(1, b"k", b"v", stored=0, offset=5)]
        reads("offset-least", "Relative offsets −2^63, −6 and 0 in a wrapper at 5", wrapper(1, rows, offset=5), EDGE, "kafka.wrapper.relative", remarks=("offset-negative",))
        rows = [inner(1, b"k", b"v", stored=LOW64), inner(1, b"k", b"v", stored=-1), inner(1, b"k", b"v", stored=0)]
        reads("offset-least-at-zero", "Offsets −2^63, −1 and 0 in a wrapper at 0", wrapper(1, rows), EDGE, "kafka.wrapper.relative")
    else:
        rows = [inner(0, b"k", b"v", stored=number) for number in (LOW64, -1, 0)]
        reads("offset-least", "Offsets −2^63, −1 and 0 in a wrapper", wrapper(0, rows), EDGE, order)
    stamps = [inner(1, b"k", b"v", stored=index, ts=stamp) for index, stamp in enumerate((0, HIGH64, STAMP, LOW64))]
    remarks = () if magic else ("inner-magic",)
    reads("timestamps", "Messages of v1 with the timestamps 0, 2^63 − 1, −2^63 and one of which each byte differs", wrapper(magic, stamps, offset=3), EDGE, *(("kafka.legacy.unchecked",) if magic else ("kafka.wrapper.inner-magic",)), remarks=remarks)
    raws = [
        inner(magic, None, None, stored=0),
        inner(magic, b"", b"", stored=1),
        inner(magic, b"k" * 300, b"v" * 300, stored=2),
    ]
    reads("lengths", "Messages of null, empty and 300 bytes in a wrapper", wrapper(magic, raws, offset=2), "Null and empty are two things, also in a wrapper.", "kafka.legacy.null")
    negative = [inner(magic, None, b"v", stored=0, raw=i32(LOW32) + lengthed(b"v")), inner(magic, b"k", None, stored=1, raw=lengthed(b"k") + i32(LOW32))]
    reads("lengths-least", "Key and value lengths of −2^31 in a wrapper", wrapper(magic, negative, offset=1), "Every length below 0 is null, also the least.", "kafka.legacy.null.negative", remarks=("length-below-minus1",))
    reads("attributes-least", "A message of attributes −128 in a wrapper", wrapper(magic, [inner(magic, b"k", b"v", stored=0, attributes=-128)]), "The sign of the byte is a bit without a meaning.", "kafka.legacy.attributes.unused")


def _wrapped_refused(s: CaseBuilder, magic: int) -> None:
    """§2.2: a message inside a wrapper with a number that none has."""
    start = 34 if magic else 26
    head = 26 if magic else 18
    whole = message(magic, b"k", b"v")
    size, bounds = ("inner-size",), ("kafka.legacy.bounds",)
    rows: Sequence[tuple[str, str, bytes, str, tuple[str, ...], int, tuple[str, ...]]] = (
        ("size-least", "Size −2^31", message(magic, b"k", b"v", size=LOW32), "bad-length", ("negative-length",), 8, size),
        ("size-minus-1", "Size −1", message(magic, b"k", b"v", size=-1), "bad-length", ("negative-length",), 8, size),
        ("size-0", "Size 0", message(magic, b"k", b"v", size=0), "bad-length", ("truncated",), 8, size),
        ("size-1", "Size 1", message(magic, b"k", b"v", size=1), "bad-length", ("truncated",), 8, size),
        ("key-length-greatest", "A key length of 2^31 − 1", message(magic, raw=i32(HIGH32) + b"k" + lengthed(b"v")), "length-past-end", ("truncated", "limit-exceeded"), head + 4, bounds),
        ("value-length-greatest", "A value length of 2^31 − 1", message(magic, raw=lengthed(b"k") + i32(HIGH32) + b"v"), "length-past-end", ("truncated", "limit-exceeded"), head + 9, bounds),
        ("crc-wrong-greatest", "A CRC of 0xffffffff", message(magic, b"k", b"v", crc=0xFFFFFFFF), "crc-mismatch", (), 12, ("inner-crc",)),
        ("attributes-greatest", "Attributes 127: codec 7", message(magic, b"k", b"v", attributes=127), "bad-nesting", ("unknown-codec",), 17, ("nesting",)),
        ("attributes-minus-1", "Attributes −1: codec 7", message(magic, b"k", b"v", attributes=255), "bad-nesting", ("unknown-codec",), 17, ("nesting",)),
        *((f"magic-{name}", f"Magic {number}", _with_magic(magic, number), "bad-magic", ("crc-mismatch",), 16, ("inner-magic.range",)) for name, number in MAGICS if number),
    )  # fmt: skip
    for name, title, data, cls, also, at, rules in rows:
        named = tuple(rule if rule.startswith("kafka") else f"kafka.wrapper.{rule}" for rule in rules)
        s.rejects(f"states/inner-{name}", f"{title} of a message in a wrapper", message(magic, None, gzip(data), attributes=1), cls, also=also, at=f"{start}>{at}", twin="wrapper/one-at-zero", doc="kafka.md §2.2", why="A wrapper hides no fault of its messages.",
                  rules=named, needs=["codec:gzip", "feature:wrapper"], flags=memory(name))  # fmt: skip
    cut = message(magic, b"k", b"v", size=HIGH32)
    value = message_value(magic, None, None, attributes=1, offset=1, messages=[message_value(magic, b"k", b"v", offset=0 if not magic else 1)])
    raw = message(magic, None, gzip(whole + cut), attributes=1, offset=1)
    rows_of = {"read": {"accept": {"value": value, "consumed": len(raw), "remarks": ["inner-truncated"]}}, "refused": {"reject": {"class": "other"}}}
    s.either("states/inner-size-greatest", "Size 2^31 − 1 of the last message in a wrapper", raw, rows_of, doc="kafka.md §2.2", why="It is cut, as any message whose size goes past the end of the set.", rules=("kafka.wrapper.inner-truncated",), level="should", needs=["codec:gzip", "feature:wrapper"])


def _old_written(s: CaseBuilder, magic: int) -> None:
    """§2.2: wrappers to write."""
    def writes(name: str, title: str, offsets: Sequence[int], why: str, rows: Sequence[Any], **fields: int) -> None:
        value = message_value(magic, None, None, attributes=1, offset=offsets[-1], messages=list(rows), **fields)
        written(s, f"states/write-inner-{name}", f"{title}, to write", None, value, why, ("kafka.legacy.encode.codec",))
    long = b"v" * 300
    writes("every-byte-differs", "A message in a wrapper of which every byte of the offset differs", [PLACE], HALF, [message_value(magic, b"k", long, offset=PLACE)])
    writes("offset-greatest", "A message at offset 2^63 − 1 in a wrapper", [HIGH64], EDGE, [message_value(magic, b"k", long, offset=HIGH64)])
    for name, offset in (("least", LOW64), ("minus-1", -1)):
        title, inside = f"A message at offset {offset} in a wrapper", message_value(magic, b"k", long, offset=offset)
        if magic:  # a reader refuses such a wrapper: its offset is neither 0 nor that of a message
            value = message_value(1, None, None, attributes=1, offset=offset, messages=[inside])
            unwritten(s, f"states/write-inner-offset-{name}", f"{title}, to write", value, "encode/wrapper-of-one-gzip", "No reader takes it back.", ("kafka.wrapper.offset",), level="should", also=("bad-offset",))
        else:
            writes(f"offset-{name}", title, [offset], EDGE, [inside])
    if magic:
        writes("timestamps", "Messages with the timestamps 0, −1, 2^63 − 1 and one of which each byte differs in a wrapper", [13], EDGE, [message_value(1, b"k", long, offset=10 + index, ts=stamp) for index, stamp in enumerate((0, -1, HIGH64, STAMP))], ts=HIGH64)
        unwritten(s, "states/write-inner-timestamp-least", "Timestamp −2^63 of a message in a wrapper, to write", message_value(1, None, None, attributes=1, messages=[message_value(1, b"k", long, ts=LOW64)]), "encode/wrapper-of-one-gzip", "As −2: no writer has a use for it.",
                  ("kafka.legacy.encode.timestamp",), level="should")  # fmt: skip
    texts = ((None, long), (b"", b""), (b"k" * 300, b"v"), (b"k", None))
    writes("lengths", "Keys and values of null, empty, one and 300 bytes in a wrapper", [3], "Null and empty are two things, also in a wrapper.", [message_value(magic, key, text, offset=index) for index, (key, text) in enumerate(texts)])
    writes("attributes-least", "A message of attributes −128 in a wrapper", [0], "The sign of the byte is a bit without a meaning.", [message_value(magic, b"k", long, attributes=-128)])


def _old_unwritten(s: CaseBuilder, magic: int) -> None:
    good, inside = "encode/key-and-value", "encode/wrapper-of-one-gzip"
    one = message_value(magic, b"k", b"v")
    for field, over in (("attributes", 1 << 7), *((("timestamp", 1 << 63),) if magic else ())):
        unwritten(s, f"states/write-{field}-over", f"{field} {over}", {**one, field: str(over)}, good, "It does not fit its field, and wraps round to the least number.", ("kafka.legacy.encode.range",), needs=[])
    edges = (("greatest", 127), ("minus-1", -1))
    for name, bits in edges:
        unwritten(s, f"states/write-attributes-{name}", f"Attributes {bits}: codec 7, to write", {**one, "attributes": str(bits)}, good, "There is no such codec.", ("kafka.legacy.encode.codec",), also=("unknown-codec",))
        value = message_value(magic, None, None, attributes=1, messages=[{**one, "attributes": str(bits)}])
        unwritten(s, f"states/write-inner-attributes-{name}", f"Attributes {bits} of a message in a wrapper, to write", value, inside, "A message in a wrapper is not packed.", ("kafka.legacy.encode.codec",), also=("unknown-codec", "bad-nesting"))
    for name, number in MAGICS:
        if not number and not magic:
            continue
        unwritten(s, f"states/write-magic-{name}", f"Magic {number}, to write as v{magic}", {**one, "magic": str(number)}, good, "The format that was asked for is the one that is written.", ("kafka.legacy.encode.range",), also=("bad-magic",))
        value = message_value(magic, None, None, attributes=1, messages=[{**one, "magic": str(number)}])
        unwritten(s, f"states/write-inner-magic-{name}", f"Magic {number} of a message in a wrapper, to write", value, inside, "A wrapper of a writer has messages of its own magic.", ("kafka.legacy.encode.range",), also=("bad-magic",))
    if not magic:
        for name, stamp in (("zero", 0), ("greatest", HIGH64), ("least", LOW64), ("distinct", STAMP)):
            value = message_value(0, None, None, attributes=1, messages=[{**one, "timestamp": str(stamp)}])
            unwritten(s, f"states/write-inner-timestamp-{name}", f"A timestamp of {stamp} of a message in a v0 wrapper, to write", value, inside, "It would be lost: v0 has no field for it.", ("kafka.legacy.encode.range",), level="may")
