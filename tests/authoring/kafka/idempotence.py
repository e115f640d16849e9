"""What a broker does with the batches of an idempotent producer: `kafka.log/mixed/idempotence`, kafka.md §1.13."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.steps import (
    OLD_EPOCH,
    TOO_EARLY,
    Batch,
    Sequences,
    delete,
    fetch,
    idempotent,
    plain,
    produce,
)

LAST = (1 << 31) - 1

RETRY = "A producer sends a batch again when it got no answer: the records must not be in the log twice."
LOST = "A batch that is missing was lost or is still on its way: what comes after it would be in the wrong order."
ZOMBIE = "An older instance of a producer must not write behind its successor."

DUPLICATE, GAP, WRAP = "kafka.state.duplicate", "kafka.state.gap", "kafka.state.wrap"
EPOCH, NEXT_EPOCH, UNKNOWN = "kafka.state.epoch-back", "kafka.state.epoch-next", "kafka.state.unknown-producer"
FLIGHT, APART, KEPT = "kafka.state.in-flight", "kafka.state.apart", "kafka.state.deleted"


def write(writer: FixtureWriter) -> None:
    cases = Sequences(writer, "idempotence", "§1.13", ["feature:idempotent"])
    _duplicates(cases)
    _gaps(cases)
    _wrapping(cases)
    _behind_a_record(cases)
    _epochs(cases)
    _in_flight(cases)
    _apart(cases)


def _ones(count: int, first: int = 0) -> list[Batch]:
    """Return batches of one record each, in order."""
    return [idempotent(f"v{number}", sequence=number) for number in range(first, first + count)]


def _duplicates(cases: Sequences) -> None:
    a, b, c = idempotent("a", "b", sequence=0), idempotent("c", sequence=2), idempotent("d", "e", sequence=3)
    cases.case(
        "in-order", "three batches in order", "The plain run of an idempotent producer.", [GAP, DUPLICATE],
        produce(a, 0), produce(b, 2), produce(c, 3), fetch(5, a.stored(0), b.stored(2), c.stored(3)),
    )  # fmt: skip
    cases.case(
        "duplicate", "a batch twice: the second one gets the offset of the first", RETRY, [DUPLICATE],
        produce(a, 0), produce(a, 0), fetch(2, a.stored(0)), produce(b, 2), fetch(3, a.stored(0), b.stored(2)),
    )  # fmt: skip
    cases.case(
        "duplicate-behind-other", "a batch again after the next one", RETRY, [DUPLICATE],
        produce(a, 0), produce(b, 2), produce(a, 0), produce(b, 2), fetch(3, a.stored(0), b.stored(2)),
    )  # fmt: skip
    five, six = _ones(5), _ones(6)
    cases.case(
        "duplicate-of-fifth", "the first of five batches again",
        "Five requests may be in flight, so each of the last five batches may come again.", [DUPLICATE, FLIGHT],
        *(produce(one, number) for number, one in enumerate(five)), produce(five[0], 0), produce(five[4], 4),
        fetch(5, *(one.stored(number) for number, one in enumerate(five))),
    )  # fmt: skip
    unknown = {"either": {"forgotten": {"error": TOO_EARLY}, "known": {"error": "DUPLICATE_SEQUENCE_NUMBER"}}}
    cases.case(
        "duplicate-of-sixth", "the first of six batches again: it is refused, and not stored",
        "A broker that remembers five batches cannot answer with its offset; it must not store it again either.",
        [GAP, DUPLICATE],
        *(produce(one, number) for number, one in enumerate(six)), produce(six[0], unknown),
        fetch(6, *(one.stored(number) for number, one in enumerate(six))), twin="duplicate-of-fifth",
    )  # fmt: skip
    part = idempotent("a", sequence=0)
    cases.case(
        "part-of-batch", "the first record of a stored batch as a batch of its own",
        "A client that divides a batch anew after it was stored would write its records twice.", [GAP],
        produce(a, 0), produce(part, TOO_EARLY), fetch(2, a.stored(0)), twin="duplicate", level="should",
    )  # fmt: skip
    cases.case(
        "after-delete", "a batch again after its records were deleted",
        "A retry may come after retention has deleted the batch; the producer is still known.", [KEPT, DUPLICATE],
        produce(a, 0), delete(2, 2), produce(a, 0), fetch(2, offset=2, start=2), produce(b, 2),
        fetch(3, b.stored(2), offset=2, start=2), needs=["feature:delete-records"],
    )  # fmt: skip


def _gaps(cases: Sequences) -> None:
    a, b, c = idempotent("a", sequence=0), idempotent("b", sequence=1), idempotent("c", sequence=2)
    cases.case(
        "gap", "a sequence is left out: the batch is refused until the missing one is there", LOST, [GAP],
        produce(a, 0), produce(c, TOO_EARLY), fetch(1, a.stored(0)), produce(b, 1), produce(c, 2),
        fetch(3, a.stored(0), b.stored(1), c.stored(2)), twin="in-order",
    )  # fmt: skip
    cases.case(
        "gap-of-one-record", "a batch that begins at the last sequence of the one before it", LOST, [GAP],
        produce(idempotent("a", "b", sequence=0), 0), produce(idempotent("c", "d", sequence=1), TOO_EARLY),
        fetch(2, idempotent("a", "b", sequence=0).stored(0)), twin="in-order",
    )  # fmt: skip
    far = idempotent("z", sequence=1_000_000)
    cases.case(
        "gap-far", "a sequence that is a million later", LOST, [GAP],
        produce(a, 0), produce(far, TOO_EARLY), fetch(1, a.stored(0)), twin="in-order",
    )  # fmt: skip
    later = idempotent("f", sequence=5)
    cases.case(
        "unknown-producer", "the first batch of a producer that the partition does not know begins at 5",
        "Its records before may be deleted by retention, so the broker cannot know which sequence is next.", [UNKNOWN],
        produce(later, 0), produce(idempotent("g", sequence=6), 1),
        fetch(2, later.stored(0), idempotent("g", sequence=6).stored(1)), level="may",
    )  # fmt: skip


def _behind_a_record(cases: Sequences) -> None:
    """Cases on a partition that has held a record: an empty one may take sequence 0 alone, KAFKA-15591."""
    held, why = plain("x"), "The partition has records of others; what it held of this producer may be deleted."
    later, next_one = idempotent("f", sequence=5), idempotent("g", sequence=6)
    cases.case(
        "unknown-producer-behind-record", "the first batch of a producer begins at 5, behind a record of another one", why, [UNKNOWN],
        produce(held, 0), produce(later, 1), produce(next_one, 2), fetch(3, held.stored(0), later.stored(1), next_one.stored(2)),
        level="should",
    )  # fmt: skip
    ends, begins = idempotent("a", "b", sequence=LAST - 1), idempotent("c", sequence=0)
    cases.case(
        "wrap-behind-record", "0 follows 2147483647, behind a record of another producer", why, [WRAP, UNKNOWN],
        produce(held, 0), produce(ends, 1), produce(begins, 3), produce(begins, 3),
        fetch(4, held.stored(0), ends.stored(1), begins.stored(3)), level="should",
    )  # fmt: skip
    across, after = idempotent("a", "b", sequence=LAST), idempotent("c", sequence=1)
    cases.case(
        "wrap-inside-behind-record", "a batch whose second record has the sequence 0, behind a record of another producer", why,
        [WRAP, UNKNOWN],
        produce(held, 0), produce(across, 1), produce(across, 1), produce(after, 3),
        fetch(4, held.stored(0), across.stored(1), after.stored(3)), level="should",
    )  # fmt: skip
    cases.case(
        "wrap-gap-behind-record", "1 does not follow 2147483647, behind a record of another producer", why, [WRAP, GAP],
        produce(held, 0), produce(ends, 1), produce(idempotent("c", sequence=1), TOO_EARLY), fetch(3, held.stored(0), ends.stored(1)),
        twin="wrap-behind-record", level="should",
    )  # fmt: skip


def _wrapping(cases: Sequences) -> None:
    ends, begins = idempotent("a", "b", sequence=LAST - 1), idempotent("c", sequence=0)
    why = "A producer comes to the last sequence after two thousand million records, and begins again at 0."
    cases.case(
        "wrap", "0 follows 2147483647", why, [WRAP, UNKNOWN],
        produce(ends, 0), produce(begins, 2), produce(begins, 2), fetch(3, ends.stored(0), begins.stored(2)), level="may",
    )  # fmt: skip
    across, after = idempotent("a", "b", sequence=LAST), idempotent("c", sequence=1)
    cases.case(
        "wrap-inside", "a batch whose second record has the sequence 0", why, [WRAP, UNKNOWN],
        produce(across, 0), produce(across, 0), produce(after, 2), fetch(3, across.stored(0), after.stored(2)), level="may",
    )  # fmt: skip
    cases.case(
        "wrap-gap", "1 does not follow 2147483647", why, [WRAP, GAP],
        produce(ends, 0), produce(idempotent("c", sequence=1), TOO_EARLY), fetch(2, ends.stored(0)), twin="wrap", level="may",
    )  # fmt: skip


def _epochs(cases: Sequences) -> None:
    old, new = idempotent("a", "b", sequence=0), idempotent("c", sequence=0, epoch=1)
    cases.case(
        "epoch-next", "a new epoch begins at sequence 0", ZOMBIE, [NEXT_EPOCH, EPOCH],
        produce(old, 0), produce(new, 2), produce(idempotent("d", sequence=1, epoch=1), 3),
        fetch(4, old.stored(0), new.stored(2), idempotent("d", sequence=1, epoch=1).stored(3)), level="should",
    )  # fmt: skip
    same = idempotent("a", "b", sequence=0, epoch=1)
    cases.case(
        "epoch-next-same-sequences", "the same sequences in a new epoch are new records",
        "The producer begins again after an error, and its first batch is no retry.", [NEXT_EPOCH, DUPLICATE],
        produce(old, 0), produce(same, 2), produce(same, 2), fetch(4, old.stored(0), same.stored(2)), level="should",
    )  # fmt: skip
    cases.case(
        "epoch-next-not-zero", "a new epoch that begins at sequence 2", LOST, [NEXT_EPOCH, GAP],
        produce(old, 0), produce(idempotent("c", sequence=2, epoch=1), TOO_EARLY), fetch(2, old.stored(0)), twin="epoch-next",
        level="should",
    )  # fmt: skip
    cases.case(
        "epoch-back", "a batch of an older epoch", ZOMBIE, [EPOCH],
        produce(old, 0), produce(new, 2), produce(idempotent("z", sequence=2), OLD_EPOCH), fetch(3, old.stored(0), new.stored(2)),
        twin="epoch-next",
    )  # fmt: skip
    cases.case(
        "epoch-back-duplicate", "a stored batch again, when a newer epoch has begun",
        "The answer could be its offset too, but nobody waits for it: the producer has a newer epoch.", [EPOCH],
        produce(old, 0), produce(new, 2), produce(old, OLD_EPOCH), fetch(3, old.stored(0), new.stored(2)), twin="epoch-next",
        level="should",
    )  # fmt: skip


def _in_flight(cases: Sequences) -> None:
    five = _ones(5)
    stored = [one.stored(number) for number, one in enumerate(five)]
    cases.case(
        "in-flight-five", "five batches in flight on one connection",
        "A client may send five batches before the first answer; the order is kept.", [FLIGHT],
        *(produce(one, number, inFlight=True) for number, one in enumerate(five[:4])), produce(five[4], 4), fetch(5, *stored),
    )  # fmt: skip
    cases.case(
        "in-flight-retry", "a batch again while the next ones are in flight", RETRY, [FLIGHT, DUPLICATE],
        produce(five[0], 0, inFlight=True), produce(five[0], 0, inFlight=True), produce(five[1], 1, inFlight=True),
        produce(five[0], 0), fetch(2, *stored[:2]),
    )  # fmt: skip
    cases.case(
        "in-flight-out-of-order", "of five batches in flight the third comes before the second",
        "The client repeats what was refused; the log has the right order in the end.", [FLIGHT, GAP],
        produce(five[0], 0, inFlight=True), produce(five[2], TOO_EARLY, inFlight=True), produce(five[1], 1, inFlight=True),
        produce(five[3], TOO_EARLY, inFlight=True), produce(five[4], TOO_EARLY),
        produce(five[2], 2), produce(five[3], 3), produce(five[4], 4), fetch(5, *stored), twin="in-flight-five",
    )  # fmt: skip


def _apart(cases: Sequences) -> None:
    why = "A number belongs to one producer and one partition."
    first, second = idempotent("a", sequence=0), idempotent("b", sequence=0, producer=2000)
    third, fourth = idempotent("c", sequence=1), idempotent("d", sequence=1, producer=2000)
    cases.case(
        "two-producers", "two producers with the same sequences", why, [APART],
        produce(first, 0), produce(second, 1), produce(third, 2), produce(fourth, 3), produce(second, 1),
        fetch(4, first.stored(0), second.stored(1), third.stored(2), fourth.stored(3)),
    )  # fmt: skip
    cases.case(
        "two-partitions", "one producer with the same sequences on two partitions", why, [APART],
        produce(first, 0), produce(first, 0, partition=1), produce(third, 1), produce(third, 1, partition=1), produce(first, 0),
        fetch(2, first.stored(0), third.stored(1)), fetch(2, first.stored(0), third.stored(1), partition="1"), level="should",
    )  # fmt: skip
    free = plain("x")
    cases.case(
        "no-producer-between", "a batch without a producer between two with one", why, [APART],
        produce(first, 0), produce(free, 1), produce(free, 2), produce(third, 3),
        fetch(4, first.stored(0), free.stored(1), free.stored(2), third.stored(3)),
    )  # fmt: skip
    one, other = idempotent("a", sequence=0, producer=7001), idempotent("b", sequence=0, producer=7002)
    asked = [{"op": "init-producer", "producerId": number, "expect": {"producerEpoch": "0"}} for number in ("7001", "7002")]
    cases.case(
        "given-ids", "two producer ids of the broker", "Two producers with one id would be each other's duplicates.", [APART],
        *asked, produce(one, 0), produce(other, 1), fetch(2, one.stored(0), other.stored(1)), needs=["feature:producer-ids"],
    )  # fmt: skip
