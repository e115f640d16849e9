"""`kafka.log/mixed`: kafka.md §1.4, §1.9, §2.4."""

import zlib
from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import (
    TWO,
    T,
    batch,
    batch_value,
    gzip,
    i8,
    i16,
    i32,
    i64,
    marker,
    message,
    message_value,
    record,
    record_value,
    snappy_block,
    two_values,
    u32,
    xerial,
)  # fmt: skip  # fmt: skip
from tests.authoring.kafka.message_sets import pair, pair_value


def write(writer: FixtureWriter) -> None:
    builder = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (
        _joined, _overlaps, _rare_entries, _leftover, _tail, _sizes, _damaged, _log_vectors, _segments, _scan, _scan_garbage, _scan_pieces,
    ):  # fmt: skip
        chapter(builder)


def log(*entries: Any) -> dict[str, Any]:
    return {"batches": list(entries)}


def one(base: int, key: bytes = b"k", **more: Any) -> tuple[bytes, Any]:
    """A v2 batch of one record at `base`."""
    return batch(record(key, b"v"), 1, base=base, **more), batch_value([record_value(key, b"v", base=base)], base=base, **more)


def old(magic: int, offset: int) -> tuple[bytes, Any]:
    return message(magic, b"k", b"v", offset=offset), message_value(magic, b"k", b"v", offset=offset)


def ctl(base: int, kind: int, pid: int) -> tuple[bytes, Any]:
    key, value = marker(kind)
    fields = {"base": base, "attributes": 0x30, "pid": pid, "pepoch": 0}
    return batch(record(key, value), 1, **fields), batch_value(
        [record_value(key, value, base=base, control=control_value(key, value))], **fields)


def _joined(s: CaseBuilder) -> None:
    def accepts(name, title, entries, doc, why, rules=("kafka.log.join",), **more):
        s.accepts(f"entries/{name}", title, b"".join(data for data, _ in entries), log(*(value for _, value in entries)), doc=doc, why=why, rules=rules, **more)
    s.accepts("entries/none", "No bytes, no entries", b"", log(), doc="kafka.md §7 I01", rules=("kafka.log.join",), why="A fetch at the end of a log.")
    accepts("one", "One batch", [one(0)], "kafka.md §7 W01", "The accepted neighbour.", rules=("kafka.log.join", "kafka.log.crc", "kafka.log.before"))
    accepts("three", "Three batches", [one(0), one(1, b"l"), one(2, b"m")], "kafka.md §7 I26", "IBM/sarama #1022, platformatic/kafka #97: only the first was read.")
    accepts("v0-v1-v2", "A message of each format", [old(0, 0), old(1, 1), one(2)], "kafka.md §6 E29 W39", "The magic stands in each entry: aiokafka takes the first one's for all.",
       rules=("kafka.log.magic",), needs=["feature:mixed-magic"])
    accepts("v2-v0-v2", "A v0 message between batches", [one(0), old(0, 1), one(2)], "kafka.md §7 I32", "kafkajs stops early.", rules=("kafka.log.magic",), needs=["feature:mixed-magic"])
    empty = (batch(b"", 0, base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4), batch_value([], base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4))
    accepts("empty-then-data", "An empty batch, then data", [empty, one(104)], "kafka.md §7 I27", "segmentio/kafka-go #874: the reader was stuck.", needs=["feature:empty-batch"])
    accepts("empty-empty-data", "Two empty batches, then data", [empty, empty, one(104)], "kafka.md §7 I28", "segmentio/kafka-go #1292.", needs=["feature:empty-batch"])
    accepts("data-empty-empty-data", "Data, two empty batches, data", [one(99), empty, empty, one(104)], "kafka.md §7 I28", "segmentio/kafka-go #1107: two empty batches one behind the other ended the process.", needs=["feature:empty-batch"])
    accepts("control-then-data", "A commit marker, then data", [ctl(0, 1, 1000), one(1)], "kafka.md §7 I29", "IBM/sarama #1115: the consumer was blocked.", needs=["feature:control-batch"])
    zipped = (batch(gzip(record(b"z", b"v")), 1, attributes=1), batch_value([record_value(b"z", b"v")], attributes=1))
    accepts("gzip-then-plain", "A compressed batch, then a plain one", [zipped, one(1)], "kafka.md §7 I33", "segmentio/kafka-go 1248320 kept the reader's state.", needs=["codec:gzip"])
    wrap = (message(1, None, gzip(pair(1)[0]), offset=11, attributes=1, ts=T + 1), message_value(1, None, None, offset=11, attributes=1, ts=T + 1, messages=pair_value(1)))
    accepts("wrapper-then-v2", "A v1 wrapper, then a batch", [wrap, one(12)], "kafka.md §2.4", "A log that was upgraded.", needs=["codec:gzip", "feature:mixed-magic", "feature:wrapper"], rules=("kafka.log.magic",))
    accepts("offsets-decreasing", "A batch below the one before it", [one(5), one(0)], "kafka.md §7 I31", "The reader does not compare batches; franz-go drops the second.", rules=("kafka.log.unchecked",),
       remarks=("offsets-not-monotonic",))


def _tail(s: CaseBuilder) -> None:
    first, value = one(0)
    second = one(1)[0]
    for cut in (1, 11, 12, 16, 17, 60, 69):
        s.accepts(f"tail/{cut:02d}-bytes", f"A tail of {cut} bytes", first + second[:cut], log(value), consumed=70, doc="kafka.md §7 I02–I06", rules=("kafka.log.tail",),
             needs=["feature:partial-tail"], why="A fetch ends where its limit cuts it: IBM/sarama #998 raised an error.")
    s.accepts("tail/first-batch-cut", "Only a cut batch", second[:40], log(), consumed=0, doc="kafka.md §1.4", rules=("kafka.log.tail",), needs=["feature:partial-tail"], why="Nothing is delivered, nothing is wrong.")
    filler = i64(-1) + i32(1000) + bytes(20)
    s.accepts("tail/kip-283-filler", "The filler of KIP-283", first + filler, log(value), consumed=70, doc="kafka.md §7 X01", rules=("kafka.log.tail",), needs=["feature:partial-tail"],
         why="IBM/sarama 682468dc decoded it as data.")
    s.accepts("tail/v0-cut", "A v0 message, cut", first + old(0, 1)[0][:20], log(value), consumed=70, doc="kafka.md §7 L32", rules=("kafka.log.tail",), needs=["feature:partial-tail", "feature:mixed-magic"],
         why="kafka-rust #17.")


def _damaged(s: CaseBuilder) -> None:
    first, value = one(0)
    def rejects(name, title, data, cls, doc, why, rules, at=None, also=(), before=None):
        s.rejects(f"damaged/{name}", title, data, cls, at=at, also=also, before=log(value) if before is None else before, twin="entries/one", doc=f"kafka.md §7 {doc}", rules=rules, why=why)
    rejects("zeros-12", "Twelve zero bytes after a batch", first + bytes(12), "bad-length", "I07", "A size of 0 is no tail: six clients pass over it.", ("kafka.log.size",), at=78)
    bad = bytearray(one(1)[0])
    bad[-2] ^= 1
    rejects("second-crc", "The second batch is damaged", first + bytes(bad), "crc-mismatch", "I30", "The first batch is good and must be delivered.", ("kafka.log.crc", "kafka.log.before"), at=87)
    second, next_value = one(1)
    third = bytearray(one(2)[0])
    third[-2] ^= 1
    rejects("third-crc", "The third batch is damaged", first + second + bytes(third), "crc-mismatch", "I30", "The two good ones are delivered, also where the damage is in the same answer.", ("kafka.log.crc", "kafka.log.before"), at=157, before=log(value, next_value))
    rejects("first-crc", "The first batch is damaged, the second good", bytes(bad) + one(2)[0], "crc-mismatch", "I30", "What follows the damage is not delivered in its place.", ("kafka.log.crc",), at=17, before=log())
    rejects("cut-in-the-middle", "A batch cut, another after it", first[:60] + one(1)[0], "crc-mismatch", "I22", "The cut batch swallows the beginning of the next one.", ("kafka.log.crc",), before=log(),
       also=("bad-magic", "bad-length"))
    rejects("magic-3-in-tail", "Magic 3 in a tail of 17 bytes", first + i64(1) + i32(100) + bytes(4) + b"\x03", "bad-magic", "I18", "Magic is looked at before the size: seven clients call it a tail.", ("kafka.log.magic.range",), at=86)
    rejects("magic-3", "Magic 3 in a whole batch", first + batch(record(b"k", b"v"), 1, base=1, magic=3), "bad-magic", "I15", "Sarama, kafka-python and aiokafka parse it as v2.", ("kafka.v2.magic",), at=86)


def _segments(s: CaseBuilder) -> None:
    """§1.4: Kafka has another reader for segment files, which looks at whole entries only."""
    first, value = one(0)
    need, doc = ["feature:segment-file"], "kafka.md §1.4, §13.3"
    options = {"source": "segment"}
    s.accepts("segments/one", "A segment file of one batch", first, log(value), doc=doc, rules=("kafka.log.join",), needs=need, why="The accepted neighbour.", options=options)
    def ends(name: str, title: str, tail: bytes, rule: str) -> None:
        s.accepts(f"segments/{name}", title, first + tail, log(value), consumed=len(first), doc=doc, rules=(f"kafka.log.{rule}",), needs=[*need, "feature:partial-tail"], options=options,
             why="A broker that was killed leaves such an end: the tools that read its file end there.")
    ends("zeros-12", "Twelve zero bytes after a batch", bytes(12), "size")
    ends("zeros-17", "Seventeen zero bytes after a batch", bytes(17), "size")
    head = i64(1) + i32(100) + bytes(4) + b"\x03"
    ends("magic-3-in-tail", "Magic 3 in a tail of 17 bytes", head, "magic.range")
    ends("magic-3-cut", "Magic 3 in an entry that is cut", head + bytes(20), "magic.range")
    def rejects(name: str, title: str, raw: bytes, cls: str, at: int, rule: str, why: str) -> None:
        s.rejects(f"segments/{name}", title, first + raw, cls, at=at, before=log(value), twin="segments/one", doc=doc, rules=(rule,), needs=need, options=options, why=why)
    rejects("zeros-18", "Eighteen zero bytes after a batch", bytes(18), "bad-length", 78, "kafka.log.size", "From 18 bytes on a size is looked at.")
    rejects("magic-3", "Magic 3 in a whole batch", batch(record(b"k", b"v"), 1, base=1, magic=3), "bad-magic", 86, "kafka.v2.magic", "Kafka's reader of files takes a later format for v2.")


def _scan(s: CaseBuilder) -> None:
    first, value = one(0)
    second, value2 = one(1)
    bad = bytearray(second)
    bad[-2] ^= 1
    def scan(name, title, chunks, items, why, doc="kafka.md §2.4", rules=("kafka.log.scan",)):
        s.writer.add({"id": f"{s.prefix}scan/{name}", "title": title, "why": why, "op": "scan", "level": "must", "rules": list(rules), "input": {"chunks": [c.hex() for c in chunks]},
                    "expect": {"accept": {"value": {"items": items}}}, "source": {"origin": "builder", "document": doc}})
    def frame(at, length, val):
        return {"kind": "frame", "at": at, "length": length, "value": val}
    scan("two-frames", "Two batches", [first + second], [frame(0, 70, value), frame(70, 70, value2)], "Every byte belongs to a frame.")
    scan("two-frames-in-pieces", "Two batches in three pieces", [first[:30], first[30:] + second[:5], second[5:]], [frame(0, 70, value), frame(70, 70, value2)], "How bytes arrive changes nothing.")
    scan("torn-tail", "A batch and a torn one", [first + second[:40]], [frame(0, 70, value), {"kind": "tail", "at": 70, "length": 40}], "A tail is reported, never dropped in silence.")
    scan("damaged-middle", "A damaged batch between good ones", [first + bytes(bad) + one(2)[0]],
         [frame(0, 70, value), {"kind": "garbage", "at": 70, "length": 70, "class": "crc-mismatch"}, frame(140, 70, one(2)[1])], "The good batch behind the damage is found.")
    scan("nothing", "No bytes", [b""], [], "Nothing to tell.")


def _sizes(s: CaseBuilder) -> None:
    """§1.4, steps 1 to 7."""
    first, value = one(0)
    def tail(name, title, raw, doc, why, **more):
        s.accepts(f"tail/{name}", title, first + raw, log(value), consumed=70, doc=doc, why=why, rules=("kafka.log.tail",), needs=["feature:partial-tail"], **more)
    torn = "A cut entry ends the reading; what it says of its size cannot be held against it."
    for size, name, doc in ((2147483635, "size-before-overflow", "kafka.md §7 I24"), ((1 << 20), "size-a-mebibyte", "kafka.md §1.4 step 6")):
        tail(name, f"A cut batch of size {size}", i64(1) + i32(size) + i32(0) + b"\x02" + bytes(8), doc, torn)
    for size, name in ((2147483636, "size-at-overflow"), ((1 << 31) - 1, "size-int-max")):
        tail(name, f"A cut batch of size {size}", i64(1) + i32(size) + i32(0) + b"\x02" + bytes(8), "kafka.md §7 I14, I25", torn, remarks=("size-overflow",))
    tail("size-14", "A cut message of size 14, the smallest", old(0, 1)[0][:8] + i32(14) + bytes(4) + b"\x00", "kafka.md §1.4 step 2", torn)
    def rejects(name, title, raw, cls, at, doc, rule):
        s.rejects(f"damaged/{name}", title, first + raw, cls, at=at, before=log(value), twin="entries/one", doc=doc, rules=(rule,), why="A size that no entry can have is no tail.")
    rejects("size-13", "Twelve bytes that tell of a size of 13", i64(1) + i32(13), "bad-length", 78, "kafka.md §1.4 step 2", "kafka.log.size")
    for magic, size in ((1, 21), (2, 48)):
        rejects(f"size-{size}-magic-{magic}", f"A whole entry of magic {magic} and size {size}", i64(1) + i32(size) + bytes(4) + bytes([magic]) + bytes(size - 5), "bad-length", 78,
           "kafka.md §1.5", ("", "kafka.legacy.size", "kafka.v2.size")[magic])
    rejects("magic-128", "Magic −128 in a tail", i64(1) + i32(100) + bytes(4) + b"\x80", "bad-magic", 86, "kafka.md §1.4 step 5", "kafka.log.magic.range")


def _scan_garbage(s: CaseBuilder) -> None:
    """§2.4: every byte is a frame, garbage or the tail, and garbage ends where an entry with a true CRC begins."""
    first = one(0)[0]
    def scan(name, title, chunks, items, why):
        s.writer.add({"id": f"{s.prefix}scan/{name}", "title": title, "why": why, "op": "scan", "level": "must", "rules": ["kafka.log.scan"], "input": {"chunks": [c.hex() for c in chunks]},
                    "expect": {"accept": {"value": {"items": items}}}, "source": {"origin": "builder", "document": "kafka.md §2.4"}})
    def frame(at, raw_value):
        return {"kind": "frame", "at": at, "length": len(raw_value[0]), "value": raw_value[1]}
    def garbage(at, length, cls):
        return {"kind": "garbage", "at": at, "length": length, "class": cls}
    second = one(1)
    lost = "A scan that stops at the first damage loses all that follows; one that trusts a chance magic invents records."
    for size in (7, 16, 17, 18, 40):  # one byte more makes the offset and the size of the batch a size of 16 MiB: a tail
        scan(f"zeros-{size}-then-batch", f"{size} zero bytes between batches", [first + bytes(size) + second[0]], [frame(0, one(0)), garbage(70, size, "bad-length"), frame(70 + size, second)], lost)
    scan("zeros-then-batch-in-pieces", "Zero bytes and a batch, byte by byte", [bytes([byte]) for byte in bytes(20) + first], [garbage(0, 20, "bad-length"), frame(20, one(0))], lost)
    scan("zeros-then-v0", "Zero bytes, then a v0 message", [bytes(13) + old(0, 1)[0]], [garbage(0, 13, "bad-length"), frame(13, old(0, 1))], lost)
    scan("zeros-then-v1", "Zero bytes, then a v1 message", [bytes(13) + old(1, 1)[0]], [garbage(0, 13, "bad-length"), frame(13, old(1, 1))], lost)
    fake = i64(5) + i32(60) + bytes(4) + b"\x02"
    scan("fake-head-then-batch", "What looks like a head, without a true CRC, then a batch", [bytes(12) + fake + first], [garbage(0, 12 + len(fake), "bad-length"), frame(12 + len(fake), one(0))], lost)
    scan("fake-head-past-the-end", "What looks like a head, of more bytes than there are", [bytes(12) + i64(5) + i32(6000) + bytes(4) + b"\x02" + first],
         [garbage(0, 29, "bad-length"), frame(29, one(0))], lost)
    scan("garbage-to-the-end", "Zero bytes to the end", [first + bytes(50)], [frame(0, one(0)), garbage(70, 50, "bad-length")], "Garbage at the end is no tail: nothing of an entry begins there.")
    scan("short-garbage-to-the-end", "Twelve zero bytes at the end", [first + bytes(12)], [frame(0, one(0)), garbage(70, 12, "bad-length")], "A size of 0 is no tail.")
    scan("short-tail", "Eleven bytes at the end", [first + bytes(11)], [frame(0, one(0)), {"kind": "tail", "at": 70, "length": 11}], "Fewer than 12 bytes tell nothing.")
    bad = batch(record(b"k", b"v"), 1, base=1, magic=3)
    scan("magic-3-between", "A batch of magic 3 between good ones", [first + bad + one(2)[0]], [frame(0, one(0)), garbage(70, 70, "bad-magic"), frame(140, one(2))], lost)


def _scan_pieces(s: CaseBuilder) -> None:
    """§2.4: what looks like an entry where none is, at the places where a search may go astray."""
    def scan(name: str, title: str, chunks: list[bytes], items: list[Any]) -> None:
        s.writer.add({"id": f"{s.prefix}scan/{name}", "title": title, "why": "A search that goes back never ends; one that goes too far loses the entry behind the damage.", "op": "scan", "level": "must", "rules": ["kafka.log.scan"],
                    "input": {"chunks": [c.hex() for c in chunks]}, "expect": {"accept": {"value": {"items": items}}}, "source": {"origin": "builder", "document": "kafka.md §2.4"}})
    raw, value = one(0)
    junk = b"\x7f" * 8 + i32(-1) + b"\x7f" * 24 + b"\x02" + b"\x7f" * 20
    scan("size-too-large-at-20", "A chance magic 20 bytes into garbage, of a size beyond reason", [junk + raw],
         [{"kind": "garbage", "at": 0, "length": 57, "class": "bad-length"}, {"kind": "frame", "at": 57, "length": 70, "value": value}])
    head = i64(0) + i32(-1) + bytes(4) + b"\x02"
    scan("head-of-17-bytes", "A head of size −1 in a piece of its own, then a batch", [head, raw],
         [{"kind": "garbage", "at": 0, "length": 17, "class": "bad-length"}, {"kind": "frame", "at": 17, "length": 70, "value": value}])


def _rare_entries(s: CaseBuilder) -> None:
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


def _log_vectors(s: CaseBuilder) -> None:
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


def _leftover(s: CaseBuilder) -> None:
    """No. 38: a marker with more bytes than are known, and data behind it."""
    key, value = i16(0) + i16(1) + i16(0), i16(1) + i32(5) + i16(0)
    fields = {"attributes": 0x30, "pid": 1000, "pepoch": 0}
    marker = batch(record(key, value), 1, **fields)
    shown = batch_value([record_value(key, value, control=control_value(key, value))], **fields)
    s.accepts("entries/longer-control-then-data", "A marker with longer key and value, then data", marker + one(1)[0], log(shown, one(1)[1]), doc="kafka.md §9 no. 38; §7 K05, K08", rules=("kafka.log.join", "kafka.control.key"),
         needs=["feature:control-batch"], why="What is left of the marker is stepped over: else the next batch begins in the middle of it.")


def _overlaps(logs: CaseBuilder) -> None:
    def pair_at(base, last=None):
        rows = [(record(key_, b"v", off=n), record_value(key_, b"v", off=n, base=base)) for n, key_ in enumerate((b"a", b"b"))]
        return batch(b"".join(r for r, _ in rows), 2, base=base, last=last), batch_value([v for _, v in rows], base=base, last=1 if last is None else last)
    for name, second, remarks in (("overlap-by-one", 6, ("offsets-not-monotonic",)), ("no-overlap", 7, ())):
        entries = [pair_at(5), pair_at(second)]
        logs.accepts(f"entries/{name}", f"Offsets 5 and 6, then {second} and {second + 1}", b"".join(r for r, _ in entries), log(*(v for _, v in entries)), doc="kafka.md §7 I31", rules=("kafka.log.unchecked",),
                remarks=remarks, why="The reader does not compare batches; whoever does counts from the last offset.")
