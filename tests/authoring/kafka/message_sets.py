"""`kafka.batch/v0` and `v1`: kafka.md §2 and the vectors W26 to W41, L and Z of §7."""

import zlib
from typing import Any

import google_crc32c

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    TWO,
    T,
    batch,
    gzip,
    i8,
    i32,
    i64,
    lengthed,
    lz4,
    message,
    message_value,
    snappy_block,
    u32,
    xerial,
    zstd,
)  # fmt: skip

GZIP, APPEND = 1, 8


NEED = ["codec:gzip", "feature:wrapper"]


def write(writer: FixtureWriter) -> None:
    v0, v1 = CaseBuilder(writer, "kafka.batch", "v0"), CaseBuilder(writer, "kafka.batch", "v1")
    _message(v0, 0)
    _message(v1, 1)
    _v0(v0)
    _v1(v1)
    _wrapper_v0(v0)
    _wrapper_v1(v1)
    _wrapper_refused(v1)
    _v0_vectors(v0)
    _wrapper_v0_vectors(v0)
    _wrapper_v1_vectors(v1)
    _wrapper_refused_vectors(v1)
    _second_inner(v1)


GZIP, SNAPPY, LZ4, ZSTD, APPEND = 1, 2, 3, 4, 8


def _message(s: CaseBuilder, magic: int) -> None:
    """Add the cases that v0 and v1 share."""
    def made(key, value, **more):
        return message(magic, key, value, **more), message_value(magic, key, value, offset=more.get("offset", 0))
    rules = ("kafka.legacy.layout", "kafka.legacy.null")
    name = f"v{magic}"
    s.accepts("message/key-and-value", f"{name}, k→v", *made(b"k", b"v"), doc="kafka.md §7 L36, §6 E20 W28",
         rules=(*rules, "kafka.legacy.size", "kafka.legacy.crc", "kafka.legacy.codec", "kafka.legacy.truncated", "kafka.legacy.bounds", "kafka.legacy.zstd", "kafka.legacy.magic"), why="The smallest useful message.")
    s.accepts("message/null-key", f"{name}, null key", *made(None, b"123"), doc="kafka.md §6 E19 W26", rules=rules, why="Most logs have no keys.")
    s.accepts("message/tombstone", f"{name}, null value", *made(b"k", None), doc="kafka.md §7 W27", rules=rules, why="A tombstone.")
    s.accepts("message/null-null", f"{name}, null key and value", *made(None, None), doc="kafka.md §7 L34, L35", rules=rules, why="The smallest message.")
    s.accepts("message/empty-empty", f"{name}, empty key and value", *made(b"", b""), doc="kafka.md §2.1", rules=rules, why="Empty is not null.")
    s.accepts("message/offset", f"{name}, offset 2^40", *made(b"k", b"v", offset=1 << 40), doc="kafka.md §2.1", rules=("kafka.legacy.layout",),
         why="Offsets outgrow 32 bits.")
    good, twin = message(magic, b"k", b"v"), "message/key-and-value"
    tail = good[16:]
    rules = ("kafka.legacy.crc",)
    why = "A reader that skips the check hands corrupt records to the application."
    s.rejects("message/crc-wrong", "A wrong CRC", message(magic, b"k", b"v", crc=zlib.crc32(tail) ^ 1), "crc-mismatch", at=12, twin=twin,
         doc="kafka.md §7 L01", rules=rules, why=why)
    s.rejects("message/crc-32c", "CRC-32C in place of CRC-32", message(magic, b"k", b"v", crc=google_crc32c.value(tail)), "crc-mismatch", at=12, twin=twin,
         doc="kafka.md §7 L02", rules=rules, why="v2's polynomial is another.")
    s.rejects("message/size-13", "Size 13", good[:8] + i32(13) + good[12:25], "bad-length", at=8, twin=twin, doc="kafka.md §1.4", rules=("kafka.legacy.size",),
         also=("truncated",), why="No message is that short.")
    s.rejects("message/size-negative", "Size −1", good[:8] + i32(-1) + good[12:], "bad-length", at=8, twin=twin, doc="kafka.md §1.4", rules=("kafka.legacy.size",),
         also=("negative-length",), why="Read as unsigned it is the largest of all.")
    s.rejects("message/truncated", "The last byte is missing", good[:-1], "truncated", twin=twin, doc="kafka.md §2.4", rules=("kafka.legacy.truncated",),
         why="An entry that is not all there holds nothing to deliver.")
    s.rejects("message/value-past-end", "valueLength one past the end", message(magic, raw=lengthed(b"k") + i32(2) + b"v"), "length-past-end", twin=twin,
         doc="kafka.md §7 L06", rules=("kafka.legacy.bounds",), also=("truncated",), why="kafka-python delivers what is there.")
    s.rejects("message/key-past-end", "keyLength 2^31 − 1", message(magic, raw=i32((1 << 31) - 1) + b"kkkkkkkk"), "length-past-end", twin=twin, doc="kafka.md §2.1",
         rules=("kafka.legacy.bounds",), also=("truncated", "limit-exceeded"), limits={"ms": 1000, "rss_mb": 512}, flags=["resource"], why="The length must not be trusted for an allocation.")
    s.accepts("message/key-length-minus-2", "keyLength −2 is null too", message(magic, raw=i32(-2) + lengthed(b"v")), message_value(magic, None, b"v"),
         doc="kafka.md §7 L04", rules=("kafka.legacy.null.negative",), remarks=("length-below-minus1",), why="kafka-python reads an empty key.")
    s.accepts("message/value-length-minus-2", "valueLength −2 is null too", message(magic, raw=lengthed(b"k") + i32(-2)), message_value(magic, b"k", None),
         doc="kafka.md §7 L05", rules=("kafka.legacy.null.negative",), remarks=("length-below-minus1",), why="kafka-python reads an empty value.")
    s.accepts("message/extra-bytes", "Two bytes after the value", message(magic, b"k", b"v", extra=b"zz"), message_value(magic, b"k", b"v"),
         doc="kafka.md §7 L07", rules=("kafka.legacy.extra",), remarks=("legacy-extra-bytes",), why="They lie under the CRC and mean nothing.")
    s.accepts("message/attributes-high-bits", "Unused attribute bits", message(magic, b"k", b"v", attributes=0xF0), message_value(magic, b"k", b"v", attributes=-16),
         doc="kafka.md §7 L09, L10", rules=("kafka.legacy.attributes.unused",), remarks=("unknown-attr-bits",), why="franz-go refuses them.")
    s.rejects("message/codec-5", "Codec 5", message(magic, None, b"v", attributes=5), "unknown-codec", at=17, twin=twin, doc="kafka.md §7 L14", rules=("kafka.legacy.codec",),
         why="It does not exist.")
    s.rejects("message/codec-zstd", "Codec 4", message(magic, None, zstd(message(magic, b"k", b"v")), attributes=ZSTD), "unknown-codec", at=17, twin=twin,
         doc="kafka.md §7 L13, Z56, Z57", rules=("kafka.legacy.zstd",), also=("not-permitted", "bad-nesting"), why="zstd is for v2 only; five clients read it.")


def _v0(s: CaseBuilder) -> None:
    s.accepts("message/attributes-bit-3", "Bit 3 means nothing in v0", message(0, b"k", b"v", attributes=APPEND), message_value(0, b"k", b"v", attributes=APPEND),
         doc="kafka.md §7 L08", rules=("kafka.legacy.attributes.unused",), remarks=("unknown-attr-bits",), why="v0 has no timestamp whose type it could tell.")


def _v1(s: CaseBuilder) -> None:
    rules = ("kafka.v1.timestamp",)
    s.accepts("message/log-append-time", "Bit 3: log append time", message(1, b"k", b"v", attributes=APPEND), message_value(1, b"k", b"v", attributes=APPEND),
         doc="kafka.md §6 E21 W29", rules=rules, why="twmb/franz-go 688d6fb9 took bit 4 for it and refused the message.")
    s.accepts("message/timestamp-zero", "Timestamp 0", message(1, b"k", b"v", ts=0), message_value(1, b"k", b"v", ts=0), doc="kafka.md §7 L36", rules=rules,
         why="0 is a time, −1 is none.")
    s.accepts("message/timestamp-none", "Timestamp −1", message(1, b"k", b"v", ts=-1), message_value(1, b"k", b"v", ts=-1), doc="kafka.md §7 L12", rules=rules, why="No time.")
    s.accepts("message/timestamp-negative", "Timestamp −2", message(1, b"k", b"v", ts=-2), message_value(1, b"k", b"v", ts=-2), doc="kafka.md §7 L11",
         rules=("kafka.legacy.unchecked",), remarks=("negative-timestamp",), why="IBM/sarama #907 maps it to the zero time.")
    s.rejects("message/size-14", "Size 14, too small for v1", message(1, raw=b"", ts=0)[:8] + i32(14) + message(0, None, None)[12:16] + b"\x01\x00" + bytes(8), "bad-length",
         at=8, twin="message/null-null", doc="kafka.md §7 I23", rules=("kafka.legacy.size",), also=("truncated", "crc-mismatch", "length-past-end"),
         why="Kafka's own reader runs past the end.")


def pair(magic: int, offsets=(0, 1), *, stamps=(T, T + 1)) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """An inner set of a→1 and b→2."""
    rows = ((b"a", b"1", offsets[0], stamps[0]), (b"b", b"2", offsets[1], stamps[1]))
    return b"".join(message(magic, k, v, offset=o, ts=t) for k, v, o, t in rows), [(k, v) for k, v, _, _ in rows]


def pair_value(magic: int, offsets=(10, 11), *, stamps=(T, T + 1)):
    return [message_value(magic, k, v, offset=o, ts=t) for (k, v), o, t in zip(((b"a", b"1"), (b"b", b"2")), offsets, stamps, strict=True)]


def _wrapper_v0(s: CaseBuilder) -> None:
    inner = pair(0, (10, 11))[0]
    def wrapped(name, title, packed, codec, doc, why, need, *, offsets=(10, 11), outer=11, rules=("kafka.wrapper.absolute",), remarks=(), inner_values=None):
        s.accepts(f"wrapper/{name}", title, message(0, None, packed, offset=outer, attributes=codec),
             message_value(0, None, None, offset=outer, attributes=codec, messages=inner_values or pair_value(0, offsets)),
             doc=doc, why=why, rules=rules, remarks=remarks, needs=[f"codec:{need}", "feature:wrapper"])
    wrapped("gzip", "v0 gzip wrapper, absolute inner offsets", gzip(inner), GZIP, "kafka.md §6 E22 W30",
            "segmentio/kafka-go adds the wrapper's offset to absolute ones: 20, 21 for 10, 11.", "gzip")
    wrapped("gzip-gap", "v0 wrapper with a gap", gzip(pair(0, (10, 13))[0]), GZIP, "kafka.md §7 L38", "twmb/franz-go 5713ab8c recomputed offsets without gaps.", "gzip",
            offsets=(10, 13), outer=13)
    wrapped("snappy", "v0 snappy wrapper", xerial(snappy_block(inner)), SNAPPY, "kafka.md §6 E26 W35", "The framing is xerial's in every version.", "snappy")
    wrapped("lz4-kip57", "v0 LZ4 wrapper with the header byte of its time", lz4(inner, kip57=True), LZ4, "kafka.md §6 E27 W37",
            "KAFKA-3160: the byte is over magic and descriptor; Sarama, franz-go and kafkajs refuse it.", "lz4", rules=("kafka.lz4.kip57",))
    wrapped("lz4-right-byte", "v0 LZ4 wrapper with the right header byte", lz4(inner), LZ4, "kafka.md §7 Z23", "In v0 Kafka does not look at the byte.", "lz4",
            rules=("kafka.lz4.kip57",), remarks=("lz4-v0-hc-good",))
    wrapped("inner-offsets-zero", "v0 wrapper, all inner offsets 0", gzip(pair(0, (0, 0))[0]), GZIP, "kafka.md §7 L31",
            "SOHU-Co/kafka-node #1388: old producers wrote them.", "gzip", offsets=(0, 0), outer=0, rules=("kafka.legacy.unchecked",), remarks=("inner-offsets",))
    wrapped("gzip-relative-inner", "v0 wrapper at 11 over inner offsets 0 and 1", gzip(pair(0, (0, 1))[0]), GZIP, "kafka.md §2.2, Offsets", "Only v1 counts them from the wrapper: as v1 they would be 10 and 11.", "gzip",
            offsets=(0, 1))


def _wrapper_v1(s: CaseBuilder) -> None:
    def wrapped(name, title, doc, why, *, packed=None, codec=GZIP, stored=(0, 1), offsets=(10, 11), outer=11, ts=T + 1, stamps=(T, T + 1), need="gzip",
                rules=("kafka.wrapper.relative",), remarks=(), key=None, values=None):
        data = gzip(pair(1, stored)[0]) if packed is None else packed
        s.accepts(f"wrapper/{name}", title, message(1, key, data, offset=outer, attributes=codec, ts=ts),
             message_value(1, key, None, offset=outer, attributes=codec, ts=ts, messages=values or pair_value(1, offsets, stamps=stamps)),
             doc=doc, why=why, rules=rules, remarks=remarks, needs=[f"codec:{need}", "feature:wrapper"])
    wrapped("gzip", "v1 gzip wrapper, relative inner offsets", "kafka.md §6 E23 W31", "librdkafka 9aed3142b: the absolute offsets were wrong.",
            rules=("kafka.wrapper.relative", "kafka.wrapper.timestamp", "kafka.wrapper.value", "kafka.wrapper.nesting", "kafka.wrapper.offset", "kafka.wrapper.inner-crc", "kafka.wrapper.inner-size", "kafka.wrapper.inner-magic.range"))
    wrapped("gzip-compacted", "v1 wrapper with a gap", "kafka.md §6 E25 W33", "twmb/franz-go 5713ab8c recomputed offsets without gaps.", stored=(0, 3), offsets=(10, 13), outer=13)
    wrapped("gzip-absolute-inner", "v1 wrapper whose inner offsets are absolute", "kafka.md §7 W41", "wrapper − last inner + inner gives the same.", stored=(10, 11))
    zero = {"offset": 0, "attributes": GZIP, "ts": T + 1}
    answers = {name: {"accept": {"value": message_value(1, None, None, messages=pair_value(1, offsets), **zero)}} for name, offsets in (("as-stored", (0, 1)), ("counted", (-1, 0)))}
    s.either("wrapper/gzip-offset-zero", "v1 wrapper at offset 0", message(1, None, gzip(pair(1)[0]), **zero), answers, doc="kafka.md §7 W34", rules=("kafka.wrapper.zero", "kafka.wrapper.offset"), needs=NEED,
         why="Old librdkafka wrote it: Sarama and kafkajs read −1 and 0, librdkafka loses the first record.")
    wrapped("gzip-log-append", "v1 wrapper under LogAppendTime", "kafka.md §6 E24 W32", "IBM/sarama #885: five clients give the inner time.", codec=GZIP | APPEND, ts=T + 9000,
            stamps=(T + 9000, T + 9000), rules=("kafka.wrapper.timestamp",))
    appended = message(1, b"a", b"1", ts=T, attributes=APPEND) + message(1, b"b", b"2", offset=1, ts=T + 1)
    wrapped("gzip-inner-log-append", "Append time inside a wrapper of create time", "kafka.md §7 L29", "The wrapper's type overrides the inner one: each message keeps its own time.", packed=gzip(appended), ts=T + 9000,
            values=[message_value(1, b"a", b"1", offset=10, ts=T, attributes=APPEND), message_value(1, b"b", b"2", offset=11, ts=T + 1)], rules=("kafka.wrapper.timestamp",), remarks=("inner-ts-type",))
    wrapped("lz4", "v1 LZ4 wrapper", "kafka.md §6 E28 W38", "KIP-57 put the header byte right.", packed=lz4(pair(1)[0]), codec=LZ4, need="lz4", rules=("kafka.lz4.kip57",))
    wrapped("snappy-raw", "v1 wrapper, raw snappy", "kafka.md §7 W36", "kafka_protocol 6af2802 wrote it.", packed=snappy_block(pair(1)[0]), codec=SNAPPY, need="snappy",
            rules=("kafka.snappy.raw",))
    wrapped("key", "A wrapper with a key", "kafka.md §7 L15", "It means nothing.", key=b"k", rules=("kafka.legacy.unchecked",), remarks=("wrapper-key",))
    wrapped("inner-truncated", "The inner set is cut in its last message", "kafka.md §7 L24", "Kafka drops the cut message; most clients refuse.",
            packed=gzip(pair(1, (0, 1))[0] + message(1, b"c", b"3", offset=2)[:-1]), rules=("kafka.wrapper.inner-truncated",), remarks=("inner-truncated",))
    odd = bytearray(message(1, b"c", b"3", offset=2)[:-1])
    odd[16] = 5
    wrapped("inner-truncated-magic-5", "The cut message of an inner set has magic 5", "kafka.md §2.2", "What is cut off is not looked at: kafka-clients 4.4.0 drops it like any other.",
            packed=gzip(pair(1, (0, 1))[0] + bytes(odd)), rules=("kafka.wrapper.inner-truncated",), remarks=("inner-truncated",))
    inner_v0 = pair(0, (0, 1))[0]
    wrapped("inner-v0", "v0 messages in a v1 wrapper", "kafka.md §7 L20", "KAFKA-4298: conversion left such sets behind.", packed=gzip(inner_v0),
            values=pair_value(0, (10, 11)), rules=("kafka.wrapper.inner-magic",), remarks=("inner-magic",))
    s.rejects("wrapper/lz4-kip57", "The header byte of v0 in v1", message(1, None, lz4(pair(1)[0], kip57=True), offset=11, attributes=LZ4, ts=T + 1), "decompress-failed",
         twin="wrapper/lz4", doc="kafka.md §7 Z24", rules=("kafka.lz4.kip57",), needs=["codec:lz4", "feature:wrapper"], why="KIP-57: only v0 has it.")


def _wrapper_refused(s: CaseBuilder) -> None:
    def rejects(name, title, value, cls, doc, rule, why, *, outer=11, also=(), attributes=GZIP, limits=None, flags=None):
        s.rejects(f"wrapper/{name}", title, message(1, None, value, offset=outer, attributes=attributes, ts=T + 1), cls, twin="wrapper/gzip", doc=f"kafka.md §7 {doc}",
             rules=(f"kafka.wrapper.{rule}",), why=why, also=also, needs=["codec:gzip", "feature:wrapper"], limits=limits, flags=flags)
    inner = pair(1)[0]
    rejects("null-value", "A wrapper without a value", None, "null-not-allowed", "L16", "value", "segmentio/kafka-go panics.", also=("decompress-failed", "missing-field"))
    rejects("empty-value", "A wrapper of 0 bytes", b"", "decompress-failed", "L17", "value", "aiokafka and librdkafka deliver nothing and say nothing.", also=("truncated", "count-mismatch"))
    rejects("no-inner", "A wrapper that unpacks to nothing", gzip(b""), "count-mismatch", "L18", "value", "librdkafka 2.16 aborts the process.",
       also=("missing-field", "truncated", "bad-nesting", "decompress-failed"))
    nested = message(1, None, gzip(inner), offset=1, attributes=GZIP, ts=T + 1)
    rejects("nested", "A wrapper in a wrapper", gzip(nested), "bad-nesting", "L19", "nesting", "KAFKA-1718 forbids it; librdkafka delivers the last inner message only.")
    rejects("offset-below-last", "Wrapper offset 1 below the last inner offset 3", gzip(pair(1, (0, 3))[0]), "bad-offset", "L23", "offset",
       "The base would be negative: kafka-python and aiokafka deliver offset −2.", outer=1)
    rejects("offset-negative", "Wrapper offset −1", gzip(inner), "bad-offset", "L33", "offset", "kafka-python delivers offset −2.", outer=-1)
    bad = message(1, b"a", b"1", crc=5) + message(1, b"b", b"2", offset=1)
    rejects("inner-crc-wrong", "An inner CRC is wrong", gzip(bad), "crc-mismatch", "L28", "inner-crc", "KAFKA-8722: the broker did not look; aiokafka does not.")
    rejects("inner-trailing-zeros", "Twelve zero bytes after the inner set", gzip(inner + bytes(12)), "bad-length", "L26", "inner-size", "Four clients ignore them.", also=("negative-length", "trailing-data", "bad-magic"))
    loop = i64(0) + i32(-12) + bytes(22)
    rejects("inner-size-minus-12", "An inner size of −12", gzip(loop), "bad-length", "§1.4 step 2", "inner-size",
       "A step of size + 12 is a step of nothing: kafka-python reads the same message for ever.", also=("negative-length",), limits={"ms": 2000, "rss_mb": 512}, flags=["security", "resource"])
    back = message(1, b"a", b"1") + i64(1) + i32(-(1 << 31)) + bytes(22)
    rejects("inner-size-least", "The inner size −2147483648 behind a whole message", gzip(back), "bad-length", "§1.4 step 2", "inner-size",
       "Added to a position it leads in front of the unpacked set: aiokafka 0.14.0 reads there and dies of SIGSEGV.", also=("negative-length",), flags=["security"])


def cksum(data: bytes) -> int:
    """POSIX `cksum`: CRC-32 not reflected, the length behind the data, the result inverted."""
    size, more = len(data), bytearray()
    while size:
        more.append(size & 0xFF)
        size >>= 8
    crc = 0
    for byte in data + bytes(more):
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc ^ 0xFFFFFFFF


def _v0_vectors(s: CaseBuilder) -> None:
    good = message(0, b"k", b"v")
    s.rejects("message/crc-cksum", "The CRC of POSIX cksum", message(0, b"k", b"v", crc=cksum(good[16:])), "crc-mismatch", at=12, twin="message/key-and-value", doc="kafka.md §7 L03", rules=("kafka.legacy.crc",),
         why="It has the same polynomial and another order of bits: a library offers both under one name.")
    s.rejects("message/size-one-short", "Size 15 over fields of 16 bytes", good[:8] + i32(15) + good[12:27], "crc-mismatch", at=12, twin="message/key-and-value", doc="kafka.md §7 L39", rules=("kafka.legacy.crc",),
         also=("length-past-end", "truncated"), why="The last byte lies outside: the checksum tells it before the value is cut.")
    s.accepts("message/offset-minus-1", "Offset −1, key 09, value yolo", message(0, b"09", b"yolo", offset=-1), message_value(0, b"09", b"yolo", offset=-1), doc="kafka.md §7 L40", rules=("kafka.legacy.unchecked",),
         remarks=("offset-negative",), why="A producer of the 0.9 days left the offset to the broker and wrote −1.")


def _wrapper_v0_vectors(s: CaseBuilder) -> None:
    s.accepts("wrapper/inner-v1", "v1 messages in a v0 wrapper", message(0, None, gzip(pair(1, (10, 11), stamps=(T, T))[0]), offset=11, attributes=GZIP), message_value(0, None, None, offset=11, attributes=GZIP, messages=pair_value(1, stamps=(T, T))),
         doc="kafka.md §7 L21", rules=("kafka.wrapper.inner-magic",), needs=NEED, remarks=("inner-magic",), why="The inner magic tells how the inner message is read, the outer one how offsets count.")


def _wrapper_v1_vectors(s: CaseBuilder) -> None:
    inner = pair(1)[0]
    fields = {"offset": 11, "attributes": GZIP, "ts": T + 1}
    whole = message_value(1, None, None, messages=pair_value(1), **fields)
    good = message(1, None, gzip(inner), **fields)
    wrong = int.from_bytes(good[12:16], "big") ^ 1
    answers = {"refused": {"reject": {"class": "crc-mismatch", "at": 12}}, "delivered": {"accept": {"value": whole, "remarks": ["wrapper-crc"]}}}
    s.either("wrapper/crc-wrong", "The CRC of the wrapper is wrong, those of its messages right", message(1, None, gzip(inner), crc=wrong, **fields), answers, doc="kafka.md §7 L27", rules=("kafka.wrapper.crc",), needs=NEED,
         why="Kafka's consumer checks the messages alone; its broker, and six clients, check the wrapper too.")
    s.accepts("wrapper/inner-eight-bytes-behind", "Eight bytes behind the inner set", message(1, None, gzip(inner + bytes(8)), **fields), whole, doc="kafka.md §7 L25", rules=("kafka.wrapper.inner-truncated",), needs=NEED,
         remarks=("inner-truncated",), why="Fewer than twelve bytes are the beginning of a message that is cut.")
    s.accepts("wrapper/inner-offsets-zero", "Both inner offsets 0", message(1, None, gzip(pair(1, (0, 0), stamps=(T, T))[0]), **fields), message_value(1, None, None, messages=pair_value(1, (11, 11), stamps=(T, T)), **fields), doc="kafka.md §7 L30",
         rules=("kafka.legacy.unchecked", "kafka.wrapper.relative"), needs=NEED, remarks=("inner-offsets",), why="Producers that did not count made every broker pack the set again; read as they stand both are the wrapper's.")
    late = {"offset": 13, "attributes": GZIP | APPEND, "ts": T + 9000}
    s.accepts("wrapper/gzip-log-append-gap", "v1 wrapper under LogAppendTime, with a gap", message(1, None, gzip(pair(1, (0, 3), stamps=(T, T))[0]), **late),
         message_value(1, None, None, messages=pair_value(1, (10, 13), stamps=(T + 9000, T + 9000)), **late), doc="kafka.md §7 L37", rules=("kafka.wrapper.timestamp", "kafka.wrapper.relative"), needs=NEED,
         why="Compaction takes messages and leaves the append time: five clients give the inner time.")


def _wrapper_refused_vectors(s: CaseBuilder) -> None:
    s.rejects("wrapper/inner-v2", "A v2 batch in a v1 wrapper", message(1, None, gzip(batch(TWO, 2)), offset=11, attributes=GZIP, ts=T + 1), "bad-nesting", twin="wrapper/gzip", doc="kafka.md §7 L22",
         rules=("kafka.wrapper.value",), also=("bad-magic", "crc-mismatch"), needs=NEED, why="Sarama and kafkajs deliver nothing and say nothing; librdkafka delivers the batch.")


def _second_inner(s: CaseBuilder) -> None:
    """§13.3: the second of two messages is whole, its CRC holds, and it is not what a set may hold."""
    first = message(1, b"a", b"1")
    fields = {"offset": 11, "attributes": GZIP, "ts": T + 1}
    def rejects(name: str, title: str, second: bytes, cls: str, at: int, rule: str, why: str, **more: Any) -> None:
        s.rejects(f"wrapper/{name}", title, message(1, None, gzip(first + second), **fields), cls, at=f"34>{len(first) + at}", twin="wrapper/gzip", doc="kafka.md §13.3", rules=(rule,), needs=NEED, why=why, **more)
    for magic, name in ((5, "5"), (-1, "minus-1")):
        body = i8(magic) + i8(0) + i64(T) + lengthed(b"b") + lengthed(b"2")
        rejects(f"inner-magic-{name}", f"The second inner message has magic {magic}", i64(1) + i32(4 + len(body)) + u32(zlib.crc32(body)) + body, "bad-magic", 16, "kafka.wrapper.inner-magic.range",
                "Kafka reads every magic but 0 with the layout of v1: a later format would be misread.")
    delivered = message_value(1, None, None, messages=[message_value(1, b"a", b"1", offset=10)], **fields)
    for name, codec, also in (("nested-second", GZIP, ()), ("nested-second-codec-5", 5, ("unknown-codec",))):
        rejects(name, f"A message, then one of codec {codec}", message(1, b"b", gzip(first), offset=1, attributes=codec), "bad-nesting", 17, "kafka.wrapper.nesting",
                "Kafka hands over the first message before it looks at the codec of the second.", before=delivered, also=also)
