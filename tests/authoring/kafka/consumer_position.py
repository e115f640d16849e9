"""Where a consumer goes on, and which sequences a broker expects: kafka.md §1.1, §1.6, §1.10.

The next offset and the sequences are derived fields (`tests.authoring.derived_fields`).
"""

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import T, batch, batch_value, record, record_value
from tests.authoring.kafka.log import log, one


def write(writer: FixtureWriter) -> None:
    """Add the cases."""
    _batches(CaseBuilder(writer, "kafka.batch", "v2"))
    _logs(CaseBuilder(writer, "kafka.log", "mixed"))


def _batches(s: CaseBuilder) -> None:
    fields = {"base": 10, "last": 5, "max_ts": T, "pid": 1000, "pepoch": 0}
    rows = [record_value(key, b"v", off=off, base=10) for key, off in ((b"a", 1), (b"b", 3))]
    data = record(b"a", b"v", off=1) + record(b"b", b"v", off=3)
    for name, title, first, rule in (
        ("sequence-gap", "Compaction left sequences 6 and 8 of 5 to 10", 5, "sequence"),
        ("sequence-wraps-gap", "Compaction left the sequences 2147483647 and 1", 0x7FFFFFFE, "sequence.wrap"),
    ):
        s.accepts(
            f"batch/{name}",
            title,
            batch(data, 2, seq=first, **fields),
            batch_value(rows, seq=first, **fields),
            doc="kafka.md §1.10",
            rules=(f"kafka.v2.{rule}", "kafka.v2.last-offset"),
            why="A sequence is counted by offset deltas: a reader that counts records is wrong behind a gap.",
        )


def _logs(s: CaseBuilder) -> None:
    empty = {"base": 1, "last": 3, "base_ts": -1, "pid": 1000, "pepoch": 0, "seq": 4}
    gap = {"base": 1, "last": 5}
    for name, title, last, rule, needs in (
        (
            "data-then-empty",
            "A batch, then an empty one of four offsets",
            (batch(b"", 0, **empty), batch_value([], **empty)),
            "kafka.v2.empty",
            ["feature:empty-batch"],
        ),
        (
            "gap-at-the-end",
            "Compaction left one record of the six at the end",
            (batch(record(b"k", b"v"), 1, **gap), batch_value([record_value(b"k", b"v", base=1)], **gap)),
            "kafka.v2.last-offset",
            [],
        ),
    ):
        s.accepts(
            f"entries/{name}",
            title,
            one(0)[0] + last[0],
            log(one(0)[1], last[1]),
            doc="kafka.md §1.1, §1.6",
            rules=("kafka.log.join", rule),
            needs=needs,
            why="segmentio/kafka-go #874, KAFKA-5443: a reader that goes on after its last record never passes the end.",
        )
