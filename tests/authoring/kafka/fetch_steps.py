"""What a broker returns of its log: `kafka.log/mixed/fetch`, kafka.md §1.15."""

from collections.abc import Sequence
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.steps import (
    Answer,
    Batch,
    Producer,
    Sequences,
    delete,
    fetch,
    idempotent,
    log,
    marker,
    offset_of,
    plain,
    produce,
    refused_fetch,
    refused_session,
    session,
)

OUT, EARLIEST = "OFFSET_OUT_OF_RANGE", -2
INSIDE, RANGE, FIRST = "kafka.fetch.whole-batch", "kafka.fetch.range", "kafka.fetch.first-batch"
CLEANED, DELETED, SESSION = "kafka.fetch.cleaned", "kafka.fetch.deleted", "kafka.fetch.session"
COMPACT = {"cleanup.policy": "compact", "segment.ms": "60000", "min.cleanable.dirty.ratio": "0", "max.compaction.lag.ms": "100"}
LATER = 3_600_000
"""Milliseconds after which a segment ends."""

LIMITED, WAIT = "kafka.fetch.limits", "kafka.fetch.wait"
LONG = "5000"
"""Milliseconds that a broker may wait: every step that it waits for comes long before."""

BIG, SMALL = plain("a" * 400, "b" * 400, "c" * 400), plain("d")


def write(writer: FixtureWriter) -> None:
    cases = Sequences(writer, "fetch", "§1.15", [])
    _offsets(cases)
    _limits(cases)
    _limits_of_two(cases)
    _waits(cases)
    _deleted(cases)
    _cleaned(cases)
    _sessions(cases)


def _offsets(cases: Sequences) -> None:
    first, second = plain("a", "b", "c"), plain("d")
    both = (produce(first, 0), produce(second, 3))
    cases.case(
        "inside-batch", "from an offset inside a batch: the whole batch comes",
        "A batch cannot be divided; a consumer drops the records before its offset.", [INSIDE],
        *both, fetch(4, first.stored(0), second.stored(3), offset=1), fetch(4, first.stored(0), second.stored(3), offset=2),
        fetch(4, second.stored(3), offset=3),
    )  # fmt: skip
    packed = plain("a", "b", "c", codec=1)
    cases.case(
        "inside-compressed", "from an offset inside a compressed batch",
        "A broker that looks for the record must not unpack the batch, nor begin with the next one.", [INSIDE],
        produce(packed, 0), produce(second, 3), fetch(4, packed.stored(0), second.stored(3), offset=2), needs=["codec:gzip"],
    )  # fmt: skip
    cases.case(
        "at-end", "from the end of the log: nothing, and no error", "A consumer that has read all waits there.", [RANGE, INSIDE],
        *both, fetch(4, offset=4), fetch(4, offset=4, isolation="read_committed"),
    )  # fmt: skip
    cases.case("empty-log", "from a log without records", "A consumer may be there before the first producer.", [RANGE], fetch(0), fetch(0, isolation="read_committed"))
    past = "A consumer with such an offset would wait for ever, or read what it has read."
    cases.case("past-end", "from the offset after the end", past, [RANGE], *both, refused_fetch(5, OUT), fetch(4, offset=4), twin="at-end")
    cases.case("far-past-end", "from the largest offset", past, [RANGE], *both, refused_fetch((1 << 63) - 1, OUT), twin="at-end")
    cases.case("before-start", "from the offset -1", past, [RANGE], *both, refused_fetch(-1, OUT), twin="at-end", level="should")


def _limits(cases: Sequences) -> None:
    size = len(BIG.bytes())
    all_of = (BIG.stored(0), SMALL.stored(3))
    both = (produce(BIG, 0), produce(SMALL, 3))
    why = "A consumer with a small limit must be able to go on; the limit is not absolute."
    one = fetch(4, BIG.stored(0), partitionMaxBytes="1")
    cases.case("limit-of-partition", "a limit of one byte for the partition: one batch comes", why, [FIRST], *both, one)
    cases.case("limit-of-response", "a limit of one byte for the response: one batch comes", why, [FIRST], *both, fetch(4, BIG.stored(0), maxBytes="1"))
    cases.case(
        "limit-inside", "from inside a batch, with a limit smaller than it", why, [FIRST, INSIDE],
        *both, fetch(4, BIG.stored(0), offset=2, partitionMaxBytes="100"), fetch(4, SMALL.stored(3), offset=3, partitionMaxBytes="1"),
    )  # fmt: skip
    cases.case(
        "limit-between", "a limit that ends inside the second batch: the first one is whole", why, [FIRST],
        *both, fetch(4, BIG.stored(0), partitionMaxBytes=str(size + 10)), fetch(4, *all_of, partitionMaxBytes=str(size + len(SMALL.bytes()))),
    )  # fmt: skip


def _two(first: Answer, second: Answer, *, partitions: Sequence[tuple[int, int]] = ((0, 0), (1, 0)), **fields: Any) -> Answer:
    """A fetch of two partitions without a session."""
    rows = ({"partition": "0", **first}, {"partition": "1", **second})
    return session(-1, *rows, partitions=partitions, alive=False, **fields)


def _limits_of_two(cases: Sequences) -> None:
    size, small = len(BIG.bytes()), len(SMALL.bytes())
    both = (produce(BIG, 0), produce(SMALL, 0, partition=1))
    filled, empty = log(3, BIG.stored(0)), log(3)
    other, none = log(1, SMALL.stored(0)), log(1)
    why = "A consumer with a small limit for a response has no room for more, and comes back for the rest."
    cases.case(
        "two-limit-of-response", "a limit that the first of two partitions fills", why, [LIMITED],
        *both, _two(filled, none, maxBytes=str(size)), _two(filled, none, maxBytes=str(size + small - 1)), _two(filled, other, maxBytes=str(size + small)),
    )  # fmt: skip
    cases.case(
        "two-limit-passed", "a limit of one byte over two partitions: the first batch of the first one comes, and no other", why, [LIMITED, FIRST],
        *both, _two(filled, none, maxBytes="1"), _two(filled, none, partitionMaxBytes="1"),
    )  # fmt: skip
    cases.case(
        "two-order", "the order of the request decides which of two partitions comes", "A consumer that turns its order around starves none of them.", [LIMITED],
        *both, _two(empty, other, maxBytes="1", partitions=[(1, 0), (0, 0)]), _two(filled, none, maxBytes="1"),
    )  # fmt: skip
    cases.case(
        "two-first-empty", "a limit of one byte, and the first partition has nothing new: the first batch of the second one comes",
        "Else a consumer at the end of one partition would never get on in the other.", [LIMITED, FIRST],
        *both, _two(empty, other, maxBytes="1", partitions=[(0, 3), (1, 0)]), _two(empty, other, partitionMaxBytes="1", partitions=[(0, 3), (1, 0)]),
    )  # fmt: skip
    one = Producer()
    held = one.batch("t", sequence=0)
    cases.case(
        "two-first-open", "a limit of one byte, and all of the first partition is in an open transaction", "For a consumer of committed records it has nothing.",
        [LIMITED, FIRST, "kafka.transaction.stable-offset"],
        one.init(0), one.add(0), one.produce(held, 0), produce(BIG, 0, partition=1),
        _two(log(1, stable=0), log(3, BIG.stored(0)), maxBytes="1", isolation="read_committed"),
        _two(log(1, held.stored(0), stable=0), log(3), maxBytes="1"), one.end(commit=False), needs=["feature:transactions"],
    )  # fmt: skip
    cases.case(
        "two-limit-of-partition", "a limit for each partition that fits the second one only", why, [LIMITED, FIRST],
        *both, produce(SMALL, 3), produce(BIG, 1, partition=1), _two(log(4, BIG.stored(0)), log(4, SMALL.stored(0)), partitionMaxBytes=str(small)),
    )  # fmt: skip


def _waits(cases: Sequences) -> None:
    size, small = len(BIG.bytes()), len(SMALL.bytes())
    first = produce(SMALL, 0)
    ends = {"minBytes": "1", "maxWaitMs": LONG, "meanwhile": "1"}
    why = "A consumer at the end of the log waits for the next record, and gets it at once."
    cases.case(
        "wait", "from the end of the log, until a record comes", why, [WAIT],
        first, fetch(2, SMALL.stored(1), offset=1, **ends), produce(SMALL, 1),
    )  # fmt: skip
    cases.case("wait-empty", "from a log without records, until one comes", why, [WAIT], fetch(1, SMALL.stored(0), **ends), first)
    cases.case(
        "wait-in-vain", "more bytes than there are: what is there comes when the time is over", "Less than it wanted is better for a consumer than nothing.", [WAIT],
        first, fetch(1, SMALL.stored(0), minBytes="100000", maxWaitMs="300"), fetch(1, offset=1, minBytes="1", maxWaitMs="300"),
    )  # fmt: skip
    more = {**ends, "minBytes": str(size + small), "meanwhile": "2"}
    cases.case(
        "wait-bytes", "until there are as many bytes as the consumer wants", "An answer for each record would be an answer for each message of a producer.", [WAIT],
        fetch(4, SMALL.stored(0), BIG.stored(1), **more), first, produce(BIG, 1),
    )  # fmt: skip
    cases.case(
        "wait-bytes-apart", "until there are as many bytes as the consumer wants, of which the last ones come later", "The first record ends no wait for more.",
        [WAIT], fetch(4, SMALL.stored(0), BIG.stored(1), **more), first, produce(BIG, 1, afterMs="300"),
    )  # fmt: skip
    cases.case(
        "wait-first-batch", "a limit of one byte, and a larger batch comes: it is returned whole", "The limit is not absolute after a wait either.", [WAIT, FIRST],
        first, fetch(4, BIG.stored(1), offset=1, maxBytes="1", **ends), produce(BIG, 1),
    )  # fmt: skip
    cases.case(
        "wait-limit", "a limit over two partitions after a wait: the first one fills it", "A limit that is forgotten while a request waits is passed as soon as a consumer is idle.",
        [WAIT, LIMITED], _two(log(3, BIG.stored(0)), log(1), maxBytes=str(size + 1), **{**more, "minBytes": str(size + 1)}),
        produce(SMALL, 0, partition=1), produce(BIG, 0), _two(log(3, BIG.stored(0)), log(1, SMALL.stored(0))),
    )  # fmt: skip
    cases.case(
        "wait-second", "two partitions, of which the second gets a record", why, [WAIT, LIMITED],
        first, _two(log(1), log(1, SMALL.stored(0)), partitions=[(0, 1), (1, 0)], maxBytes="1", **ends), produce(SMALL, 0, partition=1),
    )  # fmt: skip
    one = Producer()
    sent = one.batch("t", sequence=0)
    for name, commit in (("committed", True), ("aborted", False)):
        entries = (sent.stored(0), marker("commit" if commit else "abort", 1, one.number))
        cases.case(
            f"wait-{name}", f"for committed records, until the transaction is {name}", "A record of an open transaction ends no wait for committed ones.",
            [WAIT, "kafka.transaction.stable-offset"],
            one.init(0), one.add(0),
            fetch(2, *entries, isolation="read_committed", aborted=() if commit else [("7001", "0")], **{**ends, "meanwhile": "2"}),
            one.produce(sent, 0), one.end(commit=commit), needs=["feature:transactions"],
        )  # fmt: skip


def _deleted(cases: Sequences) -> None:
    needs = ["feature:delete-records"]
    first, second = plain("a", "b", "c"), plain("d")
    both = (produce(first, 0), produce(second, 3))
    cases.case(
        "deleted", "records are deleted: the log begins later", "An offset stays that of its record.", [DELETED],
        *both, delete(3, 3), fetch(4, second.stored(3), offset=3, start=3), offset_of(EARLIEST, 3), needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-before", "from an offset that is deleted", "A consumer must know that it has missed records.", [DELETED, RANGE],
        *both, delete(3, 3), refused_fetch(2, OUT), refused_fetch(0, OUT), fetch(4, second.stored(3), offset=3, start=3), twin="deleted",
        needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-inside-batch", "the log begins inside a batch", "The batch stays whole; what is before the beginning is not asked for.",
        [DELETED, INSIDE], *both, delete(1, 1), fetch(4, first.stored(0), second.stored(3), offset=1, start=1), offset_of(EARLIEST, 1), needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-inside-batch-before", "from before the beginning, which is inside a batch",
        "The record is still in the file, but it is deleted.", [DELETED, RANGE],
        *both, delete(1, 1), refused_fetch(0, OUT), twin="deleted-inside-batch", needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-all", "all records are deleted: offsets go on", "A new record must not get the offset of an old one.", [DELETED],
        *both, delete(-1, 4), fetch(4, offset=4, start=4), produce(second, 4), fetch(5, second.stored(4), offset=4, start=4), needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-past-end", "records past the end cannot be deleted", "Records that come later would be lost.", [DELETED],
        *both, delete(5, OUT), fetch(4, first.stored(0), second.stored(3)), twin="deleted-all", needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-back", "the beginning of a log does not go back", "Records do not come back.", [DELETED],
        *both, delete(3, 3), delete(1, 3), fetch(4, second.stored(3), offset=3, start=3), needs=needs, level="should",
    )  # fmt: skip


def _cleaned(cases: Sequences) -> None:
    needs = ["feature:compaction", "feature:idempotent"]
    first = idempotent("1", "2", sequence=0, keys=("a", "b"))
    second = idempotent("3", "4", sequence=2, keys=("a", "c"))
    last = plain("z", keys=("z",), shift=LATER)
    kept = (first.stored(0, kept=[1]), second.stored(2), last.stored(4))
    cases.case(
        "cleaned", "a cleaned batch keeps its first and last offset, its sequence, and the offsets of its records",
        "A consumer goes on from its offset, and a restarted broker knows its producers.", [CLEANED],
        produce(first, 0), produce(second, 2), produce(last, 4), fetch(5, *kept, compacted="4"),
        fetch(5, *kept, offset=1), topic=COMPACT, needs=needs,
    )  # fmt: skip
    alone = Batch(("1",), 1000, 0, 0, keys=("a",))
    newer = plain("2", keys=("a",))
    end = plain("z", keys=("z",), shift=LATER)
    empty = alone.stored(0, kept=[])
    emptied = {"either": {"kept": log(3, empty, newer.stored(1), end.stored(2)), "dropped": log(3, newer.stored(1), end.stored(2))}}
    cases.case(
        "cleaned-empty", "the last batch of a producer is empty after cleaning: it may stay for its sequence, and the producer is known",
        "Without it a retry would be stored again.", [CLEANED, "kafka.state.deleted"],
        produce(alone, 0), produce(newer, 1), produce(end, 2),
        {**fetch(3, compacted="2"), "expect": emptied}, produce(alone, 0), topic=COMPACT, needs=needs, level="should",
    )  # fmt: skip
    dead = plain("1", None, keys=("b", "a"))
    waits = {key: part for key, part in dead.stored(0, kept=[1]).items() if key != "baseTimestamp"} | {"deleteHorizon": True}
    cases.case(
        "cleaned-tombstone", "a record without a value is left by cleaning, and its batch gets the time at which it is deleted",
        "A consumer that is behind must see that the key is gone.", [CLEANED, "kafka.v2.delete-horizon"],
        produce(dead, 0), produce(plain("2", keys=("b",)), 2), produce(plain("z", keys=("z",), shift=LATER), 3),
        fetch(4, waits, plain("2", keys=("b",)).stored(2), end.stored(3), compacted="3"),
        topic=COMPACT, needs=["feature:compaction"], level="should",
    )  # fmt: skip
    timed, newest = plain("1", "2", "3", keys=("a", "b", "c"), deltas=(0, 7, 3)), plain("4", keys=("a",))
    cases.case(
        "cleaned-base-timestamp", "a batch whose first record was cleaned away has the time of the next one as its base",
        "A reader computes the times of all records that are left from it.",
        [CLEANED, "kafka.v2.timestamp.cleaned"],
        produce(timed, 0), produce(newest, 3), produce(plain("z", keys=("z",), shift=LATER), 4),
        fetch(5, timed.stored(0, kept=[1, 2]), newest.stored(3), end.stored(4), compacted="4"),
        topic=COMPACT, needs=["feature:compaction"], level="should",
    )  # fmt: skip
    gone = plain("1", keys=("a",))
    cases.case(
        "cleaned-gap", "from the offset of a record that is gone: the next one comes",
        "An offset without a record is no error, unlike one outside the log.", [CLEANED, RANGE],
        produce(gone, 0), produce(plain("2", keys=("b",)), 1), produce(newer, 2), produce(end, 3),
        fetch(4, plain("2", keys=("b",)).stored(1), newer.stored(2), end.stored(3), compacted="3"),
        topic=COMPACT, needs=["feature:compaction"],
    )  # fmt: skip


def _sessions(cases: Sequences) -> None:
    needs = ["feature:fetch-session"]
    sent = plain("a")
    of = {0: log(1, sent.stored(0)), 1: log(0)}
    begins = session(0, *({"partition": str(number), **answer} for number, answer in of.items()), partitions=[(0, 0), (1, 0)])
    written = {"partition": "1", **log(1, sent.stored(0))}
    why = "A consumer of thousands of partitions gets those that have something new."
    opened = (produce(sent, 0), begins, session(1, partitions=[(0, 1)]))
    cases.case(
        "session", "an incremental session answers with the partitions that have changed", why, [SESSION],
        *opened, session(2), produce(sent, 0, partition=1), session(3, written), needs=needs,
    )  # fmt: skip
    cases.case(
        "session-forget", "a partition that was taken out of the session is not answered any more", why, [SESSION],
        *opened, session(2, forget=["1"]), produce(sent, 0, partition=1), session(3), needs=needs,
    )  # fmt: skip
    lost = "A request was lost or came twice: the two sides do not know the same offsets any more."
    cases.case(
        "session-epoch", "a request of a session with another epoch", lost, [SESSION],
        *opened, refused_session(3, "INVALID_FETCH_SESSION_EPOCH"), session(2), twin="session", needs=needs,
    )  # fmt: skip
    cases.case(
        "session-epoch-again", "the same request of a session twice", lost, [SESSION],
        *opened, refused_session(1, "INVALID_FETCH_SESSION_EPOCH"), session(2), twin="session", needs=needs,
    )  # fmt: skip
    cases.case(
        "session-unknown", "a session that does not exist", "The broker has dropped it, or another one leads the partition.", [SESSION],
        *opened, refused_session(2, "FETCH_SESSION_ID_NOT_FOUND", otherSession="1"), twin="session", needs=needs,
    )  # fmt: skip
    full = session(-1, {"partition": "0", **of[0]}, partitions=[(0, 0)], alive=False)
    cases.case(
        "session-closed", "a session after its end", "The broker need not keep it.", [SESSION],
        *opened, full, refused_session(2, "FETCH_SESSION_ID_NOT_FOUND"), twin="session", needs=needs,
    )  # fmt: skip
