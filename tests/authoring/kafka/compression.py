"""`kafka.batch/v2`, compressed: kafka.md §3 and the vectors W, N, Z, X of §7."""

import struct
import zlib

import xxhash
import zstandard

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import TWO, two_values
from tests.authoring.kafka.entry_bytes import (
    XERIAL,
    T,
    batch,
    batch_value,
    gzip,
    i32,
    lz4,
    snappy_block,
    xerial,
    zstd,
)


def write(writer: FixtureWriter) -> None:
    builder = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_compression, _gzip, _lz4, _zstd):
        chapter(builder)


def _compression(s: CaseBuilder) -> None:
    def packed(data: bytes, codec: int, **more) -> bytes:
        return batch(data, 2, attributes=codec, max_ts=T + 1, **more)
    def value(codec: int):
        return batch_value(two_values(), max_ts=T + 1, attributes=codec)
    why = "Every client must read every codec that the broker stores."
    s.accepts("compression/gzip", "gzip", packed(gzip(TWO), 1), value(1), doc="kafka.md §7 W06", needs=["codec:gzip"],
         rules=("kafka.v2.compression", "kafka.gzip.frame", "kafka.v2.codec"), why=why)
    s.accepts("compression/snappy-xerial", "snappy in xerial framing", packed(xerial(snappy_block(TWO)), 2), value(2), doc="kafka.md §6 E06 W07",
         needs=["codec:snappy"], rules=("kafka.v2.compression", "kafka.snappy.frame", "kafka.snappy.limit"), why="platformatic/kafka #283: it read raw snappy only.")
    s.accepts("compression/snappy-two-blocks", "Two xerial blocks", packed(xerial(snappy_block(TWO[:7]), snappy_block(TWO[7:])), 2), value(2),
         doc="kafka.md §7 W08", needs=["codec:snappy"], rules=("kafka.snappy.frame",), why="kafkaex ee7be1c: snappy with several chunks.")
    s.accepts("compression/snappy-raw", "snappy without framing", packed(snappy_block(TWO), 2), value(2), doc="kafka.md §6 E07 Z01", needs=["codec:snappy"],
         rules=("kafka.snappy.raw",), remarks=("snappy-unframed",), why="tansu-io/tansu c09f307: both forms occur in logs.")
    s.accepts("compression/snappy-little-endian", "xerial versions in little-endian order", packed(xerial(snappy_block(TWO), versions=b"\1\0\0\0\1\0\0\0"), 2),
         value(2), doc="kafka.md §7 Z02", needs=["codec:snappy"], rules=("kafka.snappy.version",), remarks=("snappy-version",),
         why="dpkp/kafka-python #2414, redpanda #25091: such writers exist.")
    twin, rules = "compression/snappy-xerial", ("kafka.snappy.frame",)
    s.rejects("compression/snappy-truncated-block", "The last block is a byte short", packed(xerial(snappy_block(TWO))[:-1], 2), "decompress-failed", twin=twin,
         doc="kafka.md §7 Z07", needs=["codec:snappy"], rules=rules, also=("truncated", "length-past-end"), why="Nothing may be made up for it.")
    s.rejects("compression/snappy-negative-block", "A block length of −1", packed(XERIAL + i32(1) * 2 + i32(-1), 2), "decompress-failed", twin=twin,
         doc="kafka.md §7 Z09", needs=["codec:snappy"], rules=rules, also=("negative-length",), why="KAFKA-15498: Java raises NegativeArraySize.")
    s.rejects("compression/snappy-bomb", "A block that claims 1 GiB", packed(xerial(b"\x80\x80\x80\x80\x04" + b"\x00a"), 2), "limit-exceeded", twin=twin,
         doc="kafka.md §7 Z10", needs=["codec:snappy"], rules=("kafka.snappy.limit",), also=("decompress-failed",), limits={"ms": 1000, "rss_mb": 512}, flags=["resource"],
         why="influxdata/rskafka 5f597bd: the declared length was allocated.")
    s.rejects("compression/snappy-zero-chunk", "A block of length 0 midway", packed(XERIAL + i32(1) * 2 + i32(0) + i32(len(snappy_block(TWO))) + snappy_block(TWO), 2), "decompress-failed",
         twin=twin, doc="kafka.md §7 X13", needs=["codec:snappy"], rules=rules, also=("bad-length",), why="A raw snappy block has at least its length byte.")
    s.rejects("compression/snappy-framing-format", "The other framing of snappy", packed(b"\xff\x06\x00\x00sNaPpY\x01\x16\x00\x00\x00\x00\x00\x00" + TWO, 2), "decompress-failed", twin=twin,
         doc="kafka.md §7 Z13", needs=["codec:snappy"], rules=rules, also=("limit-exceeded",), why="Kafka uses xerial's.")


def _gzip(s: CaseBuilder) -> None:
    def packed(data: bytes) -> bytes:
        return batch(data, 2, attributes=1, max_ts=T + 1)
    value = batch_value(two_values(), max_ts=T + 1, attributes=1)
    more = {"needs": ["codec:gzip"], "rules": ("kafka.gzip.frame",)}
    s.accepts("gzip/two-members", "Two gzip members, a record in each", packed(gzip(TWO[:9]) + gzip(TWO[9:])), value, doc="kafka.md §7 N14", **more,
         why="librdkafka drops the second member and moves the offset past it: silent loss.")
    s.accepts("gzip/trailing-garbage", "Bytes after the last member", packed(gzip(TWO) + b"\0garbag"), value, doc="kafka.md §7 N13", needs=["codec:gzip"],
         rules=("kafka.gzip.trailing",), remarks=("gzip-trailing-garbage",), why="Java ignores them, most clients refuse.")
    s.accepts("gzip/name-and-comment", "With FNAME and FCOMMENT", packed(gzip(TWO, flags=0x18, optional=b"a\0b\0")), value, doc="kafka.md §7 Z63", **more,
         why="Optional header parts are legal.")
    good = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, 2, 0, 0, 0xFF)
    fhcrc = struct.pack("<H", zlib.crc32(good) & 0xFFFF)
    s.accepts("gzip/header-crc", "With a header CRC", packed(gzip(TWO, flags=2, optional=fhcrc)), value, doc="kafka.md §7 Z64", **more, why="FHCRC is legal.")
    twin = "compression/gzip"
    def rejects(name, title, data, doc, why, also=()):
        s.rejects(f"gzip/{name}", title, packed(data), "decompress-failed", twin=twin, doc=f"kafka.md §7 {doc}", why=why, also=also, **more)
    wrong = struct.pack("<H", zlib.crc32(good) & 0xFFFF ^ 1)
    rejects("header-crc-wrong", "A wrong header CRC", gzip(TWO, flags=2, optional=wrong), "X09", "kafka-python and aiokafka skip it.")
    rejects("crc-wrong", "A wrong CRC-32 of the data", gzip(TWO, crc=0), "Z60", "The data is not what was packed.")
    rejects("isize-wrong", "A wrong ISIZE", gzip(TWO, isize=5), "Z61", "The data is not what was packed.")
    rejects("trailer-truncated", "The trailer is cut", gzip(TWO)[:-5], "Z62", "The end of the data is unknown.", ("truncated",))
    rejects("method-7", "Method 7", gzip(TWO, method=7), "X08", "Only deflate exists.")
    rejects("zlib", "zlib framing in place of gzip", zlib.compress(TWO), "Z65", "librdkafka and kafkajs take it.")
    rejects("raw-deflate", "Raw deflate", gzip(TWO)[10:-8], "Z66", "There is no frame.")


def _lz4(s: CaseBuilder) -> None:
    def packed(data: bytes) -> bytes:
        return batch(data, 2, attributes=3, max_ts=T + 1)
    value = batch_value(two_values(), max_ts=T + 1, attributes=3)
    more = {"needs": ["codec:lz4"], "rules": ("kafka.lz4.frame",)}
    twin = "lz4/one-block"
    s.accepts(twin, "One stored block", packed(lz4(TWO)), value, doc="kafka.md §6 E08 W09", **more, why="The form that Kafka's writer gives for short data.")
    digest = struct.pack("<I", xxhash.xxh32(TWO).intdigest())
    s.accepts("lz4/content-checksum", "With a content checksum", packed(lz4(TWO, flg=0x64, after=digest)), value, doc="kafka.md §7 Z25", **more, why="Most C libraries write it.")
    s.accepts("lz4/content-checksum-wrong", "With a wrong content checksum", packed(lz4(TWO, flg=0x64, after=b"\0\0\0\0")), value, doc="kafka.md §7 Z26", needs=["codec:lz4"],
         rules=("kafka.lz4.content-checksum",), remarks=("lz4-content-checksum",), why="Java skips it, every other client refuses.")
    s.accepts("lz4/content-size", "With a content size", packed(lz4(TWO, flg=0x68, size=struct.pack("<Q", len(TWO)))), value, doc="kafka.md §7 Z28", **more, why="Optional, skipped.")
    s.accepts("lz4/content-size-wrong", "With a wrong content size", packed(lz4(TWO, flg=0x68, size=struct.pack("<Q", 5))), value, doc="kafka.md §7 Z44", needs=["codec:lz4"],
         rules=("kafka.lz4.content-size",), remarks=("lz4-content-size",), why="Java skips it, most clients refuse.")
    s.accepts("lz4/block-checksum", "With block checksums", packed(lz4(TWO, flg=0x70)), value, doc="kafka.md §7 W40", **more,
         why="pierrec/lz4 computed them over the unpacked bytes: three Go clients refuse the frame.")
    s.accepts("lz4/bd-4mb", "Block maximum 4 MB", packed(lz4(TWO, bd=0x70)), value, doc="kafka.md §7 Z34", **more, why="IBM/sarama #3258 wrote it.")
    s.accepts("lz4/after-end-mark", "Bytes after the EndMark", packed(lz4(TWO, after=b"\x01\x02\x03\x04")), value, doc="kafka.md §7 Z37", needs=["codec:lz4"],
         rules=("kafka.lz4.after-end",), remarks=("lz4-after-endmark",), why="Java ignores them.")
    def rejects(name, title, data, doc, why, also=(), cls="decompress-failed"):
        s.rejects(f"lz4/{name}", title, packed(data), cls, twin=twin, doc=f"kafka.md §7 {doc}", why=why, also=also, **more)
    rejects("linked-blocks", "Linked blocks", lz4(TWO, flg=0x40), "Z20", "The commonest interop failure: dpkp/kafka-python #1476 wrote what Java refuses.")
    rejects("header-byte-wrong", "A wrong header checksum byte", lz4(TWO, hc=0), "Z21", "The descriptor is damaged.")
    rejects("header-byte-kip57", "The header byte of v0", lz4(TWO, kip57=True), "Z22", "KIP-57: only v0 has it.")
    rejects("content-checksum-missing", "A content checksum is announced and missing", lz4(TWO, flg=0x64), "Z27", "The frame is cut.", ("truncated",))
    rejects("block-checksum-wrong", "A wrong block checksum", lz4(TWO, flg=0x70, block_checksum=1), "Z29", "The block is damaged.")
    rejects("reserved-flg", "Reserved bit of FLG", lz4(TWO, flg=0x62), "Z30", "A later version may mean anything by it.", ("reserved-nonzero",))
    rejects("dictionary-bit", "Dictionary bit", lz4(TWO, flg=0x61), "Z31", "There is no dictionary to read it with.", ("reserved-nonzero",))
    rejects("version-0", "Version 00", lz4(TWO, flg=0x20), "Z32", "Only 01 exists.")
    rejects("bd-3", "Block maximum code 3", lz4(TWO, bd=0x30), "Z33", "Codes are 4 to 7.")
    rejects("bd-reserved", "Reserved bits of BD", lz4(TWO, bd=0x41), "Z35", "A later version may mean anything by it.", ("reserved-nonzero",))
    rejects("no-end-mark", "No EndMark", lz4(TWO, end=b""), "Z36", "Seven clients take a cut frame for a whole one.", ("truncated",))
    rejects("raw-block", "A block without a frame", struct.pack("<I", len(TWO) | 0x80000000) + TWO, "Z39", "platformatic/kafka #122 wrote it.")
    rejects("legacy-magic", "The legacy frame", b"\x02\x21\x4c\x18" + struct.pack("<I", len(TWO)) + TWO, "Z40", "Six clients take it.")
    rejects("skippable-first", "A skippable frame first", b"\x50\x2a\x4d\x18\x03\0\0\0abc" + lz4(TWO), "Z41", "Java's reader knows no skippable frame.")
    rejects("two-frames", "A record in each of two frames", lz4(TWO[:9]) + lz4(TWO[9:]), "Z38", "Java's reader ends with the first frame: a record is missing.",
       ("decompress-failed", "truncated", "length-past-end", "trailing-data"), cls="count-mismatch")
    def stored(piece: bytes) -> bytes:
        return struct.pack("<I", len(piece) | 0x80000000) + piece
    rejects("empty-stored-block-midway", "An empty stored block between two records", lz4(TWO[:9], end=stored(b"") + stored(TWO[9:]) + bytes(4)), "X10",
       "Java's reader takes it for the EndMark; six clients read on and find the second record.",
       ("decompress-failed", "truncated", "length-past-end", "trailing-data"), cls="count-mismatch")


def _zstd(s: CaseBuilder) -> None:
    def packed(data: bytes) -> bytes:
        return batch(data, 2, attributes=4, max_ts=T + 1)
    value = batch_value(two_values(), max_ts=T + 1, attributes=4)
    more = {"needs": ["codec:zstd"], "rules": ("kafka.zstd.frame",)}
    skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    s.accepts("zstd/content-size", "With content size", packed(zstd(TWO)), value, doc="kafka.md §6 E09 W10", **more, why="The form of one-shot writers.")
    s.accepts("zstd/no-content-size", "Without content size", packed(zstd(TWO, content_size=False)), value, doc="kafka.md §7 W11", **more,
         why="kafka_protocol #142: streaming writers leave it out.")
    s.accepts("zstd/two-frames", "A record in each of two frames", packed(zstd(TWO[:9]) + zstd(TWO[9:])), value, doc="kafka.md §7 W12", **more,
         why="dpkp/kafka-python #2717: only the first was read.")
    s.accepts("zstd/checksum", "With a checksum", packed(zstd(TWO, checksum=True)), value, doc="kafka.md §7 Z50", **more, why="Optional, verified.")
    s.accepts("zstd/skippable-first", "A skippable frame first", packed(skippable + zstd(TWO)), value, doc="kafka.md §7 Z54", **more, why="Legal zstd.")
    s.accepts("zstd/skippable-last", "A skippable frame last", packed(zstd(TWO) + skippable), value, doc="kafka.md §7 Z55", **more, why="Legal zstd.")
    s.accepts("zstd/empty-frame-first", "An empty frame first", packed(zstandard.ZstdCompressor().compress(b"") + zstd(TWO)), value, doc="kafka.md §7 Z58", **more, why="Legal zstd.")
    bad = bytearray(zstd(TWO, checksum=True))
    bad[-1] ^= 1
    def rejects(name, title, data, doc, why, also=()):
        s.rejects(f"zstd/{name}", title, packed(data), "decompress-failed", twin="zstd/content-size", doc=f"kafka.md §7 {doc}", why=why, also=also, **more)
    rejects("checksum-wrong", "A wrong checksum", bytes(bad), "Z51", "The data is damaged.")
    rejects("truncated", "Three bytes short", zstd(TWO)[:-3], "Z52", "The data is cut.", ("truncated",))
    rejects("trailing-garbage", "Bytes after the frame", zstd(TWO) + b"garbage", "Z53", "They are no frame.")
    frame = zstd(TWO)
    rejects("dictionary-id", "A dictionary id", frame[:4] + bytes((frame[4] | 1,)) + b"\x07" + frame[5:], "X06", "There is no dictionary to read it with.")
    window = b"\x28\xb5\x2f\xfd\x00" + bytes(((28 - 10) << 3,)) + struct.pack("<I", len(TWO) << 3 | 1)[:3] + TWO
    rejects("window-log-28", "Window log 28", window, "X04", "A `--long` producer is unreadable for Java.", ("limit-exceeded",))
    window27 = b"\x28\xb5\x2f\xfd\x00" + bytes(((27 - 10) << 3,)) + struct.pack("<I", len(TWO) << 3 | 1)[:3] + TWO
    s.accepts("zstd/window-log-27", "Window log 27", packed(window27), value, doc="kafka.md §7 X05", **more, why="The highest that Java reads.")
