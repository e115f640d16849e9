"""The edges that small changes of a codec move: kafka.md §1.4, §1.9, §2.1 and the field reports of §8."""

from typing import Any

from book import Book
from kafka_legacy import pair, pair_value
from kafka_log import ctl, log, old, one
from kafka_parts import T, batch, batch_value, gzip, message, message_value, record, record_value
from kafka_shelf import Shelf


def write(book: Book) -> None:
    shelf = Shelf(book, "kafka.log", "mixed")
    _committed(shelf)
    _from(shelf)
    for magic in (0, 1, 2):
        _magic(Shelf(book, "kafka.batch", f"v{magic}"), magic)


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
