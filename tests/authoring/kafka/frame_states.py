"""The states of the numbers in compressed frames and in the values of control records. kafka.md §1.9, §3.

The frames of v0 and v1 are read by the same decoders: `fixtures/states.toml`.
"""

import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control, voter
from tests.authoring.kafka.entry_bytes import (
    TWO,
    XERIAL,
    T,
    base128,
    batch,
    batch_value,
    gzip,
    i16,
    i32,
    i64,
    lz4,
    record,
    record_value,
    snappy_block,
    two_values,
    xerial,
    zstd,
)
from tests.authoring.kafka.states import (
    EDGE,
    HALF,
    HIGH16,
    HIGH32,
    HIGH64,
    LOW16,
    LOW32,
    LOW64,
    forged,
    read,
    written,
)

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
CODECS: Final = {"gzip": GZIP, "xerial": SNAPPY, "lz4": LZ4, "zstd": ZSTD}
TWINS: Final = {
    "gzip": "compression/gzip", "xerial": "compression/snappy-xerial", "lz4": "lz4/one-block", "zstd": "zstd/content-size",
}  # fmt: skip


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_frames, _chunks, _refused_frames, _sealed, _control, _kraft, _kraft_opaque):
        chapter(v2)


def packed(codec: str, frame: bytes) -> tuple[bytes, Any]:
    """Return the batch of two records in a frame, and its value."""
    number = CODECS[codec]
    return batch(frame, 2, attributes=number, max_ts=T + 1), batch_value(two_values(), max_ts=T + 1, attributes=number)


def skippable(size: int) -> bytes:
    return b"\x50\x2a\x4d\x18" + struct.pack("<I", size) + b"s" * size


def with_extra(size: int) -> bytes:
    """A gzip member with an extra field of so many bytes: RFC 1952, FEXTRA."""
    return gzip(TWO, flags=4, optional=struct.pack("<H", size) + b"x" * size)


def replaced(data: bytes, at: int, new: bytes) -> bytes:
    """Return data with other bytes from `at` on; below 0 it counts from the end."""
    at += len(data) if at < 0 else 0
    return data[:at] + new + data[at + len(new) :]


def _frames(s: CaseBuilder) -> None:
    """Optional parts, which a reader steps over."""
    size = struct.pack("<Q", 0x0102030405060708)
    rows: Sequence[tuple[str, str, str, bytes, str, tuple[str, ...]]] = (
        ("gzip", "extra-0", "An extra field of no bytes", with_extra(0), "kafka.gzip.frame", ()),
        ("gzip", "extra-1", "An extra field of one byte", with_extra(1), "kafka.gzip.frame", ()),
        ("gzip", "extra-300", "An extra field of 300 bytes", with_extra(300), "kafka.gzip.frame", ()),
        ("gzip", "mtime-distinct", "A time of which each byte differs, extra flags 255 and system 0", replaced(gzip(TWO), 4, bytes.fromhex("01020304ff00")), "kafka.gzip.frame", ()),
        ("gzip", "mtime-greatest", "A time of 2^32 − 1", replaced(gzip(TWO), 4, b"\xff" * 4), "kafka.gzip.frame", ()),
        ("xerial", "versions-distinct", "Version and compatible version of which each byte differs", xerial(snappy_block(TWO), versions=i32(0x01020304) + i32(0x05060708)), "kafka.snappy.version", ("snappy-version",)),
        ("xerial", "versions-greatest", "Version and compatible version 2^31 − 1", xerial(snappy_block(TWO), versions=i32(HIGH32) * 2), "kafka.snappy.version", ("snappy-version",)),
        ("xerial", "versions-least", "Version and compatible version −2^31", xerial(snappy_block(TWO), versions=i32(LOW32) * 2), "kafka.snappy.version", ("snappy-version",)),
        ("zstd", "skippable-0", "A skippable frame of no bytes first", skippable(0) + zstd(TWO), "kafka.zstd.frame", ()),
        ("zstd", "skippable-1", "A skippable frame of one byte first", skippable(1) + zstd(TWO), "kafka.zstd.frame", ()),
        ("zstd", "skippable-300", "A skippable frame of 300 bytes last", zstd(TWO) + skippable(300), "kafka.zstd.frame", ()),
    )  # fmt: skip
    for codec, name, title, frame, rule, remarks in rows:
        read(s, f"states/{codec}-{name}", title, *packed(codec, frame), "What the frame says beside its data moves nothing of it.", (rule,), remarks=remarks, doc="kafka.md §3")
    for name, text, stated in (("distinct", "of which each byte differs", size), ("greatest", "2^64 − 1", b"\xff" * 8), ("zero", "0", bytes(8))):
        data, value = packed("lz4", lz4(TWO, flg=0x68, size=stated))
        rows_of = {"read": {"accept": {"value": value, "consumed": len(data), "remarks": ["lz4-content-size"]}}, "refused": {"reject": {"class": "other"}}}
        s.either(f"states/lz4-content-size-{name}", f"A content size {text}", data, rows_of, doc="kafka.md §3, §7 Z44", why="Java skips it, most clients refuse; none may get memory for it.", rules=("kafka.lz4.content-size",), level="must", needs=["codec:lz4"])


def _chunks(s: CaseBuilder) -> None:
    """§3: a block that gives no byte, and a block of no bytes, in each place."""
    nothing, first, second = snappy_block(b""), snappy_block(TWO[:9]), snappy_block(TWO[9:])
    for name, place, blocks in (("first", "first", (nothing, first, second)), ("middle", "in the middle", (first, nothing, second)), ("last", "last", (first, second, nothing))):
        read(s, f"states/xerial-block-of-nothing-{name}", f"A block of one byte, which gives none, {place}", *packed("xerial", xerial(*blocks)), "A block may give nothing; what stands behind it is read.", ("kafka.snappy.frame",), doc="kafka.md §3")
        data, _ = packed("xerial", xerial(*(b"" if block == nothing else block for block in blocks)))
        s.rejects(f"states/xerial-chunk-0-{name}", f"A block length of 0 {place}", data, "decompress-failed", twin=f"states/xerial-block-of-nothing-{name}", doc="kafka.md §7 X13", why="A raw snappy block has at least its length byte; taken for the end it loses what stands behind it.",
                  rules=("kafka.snappy.empty-block",), also=("bad-length",), needs=["codec:snappy"], level="should")  # fmt: skip


def _refused_frames(s: CaseBuilder) -> None:
    """§3: numbers of a frame at the edges of their types, where they are wrong."""
    gz, sized, checked = gzip(TWO), zstd(TWO), zstd(TWO, checksum=True)
    header_crc = gzip(TWO, flags=2, optional=b"\0\0")
    digest = lz4(TWO, flg=0x64, after=b"\xff" * 4)
    lz, high = lz4(TWO), b"\xff" * 4
    most = bytes.fromhex("28b52ffd") + b"\xe0" + b"\xff" * 8 + sized[6:]
    rows: Sequence[tuple[str, str, str, bytes, str]] = (
        ("gzip", "crc-greatest", "A CRC-32 of 0xffffffff", gzip(TWO, crc=0xFFFFFFFF), "kafka.gzip.checks"),
        ("gzip", "isize-0", "An ISIZE of 0", gzip(TWO, isize=0), "kafka.gzip.checks"),
        ("gzip", "isize-greatest", "An ISIZE of 2^32 − 1", gzip(TWO, isize=0xFFFFFFFF), "kafka.gzip.checks"),
        ("gzip", "header-crc-0", "A header CRC of 0", header_crc, "kafka.gzip.checks"),
        ("gzip", "header-crc-greatest", "A header CRC of 65535", gzip(TWO, flags=2, optional=b"\xff\xff"), "kafka.gzip.checks"),
        ("gzip", "extra-greatest", "An extra field of 65535 bytes, past the end", gzip(TWO, flags=4, optional=b"\xff\xff"), "kafka.gzip.frame"),
        ("gzip", "flags-greatest", "All flags", replaced(gz, 3, b"\xff"), "kafka.gzip.reserved"),
        ("gzip", "magic-0", "A magic of zeros", replaced(gz, 0, bytes(2)), "kafka.gzip.frame"),
        ("gzip", "magic-greatest", "A magic of ff", replaced(gz, 0, b"\xff\xff"), "kafka.gzip.frame"),
        ("gzip", "method-0", "Method 0", gzip(TWO, method=0), "kafka.gzip.frame"),
        ("gzip", "method-greatest", "Method 255", gzip(TWO, method=255), "kafka.gzip.frame"),
        ("lz4", "magic-0", "A magic of zeros", replaced(lz, 0, bytes(4)), "kafka.lz4.frame"),
        ("lz4", "magic-greatest", "A magic of ff", replaced(lz, 0, high), "kafka.lz4.frame"),
        ("lz4", "flg-0", "FLG 0: version 00", lz4(TWO, flg=0), "kafka.lz4.frame"),
        ("lz4", "flg-greatest", "FLG 255: version 11", lz4(TWO, flg=0xFF), "kafka.lz4.frame"),
        ("lz4", "bd-0", "BD 0: no block size", lz4(TWO, bd=0), "kafka.lz4.frame"),
        ("lz4", "bd-greatest", "BD 255", lz4(TWO, bd=0xFF), "kafka.lz4.frame"),
        ("lz4", "hc-greatest", "A header checksum byte of 255", lz4(TWO, hc=255), "kafka.lz4.kip57"),
        ("lz4", "block-length-greatest", "A stored block of 2^31 − 1 bytes", replaced(lz, 7, high), "kafka.lz4.frame"),
        ("lz4", "block-checksum-0", "A block checksum of 0", lz4(TWO, flg=0x70, block_checksum=0), "kafka.lz4.block-checksum"),
        ("lz4", "block-checksum-greatest", "A block checksum of 0xffffffff", lz4(TWO, flg=0x70, block_checksum=0xFFFFFFFF), "kafka.lz4.block-checksum"),
        ("lz4", "content-checksum-greatest", "A content checksum of 0xffffffff", digest, "kafka.lz4.content-checksum"),
        ("xerial", "chunk-least", "A block length of −2^31", XERIAL + i32(1) * 2 + i32(LOW32) + snappy_block(TWO), "kafka.snappy.frame"),
        ("zstd", "magic-0", "A magic of zeros", replaced(sized, 0, bytes(4)), "kafka.zstd.frame"),
        ("zstd", "magic-greatest", "A magic of ff", replaced(sized, 0, high), "kafka.zstd.frame"),
        ("zstd", "descriptor-greatest", "A frame header descriptor of 255", replaced(sized, 4, b"\xff"), "kafka.zstd.frame"),
        ("zstd", "content-size-greatest", "A content size of 2^64 − 1", most, "kafka.zstd.frame"),
        ("zstd", "window-greatest", "A window descriptor of 255", bytes.fromhex("28b52ffd00ff") + sized[6:], "kafka.zstd.window"),
        ("zstd", "dictionary-greatest", "Dictionary 2^32 − 1", bytes.fromhex("28b52ffd23") + high + sized[5:], "kafka.zstd.frame"),
        ("zstd", "checksum-0", "A checksum of 0", replaced(checked, -4, bytes(4)), "kafka.zstd.checksum"),
        ("zstd", "checksum-greatest", "A checksum of 0xffffffff", replaced(checked, -4, high), "kafka.zstd.checksum"),
        ("zstd", "skippable-greatest", "A skippable frame of 2^32 − 1 bytes, past the end", skippable(0)[:4] + high + sized, "kafka.zstd.frame"),
    )  # fmt: skip
    for codec, name, title, frame, rule in rows:
        s.rejects(f"states/{codec}-{name}", title, packed(codec, frame)[0], "decompress-failed", twin=TWINS[codec], doc="kafka.md §3", why="A number at the edge of its type is no sign that there is none.", rules=(rule,),
                  also=("truncated", "limit-exceeded", "reserved-nonzero", "length-past-end", "negative-length"), needs=[f"codec:{'snappy' if codec == 'xerial' else codec}"])  # fmt: skip
    data = batch(XERIAL + i32(1) * 2 + i32(HIGH32) + snappy_block(TWO), 2, attributes=SNAPPY, max_ts=T + 1)
    s.rejects("states/xerial-chunk-greatest", "A block length of 2^31 − 1", data, "limit-exceeded", twin=TWINS["xerial"], doc="kafka.md §3", why="Memory for it is spent before its bytes are looked for.", rules=("kafka.snappy.frame",),
              also=("decompress-failed", "truncated", "length-past-end"), needs=["codec:snappy"], flags=["security", "resource"])  # fmt: skip


def _sealed(s: CaseBuilder) -> None:
    """RFC 1952: the CRC-32 of a member at both edges, and right."""
    for name, text, wanted in (("zero", "0", 0), ("greatest", "0xffffffff", 0xFFFFFFFF)):
        free = forged(lambda four: record(b"k", four), zlib.crc32, wanted)
        data = batch(gzip(record(b"k", free)), 1, attributes=GZIP)
        read(s, f"states/gzip-crc-{name}-right", f"A gzip member whose CRC-32 is {text}", data, batch_value([record_value(b"k", free)], attributes=GZIP), "A checksum of 0 is one, and is right here.", ("kafka.gzip.checks",), doc="kafka.md §3")


# --- control records: §1.9 ---


def _typed(kind: int, raw: bytes | None, typed: Any, *, off: int = 0, version: int = 0) -> tuple[bytes, Any]:
    """Return a control record and its value; nothing is typed where the value is not understood."""
    key = i16(version) + i16(kind)
    return record(key, raw, off=off), record_value(key, raw, off=off, control=typed)


def _controls(s: CaseBuilder, name: str, title: str, rows: Sequence[tuple[bytes, Any]], rules: Sequence[str], *, level: str, why: str = EDGE, to_write: bool = False, **more: Any) -> None:
    """Add a control batch of some records without a producer, as KRaft writes them."""
    data = batch(b"".join(raw for raw, _ in rows), len(rows), attributes=0x20)
    value = batch_value([row for _, row in rows], attributes=0x20)
    read(s, f"states/control-{name}", title, data, value, why, rules, level=level, doc="kafka.md §1.9", **more)
    if to_write:
        written(s, f"states/write-control-{name}", f"{title}, to write", data, value, why, ("kafka.v2.encode",), doc="kafka.md §1.9")


def _control(s: CaseBuilder) -> None:
    rows = [_typed(1, i16(0x0304) + i32(0x05060708), control(type="1", version=str(0x0304), coordinatorEpoch=str(0x05060708)), version=0x0102)]
    markers = ("kafka.control.key", "kafka.control.value")
    _controls(s, "distinct", "A COMMIT marker of which every byte of every number differs", rows, markers, level="must", why=HALF, remarks=("control-not-transactional",))
    for name, epoch in (("greatest", HIGH32), ("least", LOW32), ("minus-1", -1), ("zero", 0)):
        version = HIGH16 if name == "greatest" else 0
        rows = [_typed(1, i16(version) + i32(epoch), control(type="1", version=str(version), coordinatorEpoch=str(epoch)), version=version)]
        _controls(s, f"epoch-{name}", f"A COMMIT marker of coordinator epoch {epoch}", rows, markers, level="must", remarks=("control-not-transactional",))
    for name, kind in (("distinct", 0x0102), ("greatest", HIGH16), ("minus-1", -1), ("least", LOW16)):
        _controls(s, f"type-{name}", f"Type {kind}, which nobody knows", [_typed(kind, b"v", control(type=str(kind)))], ("kafka.control.type",), level="must", why="A type of a later broker is passed over.",
                  remarks=("control-not-transactional",) * (kind < 0))  # fmt: skip
    for name, key, value, rule in (("key", i16(LOW16) + i16(1), i16(0) + i32(5), "key"), ("value", i16(0) + i16(1), i16(LOW16) + i32(5), "value")):
        level = "should" if rule == "key" else "may"
        s.rejects(f"states/control-{name}-version-least", f"A {name} of version −32768", batch(record(key, value), 1, attributes=0x30, pid=1000, pepoch=0), "bad-control", twin="control/commit", doc="kafka.md §1.9", why="A version below 0 is none.", rules=(f"kafka.control.{rule}",),
                  needs=["feature:control-batch"], also=("null-not-allowed", "truncated", "length-past-end", "missing-field"), level=level)  # fmt: skip


NONE: Final = b"\0"
EDGES: Final = (("distinct", 0x01020304, 0x0102, 0x0102030405060708), ("greatest", HIGH32, HIGH16, HIGH64), ("least", LOW32, LOW16, LOW64), ("minus-1", -1, -1, -1), ("zero", 0, 0, 0))


def _tagged(*sizes: int) -> bytes:
    """Tagged fields of some sizes: a count, then tag, size and bytes of each."""
    return base128(len(sizes)) + b"".join(base128(tag) + base128(size) + b"t" * size for tag, size in enumerate(sizes, 200))


def _endpoint(name: bytes, host: bytes, port: int) -> tuple[bytes, Any]:
    raw = base128(len(name) + 1) + name + base128(len(host) + 1) + host + struct.pack(">H", port) + NONE
    return raw, {"name": name.hex(), "host": host.hex(), "port": str(port)}


def _kraft(s: CaseBuilder) -> None:
    """Values of KRaft in one batch, a record for each state, so that the path of a wrong number names it."""
    leaders, headers, versions, sets = [], [], [], []
    for off, (_, wide, short, long) in enumerate(EDGES):
        leader = i16(0) + i32(wide) + b"\x02" + i32(wide + 4 if off == 0 else wide) + NONE + b"\x02" + i32(wide + 8 if off == 0 else wide) + NONE + NONE
        ids = [str(wide + 4 if off == 0 else wide), str(wide + 8 if off == 0 else wide)]
        leaders.append(_typed(2, leader, control(type="2", version="0", leaderId=str(wide), voters=[voter(ids[0])], grantingVoters=[voter(ids[1])]), off=off))
        headers.append(_typed(3, i16(0) + i64(long) + NONE, control(type="3", version="0", lastContainedLogTimestamp=str(long)), off=off))
        versions.append(_typed(5, i16(0) + i16(short) + NONE, control(type="5", version="0", kraftVersion=str(short)), off=off))
        ends = [_endpoint(b"", b"h", 0), _endpoint(b"n" * 200, b"", 9092), _endpoint(b"n", b"h" * 200, 65535)]
        listed = base128(len(ends) + 1) + b"".join(raw for raw, _ in ends) if off == 0 else b"\x01"
        most = 0x0304 if off == 0 else short
        one = i32(wide) + bytes(range(16)) + listed + i16(short) + i16(most) + NONE + _tagged(*((0, 1, 200) if off == 1 else ()))
        shown = {**voter(str(wide)), "directoryId": bytes(range(16)).hex(), "endpoints": [value for _, value in ends] if off == 0 else [], "minVersion": str(short), "maxVersion": str(most)}
        sets.append(_typed(6, i16(0) + b"\x02" + one + _tagged(*((0, 1, 200) if off == 1 else ())), control(type="6", version="0", voters=[shown]), off=off))
    rules = ("kafka.control.kraft",)
    states = "of which each byte differs, greatest, least, −1 and 0"
    _controls(s, "leader-change", f"LEADER_CHANGE, ids {states}", leaders, rules, level="should")
    _controls(s, "snapshot-header", f"SNAPSHOT_HEADER, times {states}", headers, rules, level="should")
    _controls(s, "kraft-version", f"KRAFT_VERSION, versions {states}", versions, rules, level="should")
    _controls(s, "kraft-voters", f"KRAFT_VOTERS, numbers {states}; names, hosts and tags of 0, 1 and 200 bytes", sets, rules, level="should", to_write=True)
    ident = bytes(range(16))
    voters = [(i32(number) + ident + b"\x01" + i16(0) * 2 + NONE * 2, {**voter(str(number)), "directoryId": ident.hex(), "endpoints": [], "minVersion": "0", "maxVersion": "0"}) for number in range(200)]
    _controls(s, "kraft-voters-200", "KRAFT_VOTERS, two hundred of them", [_typed(6, i16(0) + base128(201) + b"".join(raw for raw, _ in voters) + NONE, control(type="6", version="0", voters=[value for _, value in voters]))], rules, level="should",
              why="The first count of two bytes.")  # fmt: skip
    granting = b"".join(i32(number) + NONE for number in range(200))
    raw = i16(0) + i32(7) + b"\x01" + base128(201) + granting + NONE
    _controls(s, "leader-change-200", "LEADER_CHANGE, two hundred granting voters", [_typed(2, raw, control(type="2", version="0", leaderId="7", voters=[], grantingVoters=[voter(str(number)) for number in range(200)]))], rules, level="should",
              why="The first count of two bytes.")  # fmt: skip


def _kraft_opaque(s: CaseBuilder) -> None:
    """Counts and lengths that go past the end of a value: it is not understood, and hides nothing but itself."""
    far, odd, more = b"\xff\xff\xff\xff\x0f", base128(0x01020304), b"m" * 40
    leader, listener = i16(0) + i32(7), i16(0) + b"\x02" + i32(1) + bytes(16)
    values: Sequence[tuple[int, bytes]] = (
        *((4, i16(0) + count) for count in (far, odd)),
        *((4, i16(0) + b"\x01" + tag + far) for tag in (far, odd)),
        (2, leader + far),
        (2, leader + b"\x01" + far),
        *((2, leader + b"\x02" + i32(7) + count) for count in (far, odd)),
        (2, leader + b"\x02" + i32(7) + b"\x01" + far + far),
        *((2, leader + b"\x01\x02" + i32(7) + count) for count in (far, odd)),
        (2, leader + b"\x02" + i32(7) + b"\x01" + odd + far),
        (2, leader + b"\x01" + NONE + NONE),
        *((6, listener + count + more) for count in (far, NONE, base128(200))),
        *((6, listener + b"\x02" + length + more) for length in (far, NONE)),
        *((6, listener + b"\x02\x02n" + length + more) for length in (far, NONE)),
        *((6, listener + b"\x02\x02n\x02h" + struct.pack(">H", 1) + count) for count in (far, odd)),
        *((6, listener + b"\x01" + i16(0) * 2 + count) for count in (far, odd)),
    )  # fmt: skip
    rows = [_typed(kind, raw, control(type=str(kind)), off=off) for off, (kind, raw) in enumerate(values)]
    data = batch(b"".join(raw for raw, _ in rows), len(rows), attributes=0x20)
    value = batch_value([row for _, row in rows], attributes=0x20)
    read(s, "states/control-past-end", "KRaft's records, each with a count or a length past its end", data, value, "KRaft's values are opaque to consumers: damage in one hides nothing but itself.", ("kafka.control.kraft",), remarks=("control-value",), level="may", doc="kafka.md §1.9")
