"""A loopback broker to try a check on: sound, or with a fault, which replaces steps of an append."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from struct import pack_into
from typing import Any, Final, TypeVar

from attrs import evolve, frozen

from wireproof.family import TrialServer
from wireproof.kafka.batch import BATCH
from wireproof.kafka.layouts import HEADS
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker import server
from wireproof.live.loopback_broker.append_rules import BODY, Arrival, Form, form_of
from wireproof.live.loopback_broker.cluster import LoopbackCluster
from wireproof.live.loopback_broker.partition import CleaningPartition, ServedPartition
from wireproof.wire.checksums import crc32c

CRC_AT: Final = BATCH.offset("crc")

HEADER: Final = HEADS[2]

# --- edits of stored batches ---


def with_crc(data: bytes, crc: int) -> bytes:
    changed = bytearray(data)
    pack_into(">I", changed, CRC_AT, crc)
    return bytes(changed)


def with_right_crc(data: bytes) -> bytes:
    """Return the bytes of one batch with the CRC that they should have."""
    return with_crc(data, crc32c(data[BATCH.offset("attributes") :])) if len(data) >= BODY else data


def with_numbers(data: bytes, **numbers: int) -> bytes:
    """Return the bytes of a batch with these fields of its header, and the right CRC."""
    fields = dict(zip(HEADER.names, HEADER.peek(data), strict=True)) | numbers
    return with_right_crc(HEADER.packing.pack(*fields.values()) + data[BODY:])


def with_records(form: Form, records: tuple[Record, ...]) -> Form:
    """Return the form of a batch with these records."""
    return form_of(evolve(form.header, records=records))


# --- faults ---

Step = Callable[..., Any]
"""What stands in for a step: it gets the object, the right step, and the arguments of the step."""

T = TypeVar("T")


def patched(base: type[T], **steps: Step) -> type[T]:
    """Return a class with other steps than those of `base`."""

    def method(name: str, step: Step) -> Step:
        right = getattr(base, name, None)
        return lambda one, *words, **named: step(one, right and partial(right, one), *words, **named)

    return type(base.__name__, (base,), {name: method(name, step) for name, step in steps.items()})


def header(fields: Callable[[ServedPartition, RecordBatch, RecordBatch], Mapping[str, Any]]) -> Step:
    """Return what stores other fields in a header, from the one to store and that of the producer."""

    def finish(log: ServedPartition, finish: Step, form: Form, sent: Arrival) -> Any:  # noqa: ANN401 - of any step
        other = evolve(form.header, **fields(log, form.header, sent.batch))
        return finish(evolve(form, header=other), sent)

    return finish


def records(change: Callable[[Record], Record]) -> Step:
    """Return what stores other records."""
    return lambda _, form, *words: with_records(
        found := form(*words), tuple(map(change, found.header.records))
    )


def _wrong_crc(_: ServedPartition, finish: Step, form: Form, sent: Arrival) -> bytes:
    data: bytes = finish(form, sent)
    return with_crc(data, HEADER.peek(data)[4] ^ 1)


def _next_offset(_: ServedPartition, answer: Step, form: Form, now: int) -> Any:  # noqa: ANN401 - of any step
    found = answer(form, now)
    return evolve(found, base_offset=found.base_offset + form.header.last_offset_delta + 1)


def _dropped(log: ServedPartition, _: Step, form: Form, __: bytes) -> None:
    log.end += form.header.last_offset_delta + 1


def _twice(log: ServedPartition, keep: Step, form: Form, data: bytes) -> None:
    keep(form, data)
    keep(form, with_numbers(data, baseOffset=log.end))


# --- the broker by its name ---


@frozen
class Fault:
    """What a faulty broker does, as a sentence, and its partitions."""

    text: str
    partition: type[ServedPartition]


def _fault(text: str, **steps: Step) -> Fault:
    return Fault(text, patched(CleaningPartition, **steps))


FAULTS: Final[Mapping[str, Fault]] = {
    "answers-next-offset": _fault(
        "Answers the offset after the batch instead of the first one of it.", answer=_next_offset
    ),
    "drops-data": _fault("Answers success and stores nothing; the high watermark moves.", keep=_dropped),
    "drops-headers": _fault(
        "Stores records without their headers.", form=records(lambda one: evolve(one, headers=()))
    ),
    "empties-tombstones": _fault(
        "Stores a null value as an empty one.", form=records(lambda one: evolve(one, value=one.value or b""))
    ),
    "shifts-timestamps": _fault(
        "Stores the time of the append as baseTimestamp under CreateTime: each record gets another time.",
        finish=header(lambda _, stored, __: {"base_timestamp": stored.base_timestamp + 1}),
    ),
    "stores-duplicate": _fault(
        "Stores the batch of an idempotent producer again when it is sent again.",
        known_producer=lambda *_: None,
    ),
    "stores-twice": _fault("Stores each batch twice, with offsets of their own.", keep=_twice),
    "stores-wrong-crc": _fault("Stores each batch with a CRC that is off by one.", finish=_wrong_crc),
}
"""The faults by name."""


def _running(fault: str, port: int) -> AbstractContextManager[str]:
    partition = FAULTS[fault].partition if fault in FAULTS else CleaningPartition
    return server.running(LoopbackCluster(partition), port=port)


BROKER: Final = TrialServer(
    "kafka-broker", "kafka.**", {name: one.text for name, one in FAULTS.items()}, _running
)
"""The broker for `serve broker`."""
