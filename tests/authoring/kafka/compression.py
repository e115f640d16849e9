"""`kafka.batch/v2`, compressed: kafka.md §3 and the vectors W, N, Z, X of §7."""

import hashlib
import struct
import zlib
from typing import Any

import xxhash
import zstandard

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    TWO,
    XERIAL,
    T,
    base128,
    batch,
    batch_value,
    gzip,
    i32,
    lz4,
    record,
    record_value,
    snappy_block,
    two_values,
    xerial,
    zstd,
)  # fmt: skip  # fmt: skip

KV = (record_value(b"k", b"v"),)


GIB = 1 << 30


BLOCK = 1 << 17


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (
        _compression, _gzip, _lz4, _zstd, _largest, _frames, _blocks, _snappy_frames, _zstd_frames, _snappy_vectors,
        _lz4_vectors, _zstd_vectors, _reported_blocks,
    ):  # fmt: skip
        chapter(v2)


def _compression(s: CaseBuilder) -> None:
    def packed(data: bytes, codec: int, **more) -> bytes:
        return batch(data, 2, attributes=codec, max_ts=T + 1, **more)
    def value(codec: int):
        return batch_value(two_values(), max_ts=T + 1, attributes=codec)
    why = "Every client must read every codec that the broker stores."
    s.accepts("compression/gzip", "gzip", packed(gzip(TWO), 1), value(1), doc="kafka.md §7 W06", needs=["codec:gzip"],
         rules=("kafka.v2.compression", "kafka.gzip.frame", "kafka.v2.codec"), why=why)
    s.accepts("compression/snappy-xerial", "snappy in xerial framing", packed(xerial(snappy_block(TWO)), 2), value(2), doc="kafka.md §6 E06 W07",
         needs=["codec:snappy"], rules=("kafka.v2.compression", "kafka.snappy.frame"), why="platformatic/kafka #283: it read raw snappy only.")
    s.accepts("compression/snappy-two-blocks", "Two xerial blocks", packed(xerial(snappy_block(TWO[:7]), snappy_block(TWO[7:])), 2), value(2),
         doc="kafka.md §7 W08", needs=["codec:snappy"], rules=("kafka.snappy.frame",), why="kafkaex ee7be1c: snappy with several chunks.")
    s.accepts("compression/snappy-raw", "snappy without framing", packed(snappy_block(TWO), 2), value(2), doc="kafka.md §6 E07 Z01", needs=["codec:snappy"],
         rules=("kafka.snappy.raw",), why="tansu-io/tansu c09f307: both forms occur in logs.")
    s.accepts("compression/snappy-little-endian", "xerial versions in little-endian order", packed(xerial(snappy_block(TWO), versions=b"\1\0\0\0\1\0\0\0"), 2),
         value(2), doc="kafka.md §7 Z02", needs=["codec:snappy"], rules=("kafka.snappy.version",), remarks=("snappy-version",),
         why="dpkp/kafka-python #2414, redpanda #25091: such writers exist.")
    twin, rules = "compression/snappy-xerial", ("kafka.snappy.frame",)
    s.rejects("compression/snappy-truncated-block", "The last block is a byte short", packed(xerial(snappy_block(TWO))[:-1], 2), "decompress-failed", twin=twin,
         doc="kafka.md §7 Z07", needs=["codec:snappy"], rules=rules, also=("truncated", "length-past-end"), why="Nothing may be made up for it.")
    s.rejects("compression/snappy-negative-block", "A block length of −1", packed(XERIAL + i32(1) * 2 + i32(-1), 2), "decompress-failed", twin=twin,
         doc="kafka.md §7 Z09", needs=["codec:snappy"], rules=rules, also=("negative-length",), why="KAFKA-15498: Java raises NegativeArraySize.")
    s.rejects("compression/snappy-bomb", "A block that claims 1 GiB", packed(xerial(b"\x80\x80\x80\x80\x04" + b"\x00a"), 2), "limit-exceeded", twin=twin,
         doc="kafka.md §7 Z10", needs=["codec:snappy"], rules=("kafka.snappy.limit",), also=("decompress-failed",), limits={"ms": 1000, "rss_mb": 512}, flags=["resource", "security"],
         why="influxdata/rskafka 5f597bd: the declared length was allocated.")
    s.rejects("compression/snappy-zero-chunk", "A block of length 0 midway", packed(XERIAL + i32(1) * 2 + i32(0) + i32(len(snappy_block(TWO))) + snappy_block(TWO), 2), "decompress-failed",
         twin=twin, doc="kafka.md §7 X13", needs=["codec:snappy"], rules=("kafka.snappy.empty-block",), also=("bad-length",), why="A raw snappy block has at least its length byte.")
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
    s.accepts("gzip/header-crc", "With a header CRC", packed(gzip(TWO, flags=2, optional=fhcrc)), value, doc="kafka.md §7 Z64", needs=["codec:gzip"], rules=("kafka.gzip.frame", "kafka.gzip.checks"), why="FHCRC is legal.")
    twin = "compression/gzip"
    def rejects(name, title, data, doc, why, also=(), rule="kafka.gzip.frame"):
        s.rejects(f"gzip/{name}", title, packed(data), "decompress-failed", twin=twin, doc=f"kafka.md §7 {doc}", why=why, also=also, needs=["codec:gzip"], rules=(rule,))
    wrong = struct.pack("<H", zlib.crc32(good) & 0xFFFF ^ 1)
    rejects("header-crc-wrong", "A wrong header CRC", gzip(TWO, flags=2, optional=wrong), "X09", "kafka-python and aiokafka skip it.", rule="kafka.gzip.checks")
    rejects("crc-wrong", "A wrong CRC-32 of the data", gzip(TWO, crc=0), "Z60", "The data is not what was packed.", rule="kafka.gzip.checks")
    rejects("isize-wrong", "A wrong ISIZE", gzip(TWO, isize=5), "Z61", "The data is not what was packed.", rule="kafka.gzip.checks")
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
    s.accepts("lz4/content-checksum", "With a content checksum", packed(lz4(TWO, flg=0x64, after=digest)), value, doc="kafka.md §7 Z25", needs=["codec:lz4"], rules=("kafka.lz4.frame", "kafka.lz4.content-checksum"), why="Most C libraries write it.")
    s.rejects("lz4/content-checksum-wrong", "With a wrong content checksum", packed(lz4(TWO, flg=0x64, after=b"\0\0\0\0")), "decompress-failed", twin="lz4/content-checksum", doc="kafka.md §7 Z26", needs=["codec:lz4"],
         rules=("kafka.lz4.content-checksum",), why="KAFKA-20528: damage passes for data. Every other client refuses.")
    s.accepts("lz4/content-size", "With a content size", packed(lz4(TWO, flg=0x68, size=struct.pack("<Q", len(TWO)))), value, doc="kafka.md §7 Z28", **more, why="Optional, skipped.")
    s.accepts("lz4/content-size-wrong", "With a wrong content size", packed(lz4(TWO, flg=0x68, size=struct.pack("<Q", 5))), value, doc="kafka.md §7 Z44", needs=["codec:lz4"],
         rules=("kafka.lz4.content-size",), remarks=("lz4-content-size",), why="Java skips it, most clients refuse.")
    s.accepts("lz4/block-checksum", "With block checksums", packed(lz4(TWO, flg=0x70)), value, doc="kafka.md §7 W40", needs=["codec:lz4"], rules=("kafka.lz4.frame", "kafka.lz4.block-checksum"),
         why="pierrec/lz4 computed them over the unpacked bytes: three Go clients refuse the frame.")
    s.accepts("lz4/bd-4mb", "Block maximum 4 MB", packed(lz4(TWO, bd=0x70)), value, doc="kafka.md §7 Z34", **more, why="IBM/sarama #3258 wrote it.")
    s.accepts("lz4/after-end-mark", "Bytes after the EndMark", packed(lz4(TWO, after=b"\x01\x02\x03\x04")), value, doc="kafka.md §7 Z37", needs=["codec:lz4"],
         rules=("kafka.lz4.after-end",), remarks=("lz4-after-endmark",), why="Java ignores them.")
    def rejects(name, title, data, doc, why, also=(), rule="kafka.lz4.frame"):
        s.rejects(f"lz4/{name}", title, packed(data), "decompress-failed", twin=twin, doc=f"kafka.md §7 {doc}", why=why, also=also, needs=["codec:lz4"], rules=(rule,))
    def either(name, title, data, at, doc, why, cls="decompress-failed", also=()):
        whole = {"accept": {"value": value, "consumed": len(packed(data))}}
        refused = {"reject": {"class": cls, **({"also": list(also)} if also else {}), "at": at}}
        s.either(f"lz4/{name}", title, packed(data), {"refused": refused, "read": whole}, doc=f"kafka.md §7 {doc}", why=why, needs=["codec:lz4"], rules=("kafka.lz4.subset",))
    either("linked-blocks", "Linked blocks", lz4(TWO, flg=0x40), 65, "Z20", "The commonest interop failure: dpkp/kafka-python #1476 wrote what Java refuses.")
    rejects("header-byte-wrong", "A wrong header checksum byte", lz4(TWO, hc=0), "Z21", "The descriptor is damaged.", rule="kafka.lz4.kip57")
    rejects("header-byte-kip57", "The header byte of v0", lz4(TWO, kip57=True), "Z22", "KIP-57: only v0 has it.", rule="kafka.lz4.kip57")
    rejects("content-checksum-missing", "A content checksum is announced and missing", lz4(TWO, flg=0x64), "Z27", "The frame is cut.", ("truncated",))
    rejects("block-checksum-wrong", "A wrong block checksum", lz4(TWO, flg=0x70, block_checksum=1), "Z29", "The block is damaged.", rule="kafka.lz4.block-checksum")
    rejects("reserved-flg", "Reserved bit of FLG", lz4(TWO, flg=0x62), "Z30", "A later version may mean anything by it.", ("reserved-nonzero",))
    rejects("dictionary-bit", "Dictionary bit", lz4(TWO, flg=0x61), "Z31", "There is no dictionary to read it with.", ("reserved-nonzero",), rule="kafka.lz4.dictionary")
    rejects("version-0", "Version 00", lz4(TWO, flg=0x20), "Z32", "Only 01 exists.")
    rejects("bd-3", "Block maximum code 3", lz4(TWO, bd=0x30), "Z33", "Codes are 4 to 7.")
    rejects("bd-reserved", "Reserved bits of BD", lz4(TWO, bd=0x41), "Z35", "A later version may mean anything by it.", ("reserved-nonzero",))
    rejects("no-end-mark", "No EndMark", lz4(TWO, end=b""), "Z36", "Seven clients take a cut frame for a whole one.", ("truncated",))
    rejects("raw-block", "A block without a frame", struct.pack("<I", len(TWO) | 0x80000000) + TWO, "Z39", "platformatic/kafka #122 wrote it.")
    rejects("legacy-magic", "The legacy frame", b"\x02\x21\x4c\x18" + struct.pack("<I", len(TWO)) + TWO, "Z40", "Six clients take it.")
    either("skippable-first", "A skippable frame first", b"\x50\x2a\x4d\x18\x03\0\0\0abc" + lz4(TWO), 61, "Z41", "Java's reader knows no skippable frame.")
    either("two-frames", "A record in each of two frames", lz4(TWO[:9]) + lz4(TWO[9:]), "61>9", "Z38", "Java's reader ends with the first frame: a record is missing.",
       "count-mismatch", ("decompress-failed", "truncated", "length-past-end", "trailing-data"))
    def stored(piece: bytes) -> bytes:
        return struct.pack("<I", len(piece) | 0x80000000) + piece
    s.accepts("lz4/packed-block-of-nothing", "A packed block that gives 0 bytes, then the records", packed(lz4(b"")[:7] + struct.pack("<I", 1) + b"\x00" + stored(TWO) + bytes(4)), value, doc="kafka.md §13.3", **more,
         why="A block may give nothing; Java's reader reads past its end.")
    either("empty-stored-block-midway", "An empty stored block between two records", lz4(TWO[:9], end=stored(b"") + stored(TWO[9:]) + bytes(4)), "61>9", "X10",
       "Java's reader takes it for the EndMark; six clients read on and find the second record.",
       "count-mismatch", ("decompress-failed", "truncated", "length-past-end", "trailing-data"))


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
    s.accepts("zstd/checksum", "With a checksum", packed(zstd(TWO, checksum=True)), value, doc="kafka.md §7 Z50", needs=["codec:zstd"], rules=("kafka.zstd.frame", "kafka.zstd.checksum"), why="Optional, verified.")
    s.accepts("zstd/skippable-first", "A skippable frame first", packed(skippable + zstd(TWO)), value, doc="kafka.md §7 Z54", **more, why="Legal zstd.")
    s.accepts("zstd/skippable-last", "A skippable frame last", packed(zstd(TWO) + skippable), value, doc="kafka.md §7 Z55", **more, why="Legal zstd.")
    s.accepts("zstd/empty-frame-first", "An empty frame first", packed(zstandard.ZstdCompressor().compress(b"") + zstd(TWO)), value, doc="kafka.md §7 Z58", **more, why="Legal zstd.")
    bad = bytearray(zstd(TWO, checksum=True))
    bad[-1] ^= 1
    def rejects(name, title, data, doc, why, also=(), rule="kafka.zstd.frame"):
        s.rejects(f"zstd/{name}", title, packed(data), "decompress-failed", twin="zstd/content-size", doc=f"kafka.md §7 {doc}", why=why, also=also, needs=["codec:zstd"], rules=(rule,))
    rejects("checksum-wrong", "A wrong checksum", bytes(bad), "Z51", "The data is damaged.", rule="kafka.zstd.checksum")
    rejects("truncated", "Three bytes short", zstd(TWO)[:-3], "Z52", "The data is cut.", ("truncated",))
    rejects("trailing-garbage", "Bytes after the frame", zstd(TWO) + b"garbage", "Z53", "They are no frame.")
    frame = zstd(TWO)
    rejects("dictionary-id", "A dictionary id", frame[:4] + bytes((frame[4] | 1,)) + b"\x07" + frame[5:], "X06", "There is no dictionary to read it with.")
    window = b"\x28\xb5\x2f\xfd\x00" + bytes(((28 - 10) << 3,)) + struct.pack("<I", len(TWO) << 3 | 1)[:3] + TWO
    rejects("window-log-28", "Window log 28", window, "X04", "A `--long` producer is unreadable for Java.", ("limit-exceeded",), "kafka.zstd.window")
    window27 = b"\x28\xb5\x2f\xfd\x00" + bytes(((27 - 10) << 3,)) + struct.pack("<I", len(TWO) << 3 | 1)[:3] + TWO
    s.accepts("zstd/window-log-27", "Window log 27", packed(window27), value, doc="kafka.md §7 X05", needs=["codec:zstd"], rules=("kafka.zstd.window",), why="The highest that Java reads.")


def _largest(s: CaseBuilder) -> None:
    """§3: parts of frames that Kafka's own writer leaves out and every other one may write."""
    one_record, why = record(b"k", b"v"), "Other writers' frames are as good: the layout is that of the codec's own document."
    def accepts(name, title, codec, atom, region, doc, remarks=(), rules=("kafka.v2.codec",)):
        s.accepts(name, title, batch(region, 1, attributes=codec), batch_value([record_value(b"k", b"v")], attributes=codec), doc=doc, rules=rules, needs=[f"codec:{atom}"], why=why, remarks=remarks)
    accepts("gzip/text-flag", "FTEXT, which says nothing", 1, "gzip", gzip(one_record, flags=0x01), "kafka.md §3; RFC 1952 §2.3.1", rules=("kafka.v2.codec", "kafka.gzip.reserved"))
    s.rejects("gzip/reserved-flag-0x20", "The lowest reserved flag", batch(gzip(one_record, flags=0x20), 1, attributes=1), "decompress-failed", twin="gzip/text-flag", doc="kafka.md §7 X07; RFC 1952 §2.3.1.2", rules=("kafka.gzip.reserved",), needs=["codec:gzip"],
         also=("reserved-nonzero",), why="A field that a later version adds there would be read as data.")
    accepts("gzip/extra-field", "FEXTRA of five bytes", 1, "gzip", gzip(one_record, flags=0x04, optional=b"\x05\x00extra"), "kafka.md §3; RFC 1952 §2.3.1.1")
    accepts("gzip/extra-name-comment", "FEXTRA, FNAME and FCOMMENT", 1, "gzip", gzip(one_record, flags=0x1C, optional=b"\x03\x00abcname\x00comment\x00"), "kafka.md §3; RFC 1952 §2.3.1")
    for size, sum_ in ((True, True), (False, True), (False, False)):
        accepts(f"zstd/{'size' if size else 'no-size'}-{'checksum' if sum_ else 'no-checksum'}", f"{'With' if size else 'Without'} content size, {'with' if sum_ else 'without'} checksum",
           4, "zstd", zstd(one_record, content_size=size, checksum=sum_), "kafka.md §3; RFC 8878 §3.1.1.1")
    long = record(b"k", b"v" * 300)
    for size in (True, False):
        s.accepts(f"zstd/long-{'size' if size else 'no-size'}", f"A content of more than 255 bytes, {'with' if size else 'without'} its size", batch(zstd(long, content_size=size), 1, attributes=4),
             batch_value([record_value(b"k", b"v" * 300)], attributes=4), doc="kafka.md §3; RFC 8878 §3.1.1.1.4", rules=("kafka.v2.codec",), needs=["codec:zstd"],
             why="A size of two bytes counts from 256 on.")
    noise = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(9))
    for codec, atom in ((1, "gzip"), (2, "snappy"), (3, "lz4"), (4, "zstd")):
        value, plain = (batch_value([record_value(b"k", noise)], attributes=attributes) for attributes in (codec, 0))
        rows = [{"id": "compressed", "accept": {"value": value}}, {"id": "plain", "accept": {"value": plain}}]
        s.writer.add({"id": f"{s.prefix}encode/{atom}-of-noise", "title": f"A value that {atom} cannot make smaller", "why": "Blocks that do not pay are stored as they are: another path of every writer.",
                    "op": "encode", "level": "should", "rules": ["kafka.v2.encode.codec-that-does-not-pay"], "input": {"value": value}, "expect": {"either": {"behaviours": rows}}, "needs": [f"codec:{atom}"],
                    "source": {"origin": "builder", "document": "kafka.md §3"}})


def sized(size: int) -> tuple[bytes, Any]:
    """One record that takes `size` bytes, 200 to 2^20 of them, and its value."""
    bare = len(record(b"k", b"v" * 8192)) - 8192
    text = b"v" * (size - bare - (size > 1 << 14))
    raw = record(b"k", text)
    while len(raw) != size:
        text = b"v" * (len(text) + size - len(raw))
        raw = record(b"k", text)
    return raw, record_value(b"k", text)


def _lz4_run(data_: bytes, bd: int) -> bytes:
    """An LZ4 frame of one block: 32 bytes as they are, a match of the byte before, 8 bytes as they are."""
    run = len(data_) - 40
    length = run - 4 - 15
    block = bytes([0xFF, 32 - 15]) + data_[:32] + b"\x01\x00" + b"\xff" * (length // 255) + bytes([length % 255]) + bytes([0x80]) + data_[-8:]
    whole = lz4(b"", bd=bd)
    return whole[:7] + len(block).to_bytes(4, "little") + block + bytes(4)


def _frames(s: CaseBuilder) -> None:
    """§3, column snappy: a xerial header alone is a stream of nothing; gzip: what one step of the inflater gave."""
    s.rejects("compression/snappy-header-alone", "The 16 bytes of a xerial header, and no block", batch(XERIAL + i32(1) * 2, 2, attributes=2, max_ts=T + 1), "count-mismatch", at="61>0", twin="compression/snappy-xerial", doc="kafka.md §3, column snappy",
         needs=["codec:snappy"], rules=("kafka.snappy.frame",), also=("decompress-failed", "truncated"), why="16 bytes are enough to tell the framing; what follows is missing.")
    s.rejects("compression/snappy-header-cut", "The first 15 bytes of a xerial header", batch((XERIAL + i32(1) * 2)[:15], 2, attributes=2, max_ts=T + 1), "decompress-failed", at=61, twin="compression/snappy-xerial", doc="kafka.md §3, column snappy",
         needs=["codec:snappy"], rules=("kafka.snappy.frame",), also=("truncated",), why="Fewer than 16 bytes are taken for a raw block, which these are not.")


def _blocks(s: CaseBuilder) -> None:
    """§3: blocks of exactly the size that their frame allows, and one byte over it."""
    why = "The limit of a block is the frame's own: who allows less refuses good frames, who allows more gives room to bombs."
    def lz4_block(size: int, bd: int) -> tuple[bytes, Any]:
        raw, row = sized(size)
        return batch(_lz4_run(raw, bd), 1, attributes=3), batch_value([row], attributes=3)
    for size, bd, name in ((65536, 0x40, "64k"), (65537, 0x50, "64k-and-1-of-256k")):
        raw, value = lz4_block(size, bd)
        s.accepts(f"lz4/block-of-{name}", f"A block that gives {size:,} bytes under BD {bd:02x}", raw, value, doc="kafka.md §3, column lz4; §7 X14", needs=["codec:lz4"], rules=("kafka.lz4.frame",), why=why)
    s.rejects("lz4/block-of-64k-and-1", "A block that gives 65,537 bytes under BD 40", lz4_block(65537, 0x40)[0], "decompress-failed", at=72, twin="lz4/block-of-64k", doc="kafka.md §7 X14", needs=["codec:lz4"],
         rules=("kafka.lz4.frame",), also=("limit-exceeded",), why=why)
    def zstd_raw(size: int) -> bytes:
        raw, _ = sized(size)
        return batch(b"\x28\xb5\x2f\xfd\x00\x00" + (len(raw) << 3 | 1).to_bytes(3, "little") + raw, 1, attributes=4)
    s.accepts("zstd/block-of-the-window", "A raw block of 1,024 bytes in a window of 1 KiB", zstd_raw(1024), batch_value([sized(1024)[1]], attributes=4), doc="kafka.md §3; RFC 8878 §3.1.1.2.4", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), why=why)
    s.rejects("zstd/block-over-the-window", "A raw block of 1,025 bytes in a window of 1 KiB", zstd_raw(1025), "decompress-failed", at=67, twin="zstd/block-of-the-window", doc="kafka.md §3; RFC 8878 §3.1.1.2.4", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), why=why)
    one_record = record(b"k", b"v")
    frame = b"\x28\xb5\x2f\xfd\x01\x00\x00" + (len(one_record) << 3 | 1).to_bytes(3, "little") + one_record
    s.accepts("zstd/dictionary-id-0", "A dictionary id of 0, written", batch(frame, 1, attributes=4), batch_value([*KV], attributes=4), doc="kafka.md §3; RFC 8878 §3.1.1.1.3", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), why="0 is no dictionary, in whatever room it is written.")


def _snappy_frames(s: CaseBuilder) -> None:
    """§3: the reader compares the prefix alone; the versions pass, whatever they are (Z02 to Z05)."""
    for name, versions in (("0-and-1", (0, 1)), ("1-and-0", (1, 0)), ("0-and-0", (0, 0)), ("below-zero", (-1, -1))):
        s.accepts(f"compression/snappy-versions-{name}", f"xerial versions {versions[0]} and {versions[1]}", batch(xerial(snappy_block(TWO), versions=struct.pack(">ii", *versions)), 2, attributes=2, max_ts=T + 1),
             batch_value(two_values(), attributes=2, max_ts=T + 1), doc="kafka.md §3, column snappy; §7 Z02 to Z05", needs=["codec:snappy"], rules=("kafka.snappy.version",), remarks=("snappy-version",), level="should",
             why="A reader that takes versions up to its own, or from its own on, still loses half of the writers.")


def _zstd_frames(s: CaseBuilder) -> None:
    """RFC 8878 §3.1.1.2: a frame of a raw block, a block of one repeated byte (RLE), and a raw one."""
    whole = record(b"k", b"v" * 300)
    head, run, foot = whole[:-301], whole[-301:-1], whole[-1:]
    def block(data: bytes, kind: int, size: int, *, last: bool = False) -> bytes:
        return (last | kind << 1 | size << 3).to_bytes(3, "little") + data
    frame = b"\x28\xb5\x2f\xfd\x60" + struct.pack("<H", len(whole) - 256) + block(head, 0, len(head)) + block(run[:1], 1, len(run)) + block(foot, 0, 1, last=True)
    if zstandard.ZstdDecompressor().decompress(frame) != whole:
        raise ValueError("libzstd reads the frame otherwise")
    s.accepts("zstd/run-block", "A block of one byte 300 times", batch(frame, 1, attributes=4), batch_value([record_value(b"k", b"v" * 300)], attributes=4), doc="RFC 8878 §3.1.1.2.2; kafka.md §3, column zstd",
         needs=["codec:zstd"], rules=("kafka.zstd.frame",), why="Its size is that of what comes out: one byte stands in the frame.")


def _snappy_vectors(s: CaseBuilder) -> None:
    """§3, column snappy."""
    value = batch_value(two_values(), attributes=2, max_ts=T + 1)
    def packed(data: bytes) -> bytes:
        return batch(data, 2, attributes=2, max_ts=T + 1)
    block = snappy_block(TWO)
    for versions, doc in (((2, 1), "Z03"), ((1, 2), "Z04")):
        s.accepts(f"compression/snappy-versions-{versions[0]}-and-{versions[1]}", f"xerial versions {versions[0]} and {versions[1]}", packed(xerial(block, versions=struct.pack(">ii", *versions))), value, doc=f"kafka.md §7 {doc}",
             needs=["codec:snappy"], rules=("kafka.snappy.version",), remarks=("snappy-version",), level="should", why="Java's reader compares the eight bytes before them and nothing else.")
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


def _lz4_vectors(s: CaseBuilder) -> None:
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
            s.accepts("lz4/block-checksum-packed", f"A packed block, its checksum over the bytes {title}", data, batch_value([record_value(b"k", text)], attributes=3), doc="kafka.md §7 W40", needs=["codec:lz4"], rules=("kafka.lz4.frame", "kafka.lz4.block-checksum"), why=why)
        else:
            s.rejects("lz4/block-checksum-of-unpacked", f"A packed block, its checksum over the bytes {title}", data, "decompress-failed", twin="lz4/block-checksum-packed", doc="kafka.md §7 W40, Z29", needs=["codec:lz4"],
                 rules=("kafka.lz4.block-checksum",), why=why)
    big, _ = sized(70_011)
    s.rejects("lz4/stored-block-over-64k", "A stored block of 70,011 bytes under BD 40", batch(lz4(big), 1, attributes=3), "decompress-failed", at=68, twin="lz4/block-of-64k", doc="kafka.md §7 Z43", needs=["codec:lz4"], rules=("kafka.lz4.frame",),
         also=("limit-exceeded",), why="Its length alone says that it is over the maximum of its frame.")


def _zstd_vectors(s: CaseBuilder) -> None:
    frame = bytearray(zstd(TWO))
    frame[5] = len(TWO) + 1
    s.rejects("zstd/content-size-wrong", "A content size one too high", batch(bytes(frame), 2, attributes=4, max_ts=T + 1), "decompress-failed", twin="zstd/content-size", doc="kafka.md §7 X15", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), also=("truncated",), why="Other than LZ4's, it is held against what comes out.")


def _reported_blocks(s: CaseBuilder) -> None:
    """No. 18, 24 and 138: what a fuzzer finds in the readers of compressed blocks."""
    runs = b"".join((last | 1 << 1 | BLOCK << 3).to_bytes(3, "little") + b"\x00" for last in [0] * (GIB // BLOCK - 1) + [1])
    bomb = b"\x28\xb5\x2f\xfd\x00" + bytes(((17 - 10) << 3,)) + runs
    s.rejects("zstd/bomb-of-zeros", "32 KB of zstd that unpack to 1 GiB of zeros", batch(bomb, 1, attributes=4), "bad-length", twin="zstd/content-size", doc="kafka.md §9 no. 18, 24", needs=["codec:zstd"], rules=("kafka.zstd.limit", "kafka.v2.record.length"),
         also=("limit-exceeded", "decompress-failed", "truncated", "length-past-end", "count-mismatch"), limits={"ms": 3000, "rss_mb": 512}, flags=["resource", "security"],
         why="The first byte is a record length of 0: who unpacks all of it before a look at that spends 1 GiB.")
    block = bytes(6) + b"ybatch-codec-fuzz-seed"  # the report, but for its first byte, which is no part of the frame
    frame = lz4(b"")[:7] + struct.pack("<I", 28) + block + bytes(4)
    s.rejects("lz4/match-offset-zero", "A block whose first match lies 0 bytes back", batch(frame, 1, attributes=3), "decompress-failed", twin="lz4/one-block", doc="kafka.md §9 no. 138", needs=["codec:lz4"], rules=("kafka.lz4.frame",),
         also=("truncated", "limit-exceeded"), why="A fuzzer's find: the reader crashed where it should have refused.")
