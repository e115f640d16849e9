"""`kafka.log/mixed`: kafka.md §1.4, §1.9, §2.4."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import marker
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    gzip,
    i32,
    i64,
    message,
    message_value,
    record,
    record_value,
)
from tests.authoring.kafka.message_sets import pair, pair_value


def write(writer: FixtureWriter) -> None:
    builder = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_joined, _tail, _damaged, _delivered, _scan):
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
    accepts("one", "One batch", [one(0)], "kafka.md §7 W01", "The accepted neighbour.", rules=("kafka.log.join", "kafka.log.crc", "kafka.log.size", "kafka.log.magic.range", "kafka.log.before"))
    accepts("three", "Three batches", [one(0), one(1, b"l"), one(2, b"m")], "kafka.md §7 I26", "IBM/sarama #1022, platformatic/kafka #97: only the first was read.")
    accepts("v0-v1-v2", "A message of each format", [old(0, 0), old(1, 1), one(2)], "kafka.md §6 E29 W39", "The magic stands in each entry: aiokafka takes the first one's for all.",
       rules=("kafka.log.magic",), needs=["feature:mixed-magic"])
    accepts("v2-v0-v2", "A v0 message between batches", [one(0), old(0, 1), one(2)], "kafka.md §7 I32", "kafkajs stops early.", rules=("kafka.log.magic",), needs=["feature:mixed-magic"])
    empty = (batch(b"", 0, base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4), batch_value([], base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4))
    accepts("empty-then-data", "An empty batch, then data", [empty, one(104)], "kafka.md §7 I27", "segmentio/kafka-go #874: the reader was stuck.", needs=["feature:empty-batch"])
    accepts("empty-empty-data", "Two empty batches, then data", [empty, empty, one(104)], "kafka.md §7 I28", "segmentio/kafka-go #1292.", needs=["feature:empty-batch"])
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
    rejects("first-crc", "The first batch is damaged, the second good", bytes(bad) + one(2)[0], "crc-mismatch", "I30", "What follows the damage is not delivered in its place.", ("kafka.log.crc",), at=17, before=log())
    rejects("cut-in-the-middle", "A batch cut, another after it", first[:60] + one(1)[0], "crc-mismatch", "I22", "The cut batch swallows the beginning of the next one.", ("kafka.log.crc",), before=log(),
       also=("bad-magic", "bad-length"))
    rejects("magic-3-in-tail", "Magic 3 in a tail of 17 bytes", first + i64(1) + i32(100) + bytes(4) + b"\x03", "bad-magic", "I18", "Magic is looked at before the size: seven clients call it a tail.", ("kafka.log.magic.range",), at=86)
    rejects("magic-3", "Magic 3 in a whole batch", first + batch(record(b"k", b"v"), 1, base=1, magic=3), "bad-magic", "I15", "Sarama, kafka-python and aiokafka parse it as v2.", ("kafka.log.magic.range",), at=86)


def _delivered(s: CaseBuilder) -> None:
    """The view of a consumer: options of design §4, kafka.md §1.9."""
    def txn(base, keys, pid):
        records = [(record(k, b"v", off=n), record_value(k, b"v", off=n, base=base)) for n, k in enumerate(keys)]
        fields = {"base": base, "attributes": 0x10, "pid": pid, "pepoch": 0, "seq": 0}
        return batch(b"".join(r for r, _ in records), len(records), **fields), batch_value([v for _, v in records], **fields)
    entries = [txn(0, (b"a", b"b"), 1000), ctl(2, 0, 1000), txn(3, (b"c",), 1001), ctl(4, 1, 1001)]
    data = b"".join(d for d, _ in entries)
    s.accepts("delivered/uncommitted", "Two transactions, as they stand", data, log(*(v for _, v in entries)), doc="kafka.md §6 E32 X02", rules=("kafka.log.join", "kafka.log.aborted"),
         needs=["feature:control-batch"], why="The log itself holds the aborted records.")
    again = [txn(0, (b"a",), 1000), ctl(1, 0, 1000), txn(2, (b"b",), 1000), ctl(3, 1, 1000)]
    s.accepts("delivered/commits-after-abort", "One producer aborts, then commits", b"".join(d for d, _ in again), log(again[2][1]), doc="kafka.md §1.9",
         rules=("kafka.log.committed",), needs=["feature:control-batch", "feature:read-committed"],
         options={"isolation": "read_committed", "aborted": [["1000", "0"]]}, why="The ABORT marker ends the exclusion: a producer id that stays excluded loses committed records.")
    def committed(name, title, rows, left, aborted, why):
        s.accepts(f"delivered/{name}", title, b"".join(d for d, _ in rows), log(*(rows[n][1] for n in left)), doc="kafka.md §1.9", rules=("kafka.log.committed",),
             needs=["feature:control-batch", "feature:read-committed"], options={"isolation": "read_committed", "aborted": aborted}, why=why)
    committed("first-offset-inside-batch", "The aborted transaction begins at the second record of its batch", entries, (2,), [["1000", "1"]],
              "The first offset is held against the last one of a batch: against its base offset the whole batch is delivered.")
    both = [txn(0, (b"a",), 1000), txn(1, (b"b",), 1001), ctl(2, 0, 1000), txn(3, (b"c",), 1001), ctl(4, 0, 1001), txn(5, (b"d",), 1000), ctl(6, 1, 1000)]
    committed("two-aborts-interleaved", "Two producers abort, one while the other goes on", both, (5,), [["1000", "0"], ["1001", "1"]],
              "A marker ends the transaction of its own producer: if it ends them all, aborted records are delivered.")
    _fetched(s)


def _fetched(s: CaseBuilder) -> None:
    """A fetch gives whole entries; the first may begin before the offset that was asked for."""
    def fetched(name, title, data, entry, why, *needs):
        s.accepts(f"delivered/{name}", title, data, log(entry), doc="kafka.md §9", rules=("kafka.log.fetch-offset",), needs=["feature:fetch-offset", *needs], options={"fetch_offset": 11}, why=why)
    fields = {"offset": 11, "attributes": 1, "ts": T + 1}
    fetched("fetch-offset-in-wrapper", "Offset 11 of a wrapper of 10 and 11", message(1, None, gzip(pair(1)[0]), **fields), message_value(1, None, None, messages=pair_value(1)[1:], **fields),
            "dpkp/kafka-python #1239: a seek into a compressed set returned the records before it.", "codec:gzip", "feature:wrapper")
    records = record(b"a", b"1") + record(b"b", b"2", off=1)
    fetched("fetch-offset-in-batch", "Offset 11 of a batch of 10 and 11", batch(records, 2, base=10), batch_value([record_value(b"b", b"2", off=1, base=10)], base=10, last=1),
            "influxdata/rskafka cffa616 returned records below the offset that was asked for.")
    fetched("fetch-offset-behind-entries", "A batch and a message below offset 11", one(9)[0] + old(1, 10)[0] + one(11)[0], one(11)[1],
            "Entries of which nothing is left are left out.", "feature:mixed-magic")


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
