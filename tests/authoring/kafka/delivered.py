"""Entries of `kafka.log/mixed` that a consumer receives: kafka.md §1.9, with the field reports of §9.

Its options are the offset at which a fetch begins, and the producers whose transactions are aborted.
"""

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
    marker,
    message,
    message_value,
    record,
    record_value,
    two_values,
)  # fmt: skip
from tests.authoring.kafka.log import ctl, log, old, one
from tests.authoring.kafka.message_sets import pair, pair_value


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_isolation, _markers, _aborted, _transactions, _fetched, _offsets, _last_offsets, _both, _skipped, _values, _committed_from):
        chapter(s)


def _accepts(s: CaseBuilder, name: str, title: str, entries: list[Any], left: list[Any], why: str, doc: str, rules: tuple[str, ...], *needs: str, remarks: tuple[str, ...] = (), **options: Any) -> None:
    s.accepts(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc=doc, why=why, rules=rules, needs=["feature:control-batch", *needs], remarks=remarks, options=options)


def committed(*aborted: tuple[int, int]) -> dict[str, Any]:
    listed = {"aborted": [[str(producer), str(first)] for producer, first in aborted]}
    return {"isolation": "read_committed", **(listed if aborted else {})}


def markers(base: int, *kinds: int, pid: int = 1000) -> tuple[bytes, Any]:
    """One control batch of several markers."""
    fields = {"base": base, "attributes": 0x30, "pid": pid, "pepoch": 0}
    raw = b"".join(record(*marker(kind), off=n) for n, kind in enumerate(kinds))
    return batch(raw, len(kinds), **fields), batch_value([record_value(*marker(kind), off=n, base=base, control=control_value(*marker(kind))) for n, kind in enumerate(kinds)], **fields)


def _markers(s: CaseBuilder) -> None:
    """§1.9: only the first record of a control batch is inspected."""
    why, doc = "twmb/franz-go 83131561 panicked on a control batch of two records; Kafka's consumer looks at the first.", "kafka.md §9 no. 22; §7 K09"
    for first, name, left in ((1, "commit", False), (0, "abort", True)):
        entries = [data(0, (b"a",), 1000), markers(1, first, 1 - first), data(3, (b"b",), 1000), ctl(4, 1, 1000)]
        _accepts(s, f"two-markers-{name}-first", f"An aborted transaction, and a control batch whose first marker is {name.upper()}", entries, [entries[2][1]] if left else [], why, doc,
            ("kafka.control.first", "kafka.log.committed"), "feature:read-committed", remarks=("control-record-count",), **committed((1000, 0)))
    only = ctl(9, 1, 1000)
    _accepts(s, "only-control", "A fetch that holds a marker and nothing else", [only], [], "IBM/sarama #1115: the consumer was blocked, for nothing was delivered.", "kafka.md §9 no. 12; §7 W17",
        ("kafka.log.fetch-offset",), "feature:fetch-offset", fetch_offset=9)
    empty = (batch(b"", 0, base=0, attributes=0x30, base_ts=-1, pid=1000, pepoch=0), None)
    _accepts(s, "empty-control", "A control batch that compaction left without its marker, then data", [empty, one(1)], [one(1)[1]], "tulios/kafkajs #1256, KAFKA-7467: there is no first record to look at.", "kafka.md §9 no. 69; §7 W20",
        ("kafka.log.committed",), "feature:read-committed", "feature:empty-batch", **committed((1000, 0)))


def _aborted(s: CaseBuilder) -> None:
    rules, need = ("kafka.log.committed",), "feature:read-committed"
    bare = [ctl(2, 0, 1000), data(3, (b"c",), 1001), ctl(4, 1, 1001), data(5, (b"d",), 1000), ctl(6, 1, 1000)]
    _accepts(s, "aborted-without-records", "An aborted transaction of which compaction left the marker alone", bare, [bare[1][1], bare[3][1]], "librdkafka 140eb1169 lost its place in the list: committed records were dropped.",
        "kafka.md §9 no. 36", rules, need, **committed((1000, 0)))
    rows = [data(0, (b"a", b"b"), 1000), ctl(2, 0, 1000), data(3, (b"c",), 1001), ctl(4, 1, 1001)]
    again = [data(5, (b"a", b"b"), 1000), ctl(7, 0, 1000), data(8, (b"c",), 1001), ctl(9, 1, 1001)]
    _accepts(s, "aborted-twice-unsorted", "The same two transactions twice, the later abort listed first", [*rows, *again], [rows[2][1], again[2][1]], "twmb/franz-go b9b50cce took the list for sorted.", "kafka.md §9 no. 23; §7 X02", rules, need,
        **committed((1000, 5), (1000, 0)))
    _accepts(s, "only-aborted", "A fetch of aborted records and their marker", rows[:2], [], "librdkafka 2b76b6521 reported an error of size where everything was left out.", "kafka.md §9 no. 46", rules, need, **committed((1000, 0)))
    late = [data(5, (b"a",), 1000), ctl(6, 0, 1000), data(7, (b"b",), 1000), ctl(8, 1, 1000)]
    _accepts(s, "aborted-began-before-log", "An aborted transaction whose first batches were deleted, then a committed one", late, [late[2][1]], "kafka4beam/brod #329: a reader that waits for the first offset of the list never finds it.", "kafka.md §1.9", rules, need,
        **committed((1000, 0)))
    at_marker = [data(0, (b"a",), 1001), ctl(1, 0, 1000), data(2, (b"b",), 1000), ctl(3, 1, 1000)]
    _accepts(s, "aborted-begins-at-marker", "An aborted transaction that begins at its own marker, then a committed one", at_marker, [at_marker[0][1], at_marker[2][1]], "librdkafka #2498: without a record before the marker, the reader took the next transaction for the aborted one.", "kafka.md §1.9", rules, need,
        **committed((1000, 1)))
    packed = [(batch(gzip(record(bytes([key]), b"v")), 1, base=base, attributes=0x11, pid=pid, pepoch=0, seq=0), batch_value([record_value(bytes([key]), b"v", base=base)], base=base, attributes=0x11, pid=pid, pepoch=0, seq=0))
              for key, base, pid in ((97, 0, 1000), (99, 2, 1001))]
    _accepts(s, "two-transactions-gzip", "An aborted and a committed transaction, both in gzip", [packed[0], ctl(1, 0, 1000), packed[1], ctl(3, 1, 1001)], [packed[1][1]], "librdkafka b1dbb53fc did not filter compressed batches.",
        "kafka.md §9 no. 37", rules, need, "codec:gzip", **committed((1000, 0)))
    gone = (batch(b"", 0, base=0, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4), None)
    _accepts(s, "committed-empty-batch", "An empty batch, then committed data", [gone, data(4, (b"a",), 1000), ctl(5, 1, 1000)], [data(4, (b"a",), 1000)[1]], "An entry of which nothing is delivered is passed, not waited for.",
        "kafka.md §1.6, §1.9", rules, need, "feature:empty-batch", **committed())


def _fetched(s: CaseBuilder) -> None:
    rules, need = ("kafka.log.fetch-offset",), "feature:fetch-offset"
    value = batch_value(two_values(), attributes=1, max_ts=T + 1)
    _accepts(s, "from-second-gzip", "A fetch from the second of two records in gzip", [(batch(gzip(TWO), 2, attributes=1, max_ts=T + 1), value)], [below(value, 1)],
        "segmentio/kafka-go de5fea3, influxdata/rskafka cffa616: a packed batch begins before the offset that was asked for.", "kafka.md §9 no. 79, 95; §7 W06", rules, need, "codec:gzip", fetch_offset=1)
    gaps = batch(record(b"a", b"1", off=1) + record(b"b", b"2", off=3), 2, base=10, last=5)
    left = batch_value([record_value(b"a", b"1", off=1, base=10), record_value(b"b", b"2", off=3, base=10)], base=10, last=5)
    why = "KAFKA-5443: whoever counts from the last record asks for the same batch for ever."
    _accepts(s, "from-gap-between", "A fetch from 12, which compaction took, of a batch of 11 and 13", [(gaps, left), one(16)], [below(left, 12), one(16)[1]], why, "kafka.md §9 no. 140; §7 W22", rules, need, fetch_offset=12)
    _accepts(s, "from-gap-behind", "A fetch from 14, behind the last record and not behind lastOffsetDelta", [(gaps, left), one(16)], [one(16)[1]], why, "kafka.md §9 no. 140; §7 W22", rules, need, fetch_offset=14)


def _both(s: CaseBuilder) -> None:
    """The fetch offset and the isolation level are independent of each other."""
    rows = [data(0, (b"a", b"b"), 1000), ctl(2, 0, 1000), data(3, (b"c", b"d"), 1001), ctl(5, 1, 1001)]
    rules = ("kafka.log.committed", "kafka.log.fetch-offset")
    needs = ("feature:fetch-offset", "feature:read-committed")
    _accepts(s, "from-inside-aborted", "A fetch of committed records from inside the aborted transaction", rows, [rows[2][1]], "The transaction began below the fetch offset and is aborted all the same.", "kafka.md §1.9", rules, *needs,
        fetch_offset=1, **committed((1000, 0)))
    _accepts(s, "from-inside-committed", "A fetch of committed records from inside the committed transaction", rows, [below(rows[2][1], 4)], "What is committed may still lie below the offset.", "kafka.md §1.9", rules, *needs,
        fetch_offset=4, **committed((1000, 0)))
    _accepts(s, "from-uncommitted", "A fetch of every record: the aborted ones are delivered, the markers are not", rows, [rows[0][1], rows[2][1]], "Isolation decides on data; a marker is no data in either.", "kafka.md §1.9",
        ("kafka.log.aborted", "kafka.log.fetch-offset"), "feature:fetch-offset", fetch_offset=0)


def data(base: int, keys: tuple[bytes, ...], pid: int, attributes: int = 0x10, **more: Any) -> tuple[bytes, Any]:
    """A batch of `keys` by the producer `pid`, transactional unless `attributes` say otherwise."""
    fields = {"base": base, "attributes": attributes, "pid": pid, "pepoch": 0, "seq": 0, **more}
    raw = b"".join(record(key, b"v", off=n) for n, key in enumerate(keys))
    return batch(raw, len(keys), **fields), batch_value([record_value(key, b"v", off=n, base=base) for n, key in enumerate(keys)], **fields)


def below(value: Any, offset: int) -> Any:
    """The batch as it is left once the records below `offset` are gone."""
    return {**value, "records": [row for row in value["records"] if int(row["offset"]) >= offset]}


def _transactions(s: CaseBuilder) -> None:
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
    plain = one(0)
    shifted = [data(1, (b"a",), 1000), ctl(2, 0, 1000), data(3, (b"b",), 1000), ctl(4, 1, 1000), data(5, (b"c",), 1000), ctl(6, 0, 1000)]
    accepts("plain-then-aborted-unsorted", "A plain batch, then two aborted transactions of a producer, the later one listed first", [plain, *shifted], [plain[1], shifted[2][1]], [(1000, 5), (1000, 1)],
       "A client that has read the plain batch gets both transactions in one answer, in this order.", "kafka.md §9 no. 23")
    mixed = [data(1, (b"a",), 1000), data(2, (b"b",), 1001), ctl(3, 0, 1000), data(4, (b"c",), 1001), ctl(5, 0, 1001), data(6, (b"d",), 1000), ctl(7, 1, 1000)]
    accepts("plain-then-two-aborts-interleaved", "A plain batch, then two producers abort, one while the other goes on", [plain, *mixed], [plain[1], mixed[5][1]], [(1000, 1), (1001, 2)],
       "Both transactions are in one answer: a marker ends that of its own producer.")
    empty = [ctl(0, 0, 1000), data(1, (b"a",), 1000), ctl(2, 0, 1000)]
    accepts("abort-unlisted-then-listed", "An aborted transaction of no records, then one with records", empty, [], [(1000, 1)],
       "librdkafka #3369: the marker that is not listed used up the entry of the next transaction.", "kafka.md §1.9")
    accepts("aborted-twice-sorted", "Two aborted transactions of a producer, and a committed one between them", twice, [twice[2][1]], [(1000, 0), (1000, 4)],
       "@platformatic/kafka 2.12.1 keeps one aborted transaction of each producer: the records of the first are delivered.")
    kept = data(0, (b"a",), 1000, last=4)
    accepts("aborted-within-compacted", "The transaction begins behind the last record, within lastOffsetDelta", [kept, ctl(5, 0, 1000)], [], [(1000, 4)],
       "The last offset is that of the header: compaction takes records, not offsets.", "kafka.md §1.9")
    accepts("old-messages", "Messages of v0 and v1 know no transactions", [old(0, 0), old(1, 1)], [old(0, 0)[1], old(1, 1)[1]], [(-1, 0)], "They have no producer id at all.")
    gz = (batch(gzip(record(b"a", b"v")), 1, attributes=0x11, pid=1000, pepoch=0, seq=0), None)
    accepts("aborted-gzip", "An aborted batch in gzip", [gz, ctl(1, 0, 1000)], [], [(1000, 0)], "librdkafka b1dbb53fc did not filter compressed batches.", "kafka.md §9 no. 37")


def _offsets(s: CaseBuilder) -> None:
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


def _last_offsets(s: CaseBuilder) -> None:
    """§1.9: lastOffset is a sum, and the transactional bit is one of several."""
    def accepts(name: str, title: str, entries: list[Any], left: list[Any], aborted: list[list[str]], why: str, *needs: str) -> None:
        s.accepts(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc="kafka.md §1.9", why=why, rules=("kafka.log.committed",),
             needs=["feature:control-batch", "feature:read-committed", *needs], options={"isolation": "read_committed", "aborted": aborted})
    accepts("aborted-at-carry", "A batch of offsets 1 and 2, aborted from 2 on", [data(1, (b"a", b"b"), 1000), ctl(3, 0, 1000)], [], [["1000", "2"]], "Base offset and delta are added.")
    open_ = data(0, (b"a",), 1000)
    for name, title, plain, needs in (
        ("horizon", "with a delete horizon", data(1, (b"b",), 1000, 0x40), ("feature:delete-horizon",)),
        ("gzip", "in gzip", (batch(gzip(record(b"b", b"v")), 1, base=1, attributes=1, pid=1000, pepoch=0, seq=0), batch_value([record_value(b"b", b"v", base=1)], base=1, attributes=1, pid=1000, pepoch=0, seq=0)), ("codec:gzip",)),
    ):
        accepts(f"not-transactional-{name}", f"A plain batch {title} of a producer whose transaction is aborted", [open_, plain, ctl(2, 0, 1000)], [plain[1]], [["1000", "0"]],
           "Only transactional batches are skipped, whatever else the attributes say.", *needs)
    below = data(-200, (b"a",), 1000, 0)
    s.accepts("delivered/committed-below-zero", "A batch at offset −200, and no fetch offset", below[0], log(below[1]), doc="kafka.md §1.9; §7 C28", rules=("kafka.log.committed",), remarks=("offset-negative",), level="should",
         needs=["feature:read-committed"], options={"isolation": "read_committed"}, why="Without a fetch offset nothing lies below it.")


def _isolation(s: CaseBuilder) -> None:
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
    _fetch_offsets(s)


def _fetch_offsets(s: CaseBuilder) -> None:
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


def _skipped(s: CaseBuilder) -> None:
    """§13.3: what is not delivered is not looked at, in Kafka; others look at more of it."""
    fields = {"offset": 11, "attributes": 1, "ts": T + 1}
    second = message(1, b"b", b"2", offset=1, ts=T + 1)
    left = message_value(1, None, None, messages=[message_value(1, b"b", b"2", offset=11, ts=T + 1)], **fields)
    answers = {"refused": {"reject": {"class": "crc-mismatch"}}, "delivered": {"accept": {"value": log(left)}}}
    s.either("delivered/from-behind-wrong-crc", "A fetch from 11 of a wrapper whose message at 10 has a wrong CRC", message(1, None, gzip(message(1, b"a", b"1", crc=0) + second), **fields), answers, doc="kafka.md §13.3",
        rules=("kafka.log.fetch-offset",), needs=["codec:gzip", "feature:wrapper", "feature:fetch-offset"], options={"fetch_offset": 11}, level="may",
        why="Kafka's consumer checks what it delivers and nothing else; a reader that checks all of a set loses no record by that.")
    after = one(2)
    for name, title, raw, attributes, needs in (("records", "a count of 2 over one record", record(b"a", b"v"), 0x10, ()), ("gzip", "two records in what is no gzip", record(b"a", b"v"), 0x11, ("codec:gzip",))):
        gone = batch(raw, 2, attributes=attributes, pid=1000, pepoch=0, seq=0)
        _accepts(s, f"aborted-broken-{name}", f"An aborted batch with {title}, then data", [(gone, None), after], [after[1]], "Nobody was promised these records: a consumer that stops at them stops for good.", "kafka.md §1.9, §13.3",
            ("kafka.log.aborted-records",), "feature:read-committed", *needs, **committed((1000, 0)))


def _values(s: CaseBuilder) -> None:
    """§1.3, §2.1: what a record has beside a key and a value, and what it lacks, reaches the application."""
    null, headers = "kafka.v2.null", ("kafka.v2.headers", "kafka.v2.headers.duplicate", "kafka.v2.headers.null-value")
    need = ("feature:headers",)
    def accepts(name: str, title: str, rows: tuple[Any, ...], why: str, rules: tuple[str, ...], *needs: str, attributes: int = 0) -> None:
        raw = b"".join(record(*row, off=n) for n, row in enumerate(rows))
        last = len(rows)
        packed = batch(gzip(raw) if attributes else raw, last, attributes=attributes)
        value = batch_value([record_value(*row, off=n) for n, row in enumerate(rows)], attributes=attributes)
        s.accepts(f"delivered/{name}", title, packed + one(last)[0], log(value, one(last)[1]), doc="kafka.md §1.3", why=why, rules=rules, needs=list(needs))
    accepts("key-null", "A record without a key, one with an empty key, one with a key", ((None, b"v"), (b"", b"v"), (b"k", b"v")),
            "Most records have no key: a client that leaves them out loses them all, and one that makes them empty sends them to one partition.", (null,))
    accepts("value-null", "A record without a value, one with an empty value, one with a value", ((b"k", None), (b"k", b""), (b"k", b"v")),
            "A record without a value deletes its key: a client that loses it keeps what was deleted.", (null,))
    accepts("headers-two", "A record with two headers, one without, one with another", ((b"k", b"v", ((b"a", b"1"), (b"b", b"2"))), (b"k", b"v"), (b"k", b"v", ((b"c", b"3"),))),
            "Tracing and schemas are in headers.", headers[:1], *need)
    accepts("headers-repeated", "A header three times, another one between", ((b"k", b"v", ((b"h", b"2"), (b"g", b"0"), (b"h", b"1"), (b"h", b"2"))),),
            "tulios/kafkajs #1132 collapsed duplicates: a map has the last one alone.", headers[:2], *need)
    accepts("header-null", "A header without a value, and one with an empty value", ((b"k", b"v", ((b"n", None), (b"e", b""), (b"h", b"1"))),),
            "kafka-python #2004 raised on the null value.", headers[::2], *need)
    accepts("nulls-with-headers", "Headers of a record without a key, of one without a value, of one without both", ((None, b"v", ((b"a", b"1"),)), (b"k", None, ((b"b", None),)), (None, None, ((b"c", b"3"), (b"c", b"4")))),
            "What is null does not end the record.", (null, *headers), *need)
    accepts("nulls-gzip", "A record without a value and one without a key, in gzip", ((b"k", None, ((b"a", b"1"),)), (None, b"v")), "Deletions are compressed as all other records are.", (null, headers[0]), *need, "codec:gzip", attributes=1)
    for magic in (0, 1):
        rows = [(None, b"v"), (b"k", None), (b"k", b"v")]
        raws = b"".join(message(magic, *row, offset=n) for n, row in enumerate(rows))
        s.accepts(f"delivered/nulls-v{magic}", f"v{magic} messages without a key and without a value", raws, log(*(message_value(magic, *row, offset=n) for n, row in enumerate(rows))),
                  doc="kafka.md §2.1", why="Logs that were written before Kafka 0.11 are compacted too.", rules=("kafka.legacy.null",), needs=["feature:mixed-magic"])


def _committed_from(s: CaseBuilder) -> None:
    """The same answer as of `from-inside-committed`, as a broker gives it: from the entry on that holds the offset."""
    rows = [data(3, (b"c", b"d"), 1001), ctl(5, 1, 1001), one(6)]
    _accepts(s, "from-inside-entry-committed", "A fetch of committed records from inside the first batch of the answer", rows, [below(rows[0][1], 4), rows[2][1]],
        "An answer begins at the batch that holds the offset, and what is committed may still lie below it.", "kafka.md §1.9", ("kafka.log.committed", "kafka.log.fetch-offset"), "feature:fetch-offset", "feature:read-committed",
        fetch_offset=4, **committed())
