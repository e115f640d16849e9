"""The delivered view further: kafka.md §1.9 and the field reports of §9 that need it.

Its options are the offset at which a fetch begins, and the producers whose transactions are aborted.
"""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import TWO, marker, two_values
from tests.authoring.kafka.boundary_values import below, data
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import T, batch, batch_value, gzip, record, record_value
from tests.authoring.kafka.log import ctl, log, one


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_markers, _aborted, _fetched, _both):
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
    """Where a fetch begins and what is committed are asked apart."""
    rows = [data(0, (b"a", b"b"), 1000), ctl(2, 0, 1000), data(3, (b"c", b"d"), 1001), ctl(5, 1, 1001)]
    rules = ("kafka.log.committed", "kafka.log.fetch-offset")
    needs = ("feature:fetch-offset", "feature:read-committed")
    _accepts(s, "from-inside-aborted", "A fetch of committed records from inside the aborted transaction", rows, [rows[2][1]], "The transaction began below the fetch offset and is aborted all the same.", "kafka.md §1.9", rules, *needs,
        fetch_offset=1, **committed((1000, 0)))
    _accepts(s, "from-inside-committed", "A fetch of committed records from inside the committed transaction", rows, [below(rows[2][1], 4)], "What is committed may still lie below the offset.", "kafka.md §1.9", rules, *needs,
        fetch_offset=4, **committed((1000, 0)))
    _accepts(s, "from-uncommitted", "A fetch of every record: the aborted ones are delivered, the markers are not", rows, [rows[0][1], rows[2][1]], "Isolation decides on data; a marker is no data in either.", "kafka.md §1.9",
        ("kafka.log.aborted", "kafka.log.fetch-offset"), "feature:fetch-offset", fetch_offset=0)
