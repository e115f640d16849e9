"""Faults that several requests show: of producers, transactions, fetches, times, and what is forgotten."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from attrs import evolve

from tests.live.mock_broker.append_faults import as_if, cut, fault
from tests.live.mock_broker.variants import (
    ConvertingPartition,
    ForgettingCoordinator,
    ForgettingPartition,
    written,
)
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.live.loopback_broker import append_rules
from wireproof.live.loopback_broker.append_rules import (
    AppendRefused,
    Arrival,
    ErrorCode,
    Form,
    batches_of,
)
from wireproof.live.loopback_broker.cluster import Coordinator
from wireproof.live.loopback_broker.faults import Step, patched
from wireproof.live.loopback_broker.fetching import NO_LIMIT, Fetching, Part
from wireproof.live.loopback_broker.partition import (
    SEQUENCES,
    Aborted,
    Appended,
    CleaningPartition,
    ServedPartition,
    StoredEntry,
    batch_in,
    data_in,
)

Rows = dict[str, tuple[str, type[Any]]]
"""By the name of a fault: the end of the id of the case that kills it, and the partition."""


def nothing(*_: Any) -> None:
    """Do nothing in place of a step."""


def recorded(entries: Iterable[StoredEntry]) -> list[Record]:
    return [record for one in entries for record in batch_in(one).records]


# --- producers ---


def _one_batch(log: ServedPartition, known_producer: Step, batch: RecordBatch) -> Any:
    """Forget all batches of a producer but the last one."""
    known = log._producers.get(batch.producer_id)
    while known is not None and len(known.batches) > 1:
        known.batches.popleft()
    return known_producer(batch)


def _end(log: ServedPartition, known_producer: Step, batch: RecordBatch) -> Any:
    known = known_producer(batch)
    return Appended(log.end) if isinstance(known, Appended) else known


def _no_wrap(_: ServedPartition, check: Step, known: Any, first: int) -> None:
    if known.batches and known.batches[-1][1] == SEQUENCES - 1:
        raise AppendRefused(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "sequence 0, expected 2147483648")
    check(known, first)


def _sequences_alone(log: ServedPartition, known_producer: Step, batch: RecordBatch) -> Any:
    known = log._producers.get(batch.producer_id)
    last = (batch.base_sequence + batch.last_offset_delta) % SEQUENCES
    for begin, end, answer in known.batches if known else ():
        if (begin, end) == (batch.base_sequence, last):
            return answer
    return known_producer(batch)


def _no_producers(log: ServedPartition, step: Step, *words: Any) -> Any:
    log._producers.clear()
    return step and step(*words)


IDEMPOTENCE: Final[Rows] = {
    "accepts-gap": fault("gap", check_sequence=nothing),
    "accepts-old-epoch": fault("epoch-back", check_epoch=nothing),  # as if it were the latest one
    "answers-retry-with-end": fault("duplicate", known_producer=_end),  # and does not store it
    "forgets-deleted-producer": fault("after-delete", delete_before=_no_producers),  # as before KIP-360
    "new-epoch-is-retry": fault("epoch-next-same-sequences", known_producer=_sequences_alone),
    "remembers-one-batch": fault("duplicate-of-fifth", known_producer=_one_batch),
    "sequences-do-not-wrap": fault("wrap-behind-record", check_sequence=_no_wrap),
}


# --- transactions ---


def _closes_all(log: ServedPartition, write_marker: Step, *words: int, **named: Any) -> None:
    write_marker(*words, **named)
    log.open.clear()


def _notes_commit(log: ServedPartition, write_marker: Step, producer: int, *words: int, **named: Any) -> None:
    first = log.open.get(producer)
    write_marker(producer, *words, **named)
    if named["commit"] and first is not None:
        log.aborted.append(Aborted(producer, first, log.end - 1))


def _last_epoch(log: ServedPartition, write_marker: Step, producer: int, epoch: int, **named: Any) -> None:
    known = log._producers.get(producer)
    write_marker(producer, known.epoch if known else epoch, **named)


def _times_of_producer(_: ServedPartition, form: Step, sent: Arrival, now: int) -> Form:
    found, batch = form(sent, now), sent.batch
    if not batch.attributes & TRANSACTIONAL:
        return found
    attributes = found.header.attributes & ~LOG_APPEND_TIME
    return evolve(
        found, header=evolve(found.header, attributes=attributes, max_timestamp=batch.max_timestamp)
    )


def _no_transaction(_: ServedPartition, form: Step, *words: Any) -> Form:
    found: Form = form(*words)
    if not found.header.attributes & LOG_APPEND_TIME:
        return found
    return evolve(found, header=evolve(found.header, attributes=found.header.attributes & ~TRANSACTIONAL))


def _marker(log: ServedPartition, _: Step, producer: int, epoch: int, *, commit: bool, now: int) -> Form:
    return append_rules.marker(producer, epoch, commit=commit, offset=log.end, now=now)


def _last_markers(_: ServedPartition, cleaned: Step, entries: list[StoredEntry]) -> list[StoredEntry]:
    """Leave the last marker of each key, as if markers were records."""
    last = {batch_in(one).records[0].key: one.base_offset for one in entries if one.is_marker}
    return [one for one in cleaned(entries) if not one.is_marker or one.base_offset in last.values()]


def _markers_of_one(_: ServedPartition, cleaned: Step, entries: list[StoredEntry]) -> list[StoredEntry]:
    """Leave the markers of the producer that ended a transaction last."""
    producers = [batch_in(one).producer_id for one in entries if one.is_marker]
    return [
        one for one in cleaned(entries) if not one.is_marker or batch_in(one).producer_id == producers[-1]
    ]


def _first_of_key(_: ServedPartition, __: Step, entries: list[StoredEntry]) -> set[int]:
    rows = [record for _, batch in data_in(entries) for record in batch.records]
    return set({record.key: record.offset for record in reversed(rows)}.values())


def _no_aborted(log: ServedPartition, cleaned: Step, entries: list[StoredEntry]) -> Any:
    left = cleaned(entries)
    log.aborted = []
    return left


TRANSACTION: Final[Rows] = {
    "accepts-plain-in-transaction": fault("plain-inside", check_transaction=nothing),
    "append-time-clears-transaction": fault("append-time-gzip", form=_no_transaction),
    "cleaning-counts-aborted": fault("cleaned-aborted", CleaningPartition, is_aborted=lambda *_: False),
    "cleaning-forgets-aborted": fault("cleaned-aborted", CleaningPartition, cleaned=_no_aborted),
    "cleans-markers": fault("cleaned-markers", CleaningPartition, cleaned=_last_markers),
    "cleans-markers-of-others": fault("cleaned-markers-of-two", CleaningPartition, cleaned=_markers_of_one),
    "cleans-newer-records": fault("cleaned-newer", CleaningPartition, kept=_first_of_key),
    "commit-is-abort": fault("commit", write_marker=_notes_commit),
    "markers-keep-times": fault("append-time-commit", marker=_marker),
    # It names those before the fetched range too.
    "names-all-aborted": fault(
        "aborted-range", aborted_for=lambda _, found, __, end, **named: found(0, end, **named)
    ),
    "names-no-aborted": fault("abort", aborted_for=lambda *_, **__: []),
    "stable-offset-is-end": fault("commit", last_stable_offset=lambda log, _: log.end),
    # Every marker moves it to the end, whoever else is in a transaction.
    "stable-offset-of-ended": fault("first-open", write_marker=_closes_all),
    "stable-offset-of-last": fault(
        "two-open", last_stable_offset=lambda log, _: max(log.open.values(), default=log.end)
    ),
    "transactions-keep-times": fault("append-time-commit", form=_times_of_producer),
}

TRANSACTION_V2: Final[Rows] = {"marker-keeps-epoch": fault("commit", write_marker=_last_epoch)}


# --- fetches ---


def fetching(case: str, **steps: Step) -> tuple[str, type[Any]]:
    """Return a broker with other steps of the answer to a Fetch."""
    return case, type("Partition", (ServedPartition,), {"fetching_class": patched(Fetching, **steps)})


def _again(one: Any, look: Step) -> list[Part]:
    """Note that it waited."""
    one.looks = getattr(one, "looks", 0) + 1
    return look()


def _left_out(one: Any, reply: Step, parts: Sequence[Part]) -> Any:
    if not one.is_ready(parts):
        for _, _, answer in parts:
            answer["records"] = b""
    return reply(parts)


def _at_end(one: Any, is_ready: Step, parts: Sequence[Part]) -> bool:
    """Compare the high watermark with the offset."""
    rows = zip(parts, one.rows.values(), strict=True)
    ended = any(answer["high_watermark"] > asked.fetch_offset for (_, _, answer), (_, asked) in rows)
    return ended or is_ready(parts)


def _to_limit(_: ServedPartition, read: Step, offset: int, most: int, bound: int | None = None) -> bytes:
    found: bytes = read(offset, most, bound)
    return found if len(found) <= most else b""


def _from_zero(log: ServedPartition, delete: Step, offset: int) -> int:
    start: int = delete(offset)
    if log.start == log.end:
        log.stored.clear()
        log.start = log.end = 0
    return start


FETCH: Final[Rows] = {
    "forgets-limit-after-wait": fetching(
        "wait-limit", look=_again, response_limit=lambda one, limit: NO_LIMIT if one.looks > 1 else limit()
    ),
    # Each partition is compared with the limit of the response alone.
    "limits-each-partition": fetching(
        "two-limit-of-response",
        is_too_much=lambda one, step, size, _, before: step(size, one.response_limit(), before),
    ),
    # The first partition of the request may pass the limit, also if it has nothing, and no other one.
    "limits-second-partition": fetching(
        "two-first-empty", is_too_much=lambda _, __, size, rest, before: size > rest and bool(before)
    ),
    "passes-limit-in-each-partition": fetching("two-limit-passed", is_too_much=lambda *_: False),
    "reads-deleted": fault("deleted-before", check_range=as_if(start=0)),
    "refuses-large-after-wait": fetching(
        "wait-first-batch",
        look=_again,
        is_too_much=lambda one, step, size, rest, before: (
            size > rest if one.looks > 1 else step(size, rest, before)
        ),
    ),
    "refuses-large-first-batch": fault("limit-of-partition", read_from=_to_limit),
    "returns-nothing-after-wait": fetching("wait-in-vain", reply=_left_out),
    "reuses-deleted-offsets": fault("deleted-all", delete_before=_from_zero),
    # It fills the response in the order of the numbers of partitions.
    "sorts-partitions": fetching(
        "two-order", ordered=lambda _, ordered: sorted(ordered(), key=lambda row: int(row[0][1]))
    ),
    "waits-for-first-byte": fetching(
        "wait-bytes-apart",
        is_ready=lambda _, __, parts: any(one["records"] or one["error_code"] for *_, one in parts),
    ),
    "waits-for-nothing": fetching("wait", is_ready=lambda *_: True),
    # A record of an open transaction ends the wait for committed ones.
    "waits-for-open-transaction": fetching("wait-committed", is_ready=_at_end),
    "waits-past-end": fault("past-end", check_range=lambda log, check, offset: check(min(offset, log.end))),
}


# --- offsets for times ---


def _batch_of(log: ServedPartition, found: Record | None) -> RecordBatch | None:
    """Return the batch that has a record."""
    batches = (batch_in(one) for one in log.stored if found and one.last_offset >= found.offset)
    return next(batches, None)


def _first_of_batch(log: ServedPartition, after: Step, timestamp: int) -> Record | None:
    batch = _batch_of(log, after(timestamp))
    return batch and batch.records[0]


def _first_of_compressed(log: ServedPartition, after: Step, timestamp: int) -> Record | None:
    exact: Record | None = after(timestamp)
    batch = _batch_of(log, exact)
    return batch.records[0] if batch and batch.attributes & CODEC_MASK else exact


def _before(log: ServedPartition, after: Step, timestamp: int) -> Record | None:
    """Return the last record that is not later: a search that ends one place too early."""
    found: Record | None = after(timestamp)
    if found is None or found.timestamp == timestamp or not found.offset:
        return found
    return next(record for record in recorded(log.stored) if record.offset == found.offset - 1)


def _later_batches(log: Any, timestamp: int) -> list[StoredEntry]:
    """Begin behind the last batch that is earlier, as if times rose."""
    places = [place for place, one in enumerate(log.stored) if one.max_timestamp < timestamp]
    return log.stored[places[-1] + 1 if places else 0 :]


def _last_record(log: ServedPartition) -> Record | None:
    return next(reversed(recorded(log.stored[-1:])), None)


def _last_of_batch(log: ServedPartition, latest: Step) -> Record | None:
    batch = _batch_of(log, latest())
    return batch and batch.records[-1]


def _note_times(log: Any, check: Step, sent: Arrival, now: int) -> None:
    check(sent, now)
    rows = [evolve(one, offset=log.end + one.offset) for one in sent.batch.records]
    log.written = [*getattr(log, "written", ()), *rows]


def _noted(log: Any, _: Step, timestamp: int) -> Record | None:
    return next((one for one in getattr(log, "written", ()) if one.timestamp >= timestamp), None)


def _note_cleaned(log: Any, cleaned: Step, entries: list[StoredEntry]) -> Any:
    log.written = [record for _, batch in data_in(entries) for record in batch.records]
    return cleaned(entries)


LIST_OFFSETS: Final[Rows] = {
    # It answers the times of records that were cleaned away.
    "cleaning-keeps-times": fault(
        "cleaned-batch",
        CleaningPartition,
        cleaned=_note_cleaned,
        first_after=lambda log, after, timestamp: _noted(log, after, timestamp) or after(timestamp),
    ),
    "latest-is-last": fault("max-first-batch", latest=lambda log, _: _last_record(log)),
    "latest-is-last-of-batch": fault("max-inside-gzip", latest=_last_of_batch),  # KAFKA-16342, until 3.8
    "latest-of-empty-is-first": fault(
        "max-empty", latest=lambda _, latest: latest() or Record(0, -1, 0, None, None, ())
    ),
    "lists-batches": fault("inside-batch", first_after=_first_of_batch),
    "lists-before-time": fault("between-batches", first_after=_before),
    "lists-compressed-batches": fault("inside-gzip", first_after=_first_of_compressed),
    "lists-deleted": fault("deleted-inside", first_after=as_if(start=0)),
    "lists-end-for-future": fault(
        "behind-last", first_after=lambda log, after, timestamp: after(timestamp) or _last_record(log)
    ),
    # It takes numbers below 0 that a version does not have for times.
    "lists-every-number": fault("max-older-version", check_listed=nothing),
    # It leaves out a record of the same time.
    "lists-later-times": fault("at-record", first_after=lambda _, after, timestamp: after(timestamp + 1)),
    "lists-open-transactions": fault("open-transaction", last_listed=lambda log, _: log.end),
    "lists-sorted-times": fault(
        "back",
        first_after=lambda log, after, timestamp: as_if(stored=lambda _: _later_batches(log, timestamp))(
            log, after, timestamp
        ),
    ),
    "lists-times-of-producers": fault("append-time", check=_note_times, first_after=_noted),
    "local-start-is-zero": fault("local-deleted", local_start=lambda *_: 0),
    "tiered-end-is-end": fault("tiered", tiered_end=lambda log, _: log.end - 1),
}


# --- what is forgotten ---


def forgetting(case: str, forget_idle: Step) -> tuple[str, type[Any]]:
    """Return a broker whose coordinator forgets otherwise."""
    coordinator = patched(ForgettingCoordinator, forget_idle=forget_idle)
    return case, type("Partition", (ForgettingPartition,), {"coordinator_class": coordinator})


def _forget_open(coordinator: ForgettingCoordinator, _: Step, now: int, age: int) -> None:
    coordinator._ids = {name: one for name, one in coordinator._ids.items() if now - one.changed < age}


EXPIRY: Final[Rows] = {
    "forgets-at-once": fault(
        "producer-used", ForgettingPartition, forget_idle=lambda _, forget, now, __: forget(now, 0)
    ),
    "forgets-no-producer": fault("producer", ForgettingPartition, forget_idle=nothing),
    "forgets-no-transactional-id": forgetting("transactional-id", nothing),
    "forgets-open-transaction": fault(
        "open-transaction", ForgettingPartition, forget_idle=as_if(open=lambda _: {})
    ),
    "forgets-open-transactional-id": forgetting("open-transactional-id", _forget_open),
}


# --- what a restart changes ---


def _no_epochs(log: ServedPartition, _: Step) -> None:
    for known in log._producers.values():
        known.epoch = 0


RESTART: Final[Rows] = {
    "restart-forgets-aborted": fault("aborted", restarted=lambda log, _: log.aborted.clear()),
    "restart-forgets-epochs": fault("epoch", restarted=_no_epochs),
    "restart-forgets-open-transactions": fault("open-commit", restarted=lambda log, _: log.open.clear()),
    "restart-forgets-producers": fault("duplicate", restarted=_no_producers),
    "restart-forgets-times": fault(
        "times", restarted=lambda log, _: setattr(log, "first_after", lambda _: None)
    ),
    "restart-forgets-transactional-ids": (
        "open-abort",
        type(
            "Partition",
            (ServedPartition,),
            {"coordinator_class": patched(Coordinator, restarted=lambda one, _: one._ids.clear())},
        ),
    ),
    "restart-loses-last-batch": fault("records", restarted=cut),
    "restart-restores-deleted": fault("deleted", restarted=lambda log, _: setattr(log, "start", 0)),
}


# --- what old versions of Fetch return ---


def converting(case: str, **steps: Step) -> tuple[str, type[Any]]:
    return fault(case, ConvertingPartition, **steps)


def without(bits: int) -> Step:
    """Take a batch as if it had not these attributes."""
    return lambda _, messages, batch, *words: messages(
        evolve(batch, attributes=batch.attributes & ~bits), *words
    )


def _inner(change: Any) -> Step:
    """Change the messages that are no wrappers."""
    return lambda _, messages, *words: [
        change(one) if one.messages is None else one for one in messages(*words)
    ]


def _untyped(one: Message) -> Message:
    return evolve(one, attributes=one.attributes & ~LOG_APPEND_TIME)


def _no_null(one: Message) -> Message:
    return evolve(one, value=one.value or b"")


def _repeated(log: ConvertingPartition, read: Step, data: bytes, offset: int, magic: int) -> bytes:
    """Return the first record twice if a marker stands before it."""
    found: bytes = read(data, offset, magic)
    first, *rest = (log.messages(one, offset, magic) for one in batches_of(data))
    follows = next(iter(rest), [])
    return written(follows) + found if not first and follows else found


DOWN_CONVERSION: Final[Rows] = {
    # It returns the messages before the offset that is asked for too.
    "begins-batch-for-old-fetch": converting(
        "inside", messages=lambda _, messages, batch, __, magic: messages(batch, batch.base_offset, magic)
    ),
    "converts-although-disabled": converting(
        "disabled", read_old=as_if(settings=lambda log: evolve(log.settings, down_conversion=True))
    ),
    "empties-tombstones-of-old-fetch": converting("nulls", messages=_inner(_no_null)),
    "loses-timestamp-type": converting("append-time", messages=_inner(_untyped)),
    "markers-are-messages": converting("commit", messages=without(CONTROL)),
    "repeats-after-marker": converting("marker-first", read_old=_repeated),  # LazyDownConversionRecords did
    "returns-batches-to-old-fetch": converting("v1", read_old=lambda _, __, data, *___: data),
    "returns-one-old-format": converting(
        "v0", messages=lambda _, messages, batch, offset, __: messages(batch, offset, 1)
    ),
    "unpacks-for-old-fetch": converting("compressed-v1", messages=without(CODEC_MASK)),
}
