"""Faults that a case of one append shows: those that brokers had, or that a rule of kafka.md §1.7 forbids."""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from attrs import evolve

from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME
from wireproof.kafka.entry import peek_batch
from wireproof.live.loopback_broker.append_rules import (
    BODY,
    AppendRefused,
    Arrival,
    ErrorCode,
    Form,
    finished,
    form_of,
)
from wireproof.live.loopback_broker.faults import (
    HEADER,
    Step,
    header,
    patched,
    with_crc,
    with_numbers,
    with_records,
    with_right_crc,
)
from wireproof.live.loopback_broker.partition import Appended, ServedPartition
from wireproof.live.loopback_broker.server import Die, Hang

DAY_MS: Final = 86_400_000
ANY: Final = 1 << 63
GZIP: Final = 1

LARGE: Final = 3
"""The number of records at which a broker hangs or dies."""

APPENDS: Final = count(1)
"""The number of all appends of the brokers that answer it."""


def fault(case: str, base: type[ServedPartition] = ServedPartition, **steps: Step) -> tuple[str, type[Any]]:
    """Return the end of the id of the case that kills a broker, and the partitions of the broker."""
    return case, patched(base, **steps)


# --- what is refused ---


def first_size(data: bytes) -> int:
    return 12 + int.from_bytes(data[8:12], "big", signed=True)


def is_sound(data: bytes) -> bool:
    """Return whether the bytes are one batch with a right CRC, so that a change of it means something."""
    return len(data) >= BODY and first_size(data) == len(data) and with_right_crc(data) == data


def numbers_of(data: bytes) -> dict[str, int]:
    return dict(zip(HEADER.names, HEADER.peek(data), strict=True))


def edited(edit: Callable[[dict[str, int]], dict[str, int]]) -> Step:
    """Read a sound batch with other numbers in its header."""

    def read(_: ServedPartition, read: Step, data: bytes, version: int) -> Any:
        numbers = edit(numbers_of(data)) if is_sound(data) else {}
        return read(with_numbers(data, **numbers) if numbers else data, version)

    return read


def _any_crc(_: ServedPartition, read: Step, data: bytes, version: int) -> Any:
    whole = len(data) > BODY and first_size(data) == len(data)
    return read(with_right_crc(data) if whole else data, version)


def _no_control(_: ServedPartition, read: Step, data: bytes, version: int) -> Any:
    if len(data) > BODY and (attributes := numbers_of(data)["attributes"]) & CONTROL:
        data = with_numbers(data, attributes=attributes & ~CONTROL)
    return read(data, version)


def _delta_of_count(numbers: dict[str, int]) -> dict[str, int]:
    return {"lastOffsetDelta": numbers["recordsCount"] - 1} if numbers["recordsCount"] > 0 else {}


def _noted(log: Any, read: Step, data: bytes, version: int) -> Any:
    """Keep the delta of the producer, and make it agree for the checks."""
    arrival = edited(_delta_of_count)(log, read, data, version)
    log.delta = numbers_of(data)["lastOffsetDelta"]
    return arrival


def _sequence(numbers: dict[str, int]) -> dict[str, int]:
    return {"baseSequence": 0} if numbers["producerId"] >= 0 > numbers["baseSequence"] else {}


class AcceptsEmpty(ServedPartition):
    """Stores a batch without records as it is, and moves the high watermark by one."""

    def read(self, data: bytes, version: int) -> Arrival:
        if not is_sound(data) or numbers_of(data)["recordsCount"]:
            return super().read(data, version)
        return Arrival(data, peek_batch(data))

    def form(self, arrival: Arrival, now: int) -> Form:
        if arrival.batch.records:
            return super().form(arrival, now)
        header = evolve(arrival.batch, base_offset=self.end, partition_leader_epoch=0)
        return Form(header, arrival.data[BODY:])

    def keep(self, form: Form, data: bytes) -> None:
        header = form.header if form.header.records else evolve(form.header, last_offset_delta=0)
        super().keep(evolve(form, header=header), data)


def as_if(**fields: Any) -> Step:
    """Take a step as if the object had these fields, each of which may be a function of the object."""

    def taken(one: Any, step: Step, *words: Any, **named: Any) -> Any:
        kept = {name: getattr(one, name) for name in fields}
        try:
            for name, value in fields.items():
                setattr(one, name, value(one) if callable(value) else value)
            return step(*words, **named)
        finally:
            for name, value in kept.items():
                setattr(one, name, value)

    return taken


def with_settings(**settings: Any) -> Step:
    """Take a step as if the topic had these settings."""
    return as_if(settings=lambda log: evolve(log.settings, **settings))


def _leader_epoch(_: ServedPartition, check: Step, sent: Arrival, now: int) -> None:
    check(sent, now)
    if sent.batch.partition_leader_epoch != -1:
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, "the leader epoch is not -1")


def refusing(step: Callable[..., Any]) -> Step:
    """Do something where a step refuses, from the partition, the refusal, and the arguments of the step."""

    def checked(log: ServedPartition, check: Step, *words: Any) -> Any:
        try:
            return check(*words)
        except AppendRefused as refused:
            return step(log, refused, *words)

    return checked


def _half(log: ServedPartition, refused: AppendRefused, sent: Arrival, now: int) -> None:
    """Store the records before the first wrong one."""
    if refused.records and (good := sent.batch.records[: refused.records[0][0]]):
        first = evolve(sent.batch, records=good, last_offset_delta=len(good) - 1)
        _whole(log, refused, Arrival(finished(form_of(first)), first), now)
    raise refused


def _whole(log: ServedPartition, refused: AppendRefused, sent: Arrival, now: int) -> None:
    form = log.form(sent, now)
    log.keep(form, log.finish(form, sent))
    raise refused


def cut(log: ServedPartition, *_: Any) -> None:
    """Cut the last batch off a log."""
    if log.stored:
        log.end = log.stored.pop().base_offset


def _cut(log: ServedPartition, refused: AppendRefused, *_: Any) -> None:
    cut(log)
    raise refused


# --- what is stored ---


def _crc_of_producer(log: ServedPartition, finish: Step, form: Form, sent: Arrival) -> bytes:
    data: bytes = finish(form, sent)
    return with_crc(data, numbers_of(sent.data)["crc"]) if log.settings.append_time else data


def _reversed(_: ServedPartition, form: Step, *words: Any) -> Form:
    found = form(*words)
    pairs = zip(found.header.records, reversed(found.header.records), strict=True)
    return with_records(found, tuple(evolve(one, offset_delta=place.offset_delta) for place, one in pairs))


def _codec_alone(_: ServedPartition, form: Step, sent: Arrival, now: int) -> Form:
    found: Form = form(sent, now)
    source, target = sent.batch.attributes & CODEC_MASK, found.header.attributes & CODEC_MASK
    return found if source == target else evolve(found, body=sent.data[BODY:])


def _gap(log: ServedPartition, keep: Step, form: Form, data: bytes) -> None:
    keep(form, data)
    log.end += 1


def at_large(order: type[Exception]) -> Step:
    """Give the server an order before a batch of three records or more is stored."""

    def keep(_: ServedPartition, keep: Step, form: Form, data: bytes) -> None:
        if len(form.header.records) >= LARGE:
            raise order
        keep(form, data)

    return keep


# --- what is read ---


def _next_batch(log: ServedPartition, read: Step, offset: int, *words: Any) -> bytes:
    """Leave out the batch that begins before the offset."""
    later = [stored.base_offset for stored in log.stored if stored.base_offset >= offset]
    found: bytes = read(later[0], *words) if later else b""
    return found


APPEND_FAULTS: Final = {
    "accepts-any-size": fault(
        "size-none-1-above", __init__=lambda _, init, settings: init(evolve(settings, max_bytes=1 << 31))
    ),
    "accepts-any-time": fault("after-none", check=with_settings(before_ms=ANY, after_ms=ANY)),
    "accepts-bad-crc": fault("crc-value", read=_any_crc),  # and stores a right one
    "accepts-base-offset": fault("base-offset-5", read=edited(lambda _: {"baseOffset": 0})),
    "accepts-empty": ("empty", AcceptsEmpty),
    "accepts-keyless": fault("compact-no-key-first-none", check=with_settings(compacted=False)),
    "accepts-no-sequence": fault("no-sequence", read=edited(_sequence)),
    # It stores the first batch of the set.
    "accepts-several-batches": fault(
        "two-batches", read=lambda _, read, data, version: read(data[: first_size(data)], version)
    ),
    "always-gzip": fault("two-none", form=with_settings(codec=GZIP)),
    # It answers every refused record set with success, and drops it.
    "answers-no-error": fault("empty", append=refusing(lambda log, *_: Appended(log.end))),
    # It answers the number of all appends.
    "answers-other-partition": fault(
        "two-none", answer=lambda _, answer, *words: evolve(answer(*words), base_offset=next(APPENDS))
    ),
    "answers-other-time": fault(
        "stamped-none", answer=lambda _, answer, form, now: answer(form, now + DAY_MS)
    ),
    "append-time-of-yesterday": fault(
        "stamped-none", append=lambda _, append, *words: append(*words[:-1], words[-1] - DAY_MS)
    ),
    "append-time-without-crc": fault("stamped-none", finish=_crc_of_producer),
    "appends-half-of-refused": fault("compact-no-key-second-none", check=refusing(_half)),
    "dies": fault("count-16", keep=at_large(Die)),
    "forgets-max-timestamp": fault("two-none", finish=header(lambda *_: {"max_timestamp": -1})),
    "hangs": fault("count-16", keep=at_large(Hang)),
    # It answers its own time.
    "ignores-append-time": fault(
        "stamped-none",
        finish=header(
            lambda _, __, sent: {"attributes": sent.attributes, "max_timestamp": sent.max_timestamp}
        ),
    ),
    "ignores-compression-type": fault("to-gzip-from-none", form=with_settings(codec=None)),
    "ignores-control-bit": fault("control-bit", read=_no_control),  # and stores the batch as data
    "keeps-append-time-bit": fault(
        "append-time-bit-none",
        finish=header(
            lambda _, found, sent: {"attributes": found.attributes | sent.attributes & LOG_APPEND_TIME}
        ),
    ),
    "keeps-base-offset": fault(
        "two-none", finish=header(lambda _, __, sent: {"base_offset": sent.base_offset})
    ),
    "keeps-max-timestamp": fault(
        "max-timestamp-late-none",
        finish=header(
            lambda log, _, sent: {} if log.settings.append_time else {"max_timestamp": sent.max_timestamp}
        ),
    ),
    "leaves-gap": fault("two-none", keep=_gap),
    "loses-last-offset-delta": fault("two-none", finish=header(lambda *_: {"last_offset_delta": 0})),
    "loses-leader-epoch": fault(
        "leader-epoch-5",
        finish=header(lambda _, __, sent: {"partition_leader_epoch": sent.partition_leader_epoch}),
    ),
    "loses-producer": fault(
        "producer-1000-none",
        finish=header(lambda *_: {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1}),
    ),
    "reads-from-next-batch": fault("two-none", read_from=_next_batch),
    "recompresses-wrongly": fault("to-gzip-from-none", form=_codec_alone),
    "refusal-cuts-log": fault("empty", append=refusing(_cut)),
    "refuses-leader-epoch": fault("leader-epoch-0", check=_leader_epoch),  # kfake did: franz-go#1229
    "reorders-records": fault("mixed-none", form=_reversed),
    "stores-refused": fault("compact-no-key-first-none", check=refusing(_whole)),
    # The high watermark moves by the count of the producer, or by its lastOffsetDelta; the other may be any.
    "trusts-count": fault("last-offset-delta-2", read=edited(_delta_of_count)),
    "trusts-last-offset-delta": fault(
        "last-offset-delta-2",
        read=_noted,
        form=lambda log, form, *words: evolve(
            found := form(*words), header=evolve(found.header, last_offset_delta=log.delta)
        ),
    ),
}
"""By the name of a fault: the end of the id of the case, and the partition."""
