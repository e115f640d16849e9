"""What a broker forgets of a producer that is idle: `kafka.log/mixed/expiry`, kafka.md §1.13 and §1.14."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.steps import (
    OLD_EPOCH,
    TOO_EARLY,
    Producer,
    Sequences,
    await_expiry,
    fetch,
    idempotent,
    marker,
    plain,
    produce,
)

EXPIRY, UNKNOWN = "kafka.state.expiry", "kafka.state.unknown-producer"
DUPLICATE, GAP, EPOCH = "kafka.state.duplicate", "kafka.state.gap", "kafka.state.epoch-back"
OPEN, NAME = "kafka.state.expiry-open-transaction", "kafka.transaction.expiry"

APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
"""The age of a producer is the same by the times of its batches and by the clock."""

PRODUCER, TRANSACTIONAL_ID = "feature:producer-expiry", "feature:transactional-id-expiry"

FORGOTTEN = "A broker that never forgets keeps the producers of years; a producer that comes back after so long is a new one to it."
KEPT = "A producer that is forgotten too soon writes its retry twice."
MAPPING = "INVALID_PRODUCER_ID_MAPPING"


def write(writer: FixtureWriter) -> None:
    _producers(Sequences(writer, "expiry", "§1.13", ["feature:idempotent", PRODUCER]))
    _transactions(Sequences(writer, "expiry", "§1.14", ["feature:idempotent", "feature:transactions"]))


def _producers(cases: Sequences) -> None:
    first, gone = idempotent("a", sequence=0), await_expiry("producer")
    again = fetch(2, first.stored(0), first.stored(1))
    cases.case(
        "producer", "a batch again after its producer was forgotten: it is stored once more", FORGOTTEN, [EXPIRY, UNKNOWN],
        produce(first, 0), gone, produce(first, 1), again, topic=APPEND_TIME, level="should",
    )  # fmt: skip
    cases.case(
        "producer-used", "a batch again at once: its producer is not forgotten before its time", KEPT, [EXPIRY, DUPLICATE],
        produce(first, 0), produce(first, 0), gone, produce(first, 1), produce(first, 1), again, topic=APPEND_TIME, level="should",
    )  # fmt: skip
    later = idempotent("f", sequence=5)
    cases.case(
        "sequence", "a sequence that does not follow, after its producer was forgotten", FORGOTTEN, [EXPIRY, UNKNOWN],
        produce(first, 0), gone, produce(later, 1), fetch(2, first.stored(0), later.stored(1)), topic=APPEND_TIME, level="should",
    )  # fmt: skip
    cases.case(
        "sequence-used", "a sequence that does not follow, before its producer is forgotten", KEPT, [EXPIRY, GAP],
        produce(first, 0), produce(later, TOO_EARLY), fetch(1, first.stored(0)), topic=APPEND_TIME, twin="sequence",
    )  # fmt: skip
    new, old = idempotent("n", sequence=0, epoch=1), idempotent("o", sequence=0)
    cases.case(
        "epoch", "an older epoch, after its producer was forgotten", FORGOTTEN, [EXPIRY, UNKNOWN],
        produce(new, 0), gone, produce(old, 1), fetch(2, new.stored(0), old.stored(1)), topic=APPEND_TIME, level="should",
    )  # fmt: skip
    cases.case(
        "epoch-used", "an older epoch, before its producer is forgotten", KEPT, [EXPIRY, EPOCH],
        produce(new, 0), produce(old, OLD_EPOCH), fetch(1, new.stored(0)), topic=APPEND_TIME, twin="epoch",
    )  # fmt: skip
    ahead = {"either": {"by-timestamp": {"baseOffset": "0"}, "by-clock": {"baseOffset": "1"}}}
    cases.case(
        "timestamp-ahead", "a batch of the year 2096 again after the time of its producer: the texts do not say from when it counts",
        "Kafka counts from the timestamp of the batch, so the clock of a client decides.", [EXPIRY],
        produce(first, 0), gone, produce(first, ahead), level="should",
    )  # fmt: skip
    free = plain("x")
    cases.case(
        "no-producer", "a batch without a producer before and after that time", "Nothing is known of it that could be forgotten.",
        [EXPIRY], produce(free, 0), await_expiry("producer"), produce(free, 1), fetch(2, free.stored(0), free.stored(1)),
    )  # fmt: skip


def _transactions(cases: Sequences) -> None:
    one, gone, forgotten = Producer(), await_expiry("transactional-id"), await_expiry("producer")
    first, second = one.batch("a", sequence=0), one.batch("b", sequence=1)
    begin = (one.init(0), one.add(0), one.produce(first, 0))
    done = (*begin, one.end(commit=True), fetch(2, first.stored(0), marker("commit", 1, one.number), until="2"))
    stays = "A transaction that takes longer than the time of its producer must not lose its fence."
    cases.case(
        "open-transaction", "the producer of an open transaction is not forgotten: its batch again is answered as before", stays,
        [OPEN, DUPLICATE],
        *begin, forgotten, one.produce(first, 0), one.produce(second, 1), one.end(commit=True),
        fetch(3, first.stored(0), second.stored(1), marker("commit", 2, one.number), until="3"), topic=APPEND_TIME, needs=[PRODUCER],
    )  # fmt: skip
    ends = {"until": "2"}
    cases.case(
        "open-transaction-partitions", "the producer of an open transaction over two partitions is forgotten on neither", stays,
        [OPEN, DUPLICATE],
        one.init(0), one.add(0, 1), one.produce(first, 0), one.produce(first, 0, partition=1), forgotten, one.produce(first, 0),
        one.produce(first, 0, partition=1), one.end(commit=False),
        fetch(2, first.stored(0), marker("abort", 1, one.number), **ends),
        fetch(2, first.stored(0), marker("abort", 1, one.number), partition="1", **ends), topic=APPEND_TIME, needs=[PRODUCER],
    )  # fmt: skip
    gap = one.batch("g", sequence=5)
    cases.case(
        "open-transaction-gap", "the producer of an open transaction is not forgotten: a sequence that does not follow is refused", stays,
        [OPEN, GAP],
        *begin, forgotten, one.produce(gap, TOO_EARLY), one.end(commit=True),
        fetch(2, first.stored(0), marker("commit", 1, one.number), until="2"), topic=APPEND_TIME, twin="open-transaction",
        needs=[PRODUCER],
    )  # fmt: skip
    plain_again = idempotent("z", sequence=9, producer=one.number)
    cases.case(
        "after-marker", "the time of a producer counts from the marker of its last transaction", FORGOTTEN, [EXPIRY, UNKNOWN],
        *done, forgotten, produce(plain_again, 2),
        fetch(3, first.stored(0), marker("commit", 1, one.number), plain_again.stored(2)), needs=[PRODUCER], level="should",
    )  # fmt: skip
    cases.case(
        "open-transactional-id", "a transactional id with an open transaction is not forgotten", stays, [NAME],
        *begin, gone, one.end(commit=True), fetch(2, first.stored(0), marker("commit", 1, one.number), until="2"), needs=[TRANSACTIONAL_ID],
    )  # fmt: skip
    _names(cases, one, done)


def _names(cases: Sequences, one: Producer, done: tuple[dict[str, object], ...]) -> None:
    why = "A producer that was away for so long must begin anew, and must know it."
    gone, other = await_expiry("transactional-id"), Producer(7002)
    new = other.batch("n", sequence=0)
    stored = (one.batch("a", sequence=0).stored(0), marker("commit", 1, one.number))
    begun = (other.add(0), other.produce(new, 2), other.end(commit=True))
    after = fetch(4, *stored, new.stored(2), marker("commit", 3, other.number), until="4")
    cases.case(
        "transactional-id", "a transactional id that was forgotten gets another producer id, with the epoch 0", why, [NAME],
        *done, gone, other.init(0), *begun, after, needs=[TRANSACTIONAL_ID],
    )  # fmt: skip
    cases.case(
        "transactional-id-used", "a transactional id before it is forgotten has its producer id", why, [NAME],
        *done, one.add(0), one.end(commit=True), one.init(1), needs=[TRANSACTIONAL_ID],
    )  # fmt: skip
    cases.case(
        "transactional-id-add", "a partition for a transactional id that was forgotten", why, [NAME],
        *done, gone, one.add(0, error=MAPPING), twin="transactional-id-used", needs=[TRANSACTIONAL_ID],
    )  # fmt: skip
    cases.case(
        "transactional-id-end", "the end of a transaction of a transactional id that was forgotten", why, [NAME],
        *done, gone, one.end(commit=True, error=MAPPING), twin="transactional-id-used", needs=[TRANSACTIONAL_ID],
    )  # fmt: skip
    cases.case(
        "transactional-id-raise", "InitProducerId with the producer id and epoch from before the transactional id was forgotten",
        "KIP-360 lets a producer that finds itself forgotten begin a new epoch; there is none to be raised.", [NAME],
        *done, gone, one.init(0, epoch=0), needs=[TRANSACTIONAL_ID], level="should",
    )  # fmt: skip
