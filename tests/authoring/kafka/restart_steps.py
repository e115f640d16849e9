"""What a broker knows after it was stopped and started again: `kafka.log/mixed/restart`, kafka.md §1.15."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.fetch_steps import EARLIEST, OUT
from tests.authoring.kafka.steps import (
    APPENDED,
    FUTURE,
    GZIP,
    OLD_EPOCH,
    TOO_EARLY,
    Producer,
    Sequences,
    delete,
    fetch,
    idempotent,
    marker,
    offset_at,
    offset_of,
    plain,
    produce,
    refused_fetch,
    restart,
)

RESTART, TIME, DUPLICATE = "kafka.restart.log", "kafka.list-offsets.time", "kafka.state.duplicate"
COMMITTED: dict[str, Any] = {"isolation": "read_committed"}
APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
LATEST = -1

KEPT = "A broker is stopped for every upgrade: what it acknowledged before, it has to know after."
PRODUCERS = ["feature:idempotent"]


def write(writer: FixtureWriter) -> None:
    cases = Sequences(writer, "restart", "§1.15", ["feature:restart"])
    _logs(cases)
    _producers(cases)
    _transactions(cases)


def _logs(cases: Sequences) -> None:
    first, second = plain("a", "b", "c", deltas=(0, 10, 20)), plain("d", "e", shift=100, codec=GZIP)
    both = (produce(first, 0), produce(second, 3))
    entries = (first.stored(0), second.stored(3))
    third = plain("f")
    cases.case(
        "records", "records, offsets and the end of the log", KEPT, [RESTART],
        *both, restart(), fetch(5, *entries), fetch(5, second.stored(3), offset=3), offset_of(LATEST, 5), offset_of(EARLIEST, 0),
        produce(third, 5), fetch(6, third.stored(5), offset=5), needs=["codec:gzip"],
    )  # fmt: skip
    cases.case(
        "times", "the offsets of times", KEPT, [RESTART, TIME],
        *both, restart(), offset_at(FUTURE + 10, (1, FUTURE + 10)), offset_at(FUTURE + 21, (3, FUTURE + 100)), offset_at(FUTURE + 101, (-1, -1)), needs=["codec:gzip"],
    )  # fmt: skip
    cases.case(
        "append-times", "the offsets of times of an append", KEPT, [RESTART, TIME, "kafka.append.append-time"],
        produce(third, 0), produce(third, 1, afterMs="30"), restart(), offset_at(0, (1, APPENDED), timestampOf="1"), offset_at(1, (1, APPENDED), timestampOf="0"),
        fetch(2, third.stamped(0), third.stamped(1), times=True), topic=APPEND_TIME,
    )  # fmt: skip
    needs = ["feature:delete-records", "codec:gzip"]
    begins = (*both, delete(3, 3), restart())
    cases.case(
        "deleted", "the beginning of a log after records were deleted", "Records that were deleted must not come back.", [RESTART, "kafka.fetch.deleted"],
        *begins, offset_of(EARLIEST, 3), fetch(5, second.stored(3), offset=3, start=3), needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-before", "from an offset that was deleted before", "Records that were deleted must not come back.",
        [RESTART, "kafka.fetch.deleted"], *begins, refused_fetch(0, OUT), twin="deleted", needs=needs,
    )  # fmt: skip


def _producers(cases: Sequences) -> None:
    first, second, newer = idempotent("a", "b", sequence=0), idempotent("c", sequence=2), idempotent("n", sequence=0, epoch=1)
    why = "A producer does not notice the restart: it sends again what was not answered, and goes on."
    sent = produce(first, 0)
    cases.case(
        "duplicate", "a batch of a producer again: it is answered as before", why, [RESTART, DUPLICATE],
        sent, restart(), sent, produce(second, 2), produce(second, 2), fetch(3, first.stored(0), second.stored(2)), needs=PRODUCERS,
    )  # fmt: skip
    later = idempotent("g", sequence=5)
    cases.case(
        "gap", "a sequence that does not follow", why, [RESTART, "kafka.state.gap"],
        sent, restart(), produce(later, TOO_EARLY), fetch(2, first.stored(0)), twin="duplicate", needs=PRODUCERS,
    )  # fmt: skip
    cases.case(
        "epoch", "an older epoch", why, [RESTART, "kafka.state.epoch-back"],
        sent, produce(newer, 2), restart(), produce(second, OLD_EPOCH), fetch(3, first.stored(0), newer.stored(2)), twin="duplicate", needs=PRODUCERS,
    )  # fmt: skip


def _transactions(cases: Sequences) -> None:
    one = Producer()
    sent = one.batch("a", "b", sequence=0)
    needs = ["feature:transactions"]
    begun = (one.init(0), one.add(0), one.produce(sent, 0))
    stays = (restart(), fetch(2, stable=0, **COMMITTED), fetch(2, sent.stored(0), stable=0))
    stable = "kafka.transaction.stable-offset"
    cases.case(
        "open-commit", "a transaction that is open goes on and is committed", "The records of before belong to it.", [RESTART, stable, "kafka.transaction.end"],
        *begun, *stays, one.produce(one.batch("c", sequence=2), 2), one.end(commit=True),
        fetch(4, sent.stored(0), one.batch("c", sequence=2).stored(2), marker("commit", 3, one.number), until="4", **COMMITTED), needs=needs,
    )  # fmt: skip
    aborted = fetch(3, sent.stored(0), marker("abort", 2, one.number), until="3", aborted=[("7001", "0")], **COMMITTED)
    cases.case(
        "open-abort", "a transaction that is open is aborted after", "The records of before belong to it.", [RESTART, stable, "kafka.transaction.aborted"],
        *begun, *stays, one.end(commit=False), aborted, needs=needs,
    )  # fmt: skip
    cases.case(
        "aborted", "a transaction that was aborted before is still named", "Else a consumer that comes later takes its records for committed.",
        [RESTART, "kafka.transaction.aborted"], *begun, one.end(commit=False), aborted, restart(), aborted, needs=needs,
    )  # fmt: skip
    newer = {"either": {"once": {"producerEpoch": "1"}, "twice": {"producerEpoch": "2"}}}
    fenced = fetch(3, sent.stored(0), marker("abort", 2, one.number, epoch=1), until="3", aborted=[("7001", "0")], **COMMITTED)
    cases.case(
        "transactional-id", "a new instance with the transactional id of an open transaction gets the next epoch, and aborts it",
        "An instance of before the restart may still write.",
        [RESTART, "kafka.transaction.init", "kafka.transaction.fencing"], *begun, restart(), one.init(newer), fenced, needs=needs, level="should",
    )  # fmt: skip
