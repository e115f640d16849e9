"""Cases of Kafka that stand alone at a corner: kafka.md §1.5, §1.7, §1.9, §1.10, §2.1, §2.4, §3, §4."""

import struct
import zlib
from typing import Any

import zstandard

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import TWO, marker, two_values
from tests.authoring.kafka.control_bytes import control, control_value, voter
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    gzip,
    i8,
    i16,
    i32,
    i64,
    message,
    message_value,
    record,
    record_value,
    snappy_block,
    u32,
    xerial,
)  # fmt: skip
from tests.authoring.kafka.log import log, old, one
from tests.authoring.kafka.message_sets import pair, pair_value


def write(writer: FixtureWriter) -> None:
    v1, v2, logs = CaseBuilder(writer, "kafka.batch", "v1"), CaseBuilder(writer, "kafka.batch", "v2"), CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_snappy, _zstd, _control, _times):
        chapter(v2)
    _produce(v1)
    _unwritten(writer)
    _log(logs)


def _snappy(s: CaseBuilder) -> None:
    """§3: the reader compares the prefix alone; the versions pass, whatever they are (Z02 to Z05)."""
    for name, versions in (("0-and-1", (0, 1)), ("1-and-0", (1, 0)), ("0-and-0", (0, 0)), ("below-zero", (-1, -1))):
        s.accepts(f"compression/snappy-versions-{name}", f"xerial versions {versions[0]} and {versions[1]}", batch(xerial(snappy_block(TWO), versions=struct.pack(">ii", *versions)), 2, attributes=2, max_ts=T + 1),
             batch_value(two_values(), attributes=2, max_ts=T + 1), doc="kafka.md §3, column snappy; §7 Z02 to Z05", needs=["codec:snappy"], rules=("kafka.snappy.version",), remarks=("snappy-version",),
             why="A reader that takes versions up to its own, or from its own on, still loses half of the writers.")


def _zstd(s: CaseBuilder) -> None:
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


def _control(s: CaseBuilder) -> None:
    """§1.9: the first record of a control batch alone is inspected; KRaft's lengths are varints like others."""
    need = ["feature:control-batch"]
    fields = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0}
    key, value = marker(1)
    for name, title, second in (("short", "of two bytes", i16(0)), ("version-negative", "of version −1", i16(-1) + i16(1))):
        s.accepts(f"control/second-key-{name}", f"A COMMIT marker, and a second record with a key {title}", batch(record(key, value) + record(second, value, off=1), 2, **fields),
             batch_value([record_value(key, value, base=9, control=control_value(key, value)), record_value(second, value, off=1, base=9)], **fields),
             doc="kafka.md §1.9; §7 K09, K02, K03", rules=("kafka.control.key",), needs=need, remarks=("control-record-count",), why="Kafka's consumer looks at the first record alone: the second refuses nothing.")
    for kind, name in ((0, "abort"), (1, "commit")):
        key, value = marker(kind)
        plain = {**fields, "attributes": 0x20}
        s.accepts(f"control/{name}-not-transactional", f"{name.upper()} in a batch without the transactional bit", batch(record(key, value), 1, **plain), batch_value([record_value(key, value, base=9, control=control_value(key, value))], **plain),
             doc="kafka.md §5 CONTROL_NOT_TRANSACTIONAL; §7 K10", rules=("kafka.control.key", "kafka.control.value"), needs=need, remarks=("control-not-transactional",), why="Kafka's reader asks for the control bit alone.")
    one_id = bytes(range(16))
    raw = i16(0) + b"\x02" + i32(1) + one_id + b"\x02" + b"\x88\x80\x00" + b"CONTROL" + b"\x02h" + struct.pack(">H", 9093) + b"\x00" + i16(0) + i16(1) + b"\x00" * 3
    listener = {"name": b"CONTROL".hex(), "host": b"h".hex(), "port": "9093"}
    typed = control(type="6", version="0", voters=[{**voter("1"), "directoryId": one_id.hex(), "endpoints": [listener], "minVersion": "0", "maxVersion": "1"}])
    voters = i16(0) + i16(6)
    s.accepts("control/kraft-voters-overlong", "KRAFT_VOTERS, the length of a name in three bytes", batch(record(voters, raw), 1, attributes=0x20), batch_value([record_value(voters, raw, control=typed)], attributes=0x20),
         doc="kafka.md §1.9, §4", rules=("kafka.control.kraft", "kafka.varint.overlong"), needs=need, remarks=("varint-overlong",), why="An unsigned varint is as padded as a zigzag one.")
    foot = i16(0) + i16(4)
    raw = i16(0) + b"\x80" * 9 + b"\x00"
    s.accepts("control/snapshot-footer-overlong", "SNAPSHOT_FOOTER, the count of its tags in ten bytes", batch(record(foot, raw), 1, attributes=0x20), batch_value([record_value(foot, raw, control=control(type="4", version="0"))], attributes=0x20),
         doc="kafka.md §1.9, §4", rules=("kafka.control.kraft", "kafka.varint.overlong"), needs=need, remarks=("varint-overlong",), why="Ten bytes are the most that a varint of 64 bits takes.")


def _times(s: CaseBuilder) -> None:
    """§1.10: a timestamp is a plain 64-bit sum (R31), at both ends."""
    high, low = (1 << 63) - 1, -(1 << 63)
    for name, title, base, delta in (("overflow", "baseTimestamp 2^63 − 1 and delta 1", high, 1), ("underflow", "baseTimestamp −2^63 and delta −1", low, -1)):
        remarks, most = (("negative-timestamp", "timestamp-overflow"), T) if delta > 0 else (("timestamp-overflow",), high)
        s.accepts(f"timestamps/{name}-by-1", title, batch(record(b"k", b"v", ts=delta), 1, base_ts=base, max_ts=most), batch_value([record_value(b"k", b"v", ts=delta, base_ts=base)], base_ts=base, max_ts=most),
             doc="kafka.md §1.10; §7 R31", rules=("kafka.v2.timestamp",), remarks=remarks, why="Arithmetic that raises on overflow, or that has more than 64 bits, gives what Java's does not.")


def _produce(s: CaseBuilder) -> None:
    """§1.7: only LogAppendTime wants a time; a codec is no reason."""
    stamps = (-1, -1)
    s.accepts("produce/wrapper-no-time", "A wrapper without a time", message(1, None, gzip(pair(1, stamps=stamps)[0]), offset=11, attributes=1, ts=-1),
         message_value(1, None, None, offset=11, attributes=1, ts=-1, messages=pair_value(1, stamps=stamps)), doc="kafka.md §1.7", why="What a producer without clock sends, packed.",
         rules=("kafka.produce.append-time",), remarks=("produce-inner-offsets",), profile="produce", needs=["codec:gzip", "feature:wrapper"])


def _unwritten(writer: FixtureWriter) -> None:
    """§2.1: v0 has no timestamp. No text says whether a writer refuses what is asked of it, or drops it."""
    p = "kafka.batch/v0/encode/"
    for name, stamp in (("timestamp", T), ("timestamp-zero", 0)):
        writer.add({"id": p + name, "title": f"A timestamp of {stamp}", "why": "It would be lost: v0 has no field for it.", "op": "encode", "level": "may", "rules": ["kafka.legacy.encode.range"],
                  "input": {"value": {**message_value(0, b"k", b"v"), "timestamp": str(stamp)}}, "expect": {"reject": {"class": "invalid-value"}}, "twin": p + "key-and-value",
                  "source": {"origin": "builder", "document": "kafka.md §2.1"}})


def _log(s: CaseBuilder) -> None:
    """§1.5: a wrapper's range begins with its first message. §2.4: what is sealed and too small is no entry."""
    def accepts(name: str, title: str, before: int, remarks: tuple[str, ...]) -> None:
        entries: list[tuple[bytes, Any]] = [old(1, before), (message(1, None, gzip(pair(1)[0]), offset=11, attributes=1, ts=T + 1), message_value(1, None, None, offset=11, attributes=1, ts=T + 1, messages=pair_value(1)))]
        s.accepts(f"entries/{name}", title, b"".join(raw for raw, _ in entries), log(*(value for _, value in entries)), doc="kafka.md §1.5, §2.3; §7 I31", rules=("kafka.log.unchecked",), remarks=remarks,
             needs=["codec:gzip", "feature:wrapper"], why="Offsets 10 and 11 stand in the wrapper, which itself has only the last.")
    accepts("wrapper-overlaps-first", "A message at offset 10, and a wrapper of 10 and 11", 10, ("offsets-not-monotonic",))
    accepts("wrapper-follows-first", "A message at offset 9, and a wrapper of 10 and 11", 9, ())
    raw, value = one(0)
    tail = i8(1) + i8(0) + i64(T)
    small = i64(0) + i32(14) + u32(zlib.crc32(tail)) + tail
    s.writer.add({"id": f"{s.prefix}scan/sealed-too-small", "title": "A v1 message of size 14 whose CRC holds, then a batch", "why": "A search that begins where the refused head stands finds it again, for ever.", "op": "scan",
                "level": "must", "rules": ["kafka.log.scan"], "input": {"chunks": [(small + raw).hex()]},
                "expect": {"accept": {"value": {"items": [{"kind": "garbage", "at": 0, "length": 26, "class": "bad-length"}, {"kind": "frame", "at": 26, "length": 70, "value": value}]}}},
                "source": {"origin": "builder", "document": "kafka.md §1.5, first row; §7 I23"}})
    junk = b"\x7f"
    for name, seal in (("high", (1 << 32) - 1), ("low", 0)):
        wrong = batch(record(b"k", b"v"), 1, crc=seal)
        s.writer.add({"id": f"{s.prefix}scan/wrong-crc-{name}-while-searching", "title": f"A byte of garbage, a batch whose CRC says {seal:#x}, a batch", "why": "Only a CRC that is right ends the search: one that is near, above or below ends nothing.", "op": "scan",
                    "level": "must", "rules": ["kafka.log.scan"], "input": {"chunks": [(junk + wrong + raw).hex()]},
                    "expect": {"accept": {"value": {"items": [{"kind": "garbage", "at": 0, "length": 71, "class": "bad-length"}, {"kind": "frame", "at": 71, "length": 70, "value": value}]}}},
                    "source": {"origin": "builder", "document": "kafka.md §2.4"}})
