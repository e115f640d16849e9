"""The edges that small changes of a codec move: kafka.md §1.4, §1.9, §2.1 and the field reports of §8."""

import hashlib
from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control, voter
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    framed,
    gzip,
    hexed,
    i8,
    i16,
    i32,
    i64,
    message,
    message_value,
    nullable,
    record,
    record_value,
    varint,
    zstd,
)  # fmt: skip
from tests.authoring.kafka.log import ctl, log, old, one
from tests.authoring.kafka.message_sets import pair, pair_value


def write(writer: FixtureWriter) -> None:
    builder = CaseBuilder(writer, "kafka.log", "mixed")
    _committed(builder)
    _from(builder)
    builders = {magic: CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2)}
    for magic, entries in builders.items():
        _magic(entries, magic)
    _varints(builders[2])
    _kraft(builders[2])
    _packed(builders[2])
    _various(builders[2], builders, builder)
    _sizes(builder)
    _produce(builders[2], builders, builder)
    _scanned(builder)


def data(base: int, keys: tuple[bytes, ...], pid: int, attributes: int = 0x10, **more: Any) -> tuple[bytes, Any]:
    """A batch of `keys` by the producer `pid`, transactional unless `attributes` say otherwise."""
    fields = {"base": base, "attributes": attributes, "pid": pid, "pepoch": 0, "seq": 0, **more}
    raw = b"".join(record(key, b"v", off=n) for n, key in enumerate(keys))
    return batch(raw, len(keys), **fields), batch_value([record_value(key, b"v", off=n, base=base) for n, key in enumerate(keys)], **fields)


def below(value: Any, offset: int) -> Any:
    """The batch as it is left once the records below `offset` are gone."""
    return {**value, "records": [row for row in value["records"] if int(row["offset"]) >= offset]}


def _committed(s: CaseBuilder) -> None:
    """§1.9: before each batch, the aborted transactions with firstOffset ≤ lastOffset enter the set."""
    def accepts(name, title, entries, left, aborted, why, doc="kafka.md §1.9"):
        s.accepts(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc=doc, why=why, rules=("kafka.log.committed",),
             needs=["feature:control-batch", "feature:read-committed"],
             options={"isolation": "read_committed", "aborted": [[str(pid), str(first)] for pid, first in aborted]})
    txn = [data(0, (b"a", b"b"), 1000), ctl(2, 0, 1000)]
    accepts("aborted-at-last-offset", "The aborted transaction begins at the batch's last offset", txn, [], [(1000, 1)],
       "librdkafka 35d091327 was off by one here: an aborted record was delivered.", "kafka.md §9 no. 39")
    accepts("aborted-behind-last-offset", "The aborted transaction begins one behind the batch", txn, [txn[0][1]], [(1000, 2)],
       "What came before the aborted transaction is committed data.", "kafka.md §9 no. 39")
    accepts("aborted-by-another", "Another producer's transaction is aborted", txn, [txn[0][1]], [(1001, 0)], "The set holds producer ids.")
    accepts("not-transactional", "Data outside of transactions by a producer with an aborted one", [data(0, (b"a",), 1000, 0)], [data(0, (b"a",), 1000, 0)[1]],
       [(1000, 0)], "Only transactional batches are skipped.")
    accepts("no-producer", "A plain batch while a transaction is aborted", [one(0)], [one(0)[1]], [(1000, 0)], "Most batches belong to no transaction.")
    accepts("commit-keeps-the-set", "A COMMIT marker of an aborted producer", [data(0, (b"a",), 1000), ctl(1, 1, 1000), data(2, (b"b",), 1000)], [], [(1000, 0)],
       "An ABORT marker alone takes its producer out of the set.")
    accepts("marker-of-another", "An ABORT marker of another producer", [data(0, (b"a",), 1000), ctl(1, 0, 1001), data(2, (b"b",), 1000)], [], [(1000, 0)],
       "A marker ends its own producer's transaction.")
    twice = [data(0, (b"a",), 1000), ctl(1, 0, 1000), data(2, (b"b",), 1000), ctl(3, 1, 1000), data(4, (b"c",), 1000), ctl(5, 0, 1000)]
    accepts("aborted-unsorted", "Two aborted transactions of a producer, the later one listed first", twice, [twice[2][1]], [(1000, 4), (1000, 0)],
       "twmb/franz-go b9b50cce took the list for sorted.", "kafka.md §9 no. 23")
    kept = data(0, (b"a",), 1000, last=4)
    accepts("aborted-within-compacted", "The transaction begins behind the last record, within lastOffsetDelta", [kept, ctl(5, 0, 1000)], [], [(1000, 4)],
       "The last offset is that of the header: compaction takes records, not offsets.", "kafka.md §1.9")
    accepts("old-messages", "Messages of v0 and v1 know no transactions", [old(0, 0), old(1, 1)], [old(0, 0)[1], old(1, 1)[1]], [(-1, 0)], "They have no producer id at all.")
    gz = (batch(gzip(record(b"a", b"v")), 1, attributes=0x11, pid=1000, pepoch=0, seq=0), None)
    accepts("aborted-gzip", "An aborted batch in gzip", [gz, ctl(1, 0, 1000)], [], [(1000, 0)], "librdkafka b1dbb53fc did not filter compressed batches.", "kafka.md §9 no. 37")


def _from(s: CaseBuilder) -> None:
    """A fetch begins at an offset; what lies below it in the first entry is not delivered."""
    def accepts(name, title, entries, left, offset, why, doc="kafka.md §9 no. 95", needs=()):
        s.accepts(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc=doc, why=why, rules=("kafka.log.fetch-offset",),
             needs=["feature:fetch-offset", *needs], options={"fetch_offset": offset})
    two = data(5, (b"a", b"b"), -1, 0, pepoch=-1, seq=-1)
    below_why = "influxdata/rskafka cffa616 returned records below the offset: a consumer reads them twice."
    accepts("from-first", "A fetch from the first offset", [two], [two[1]], 5, "All of it was asked for.")
    accepts("from-second", "A fetch from the second of two records", [two], [below(two[1], 6)], 6, below_why)
    accepts("from-behind", "A fetch from behind the last record", [two, one(7)], [one(7)[1]], 7, below_why)
    accepts("from-zero", "A fetch from 0 of a log that begins later", [two], [two[1]], 0, "Nothing lies below it.")
    accepts("from-second-message", "A fetch from the second of two messages", [old(0, 3), old(1, 4)], [old(1, 4)[1]], 4, below_why, needs=["feature:mixed-magic"])
    raw = message(1, None, gzip(pair(1)[0]), offset=11, attributes=1, ts=T + 1)
    def left(rows):
        return message_value(1, None, None, offset=11, attributes=1, ts=T + 1, messages=rows)
    seek = "dpkp/kafka-python #1239: a seek into a compressed set returned earlier records."
    wrapper = ("codec:gzip", "feature:wrapper")
    for offset, name, kept in ((10, "first", pair_value(1)), (11, "second", pair_value(1)[1:])):
        accepts(f"from-{name}-inner", f"A fetch from the {name} message of a wrapper", [(raw, None)], [left(kept)], offset, seek, "kafka.md §9 no. 59", wrapper)
    accepts("from-behind-inner", "A fetch from behind a wrapper", [(raw, None), one(12)], [one(12)[1]], 12, seek, "kafka.md §9 no. 59", (*wrapper, "feature:mixed-magic"))
    accepts("from-hides-control", "A control batch is never delivered", [one(0), ctl(1, 1, 1000), one(2)], [one(0)[1], one(2)[1]], 0,
       "segmentio/kafka-go #1332: control records reached the application.", "kafka.md §1.9", ("feature:control-batch",))


def _magic(s: CaseBuilder, magic: int) -> None:
    """An entry of another format than the one that was asked for."""
    twin = ("message/key-and-value", "message/key-and-value", "batch/one-record")[magic]
    others = {0: message(0, b"k", b"v"), 1: message(1, b"k", b"v"), 2: batch(record(b"k", b"v"), 1)}
    for other, raw in others.items():
        if other != magic:
            s.rejects(f"magic/v{other}-for-v{magic}", f"An entry of v{other} where v{magic} is asked for", raw, "bad-magic", at=16, twin=twin, doc="kafka.md §1.1, §2.1",
                 rules=("kafka.v2.magic",), why="The magic byte alone tells how the rest is to be read.")


INT32_EDGES = (63, 64, 127, 128, 8191, 8192, (1 << 20) - 1, 1 << 20, (1 << 27) - 1, 1 << 27, (1 << 31) - 1)
"""§4: where a zigzag varint of a number above 0 gets a byte longer, and the largest."""

INT64_EDGES = (-1, -64, -65, -8192, -8193, -(1 << 20), -(1 << 20) - 1, (1 << 34) - 1, 1 << 34, (1 << 41) - 1, 1 << 41, (1 << 48) - 1, 1 << 48,
               (1 << 55) - 1, 1 << 55, (1 << 62) - 1, 1 << 62)


def _varints(s: CaseBuilder) -> None:
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
           "kafka.md §1.5", "kafka.log.size")
    rejects("magic-128", "Magic −128 in a tail", i64(1) + i32(100) + bytes(4) + b"\x80", "bad-magic", 86, "kafka.md §1.4 step 5", "kafka.log.magic.range")


def _produce(s: CaseBuilder, old_shelves: dict[int, CaseBuilder], logs: CaseBuilder) -> None:
    """§1.7: what a broker looks at before it takes a batch."""
    why = "The broker refuses the whole request: nothing of it is stored."
    def accepts(name, title, raw, value, rules, remarks=()):
        s.accepts(f"produce/{name}", title, raw, value, doc="kafka.md §1.7", why="A check that is too strict refuses what brokers take.", rules=rules, remarks=remarks, profile="produce")
    def rejects(name, title, raw, at, rule, twin="produce/good", builder=s, cls="not-permitted", also=("bad-offset", "count-mismatch")):
        builder.rejects(f"produce/{name}", title, raw, cls, at=at, twin=twin, doc="kafka.md §1.7", rules=(rule,), why=why, profile="produce", also=also)
    one_record = record(b"k", b"v")
    count, sequence, append = "kafka.produce.count", "kafka.produce.sequence", "kafka.produce.append-time"
    three = b"".join(record(b"k", b"v", off=n) for n in range(3))
    values = [record_value(b"k", b"v", off=n) for n in range(3)]
    accepts("three-records", "Three records", batch(three, 3), batch_value(values), (count,))
    rejects("range-below-count", "lastOffsetDelta 1 over three records", batch(three, 3, last=1), 23, count)
    rejects("range-above-count", "lastOffsetDelta 3 over three records", batch(three, 3, last=3), 23, count)
    rejects("no-records-last-minus-1", "No record, lastOffsetDelta −1", batch(b"", 0, last=-1), 57, count)
    rejects("base-offset-minus-1", "baseOffset −1", batch(one_record, 1, base=-1), 0, "kafka.produce.base-offset")
    rejects("base-offset-1", "baseOffset 1", batch(one_record, 1, base=1), 0, "kafka.produce.base-offset")
    fields = {"pid": 0, "pepoch": 0, "seq": 0}
    accepts("producer-0", "producerId 0 with sequence 0", batch(one_record, 1, **fields), batch_value([record_value(b"k", b"v")], **fields), (sequence,))
    rejects("producer-0-no-sequence", "producerId 0 without sequence", batch(one_record, 1, pid=0, pepoch=0, seq=-1), 53, sequence)
    fields, timed = {"attributes": 8, "max_ts": T + 5}, (append, "kafka.produce.timestamp-type")
    accepts("append-time", "LogAppendTime with a time", batch(one_record, 1, **fields), batch_value([record_value(b"k", b"v", append=T + 5)], **fields), timed, ("produce-append-time",))
    fields = {"attributes": 8, "max_ts": 0}
    accepts("append-time-0", "LogAppendTime with the time 0", batch(one_record, 1, **fields), batch_value([record_value(b"k", b"v", append=0)], **fields), timed, ("produce-append-time",))
    rejects("append-time-none", "LogAppendTime without a time", batch(one_record, 1, attributes=8, max_ts=-1), 35, append, also=())
    accepts("create-time-none", "No time at all", batch(one_record, 1, base_ts=-1, max_ts=-1), batch_value([record_value(b"k", b"v", base_ts=-1)], base_ts=-1, max_ts=-1), (append,))
    v1 = old_shelves[1]
    v1.accepts("produce/append-time-0", "LogAppendTime with the time 0", message(1, b"k", b"v", attributes=8, ts=0), message_value(1, b"k", b"v", attributes=8, ts=0), doc="kafka.md §1.7",
          why="0 is a time.", rules=timed, remarks=("produce-append-time",), profile="produce")
    v1.accepts("produce/create-time-none", "No time", message(1, b"k", b"v", ts=-1), message_value(1, b"k", b"v", ts=-1), doc="kafka.md §1.7", why="Without the bit there may be none.", rules=(append,), profile="produce")
    rejects("append-time-none", "LogAppendTime without a time", message(1, b"k", b"v", attributes=8, ts=-1), 18, append, "produce/append-time-0", v1, also=())
    raw = gzip(pair(1)[0])
    good = message(1, None, raw, offset=11, attributes=1, ts=T + 1)
    v1.accepts("produce/wrapper", "A wrapper of two messages", good, message_value(1, None, None, offset=11, attributes=1, ts=T + 1, messages=pair_value(1)), doc="kafka.md §1.7",
          why="What 0.10 producers sent.", rules=("kafka.produce.inner-magic", "kafka.produce.wrapper-crc", "kafka.produce.inner-offsets"), remarks=("produce-inner-offsets",), profile="produce", needs=["codec:gzip", "feature:wrapper"])
    rejects("inner-magic", "Messages of v0 in a wrapper of v1", message(1, None, gzip(pair(0)[0]), offset=11, attributes=1, ts=T + 1), 0, "kafka.produce.inner-magic", "produce/wrapper", v1, also=("bad-magic",))
    crc = int.from_bytes(good[12:16], "big") ^ 1
    rejects("wrapper-crc", "A wrong CRC of a wrapper", message(1, None, raw, offset=11, attributes=1, ts=T + 1, crc=crc), 12, "kafka.produce.wrapper-crc", "produce/wrapper", v1, "crc-mismatch", ())
    def request(name, title, entries):
        logs.accepts(f"produce/{name}", title, b"".join(raw for raw, _ in entries), log(*(value for _, value in entries)), doc="kafka.md §1.7", why="What brokers take.",
                rules=("kafka.produce.one-batch", "kafka.produce.one-magic"), profile="produce")
    request("one-batch", "A request of one batch", [one(0)])
    request("two-messages", "A request of two v1 messages", [old(1, 0), old(1, 1)])
    rejects("two-batches", "A request of two batches", one(0)[0] * 2, 140, "kafka.produce.one-batch", "produce/one-batch", logs, also=())
    rejects("two-magics", "A v0 and a v1 message", old(0, 0)[0] + old(1, 0)[0], len(old(0, 0)[0] + old(1, 0)[0]), "kafka.produce.one-magic", "produce/two-messages", logs, also=())


def _scanned(s: CaseBuilder) -> None:
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


def _kraft(s: CaseBuilder) -> None:
    """§1.9: the control records of KRaft's own log; lengths and counts are unsigned varints, one too high."""
    def accepts(name, title, kind, raw, typed, why="A tool that dumps a metadata log shows these.", **more):
        key = i16(0) + i16(kind)
        s.accepts(f"control/{name}", title, batch(record(key, raw), 1, attributes=0x20), batch_value([record_value(key, raw, control=typed)], attributes=0x20),
             doc="kafka.md §1.9", rules=("kafka.control.kraft",), needs=["feature:control-batch"], why=why, **more)
    def opaque(name, title, kind, raw):
        accepts(name, title, kind, raw, control(type=str(kind)), "KRaft's values are opaque to consumers: damage in one hides nothing but itself.", remarks=("control-value",))
    def leader(version, voters, granting):
        return control(type="2", version=str(version), leaderId="7", voters=voters, grantingVoters=granting)
    one_id, two_id = bytes(range(16)), bytes(range(16, 32))
    def voted(number, directory=None, **more):
        return {**voter(str(number)), "directoryId": hexed(directory), **more}
    none = b"\x00"
    accepts("leader-change-two-voters", "LEADER_CHANGE, two voters, none granting", 2, i16(0) + i32(7) + b"\x03" + i32(7) + none + i32(8) + none + b"\x01" + none,
       leader(0, [voted(7), voted(8)], []))
    accepts("leader-change-nulls", "LEADER_CHANGE, null arrays", 2, i16(0) + i32(7) + b"\x00\x00" + none, leader(0, None, None))
    accepts("leader-change-v1", "LEADER_CHANGE of version 1, with directories", 2, i16(1) + i32(7) + b"\x02" + i32(7) + one_id + none + b"\x02" + i32(8) + two_id + none + none,
       leader(1, [voted(7, one_id)], [voted(8, two_id)]))
    tags = b"\x02\x00\x01a\x05\x03bcd"
    accepts("leader-change-tags", "LEADER_CHANGE with tagged fields", 2, i16(0) + i32(7) + b"\x02" + i32(7) + tags + b"\x01" + tags, leader(0, [voted(7)], []))
    accepts("leader-change-v2", "LEADER_CHANGE of version 2, which nobody knows", 2, i16(2) + i32(7), control(type="2", version="2"))
    accepts("leader-change-v-minus-1", "LEADER_CHANGE of version −1", 2, i16(-1) + i32(7), control(type="2", version="-1"))
    accepts("snapshot-header", "SNAPSHOT_HEADER", 3, i16(0) + i64(T) + none, control(type="3", version="0", lastContainedLogTimestamp=str(T)))
    accepts("snapshot-header-v1", "SNAPSHOT_HEADER of version 1", 3, i16(1) + i64(T), control(type="3", version="1"))
    accepts("snapshot-footer", "SNAPSHOT_FOOTER", 4, i16(0) + none, control(type="4", version="0"))
    accepts("snapshot-footer-v1", "SNAPSHOT_FOOTER of version 1", 4, i16(1), control(type="4", version="1"))
    accepts("kraft-version-v1", "KRAFT_VERSION of version 1", 5, i16(1) + i16(1), control(type="5", version="1"))
    ends = b"\x03" + b"\x05CTRL" + b"\x02h" + (65535).to_bytes(2, "big") + none + b"\x02B" + b"\x04abc" + (9092).to_bytes(2, "big") + none
    endpoints = [{"name": b"CTRL".hex(), "host": b"h".hex(), "port": "65535"}, {"name": b"B".hex(), "host": b"abc".hex(), "port": "9092"}]
    first = i32(1) + one_id + ends + i16(0) + i16(1) + none + none
    second = i32(2) + two_id + b"\x01" + i16(0) + i16(-1) + none + none
    accepts("kraft-voters", "KRAFT_VOTERS, two of them", 6, i16(0) + b"\x03" + first + second + none,
       control(type="6", version="0", voters=[voted(1, one_id, endpoints=endpoints, minVersion="0", maxVersion="1"), voted(2, two_id, endpoints=[], minVersion="0", maxVersion="-1")]))
    accepts("kraft-voters-v1", "KRAFT_VOTERS of version 1", 6, i16(1) + b"\x01" + none, control(type="6", version="1"))
    opaque("leader-change-null", "LEADER_CHANGE, null value", 2, None)
    opaque("leader-change-count-past-end", "LEADER_CHANGE of more voters than bytes", 2, i16(0) + i32(7) + b"\x04" + i32(7) + none)
    opaque("snapshot-header-short", "SNAPSHOT_HEADER, cut", 3, i16(0) + i64(T)[:7])
    opaque("snapshot-footer-without-tags", "SNAPSHOT_FOOTER without its count of tags", 4, i16(0))
    opaque("snapshot-footer-tag-past-end", "SNAPSHOT_FOOTER with a tag past the end", 4, i16(0) + b"\x01\x00\x02a")
    opaque("kraft-voters-name-past-end", "KRAFT_VOTERS, a name past the end", 6, i16(0) + b"\x02" + i32(1) + one_id + b"\x02\x40CTRL")


def _packed(s: CaseBuilder) -> None:
    """§3: parts of frames that Kafka's own writer leaves out and every other one may write."""
    one_record, why = record(b"k", b"v"), "Other writers' frames are as good: the layout is that of the codec's own document."
    def accepts(name, title, codec, atom, region, doc, remarks=(), rules=("kafka.v2.codec",)):
        s.accepts(name, title, batch(region, 1, attributes=codec), batch_value([record_value(b"k", b"v")], attributes=codec), doc=doc, rules=rules, needs=[f"codec:{atom}"], why=why, remarks=remarks)
    accepts("gzip/text-flag", "FTEXT, which says nothing", 1, "gzip", gzip(one_record, flags=0x01), "kafka.md §3; RFC 1952 §2.3.1")
    accepts("gzip/reserved-flag-0x20", "The lowest reserved flag", 1, "gzip", gzip(one_record, flags=0x20), "kafka.md §7 X07", ("gzip-reserved-flags",))
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
        value = batch_value([record_value(b"k", noise)], attributes=codec)
        s.writer.add({"id": f"{s.prefix}encode/{atom}-of-noise", "title": f"A value that {atom} cannot make smaller", "why": "Blocks that do not pay are stored as they are: another path of every writer.",
                    "op": "encode", "level": "must", "rules": ["kafka.v2.encode.codec"], "input": {"value": value}, "expect": {"accept": {"value": value}}, "needs": [f"codec:{atom}"],
                    "source": {"origin": "builder", "document": "kafka.md §3"}})


def _various(s: CaseBuilder, builders: dict[int, CaseBuilder], logs: CaseBuilder) -> None:
    key = i16(0) + i16(1)
    for name, raw in (("value-null", None), ("value-empty", b"")):
        s.rejects(f"control/{name}", f"A COMMIT marker, {name.replace('-', ' ')}", batch(record(key, raw), 1, base=9, attributes=0x30, pid=1000, pepoch=0), "bad-control", twin="control/commit",
             doc="kafka.md §7 K06", rules=("kafka.control.value",), needs=["feature:control-batch"], also=("null-not-allowed", "truncated", "length-past-end", "missing-field"),
             why="A marker without an epoch ends no transaction.")
    for base, remarks in ((0, ()), (1, ()), (-1, ("negative-timestamp",))):
        s.accepts(f"timestamps/delete-horizon-{base}".replace("--", "-minus-"), f"A delete horizon of {base}", batch(record(b"k", None, ts=5), 1, attributes=0x40, base_ts=base, max_ts=base + 5),
             batch_value([record_value(b"k", None, ts=5, base_ts=base)], attributes=0x40, base_ts=base, max_ts=base + 5), doc="kafka.md §1.8, §7 C26", rules=("kafka.v2.delete-horizon",),
             needs=["feature:delete-horizon"], remarks=remarks, why="0 is a time.")
    cut = framed(i8(0) + varint(0) * 2 + nullable(b"k") + nullable(b"v") + b"\x80")
    s.rejects("varints/cut-at-record-end", "A varint that would go on in the next record", batch(cut + b"\x01" + record(b"k", b"v", off=1), 2), "length-past-end", twin="batch/two-records",
         doc="kafka.md §1.3, §4", rules=("kafka.v2.field.bounds",), also=("bad-varint", "truncated", "length-mismatch", "count-mismatch"), why="Whoever reads on takes a byte of the next record for this one's.")
    for magic, other in ((0, 1), (1, 0)):
        builder = builders[magic]
        value = message_value(other, b"k", b"v")
        builder.writer.add({"id": f"{builder.prefix}encode/magic-{other}", "title": f"A value of magic {other} to be written as v{magic}", "why": "The format that was asked for is the one that is written.", "op": "encode",
                        "level": "must", "rules": ["kafka.v2.encode.range"], "input": {"value": value}, "expect": {"reject": {"class": "invalid-value", "also": ["bad-magic"]}},
                        "twin": ENCODED[magic], "source": {"origin": "builder", "document": "kafka.md §2.1"}})
    def pair_at(base, last=None):
        rows = [(record(key_, b"v", off=n), record_value(key_, b"v", off=n, base=base)) for n, key_ in enumerate((b"a", b"b"))]
        return batch(b"".join(r for r, _ in rows), 2, base=base, last=last), batch_value([v for _, v in rows], base=base, last=1 if last is None else last)
    for name, second, remarks in (("overlap-by-one", 6, ("offsets-not-monotonic",)), ("no-overlap", 7, ())):
        entries = [pair_at(5), pair_at(second)]
        logs.accepts(f"entries/{name}", f"Offsets 5 and 6, then {second} and {second + 1}", b"".join(r for r, _ in entries), log(*(v for _, v in entries)), doc="kafka.md §7 I31", rules=("kafka.log.unchecked",),
                remarks=remarks, why="The reader does not compare batches; whoever does counts from the last offset.")


ENCODED = {0: "kafka.batch/v0/encode/key-and-value", 1: "kafka.batch/v1/encode/key-and-value"}
