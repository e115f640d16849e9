"""The edges that small changes of a codec move: kafka.md §1.4, §1.9, §2.1 and the field reports of §8."""

from typing import Any

from book import Book
from kafka_legacy import pair, pair_value
from kafka_log import ctl, log, old, one
from kafka_parts import T, batch, batch_value, gzip, i32, i64, message, message_value, record, record_value
from kafka_shelf import Shelf


def write(book: Book) -> None:
    shelf = Shelf(book, "kafka.log", "mixed")
    _committed(shelf)
    _from(shelf)
    for magic in (0, 1, 2):
        _magic(Shelf(book, "kafka.batch", f"v{magic}"), magic)
    _varints(Shelf(book, "kafka.batch", "v2"))
    _sizes(shelf)


def data(base: int, keys: tuple[bytes, ...], pid: int, attributes: int = 0x10, **more: Any) -> tuple[bytes, Any]:
    """A batch of `keys` by the producer `pid`, transactional unless `attributes` say otherwise."""
    fields = {"base": base, "attributes": attributes, "pid": pid, "pepoch": 0, "seq": 0, **more}
    raw = b"".join(record(key, b"v", off=n) for n, key in enumerate(keys))
    return batch(raw, len(keys), **fields), batch_value([record_value(key, b"v", off=n, base=base) for n, key in enumerate(keys)], **fields)


def below(value: Any, offset: int) -> Any:
    """The batch as it is left once the records below `offset` are gone."""
    return {**value, "records": [row for row in value["records"] if int(row["offset"]) >= offset]}


def _committed(s: Shelf) -> None:
    """§1.9: before each batch, the aborted transactions with firstOffset ≤ lastOffset enter the set."""
    def ok(name, title, entries, left, aborted, why, doc="kafka.md §1.9"):
        s.ok(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc=doc, why=why, rules=("kafka.log.committed",),
             needs=["feature:control-batch", "feature:read-committed"],
             options={"isolation": "read_committed", "aborted": [[str(pid), str(first)] for pid, first in aborted]})
    txn = [data(0, (b"a", b"b"), 1000), ctl(2, 0, 1000)]
    ok("aborted-at-last-offset", "The aborted transaction begins at the batch's last offset", txn, [], [(1000, 1)],
       "librdkafka 35d091327 was off by one here: an aborted record was delivered.", "kafka.md §8 no. 39")
    ok("aborted-behind-last-offset", "The aborted transaction begins one behind the batch", txn, [txn[0][1]], [(1000, 2)],
       "What came before the aborted transaction is committed data.", "kafka.md §8 no. 39")
    ok("aborted-by-another", "Another producer's transaction is aborted", txn, [txn[0][1]], [(1001, 0)], "The set holds producer ids.")
    ok("not-transactional", "Data outside of transactions by a producer with an aborted one", [data(0, (b"a",), 1000, 0)], [data(0, (b"a",), 1000, 0)[1]],
       [(1000, 0)], "Only transactional batches are skipped.")
    ok("no-producer", "A plain batch while a transaction is aborted", [one(0)], [one(0)[1]], [(1000, 0)], "Most batches belong to no transaction.")
    ok("commit-keeps-the-set", "A COMMIT marker of an aborted producer", [data(0, (b"a",), 1000), ctl(1, 1, 1000), data(2, (b"b",), 1000)], [], [(1000, 0)],
       "An ABORT marker alone takes its producer out of the set.")
    ok("marker-of-another", "An ABORT marker of another producer", [data(0, (b"a",), 1000), ctl(1, 0, 1001), data(2, (b"b",), 1000)], [], [(1000, 0)],
       "A marker ends its own producer's transaction.")
    twice = [data(0, (b"a",), 1000), ctl(1, 0, 1000), data(2, (b"b",), 1000), ctl(3, 1, 1000), data(4, (b"c",), 1000), ctl(5, 0, 1000)]
    ok("aborted-unsorted", "Two aborted transactions of a producer, the later one listed first", twice, [twice[2][1]], [(1000, 4), (1000, 0)],
       "twmb/franz-go b9b50cce took the list for sorted.", "kafka.md §8 no. 23")
    kept = data(0, (b"a",), 1000, last=4)
    ok("aborted-within-compacted", "The transaction begins behind the last record, within lastOffsetDelta", [kept, ctl(5, 0, 1000)], [], [(1000, 4)],
       "The last offset is that of the header: compaction takes records, not offsets.", "kafka.md §1.9")
    ok("old-messages", "Messages of v0 and v1 know no transactions", [old(0, 0), old(1, 1)], [old(0, 0)[1], old(1, 1)[1]], [(-1, 0)], "They have no producer id at all.")
    gz = (batch(gzip(record(b"a", b"v")), 1, attributes=0x11, pid=1000, pepoch=0, seq=0), None)
    ok("aborted-gzip", "An aborted batch in gzip", [gz, ctl(1, 0, 1000)], [], [(1000, 0)], "librdkafka b1dbb53fc did not filter compressed batches.", "kafka.md §8 no. 37")


def _from(s: Shelf) -> None:
    """A fetch begins at an offset; what lies below it in the first entry is not delivered."""
    def ok(name, title, entries, left, offset, why, doc="kafka.md §8 no. 95", needs=()):
        s.ok(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc=doc, why=why, rules=("kafka.log.fetch-offset",),
             needs=["feature:fetch-offset", *needs], options={"fetch_offset": offset})
    two = data(5, (b"a", b"b"), -1, 0, pepoch=-1, seq=-1)
    below_why = "influxdata/rskafka cffa616 returned records below the offset: a consumer reads them twice."
    ok("from-first", "A fetch from the first offset", [two], [two[1]], 5, "All of it was asked for.")
    ok("from-second", "A fetch from the second of two records", [two], [below(two[1], 6)], 6, below_why)
    ok("from-behind", "A fetch from behind the last record", [two, one(7)], [one(7)[1]], 7, below_why)
    ok("from-zero", "A fetch from 0 of a log that begins later", [two], [two[1]], 0, "Nothing lies below it.")
    ok("from-second-message", "A fetch from the second of two messages", [old(0, 3), old(1, 4)], [old(1, 4)[1]], 4, below_why, needs=["feature:mixed-magic"])
    raw = message(1, None, gzip(pair(1)[0]), offset=11, attributes=1, ts=T + 1)
    def left(rows):
        return message_value(1, None, None, offset=11, attributes=1, ts=T + 1, messages=rows)
    seek = "dpkp/kafka-python #1239: a seek into a compressed set returned earlier records."
    wrapper = ("codec:gzip", "feature:wrapper")
    for offset, name, kept in ((10, "first", pair_value(1)), (11, "second", pair_value(1)[1:])):
        ok(f"from-{name}-inner", f"A fetch from the {name} message of a wrapper", [(raw, None)], [left(kept)], offset, seek, "kafka.md §8 no. 59", wrapper)
    ok("from-behind-inner", "A fetch from behind a wrapper", [(raw, None), one(12)], [one(12)[1]], 12, seek, "kafka.md §8 no. 59", (*wrapper, "feature:mixed-magic"))
    ok("from-hides-control", "A control batch is never delivered", [one(0), ctl(1, 1, 1000), one(2)], [one(0)[1], one(2)[1]], 0,
       "segmentio/kafka-go #1332: control records reached the application.", "kafka.md §1.9", ("feature:control-batch",))


def _magic(s: Shelf, magic: int) -> None:
    """An entry of another format than the one that was asked for."""
    twin = ("message/key-and-value", "message/key-and-value", "batch/one-record")[magic]
    others = {0: message(0, b"k", b"v"), 1: message(1, b"k", b"v"), 2: batch(record(b"k", b"v"), 1)}
    for other, raw in others.items():
        if other != magic:
            s.no(f"magic/v{other}-for-v{magic}", f"An entry of v{other} where v{magic} is asked for", raw, "bad-magic", at=16, twin=twin, doc="kafka.md §1.1, §2.1",
                 rules=("kafka.v2.magic",), why="The magic byte alone tells how the rest is to be read.")


INT32_EDGES = (63, 64, 127, 128, 8191, 8192, (1 << 20) - 1, 1 << 20, (1 << 27) - 1, 1 << 27, (1 << 31) - 1)
"""§4: where a zigzag varint of a number above 0 gets a byte longer, and the largest."""

INT64_EDGES = (-1, -64, -65, -8192, -8193, -(1 << 20), -(1 << 20) - 1, (1 << 34) - 1, 1 << 34, (1 << 41) - 1, 1 << 41, (1 << 48) - 1, 1 << 48,
               (1 << 55) - 1, 1 << 55, (1 << 62) - 1, 1 << 62)


def _varints(s: Shelf) -> None:
    why = "A reader that takes one or two bytes the short way must hand over at exactly these numbers."
    doc, rules = "kafka.md §4", ("kafka.v2.varint", "kafka.varint.zigzag")
    def both(name, title, raw, value):
        s.ok(f"varints/{name}", title, raw, value, doc=doc, why=why, rules=rules)
        s.book.add({"id": f"{s.prefix}encode/{name}", "title": f"{title}, written", "why": why, "op": "encode", "level": "must", "rules": ["kafka.v2.encode.varint"],
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
    def no(name, title, field, number):
        value = batch_value([record_value(b"k", b"v")])
        value["records"][0][field] = str(number)
        s.book.add({"id": p + name, "title": title, "why": "A number that does not fit is refused, never cut.", "op": "encode", "level": "must", "rules": ["kafka.v2.encode.range"],
                    "input": {"value": value}, "expect": {"reject": {"class": "invalid-value"}}, "twin": p + "one-record", "source": {"origin": "builder", "document": "kafka.md §1.3"}})
    no("offset-delta-under-int32", "offsetDelta −2^31 − 1", "offsetDelta", -(1 << 31) - 1)
    no("timestamp-delta-under-int64", "timestampDelta −2^63 − 1", "timestampDelta", -(1 << 63) - 1)
    no("offset-delta-far-over-int32", "offsetDelta 2^40", "offsetDelta", 1 << 40)
    no("attributes-over-int8", "Record attributes 128", "attributes", 128)


def _sizes(s: Shelf) -> None:
    """§1.4, steps 1 to 7."""
    first, value = one(0)
    def tail(name, title, raw, doc, why, **more):
        s.ok(f"tail/{name}", title, first + raw, log(value), consumed=70, doc=doc, why=why, rules=("kafka.log.tail",), needs=["feature:partial-tail"], **more)
    torn = "A cut entry ends the reading; what it says of its size cannot be held against it."
    for size, name, doc in ((2147483635, "size-before-overflow", "kafka.md §7 I24"), ((1 << 20), "size-a-mebibyte", "kafka.md §1.4 step 6")):
        tail(name, f"A cut batch of size {size}", i64(1) + i32(size) + i32(0) + b"\x02" + bytes(8), doc, torn)
    for size, name in ((2147483636, "size-at-overflow"), ((1 << 31) - 1, "size-int-max")):
        tail(name, f"A cut batch of size {size}", i64(1) + i32(size) + i32(0) + b"\x02" + bytes(8), "kafka.md §7 I14, I25", torn, remarks=("size-overflow",))
    tail("size-14", "A cut message of size 14, the smallest", old(0, 1)[0][:8] + i32(14) + bytes(4) + b"\x00", "kafka.md §1.4 step 2", torn)
    def no(name, title, raw, cls, at, doc, rule):
        s.no(f"damaged/{name}", title, first + raw, cls, at=at, before=log(value), twin="entries/one", doc=doc, rules=(rule,), why="A size that no entry can have is no tail.")
    no("size-13", "Twelve bytes that tell of a size of 13", i64(1) + i32(13), "bad-length", 78, "kafka.md §1.4 step 2", "kafka.log.size")
    for magic, size in ((1, 21), (2, 48)):
        no(f"size-{size}-magic-{magic}", f"A whole entry of magic {magic} and size {size}", i64(1) + i32(size) + bytes(4) + bytes([magic]) + bytes(size - 5), "bad-length", 78,
           "kafka.md §1.5", "kafka.log.size")
    no("magic-128", "Magic −128 in a tail", i64(1) + i32(100) + bytes(4) + b"\x80", "bad-magic", 86, "kafka.md §1.4 step 5", "kafka.log.magic.range")
