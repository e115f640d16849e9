"""Transactions on a broker: `kafka.log/mixed/transaction` and `transaction-v2`, kafka.md §1.14."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.fetch_steps import COMPACT, LATER
from tests.authoring.kafka.steps import (
    APPENDED,
    GZIP,
    OLD_EPOCH,
    TOO_EARLY,
    Batch,
    Producer,
    Sequences,
    fetch,
    marker,
    offset_at,
    offset_of,
    plain,
    produce,
)

COMMITTED: dict[str, Any] = {"isolation": "read_committed"}
A, B = Producer(7001, "a"), Producer(7002, "b")
FENCED, BAD_STATE, WRONG_ID = "PRODUCER_FENCED", "INVALID_TXN_STATE", "INVALID_PRODUCER_ID_MAPPING"
LATEST = -1
APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}

ATOMIC = "Either all records of a transaction are seen or none of them is."
HELD = "A consumer of committed records must not pass a transaction whose end is open."
ZOMBIE = "An older instance of a producer must not write into the transaction of its successor."
LATE = "A message that was delayed in the network must not become part of the next transaction."

END, STABLE, ABORTED = "kafka.transaction.end", "kafka.transaction.stable-offset", "kafka.transaction.aborted"
FENCING, STATE, MEMBER = "kafka.transaction.fencing", "kafka.transaction.state", "kafka.transaction.member"
BUMP, IMPLICIT, INIT = "kafka.transaction.v2-epoch", "kafka.transaction.v2-partition", "kafka.transaction.init"


def write(writer: FixtureWriter) -> None:
    cases = Sequences(writer, "transaction", "§1.14", ["feature:transactions"])
    _ends(cases)
    _stable_offset(cases)
    _states(cases)
    _fencing(cases)
    _append_time(cases)
    _cleaned(cases)
    newer = Sequences(writer, "transaction-v2", "§1.14", ["feature:transactions-v2"])
    _second_version(newer)


def _ends(cases: Sequences) -> None:
    sent = A.batch("a", "b", sequence=0)
    begun = (A.init(0), A.add(0), A.produce(sent, 0))
    cases.case(
        "commit", "a transaction is committed", ATOMIC, [END, STABLE],
        *begun, fetch(2, stable=0, **COMMITTED), A.end(commit=True),
        fetch(3, sent.stored(0), marker("commit", 2, A.number), until="3", **COMMITTED),
    )  # fmt: skip
    cases.case(
        "abort", "a transaction is aborted: the answer names it", ATOMIC, [END, ABORTED],
        *begun, A.end(commit=False),
        fetch(3, sent.stored(0), marker("abort", 2, A.number), until="3", aborted=[("7001", "0")], **COMMITTED),
        fetch(3, sent.stored(0), marker("abort", 2, A.number)),
    )  # fmt: skip
    cases.case(
        "open", "all records of an open transaction are there for a consumer of uncommitted ones", HELD, [STABLE],
        *begun, fetch(2, sent.stored(0), stable=0), fetch(2, stable=0, **COMMITTED), A.end(commit=False),
    )  # fmt: skip
    other = A.batch("c", sequence=0)
    cases.case(
        "two-partitions", "a transaction over two partitions: each gets a marker", ATOMIC, [END],
        A.init(0), A.add(0, 1), A.produce(sent, 0), A.produce(other, 0, partition=1), A.end(commit=True),
        fetch(3, sent.stored(0), marker("commit", 2, A.number), until="3", **COMMITTED),
        fetch(2, other.stored(0), marker("commit", 1, A.number), partition="1", until="2", **COMMITTED),
    )  # fmt: skip
    cases.case(
        "two-partitions-abort", "a transaction over two partitions is aborted", ATOMIC, [END, ABORTED],
        A.init(0), A.add(0), A.produce(sent, 0), A.add(1), A.produce(other, 0, partition=1), A.end(commit=False),
        fetch(3, sent.stored(0), marker("abort", 2, A.number), until="3", aborted=[("7001", "0")], **COMMITTED),
        fetch(2, other.stored(0), marker("abort", 1, A.number), partition="1", until="2", aborted=[("7001", "0")], **COMMITTED),
    )  # fmt: skip
    cases.case(
        "nothing-written", "a partition that was added and not written to gets a marker, and no aborted transaction",
        "A marker without records changes nothing for a consumer.", [END, ABORTED],
        A.init(0), A.add(0), A.end(commit=False), fetch(1, marker("abort", 0, A.number), until="1", **COMMITTED),
        offset_of(LATEST, 1, **COMMITTED), level="should",
    )  # fmt: skip
    again, second = A.batch("c", sequence=2), A.batch("d", sequence=3)
    cases.case(
        "two-in-a-row", "two transactions one after the other: the sequences go on",
        "The second transaction of a producer is not the first one again.", [END, ABORTED],
        *begun, A.end(commit=False), A.add(0), A.produce(again, 3), A.produce(second, 4), A.end(commit=True),
        fetch(6, sent.stored(0), marker("abort", 2, A.number), again.stored(3), second.stored(4), marker("commit", 5, A.number),
              until="6", aborted=[("7001", "0")], **COMMITTED),
        fetch(6, again.stored(3), second.stored(4), marker("commit", 5, A.number), offset=3, **COMMITTED),
    )  # fmt: skip
    cases.case(
        "duplicate", "a batch of a transaction twice", "A retry inside a transaction is a retry as any other.",
        ["kafka.state.duplicate", END],
        *begun, A.produce(sent, 0), A.end(commit=True), fetch(3, sent.stored(0), marker("commit", 2, A.number), until="3", **COMMITTED),
    )  # fmt: skip
    cases.case(
        "gap", "a sequence is left out in a transaction", "Records that are missing would be committed as lost.",
        ["kafka.state.gap"],
        *begun, A.produce(second, TOO_EARLY), A.end(commit=False),
        fetch(3, sent.stored(0), marker("abort", 2, A.number), until="3", aborted=[("7001", "0")], **COMMITTED), twin="two-in-a-row",
    )  # fmt: skip


def _stable_offset(cases: Sequences) -> None:
    a, b = A.batch("a", sequence=0), B.batch("b", sequence=0)
    both = (A.init(0), B.init(0), A.add(0), B.add(0), A.produce(a, 0), B.produce(b, 1))
    entries = (a.stored(0), b.stored(1), marker("commit", 2, B.number))
    cases.case(
        "first-open", "the later of two transactions ends first: the stable offset stays", HELD, [STABLE],
        *both, B.end(commit=True), fetch(3, *entries, until="3", stable=0), fetch(3, stable=0, **COMMITTED),
        A.end(commit=True), fetch(4, *entries, marker("commit", 3, A.number), until="4", **COMMITTED),
    )  # fmt: skip
    cases.case(
        "interleaved", "of two interleaved transactions one is aborted: only that one is named", ATOMIC, [ABORTED, STABLE],
        *both, B.end(commit=True), fetch(3, *entries, until="3", stable=0), A.end(commit=False),
        fetch(4, *entries, marker("abort", 3, A.number), until="4", aborted=[("7001", "0")], **COMMITTED),
    )  # fmt: skip
    cases.case(
        "two-open", "two transactions are open: the stable offset is that of the first one", HELD, [STABLE],
        *both, fetch(2, stable=0, **COMMITTED), fetch(2, a.stored(0), b.stored(1), stable=0), A.end(commit=False), B.end(commit=False),
    )  # fmt: skip
    free = plain("x")
    cases.case(
        "plain-behind", "a record without a transaction behind an open one waits too", HELD, [STABLE],
        A.init(0), A.add(0), A.produce(a, 0), produce(free, 1),
        fetch(2, stable=0, **COMMITTED), fetch(2, stable=0, offset=1, **COMMITTED), fetch(2, a.stored(0), free.stored(1), stable=0),
        offset_of(LATEST, 0, **COMMITTED), offset_of(LATEST, 2),
        A.end(commit=True), fetch(3, a.stored(0), free.stored(1), marker("commit", 2, A.number), until="3", **COMMITTED),
        offset_of(LATEST, 3, **COMMITTED),
    )  # fmt: skip
    cases.case(
        "plain-before", "a record without a transaction before an open one is there", HELD, [STABLE],
        produce(free, 0), A.init(0), A.add(0), A.produce(a, 1), fetch(2, free.stored(0), stable=1, **COMMITTED),
        offset_of(LATEST, 1, **COMMITTED), A.end(commit=False),
        fetch(3, free.stored(0), a.stored(1), marker("abort", 2, A.number), until="3", aborted=[("7001", "1")], **COMMITTED),
    )  # fmt: skip
    more = A.batch("c", sequence=1)
    cases.case(
        "aborted-range", "a fetch behind an aborted transaction does not name it",
        "A consumer would drop records of a later, committed transaction of the same producer.", [ABORTED],
        A.init(0), A.add(0), A.produce(a, 0), A.end(commit=False), fetch(2, a.stored(0), marker("abort", 1, A.number), until="2"),
        A.add(0), A.produce(more, 2), A.end(commit=False), fetch(4, more.stored(2), marker("abort", 3, A.number), until="4", offset=2),
        fetch(4, more.stored(2), marker("abort", 3, A.number), offset=2, aborted=[("7001", "2")], **COMMITTED),
        fetch(4, marker("abort", 3, A.number), offset=3, aborted=[("7001", "2")], **COMMITTED),
        fetch(4, a.stored(0), marker("abort", 1, A.number), more.stored(2), marker("abort", 3, A.number),
              aborted=[("7001", "0"), ("7001", "2")], **COMMITTED),
    )  # fmt: skip


def _states(cases: Sequences) -> None:
    sent = A.batch("a", sequence=0)
    begun = (A.init(0), A.add(0), A.produce(sent, 0))
    done = fetch(2, sent.stored(0), marker("commit", 1, A.number), until="2", **COMMITTED)
    cases.case(
        "commit-twice", "the same commit again: accepted, and one marker",
        "The first answer may be lost; a client that gets an error would abort what is committed.", [STATE],
        *begun, A.end(commit=True), done, A.end(commit=True), done, level="should",
    )  # fmt: skip
    cases.case(
        "abort-after-commit", "an abort after the commit", ATOMIC, [STATE],
        *begun, A.end(commit=True), done, A.end(commit=False, error=BAD_STATE), done, twin="commit-twice",
    )  # fmt: skip
    cases.case(
        "commit-after-abort", "a commit after the abort", ATOMIC, [STATE],
        *begun, A.end(commit=False), fetch(2, sent.stored(0), marker("abort", 1, A.number), until="2"),
        A.end(commit=True, error=BAD_STATE), fetch(2, sent.stored(0), marker("abort", 1, A.number)), twin="abort",
    )  # fmt: skip
    cases.case(
        "nothing-to-end", "a commit without a transaction", "There is nothing that could be committed.", [STATE],
        A.init(0), A.end(commit=True, error=BAD_STATE), fetch(0), twin="commit", level="should",
    )  # fmt: skip
    cases.case(
        "not-added", "a batch for a partition that is not part of the transaction",
        "Without a marker the stable offset would never move again.", [MEMBER],
        A.init(0), A.add(1), A.produce(sent, {"either": {"state": {"error": BAD_STATE}, "abortable": {"error": "TRANSACTION_ABORTABLE"}}}),
        A.end(commit=False), fetch(0, until="0", **COMMITTED), twin="commit",
    )  # fmt: skip
    outside = A.batch("x", sequence=1, transactional=False)
    cases.case(
        "plain-inside", "a batch of the producer without the transactional bit while its transaction is open",
        "It would be seen whatever the end of the transaction is.", [MEMBER],
        *begun, produce(outside, BAD_STATE), A.end(commit=True), done, twin="commit", level="should",
    )  # fmt: skip
    cases.case(
        "other-id", "the end of a transaction with another producer id", ZOMBIE, [FENCING],
        *begun, A.end(commit=True, error=WRONG_ID, number=990_001), A.end(commit=True), done, twin="commit",
    )  # fmt: skip
    cases.case(
        "other-id-added", "a partition for another producer id", ZOMBIE, [FENCING],
        A.init(0), A.add(0, error=WRONG_ID, number=990_001), fetch(0), twin="commit",
    )  # fmt: skip


def _fencing(cases: Sequences) -> None:
    sent, late = A.batch("a", sequence=0), A.batch("z", sequence=1)
    newer: dict[str, Any] = {"either": {"once": {"producerEpoch": "1"}, "twice": {"producerEpoch": "2"}}}
    aborted = fetch(2, sent.stored(0), marker("abort", 1, A.number, epoch=1), until="2", aborted=[("7001", "0")], **COMMITTED)
    begun = (A.init(0), A.add(0), A.produce(sent, 0), A.init(newer), aborted)
    cases.case(
        "fencing", "a new producer with the same transactional id aborts the open transaction",
        "The older instance may be dead, and its transaction open for ever.", [FENCING, ABORTED], *begun, level="should",
    )  # fmt: skip
    cases.case(
        "fenced-produce", "the older instance writes on", ZOMBIE, [FENCING, "kafka.state.epoch-back"],
        *begun, A.produce(late, {"either": {"epoch": {"error": OLD_EPOCH}, "fenced": {"error": FENCED}}}), aborted, twin="fencing",
    )  # fmt: skip
    either = {"either": {"fenced": {"error": FENCED}, "epoch": {"error": OLD_EPOCH}}}
    ended = {**A.end(commit=True), "expect": either}
    added = {**A.add(0), "expect": either}
    cases.case("fenced-commit", "the older instance commits", ZOMBIE, [FENCING], *begun, ended, aborted, twin="fencing")
    cases.case("fenced-add", "the older instance adds a partition", ZOMBIE, [FENCING], *begun, added, aborted, twin="fencing")
    cases.case(
        "epochs", "each new instance gets the next epoch", ZOMBIE, [INIT], A.init(0), A.init(1), A.init(2), level="should",
    )  # fmt: skip
    cases.case(
        "epoch-raised", "a producer raises its own epoch; the same request again gets the same epoch",
        "An idempotent producer goes on after an error, and its answer may be lost.", [INIT],
        A.init(0), A.init(1, epoch=0), A.init(1, epoch=0), A.init(2, epoch=1),
    )  # fmt: skip
    cases.case(
        "epoch-raised-late", "an older instance raises its epoch when a newer one has begun", ZOMBIE, [INIT, FENCING],
        A.init(0), A.init(1), A.init(2), A.init(either, epoch=0), A.init(3), twin="epoch-raised",
    )  # fmt: skip


def _append_time(cases: Sequences) -> None:
    why = "The two settings meet in the attributes of a batch, and in what a broker knows of its producer."
    times = {"times": True}
    sent, again = A.batch("a", "b", sequence=0), A.batch("c", sequence=2)
    begun = (A.init(0), A.add(0), A.produce(sent, 0))
    ends = {name: {**marker(name, 2, A.number), "timestampType": "append"} for name in ("commit", "abort")}
    rules = [END, "kafka.append.append-time"]
    cases.case(
        "append-time-commit", "a transaction with append time is committed", why, rules,
        *begun, A.end(commit=True), fetch(3, sent.stamped(0), ends["commit"], until="3", **times, **COMMITTED), topic=APPEND_TIME, level="should",
    )  # fmt: skip
    cases.case(
        "append-time-abort", "a transaction with append time is aborted", why, [*rules, ABORTED],
        *begun, A.end(commit=False), fetch(3, sent.stamped(0), ends["abort"], until="3", aborted=[("7001", "0")], **times, **COMMITTED),
        topic=APPEND_TIME, level="should",
    )  # fmt: skip
    cases.case(
        "append-time-duplicate", "a batch of a transaction with append time twice", why, ["kafka.state.duplicate", "kafka.append.append-time"],
        *begun, A.produce(sent, 0), A.produce(again, 2), A.produce(again, 2), fetch(3, sent.stamped(0), again.stamped(2), stable=0, **times),
        A.end(commit=True), topic=APPEND_TIME,
    )  # fmt: skip
    packed = Batch(("a", "b"), A.number, 0, 0, transactional=True, codec=GZIP, deltas=(0, 5))
    cases.case(
        "append-time-gzip", "a compressed batch of a transaction with append time", why, rules,
        A.init(0), A.add(0), A.produce(packed, 0), fetch(2, packed.stamped(0), stable=0, **times), A.end(commit=True), topic=APPEND_TIME,
        needs=["codec:gzip"],
    )  # fmt: skip
    cases.case(
        "append-time-listed", "the time of an append in a transaction: no offset for committed records before its end", why,
        [STABLE, "kafka.list-offsets.time", "kafka.append.append-time"],
        *begun, offset_at(0, (0, APPENDED), timestampOf="0"), offset_at(0, (-1, -1), timestampOf="0", **COMMITTED), A.end(commit=True),
        fetch(3, sent.stored(0), marker("commit", 2, A.number), until="3"), offset_at(0, (0, APPENDED), timestampOf="0", **COMMITTED), topic=APPEND_TIME,
    )  # fmt: skip


def _keyed(producer: Producer, key: str, value: str, sequence: int) -> Batch:
    return Batch((value,), producer.number, 0, sequence, transactional=True, keys=(key,))


def _cleaned(cases: Sequences) -> None:
    """Transactions in a compacted topic: a plain record an hour later ends the segment, which is then cleaned."""
    end = Batch(("z",), keys=("z",), shift=LATER)
    old, new = plain("1", keys=("x",)), plain("2", keys=("x",))
    read = {"compacted": True, **COMMITTED}
    topic: dict[str, Any] = {"topic": COMPACT, "needs": ["feature:compaction"]}
    keeps = "Without its marker the records of a transaction are lost to consumers, or seem to be of one that is open."

    def transaction(producer: Producer, sent: Batch, base: int, *, commit: bool, begins: bool = True) -> tuple[Any, ...]:
        """Write one batch and its marker, and wait for that."""
        begun = (*((producer.init(0),) if begins else ()), producer.add(0), producer.produce(sent, base))
        last = marker("commit" if commit else "abort", base + 1, producer.number)
        return (*begun, producer.end(commit=commit), fetch(base + 2, last, offset=base + 1, until=str(base + 2)))

    one, two, three = _keyed(A, "a", "1", 0), _keyed(A, "b", "2", 1), _keyed(A, "c", "3", 2)
    many = (*transaction(A, one, 0, commit=True), *transaction(A, two, 2, commit=True, begins=False), *transaction(A, three, 4, commit=True, begins=False))
    marks = [marker("commit", at, A.number) for at in (1, 3, 5)]
    entries = (one.stored(0), marks[0], two.stored(2), marks[1], three.stored(4), marks[2], new.stored(7), end.stored(8))
    cases.case(
        "cleaned-markers", "every transaction keeps its marker: the markers have one key, and are no records of it", keeps, [END, "kafka.fetch.cleaned"],
        *many, produce(old, 6), produce(new, 7), produce(end, 8), fetch(9, *entries, **{**read, "compacted": "5"}), **topic,
    )  # fmt: skip
    other = _keyed(B, "b", "2", 0)
    both = (*transaction(A, one, 0, commit=True), *transaction(B, other, 2, commit=True))
    entries = (one.stored(0), marks[0], other.stored(2), marker("commit", 3, B.number), new.stored(5), end.stored(6))
    cases.case(
        "cleaned-markers-of-two", "the transactions of two producers keep their markers", keeps, [END, "kafka.fetch.cleaned"],
        *both, produce(old, 4), produce(new, 5), produce(end, 6), fetch(7, *entries, **{**read, "compacted": "4"}), **topic,
    )  # fmt: skip
    newer, before = _keyed(A, "a", "2", 1), plain("0", keys=("y",))
    cases.case(
        "cleaned-newer", "a later transaction has the same key: the older record goes, the newer one stays with its marker",
        "The newest committed record of a key is its state.", [END, "kafka.fetch.cleaned"],
        produce(before, 0), *transaction(A, one, 1, commit=True), *transaction(A, newer, 3, commit=True, begins=False), produce(end, 5),
        fetch(6, before.stored(0), marker("commit", 2, A.number), newer.stored(3), marker("commit", 4, A.number), end.stored(5),
              **{**read, "compacted": "3"}), **topic, level="should",
    )  # fmt: skip
    first, undone, after = plain("1", keys=("a",)), _keyed(A, "a", "2", 0), _keyed(A, "c", "3", 1)
    entries = (first.stored(0), marker("abort", 2, A.number), after.stored(3), marker("commit", 4, A.number), end.stored(5))
    cases.case(
        "cleaned-aborted", "an aborted record with the same key is later: the committed one stays, and the aborted one goes",
        "An aborted record is never the state of its key; a cleaner that takes it for that loses the committed one.", [ABORTED, "kafka.fetch.cleaned"],
        produce(first, 0), *transaction(A, undone, 1, commit=False), *transaction(A, after, 3, commit=True, begins=False), produce(end, 5),
        fetch(6, *entries, aborted=[("7001", "1")], **{**read, "compacted": "3"}), **topic, level="should",
    )  # fmt: skip


def _second_version(cases: Sequences) -> None:
    v2: dict[str, Any] = {"transactionVersion": "2"}
    sent = A.batch("a", "b", sequence=0)
    begun = (A.init(0), A.produce(sent, 0, **v2))
    committed = fetch(3, sent.stored(0), marker("commit", 2, A.number, epoch=1), until="3", **COMMITTED)
    cases.case(
        "commit", "a commit begins a new epoch, and the marker has it", LATE, [BUMP, IMPLICIT],
        *begun, fetch(2, stable=0, **COMMITTED), A.end_v2(commit=True, epoch=0, expect=1), committed,
    )  # fmt: skip
    cases.case(
        "abort", "an abort begins a new epoch, and the marker has it", LATE, [BUMP, ABORTED],
        *begun, A.end_v2(commit=False, epoch=0, expect=1),
        fetch(3, sent.stored(0), marker("abort", 2, A.number, epoch=1), until="3", aborted=[("7001", "0")], **COMMITTED),
    )  # fmt: skip
    other = A.batch("c", sequence=0)
    cases.case(
        "two-partitions", "the first batch for a partition adds it to the transaction", ATOMIC, [IMPLICIT],
        *begun, A.produce(other, 0, partition=1, **v2), A.end_v2(commit=True, epoch=0, expect=1), committed,
        fetch(2, other.stored(0), marker("commit", 1, A.number, epoch=1), partition="1", until="2", **COMMITTED),
    )  # fmt: skip
    again = A.batch("c", sequence=0, epoch=1)
    cases.case(
        "two-in-a-row", "the next transaction begins at sequence 0 of the new epoch", LATE, [BUMP],
        *begun, A.end_v2(commit=True, epoch=0, expect=1), committed, A.produce(again, 3, **v2), A.end_v2(commit=False, epoch=1, expect=2),
        fetch(5, sent.stored(0), marker("commit", 2, A.number, epoch=1), again.stored(3), marker("abort", 4, A.number, epoch=2),
              until="5", aborted=[("7001", "3")], **COMMITTED),
    )  # fmt: skip
    late = A.batch("z", sequence=2)
    refused = {"either": {"epoch": {"error": OLD_EPOCH}, "fenced": {"error": FENCED}}}
    cases.case(
        "late-batch", "a batch of the transaction before arrives after its end", LATE, [BUMP, FENCING],
        *begun, A.end_v2(commit=True, epoch=0, expect=1), committed, A.produce(late, refused, **v2), committed, twin="two-in-a-row",
    )  # fmt: skip
    cases.case(
        "late-batch-inside", "a batch of the transaction before arrives in the next one", LATE, [BUMP, FENCING],
        *begun, A.end_v2(commit=True, epoch=0, expect=1), committed, A.produce(again, 3, **v2), A.produce(late, refused, **v2),
        A.end_v2(commit=True, epoch=1, expect=2),
        fetch(5, sent.stored(0), marker("commit", 2, A.number, epoch=1), again.stored(3), marker("commit", 4, A.number, epoch=2),
              until="5", **COMMITTED), twin="two-in-a-row",
    )  # fmt: skip
    cases.case(
        "commit-again", "the same commit again gets the same epoch, and there is one marker",
        "The first answer may be lost.", [BUMP, STATE],
        *begun, A.end_v2(commit=True, epoch=0, expect=1), committed, A.end_v2(commit=True, epoch=0, expect=1), committed,
    )  # fmt: skip
    cases.case(
        "abort-after-commit", "an abort of the epoch that was committed", ATOMIC, [STATE],
        *begun, A.end_v2(commit=True, epoch=0, expect=1), committed,
        {**A.end_v2(commit=False, epoch=0, expect=1), "expect": {"either": {"state": {"error": BAD_STATE}, "fenced": {"error": FENCED}}}},
        committed, twin="commit-again",
    )  # fmt: skip
    cases.case(
        "nothing-to-commit", "a commit without a transaction", "There is nothing that could be committed.", [STATE],
        A.init(0), A.end_v2(commit=True, epoch=0, expect=BAD_STATE), fetch(0), twin="commit", level="should",
    )  # fmt: skip
    cases.case(
        "sequence-goes-on", "the next transaction does not begin at sequence 0", LATE, [BUMP, "kafka.state.epoch-next"],
        *begun, A.end_v2(commit=True, epoch=0, expect=1), committed, A.produce(A.batch("c", sequence=2, epoch=1), TOO_EARLY, **v2),
        A.end_v2(commit=False, epoch=1, expect=2), twin="two-in-a-row", level="should",
    )  # fmt: skip
