"""Client programs with one fault each, and the case that kills each: `clients.faulty FAULT START …`.

The faults are those that clients had, or that one careless line makes. The case passes on the sound program.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from attrs import evolve

from tests.live.clients.plain_client import SECONDS, Aborted, PlainConsumer, PlainProducer, Row, put, row_of
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.live.loopback_broker.faults import Step, patched, with_right_crc
from wireproof.live.loopback_broker.regroup_records import split_log
from wireproof.live.loopback_broker.served_log import END
from wireproof.wire.json_values import json_of
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

LOG: Final = "kafka.log/mixed"
BATCH: Final = "kafka.batch/v2"

# --- where the next fetch begins ---


def _begin_of_empty(_: Any, following: Step, found: Log, data: bytes) -> Any:
    """Ask again for a batch without records."""
    entries = split_log(data).entries
    empty = entries and entries[-1].count == 0
    return entries[-1].first or 0 if empty else following(found, data)


def _after_last_record(one: Any, _: Step, found: Log, __: bytes) -> int:
    """Go on after the last record that is left."""
    rows = list(one.rows(found))
    return int(rows[-1]["offset"]) + 1 if rows else one.position


def _once_more(one: Any, following: Step, *words: Any) -> Any:
    """Fetch the first answer twice, and deliver it twice."""
    again, one.repeated = not hasattr(one, "repeated"), True
    return one.position if again else following(*words)


# --- what is delivered ---


def _markers(_: Any, rows_of: Step, entry: RecordBatch | Message) -> Iterator[Row]:
    if isinstance(entry, RecordBatch):
        tree: Any = json_of(entry, with_derived=True)
        return map(row_of, tree["records"])
    return rows_of(entry)


def _without_hidden(one: Any, _: Step, found: Log) -> Iterator[Row]:
    """Hide a producer that aborted once for ever, whatever it commits later."""
    for entry in found.batches:
        if not isinstance(entry, RecordBatch) or entry.producer_id not in one.hidden:
            yield from one.rows_of(entry)


def _note_hidden(one: Any, options: Step, aborted: Aborted) -> Options:
    found: Options = options(aborted)
    one.hidden = {producer for producer, _ in found.aborted}
    return found


def _without_gaps(_: Any, rows: Step, found: Log) -> Iterator[Row]:
    """Drop a record whose offset does not follow the last one."""
    before: int | None = None
    for row in rows(found):
        offset = int(row["offset"])
        if before is None or offset == before + 1:
            yield row
        before = offset


def with_options(**options: Any) -> Step:
    """Read with other options; a function of the aborted transactions gives a value."""
    return lambda _, step, aborted: evolve(
        step(aborted), **{name: one(aborted) if callable(one) else one for name, one in options.items()}
    )


def shown(change: Callable[[Row], Row]) -> Step:
    return lambda _, show, row: show(change(row))


def only(wanted: Callable[[Row], bool]) -> Step:
    return lambda _, show, row: show(row) if wanted(row) else None


def _held(one: Any, show: Step, row: Row) -> None:
    """Deliver a record when the next one comes."""
    if held := getattr(one, "held", None):
        show(held)
    one.held = row


# --- damage ---


def _silent(one: Any, _: Step, data: bytes, __: Rejected) -> None:
    for row in one.rows(one.before(data)):
        one.show(row)
    time.sleep(SECONDS)


def _past_damage(one: Any, _: Step, data: bytes, __: Rejected) -> None:
    one.position = max((entry.last for entry in split_log(data).entries), default=one.position) + 1


def _any_crc(_: Any, decode: Step, data: bytes, options: Options) -> Any:
    whole = b"".join(
        with_right_crc(entry.data) if entry.magic == 2 else entry.data for entry in split_log(data).entries
    )
    return decode(whole + data[len(whole) :], options)


def at_cut_tail(then: Callable[[], Any]) -> Step:
    """Do something after an answer that ends in the middle of a batch."""

    def take(_: Any, take: Step, data: bytes, aborted: Aborted) -> None:
        take(data, aborted)
        if sum(len(entry.data) for entry in split_log(data).entries) < len(data):
            then()

    return take


def _consumer(case: str, **steps: Step) -> tuple[str, type[PlainConsumer]]:
    return case, patched(PlainConsumer, **steps)


CONSUMERS: Final[Mapping[str, tuple[str, type[PlainConsumer]]]] = {
    "advances-by-count": _consumer(  # tulios/kafkajs#577
        f"{LOG}/entries/gap-at-the-end", following=_after_last_record
    ),
    "always-create-time": _consumer(  # confluentinc/librdkafka#2368
        f"{BATCH}/timestamps/log-append",
        show=shown(lambda row: row | {"timestampType": row["timestampType"] and "CreateTime"}),
    ),
    "delivers-aborted": _consumer(f"{LOG}/delivered/read-committed", options=with_options(aborted=())),
    "delivers-below-offset": _consumer(
        f"{LOG}/delivered/from-second", options=with_options(fetch_offset=None)
    ),
    "delivers-damage": _consumer(f"{LOG}/damaged/second-crc", decode=_any_crc),
    "delivers-markers": _consumer(  # tulios/kafkajs#208
        f"{LOG}/delivered/from-hides-control", options=lambda *_: Options(), rows_of=_markers
    ),
    "drops-after-gap": _consumer(f"{BATCH}/batch/compacted-gaps", rows=_without_gaps),
    "drops-null-headers": _consumer(
        f"{LOG}/delivered/header-null",
        show=shown(lambda row: row | {"headers": [one for one in row["headers"] if one[1] is not None]}),
    ),
    "drops-null-keys": _consumer(f"{LOG}/delivered/key-null", show=only(lambda row: row["key"] is not None)),
    "drops-null-values": _consumer(
        f"{LOG}/delivered/value-null", show=only(lambda row: row["value"] is not None)
    ),
    "empty-for-null-header": _consumer(
        f"{LOG}/delivered/header-null",
        show=shown(lambda row: row | {"headers": [[name, one or ""] for name, one in row["headers"]]}),
    ),
    "empty-for-null-key": _consumer(
        f"{LOG}/delivered/key-null", show=shown(lambda row: row | {"key": row["key"] or ""})
    ),
    "empty-for-null-value": _consumer(
        f"{LOG}/delivered/value-null", show=shown(lambda row: row | {"value": row["value"] or ""})
    ),
    "ends-at-cut-tail": _consumer(f"{LOG}/tail/60-bytes", take=at_cut_tail(sys.exit)),
    # It drops a damaged answer, and asks for it again, as librdkafka does.
    "fetches-damage-for-ever": _consumer(f"{LOG}/damaged/first-crc", refuse=lambda *_: None),
    "hides-aborted-from-uncommitted": _consumer(  # twmb/franz-go#758
        f"{LOG}/transactions/uncommitted-aborted-list",
        options=with_options(isolation="read_committed", aborted=lambda aborted: aborted),
    ),
    "holds-last-record": _consumer(f"{LOG}/entries/one", show=_held),
    "jumps-over-next-batch": _consumer(
        f"{LOG}/entries/one", following=lambda _, following, *words: following(*words) + 1
    ),
    "keeps-aborted-producer": _consumer(
        f"{LOG}/delivered/commits-after-abort", rows=_without_hidden, options=_note_hidden
    ),
    "loses-headers": _consumer(
        f"{LOG}/delivered/headers-two",
        show=shown(lambda row: row | {"headers": []} if row["value"] != END.hex() else row),
    ),
    "loses-second-of-equal-headers": _consumer(  # tulios/kafkajs#1132
        f"{LOG}/delivered/headers-repeated",
        show=shown(lambda row: row | {"headers": [list(one) for one in dict(row["headers"]).items()]}),
    ),
    "nulls-of-old-messages": _consumer(  # confluentinc/librdkafka#5549
        "kafka.batch/v0/message/key-and-value",
        rows_of=lambda _, rows_of, entry: (
            row | ({"key": None, "value": None} if isinstance(entry, Message) else {})
            for row in rows_of(entry)
        ),
    ),
    "panics-at-damage": _consumer(
        f"{LOG}/damaged/first-crc", refuse=lambda *_: os.kill(os.getpid(), signal.SIGSEGV)
    ),
    "reads-first-batch-only": _consumer(  # tulios/kafkajs#179
        f"{LOG}/entries/three",
        rows=lambda _, rows, found: rows(evolve(found, batches=found.batches[:1])),
    ),
    "refuses-cut-tail": _consumer(  # IBM/sarama#998
        f"{LOG}/tail/60-bytes", take=at_cut_tail(lambda: put({"error": "the answer is cut"}))
    ),
    "repeats-batch": _consumer(f"{LOG}/entries/one", following=_once_more),
    "skips-damage": _consumer(f"{LOG}/damaged/second-crc", refuse=_past_damage),
    "spins-when-nothing-is-delivered": _consumer(
        f"{LOG}/delivered/only-control",
        following=lambda one, following, found, data: (
            following(found, data) if any(one.rows(found)) else one.position
        ),
    ),
    "stops-at-empty-batch": _consumer(  # IBM/sarama#3221
        f"{LOG}/entries/data-then-empty", following=_begin_of_empty
    ),
    "stops-silently": _consumer(f"{LOG}/damaged/second-crc", refuse=_silent),
}
"""By the name of a fault: the case that kills the consumer, and the consumer."""


# --- producers, whose first answers are lost if they have an id ---


def written(fields: Callable[[Mapping[str, str], list[Row]], Row]) -> Step:
    """Write other fields of a batch, from its value and its records."""

    def value(_: Any, value: Step, records: list[Row]) -> Any:
        found = value(records)
        return found | fields(found, records)

    return value


def _next_sequence(one: Any, again: Step, records: list[Row]) -> Any:
    """Send a batch again so that it is stored twice."""
    one.sequence += len(records)
    return again(records)


def _producer(case: str, **steps: Step) -> tuple[str, type[PlainProducer]]:
    return f"{BATCH}/{case}", patched(PlainProducer, **steps)


PRODUCERS: Final[Mapping[str, tuple[str, type[PlainProducer]]]] = {
    "begins-at-sequence-one": _producer(
        "produce/encode-idempotent",
        value=written(lambda found, _: {"baseSequence": str(int(found["baseSequence"]) + 1)}),
    ),
    "forgets-max-timestamp": _producer(  # IBM/sarama#3108
        "produce/encode-max-timestamp",
        value=written(lambda _, records: {"maxTimestamp": records[0]["timestamp"]}),
    ),
    "reports-next-offset": _producer(
        "produce/encode-three-records", produce=lambda _, produce, data: produce(data) + 1
    ),
    "retries-with-next-sequence": _producer("produce/encode-idempotent", again=_next_sequence),
    # The records under the sequence of the first ones are lost.
    "retries-with-other-records": _producer(
        "produce/encode-idempotent",
        again=lambda _, again, records: again([one | {"value": "00"} for one in records]),
    ),
    "sends-each-record-alone": _producer(
        "produce/encode-three-records", batches=lambda one, _: [[record] for record in one.records]
    ),
    "writes-empty-for-null": _producer(  # tulios/kafkajs#185
        "encode/nulls",
        record=lambda _, record, one, *words: record(one, *words) | {"value": one["value"] or ""},
    ),
    "writes-next-epoch": _producer(
        "produce/encode-idempotent",
        value=written(lambda found, _: {"producerEpoch": str(int(found["producerEpoch"]) + 1)}),
    ),
    "writes-no-codec": _producer(
        "produce/encode-gzip",
        value=written(lambda found, _: {"attributes": str(int(found["attributes"]) & ~7)}),
    ),
    "writes-no-last-offset-delta": _producer(  # IBM/sarama#1026
        "produce/encode-three-records", value=written(lambda *_: {"lastOffsetDelta": "0"})
    ),
    "writes-no-transactional-bit": _producer(  # tulios/kafkajs#199
        "produce/encode-transactional",
        value=written(lambda found, _: {"attributes": str(int(found["attributes"]) & 7)}),
    ),
    "writes-one-header": _producer(
        "encode/headers",
        record=lambda _, record, one, *words: record(one | {"headers": one["headers"][-1:]}, *words),
    ),
}
"""The same for producers."""

NO_FAULT: Final = "none"

if __name__ == "__main__":
    fault, start, *arguments = sys.argv[1:]
    table: Mapping[str, tuple[str, type[Any]]] = PRODUCERS if start == "produce" else CONSUMERS
    right = PlainProducer if start == "produce" else PlainConsumer
    (right if fault == NO_FAULT else table[fault][1])(*arguments).run()
